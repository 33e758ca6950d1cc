/* ranks.c - the processes in a job's containers: how they meet, train, fail and notice failures.
 *
 *     IDLE --all (static) or enough (elastic) wait--> [STARTING -->] RENDEZVOUS --> LOADING --> RUNNING --end--> processes exit with 0
 *       ^                                                 |              |            |           |
 *       +------------- detection <-- BROKEN <-------------+--------------+------------+-----------+  a process dies, hangs or is lost
 *
 * Static (torchrun without min:max, or plain init_process_group): all replicas must be there; who waits longer than the
 * join time-out exits with 1. A process that dies closes its connections: its peers' collectives fail after
 * nccl.reset-detect; they exit with 1 too, and kubelet or operator restart them as the policies say. A hang or a node that
 * vanishes closes nothing: peers block until nccl.timeout (600 s; 1800 s before PyTorch 2.2).
 * Elastic (torchrun min:max): complete at max at once, or at min and last-call after the last join; agents outlive their
 * processes and meet again, at most max-restarts times until the containers end. Each torchrun.monitor from the group's first step on the agents look
 * for a node that has joined; then they end their processes and meet again with it (orchestration facts, section 6: the code does not
 * count that as a restart). Once agents that have outlived their processes have met, all processes of the group begin anew, STARTING, for
 * torchrun.worker-start. Where all are containers' first, kubelet.container-start has contained it.
 * A failure throws the work back to the last durable checkpoint.
 *
 * A job without a given amount of work does not train: its pods run side by side until somebody ends them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/operator/torch.h"

/* In pod->owner_tag. Anew: its agent, which has outlived its process, is to start another. */
enum { RANK_SHIFT = 4, RANK_MASK = 3 << RANK_SHIFT, RANK_ANEW = 1 << 6 };

static struct sim *sim_of(const struct torch_job *t) { return t->op->sim; }
static int64_t now_of(const struct torch_job *t) { return sim_now(t->op->sim); }

enum rank_state ranks_state(const struct pod *p) { return (p->owner_tag & RANK_MASK) >> RANK_SHIFT; }

static uint32_t *count_of(struct torch_job *t, enum rank_state s)
{
    return s == RANK_WAIT ? &t->n_wait : s == RANK_IN ? &t->n_in : s == RANK_STUCK ? &t->n_stuck : NULL;
}

static void enter(struct torch_job *t, struct pod *p, enum rank_state s)
{
    uint32_t *from = count_of(t, ranks_state(p)), *to = count_of(t, s);
    if (from) --*from;
    if (to) ++*to;
    p->owner_tag = (p->owner_tag & ~(uint32_t)RANK_MASK) | (uint32_t)s << RANK_SHIFT;
    p->owner_ns = now_of(t);
    torch_recount_wait(t, p);
}

/* Calls fn for each pod in a state; fn may change states and end pods. */
static void each(struct torch_job *t, enum rank_state s, void (*fn)(struct torch_job *, struct pod *))
{
    for (uint32_t i = 0; i < t->n_types; i++)
        for (uint32_t k = 0; k < t->type[i].top_pod; k++) {
            struct pod *p = t->type[i].pods[k];
            if (p && ranks_state(p) == s) fn(t, p);
        }
}

static bool is_over(const struct torch_job *t) { return t->job->flags & JOB_ENDED; }

/* What the group was about to do does not come. */
static void cancel_step(struct torch_job *t)
{
    event_cancel(sim_of(t)->events, t->step);
    if (t->job->live) train_load_stop(sim_of(t), t->job->live->train);
}

static void after(struct torch_job *t, int64_t delay_ns, event_fn *fn)
{
    cancel_step(t);
    t->step_at_ns = now_of(t) + delay_ns;
    t->step = event_after(sim_of(t)->events, delay_ns, EVENT_CONTROL, fn, t);
}

static void activity(struct torch_job *t, struct pod *p, enum activity a)
{
    kube_pod_activity(t->op->kube, p, is_over(t) ? ACT_AFTER_END : a);
}

/* ---- the time-out of those who wait ---- */

static void on_join_timeout(void *ctx, void *arg);

