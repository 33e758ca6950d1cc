/* kueue_policy.c - admission by Kueue: the decisions of kueue/ connected to the clock, the jobs and their waits.
 *
 * A job becomes a Workload a moment after it is created; cycles run one after the other, each as long as what it writes
 * takes; admissions leave through Kueue's API client. An evicted workload gives its quota back a moment after its job's object
 * shows nothing active (IsActive of Kueue's job integrations): its controller has then sent its pods' deletions, which takes
 * longer the more they are, and the pods may still be terminating. It may be admitted again before they are gone, and then
 * starts when they are.
 * Constants: stack.h, "kueue.*". Jobs of one queue, priority and request share a class: one shape of the library, one
 * clock of waits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hmap.h"
#include "base/mem.h"
#include "base/units.h"
#include "sim/engine/bucket.h"
#include "sim/queue/kueue/kueue.h"
#include "sim/queue/kueue_setup.h"
#include "sim/queue/policy.h"

struct job_class {
    struct wait_class wait;
    uint32_t shape;
    uint32_t cluster_queue; /* KUEUE_NONE: its queue has none */
};

/* What is known of a workload, by its id in the library. */
struct slot {
    struct job *job;
    struct job_class *class;
    uint16_t generation;   /* of the id: events of an earlier user are stale */
    uint16_t attempt;      /* evictions so far: an admission on its way is stale after one */
    uint8_t admitted;      /* the library holds quota for it and says so to the job */
    uint8_t started;       /* job_admit was called and it has not been told to stop */
    uint8_t stopping;      /* evicted, and its object shows something active */
    uint8_t why;           /* enum kueue_reason of the last eviction */
    void *evicted_by;      /* tag of whom it makes room for, or NULL */
    uint8_t asks;          /* the core has it pending */
};

struct kueue_state {
    struct kueue *k;
    struct bucket client;
    const struct stack *c;
    ARRAY(struct slot) slots;
    uint32_t *cluster_queue;      /* by scenario queue */
    bool *stopped;                /* by cluster queue */
    struct hmap keys[3];          /* class look-up, see class_of */
    struct hmap classes;
    struct job_class *last;
    const struct job_spec *last_spec;
    int64_t busy_until_ns, retry_at_ns;
    bool cycle_planned;
};

static struct kueue_state *state_of(struct sim *s) { return s->policy_state; }

static void *create(struct sim *s)
{
    const struct quota_spec *spec = &s->scenario->quota;
    const struct stack *c = &s->scenario->approach.stack;
    struct kueue_state *t = xcalloc(1, sizeof *t);
    t->c = c;
    t->k = kueue_create(&(struct kueue_options){.n_flavors = spec->n_flavors,
                                                .n_resources = spec->n_resources,
                                                .priority_sorting = c->kq_priority_sorting,
                                                .equivalence_hashing = c->kq_hashing,
                                                .partial_admission = true,
                                                .retry_batch_ns = c->kq_batch});
    kueue_setup_cohorts(t->k, spec);
    for (uint32_t i = 0; i < spec->n_queues; i++) kueue_setup_queue(t->k, spec, &spec->queues[i], KUEUE_NONE, -1, 0);
    t->cluster_queue = xcalloc(s->scenario->n_queues + 1, sizeof *t->cluster_queue);
    for (uint32_t q = 0; q < s->scenario->n_queues; q++)
        t->cluster_queue[q] = kueue_find_queue(spec, s->scenario->queues[q]);
    t->client = bucket_make(c->kq_burst > 0 ? c->kq_burst : 1, c->kq_qps, 1000 * NS_PER_S);
    t->stopped = xcalloc(spec->n_queues + 1, sizeof *t->stopped);
    for (uint32_t i = 0; i < spec->n_queues; i++) t->stopped[i] = spec->queues[i].stop != STOP_NONE;
    t->retry_at_ns = KUEUE_NEVER;
    return t;
}

