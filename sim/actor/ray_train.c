/* ray_train.c - see ray_train.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/actor/ray_train.h"

#include <stdlib.h>

#include "base/mem.h"

static void schedule(struct ray_train *t);

static const struct stack *stack_of(const struct ray_train *t) { return &t->sim->scenario->approach.stack; }
static struct train *progress(const struct ray_train *t) { return t->job->live->train; }

static void enter_state(struct ray_train *t, enum ray_train_state state)
{
    const struct kube_observer *o = kube_observer(t->sim->kube);
    t->state = (uint8_t)state;
    sim_record(t->sim, REC_JOB_CONDITION, t->job, RAY_CONDITION_TRAIN, state, 0, t->workers);
    if (o && o->condition)
        o->condition(o->ctx, t->sim->kube, t->job, "RayTrain", ray_train_state_names[state], "", "");
}

static void wait_for(struct ray_train *t, unsigned reason)
{
    if (t->job->state == JOB_ADMITTED && !(t->job->flags & JOB_STOPPING)) job_wait(t->sim, t->job, reason);
}

static void cancel(struct ray_train *t, struct event_id *e)
{
    event_cancel(t->sim->events, *e);
    *e = EVENT_NONE;
}

/* What the controller was about to do does not come. */
static void cancel_step(struct ray_train *t)
{
    cancel(t, &t->step);
    train_load_stop(t->sim, progress(t));
}

static void step_after(struct ray_train *t, int64_t ns, event_fn *fn)
{
    cancel_step(t);
    t->step = event_after(t->sim->events, ns, EVENT_CONTROL, fn, t);
}

/* ---- what is recorded of its actors ---- */

static void record_ranks(const struct ray_train *t, uint32_t first, uint32_t end, enum actor_state state)
{
    if (first < end) sim_record_range(t->sim, REC_ACTOR_STATE, t->job, first, state, end - first, -1);
}

/* Its group is asked for: new ranks, those that were there before, and those that go. */
static void record_asked(struct ray_train *t)
{
    uint32_t both = t->told < t->workers ? t->told : t->workers;
    record_ranks(t, 0, both, ACTOR_IS_RESTARTING);
    record_ranks(t, both, t->workers, ACTOR_IS_PENDING);
    record_ranks(t, both, t->told, ACTOR_IS_ENDED);
    t->told = t->workers;
}

static void record_gone(struct ray_train *t)
{
    record_ranks(t, 0, t->told, ACTOR_IS_ENDED);
    t->told = 0;
}

/* Where a rank sits: its machine and its Ray node. */
struct rank_seat { uint32_t node, raylet; };

static int by_seat(const void *a, const void *b)
{
    const struct rank_seat *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return (x->raylet > y->raylet) - (x->raylet < y->raylet);
}

/* Of the workers: Ray Train sorts its workers by node before it numbers their ranks. The caller frees it. */
static struct rank_seat *rank_seats(const struct ray_train *t)
{
    struct rank_seat *seats = xcalloc(t->workers + 1, sizeof *seats);
    for (uint32_t i = 0; i < t->workers && i < t->pg->n; i++) {
        uint32_t at = t->pg->bundles[i].node;
        const struct ray_pod *p = at == PG_NO_NODE ? NULL : t->gcs->raylets[at].pod;
        seats[i] = (struct rank_seat){.node = p && p->pod ? p->pod->node : 0, .raylet = at};
    }
    qsort(seats, t->workers, sizeof *seats, by_seat);
    return seats;
}

static void record_seated(const struct ray_train *t)
{
    struct rank_seat *seats = rank_seats(t);
    for (uint32_t i = 0; i < t->workers; i++)
        sim_record_range(t->sim, REC_ACTOR_STATE, t->job, i, ACTOR_IS_STARTING, 1, seats[i].node);
    free(seats);
}

