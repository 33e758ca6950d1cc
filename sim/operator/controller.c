/* controller.c - the controller's queue and client: plans are carried out call by call, then the status is written.
 *
 * All jobs share one work queue (training-operator.workers, 1 by default) and one client: each call waits for a token
 * (qps 20, burst 30) and takes api-call; events take tokens too, 25 an object. So N pods and N services are there after
 * (2N + 25 - 30) / 20 s, as recorded.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/operator/torch.h"

static int64_t reconcile(void *ctx, void *arg, uint64_t key);

struct torch_op *torch_op_create(struct sim *s)
{
    struct torch_op *op = xcalloc(1, sizeof *op);
    const struct stack *k = &s->scenario->approach.stack;
    op->sim = s;
    op->kube = s->kube;
    op->stack = k;
    op->client = kube_client_make(k->to_qps, k->to_burst, k->to_call);
    op->queue = workqueue_create(s->events, k->to_workers > 0 ? (unsigned)k->to_workers : 1, reconcile, op);
    arena_init(&op->arena);
    return op;
}

static void free_arrays(struct torch_job *t)
{
    for (uint32_t i = 0; i < MAX_TYPES; i++) {
        free(t->type[i].pods);
        free(t->type[i].services);
    }
    array_free(&t->run.calls);
}

void torch_op_destroy(struct torch_op *op)
{
    struct torch_job *lists[] = {op->first, op->free};
    for (size_t i = 0; i < 2; i++)
        for (struct torch_job *t = lists[i]; t; t = t->next) free_arrays(t);
    for (struct torch_job *t = op->first; t; t = t->next)
        if (t->job->live) train_destroy(op->sim, t->job->live->train);
    workqueue_destroy(op->queue);
    arena_free(&op->arena);
    free(op);
}

/* ---- job objects ---- */

/* Keeps the arrays of a used one; its pods and services are gone from them. */
static void wipe(struct torch_job *t)
{
    struct { struct pod **pods; bool *services; uint32_t cap; } kept[MAX_TYPES];
    __typeof__(t->run.calls) calls = t->run.calls;
    for (uint32_t i = 0; i < MAX_TYPES; i++) {
        kept[i].pods = t->type[i].pods;
        kept[i].services = t->type[i].services;
        kept[i].cap = t->type[i].cap;
    }
    memset(t, 0, sizeof *t);
    for (uint32_t i = 0; i < MAX_TYPES; i++) {
        t->type[i].pods = kept[i].pods;
        t->type[i].services = kept[i].services;
        t->type[i].cap = kept[i].cap;
    }
    t->run.calls = calls;
    array_clear(&t->run.calls);
}

struct torch_job *torch_job_new(struct torch_op *op, struct job *j)
{
    struct torch_job *t = op->free;
    if (t) op->free = t->next;
    else t = arena_new(&op->arena, struct torch_job);
    wipe(t);
    t->job = t->tally.job = j;
    t->op = op;
    t->events = bucket_event_spam(op->stack->to_event_burst);
    t->status.start_ns = t->status.completion_ns = -1;
    t->next = op->first;
    if (t->next) t->next->prev = t;
    op->first = t;
    return t;
}

static void job_free(struct torch_job *t)
{
    struct torch_op *op = t->op;
    if (t->prev) t->prev->next = t->next;
    else op->first = t->next;
    if (t->next) t->next->prev = t->prev;
    t->prev = NULL;
    t->next = op->free;
    op->free = t;
}

/* Once a finished job is cleaned up no pass would do anything but look at its time to live, which is a delayed key. */
void torch_enqueue(struct torch_job *t)
{
    bool over = t->cleaned || (t->run.busy && t->run.cleans);
    if (!t->deleted && !over) workqueue_add(t->op->queue, (uint64_t)t->job->index);
}

/* ---- release ---- */

static uint32_t pods_left(const struct torch_job *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_types; i++) n += t->type[i].not_failed;
    return n;
}

static uint32_t objects_left(const struct torch_job *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_types; i++) n += t->type[i].n_pods;
    return n;
}

/* Somebody watches what becomes of the objects. */
static bool is_watched(const struct torch_job *t)
{
    const struct kube_observer *o = kube_observer(t->op->kube);
    return o && o->keep_objects && !t->deleted;
}

static void forget_pods(struct torch_job *t)
{
    for (uint32_t i = 0; i < t->n_types; i++) {
        struct replica_type *r = &t->type[i];
        for (uint32_t k = 0; k < r->top_pod; k++)
            if (r->pods[k]) kube_pod_forget(t->op->kube, r->pods[k]);
        memset(r->pods, 0, r->top_pod * sizeof *r->pods);
        memset(r->services, 0, r->top_service * sizeof *r->services);
    }
}

static void let_go(struct torch_job *t)
{
    struct torch_op *op = t->op;
    struct job *j = t->job;
    forget_pods(t);
    kube_tally_close(op->kube, &t->tally);
    kube_gang_delete(op->kube, t->gang);
    ranks_close(t);
    train_destroy(op->sim, j->live->train);
    j->live->train = NULL;
    j->live->state = NULL;
    job_free(t);
    job_released(op->sim, j);
}

