/* job_ranks.c - the processes in a Job's containers.
 *
 *     IDLE --all of the gang wait--> RENDEZVOUS --> LOADING --> RUNNING --end--> processes exit with 0
 *       ^                               |             |           |
 *       +---- detection <-- BROKEN <----+-------------+-----------+  a process dies, hangs or is lost
 *
 * A Job knows nothing of ranks: when one dies, its peers' collectives fail after nccl.reset-detect and they exit with 1,
 * each a failed pod or a restart that counts. A hang or a node that vanishes is noticed by nccl.timeout only.
 * Pods of a Job that is no gang work side by side, each for the job's whole work.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/operator/job.h"

enum { GROUP_IDLE, GROUP_RENDEZVOUS, GROUP_LOADING, GROUP_RUNNING, GROUP_BROKEN };
enum { RANK_SHIFT = 4 };

static struct sim *sim_of(const struct batch_job *b) { return b->ctl->sim; }
static int64_t now_of(const struct batch_job *b) { return sim_now(b->ctl->sim); }
static enum rank_place place(const struct pod *p) { return (p->owner_tag & TAG_RANK) >> RANK_SHIFT; }

static uint32_t *count_of(struct batch_job *b, enum rank_place r)
{
    return r == PLACE_WAITS ? &b->n_wait : r == PLACE_IN ? &b->n_in : r == PLACE_STUCK ? &b->n_stuck : NULL;
}

static void enter(struct batch_job *b, struct pod *p, enum rank_place r)
{
    uint32_t *from = count_of(b, place(p)), *to = count_of(b, r);
    if (from) --*from;
    if (to) ++*to;
    p->owner_tag = (p->owner_tag & ~(uint32_t)TAG_RANK) | (uint32_t)r << RANK_SHIFT;
    batch_recount_wait(b, p);
}

/* Calls fn for each pod in a state; fn may end pods but not forget them. */
static void each(struct batch_job *b, enum rank_place r, void (*fn)(struct batch_job *, struct pod *))
{
    for (struct pod *p = b->first, *next; p; p = next) {
        next = p->next;
        if (place(p) == r) fn(b, p);
    }
}

/* What the group was about to do does not come. */
static void cancel_step(struct batch_job *b)
{
    event_cancel(sim_of(b)->events, b->step);
    if (b->job->live) train_load_stop(sim_of(b), b->job->live->train);
}

static void after(struct batch_job *b, int64_t delay_ns, event_fn *fn)
{
    cancel_step(b);
    b->step_at_ns = now_of(b) + delay_ns;
    b->step = event_after(sim_of(b)->events, delay_ns, EVENT_CONTROL, fn, b);
}

static void activity(struct batch_job *b, struct pod *p, enum activity a)
{
    kube_pod_activity(b->ctl->kube, p, b->over ? ACT_AFTER_END : a);
}

/* ---- running ---- */

static void lift(struct batch_job *b, struct pod *p) { kube_pod_lift(b->ctl->kube, p); }

static void exit_done(struct batch_job *b, struct pod *p)
{
    enter(b, p, PLACE_OUT);
    kube_pod_exit(b->ctl->kube, p, 0);
}

static void land_done(struct batch_job *b, struct pod *p) { kube_pod_land(b->ctl->kube, p, ACT_TERMINATING); }

static void all_done(struct batch_job *b)
{
    b->phase = GROUP_IDLE;
    each(b, PLACE_IN, land_done);
    each(b, PLACE_IN, exit_done);
}

static uint32_t collect(struct batch_job *b, struct train_shares who[TRAIN_MAX_ACCOUNTS])
{
    uint32_t accounts[TRAIN_MAX_ACCOUNTS], n = 0;
    int64_t shares[TRAIN_MAX_ACCOUNTS];
    for (struct pod *p = b->first; p; p = p->next) {
        if (place(p) != PLACE_IN) continue;
        bool room = kube_pod_shares(b->ctl->kube, p, accounts, shares, &n, TRAIN_MAX_ACCOUNTS);
        assert(room);
        (void)room;
    }
    for (uint32_t i = 0; i < n; i++) who[i] = (struct train_shares){accounts[i], shares[i]};
    return n;
}

static int by_index(const void *a, const void *b)
{
    const struct pod *x = *(struct pod *const *)a, *y = *(struct pod *const *)b;
    return (x->spec.index > y->spec.index) - (x->spec.index < y->spec.index);
}