static void record_lost(const struct ray_train *t, const struct raylet *r)
{
    struct rank_seat *seats = rank_seats(t);
    for (uint32_t i = 0; i < t->workers; i++)
        if (seats[i].raylet == r->node) record_ranks(t, i, i + 1, ACTOR_IS_DEAD);
    free(seats);
}

/* ---- the end of a group ---- */

static void land(struct ray_train *t, enum activity activity)
{
    if (!t->lifted) return;
    t->lifted = false;
    t->ops->land(t, activity);
}

/* The ranks stop, wherever the group stands. */
static void halt(struct ray_train *t, enum activity activity)
{
    if (progress(t) && train_running(progress(t))) train_halt(t->sim, progress(t));
    land(t, activity);
}

void ray_train_halt(struct ray_train *t) { halt(t, ACT_IDLE_POD); }

static void shut_group(struct ray_train *t, enum activity activity)
{
    halt(t, activity);
    cancel(t, &t->timeout);
    cancel_step(t);
    cancel(t, &t->resize);
    t->failing = false;
    if (!t->pg) return;
    t->ops->unseated(t);
    pg_remove(t->gcs->pgs, t->pg);
    t->pg = NULL;
    t->workers = 0;
}

static void end(struct ray_train *t, enum ray_train_state state)
{
    shut_group(t, ACT_IDLE_POD);
    record_gone(t);
    enter_state(t, state);
    t->ops->ended(t, state);
}

/* ---- failures ---- */

static void on_noticed(void *ctx, void *arg)
{
    (void)ctx;
    struct ray_train *t = arg;
    t->step = EVENT_NONE;
    t->poll_base_ns = sim_now(t->sim);
    uint32_t limit = job_detail_of(t->sim, t->job)->max_failures;
    t->failures++;
    if (limit != UINT32_MAX && t->failures > limit) {
        train_roll_back(t->sim, progress(t));
        end(t, RT_ERRORED);
        return;
    }
    shut_group(t, ACT_IDLE_POD);
    train_roll_back(t->sim, progress(t));
    enter_state(t, RT_RESTARTING);
    schedule(t);
}

/* From now to the first poll that is at least `ns` away. */
static int64_t to_poll(const struct ray_train *t, int64_t ns)
{
    int64_t poll = stack_of(t)->ray_poll, since = sim_now(t->sim) + ns - t->poll_base_ns;
    return ns + (poll > 0 && since % poll ? poll - since % poll : 0);
}

/* The controller sees at its next poll what is there to be seen `ns` from now. */
static void notice_after(struct ray_train *t, int64_t ns) { step_after(t, to_poll(t, ns), on_noticed); }

static void fail(struct ray_train *t, enum activity activity)
{
    halt(t, activity);
    cancel(t, &t->resize);
    t->failing = true;
    if (t->job->state == JOB_RUNNING) job_interrupted(t->sim, t->job, WAIT_DETECTION, CAUSE_FAILURE);
    else wait_for(t, WAIT_DETECTION);
    if (activity == ACT_STALLED || activity == ACT_HUNG) t->ops->enter(t, activity);
}

/* train.h knows the job only. */
static struct ray_train *of(const struct job *job)
{
    struct ray_train *const *first = job->live->state; /* ray_train.h: the life cycle's state begins with it */
    return *first;
}

static void on_end_seen(void *ctx, void *arg)
{
    (void)ctx;
    struct ray_train *t = arg;
    t->step = EVENT_NONE;
    end(t, RT_FINISHED);
}

/* The ranks have returned; the group is kept until the controller has seen it. */
static void on_end(struct sim *sim, struct job *job)
{
    struct ray_train *t = of(job);
    land(t, ACT_IDLE_POD);
    cancel(t, &t->resize);
    job_paused(sim, job, WAIT_CONTROL_PLANE);
    t->done = true;
    step_after(t, to_poll(t, 0), on_end_seen);
}