void torch_try_release(struct torch_job *t)
{
    struct job *j = t->job;
    if (t->run.busy) return;
    if (j->flags & JOB_ENDED) {
        if (pods_left(t) == 0 && (t->cleaned || t->deleted) && !is_watched(t)) let_go(t);
    } else if (t->stopping && objects_left(t) == 0 && (t->deleted || conditions_has(&t->status.conditions, COND_SUSPENDED))) {
        t->stopping = false;
        job_released(t->op->sim, j);
    }
}

/* ---- one call ---- */

static void tell_service(struct torch_job *t, const struct replica_type *r, uint32_t index, bool added)
{
    const struct kube_observer *o = kube_observer(t->op->kube);
    if (!o || !o->object) return;
    struct pod as_pod = {.spec = {.ops = &torch_pod_ops, .job = t->job, .role = r->role, .index = index}};
    char name[256];
    kube_pod_name(t->op->kube, &as_pod, name, sizeof name);
    o->object(o->ctx, t->op->kube, t->job, "Service", name, added);
}

static void service(struct torch_job *t, struct replica_type *r, uint32_t index, bool on)
{
    if (index >= r->cap || r->services[index] == on) return;
    torch_service(r, index, on);
    tell_service(t, r, index, on);
}

static enum restart_policy pod_restart(enum restart_policy of_job)
{
    return of_job == RESTART_EXIT_CODE ? RESTART_NEVER : of_job;
}

static void create_pod(struct torch_job *t, struct replica_type *r, uint32_t index)
{
    const struct stack *k = t->op->stack;
    struct pod_spec spec = {
        .ops = &torch_pod_ops, .ctx = t, .job = t->job, .tally = &t->tally, .role = r->role, .index = index,
        .shares = r->shares, .cpu_milli = r->spec->cpu_milli, .mem_bytes = r->spec->mem_bytes, .groups = r->groups,
        .restart = pod_restart(r->restart), .priority = t->job->spec->priority, .init_poll_ns = k->to_init_retry,
        .init_tries = k->to_init_tries, .toleration_ns = -1, .gang = t->gang, .has_image = true,
        .uses_init = r->role == ROLE_WORKER && t->type[0].role == ROLE_MASTER,
    };
    if (r->pods[index]) return; /* a pod of this name is there: AlreadyExists */
    kube_pod_create(t->op->kube, &spec);
    kube_client_event(t->op->kube, &t->op->client, &t->events);
}

static void delete_pod(struct torch_job *t, struct pod *p)
{
    if (!p) return;
    kube_pod_delete(t->op->kube, p, -1);
    kube_client_event(t->op->kube, &t->op->client, &t->events);
}

static void perform(struct torch_job *t, const struct call *c)
{
    struct replica_type *r = &t->type[c->type];
    switch ((enum call_kind)c->kind) {
    case CALL_CREATE_POD: create_pod(t, r, c->index); break;
    case CALL_CREATE_SERVICE:
        service(t, r, c->index, true);
        kube_client_event(t->op->kube, &t->op->client, &t->events);
        break;
    case CALL_DELETE_POD: delete_pod(t, r->pods[c->index]); break;
    case CALL_DELETE_SERVICE: service(t, r, c->index, false); break;
    case CALL_DELETE_BOTH:
        delete_pod(t, r->pods[c->index]);
        service(t, r, c->index, false);
        break;
    case CALL_DELETE_JOB: torch_collect_garbage(t); break;
    }
}

void torch_collect_garbage(struct torch_job *t)
{
    t->deleted = true;
    for (uint32_t i = 0; i < t->n_types; i++) {
        struct replica_type *r = &t->type[i];
        for (uint32_t k = 0; k < r->top_service; k++) service(t, r, k, false);
        for (uint32_t k = 0; k < r->top_pod; k++)
            if (r->pods[k]) kube_pod_delete(t->op->kube, r->pods[k], -1);
    }
}

/* ---- a reconcile ---- */

static void after_end(struct torch_job *t)
{
    ranks_job_over(t);
    for (uint32_t i = 0; i < t->n_types; i++)
        for (uint32_t k = 0; k < t->type[i].top_pod; k++) {
            struct pod *p = t->type[i].pods[k];
            if (p && !p->terminating && p->started) kube_pod_activity(t->op->kube, p, ACT_AFTER_END);
        }
}

/* The status is in the API server now: what others see of it. */
static void publish(struct torch_job *t)
{
    struct sim *s = t->op->sim;
    const struct conditions *before = &t->status.conditions, *now = &t->run.status.conditions;
    bool was_over = conditions_has(before, COND_SUCCEEDED) || conditions_has(before, COND_FAILED);
    conditions_publish(s, t->job, before, now);
    t->status = t->run.status;
    if (conditions_has(now, COND_SUSPENDED)) job_idle(s, t->job); /* its pods are being deleted, and count no more */
    if (was_over) return;
    bool failed = conditions_has(now, COND_FAILED), succeeded = conditions_has(now, COND_SUCCEEDED);
    if (!failed && !succeeded) return;
    after_end(t);
    job_finished(s, t->job, failed ? JOB_FAILED : JOB_SUCCEEDED);
    torch_enqueue(t); /* the update of the object brings the pass that cleans up */
}