static void destroy(struct sim *s, void *state)
{
    struct kueue_state *t = state;
    const struct hmap_entry *e;
    (void)s;
    for (size_t i = 0; (e = hmap_next(&t->classes, &i)) != NULL;) free(e->ptr);
    for (int i = 0; i < 3; i++) hmap_free(&t->keys[i]);
    hmap_free(&t->classes);
    kueue_destroy(t->k);
    array_free(&t->slots);
    free(t->cluster_queue);
    free(t->stopped);
    free(t);
}

/* ---- classes ---- */

static uint64_t flavors_for(const struct quota_spec *spec, uint64_t groups)
{
    uint64_t mask = 0;
    for (uint32_t f = 0; f < spec->n_flavors; f++)
        if (spec->flavors[f].groups & groups) mask |= UINT64_C(1) << f;
    return mask;
}

static int64_t requested(const struct sim *s, const struct job *j, uint32_t role, const char *resource)
{
    const struct role_spec *r = &job_detail_of(s, j)->roles[role];
    if (!strcmp(resource, "cpu")) return r->cpu_milli;
    if (!strcmp(resource, "memory")) return r->mem_bytes * 1000;
    if (strstr(resource, "gpu")) return job_role_shares(s->scenario, j->spec, role);
    return !strcmp(resource, "pods") ? 1000 : 0;
}

static struct job_class *class_new(struct sim *s, struct kueue_state *t, struct job *j)
{
    const struct quota_spec *spec = &s->scenario->quota;
    const struct job_detail *d = job_detail_of(s, j);
    struct kueue_pod_set sets[MAX_ROLES] = {0};
    struct job_class *c = xcalloc(1, sizeof *c);
    c->cluster_queue = t->cluster_queue[j->spec->queue];
    for (uint32_t r = 0; r < d->n_roles; r++) {
        sets[r].count = job_role_replicas(s->scenario, j->spec, r);
        sets[r].flavors = flavors_for(spec, d->groups);
        if (r + 1 == d->n_roles) sets[r].min_count = d->min_parallelism;
        for (uint32_t x = 0; x < spec->n_resources; x++) sets[r].requests[x] = requested(s, j, r, spec->resources[x]);
    }
    enum wait_reason reason = c->cluster_queue == KUEUE_NONE        ? WAIT_UNSATISFIABLE
                              : t->stopped[c->cluster_queue] ? WAIT_QUOTA
                                                             : WAIT_ORDER;
    sim_class_init(s, &c->wait, d->groups, reason);
    if (c->cluster_queue != KUEUE_NONE) c->shape = kueue_shape(t->k, c->cluster_queue, j->spec->priority, d->n_roles, sets);
    return c;
}

/* Numbers a pair of 32-bit keys; equal pairs have equal numbers. */
static uint64_t number_of(struct hmap *m, uint64_t high, uint64_t low)
{
    uint64_t n = m->n;
    if (!hmap_get_u64(m, high << 32 | low, &n)) hmap_put_u64(m, high << 32 | low, n);
    return n;
}

static bool same_class(const struct job_spec *a, const struct job_spec *b)
{
    return a && a->detail == b->detail && a->replicas == b->replicas && a->gpu_shares == b->gpu_shares &&
           a->priority == b->priority && a->queue == b->queue;
}

static struct job_class *class_of(struct sim *s, struct kueue_state *t, struct job *j)
{
    const struct job_spec *p = j->spec;
    if (same_class(t->last_spec, p)) return t->last;
    uint64_t n = number_of(&t->keys[0], p->detail, p->replicas);
    n = number_of(&t->keys[1], n, p->gpu_shares);
    n = number_of(&t->keys[2], n, (uint32_t)p->priority);
    uint64_t key = n << 16 | p->queue;
    struct job_class *c = hmap_get_u64_ptr(&t->classes, key);
    if (!c) hmap_put_u64_ptr(&t->classes, key, c = class_new(s, t, j));
    t->last_spec = p;
    return t->last = c;
}