static void on_crash(struct sim *sim, struct job *job, uint32_t rank)
{
    (void)sim;
    struct ray_train *t = of(job);
    record_ranks(t, rank, rank + 1, ACTOR_IS_DEAD);
    fail(t, ACT_STALLED);
    notice_after(t, 0);
}

static void on_hang(struct sim *sim, struct job *job, uint32_t rank)
{
    (void)sim, (void)rank;
    struct ray_train *t = of(job);
    fail(t, ACT_HUNG);
    notice_after(t, stack_of(t)->ray_hang);
}

static const struct train_hooks hooks = {.end = on_end, .crash = on_crash, .hang = on_hang};

bool ray_train_fault(struct ray_train *t, uint32_t rank, bool hang)
{
    if (t->state != RT_RUNNING || t->failing || t->done || rank >= t->workers) return false;
    halt(t, ACT_STALLED);
    if (hang) on_hang(t->sim, t->job, rank);
    else on_crash(t->sim, t->job, rank);
    return true;
}

/* ---- a start ---- */

static void on_resize(void *ctx, void *arg);

/* A new group is polled at once, which its workers answer when they have begun; but no sooner than a period after the last poll. */
static void poll_goes_on(struct ray_train *t)
{
    if (sim_now(t->sim) - t->poll_base_ns >= stack_of(t)->ray_poll) t->poll_base_ns = sim_now(t->sim);
}

/* At the first poll that is so long after `since`. */
static void arm_resize(struct ray_train *t, int64_t since_ns)
{
    int64_t left = since_ns + stack_of(t)->ray_resize - sim_now(t->sim);
    if (t->workers >= t->max || stack_of(t)->ray_resize <= 0) return; /* 0: never looks */
    t->resize = event_after(t->sim->events, to_poll(t, left > 0 ? left : 0), EVENT_CONTROL, on_resize, t);
}

/* Of the workers, in order of their ranks. The caller frees it. */
static uint32_t *rank_nodes(const struct ray_train *t)
{
    uint32_t *nodes = xcalloc(t->workers + 1, sizeof *nodes);
    struct rank_seat *seats = rank_seats(t);
    for (uint32_t i = 0; i < t->workers; i++) nodes[i] = seats[i].node;
    free(seats);
    return nodes;
}

static void on_loaded(void *ctx, void *arg)
{
    (void)ctx;
    struct ray_train *t = arg;
    struct train_shares who[TRAIN_MAX_ACCOUNTS];
    t->step = EVENT_NONE;
    uint64_t ppm = (uint64_t)t->workers * 1000000 / t->nominal;
    uint32_t n = t->ops->lift(t, who);
    t->lifted = true;
    job_started(t->sim, t->job);
    poll_goes_on(t);
    arm_resize(t, t->group_ns);
    uint32_t *nodes = rank_nodes(t);
    train_run(t->sim, progress(t), who, n, nodes, t->workers, ppm ? (uint32_t)ppm : 1);
    free(nodes);
}

static void on_joined(void *ctx, void *arg)
{
    (void)ctx;
    struct ray_train *t = arg;
    uint32_t *nodes = rank_nodes(t);
    int64_t load_ns = train_load(t->sim, progress(t), nodes, t->workers, on_loaded, t);
    free(nodes);
    t->step = EVENT_NONE;
    t->ops->enter(t, ACT_CHECKPOINT_LOAD);
    wait_for(t, WAIT_CHECKPOINT_LOAD);
    if (load_ns != TRAIN_LOADING) step_after(t, load_ns, on_loaded);
}

static void on_actors(void *ctx, void *arg)
{
    (void)ctx;
    struct ray_train *t = arg;
    record_ranks(t, 0, t->workers, ACTOR_IS_ALIVE);
    enter_state(t, RT_RUNNING); /* for Ray the group runs; what it does first is to meet */
    t->group_ns = sim_now(t->sim);
    step_after(t, stack_of(t)->rdzv_time, on_joined);
}

