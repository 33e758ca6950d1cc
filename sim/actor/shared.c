/* shared.c - one long-lived Ray cluster to which all jobs are submitted: a pool in the pool.
 *
 * It is made at time 0 with `shared_workers_min` workers, each a whole node of the GPU group that has most GPUs, and may
 * grow to `shared_workers_max`. Its placement groups queue in its GCS. A Ray pod's shares belong to nobody and are idle
 * (ACT_IDLE_POD) until bundles take slices of them; a slice is its job's from then until the group is shut down.
 *
 * Ledger: while a raylet lives, its pod's hold is lifted and its shares are kept here, clocked, in the account of their
 * node group without job columns; slices move between that account and the job's. Whoever stops a raylet gets all its
 * slices back before the pod goes on.
 *
 * Records: the slices of a job are an allocation group of it that lies on GPUs which the group of a pod of no job holds; while
 * it does, they are the job's. A group that loses a slice is freed, and what is left of it is told anew.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/actor/actor.h"
#include "sim/cluster/hold.h"

struct slice {
    uint32_t node, group, machine; /* Ray node; node group of its machine, and that */
    int64_t shares;
    uint64_t gpus;                 /* devices of the machine */
    uint16_t fraction;             /* shares of its one device; 0: whole ones */
};

struct seats {
    struct slice *slices;
    uint32_t n;
    uint32_t number;   /* of the group in the records */
    uint32_t cause;    /* of the accounts that they are in */
    uint8_t activity;
    bool lifted;
    int64_t since_ns;
    struct seats *next, *prev;
    struct ray_train *train;
};

struct shared {
    struct actor *actor;
    struct raycluster *cluster;
    struct autoscaler *autoscaler;
    struct seats *first;
    bool told; /* the jobs, that it is ready */
};

/* ---- the ledger ---- */

static uint32_t nobody(struct sim *s, uint32_t group)
{
    struct ledger_key key = {.group = (uint16_t)group, .queue = LEDGER_NONE, .team = LEDGER_NONE, .kind = LEDGER_NONE,
                             .cause = CAUSE_FIRST};
    return ledger_account(s->ledger, &key);
}

static uint32_t account(const struct seats *x, uint32_t group)
{
    struct job as_seated = *x->train->job;
    as_seated.cause = (uint8_t)x->cause;
    return job_account(x->train->sim, &as_seated, group);
}

static int64_t all_shares(const struct seats *x)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < x->n; i++) sum += x->slices[i].shares;
    return sum;
}

void shared_settle(struct seats *x)
{
    int64_t now = sim_now(x->train->sim);
    struct job_live *l = x->train->job->live;
    if (!x->lifted && activity_table[x->activity].class == CLASS_HELD)
        job_live_held(l, x->activity, x->cause, (share_ns)all_shares(x) * (share_ns)(now - x->since_ns));
    x->since_ns = now;
}

/* Shares of its slices by node group. */
static uint32_t by_group(const struct seats *x, struct slice *sums)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t k = 0;
        while (k < n && sums[k].group != x->slices[i].group) k++;
        if (k == n) sums[n++] = (struct slice){.group = x->slices[i].group};
        sums[k].shares += x->slices[i].shares;
        assert(n <= TRAIN_MAX_ACCOUNTS);
    }
    return n;
}

static void give_back(struct seats *x, const struct slice *s)
{
    struct sim *sim = x->train->sim;
    x->train->job->live->held_shares -= s->shares;
    if (s->shares)
        ledger_move(sim->ledger, account(x, s->group), x->activity, nobody(sim, s->group), ACT_IDLE_POD, s->shares,
                    sim_now(sim));
}

/* ---- the records ---- */

static void record_state(const struct seats *x)
{
    if (x->n) sim_record(x->train->sim, REC_GROUP_STATE, x->train->job, x->number, x->activity | x->cause << 8, all_shares(x), 0);
}

static void record_freed(const struct seats *x)
{
    if (x->n) sim_record(x->train->sim, REC_GROUP_FREED, x->train->job, x->number, 0, all_shares(x), 0);
}

/* Whole devices of one machine together, as bundles are packed. */
static void record_nodes(struct seats *x)
{
    struct sim *s = x->train->sim;
    x->number = x->train->job->live->groups_made++;
    for (uint32_t i = 0, k; i < x->n; i = k) {
        uint64_t gpus = x->slices[i].gpus;
        for (k = i + 1; k < x->n && x->slices[k].machine == x->slices[i].machine && !x->slices[k].fraction && !x->slices[i].fraction; k++)
            gpus |= x->slices[k].gpus;
        sim_record(s, REC_GROUP_NODES, x->train->job, x->number, x->slices[i].fraction, INT64_C(1) << 32 | x->slices[i].machine,
                   (int64_t)gpus);
    }
    record_state(x);
}

/* Devices of a Ray node, on its machine: its i-th is the i-th that the pod holds. */
static uint64_t on_machine(uint64_t of_raylet, uint64_t held)
{
    uint64_t gpus = 0;
    for (; of_raylet && held; of_raylet >>= 1, held &= held - 1)
        if (of_raylet & 1) gpus |= held & -held;
    return gpus;
}

