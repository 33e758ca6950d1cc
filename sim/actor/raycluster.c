/* raycluster.c - see raycluster.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/actor/raycluster.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/actor/gcs.h"


struct kuberay {
    struct sim *sim;
    struct reconciler *queue;
    struct kube_client client;
    struct raycluster *clusters;
    uint32_t n_created;
};

/* Where a reconcile stands. */
enum { AT_SERVICE, AT_SUSPEND, AT_HEAD, AT_GROUP, AT_UNHEALTHY, AT_REMOVE, AT_CREATE, AT_STATUS, AT_END };

static int64_t reconcile(struct reconciler *, struct work_item *);

static const struct stack *stack_of(const struct kuberay *k) { return &k->sim->scenario->approach.stack; }

/* ---- the operator ---- */

struct kuberay *kuberay_create(struct sim *sim)
{
    struct kuberay *k = xcalloc(1, sizeof *k);
    k->sim = sim;
    k->queue = reconciler_create(sim, reconcile);
    const struct stack *st = stack_of(k);
    k->client = kube_client_make(st->kr_qps, st->kr_burst, st->kr_create);
    return k;
}

static void destroy(struct raycluster *rc)
{
    struct kuberay *k = rc->kuberay;
    reconciler_drop(k->queue, &rc->work);
    event_cancel(k->sim->events, rc->requeue);
    gcs_destroy(rc->gcs);
    if (rc->next_all) rc->next_all->prev_all = rc->prev_all;
    if (rc->prev_all) rc->prev_all->next_all = rc->next_all;
    else k->clusters = rc->next_all;
    free(rc);
}

void kuberay_destroy(struct kuberay *k)
{
    while (k->clusters) {
        struct raycluster *rc = k->clusters;
        while (rc->first) {
            struct ray_pod *p = rc->first;
            rc->first = p->next;
            free(p);
        }
        destroy(rc);
    }
    reconciler_destroy(k->queue);
    free(k);
}

struct sim *kuberay_sim(struct kuberay *k) { return k->sim; }
struct kube_client *kuberay_client(struct kuberay *k) { return &k->client; }

/* A deleted cluster whose last pod is gone. */
static void end(struct raycluster *rc)
{
    if (rc->gang) kube_gang_delete(rc->kuberay->sim->kube, rc->gang);
    rc->spec.ops->empty(rc);
    destroy(rc);
}

static void enqueue(struct raycluster *rc)
{
    if (!rc->deleted) reconciler_add(rc->kuberay->queue, &rc->work);
}

static void on_requeue(void *ctx, void *arg)
{
    (void)ctx;
    struct raycluster *rc = arg;
    rc->requeue = EVENT_NONE;
    enqueue(rc);
}

static void requeue_after(struct raycluster *rc, int64_t ns)
{
    struct event_queue *q = rc->kuberay->sim->events;
    event_cancel(q, rc->requeue);
    rc->requeue = event_after(q, ns, EVENT_CONTROL, on_requeue, rc);
}

/* The time that one API call takes. */
static int64_t call(struct raycluster *rc)
{
    struct sim *sim = rc->kuberay->sim;
    return kube_client_call(sim->kube, &rc->kuberay->client) - sim_now(sim);
}

/* ---- pods ---- */

static void pod_changed(struct kube *, struct pod *, enum pod_change);

static bool gcs_answers(struct kube *k, struct pod *pod)
{
    (void)k;
    const struct ray_pod *p = pod->spec.ctx;
    return p->cluster->gcs->up;
}

/* JOB-head-0, JOB-worker-3; a shared cluster is called ray-shared. */
static void pod_name(const struct sim *s, const struct pod *pod, char *buf, size_t n)
{
    char number[24];
    const char *owner = pod->spec.job ? job_id(s->scenario, pod->spec.job->spec, number) : "ray-shared";
    snprintf(buf, n, "%s-%s-%u", owner, pod->spec.role == ROLE_HEAD ? "head" : "worker", pod->spec.index);
}

static const struct pod_owner_ops pod_ops = {.changed = pod_changed, .init_ready = gcs_answers, .name = pod_name};

/* From the start of a container to Ready: the first probe that finds Ray up. */
static int64_t ready_delay(const struct stack *st)
{
    if (st->ray_start <= st->kr_probe_initial) return st->kr_probe_initial;
    if (st->kr_probe_period <= 0) return st->ray_start;
    int64_t late = st->ray_start - st->kr_probe_initial;
    int64_t probes = (late + st->kr_probe_period - 1) / st->kr_probe_period;
    return st->kr_probe_initial + probes * st->kr_probe_period;
}