static int64_t actors_ns(const struct ray_train *t)
{
    int64_t per_1000_s = stack_of(t)->ray_actor_rate; /* actors in 1,000 s */
    return per_1000_s > 0 ? (int64_t)((__int128)t->workers * 1000 * EVENT_SECOND / per_1000_s) : 0;
}

static void make_actors(struct ray_train *t)
{
    t->ops->enter(t, ACT_RENDEZVOUS);
    wait_for(t, WAIT_RENDEZVOUS);
    step_after(t, actors_ns(t), on_actors);
}

static void on_processes(void *ctx, void *arg)
{
    (void)ctx;
    struct ray_train *t = arg;
    t->step = EVENT_NONE;
    make_actors(t);
}

static void on_placed(void *ctx, struct placement_group *pg, enum pg_state state)
{
    struct ray_train *t = ctx;
    (void)pg;
    if (state != PG_CREATED || t->failing) return;
    cancel(t, &t->timeout); /* it is for the placement group alone */
    job_allocated(t->sim, t->job);
    t->ops->seated(t);
    record_seated(t);
    if (stack_of(t)->ray_worker <= 0) {
        make_actors(t);
        return;
    }
    t->ops->enter(t, ACT_CONTAINER_START);
    wait_for(t, WAIT_START);
    step_after(t, stack_of(t)->ray_worker, on_processes);
}

/* A worker takes a pod of its own job's cluster whole; in a shared one it takes what it asks for. */
static struct pg_bundle bundle_of(const struct ray_train *t, uint32_t g)
{
    const struct ray_shape *shape = &t->groups[g].shape;
    if (!t->gcs->cluster->spec.job)
        return (struct pg_bundle){.shares = shape->shares,
                                  .cpu_milli = shape->cpu_milli,
                                  .mem_bytes = shape->mem_bytes,
                                  .groups = UINT64_MAX};
    uint32_t gpus = (shape->shares + SHARES_PER_GPU - 1) / SHARES_PER_GPU;
    return (struct pg_bundle){.shares = gpus * SHARES_PER_GPU, .cpu_milli = 1, .groups = UINT64_C(1) << g};
}

static struct place_request request(const struct ray_train *t, uint32_t replicas)
{
    struct pg_bundle b = bundle_of(t, 0);
    return (struct place_request){.replicas = replicas,
                                  .shares = b.shares,
                                  .cpu_milli = b.cpu_milli,
                                  .mem_bytes = b.mem_bytes,
                                  .groups = b.groups,
                                  .placement = PLACE_PACK};
}

/* Bundles that would fit now beside what is held, at most `most`. */
static uint32_t fitting(const struct ray_train *t, uint32_t most)
{
    struct place_request r = request(t, most);
    uint32_t low = 0, high = most;
    while (low < high) {
        r.replicas = low + (high - low + 1) / 2;
        if (pool_try(t->gcs->pool, &r) == PLACED) low = r.replicas;
        else high = r.replicas - 1;
    }
    return low;
}

static unsigned why_not_placed(struct ray_train *t)
{
    struct place_request r = request(t, t->workers);
    if (t->gcs->cluster->spec.job) return WAIT_PEERS;
    if (!pool_could_ever(t->gcs->pool, &r)) return WAIT_UNSATISFIABLE;
    switch (pool_try(t->gcs->pool, &r)) {
    case PLACED: return WAIT_CONTROL_PLANE;
    case PLACE_SHAPE: return WAIT_FRAGMENTATION;
    default: break;
    }
    const struct ray_group *workers = &t->gcs->cluster->spec.groups[0];
    return t->gcs->cluster->spec.autoscaling && workers->replicas < workers->max ? WAIT_AUTOSCALER : WAIT_CAPACITY;
}

