/* client.h - requests to a Kubernetes API server.
 *
 *     struct k8s_client *c = k8s_client_create(access, &stop);         // the access stays the caller's
 *     cJSON *pod = NULL;
 *     if (k8s_get(c, &k8s_pods, "lab", "worker-0", &pod, diag) != K8S_OK) ...
 *     k8s_list(c, &k8s_pods, "lab", "trainyard/run=x", on_pod, arg, NULL, diag);
 *     k8s_client_free(c);
 *
 * One connection is kept alive and used again. A call comes back when it has an answer that is one: a connection that
 * breaks or cannot be made, 429, 500, 502, 503 and 504 are tried again with a doubling pause and jitter (0.2 s to 10 s; the
 * server's Retry-After instead where it gives one), until `patience_ms` have passed since the first try or *stop is set.
 * A create that is tried again may find its own first try: it then answers K8S_EXISTS, as for any other owner.
 *
 * Errors are entries of the diag: file = the server, text = verb, resource, HTTP code and Status.message, help = what to do.
 * K8S_NOT_FOUND, K8S_EXISTS and K8S_CONFLICT are answers rather than errors: they say nothing there. Nor does a call that *stop has
 * ended: it gives K8S_FAILED, and who has set *stop knows why.
 * Secrets are in no table here and are never asked for. Answers above K8S_ANSWER_MAX bytes are an error.
 * Not shared by threads. Cost: one request a call, lists one a 500 objects.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_KUBERNETES_CLIENT_H
#define TRAINYARD_REAL_KUBERNETES_CLIENT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/str.h"
#include "real/kubernetes/access.h"

#define K8S_ANSWER_MAX ((size_t)64 << 20)
#define K8S_MANAGER    "trainyard" /* as field manager and user agent */

struct k8s_resource {
    const char *api_version, *kind, *plural;
    bool namespaced;
};
extern const struct k8s_resource k8s_namespaces, k8s_nodes, k8s_pods, k8s_events, k8s_workloads;

/* Of an object's apiVersion and kind, with the plural of kinds that Trainyard writes or watches; NULL: none of these. */
const struct k8s_resource *k8s_resource_of(const char *api_version, const char *kind);
const struct k8s_resource *k8s_resource_at(size_t i); /* NULL behind the last */

enum k8s_result { K8S_OK, K8S_NOT_FOUND, K8S_EXISTS, K8S_CONFLICT, K8S_GONE, K8S_FAILED };

struct k8s_client;
struct k8s_client *k8s_client_create(const struct k8s_access *, const volatile int *stop);
void k8s_client_free(struct k8s_client *);
/* How long a call is tried again; default 60 s. */
void k8s_client_patience(struct k8s_client *, int64_t ms);
int64_t k8s_client_patience_of(const struct k8s_client *);
const char *k8s_client_server(const struct k8s_client *);
bool k8s_client_stopped(const struct k8s_client *);

/* *out (may be NULL) is the object, the caller's. `ns` NULL: the resource has none, or all of them. */
enum k8s_result k8s_get(struct k8s_client *, const struct k8s_resource *, const char *ns, const char *name, cJSON **out, struct diag *);
/* Name and namespace stand in the object. dry_run: the server checks it and keeps nothing. */
enum k8s_result k8s_create(struct k8s_client *, const cJSON *object, bool dry_run, cJSON **out, struct diag *);
/* Reads, changes, writes; from the start when another was faster. It never makes what is not there. `change` looks at the object first:
 * what it gives other than K8S_OK is the answer, and nothing is written. */
enum k8s_result k8s_update(struct k8s_client *, const struct k8s_resource *, const char *ns, const char *name,
                             enum k8s_result (*change)(cJSON *object, void *arg), void *arg, struct diag *);
struct k8s_deletion { const char *uid; bool now; /* without grace */ };
/* Propagation Background: what it owns goes with it. Another object of the name, with another UID, stays: K8S_CONFLICT. */
enum k8s_result k8s_delete(struct k8s_client *, const struct k8s_resource *, const char *ns, const char *name,
                             struct k8s_deletion, struct diag *);
enum k8s_result k8s_evict(struct k8s_client *, const char *ns, const char *pod, const char *uid, struct diag *);

/* Calls on_item for each object, page by page; it returns false to end. *version (may be NULL; 64 bytes): resourceVersion from
 * which a watch goes on. A list that expires under way (410) begins again with on_item(NULL). */
enum k8s_result k8s_list(struct k8s_client *, const struct k8s_resource *, const char *ns, const char *selector,
                           bool (*on_item)(const cJSON *item, void *arg), void *arg, char version[64], struct diag *);

/* Whether the server knows a resource at all (its CustomResourceDefinition is there). By discovery, which every account may read: that
 * a list is forbidden (403) says nothing of that. */
enum k8s_result k8s_knows(struct k8s_client *, const struct k8s_resource *, bool *yes, struct diag *);
/* Whether it does, and this account may list it everywhere; an error when it may not. */
enum k8s_result k8s_serves(struct k8s_client *, const struct k8s_resource *, bool *yes, struct diag *);

/* ---- parts, for watch.c ---- */

struct k8s_wait { uint64_t random; int64_t pause_ms; };
/* The next pause: doubles, with jitter. */
int64_t k8s_backoff(struct k8s_wait *);
int64_t k8s_now_ns(void); /* monotonic, as */
int64_t k8s_now_ms(void);
/* How requests are made from now on, in place of curl_easy_perform: a CURLcode. Not while one is made. */
void k8s_client_perform(struct k8s_client *, int (*perform)(void *curl, void *arg), void *arg);
/* In slices, so that *stop is heeded. */
void k8s_sleep(const struct k8s_client *, int64_t ms);
void k8s_path(struct str *out, const struct k8s_client *, const struct k8s_resource *, const char *ns, const char *name);
void k8s_query(struct str *out, const char *key, const char *value); /* appends ?key=value or &key=value, escaped */
struct curl_slist;
/* Sets address, access and headers on a handle; the headers are the caller's to free. NULL after an error. */
struct curl_slist *k8s_prepare(struct k8s_client *, void *curl, const char *url, const char *content_type, struct diag *);
/* Puts what an answer says into the diag. `body` may be no JSON at all. */
void k8s_report(const struct k8s_client *, const char *verb, const char *what, long code, const char *body, size_t n, struct diag *);
/* A failure below HTTP: whether another try may help; with `d` it is reported. */
bool k8s_transport(const struct k8s_client *, const char *verb, const char *what, int curl_code, const char *detail, struct diag *d);

#endif
