/* run.c - see run.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/kubernetes/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "real/kubernetes/observe.h"
#include "real/kubernetes/run_parts.h"

enum { POLL_MS = 100, FLUSH_MS = 1000, CREATE_AT_ONCE = 20, GRACE_MS = 10000, QUEUES_MS = 10000, QUEUE_PAUSE_MS = 50, LISTEN_MS = 200 };

/* ---- before ---- */

static bool make_set(const struct scenario *s, const struct k8s_options *o, struct manifest_set *set, struct diag *d)
{
    struct manifest_options how = { .image = o->image, .scale = 1 / s->live->time_scale };
    return manifests_make(s, &how, set, d);
}

static void check_objects(const struct scenario *s, struct diag *d)
{
    struct manifest_set set;
    struct k8s_mark m;
    if (!make_set(s, &(struct k8s_options){ 0 }, &set, d)) return;
    if (!k8s_mark_begin(&m, s, &set, "")) {
        diag_error(d, s->file, 0, NULL, "the objects are in more than %d namespaces", MAX_NAMESPACES);
        diag_help(d, "a run has no more streams of events open than for so many: play the scenario in parts");
    }
    k8s_mark_free(&m);
    manifests_free(&set);
}

bool k8s_run_check(const struct scenario *s, struct diag *d)
{
    size_t errors = diag_errors(d);
    const struct approach *a = &s->approach;
    if (a->admission != ADMIT_KUEUE && a->admission != ADMIT_NONE) {
        diag_error(d, s->file, 0, NULL, "admission \"%s\" has no controller on Kubernetes", admission_names[a->admission]);
        diag_help(d, "choose an approach with admission kueue or none");
    }
    if (a->gang != GANG_NONE) diag_error(d, s->file, 0, NULL, "gang \"%s\" is not set up on live clusters yet", gang_names[a->gang]);
    k8s_actions_check(s, d);
    if (diag_errors(d) == errors) check_objects(s, d);
    return diag_errors(d) == errors;
}

/* Kinds are asked for once each: a missing controller is told before anything is made. */
static bool serves_all(struct k8s_client *c, const struct manifest_set *set, struct diag *d)
{
    const struct k8s_resource *asked[16];
    size_t n = 0, errors = diag_errors(d);
    for (size_t i = 0; i < set->n; i++) {
        const struct k8s_resource *r = k8s_resource_of(set->v[i].api_version, set->v[i].kind);
        bool yes = false, done = false;
        if (!r) {
            diag_error(d, k8s_client_server(c), 0, NULL, "%s %s: objects of %s are not made by this back end", set->v[i].kind, set->v[i].name, set->v[i].api_version);
            return false;
        }
        for (size_t k = 0; k < n; k++) done |= asked[k] == r;
        if (done) continue;
        asked[n++] = r;
        if (k8s_serves(c, r, &yes, d) != K8S_OK) return false;
        if (yes) continue;
        diag_error(d, k8s_client_server(c), 0, NULL, "the server does not know %s of %s", r->plural, r->api_version);
        diag_help(d, "install the controller with its CustomResourceDefinitions, in a version that serves this one");
    }
    return diag_errors(d) == errors;
}

/* A name that the run needs and somebody else has. */
static bool is_free(struct k8s_client *c, const struct k8s_mark *m, const struct manifest_item *i, struct diag *d)
{
    const struct k8s_resource *r = k8s_resource_of(i->api_version, i->kind);
    cJSON *there = NULL;
    if (r->namespaced) return true; /* the namespaces are new */
    enum k8s_result result = k8s_get(c, r, NULL, i->name, &there, d);
    bool ours = there && k8s_plan_is_ours(m, there);
    cJSON_Delete(there);
    if (result == K8S_NOT_FOUND || ours) return true;
    if (result != K8S_OK) return false;
    diag_error(d, k8s_client_server(c), 0, NULL, "%s %s is there already, and is not this run's", i->kind, i->name);
    diag_help(d, "give it another name in the scenario, or remove it from the cluster yourself");
    return false;
}