/* Of the ranks of the gang, by index. The caller frees it. */
static uint32_t *rank_nodes(struct batch_job *b)
{
    struct pod **pods = xcalloc(b->n_in + 1, sizeof *pods);
    uint32_t *nodes = xcalloc(b->n_in + 1, sizeof *nodes), n = 0;
    for (struct pod *p = b->first; p; p = p->next)
        if (place(p) == PLACE_IN && n < b->n_in) pods[n++] = p;
    qsort(pods, n, sizeof(struct pod *), by_index);
    for (uint32_t i = 0; i < n; i++) nodes[i] = pods[i]->node;
    free(pods);
    return nodes;
}

static void on_loaded(void *ctx, void *arg)
{
    struct batch_job *b = arg;
    struct train_shares who[TRAIN_MAX_ACCOUNTS];
    (void)ctx;
    b->step = EVENT_NONE;
    if (b->over || b->stopping || b->suspend) return;
    if (train_done(b->job->live->train)) {
        all_done(b);
        return;
    }
    b->phase = GROUP_RUNNING;
    each(b, PLACE_IN, lift);
    uint32_t n = collect(b, who);
    job_started(sim_of(b), b->job);
    uint32_t ppm = (uint32_t)((uint64_t)b->n_in * 1000000 / b->completions); /* admitted with fewer pods: slower */
    uint32_t *nodes = rank_nodes(b);
    train_run(sim_of(b), b->job->live->train, who, n, nodes, b->n_in, ppm);
    free(nodes);
}

static void load_activity(struct batch_job *b, struct pod *p) { activity(b, p, ACT_CHECKPOINT_LOAD); }

static void on_met(void *ctx, void *arg)
{
    struct batch_job *b = arg;
    uint32_t *nodes = rank_nodes(b);
    int64_t load = train_load(sim_of(b), b->job->live->train, nodes, b->n_in, on_loaded, b);
    free(nodes);
    b->step = EVENT_NONE;
    if (load == 0) {
        on_loaded(ctx, b);
        return;
    }
    b->phase = GROUP_LOADING;
    each(b, PLACE_IN, load_activity);
    batch_refresh_wait(b);
    if (load != TRAIN_LOADING) after(b, load, on_loaded);
}

static void join(struct batch_job *b, struct pod *p)
{
    enter(b, p, PLACE_IN);
    activity(b, p, ACT_RENDEZVOUS);
}

static void gather(struct batch_job *b)
{
    if (b->phase != GROUP_IDLE || b->n_wait < b->parallelism || b->over || b->stopping || b->suspend) return;
    b->phase = GROUP_RENDEZVOUS;
    each(b, PLACE_WAITS, join);
    batch_refresh_wait(b);
    if (b->parallelism > 1) after(b, b->ctl->stack->rdzv_time, on_met);
    else on_met(sim_of(b), b);
}

/* ---- breaking and noticing ---- */

static void land_stalled(struct batch_job *b, struct pod *p) { kube_pod_land(b->ctl->kube, p, ACT_STALLED); }
static void land_hung(struct batch_job *b, struct pod *p) { kube_pod_land(b->ctl->kube, p, ACT_HUNG); }

static void get_stuck(struct batch_job *b, struct pod *p)
{
    enter(b, p, PLACE_STUCK);
    if (!p->terminating && !p->node_lost && p->hold.activity != ACT_HUNG) activity(b, p, ACT_STALLED);
}

static void halt(struct batch_job *b, void (*land)(struct batch_job *, struct pod *))
{
    struct sim *s = sim_of(b);
    if (b->phase != GROUP_RUNNING) return;
    if (train_running(b->job->live->train)) train_halt(s, b->job->live->train);
    each(b, PLACE_IN, land);
    train_roll_back(s, b->job->live->train);
    if (b->job->state != JOB_RUNNING || b->stopping) return;
    job_interrupted(s, b->job, b->suspend ? WAIT_SUSPENDED : WAIT_DETECTION, b->suspend ? CAUSE_PREEMPTION : CAUSE_FAILURE);
}

static void exit_failed(struct batch_job *b, struct pod *p)
{
    enter(b, p, PLACE_OUT);
    kube_pod_exit(b->ctl->kube, p, 1);
}

static void on_noticed(void *ctx, void *arg)
{
    struct batch_job *b = arg;
    (void)ctx;
    b->step = EVENT_NONE;
    b->phase = GROUP_IDLE;
    each(b, PLACE_STUCK, exit_failed);
    gather(b);
    batch_refresh_wait(b);
}

static void broken(struct batch_job *b, int64_t delay_ns)
{
    bool first = b->phase != GROUP_BROKEN;
    b->phase = GROUP_BROKEN;
    each(b, PLACE_IN, get_stuck);
    if (first || b->step_at_ns > now_of(b) + delay_ns) after(b, delay_ns, on_noticed);
}

/* ---- side by side ---- */

