/* clean.c - deletes what carries a run's label.
 *
 * Lists by label, deletes by name and UID: what took the name of something in between is safe. Jobs go first, the queues that
 * Kueue keeps while workloads are in them after, the namespaces last. Rounds of this, until two lists in a row are empty.
 * Only kinds that are among the run's objects are looked for: what controllers made of them goes with its owner and its namespace. A kind that cannot
 * be listed or deleted (no right to, a webhook of it that is broken) keeps none of the others from going; the clean-up fails then, at its end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "real/kubernetes/run_parts.h"

enum { PATIENCE_MS = 300000, PAUSE_MS = 300, LITTLE_PATIENCE_MS = 5000 };

struct doomed { char *ns, *name, *uid; bool leaving; };
struct doomed_list { const struct k8s_mark *mark; struct doomed *v; size_t n, cap; };

static char *text_of(const cJSON *meta, const char *key)
{
    const char *t = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(meta, key));
    return t ? xstrdup(t) : NULL;
}

static void free_list(struct doomed_list *l)
{
    for (size_t i = 0; i < l->n; i++) free(l->v[i].ns), free(l->v[i].name), free(l->v[i].uid);
    array_clear(l);
}

/* The label is looked at once more here: no server's mistake about selectors may cost an object. */
static bool on_item(const cJSON *item, void *arg)
{
    struct doomed_list *l = arg;
    if (!item) free_list(l);
    if (!item || !k8s_plan_is_ours(l->mark, item)) return true;
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(item, "metadata");
    struct doomed x = { text_of(meta, "namespace"), text_of(meta, "name"), text_of(meta, "uid"), cJSON_HasObjectItem(meta, "deletionTimestamp") };
    array_push(l, x);
    return true;
}

static bool list(struct k8s_client *c, const struct k8s_resource *r, struct doomed_list *l, struct diag *d)
{
    struct str selector = { 0 };
    bool known;
    if (k8s_knows(c, r, &known, d) != K8S_OK) return false;
    if (!known) return true; /* it has no objects */
    str_printf(&selector, "%s=%s", RUN_LABEL, l->mark->id);
    enum k8s_result result = k8s_list(c, r, NULL, str_text(&selector), on_item, l, NULL, d);
    str_free(&selector);
    return result == K8S_OK || result == K8S_NOT_FOUND;
}

static bool delete_all(struct k8s_client *c, const struct k8s_resource *r, const struct doomed_list *l, struct diag *d)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct doomed *x = &l->v[i];
        if (x->leaving || !x->name || !x->uid) continue;
        enum k8s_result result = k8s_delete(c, r, x->ns, x->name, (struct k8s_deletion){ .uid = x->uid }, d);
        if (result == K8S_FAILED || k8s_client_stopped(c)) return false;
    }
    return true;
}

struct cleaning {
    struct k8s_client *client;
    const struct k8s_mark *mark;
    struct diag *d;
    struct arena arena;
    const char *example; /* of what is left */
    uint32_t failed;     /* kinds, as in the mark */
};

/* A server that has let one kind try for all of the patience there is may be away: the others are not tried as long. */
static void clean_kind(struct cleaning *c, size_t i, struct doomed_list *l)
{
    const struct k8s_resource *r = k8s_resource_at(i);
    int64_t begun = k8s_now_ms(), patience = k8s_client_patience_of(c->client);
    if (list(c->client, r, l, c->d) && delete_all(c->client, r, l, c->d)) return;
    c->failed |= 1u << i;
    if (k8s_now_ms() - begun > patience / 2 && patience > LITTLE_PATIENCE_MS) k8s_client_patience(c->client, LITTLE_PATIENCE_MS);
}

/* How many are left that carry the label, of the kinds that have not failed. */
static size_t one_round(struct cleaning *c)
{
    struct doomed_list l = { .mark = c->mark };
    size_t left = 0;
    const struct k8s_resource *r;
    for (size_t i = 0; (r = k8s_resource_at(i)) && !k8s_client_stopped(c->client); i++) {
        if (!((c->mark->kinds & ~c->failed) >> i & 1)) continue;
        clean_kind(c, i, &l);
        if (l.n) c->example = arena_printf(&c->arena, "%s %s", r->plural, l.v[0].name ? l.v[0].name : "");
        left += l.n;
        free_list(&l);
    }
    array_free(&l);
    return left;
}

static void tell_left(struct cleaning *c, size_t left)
{
    diag_error(c->d, c->mark->server, 0, NULL, "%zu objects with the label %s=%s are still there, such as %s", left, RUN_LABEL, c->mark->id, c->example);
    diag_help(c->d, "finalizers keep them: does their controller (Kueue, KubeRay ...) run? Clean up again later");
}

bool k8s_clean_run(struct k8s_client *client, const struct k8s_mark *mark, FILE *tell, struct diag *d)
{
    struct cleaning c = { .client = client, .mark = mark, .d = d, .example = "" };
    int64_t end = k8s_now_ms() + PATIENCE_MS;
    size_t left, first = 0;
    int rounds = 0, empty = 0;
    do {
        left = one_round(&c);
        if (rounds++ == 0) first = left;
        empty = left == 0 ? empty + 1 : 0;
        if (empty < 2) k8s_sleep(client, PAUSE_MS);
    } while (empty < 2 && k8s_now_ms() < end && !k8s_client_stopped(client));
    if (left > 0 && !k8s_client_stopped(client)) tell_left(&c, left);
    bool ok = empty >= 2 && !c.failed && !k8s_client_stopped(client);
    if (ok && tell) fprintf(tell, "%s: %zu objects with the label %s=%s deleted\n", mark->server, first, RUN_LABEL, mark->id);
    arena_free(&c.arena);
    return ok;
}

bool k8s_cleanup(const struct k8s_access *access, const char *dir, FILE *tell, const volatile int *stop, bool *input, struct diag *d)
{
    struct k8s_mark mark;
    *input = !k8s_mark_read(&mark, dir, d);
    if (*input) return false;
    bool same = strcmp(mark.server, access->server) == 0;
    *input = !same;
    if (!same) {
        diag_error(d, dir, 0, NULL, "the run was on %s, and the context \"%s\" is %s", mark.server, access->context, access->server);
        diag_help(d, "name the context of the run's own cluster");
    }
    struct k8s_client *c = k8s_client_create(access, stop);
    bool ok = same && k8s_clean_run(c, &mark, tell, d);
    k8s_client_free(c);
    k8s_mark_free(&mark);
    return ok;
}