/* ---- events carry a workload and its generation, not a pointer: the job may have gone ---- */

static void *tag(const struct kueue_state *t, uint32_t workload)
{
    const struct slot *s = &t->slots.v[workload];
    return (void *)(uintptr_t)((uint64_t)s->generation << 48 | (uint64_t)s->attempt << 32 | workload);
}

static struct slot *untag(struct kueue_state *t, void *arg, uint32_t *workload)
{
    uint64_t x = (uintptr_t)arg;
    *workload = (uint32_t)x;
    struct slot *slot = &t->slots.v[*workload];
    return slot->generation == (uint16_t)(x >> 48) ? slot : NULL;
}

static bool is_same_attempt(const struct slot *slot, void *arg) { return slot->attempt == (uint16_t)((uintptr_t)arg >> 32); }

static struct slot *slot_open(struct kueue_state *t, uint32_t workload, struct job *j, struct job_class *c)
{
    while (t->slots.n <= workload) array_push(&t->slots, (struct slot){0});
    struct slot *slot = &t->slots.v[workload];
    *slot = (struct slot){.job = j, .class = c, .generation = (uint16_t)(slot->generation + 1), .asks = true};
    return slot;
}

static void slot_close(struct kueue_state *t, uint32_t workload)
{
    struct slot *slot = &t->slots.v[workload];
    *slot = (struct slot){.generation = (uint16_t)(slot->generation + 1)};
}

/* ---- cycles ---- */

static void kick(struct sim *s);

static uint64_t groups_of(const struct sim *s, const struct kueue_state *t, uint32_t workload, const struct job *j)
{
    const struct quota_spec *spec = &s->scenario->quota;
    uint64_t groups = 0;
    for (uint32_t r = 0; r < job_detail_of(s, j)->n_roles; r++)
        for (uint32_t x = 0; x < spec->n_resources; x++) {
            uint16_t f = kueue_flavor(t->k, workload, r, (uint16_t)x);
            if (f != UINT16_MAX) groups |= spec->flavors[f].groups;
        }
    groups &= job_detail_of(s, j)->groups;
    return groups ? groups : job_detail_of(s, j)->groups;
}

/* As job_live wants them: of the main role, a byte a resource. */
static uint64_t assigned_flavors(const struct sim *s, const struct kueue_state *t, uint32_t workload, const struct job *j)
{
    uint64_t flavors = 0;
    for (uint32_t x = 0; x < s->scenario->quota.n_resources; x++) {
        uint16_t f = kueue_flavor(t->k, workload, job_detail_of(s, j)->n_roles - 1, (uint16_t)x);
        if (f != UINT16_MAX) flavors |= (uint64_t)(f + 1) << 8 * x;
    }
    return flavors;
}

static uint32_t assigned_pods(const struct sim *s, const struct kueue_state *t, uint32_t workload, const struct job *j)
{
    return kueue_pods(t->k, workload, job_detail_of(s, j)->n_roles - 1);
}

static void start(struct sim *s, struct slot *slot, uint32_t workload)
{
    struct kueue_state *t = state_of(s);
    struct job *j = slot->job;
    slot->asks = false;
    slot->started = true;
    job_assign(s, j, assigned_flavors(s, t, workload, j), assigned_pods(s, t, workload, j));
    job_admit(s, j, groups_of(s, t, workload, j), NULL);
}

/* QuotaReserved and Admitted have been written; the job is unsuspended. */
static void on_admitted(void *ctx, void *arg)
{
    struct sim *s = ctx;
    uint32_t workload;
    struct slot *slot = untag(state_of(s), arg, &workload);
    if (!slot || !is_same_attempt(slot, arg) || slot->admitted || !kueue_is_admitted(state_of(s)->k, workload)) return;
    slot->admitted = true;
    if (slot->asks) start(s, slot, workload);
}