static struct ray_pod *new_ray_pod(struct raycluster *rc, bool head, uint32_t group)
{
    struct ray_pod *p = xcalloc(1, sizeof *p);
    *p = (struct ray_pod){.cluster = rc, .head = head, .group = group, .prev = rc->last};
    if (rc->last) rc->last->next = p;
    else rc->first = p;
    rc->last = p;
    if (head) rc->head = p;
    else rc->pods[group]++, rc->n_workers++;
    return p;
}

static void create_pod(struct raycluster *rc, bool head, uint32_t group)
{
    struct kuberay *k = rc->kuberay;
    const struct stack *st = stack_of(k);
    const struct ray_shape *shape = head ? &rc->spec.head : &rc->spec.groups[group].shape;
    struct ray_pod *p = new_ray_pod(rc, head, group);
    bool waits = !head && st->kr_gcs_poll > 0;
    struct pod_spec spec = {
        .ops = &pod_ops,
        .ctx = p,
        .job = rc->spec.job,
        .role = head ? ROLE_HEAD : ROLE_WORKER,
        .index = head ? rc->heads_made++ : rc->workers_made++,
        .shares = shape->shares,
        .cpu_milli = shape->cpu_milli,
        .mem_bytes = shape->mem_bytes,
        .groups = shape->groups,
        .restart = rc->spec.head_final && head ? RESTART_NEVER : RESTART_ALWAYS,
        .priority = rc->spec.priority,
        .init_poll_ns = st->kr_gcs_poll,
        .ready_delay_ns = ready_delay(st),
        .gang = rc->gang,
        .toleration_ns = -1,
        .has_image = rc->spec.job != NULL,
        .uses_init = waits,
        .tally = rc->spec.tally,
    };
    p->pod = kube_pod_create(k->sim->kube, &spec);
    if (!head) gcs_worker_created(rc->gcs, p);
}

static void forget_pod(struct raycluster *rc, struct ray_pod *p)
{
    if (p->next) p->next->prev = p->prev;
    else rc->last = p->prev;
    if (p->prev) p->prev->next = p->next;
    else rc->first = p->next;
    if (rc->leaving == p) rc->leaving = NULL;
    if (p->head) {
        rc->head = NULL;
        rc->head_left = rc->at != AT_SERVICE; /* a reconcile in progress began with it in its cache */
        rc->head_left_ready = p->pod->ready;
    } else {
        rc->pods[p->group]--;
        rc->n_workers--;
        if (p->removing) rc->removing[p->group]--;
        if (p->delete_asked) rc->deleting[p->group]--;
    }
    free(p);
}

/* The counts of the status, kept as pods change. */
static void recount(struct raycluster *rc, struct ray_pod *p, bool gone)
{
    const struct pod *pod = p->pod;
    bool running = !gone && pod->phase == POD_RUNNING;
    bool ready = running && pod->ready;
    bool failed = !gone && !p->delete_asked && (pod->phase == POD_FAILED || pod->phase == POD_SUCCEEDED);
    if (!p->head) {
        rc->n_running += running - p->running;
        rc->n_ready += ready - p->ready;
        rc->n_failed += failed - p->failed;
    }
    p->running = running;
    p->ready = ready;
    p->failed = failed;
}

static void container_runs(struct raycluster *rc, struct ray_pod *p)
{
    if (!p->pod->started || p->pod->terminating) return;
    if (p->head) gcs_head_started(rc->gcs);
    else gcs_worker_started(rc->gcs, p);
}

static void container_ended(struct raycluster *rc, struct ray_pod *p, enum raylet_end end)
{
    if (p->head) gcs_head_stopped(rc->gcs);
    else gcs_worker_stopped(rc->gcs, p, end);
}

static void tell_gcs(struct raycluster *rc, struct ray_pod *p, enum pod_change c)
{
    switch (c) {
    case POD_STARTED:
    case POD_RESTARTED: container_runs(rc, p); break;
    case POD_EXITED:
    case POD_PHASE: container_ended(rc, p, RAYLET_REFUSED); break;
    case POD_LOST: container_ended(rc, p, RAYLET_DROPPED); break;
    case POD_TERMINATING:
        if (!p->pod->node_lost) container_ended(rc, p, RAYLET_DRAINED);
        break;
    case POD_GONE:
        container_ended(rc, p, RAYLET_DRAINED);
        if (!p->head) gcs_worker_gone(rc->gcs, p);
        break;
    default: break;
    }
}