/* After a pass: what it leaves to later. The job may be released here. */
static void done_with(struct torch_job *t)
{
    struct torch_op *op = t->op;
    t->run.busy = false;
    t->cleaned |= t->run.cleans;
    if (t->run.requeue_ns >= 0 && !t->deleted)
        workqueue_add_after(op->queue, (uint64_t)t->job->index, t->run.requeue_ns);
    torch_try_release(t);
}

static void finish(struct torch_job *t)
{
    workqueue_done(t->op->queue, (uint64_t)t->job->index);
    done_with(t);
}

static void written(struct torch_job *t)
{
    if (!t->deleted) publish(t);
    finish(t);
}

static void on_written(void *ctx, void *arg)
{
    (void)ctx;
    written(arg);
}

/* When a call issued now is done, in a pass that decides until t->decided_ns. Its token is reserved at once. */
static int64_t call_done(struct torch_job *t, int calls)
{
    struct torch_op *op = t->op;
    int64_t go = bucket_take(&op->client.bucket, sim_now(op->sim), calls);
    return (go > t->run.decided_ns ? go : t->run.decided_ns) + op->client.call_ns;
}

static bool same_status(const struct torch_status *a, const struct torch_status *b)
{
    return memcmp(a->counts, b->counts, sizeof a->counts) == 0 && a->start_ns == b->start_ns &&
           a->completion_ns == b->completion_ns && a->conditions.n == b->conditions.n &&
           memcmp(a->conditions.v, b->conditions.v, a->conditions.n * sizeof *a->conditions.v) == 0;
}

static bool calls_left(const struct torch_job *t)
{
    return t->run.next < t->run.calls.n && !t->deleted;
}

/* After the calls: is there a status to write? */
static bool must_write(struct torch_job *t)
{
    if (t->deleted) return false;
    if (t->run.update) torch_update_status(t);
    return !same_status(&t->status, &t->run.status);
}

static void called(struct torch_job *t)
{
    struct call c = t->run.calls.v[t->run.next++];
    if (!t->deleted) perform(t, &c);
    if (c.kind == CALL_DELETE_BOTH) t->run.decided_ns = sim_now(t->op->sim) + t->op->client.call_ns; /* the second of two */
}

static void on_called(void *ctx, void *arg);

/* Before a deletion goes a GET, which writes nothing. */
static const int tokens[] = {[CALL_CREATE_POD] = 1, [CALL_CREATE_SERVICE] = 1, [CALL_DELETE_POD] = 2,
                             [CALL_DELETE_SERVICE] = 2, [CALL_DELETE_BOTH] = 4, [CALL_DELETE_JOB] = 1};

static void write_then_finish(struct torch_job *t, bool last_act)
{
    struct event_queue *events = t->op->sim->events;
    int64_t done = call_done(t, 1);
    if (last_act && event_skip_to(events, done)) written(t);
    else event_at(events, done, EVENT_CONTROL, on_written, t);
}

/* The calls that are left, one after another, then the status. As the last act of an event the pass goes on at once as
 * long as nothing else happens before a call is done. */
static void go_on(struct torch_job *t, bool last_act)
{
    struct event_queue *events = t->op->sim->events;
    while (calls_left(t)) {
        int64_t done = call_done(t, tokens[t->run.calls.v[t->run.next].kind]);
        if (!last_act || !event_skip_to(events, done)) {
            event_at(events, done, EVENT_CONTROL, on_called, t);
            return;
        }
        called(t);
    }
    if (must_write(t)) write_then_finish(t, last_act);
    else finish(t);
}

static void on_called(void *ctx, void *arg)
{
    (void)ctx;
    called(arg);
    go_on(arg, true);
}

static struct torch_job *job_of_key(struct torch_op *op, uint64_t key)
{
    struct job *j = op->sim->by_index[key];
    bool ours = j && j->live && j->live->state && op->sim->lifecycle[job_detail_of(op->sim, j)->kind]->start ==
                                                      j->live->life->start;
    struct torch_job *t = ours ? j->live->state : NULL;
    return t && t->op == op && !t->deleted ? t : NULL;
}

static int64_t reconcile(void *ctx, void *arg, uint64_t key)
{
    struct torch_op *op = arg;
    struct torch_job *t = job_of_key(op, key);
    (void)ctx;
    if (!t) return 0;
    torch_plan(t);
    t->run.decided_ns = sim_now(op->sim) + op->stack->to_reconcile;
    bool calls = t->run.calls.n > 0, last_act = workqueue_is_served(op->queue);
    if (!calls && !must_write(t)) {
        done_with(t);
        return op->stack->to_reconcile;
    }
    t->run.busy = true;
    if (calls) go_on(t, last_act);
    else write_then_finish(t, last_act);
    return WORKQUEUE_OPEN;
}