static bool all_free(struct k8s_client *c, const struct k8s_mark *m, const struct manifest_set *set, struct diag *d)
{
    bool ok = true;
    for (size_t i = 0; i < set->n && set->v[i].job == ITEM_NO_JOB; i++) ok &= is_free(c, m, &set->v[i], d);
    return ok;
}

/* Namespaces of the scenario stand in the set, too; the run makes its own. */
static void drop_namespaces(struct manifest_set *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++) {
        if (strcmp(set->v[i].kind, "Namespace") == 0) cJSON_Delete(set->v[i].object);
        else set->v[n++] = set->v[i];
    }
    set->n = n;
}

/* ---- making ---- */

/* The answer to a create that was tried twice may be that it is there: then it has to be ours. */
static bool create(struct k8s_client *c, const struct k8s_mark *m, const cJSON *object, const struct k8s_resource *r, const char *ns, const char *name,
                   cJSON **made, struct diag *d)
{
    enum k8s_result result = k8s_create(c, object, false, made, d);
    if (result == K8S_OK) return true;
    cJSON *there = NULL;
    if (result == K8S_EXISTS) result = k8s_get(c, r, ns, name, &there, d);
    if (result == K8S_OK && k8s_plan_is_ours(m, there)) {
        *made = there;
        return true;
    }
    if (result == K8S_OK) diag_error(d, k8s_client_server(c), 0, NULL, "%s %s is there already, and is not this run's", r->kind, name);
    else if (result != K8S_FAILED) diag_error(d, k8s_client_server(c), 0, NULL, "create %s %s: the server takes it and has it not; is its namespace being deleted?", r->plural, name);
    cJSON_Delete(there);
    return false;
}

static const char *uid_of(const cJSON *object)
{
    const char *uid = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(object, "metadata"), "uid"));
    return uid ? uid : "";
}

static bool create_namespaces(struct k8s_run *r, const char **owner)
{
    for (size_t i = 0; i < r->mark.n_ns; i++) {
        cJSON *ns = k8s_plan_namespace(&r->mark, i), *made = NULL;
        if (i > 0) k8s_plan_own(ns, r->mark.ns[0], *owner);
        bool ok = create(r->client, &r->mark, ns, &k8s_namespaces, NULL, r->mark.ns[i], &made, r->d);
        if (ok && i == 0) *owner = arena_strdup(&r->arena, uid_of(made));
        cJSON_Delete(ns);
        cJSON_Delete(made);
        if (!ok) return false;
    }
    return true;
}

static bool create_item(struct k8s_run *r, const struct manifest_item *i, cJSON **made)
{
    return create(r->client, &r->mark, i->object, k8s_resource_of(i->api_version, i->kind), i->ns, i->name, made, r->d);
}

/* Queues and what they need: before the clock starts. */
static bool create_queues(struct k8s_run *r)
{
    for (; r->next_item < r->set.n && r->set.v[r->next_item].job == ITEM_NO_JOB; r->next_item++) {
        cJSON *made = NULL;
        if (!create_item(r, &r->set.v[r->next_item], &made)) return false;
        cJSON_Delete(made);
    }
    return true;
}

static bool is_queue(const struct manifest_item *i) { return strcmp(i->kind, "ClusterQueue") == 0 || strcmp(i->kind, "LocalQueue") == 0; }

/* One that is on hold is known, and not active. */
static bool is_settled(const cJSON *queue)
{
    const char *policy = cJSON_GetStringValue(k8s_in(k8s_in(queue, "spec"), "stopPolicy"));
    const cJSON *c, *list = k8s_in(k8s_in(queue, "status"), "conditions");
    cJSON_ArrayForEach(c, list)
        if (strcmp(k8s_text(c, "type"), "Active") == 0)
            return strcmp(k8s_text(c, "status"), "True") == 0 || strcmp(k8s_text(c, "reason"), "ClusterQueueIsInactive") == 0 || (policy && strcmp(policy, "None") != 0);
    return false;
}

