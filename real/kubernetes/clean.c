/* clean.c - deletes what carries a run's label.
 *
 * Lists by label, deletes by name and UID: what took the name of something in between is safe. Jobs go first, the queues that
 * Kueue keeps while workloads are in them after, the namespaces last. Rounds of this, until two lists in a row are empty.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "real/kubernetes/run_parts.h"

enum { PATIENCE_MS = 300000, PAUSE_MS = 300 };

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
    str_printf(&selector, "%s=%s", RUN_LABEL, l->mark->id);
    enum k8s_result result = k8s_list(c, r, NULL, str_text(&selector), on_item, l, NULL, d);
    str_free(&selector);
    return result == K8S_OK || result == K8S_NOT_FOUND; /* a kind that the server does not know has no objects */
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

/* How many are left that carry the label; -1 after an error. */
static int64_t one_round(struct k8s_client *c, const struct k8s_mark *mark, const char **example, struct arena *a, struct diag *d)
{
    struct doomed_list l = { .mark = mark };
    int64_t left = 0;
    const struct k8s_resource *r;
    for (size_t i = 0; left >= 0 && (r = k8s_resource_at(i)); i++) {
        bool ok = list(c, r, &l, d) && delete_all(c, r, &l, d);
        if (ok && l.n) *example = arena_printf(a, "%s %s", r->plural, l.v[0].name ? l.v[0].name : "");
        left = ok ? left + (int64_t)l.n : -1;
        free_list(&l);
    }
    array_free(&l);
    return left;
}

bool k8s_clean_run(struct k8s_client *c, const struct k8s_mark *mark, FILE *tell, struct diag *d)
{
    int64_t end = k8s_now_ms() + PATIENCE_MS, left, first = -1;
    struct arena a = { 0 };
    const char *example = "";
    int empty = 0;
    do {
        left = one_round(c, mark, &example, &a, d);
        if (first < 0) first = left;
        empty = left == 0 ? empty + 1 : 0;
        if (empty < 2 && left >= 0) k8s_sleep(c, PAUSE_MS);
    } while (left >= 0 && empty < 2 && k8s_now_ms() < end && !k8s_client_stopped(c));
    if (left > 0) {
        diag_error(d, mark->server, 0, NULL, "%lld objects with the label %s=%s are still there, such as %s", (long long)left, RUN_LABEL, mark->id, example);
        diag_help(d, "finalizers keep them: does their controller (Kueue, KubeRay ...) run? Clean up again later");
    }
    if (left == 0 && tell) fprintf(tell, "%s: %lld objects with the label %s=%s deleted\n", mark->server, (long long)first, RUN_LABEL, mark->id);
    arena_free(&a);
    return left == 0 && empty >= 2;
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