static void on_quota_released(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct kueue_state *t = state_of(s);
    uint32_t workload;
    if (!untag(t, arg, &workload)) return;
    kueue_release(t->k, workload, sim_now(s));
    kick(s);
}

static void admit(struct sim *s, struct kueue_state *t, uint32_t workload, int64_t at_ns)
{
    int64_t sent = bucket_take(&t->client, at_ns, 1);
    sim_class_reason(s, &t->slots.v[workload].class->wait, WAIT_ORDER);
    event_at(s->events, sent + t->c->kq_reserve, EVENT_CONTROL, on_admitted, tag(t, workload));
}

static void release_quota(struct sim *s, struct kueue_state *t, uint32_t workload)
{
    event_after(s->events, t->c->kq_release, EVENT_CONTROL, on_quota_released, tag(t, workload));
}

/* Evicted is written: the job is suspended. */
static void on_evicted(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct kueue_state *t = state_of(s);
    uint32_t workload, by;
    struct slot *slot = untag(t, arg, &workload);
    if (!slot) return;
    if (!slot->started) {
        release_quota(s, t, workload);
        return;
    }
    struct slot *preemptor = slot->evicted_by ? untag(t, slot->evicted_by, &by) : NULL;
    slot->started = false;
    slot->stopping = true;
    slot->job->live->eviction = slot->why;
    job_preempt(s, slot->job, slot->why == KUEUE_QUEUE_STOPPED ? STOP_EVICTED : STOP_PREEMPTED, preemptor ? preemptor->job : NULL);
}

static void evict(struct sim *s, struct kueue_state *t, const struct kueue_outcome *o, int64_t at_ns)
{
    struct slot *slot = &t->slots.v[o->workload];
    slot->attempt++;
    slot->admitted = false;
    slot->why = (uint8_t)o->reason;
    slot->evicted_by = o->by == KUEUE_NONE ? NULL : tag(t, o->by);
    event_at(s->events, at_ns, EVENT_CONTROL, on_evicted, tag(t, o->workload));
}

static enum wait_reason reason_of(enum kueue_reason r)
{
    switch (r) {
    case KUEUE_NO_RESOURCE:
    case KUEUE_NO_MATCHING_FLAVOR:
    case KUEUE_EXCEEDS_MAXIMUM: return WAIT_UNSATISFIABLE;
    case KUEUE_WAITS_ORDER: return WAIT_ORDER;
    default: return WAIT_QUOTA;
    }
}

/* An admission leaves when its turn comes; a preemptor's victims are written to so many at a time (pkg/util/parallelize of
 * Kueue 0.17). Returns when the last is sent; the messages of those that have to wait come after all of them. */
static int64_t act(struct sim *s, struct kueue_state *t, const struct kueue_cycle *c, int64_t at_ns)
{
    enum { AT_A_TIME = 8 };
    uint32_t by = KUEUE_NONE;
    size_t victims = AT_A_TIME - 1; /* the next begins a write */
    for (size_t i = 0; i < c->n; i++) {
        const struct kueue_outcome *o = &c->outcomes[i];
        if (o->kind == KUEUE_ADMIT) {
            admit(s, t, o->workload, at_ns += t->c->kq_admission);
        } else if (o->kind == KUEUE_EVICT) {
            victims = o->by == by ? victims + 1 : 0;
            if (victims % AT_A_TIME == 0) at_ns += t->c->kq_eviction;
            by = o->by;
            evict(s, t, o, at_ns);
        } else {
            sim_class_reason(s, &t->slots.v[o->workload].class->wait, reason_of(o->reason));
        }
    }
    return at_ns;
}

static void run_cycle(struct sim *s, struct kueue_state *t)
{
    const struct kueue_cycle *c = kueue_run_cycle(t->k, sim_now(s));
    t->busy_until_ns = act(s, t, c, sim_now(s) + t->c->kq_cycle) + t->c->kq_message * c->new_messages;
}