/* Jobs that come before Kueue has taken in their queues would wait for that. What never becomes active is the run's to show. */
static bool await_queues(struct k8s_run *r)
{
    int64_t end = k8s_now_ms() + QUEUES_MS;
    for (size_t i = 0; i < r->next_item; i++) {
        const struct manifest_item *q = &r->set.v[i];
        for (bool settled = !is_queue(q); !settled;) {
            cJSON *there = NULL;
            enum k8s_result result = k8s_get(r->client, k8s_resource_of(q->api_version, q->kind), q->ns, q->name, &there, r->d);
            settled = result != K8S_OK || is_settled(there) || k8s_now_ms() >= end || k8s_client_stopped(r->client);
            cJSON_Delete(there);
            if (result == K8S_FAILED) return false;
            if (!settled) k8s_sleep(r->client, QUEUE_PAUSE_MS);
        }
    }
    return true;
}

/* ---- the clock ---- */

/* 0 until it has begun. */
static int64_t now_ns(const struct k8s_run *r)
{
    if (!r->begun_ns) return 0;
    return (int64_t)((double)(k8s_now_ns() - r->begun_ns) * r->s->live->time_scale);
}

/* What it comes after must have succeeded: one that has ended otherwise never will. */
enum readiness { READY, NOT_YET, NEVER };

static enum readiness readiness_of(const struct k8s_run *r, const struct seen_job *j)
{
    const struct job_detail *d = &r->s->details[r->set.jobs[j->item->job].detail];
    enum readiness is = READY;
    for (uint32_t i = 0; i < d->n_after; i++) {
        enum job_state s = live_state(r->live, d->after[i]);
        if (k8s_state_is_over(s) && s != JOB_SUCCEEDED) return NEVER;
        if (s != JOB_SUCCEEDED) is = NOT_YET;
    }
    return is;
}

/* A few at a time, so that streams that have ended are taken up in between. */
static bool create_due(struct k8s_run *r)
{
    int left = CREATE_AT_ONCE;
    for (size_t i = 0; i < r->n_jobs && left > 0 && !k8s_client_stopped(r->client); i++) {
        struct seen_job *j = &r->jobs[i];
        cJSON *made = NULL;
        if (j->item->at_ns > now_ns(r)) break; /* in the order of time */
        if (j->created || k8s_job_is_over(r, j)) continue;
        enum readiness ready = readiness_of(r, j);
        if (ready != READY) {
            k8s_observe_dependent(r, j, ready == NEVER);
            continue;
        }
        j->creating = true;
        if (!create_item(r, j->item, &made)) return false;
        left--;
        j->uid = arena_strdup(&r->arena, uid_of(made));
        hmap_put_str(&r->by_uid, j->uid, i);
        cJSON_Delete(made);
        live_at(r->live, now_ns(r));
        if (!j->created) k8s_observe_created(r, j);
    }
    return true;
}

static bool holds(const struct seen_job *j)
{
    for (size_t k = 0; k < j->n_pods; k++)
        if (!j->pods[k]->gone && j->pods[k]->group != LIVE_NONE) return true;
    return false;
}

/* All jobs have ended and hold nothing, or have had time enough to let go: a Ray cluster that is kept is kept for ever. */
static bool all_over(struct k8s_run *r)
{
    bool held = false;
    for (size_t i = 0; i < r->n_jobs; i++) {
        if (!k8s_job_is_over(r, &r->jobs[i])) return false;
        held |= holds(&r->jobs[i]);
    }
    if (!r->over_ms) r->over_ms = k8s_now_ms();
    return !held || k8s_now_ms() - r->over_ms > GRACE_MS;
}

/* Until the next object or action is due, POLL_MS at most. */
static int64_t until_due_ms(const struct k8s_run *r)
{
    int64_t now = now_ns(r), next = INT64_MAX;
    if (r->next_action < r->s->faults.n_script) next = r->s->faults.script[r->next_action].at_ns;
    for (size_t i = 0; i < r->n_jobs; i++)
        if (r->jobs[i].item->at_ns > now) {
            if (r->jobs[i].item->at_ns < next) next = r->jobs[i].item->at_ns;
            break;
        }
    double ms = ceil((double)(next - now) / 1e6 / r->s->live->time_scale);
    return ms < 0 ? 0 : ms < POLL_MS ? (int64_t)ms : POLL_MS;
}