static void ask(struct ray_train *t)
{
    struct pg_bundle *bundles = xcalloc(t->workers, sizeof *bundles);
    uint32_t n = 0;
    for (uint32_t g = 0; g < t->n_groups; g++) {
        uint32_t of_group = t->n_groups == 1 ? t->workers : t->groups[g].replicas;
        for (uint32_t i = 0; i < of_group; i++) bundles[n++] = bundle_of(t, g);
    }
    t->pg = pg_create(t->gcs->pgs, &(struct pg_request){.bundles = bundles,
                                                        .n = t->workers,
                                                        .strategy = PG_PACK,
                                                        .changed = on_placed,
                                                        .ctx = t});
    free(bundles);
}

static void on_timeout(void *ctx, void *arg)
{
    (void)ctx;
    struct ray_train *t = arg;
    t->timeout = EVENT_NONE;
    shut_group(t, ACT_IDLE_POD);
    enter_state(t, RT_RESCHEDULING);
    schedule(t);
}

static void start_group(struct ray_train *t, uint32_t workers)
{
    if (t->state != RT_RESCHEDULING) enter_state(t, RT_SCHEDULING);
    if (stack_of(t)->ray_start_timeout > 0) /* 0: it waits for ever */
        t->timeout = event_after(t->sim->events, stack_of(t)->ray_start_timeout, EVENT_OBSERVE, on_timeout, t);
    t->workers = workers;
    record_asked(t);
    wait_for(t, why_not_placed(t));
    ask(t);
}

/* ---- elasticity ---- */

/* Workers for whose bundles there is room, as Ray Train's scaling policy counts: by the nodes of the last look (gcs.h), so that
 * those of a node that was lost since count and those of a new one do not. `own`: what the group holds and would give back. */
static uint32_t counted(const struct ray_train *t, uint32_t own)
{
    int64_t sum = (int64_t)fitting(t, t->max - own) + own;
    uint32_t shares = bundle_of(t, 0).shares;
    for (uint32_t i = 0; shares && i < t->gcs->n_nodes; i++) {
        const struct raylet *r = &t->gcs->raylets[i];
        bool seen = gcs_counts(r), alive = r->state == RAYLET_ALIVE;
        if (seen != alive) sum += (seen ? 1 : -1) * (int64_t)(gcs_node_shares(t->gcs, i) / shares);
    }
    return (uint32_t)(sum < 0 ? 0 : sum > t->max ? t->max : sum);
}

static void on_look(void *ctx, void *arg)
{
    (void)ctx;
    struct ray_train *t = arg;
    t->step = EVENT_NONE;
    schedule(t);
}

/* An elastic group for whose minimum there is no room looks again when the nodes are next looked at; others ask, and wait. */
static void schedule(struct ray_train *t)
{
    gcs_look(t->gcs);
    t->asks = true;
    uint32_t n = t->min == t->max ? t->max : counted(t, 0);
    t->ops->wants(t);
    if (n >= t->min) {
        start_group(t, n);
        return;
    }
    t->workers = t->min;
    wait_for(t, why_not_placed(t));
    t->workers = 0;
    int64_t next = gcs_next_look(t->gcs) - sim_now(t->sim);
    step_after(t, next > EVENT_SECOND ? next : EVENT_SECOND, on_look);
}

static void on_resize(void *ctx, void *arg)
{
    (void)ctx;
    struct ray_train *t = arg;
    t->resize = EVENT_NONE;
    uint32_t n = counted(t, t->workers);
    if (n <= t->workers) {
        arm_resize(t, sim_now(t->sim));
        return;
    }
    halt(t, ACT_IDLE_POD);
    t->poll_base_ns = sim_now(t->sim);
    job_interrupted(t->sim, t->job, WAIT_RESIZE, CAUSE_RESIZE);
    shut_group(t, ACT_IDLE_POD);
    train_roll_back(t->sim, progress(t));
    enter_state(t, RT_RESIZING);
    start_group(t, n);
}

uint32_t ray_train_wants(const struct ray_train *t)
{
    if (!t->asks || t->state == RT_ERRORED || t->state == RT_FINISHED || t->driver_dead) return 0;
    uint32_t have = t->pg ? t->pg->held : 0;
    return t->max > have ? t->max - have : 0;
}