static void arm_join(struct torch_job *t)
{
    if (event_is_pending(sim_of(t)->events, t->join) || is_over(t)) return;
    t->join = event_after(sim_of(t)->events, t->op->stack->rdzv_join, EVENT_OBSERVE, on_join_timeout, t);
}

static void give_up(struct torch_job *t, struct pod *p)
{
    if (now_of(t) - p->owner_ns >= t->op->stack->rdzv_join) kube_pod_exit(t->op->kube, p, 1);
}

static void on_join_timeout(void *ctx, void *arg)
{
    struct torch_job *t = arg;
    (void)ctx;
    t->join = EVENT_NONE;
    if (is_over(t) || t->n_wait == 0) return;
    each(t, RANK_WAIT, give_up);
    int64_t oldest = INT64_MAX;
    for (uint32_t i = 0; i < t->n_types; i++)
        for (uint32_t k = 0; k < t->type[i].top_pod; k++) {
            const struct pod *p = t->type[i].pods[k];
            if (p && ranks_state(p) == RANK_WAIT && p->owner_ns < oldest) oldest = p->owner_ns;
        }
    if (oldest == INT64_MAX) return;
    t->join = event_at(sim_of(t)->events, oldest + t->op->stack->rdzv_join, EVENT_OBSERVE, on_join_timeout, t);
}

/* ---- running ---- */

static void lift(struct torch_job *t, struct pod *p) { kube_pod_lift(t->op->kube, p); }

struct lifted { uint32_t accounts[TRAIN_MAX_ACCOUNTS]; int64_t shares[TRAIN_MAX_ACCOUNTS]; uint32_t n; };

static void collect_shares(struct torch_job *t, struct lifted *l)
{
    for (uint32_t i = 0; i < t->n_types; i++)
        for (uint32_t k = 0; k < t->type[i].top_pod; k++) {
            const struct pod *p = t->type[i].pods[k];
            if (!p || ranks_state(p) != RANK_IN) continue;
            bool room = kube_pod_shares(t->op->kube, p, l->accounts, l->shares, &l->n, TRAIN_MAX_ACCOUNTS);
            assert(room);
            (void)room;
        }
}

/* Of the ranks of the group, in the order that the operator numbers them. The caller frees it. */
static uint32_t *rank_nodes(struct torch_job *t)
{
    uint32_t *nodes = xcalloc(t->n_in + 1, sizeof *nodes), n = 0;
    for (uint32_t i = 0; i < t->n_types; i++)
        for (uint32_t k = 0; k < t->type[i].top_pod; k++) {
            const struct pod *p = t->type[i].pods[k];
            if (p && ranks_state(p) == RANK_IN && n < t->n_in) nodes[n++] = p->node;
        }
    return nodes;
}

static void exit_done(struct torch_job *t, struct pod *p)
{
    enter(t, p, RANK_OUT);
    kube_pod_exit(t->op->kube, p, 0);
}

static void land_done(struct torch_job *t, struct pod *p) { kube_pod_land(t->op->kube, p, ACT_TERMINATING); }

static void all_done(struct torch_job *t)
{
    t->phase = GROUP_IDLE;
    if (t->job->state == JOB_RUNNING) job_paused(sim_of(t), t->job, WAIT_CONTROL_PLANE);
    each(t, RANK_IN, land_done);
    each(t, RANK_IN, exit_done);
    if (t->max) each(t, RANK_WAIT, exit_done); /* the rendezvous closes: who was one too many leaves it */
    torch_refresh_wait(t);
}

static void on_joined_running(struct torch_job *t);

static void begin_steps(struct torch_job *t)
{
    struct job *j = t->job;
    struct lifted l = {.n = 0};
    struct train_shares who[TRAIN_MAX_ACCOUNTS];
    if (is_over(t) || t->stopping || t->suspend) return;
    if (train_done(j->live->train)) {
        all_done(t);
        return;
    }
    t->phase = GROUP_RUNNING;
    torch_allocated(t); /* an elastic job does not wait for all its pods */
    each(t, RANK_IN, lift);
    collect_shares(t, &l);
    for (uint32_t i = 0; i < l.n; i++) who[i] = (struct train_shares){l.accounts[i], l.shares[i]};
    uint32_t ppm = t->max ? (uint32_t)((uint64_t)t->n_in * 1000000 / t->nominal) : 1000000;
    t->began_ns = now_of(t);
    job_started(sim_of(t), j);
    uint32_t *nodes = rank_nodes(t);
    train_run(sim_of(t), j->live->train, who, l.n, nodes, t->n_in, ppm);
    free(nodes);
    if (t->max && t->n_wait && t->n_in < t->max) on_joined_running(t);
}