/* Watches call back at their own moments: the recorder's clock is set before each poll and stands still in it, so poll briefly. */
static bool loop(struct k8s_run *r)
{
    int64_t flushed = k8s_now_ms(), horizon = r->s->run.horizon_ns;
    while (!k8s_client_stopped(r->client) && !all_over(r) && now_ns(r) < horizon) {
        live_at(r->live, now_ns(r));
        if (!k8s_actions_play(r, now_ns(r)) || !create_due(r)) return false;
        live_at(r->live, now_ns(r));
        if (!k8s_watches_poll(r->watches, until_due_ms(r), r->d)) return false;
        if (k8s_now_ms() - flushed < FLUSH_MS) continue;
        flushed = k8s_now_ms();
        if (!live_flush(r->live) || fflush(r->phases) != 0) {
            diag_error(r->d, r->o->dir, 0, NULL, "cannot be written: %s", strerror(errno));
            return false;
        }
    }
    return true;
}

/* ---- set up ---- */

typedef void (*observer)(enum k8s_change, const cJSON *, void *);
struct tick { struct k8s_run *r; observer to; };

/* The moment of arrival, then the observer. */
static void tick(enum k8s_change change, const cJSON *object, void *arg)
{
    const struct tick *t = arg;
    live_at(t->r->live, now_ns(t->r));
    t->to(change, object, t->r);
}

static void watch(struct k8s_run *r, const struct k8s_resource *resource, const char *ns, const char *selector, observer to)
{
    struct tick *t = arena_new(&r->arena, struct tick);
    *t = (struct tick){ r, to };
    k8s_watch(r->watches, &(struct k8s_watch_spec){ .resource = resource, .ns = ns, .selector = selector, .on_change = tick, .arg = t });
}

static void watch_all(struct k8s_run *r)
{
    const char *selector = arena_printf(&r->arena, "%s=%s", RUN_LABEL, r->mark.id);
    const struct k8s_resource *seen[16];
    size_t n = 0;
    watch(r, &k8s_nodes, NULL, NULL, k8s_observe_node);
    for (size_t k = 0; k < r->mark.n_ns; k++) {
        const char *ns = r->mark.ns[k];
        n = 0;
        for (size_t i = 0; i < r->n_jobs; i++) {
            const struct k8s_resource *of = k8s_resource_of(r->jobs[i].item->api_version, r->jobs[i].item->kind);
            bool done = strcmp(r->jobs[i].item->ns, ns) != 0;
            for (size_t x = 0; x < n; x++) done |= seen[x] == of;
            if (done) continue;
            seen[n++] = of;
            watch(r, of, ns, selector, k8s_observe_job);
        }
        if (!n) continue;
        if (r->kueue) watch(r, &k8s_workloads, ns, NULL, k8s_observe_workload);
        watch(r, &k8s_events, ns, NULL, k8s_observe_event);
        watch(r, &k8s_pods, ns, selector, k8s_observe_pod);
    }
}

void k8s_find_jobs(struct k8s_run *r)
{
    r->node_taken = xcalloc(r->s->cluster.n_nodes + 1, sizeof *r->node_taken);
    r->next_node = xcalloc(r->s->cluster.n_groups + 1, sizeof *r->next_node);
    r->jobs = xcalloc(r->set.n + 1, sizeof *r->jobs);
    for (size_t i = 0; i < r->set.n; i++) {
        const struct manifest_item *item = &r->set.v[i];
        if (item->job == ITEM_NO_JOB) continue;
        hmap_put_str(&r->by_name, arena_printf(&r->arena, "%s/%s", item->ns, item->name), r->n_jobs);
        r->jobs[r->n_jobs++] = (struct seen_job){ .item = item, .index = (uint32_t)item->job, .ray = str_starts_with(item->kind, "Ray") };
    }
}

static bool open_phases(struct k8s_run *r)
{
    r->phases = fopen(arena_printf(&r->arena, "%s/phases.csv", r->o->dir), "w");
    if (r->phases) fputs("time_s,job,phase,kind,object,reason\n", r->phases);
    else diag_error(r->d, r->o->dir, 0, NULL, "phases.csv cannot be written: %s", strerror(errno));
    return r->phases != NULL;
}