/* What the controller's watch of pods shows and its reconcile looks at. */
static bool is_news(enum pod_change c)
{
    return c == POD_CREATED || c == POD_STARTED || c == POD_READY || c == POD_NOT_READY || c == POD_PHASE ||
           c == POD_TERMINATING || c == POD_GONE;
}

static void pod_changed(struct kube *k, struct pod *pod, enum pod_change c)
{
    (void)k;
    struct ray_pod *p = pod->spec.ctx;
    struct raycluster *rc = p->cluster;
    if (c == POD_CREATED) p->pod = pod;
    recount(rc, p, c == POD_GONE);
    tell_gcs(rc, p, c);
    if (rc->spec.ops->pod) rc->spec.ops->pod(rc, p, c);
    if (c == POD_GONE) forget_pod(rc, p);
    if (is_news(c)) enqueue(rc);
    if (c == POD_GONE && rc->deleted && !rc->first) end(rc);
}

/* ---- reconcile ---- */

static struct raycluster *of_work(struct work_item *w) { return (struct raycluster *)w; }

static uint32_t wanted_of(const struct raycluster *rc, uint32_t g)
{
    const struct ray_group *group = &rc->spec.groups[g];
    uint32_t n = group->replicas < group->min ? group->min : group->replicas;
    return n > group->max ? group->max : n;
}

uint32_t raycluster_wanted(const struct raycluster *rc)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < rc->spec.n_groups; g++) n += wanted_of(rc, g);
    return n;
}

static bool is(const struct raycluster *rc, enum raycluster_condition c)
{
    return rc->status.conditions[c].status == CONDITION_TRUE;
}

static void delete_pod(struct raycluster *rc, struct ray_pod *p)
{
    p->delete_asked = true;
    if (!p->head) rc->deleting[p->group]++;
    recount(rc, p, false);
    kube_pod_delete(rc->kuberay->sim->kube, p->pod, -1);
}

/* The API server has carried the deletion out when the call returns: the next step does it. */
static int64_t delete_by_call(struct raycluster *rc, struct ray_pod *p)
{
    rc->leaving = p;
    return call(rc);
}

static int64_t at_service(struct raycluster *rc)
{
    rc->at = AT_SUSPEND;
    rc->error = rc->head_left = false;
    if (rc->service) return 0;
    rc->service = true;
    return call(rc);
}

static void delete_all_pods(struct raycluster *rc)
{
    for (struct ray_pod *p = rc->first, *next; p; p = next) {
        next = p->next;
        if (!p->pod->terminating && !p->delete_asked) delete_pod(rc, p);
    }
}

static int64_t at_suspend(struct raycluster *rc)
{
    rc->at = AT_STATUS;
    if (is(rc, RC_SUSPENDING)) {
        if (!rc->first) return 0;
        delete_all_pods(rc);
        return call(rc);
    }
    if (!is(rc, RC_SUSPENDED) && !rc->spec.suspend) rc->at = AT_HEAD;
    return 0;
}

static int64_t at_head(struct raycluster *rc)
{
    struct ray_pod *p = rc->head;
    rc->at = AT_GROUP;
    rc->group_at = 0;
    if (!p) {
        if (rc->spec.head_final && rc->head_created) return 0;
        rc->head_created = true;
        create_pod(rc, true, 0);
        return call(rc);
    }
    if (!p->failed) return 0;
    rc->error = true;
    rc->at = AT_STATUS;
    return delete_by_call(rc, p);
}

/* A group whose deletions the controller still expects to see is left alone. */
static int64_t at_group(struct raycluster *rc)
{
    if (rc->group_at == rc->spec.n_groups) rc->at = AT_STATUS;
    else if (rc->deleting[rc->group_at]) rc->group_at++;
    else rc->at = AT_UNHEALTHY;
    return 0;
}

/* One failed worker a call; when there was one, this reconcile ends with the status. */
static int64_t at_unhealthy(struct raycluster *rc)
{
    if (rc->n_failed)
        for (struct ray_pod *p = rc->first; p; p = p->next) {
            if (p->head || !p->failed || p->group != rc->group_at) continue;
            rc->error = true;
            return delete_by_call(rc, p);
        }
    rc->at = rc->error ? AT_STATUS : AT_REMOVE;
    return 0;
}

static struct ray_pod *last_worker_of(struct raycluster *rc, uint32_t g, bool named)
{
    for (struct ray_pod *p = rc->last; p; p = p->prev)
        if (!p->head && p->group == g && !p->delete_asked && !p->pod->terminating && p->removing == named) return p;
    return NULL;
}