static void on_loaded(void *ctx, void *arg)
{
    struct torch_job *t = arg;
    (void)ctx;
    t->step = EVENT_NONE;
    begin_steps(t);
}

static void load_activity(struct torch_job *t, struct pod *p) { activity(t, p, ACT_CHECKPOINT_LOAD); }

static void on_met(void *ctx, void *arg)
{
    struct torch_job *t = arg;
    uint32_t *nodes = rank_nodes(t);
    int64_t load = train_load(sim_of(t), t->job->live->train, nodes, t->n_in, on_loaded, t);
    free(nodes);
    (void)ctx;
    t->step = EVENT_NONE;
    if (load == 0) {
        begin_steps(t);
        return;
    }
    t->phase = GROUP_LOADING;
    each(t, RANK_IN, load_activity);
    torch_refresh_wait(t);
    if (load != TRAIN_LOADING) after(t, load, on_loaded);
}

/* ---- meeting ---- */

static void join_group(struct torch_job *t, struct pod *p)
{
    if (t->max && t->n_in >= t->max) return; /* one too many waits for a place; who comes first is left to chance, here the lowest number */
    enter(t, p, RANK_IN);
}

static void show_rendezvous(struct torch_job *t, struct pod *p) { activity(t, p, ACT_RENDEZVOUS); }
static void show_start(struct torch_job *t, struct pod *p) { activity(t, p, ACT_CONTAINER_START); }

static void rendezvous(struct torch_job *t)
{
    t->phase = GROUP_RENDEZVOUS;
    t->elastic_join = false;
    each(t, RANK_IN, show_rendezvous);
    torch_refresh_wait(t);
    after(t, t->op->stack->rdzv_time, on_met);
}

/* All processes have begun. */
static void on_processes(void *ctx, void *arg)
{
    struct torch_job *t = arg;
    (void)ctx;
    t->step = EVENT_NONE;
    rendezvous(t);
}

/* Whether an agent that has outlived its process takes part. */
static bool starts_anew(const struct torch_job *t)
{
    for (uint32_t i = 0; i < t->n_types; i++)
        for (uint32_t k = 0; k < t->type[i].top_pod; k++) {
            const struct pod *p = t->type[i].pods[k];
            if (p && ranks_state(p) == RANK_IN && p->owner_tag & RANK_ANEW) return true;
        }
    return false;
}

static void meet(struct torch_job *t)
{
    int64_t start_ns = t->op->stack->rdzv_worker;
    event_cancel(sim_of(t)->events, t->join);
    each(t, RANK_WAIT, join_group);
    if (start_ns <= 0 || !starts_anew(t)) {
        rendezvous(t);
        return;
    }
    t->phase = GROUP_STARTING;
    each(t, RANK_IN, show_start);
    torch_refresh_wait(t);
    after(t, start_ns, on_processes);
}

static void on_last_call(void *ctx, void *arg)
{
    struct torch_job *t = arg;
    (void)ctx;
    t->step = EVENT_NONE;
    if (t->phase != GROUP_IDLE) return;
    if (t->n_wait >= t->min) meet(t);
    else if (t->n_wait) arm_join(t); /* somebody left meanwhile */
}

static void gather(struct torch_job *t)
{
    if (t->phase != GROUP_IDLE || t->n_wait == 0 || is_over(t) || t->stopping || t->suspend) return;
    if (!t->max) {
        if (t->n_wait == torch_wanted(t)) meet(t);
        else arm_join(t);
        return;
    }
    if (t->n_wait >= t->max) meet(t);
    else if (t->n_wait >= t->min) after(t, t->op->stack->rdzv_last_call, on_last_call);
    else arm_join(t);
}

/* ---- breaking and noticing ---- */

static void land_stalled(struct torch_job *t, struct pod *p) { kube_pod_land(t->op->kube, p, ACT_STALLED); }
static void land_hung(struct torch_job *t, struct pod *p) { kube_pod_land(t->op->kube, p, ACT_HUNG); }