/* Cycles follow one another; those between which nothing else happens need no event each. */
static void on_cycle(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct kueue_state *t = state_of(s);
    (void)arg;
    t->cycle_planned = false;
    if (!kueue_ready(t->k)) return;
    run_cycle(s, t);
    while (kueue_ready(t->k) && kueue_next_retry(t->k) > t->busy_until_ns &&
           event_skip_to(s->events, t->busy_until_ns))
        run_cycle(s, t);
    kick(s);
}

static void on_retry(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct kueue_state *t = state_of(s);
    (void)arg;
    t->retry_at_ns = KUEUE_NEVER;
    kueue_retry(t->k, sim_now(s));
    kick(s);
}

/* Plans the next cycle and the next batch, if there is anything to do. */
static void kick(struct sim *s)
{
    struct kueue_state *t = state_of(s);
    int64_t retry = kueue_next_retry(t->k);
    if (!t->cycle_planned && kueue_ready(t->k)) {
        t->cycle_planned = true;
        int64_t at = t->busy_until_ns > sim_now(s) ? t->busy_until_ns : sim_now(s);
        event_at(s->events, at, EVENT_SCHEDULE, on_cycle, NULL);
    }
    if (retry != KUEUE_NEVER && retry < t->retry_at_ns) {
        t->retry_at_ns = retry;
        event_at(s->events, retry > sim_now(s) ? retry : sim_now(s), EVENT_CONTROL, on_retry, NULL);
    }
}

/* ---- what the core says ---- */

static void on_created(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct kueue_state *t = state_of(s);
    struct job *j = s->by_index[(uintptr_t)arg];
    if (!j || j->state != JOB_PENDING || j->policy_key) return;
    struct job_class *c = class_of(s, t, j);
    j->policy_key = kueue_submit(t->k, c->shape, (uint64_t)j->index, j->spec->submit_ns, (uint64_t)j->index) + 1;
    slot_open(t, j->policy_key - 1, j, c);
    kick(s);
}

/* policy_key: workload + 1, 0 while there is none. A job that names no queue is none of Kueue's business and starts at
 * once (manageJobsWithoutQueueName is off). */
static void submit(struct sim *s, struct job *j)
{
    struct kueue_state *t = state_of(s);
    if (s->scenario->queues[j->spec->queue][0] == '\0') {
        job_admit(s, j, job_detail_of(s, j)->groups, NULL);
        return;
    }
    struct job_class *c = class_of(s, t, j);
    job_wait_in(s, j, &c->wait);
    if (j->policy_key == 0) {
        if (c->cluster_queue != KUEUE_NONE)
            event_after(s->events, t->c->kq_create, EVENT_CONTROL, on_created, (void *)(uintptr_t)j->index);
        return;
    }
    struct slot *slot = &t->slots.v[j->policy_key - 1];
    slot->asks = true;
    if (slot->admitted) start(s, slot, j->policy_key - 1);
}

static void on_workload_finished(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct kueue_state *t = state_of(s);
    uint32_t workload;
    if (!untag(t, arg, &workload)) return;
    kueue_finish(t->k, workload, sim_now(s));
    slot_close(t, workload);
    kick(s);
}

static void withdraw(struct sim *s, struct job *j)
{
    struct kueue_state *t = state_of(s);
    if (j->policy_key == 0) return;
    kueue_finish(t->k, j->policy_key - 1, sim_now(s));
    slot_close(t, j->policy_key - 1);
    j->policy_key = 0;
    kick(s);
}

static void finished(struct sim *s, struct job *j)
{
    struct kueue_state *t = state_of(s);
    if (j->policy_key == 0) return;
    uint32_t workload = j->policy_key - 1;
    t->slots.v[workload].started = t->slots.v[workload].asks = false;
    event_after(s->events, t->c->kq_finish, EVENT_CONTROL, on_workload_finished, tag(t, workload));
}