static struct slice slice_of(const struct ray_train *t, const struct pg_bundle *b, const struct pod *p)
{
    const struct alloc_part *part = &b->alloc.parts[0];
    return (struct slice){.node = b->node,
                          .group = pool_node_group(t->sim->pool, p->node),
                          .machine = p->node,
                          .shares = b->shares,
                          .gpus = on_machine(part->gpus, p->hold.alloc.parts[0].gpus),
                          .fraction = part->fraction};
}

/* ---- seats of a group ---- */

static struct seats *seats_of(const struct ray_train *t) { return ((struct ray_run *)t->ctx)->seats; }

static void shared_seated(struct ray_train *t)
{
    struct ray_run *r = t->ctx;
    struct shared *sh = r->actor->shared;
    struct seats *x = xcalloc(1, sizeof *x);
    *x = (struct seats){.train = t, .cause = t->job->cause, .activity = ACT_RENDEZVOUS, .since_ns = sim_now(t->sim),
                        .next = sh->first};
    if (sh->first) sh->first->prev = x;
    sh->first = r->seats = x;
    x->slices = xcalloc(t->pg->n + 1, sizeof *x->slices);
    for (uint32_t i = 0; i < t->pg->n; i++) {
        const struct raylet *raylet = &t->gcs->raylets[t->pg->bundles[i].node];
        if (!raylet->pod || !raylet->pod->pod->hold.lifted) continue;
        struct slice s = slice_of(t, &t->pg->bundles[i], raylet->pod->pod);
        x->slices[x->n++] = s;
        t->job->live->held_shares += s.shares;
        if (s.shares)
            ledger_move(t->sim->ledger, nobody(t->sim, s.group), ACT_IDLE_POD, account(x, s.group), ACT_RENDEZVOUS,
                        s.shares, sim_now(t->sim));
    }
    record_nodes(x);
    actor_note_nodes(t);
}

static void shared_unseated(struct ray_train *t)
{
    struct ray_run *r = t->ctx;
    struct seats *x = r->seats;
    if (!x) return;
    shared_settle(x);
    record_freed(x);
    for (uint32_t i = 0; i < x->n; i++) give_back(x, &x->slices[i]);
    if (x->next) x->next->prev = x->prev;
    if (x->prev) x->prev->next = x->next;
    else r->actor->shared->first = x->next;
    r->seats = NULL;
    free(x->slices);
    free(x);
}

static void shared_enter(struct ray_train *t, enum activity activity)
{
    struct seats *x = seats_of(t);
    struct slice sums[TRAIN_MAX_ACCOUNTS + 1];
    if (!x || x->lifted || x->activity == activity) return;
    shared_settle(x);
    uint32_t n = by_group(x, sums);
    for (uint32_t i = 0; i < n; i++)
        if (sums[i].shares)
            ledger_move(t->sim->ledger, account(x, sums[i].group), x->activity, account(x, sums[i].group), activity,
                        sums[i].shares, sim_now(t->sim));
    x->activity = (uint8_t)activity;
    record_state(x);
}

static uint32_t shared_lift(struct ray_train *t, struct train_shares *who)
{
    struct seats *x = seats_of(t);
    struct slice sums[TRAIN_MAX_ACCOUNTS + 1];
    shared_settle(x);
    x->lifted = true;
    uint32_t n = by_group(x, sums), used = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!sums[i].shares) continue;
        who[used++] = (struct train_shares){.account = account(x, sums[i].group), .shares = sums[i].shares};
        ledger_lift(t->sim->ledger, account(x, sums[i].group), x->activity, sums[i].shares, sim_now(t->sim));
    }
    return used;
}

static void shared_land(struct ray_train *t, enum activity activity)
{
    struct seats *x = seats_of(t);
    struct slice sums[TRAIN_MAX_ACCOUNTS + 1];
    uint32_t n = by_group(x, sums);
    for (uint32_t i = 0; i < n; i++)
        if (sums[i].shares)
            ledger_land(t->sim->ledger, account(x, sums[i].group), activity, sums[i].shares, sim_now(t->sim));
    x->lifted = false;
    x->activity = (uint8_t)activity;
    x->since_ns = sim_now(t->sim);
    record_state(x);
}

const struct ray_train_ops shared_seats = {
    .enter = shared_enter,
    .lift = shared_lift,
    .land = shared_land,
    .seated = shared_seated,
    .unseated = shared_unseated,
    .wants = actor_driver_wants,
    .ended = actor_driver_ended,
};

/* ---- the pods ---- */

static uint32_t group_of(const struct sim *s, const struct pod *p) { return pool_node_group(s->pool, p->node); }

static void take_over(struct sim *s, struct pod *p)
{
    if (p->hold.lifted || !hold_active(&p->hold)) return;
    kube_pod_lift(s->kube, p);
    if (p->spec.shares)
        ledger_land(s->ledger, nobody(s, group_of(s, p)), ACT_IDLE_POD, p->spec.shares, sim_now(s));
}

static bool sits_on(const struct seats *x, uint32_t node)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->slices[i].node == node) return true;
    return false;
}