/* Workers that the autoscaler named, then those beyond the wanted number (without an autoscaler: any). */
static int64_t at_remove(struct raycluster *rc)
{
    uint32_t g = rc->group_at;
    struct ray_pod *p = rc->removing[g] ? last_worker_of(rc, g, true) : NULL;
    if (!p && !rc->spec.autoscaling && rc->pods[g] > wanted_of(rc, g) + rc->removed) {
        p = last_worker_of(rc, g, false);
        if (p) rc->removed++;
    }
    if (p) return delete_by_call(rc, p);
    uint32_t have = rc->pods[g], want = wanted_of(rc, g);
    rc->to_create = want > have ? want - have : 0;
    rc->removed = 0;
    rc->at = AT_CREATE;
    return 0;
}

static int64_t at_create(struct raycluster *rc)
{
    if (rc->to_create == 0) {
        rc->group_at++;
        rc->at = AT_GROUP;
        return 0;
    }
    rc->to_create--;
    create_pod(rc, false, rc->group_at);
    return call(rc);
}

/* ---- status ---- */

static void set(struct raycluster_status *st, enum raycluster_condition c, bool value, enum raycluster_reason reason)
{
    st->conditions[c] =
        (struct ray_condition){.status = value ? CONDITION_TRUE : CONDITION_FALSE, .reason = (uint8_t)reason};
}

/* A pod that was just created is not in the controller's cache yet. */
static bool head_visible(struct raycluster *rc)
{
    if (!rc->head) return false;
    const struct kuberay *k = rc->kuberay;
    int64_t seen = rc->head->pod->created_ns + stack_of(k)->kr_cache_lag;
    if (seen <= sim_now(k->sim)) return true;
    requeue_after(rc, seen - sim_now(k->sim));
    return false;
}

static bool all_ready(const struct raycluster *rc)
{
    return rc->head && rc->head->ready && rc->n_ready == rc->n_workers;
}

static void head_condition(struct raycluster *rc, struct raycluster_status *st)
{
    bool left = !rc->head && rc->head_left;
    if (!left && !head_visible(rc)) set(st, RC_HEAD_POD_READY, false, RCR_HEAD_NOT_FOUND);
    else if (left ? rc->head_left_ready : rc->head->pod->ready) set(st, RC_HEAD_POD_READY, true, RCR_HEAD_READY);
    else set(st, RC_HEAD_POD_READY, false, RCR_UNKNOWN);
}

static void suspend_conditions(const struct raycluster *rc, struct raycluster_status *st)
{
    if (is(rc, RC_SUSPENDING)) {
        if (rc->first) return;
        set(st, RC_PROVISIONED, false, RCR_PROVISIONING);
        set(st, RC_SUSPENDING, false, RCR_SUSPENDING);
        set(st, RC_SUSPENDED, true, RCR_SUSPENDED);
    } else if (is(rc, RC_SUSPENDED)) {
        if (!rc->spec.suspend) set(st, RC_SUSPENDED, false, RCR_SUSPENDED);
    } else {
        set(st, RC_SUSPENDED, false, RCR_SUSPENDED);
        set(st, RC_SUSPENDING, rc->spec.suspend, RCR_SUSPENDING);
    }
}

static void new_status(struct raycluster *rc, struct raycluster_status *st)
{
    *st = rc->status;
    st->ready_workers = rc->n_ready;
    st->available_workers = rc->n_running;
    if (!rc->error && rc->n_workers == raycluster_wanted(rc) && all_ready(rc)) st->ready = true, st->suspended = false;
    head_condition(rc, st);
    if (!is(rc, RC_PROVISIONED) && !is(rc, RC_SUSPENDED)) {
        bool all = all_ready(rc);
        set(st, RC_PROVISIONED, all, all ? RCR_ALL_READY : RCR_PROVISIONING);
    }
    suspend_conditions(rc, st);
    if (rc->spec.suspend && !rc->first) st->ready = false, st->suspended = true;
}

static bool same_condition(struct ray_condition a, struct ray_condition b)
{
    return a.status == b.status && a.reason == b.reason;
}

static bool same_status(const struct raycluster_status *a, const struct raycluster_status *b)
{
    for (int c = 0; c < N_RAYCLUSTER_CONDITIONS; c++)
        if (!same_condition(a->conditions[c], b->conditions[c])) return false;
    return a->ready_workers == b->ready_workers && a->available_workers == b->available_workers &&
           a->ready == b->ready && a->suspended == b->suspended;
}