static bool open_live(struct k8s_run *r)
{
    char *err = NULL;
    r->live = live_create(r->s, &(struct live_options){ .dir = r->o->dir, .back_end = "kubernetes", .record_level = r->o->record_level,
                                                       .force = r->o->force }, &err);
    if (!r->live) diag_error(r->d, r->o->dir, 0, NULL, "%s", err ? err : "the run cannot be begun");
    free(err);
    return r->live && open_phases(r);
}

void k8s_free_run(struct k8s_run *r)
{
    for (size_t i = 0; i < r->n_jobs; i++) free(r->jobs[i].pods);
    free(r->jobs);
    free(r->node_taken);
    free(r->next_node);
    hmap_free(&r->by_name);
    hmap_free(&r->by_uid);
    hmap_free(&r->pods);
    hmap_free(&r->conditions);
    hmap_free(&r->nodes);
    k8s_watches_free(r->watches);
    k8s_client_free(r->client);
    manifests_free(&r->set);
    k8s_mark_free(&r->mark);
    arena_free(&r->arena);
}

/* ---- the run ---- */

static void result_of(const struct k8s_run *r, struct k8s_outcome *out)
{
    *out = (struct k8s_outcome){ .jobs = r->n_jobs, .end_ns = live_now(r->live) };
    for (size_t i = 0; i < r->n_jobs; i++) {
        enum job_state s = live_state(r->live, r->jobs[i].index);
        out->succeeded += s == JOB_SUCCEEDED;
        out->failed += s == JOB_FAILED;
        out->unfinished += !k8s_job_is_over(r, &r->jobs[i]);
    }
}

static bool close_files(struct k8s_run *r, enum run_state state)
{
    char *err = NULL;
    bool ok = r->phases && fflush(r->phases) == 0;
    if (r->phases && fclose(r->phases) != 0) ok = false;
    if (!ok) diag_error(r->d, r->o->dir, 0, NULL, "phases.csv cannot be written: %s", strerror(errno));
    bool finished = live_finish(r->live, state, &err);
    if (!finished) diag_error(r->d, r->o->dir, 0, NULL, "%s", err ? err : "the run cannot be written");
    free(err);
    return ok && finished;
}

/* Cleaning must go on when the run was interrupted: a client of its own, that only a second signal ends. */
static bool clean(struct k8s_run *r, const struct k8s_access *access)
{
    struct k8s_client *c = k8s_client_create(access, NULL);
    bool ok = k8s_clean_run(c, &r->mark, r->o->tell, r->d);
    k8s_client_free(c);
    if (!ok) diag_help(r->d, "trainyard run --on kubernetes --cleanup --context %s -o %s takes away what is left", access->context, r->o->dir);
    return ok;
}

/* The streams are there before what they are to tell of, and are read while requests wait: a moment is that of arrival. */
static bool listen(struct k8s_run *r)
{
    k8s_find_jobs(r);
    watch_all(r);
    if (!k8s_watches_poll(r->watches, LISTEN_MS, r->d)) return false;
    k8s_watches_heed(r->watches, r->d);
    return true;
}

static bool play(struct k8s_run *r, struct k8s_outcome *out)
{
    const char *owner = NULL;
    bool ok = create_namespaces(r, &owner);
    for (size_t i = 0; ok && i < r->set.n; i++) k8s_plan_own(r->set.v[i].object, r->mark.ns[0], owner);
    ok = ok && create_queues(r) && await_queues(r);
    ok = ok && listen(r);
    r->begun_ns = k8s_now_ns();
    ok = ok && loop(r);
    if (ok && r->strays && r->o->tell) fprintf(r->o->tell, "%llu pods were on nodes that the scenario has not\n", (unsigned long long)r->strays);
    result_of(r, out);
    return ok;
}

static void describe(const struct k8s_run *r)
{
    int64_t shares = 0;
    for (size_t i = 0; i < r->set.n; i++) shares += r->set.v[i].shares;
    fprintf(r->o->tell, "run %s on %s: %zu objects in namespace %s, %lld GPUs in all; a second stands for %g\n", r->mark.id, r->mark.server,
            r->set.n, r->mark.ns[0], (long long)(shares / SHARES_PER_GPU), r->s->live->time_scale);
}