/* Its slices of a Ray node. */
static void lose(struct seats *x, uint32_t node)
{
    uint32_t n = 0;
    record_freed(x);
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->slices[i].node == node) give_back(x, &x->slices[i]);
        else x->slices[n++] = x->slices[i];
    }
    x->n = n;
    if (n) record_nodes(x);
}

static void hand_back(struct shared *sh, struct ray_pod *rp, uint32_t node)
{
    struct sim *s = sh->actor->sim;
    struct pod *p = rp->pod;
    if (!p->hold.lifted) return;
    for (struct seats *x = sh->first; x; x = x->next) {
        shared_settle(x);
        if (sits_on(x, node)) lose(x, node);
    }
    if (p->spec.shares)
        ledger_lift(s->ledger, nobody(s, group_of(s, p)), ACT_IDLE_POD, p->spec.shares, sim_now(s));
    kube_pod_land(s->kube, p, ACT_IDLE_POD);
}

static void on_pod(struct raycluster *rc, struct ray_pod *p, enum pod_change c)
{
    struct shared *sh = rc->spec.ctx;
    bool stops = c == POD_EXITED || c == POD_PHASE || c == POD_TERMINATING || c == POD_LOST || c == POD_GONE;
    if (stops) hand_back(sh, p, p->node);
    if (!p->head && p->raylet) p->node = p->raylet->node;
    if (c == POD_STARTED || c == POD_RESTARTED) kube_pod_activity(sh->actor->sim->kube, p->pod, ACT_IDLE_POD);
    if (c == POD_EXITED) kube_pod_activity(sh->actor->sim->kube, p->pod, ACT_CONTAINER_START);
}

static void on_status(struct raycluster *rc)
{
    struct shared *sh = rc->spec.ctx;
    if (!rc->status.ready || sh->told) return;
    sh->told = true;
    actor_shared_ready(sh->actor);
}

static void on_empty(struct raycluster *rc) { (void)rc; }

static const struct raycluster_ops shared_ops = {.status = on_status, .pod = on_pod, .empty = on_empty};

/* ---- the cluster ---- */

/* The first listener: slices can be taken only after it has taken the pod over. */
struct shared_listener { struct gcs_listener base; struct shared *shared; };

static void on_gcs(struct gcs_listener *l, enum gcs_change c, struct raylet *r)
{
    struct shared *sh = ((struct shared_listener *)l)->shared;
    if (c != GCS_JOINED) return;
    r->pod->node = r->node;
    take_over(sh->actor->sim, r->pod->pod);
}

/* Whole nodes of the group that has most GPUs, and of those like it. */
static struct ray_group workers_of(const struct sim *s)
{
    const struct cluster_spec *c = &s->scenario->cluster;
    const struct approach *a = &s->scenario->approach;
    uint32_t best = 0, n = 0;
    for (uint32_t g = 1; g < c->n_groups; g++)
        if ((uint64_t)c->groups[g].count * c->groups[g].gpus > (uint64_t)c->groups[best].count * c->groups[best].gpus)
            best = g;
    struct ray_group w = {.shape = {.shares = c->groups[best].gpus * SHARES_PER_GPU}};
    for (uint32_t g = 0; g < c->n_groups; g++)
        if (c->groups[g].gpus == c->groups[best].gpus) {
            w.shape.groups |= UINT64_C(1) << g;
            n += c->groups[g].count;
        }
    w.max = a->shared_workers_max && a->shared_workers_max < n ? a->shared_workers_max : n;
    w.min = w.replicas = a->shared_workers_max ? a->shared_workers_min : n;
    return w;
}

struct shared *shared_create(struct actor *a)
{
    struct shared *sh = xcalloc(1, sizeof *sh);
    const struct approach *ap = &a->sim->scenario->approach;
    struct raycluster_spec spec = {.ops = &shared_ops, .ctx = sh, .n_groups = 1, .groups = {workers_of(a->sim)},
                                   .head = {.cpu_milli = ap->head_cpu_milli, .mem_bytes = ap->head_mem_bytes,
                                            .groups = UINT64_MAX}};
    sh->actor = a;
    spec.autoscaling = spec.groups[0].min < spec.groups[0].max;
    sh->cluster = raycluster_create(a->kuberay, &spec);
    struct shared_listener *l = arena_new(&a->sim->arena, struct shared_listener);
    *l = (struct shared_listener){.base.changed = on_gcs, .shared = sh};
    gcs_listen(sh->cluster->gcs, &l->base);
    if (spec.autoscaling) sh->autoscaler = autoscaler_create(sh->cluster);
    return sh;
}

void shared_destroy(struct shared *sh)
{
    if (sh->autoscaler) autoscaler_destroy(sh->autoscaler);
    for (struct seats *x = sh->first, *next; x; x = next) { /* of jobs that had not ended */
        next = x->next;
        free(x->slices);
        free(x);
    }
    free(sh);
}

struct raycluster *shared_cluster(struct shared *sh) { return sh->cluster; }
struct autoscaler *shared_autoscaler(struct shared *sh) { return sh->autoscaler; }