/* ---- Ray around it ---- */

static bool sits_on(const struct ray_train *t, const struct raylet *r)
{
    if (!t->pg || t->pg->state != PG_CREATED) return false;
    for (uint32_t i = 0; i < t->pg->n; i++)
        if (t->pg->bundles[i].node == r->node) return true;
    return false;
}

static void on_node_stopped(struct ray_train *t, const struct raylet *r)
{
    bool silent = r->pod && r->pod->pod->node_lost;
    if (!sits_on(t, r)) return;
    if (t->workers) record_lost(t, r);
    if (t->failing) return;
    t->done = false; /* workers that have returned are asked at the next poll, and do not answer */
    fail(t, ACT_STALLED);
    cancel_step(t);
    cancel(t, &t->timeout);
    if (!silent) notice_after(t, stack_of(t)->nccl_reset);
}

static void on_node_dead(struct ray_train *t)
{
    if (t->failing && !event_is_pending(t->sim->events, t->step)) notice_after(t, 0);
}

static void on_gcs(struct gcs_listener *l, enum gcs_change c, struct raylet *r)
{
    struct ray_train *t = (struct ray_train *)((char *)l - offsetof(struct ray_train, listener));
    if (t->state == RT_ERRORED || t->state == RT_FINISHED) return;
    switch (c) {
    case GCS_STOPPED: on_node_stopped(t, r); return;
    case GCS_DEAD: on_node_dead(t); return;
    case GCS_DOWN:
        if (!t->gcs->driver_lost) return;
        t->driver_dead = true;
        fail(t, ACT_IDLE_POD);
        train_roll_back(t->sim, progress(t));
        end(t, RT_ERRORED);
        return;
    default: return;
    }
}

/* ---- start and stop ---- */

static void set_size(struct ray_train *t)
{
    const struct elastic_spec *e = &job_detail_of(t->sim, t->job)->elastic;
    for (uint32_t g = 0; g < t->n_groups; g++) t->nominal += t->groups[g].replicas;
    bool elastic = e->max > 0 && t->n_groups == 1 && t->sim->scenario->approach.elastic == ELASTIC_RAY;
    t->max = elastic ? e->max : t->nominal;
    t->min = elastic ? e->min : t->nominal;
}

struct ray_train *ray_train_create(struct gcs *gcs, struct job *job, const struct ray_group *groups, uint32_t n_groups,
                                   const struct ray_train_ops *ops, void *ctx)
{
    struct ray_train *t = xcalloc(1, sizeof *t);
    t->gcs = gcs;
    t->sim = gcs->sim;
    t->job = job;
    t->ops = ops;
    t->ctx = ctx;
    t->n_groups = n_groups;
    for (uint32_t g = 0; g < n_groups; g++) t->groups[g] = groups[g];
    set_size(t);
    t->poll_base_ns = sim_now(t->sim) - stack_of(t)->ray_poll;
    if (!job->live->train) job->live->train = train_create(t->sim, job, &hooks);
    t->listener.changed = on_gcs;
    gcs_listen(gcs, &t->listener);
    return t;
}

static void on_driver(void *ctx, void *arg)
{
    (void)ctx;
    struct ray_train *t = arg;
    t->step = EVENT_NONE;
    schedule(t);
}

void ray_train_begin(struct ray_train *t)
{
    if (stack_of(t)->ray_driver > 0) step_after(t, stack_of(t)->ray_driver, on_driver);
    else schedule(t);
}

void ray_train_stop(struct ray_train *t)
{
    bool unfinished = t->state != RT_FINISHED;
    shut_group(t, ACT_IDLE_POD);
    record_gone(t);
    if (unfinished) train_roll_back(t->sim, progress(t));
    ray_train_free(t);
}

void ray_train_free(struct ray_train *t)
{
    gcs_unlisten(t->gcs, &t->listener);
    free(t);
}