static void record_conditions(struct raycluster *rc, const struct raycluster_status *st)
{
    static const char *const status_names[] = {"", "False", "True"};
    struct sim *sim = rc->kuberay->sim;
    const struct kube_observer *o = kube_observer(sim->kube);
    for (unsigned c = 0; c < N_RAYCLUSTER_CONDITIONS; c++) {
        struct ray_condition new = st->conditions[c];
        if (same_condition(rc->status.conditions[c], new)) continue;
        sim_record(sim, REC_JOB_CONDITION, rc->spec.job, RAY_CONDITION_BASE + c, new.status, new.reason,
                   rc->name);
        if (o && o->condition)
            o->condition(o->ctx, sim->kube, rc->spec.job, raycluster_condition_names[c], status_names[new.status],
                         raycluster_reason_names[new.reason], "");
    }
}

static int64_t at_status(struct raycluster *rc)
{
    struct raycluster_status st;
    rc->at = AT_END;
    new_status(rc, &st);
    if (same_status(&st, &rc->status)) return 0;
    bool again = is(rc, RC_SUSPENDING) != (st.conditions[RC_SUSPENDING].status == CONDITION_TRUE) ||
                 is(rc, RC_SUSPENDED) != (st.conditions[RC_SUSPENDED].status == CONDITION_TRUE);
    record_conditions(rc, &st);
    rc->status = st;
    if (again) requeue_after(rc, stack_of(rc->kuberay)->kr_requeue);
    if (rc->spec.ops->status) rc->spec.ops->status(rc);
    return call(rc);
}

static int64_t reconcile(struct reconciler *q, struct work_item *w)
{
    (void)q;
    static int64_t (*const steps[])(struct raycluster *) = {
        at_service, at_suspend, at_head, at_group, at_unhealthy, at_remove, at_create, at_status};
    struct raycluster *rc = of_work(w);
    if (rc->deleted || rc->at == AT_END) {
        rc->at = AT_SERVICE;
        return RECONCILED;
    }
    struct ray_pod *p = rc->leaving;
    rc->leaving = NULL;
    if (p && !p->pod->terminating) {
        delete_pod(rc, p);
        if (!rc->head) rc->head_left = false; /* one that has ended goes at once, and the cache has seen it go by the status */
    }
    return steps[rc->at](rc);
}

/* ---- what its creator asks for ---- */

struct raycluster *raycluster_create(struct kuberay *k, const struct raycluster_spec *spec)
{
    struct raycluster *rc = xcalloc(1, sizeof *rc);
    assert(spec->n_groups <= MAX_ROLES && spec->ops->empty);
    rc->kuberay = k;
    rc->spec = *spec;
    rc->name = k->n_created++;
    rc->next_all = k->clusters;
    if (k->clusters) k->clusters->prev_all = rc;
    k->clusters = rc;
    rc->gcs = gcs_create(rc);
    if (k->sim->scenario->approach.gang == GANG_COSCHEDULING && spec->job)
        rc->gang = kube_gang_create(k->sim->kube, spec->job, raycluster_wanted(rc) + 1);
    enqueue(rc);
    return rc;
}

void raycluster_delete(struct raycluster *rc)
{
    struct kuberay *k = rc->kuberay;
    assert(!rc->deleted);
    rc->deleted = true;
    event_cancel(k->sim->events, rc->requeue);
    reconciler_drop(k->queue, &rc->work);
    if (rc->first) {
        delete_all_pods(rc); /* the garbage collector follows the owner */
        return;
    }
    end(rc);
}

/* A job is counted as it was submitted while its cluster is smaller: an elastic one begins with the fewest. */
static void tell_size(struct raycluster *rc)
{
    struct job *j = rc->spec.job;
    struct sim *s = rc->kuberay->sim;
    int64_t shares = rc->spec.head.shares, least = j ? job_total_shares(s, j) : 0;
    for (uint32_t g = 0; g < rc->spec.n_groups; g++) shares += (int64_t)wanted_of(rc, g) * rc->spec.groups[g].shape.shares;
    if (j) job_resized(s, j, shares > least ? shares : least);
}

void raycluster_scale(struct raycluster *rc, uint32_t group, uint32_t replicas)
{
    rc->spec.groups[group].replicas = replicas;
    tell_size(rc);
    enqueue(rc);
}

void raycluster_remove_worker(struct raycluster *rc, struct ray_pod *p)
{
    if (p->removing) return;
    p->removing = true;
    rc->removing[p->group]++;
    struct ray_group *g = &rc->spec.groups[p->group];
    if (g->replicas) g->replicas--;
    tell_size(rc);
    enqueue(rc);
}

void raycluster_suspend(struct raycluster *rc, bool on)
{
    rc->spec.suspend = on;
    enqueue(rc);
}