bool k8s_run(const struct scenario *s, const struct k8s_access *access, const struct k8s_options *o, struct k8s_outcome *out, struct diag *d)
{
    struct k8s_run r = { .s = s, .o = o, .d = d, .kueue = s->approach.admission == ADMIT_KUEUE };
    size_t errors = diag_errors(d);
    *out = (struct k8s_outcome){ 0 };
    if (!make_set(s, o, &r.set, d)) return false;
    drop_namespaces(&r.set);
    r.client = k8s_client_create(access, o->stop);
    r.watches = k8s_watches_create(r.client);
    k8s_mark_begin(&r.mark, s, &r.set, access->server);
    k8s_plan_label(&r.mark, &r.set);
    bool ok = serves_all(r.client, &r.set, d) && all_free(r.client, &r.mark, &r.set, d) && open_live(&r);
    if (ok && o->tell) describe(&r);
    bool marked = ok && k8s_mark_write(&r.mark, o->dir, d);
    ok = marked && play(&r, out);
    out->interrupted = k8s_client_stopped(r.client);
    if (out->interrupted && diag_errors(d) == errors) ok = true; /* what was broken off was broken off by whoever asked for it */
    if (marked) ok &= clean(&r, access);
    if (r.live) ok &= close_files(&r, !ok ? RUN_FAILED : out->interrupted ? RUN_INTERRUPTED : RUN_COMPLETE);
    k8s_free_run(&r);
    return ok;
}

/* ---- dry run ---- */

/* A namespace of the run is not there to be checked in: "default" stands for it. */
static bool dry_item(struct k8s_client *c, const struct manifest_item *i, FILE *to, struct diag *d)
{
    cJSON *copy = cJSON_Duplicate(i->object, true), *meta = cJSON_GetObjectItemCaseSensitive(copy, "metadata");
    struct str at = { 0 };
    str_append_seconds(&at, i->at_ns);
    fprintf(to, "%12s  %-22s %-40s %4lld\n", str_text(&at), i->kind, i->name, (long long)(i->shares / SHARES_PER_GPU));
    str_free(&at);
    if (i->ns) cJSON_ReplaceItemInObjectCaseSensitive(meta, "namespace", cJSON_CreateString("default"));
    enum k8s_result result = k8s_create(c, copy, true, NULL, d);
    if (result == K8S_EXISTS || result == K8S_CONFLICT)
        diag_error(d, k8s_client_server(c), 0, NULL, "create %s %s: there is one by this name already", i->kind, i->name);
    cJSON_Delete(copy);
    return result == K8S_OK;
}

static bool dry_all(struct k8s_client *c, const struct k8s_mark *m, const struct manifest_set *set, FILE *to, struct diag *d)
{
    int64_t shares = 0, most = 0;
    bool ok = true;
    fprintf(to, "on %s, in namespace %s; checked in \"default\" by the server, nothing is kept\n", m->server, m->ns[0]);
    fprintf(to, "%12s  %-22s %-40s %4s\n", "at s", "kind", "name", "GPUs");
    for (size_t i = 0; i < set->n && !k8s_client_stopped(c); i++) {
        ok &= dry_item(c, &set->v[i], to, d);
        shares += set->v[i].shares;
        if (set->v[i].shares > most) most = set->v[i].shares;
    }
    fprintf(to, "%zu objects; GPUs held by all jobs together: %lld, by the largest: %lld\n", set->n, (long long)(shares / SHARES_PER_GPU),
            (long long)(most / SHARES_PER_GPU));
    return ok && !k8s_client_stopped(c);
}

bool k8s_dry_run(const struct scenario *s, const struct k8s_access *access, const struct k8s_options *o, FILE *to, struct diag *d)
{
    struct manifest_set set;
    struct k8s_mark m;
    if (!make_set(s, o, &set, d)) return false;
    drop_namespaces(&set);
    struct k8s_client *c = k8s_client_create(access, o->stop);
    k8s_mark_begin(&m, s, &set, access->server);
    k8s_plan_label(&m, &set);
    bool ok = serves_all(c, &set, d) && dry_all(c, &m, &set, to, d);
    k8s_client_free(c);
    k8s_mark_free(&m);
    manifests_free(&set);
    return ok;
}