static void get_stuck(struct torch_job *t, struct pod *p)
{
    enter(t, p, RANK_STUCK);
    if (!p->terminating && !p->node_lost && p->hold.activity != ACT_HUNG) activity(t, p, ACT_STALLED);
}

/* Ranks stop (train.h may have halted them already); their shares land. */
static void halt(struct torch_job *t, enum cause next, void (*land)(struct torch_job *, struct pod *))
{
    struct sim *s = sim_of(t);
    if (t->phase != GROUP_RUNNING) return;
    if (train_running(t->job->live->train)) train_halt(s, t->job->live->train);
    each(t, RANK_IN, land);
    train_roll_back(s, t->job->live->train);
    if (t->job->state != JOB_RUNNING || t->stopping) return;
    if (t->suspend) job_interrupted(s, t->job, WAIT_SUSPENDED, CAUSE_PREEMPTION);
    else job_interrupted(s, t->job, next == CAUSE_RESIZE ? WAIT_RESIZE : WAIT_DETECTION, next);
}

static void on_noticed(void *ctx, void *arg);

/* The group is broken; peers notice after `delay_ns`, or earlier if something else tells them. */
static void broken(struct torch_job *t, int64_t delay_ns)
{
    bool first = t->phase != GROUP_BROKEN;
    t->phase = GROUP_BROKEN;
    t->elastic_join = false; /* a failure of who met for it counts */
    event_cancel(sim_of(t)->events, t->monitor);
    each(t, RANK_IN, get_stuck);
    if (first || t->step_at_ns > now_of(t) + delay_ns) after(t, delay_ns, on_noticed);
}

static void exit_failed(struct torch_job *t, struct pod *p)
{
    enter(t, p, RANK_OUT);
    kube_pod_exit(t->op->kube, p, 1);
}

static void wait_again(struct torch_job *t, struct pod *p)
{
    enter(t, p, RANK_WAIT);
    p->owner_tag |= RANK_ANEW;
    activity(t, p, ACT_WAIT_PEERS);
}

static bool may_meet_again(struct torch_job *t)
{
    if (!t->max || is_over(t)) return false;
    if (t->elastic_join) return true;
    const struct elastic_spec *e = &job_detail_of(sim_of(t), t->job)->elastic;
    return t->group_restarts++ < e->max_restarts;
}

static void on_noticed(void *ctx, void *arg)
{
    struct torch_job *t = arg;
    (void)ctx;
    t->step = EVENT_NONE;
    t->phase = GROUP_IDLE;
    bool again = may_meet_again(t);
    if (!again) t->group_restarts = 0; /* containers end, and have other agents */
    each(t, RANK_STUCK, again ? wait_again : exit_failed);
    gather(t);
    torch_refresh_wait(t);
}

/* ---- what pods tell ---- */

static void stand_alone(struct torch_job *t, struct pod *p, bool up)
{
    struct job *j = t->job;
    if (up) {
        activity(t, p, ACT_OTHER_LOAD);
        if (++t->n_up == torch_wanted(t) && j->state == JOB_ADMITTED && !t->stopping) job_started(sim_of(t), j);
        p->owner_tag |= 1u << 3;
    } else if (p->owner_tag & 1u << 3) {
        p->owner_tag &= ~(1u << 3);
        t->n_up--;
        if (j->state == JOB_RUNNING && p->phase != POD_SUCCEEDED && !t->stopping)
            job_interrupted(sim_of(t), j, WAIT_CONTROL_PLANE, CAUSE_FAILURE);
    }
}

static void on_monitor(void *ctx, void *arg)
{
    struct torch_job *t = arg;
    (void)ctx;
    t->monitor = EVENT_NONE;
    if (t->phase != GROUP_RUNNING || !t->n_wait || is_over(t) || t->stopping || t->suspend) return;
    halt(t, CAUSE_RESIZE, land_stalled);
    broken(t, 0);
    t->elastic_join = true;
}

static void on_joined_running(struct torch_job *t)
{
    int64_t period = t->op->stack->rdzv_monitor, since = now_of(t) - t->began_ns;
    if (event_is_pending(sim_of(t)->events, t->monitor)) return;
    t->monitor = event_after(sim_of(t)->events, period > 0 ? period - since % period : 0, EVENT_CONTROL, on_monitor, t);
}