static void idle(struct sim *s, struct job *j)
{
    struct kueue_state *t = state_of(s);
    struct slot *slot = j->policy_key ? &t->slots.v[j->policy_key - 1] : NULL;
    if (!slot || !slot->stopping) return;
    slot->stopping = false;
    release_quota(s, t, j->policy_key - 1);
}

/* A job that a person has suspended is deactivated: its workload does not ask again by itself. */
static void released(struct sim *s, struct job *j)
{
    if ((j->flags & JOB_STOPPING) && !(j->flags & JOB_ENDED) && j->wait == WAIT_SUSPENDED) withdraw(s, j);
    else idle(s, j);
}

static void capacity(struct sim *s) { (void)s; }

/* The oldest admitted job of its queue, else of its cohort, else any. */
static int32_t blocker(struct sim *s, const struct job *j)
{
    const struct kueue_state *t = state_of(s);
    const struct quota_spec *spec = &s->scenario->quota;
    uint32_t mine = t->cluster_queue[j->spec->queue];
    int32_t best = NO_JOB;
    int rank = -1;
    if (mine == KUEUE_NONE) return NO_JOB;
    for (size_t i = 0; i < t->slots.n; i++) {
        const struct slot *slot = &t->slots.v[i];
        if (!slot->started) continue;
        uint32_t its = slot->class->cluster_queue;
        bool cohort = spec->queues[mine].cohort != NO_INDEX && spec->queues[its].cohort == spec->queues[mine].cohort;
        int r = its == mine ? 2 : cohort ? 1 : 0;
        if (r < rank || (r == rank && slot->job->live->admitted_ns >= s->by_index[best]->live->admitted_ns)) continue;
        rank = r;
        best = slot->job->index;
    }
    return best;
}

/* ---- scripts ---- */

static uint32_t queue_named(const struct quota_spec *spec, const char *name)
{
    for (uint32_t i = 0; i < spec->n_queues; i++)
        if (!strcmp(spec->queues[i].name, name)) return i;
    return kueue_find_queue(spec, name);
}

static void hold(struct sim *s, struct kueue_state *t, uint32_t queue, int64_t value)
{
    static const enum kueue_stop stops[] = {KUEUE_RUN, KUEUE_HOLD, KUEUE_HOLD_AND_DRAIN};
    const struct hmap_entry *e;
    enum kueue_stop stop = stops[value < 0 || value > 2 ? 1 : value];
    t->stopped[queue] = stop != KUEUE_RUN;
    for (size_t i = 0; (e = hmap_next(&t->classes, &i)) != NULL;) {
        struct job_class *c = e->ptr;
        if (c->cluster_queue == queue) sim_class_reason(s, &c->wait, stop == KUEUE_RUN ? WAIT_ORDER : WAIT_QUOTA);
    }
    kueue_set_stop(t->k, queue, stop, sim_now(s));
    if (stop == KUEUE_HOLD_AND_DRAIN) act(s, t, kueue_drained(t->k), sim_now(s)); /* by the workload controller */
}

bool kueue_policy_script(struct sim *s, const struct script_action *a)
{
    struct kueue_state *t = state_of(s);
    const struct quota_spec *spec = &s->scenario->quota;
    uint32_t queue = queue_named(spec, a->target + strlen("queue/"));
    if (queue == KUEUE_NONE) return false;
    if (a->action == DO_HOLD) hold(s, t, queue, a->value);
    else if (a->action == DO_SET_QUOTA) kueue_setup_queue(t->k, spec, &spec->queues[queue], queue, a->value, sim_now(s));
    else return false;
    kick(s);
    return true;
}

const struct policy_ops policy_kueue = {"kueue",  create,   destroy,  submit, withdraw,
                                        finished, released, capacity, blocker, NULL,     idle};
