/* watch.h - what there is of some resources, kept up to date.
 *
 *     struct k8s_watches *w = k8s_watches_create(client);
 *     k8s_watch(w, &(struct k8s_watch_spec){ .resource = &k8s_pods, .ns = "lab", .on_change = on_pod, .arg = me });
 *     while (k8s_watches_poll(w, 200, diag)) ...       // calls on_change from here; false: an error that stays
 *     k8s_watches_free(w);
 *
 * Each watch lists first (every object comes as K8S_THERE), then follows from the list's resourceVersion: K8S_CHANGED,
 * K8S_DELETED. A stream that ends or breaks is taken up where it was (bookmarks move that place on while nothing happens);
 * one that has expired (410, as HTTP code or as an ERROR event), or that sent what is no JSON, is listed anew: objects that are not in the new list
 * come as K8S_DELETED, with what was known last of their name only. So each object that is gone is told of at least once, and
 * nothing twice as deleted; changes in between may be missed, as watches are not histories.
 * Pauses between tries double, with jitter, up to 10 s; 429 and 503 wait as long as the server says. What never gets better
 * (401, 403, 404, a certificate) ends the poll with an error; so does a server that has been away for longer than the
 * client's patience.
 *
 * Many watches share one thread: poll waits for all of them. Memory: names of the objects that are or were there, and one
 * event a watch at a time; an event above K8S_EVENT_MAX bytes counts as a broken stream.
 * on_change may call the client (k8s_get ...); not k8s_watches_*. After k8s_watches_heed events come also while the client waits for an
 * answer, so that each is told when it arrives and not after the request; on_change then may not call the client.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_KUBERNETES_WATCH_H
#define TRAINYARD_REAL_KUBERNETES_WATCH_H

#include "real/kubernetes/client.h"

#define K8S_EVENT_MAX ((size_t)16 << 20)

enum k8s_change { K8S_THERE, K8S_CHANGED, K8S_DELETED };

struct k8s_watch_spec {
    const struct k8s_resource *resource;
    const char *ns, *selector; /* NULL: all; both are copied */
    void (*on_change)(enum k8s_change, const cJSON *object, void *arg);
    void *arg;
};

struct k8s_watches;
struct k8s_watches *k8s_watches_create(struct k8s_client *);
void k8s_watch(struct k8s_watches *, const struct k8s_watch_spec *);
/* Waits at most so long for news, and tells them. */
bool k8s_watches_poll(struct k8s_watches *, int64_t ms, struct diag *);
/* The diag is used until the watches are freed. */
void k8s_watches_heed(struct k8s_watches *, struct diag *);
void k8s_watches_free(struct k8s_watches *);
/* Streams that had to be taken up again, and lists made anew, so far. */
uint64_t k8s_watches_resumed(const struct k8s_watches *);
uint64_t k8s_watches_relisted(const struct k8s_watches *);

/* ---- the stream, for tests and the fuzzer ---- */

/* One line of a watch's stream. */
enum k8s_line { LINE_CHANGE, LINE_BOOKMARK, LINE_EXPIRED, LINE_PASSING /* an error that may pass */, LINE_GARBAGE };
struct k8s_event { enum k8s_line line; enum k8s_change change; const cJSON *object; const char *version; };
/* `root`, which the event points into, is the caller's to delete; NULL for garbage. */
struct k8s_event k8s_event_parse(const char *text, size_t n, cJSON **root);

#endif