static void on_worked(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct pod *p = arg; /* perhaps used again: then its time does not match */
    if (p->gone || p->spec.ops != &batch_pod_ops || !p->started) return;
    if (p->started_ns + p->spec.job->spec->work_ns != sim_now(s)) return;
    kube_pod_exit(s->kube, p, 0);
}

static void alone_up(struct batch_job *b, struct pod *p)
{
    struct job *j = b->job;
    activity(b, p, ACT_OTHER_LOAD);
    p->owner_tag |= TAG_UP;
    b->n_up++;
    bool enough = b->trains || b->n_up == b->parallelism;
    if (enough && j->state == JOB_ADMITTED && !b->stopping && !b->suspend) job_started(sim_of(b), j);
    if (b->trains) event_after(sim_of(b)->events, j->spec->work_ns, EVENT_CONTROL, on_worked, p);
}

static void alone_down(struct batch_job *b, struct pod *p)
{
    if (!(p->owner_tag & TAG_UP)) return;
    p->owner_tag &= ~(uint32_t)TAG_UP;
    b->n_up--;
    if (b->job->state != JOB_RUNNING || p->phase == POD_SUCCEEDED || b->stopping || (b->trains && b->n_up)) return;
    job_interrupted(sim_of(b), b->job, b->suspend ? WAIT_SUSPENDED : WAIT_CONTROL_PLANE,
                    b->suspend ? CAUSE_PREEMPTION : CAUSE_FAILURE);
}

/* ---- what pods tell ---- */

void job_ranks_up(struct batch_job *b, struct pod *p)
{
    if (!b->gang) {
        alone_up(b, p);
        return;
    }
    enter(b, p, PLACE_WAITS);
    activity(b, p, ACT_WAIT_PEERS);
    gather(b);
}

void job_ranks_down(struct batch_job *b, struct pod *p, bool silent)
{
    const struct stack *k = b->ctl->stack;
    if (!b->gang) {
        alone_down(b, p);
        return;
    }
    enum rank_place was = place(p);
    if (was == PLACE_OUT) return;
    if (was == PLACE_IN) halt(b, land_stalled);
    enter(b, p, PLACE_OUT);
    if (was == PLACE_IN) broken(b, silent ? k->nccl_timeout : k->nccl_reset);
    if (b->phase == GROUP_BROKEN && b->n_stuck == 0) { /* nobody is left to notice */
        cancel_step(b);
        b->phase = GROUP_IDLE;
        gather(b);
    }
}

void job_ranks_hang(struct batch_job *b)
{
    if (b->phase != GROUP_RUNNING) return;
    halt(b, land_hung);
    broken(b, b->ctl->stack->nccl_timeout);
}

static struct pod *pod_of_rank(const struct batch_job *b, uint32_t rank)
{
    for (struct pod *p = b->first; p; p = p->next)
        if ((b->gang ? place(p) == PLACE_IN : (p->owner_tag & TAG_UP) != 0) && rank-- == 0) return p;
    return NULL;
}

void job_ranks_crash(struct batch_job *b, uint32_t rank, int32_t code)
{
    struct pod *p = pod_of_rank(b, rank);
    if (b->gang) halt(b, land_stalled);
    if (p) kube_pod_exit(b->ctl->kube, p, code);
}

static void on_end(struct sim *s, struct job *j)
{
    (void)s;
    all_done(j->live->state);
}

static void on_crash(struct sim *s, struct job *j, uint32_t rank)
{
    (void)s;
    job_ranks_crash(j->live->state, rank, 1);
}

static void on_hang(struct sim *s, struct job *j, uint32_t rank)
{
    (void)s;
    (void)rank;
    job_ranks_hang(j->live->state);
}

const struct train_hooks batch_train_hooks = {.end = on_end, .crash = on_crash, .hang = on_hang};

unsigned job_ranks_wait(const struct batch_job *b, const struct pod *p)
{
    (void)b;
    return place(p) == PLACE_WAITS ? WAIT_PEERS : place(p) == PLACE_STUCK ? WAIT_DETECTION : NOT_WAITING;
}

unsigned job_group_wait(const struct batch_job *b)
{
    return b->phase == GROUP_RENDEZVOUS ? WAIT_RENDEZVOUS : b->phase == GROUP_LOADING ? WAIT_CHECKPOINT_LOAD : NOT_WAITING;
}

void job_ranks_close(struct batch_job *b)
{
    struct sim *s = sim_of(b);
    event_cancel(s->events, b->step);
    if (b->gang && b->phase == GROUP_RUNNING && train_running(b->job->live->train)) {
        train_halt(s, b->job->live->train);
        each(b, PLACE_IN, land_stalled);
    }
}