void ranks_process_up(struct torch_job *t, struct pod *p)
{
    if (!t->trains) {
        stand_alone(t, p, true);
        return;
    }
    enter(t, p, RANK_WAIT);
    p->owner_tag &= ~(uint32_t)RANK_ANEW;
    activity(t, p, ACT_WAIT_PEERS);
    if (t->max && t->phase == GROUP_RUNNING && t->n_in < t->max) on_joined_running(t);
    else gather(t);
}

void ranks_process_down(struct torch_job *t, struct pod *p, bool silent)
{
    const struct stack *k = t->op->stack;
    if (!t->trains) {
        stand_alone(t, p, false);
        return;
    }
    enum rank_state was = ranks_state(p);
    if (was == RANK_OUT) return;
    if (was == RANK_IN) halt(t, CAUSE_FAILURE, land_stalled);
    enter(t, p, RANK_OUT);
    if (was == RANK_IN) broken(t, silent ? k->nccl_timeout : k->nccl_reset);
    if (t->phase == GROUP_BROKEN && t->n_stuck == 0) { /* nobody is left to notice */
        cancel_step(t);
        t->phase = GROUP_IDLE;
        gather(t);
    }
    if (t->n_wait + t->n_in + t->n_stuck == 0) { /* nobody is left to meet with who has come, nor of the agents */
        t->elastic_join = false;
        t->group_restarts = 0;
    }
}

void ranks_hang(struct torch_job *t)
{
    if (t->phase != GROUP_RUNNING) return;
    halt(t, CAUSE_FAILURE, land_hung);
    broken(t, t->op->stack->nccl_timeout);
}

static struct pod *pod_of_rank(const struct torch_job *t, uint32_t rank)
{
    for (uint32_t i = 0; i < t->n_types; i++)
        for (uint32_t k = 0; k < t->type[i].top_pod; k++) {
            struct pod *p = t->type[i].pods[k];
            if (p && ranks_state(p) == RANK_IN && rank-- == 0) return p;
        }
    return NULL;
}

/* Without agents that outlive it (elastic) a process's container ends with it. */
static void crash(struct torch_job *t, struct pod *p, int32_t code)
{
    halt(t, CAUSE_FAILURE, land_stalled);
    if (t->max && t->group_restarts < job_detail_of(sim_of(t), t->job)->elastic.max_restarts)
        broken(t, t->op->stack->nccl_reset);
    else kube_pod_exit(t->op->kube, p, code);
}

void ranks_crash(struct torch_job *t, uint32_t rank, int32_t code)
{
    struct pod *p = pod_of_rank(t, rank);
    if (p) crash(t, p, code);
}

void ranks_crash_in(struct torch_job *t, struct pod *p, int32_t code)
{
    if (ranks_state(p) == RANK_IN) crash(t, p, code);
    else kube_pod_exit(t->op->kube, p, code);
}

static void on_end(struct sim *s, struct job *j)
{
    (void)s;
    all_done(j->live->state);
}

static void on_crash(struct sim *s, struct job *j, uint32_t rank)
{
    (void)s;
    ranks_crash(j->live->state, rank, 1);
}

static void on_hang(struct sim *s, struct job *j, uint32_t rank)
{
    (void)s;
    (void)rank;
    ranks_hang(j->live->state);
}

const struct train_hooks torch_train_hooks = {.end = on_end, .crash = on_crash, .hang = on_hang};

void ranks_job_over(struct torch_job *t)
{
    event_cancel(sim_of(t)->events, t->join);
    event_cancel(sim_of(t)->events, t->monitor);
    if (t->phase == GROUP_IDLE) cancel_step(t);
}

void ranks_close(struct torch_job *t)
{
    struct sim *s = sim_of(t);
    event_cancel(s->events, t->join);
    event_cancel(s->events, t->monitor);
    event_cancel(s->events, t->step);
    if (t->phase == GROUP_RUNNING && train_running(t->job->live->train)) {
        train_halt(s, t->job->live->train);
        each(t, RANK_IN, land_stalled);
    }
}
