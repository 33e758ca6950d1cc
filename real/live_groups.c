/* live_groups.c - the GPUs of the nodes, who holds them, and the ledger of that.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/mem.h"
#include "real/live_parts.h"

void live_groups_create(struct live_run *l)
{
    const struct cluster_spec *c = &l->scenario->cluster;
    size_t gpus = 0, node = 0;
    l->first_gpu = xcalloc(c->n_nodes + 1, sizeof *l->first_gpu);
    l->node_group = xcalloc(c->n_nodes + 1, sizeof *l->node_group);
    l->node_state = xcalloc(c->n_nodes + 1, sizeof *l->node_state);
    l->ledger = ledger_create(c->n_groups);
    for (uint32_t g = 0; g < c->n_groups; g++) {
        ledger_exist(l->ledger, g, (int64_t)c->groups[g].count * c->groups[g].gpus * SHARES_PER_GPU, 0);
        for (uint32_t i = 0; i < c->groups[g].count; i++, node++) {
            l->node_group[node] = (uint16_t)g;
            l->node_state[node] = ACT_FREE;
            l->first_gpu[node] = gpus;
            gpus += c->groups[g].gpus;
        }
    }
    l->first_gpu[node] = gpus;
    l->free_shares = xcalloc(gpus + 1, sizeof *l->free_shares);
    for (size_t i = 0; i < gpus; i++) l->free_shares[i] = SHARES_PER_GPU;
}

void live_groups_destroy(struct live_run *l)
{
    ledger_destroy(l->ledger);
    free(l->free_shares);
    free(l->first_gpu);
    free(l->node_group);
    free(l->node_state);
}

/* ---- GPUs of a node ---- */

static unsigned gpus_of(const struct live_run *l, uint32_t node)
{
    return (unsigned)(l->first_gpu[node + 1] - l->first_gpu[node]);
}

/* The lowest GPUs that have room: whole ones, or one with so much left. 0: the node has no room. */
static uint64_t find_gpus(const struct live_run *l, uint32_t node, int64_t shares)
{
    const uint16_t *free = &l->free_shares[l->first_gpu[node]];
    int64_t wanted = shares < SHARES_PER_GPU ? 1 : shares / SHARES_PER_GPU;
    uint64_t found = 0;
    for (unsigned i = 0; i < gpus_of(l, node) && wanted; i++) {
        if (free[i] < (shares < SHARES_PER_GPU ? shares : SHARES_PER_GPU)) continue;
        found |= UINT64_C(1) << i;
        wanted--;
    }
    return wanted ? 0 : found;
}

static void change_gpus(struct live_run *l, const struct live_group *g, int sign)
{
    int64_t each = g->shares < SHARES_PER_GPU ? g->shares : SHARES_PER_GPU;
    uint16_t *free = &l->free_shares[l->first_gpu[g->node]];
    for (unsigned i = 0; i < gpus_of(l, g->node); i++)
        if (g->gpus >> i & 1) free[i] = (uint16_t)(free[i] + sign * each);
}

static int64_t free_on(const struct live_run *l, uint32_t node)
{
    int64_t sum = 0;
    for (size_t i = l->first_gpu[node]; i < l->first_gpu[node + 1]; i++) sum += l->free_shares[i];
    return sum;
}

bool live_node(struct live_run *l, uint32_t node, enum activity state)
{
    if (node >= l->scenario->cluster.n_nodes || (state != ACT_FREE && activity_table[state].class != CLASS_DOWN) ||
        l->node_state[node] == state) {
        l->refused++;
        return false;
    }
    uint32_t g = l->node_group[node];
    int64_t shares = free_on(l, node);
    if (l->node_state[node] != ACT_FREE) ledger_up(l->ledger, g, l->node_state[node], shares, l->now_ns);
    if (state != ACT_FREE) ledger_down(l->ledger, g, state, shares, l->now_ns);
    l->node_state[node] = (uint8_t)state;
    live_record(l, REC_NODE_STATE, NO_JOB, node, state, (int64_t)gpus_of(l, node) * SHARES_PER_GPU, 0);
    return true;
}

/* ---- groups ---- */

static share_ns share_time(int64_t shares, int64_t ns)
{
    share_ns a = (uint64_t)shares, b = (uint64_t)ns;
    return a * b;
}

static uint32_t account_of(struct live_run *l, const struct live_job *j, uint32_t node)
{
    return ledger_account(l->ledger, &(struct ledger_key){.group = l->node_group[node],
                                                          .queue = j->spec->queue,
                                                          .team = j->spec->team,
                                                          .kind = (uint16_t)l->scenario->details[j->spec->detail].kind,
                                                          .cause = j->cause});
}

static void record_state(struct live_run *l, const struct live_job *j, const struct live_group *g)
{
    live_record(l, REC_GROUP_STATE, live_index(l, j), (uint32_t)(g - j->groups.v), (unsigned)(g->activity | g->cause << 8),
                g->shares, 0);
}

static void add_work(struct live_job *j, enum activity activity, bool redone, share_ns sum)
{
    if (redone) {
        j->redone += sum;
        return;
    }
    j->work += sum;
    j->work_by[activity - FIRST_WORK] += sum;
}

static void add_held(struct live_job *j, const struct live_group *g, share_ns sum)
{
    j->held += sum;
    if (held_is_recovery(g->activity, g->cause)) j->recovery += sum;
}

/* Time in a clocked activity goes to the job's sums; the ledger has its own clock of it. */
static void settle(struct live_run *l, struct live_job *j, struct live_group *g)
{
    share_ns sum = share_time(g->shares, l->now_ns - g->since_ns);
    if (activity_table[g->activity].class == CLASS_WORK) add_work(j, g->activity, false, sum);
    else add_held(j, g, sum);
    g->since_ns = l->now_ns;
}

void live_settle(struct live_run *l, struct live_job *j)
{
    for (size_t i = 0; i < j->groups.n; i++)
        if (j->groups.v[i].held && !j->groups.v[i].lifted) settle(l, j, &j->groups.v[i]);
}

static void book_group(struct live_run *l, struct live_job *j, struct live_group *g, enum activity activity, bool redone,
                       int64_t ns)
{
    int64_t left = l->now_ns - g->since_ns;
    if (ns > left) ns = left;
    if (ns <= 0) return;
    share_ns sum = share_time(g->shares, ns);
    ledger_book(l->ledger, g->account, activity, redone, sum);
    add_work(j, activity, redone, sum);
    g->since_ns += ns;
}

void live_book(struct live_run *l, struct live_job *j, enum activity activity, bool redone, int64_t ns)
{
    for (size_t i = 0; i < j->groups.n; i++)
        if (j->groups.v[i].lifted) book_group(l, j, &j->groups.v[i], activity, redone, ns);
}

static void lift(struct live_run *l, struct live_job *j, struct live_group *g)
{
    settle(l, j, g);
    ledger_lift(l->ledger, g->account, g->activity, g->shares, l->now_ns);
    g->lifted = true;
}

void live_lift(struct live_run *l, struct live_job *j)
{
    for (size_t i = 0; i < j->groups.n; i++)
        if (j->groups.v[i].held && !j->groups.v[i].aside) lift(l, j, &j->groups.v[i]);
}

static void land(struct live_run *l, struct live_job *j, struct live_group *g, enum activity activity)
{
    book_group(l, j, g, j->told_steps ? ACT_COMPUTE : ACT_OTHER_LOAD, j->step < j->high_step, INT64_MAX);
    ledger_land(l->ledger, g->account, activity, g->shares, l->now_ns);
    g->lifted = false;
    g->activity = (uint8_t)activity;
    record_state(l, j, g);
}

void live_land(struct live_run *l, struct live_job *j, enum activity activity)
{
    for (size_t i = 0; i < j->groups.n; i++)
        if (j->groups.v[i].lifted) land(l, j, &j->groups.v[i], activity);
}

void live_recause(struct live_run *l, struct live_job *j)
{
    for (size_t i = 0; i < j->groups.n; i++) {
        struct live_group *g = &j->groups.v[i];
        if (!g->held || g->cause == j->cause) continue;
        settle(l, j, g);
        uint32_t to = account_of(l, j, g->node);
        ledger_move(l->ledger, g->account, g->activity, to, g->activity, g->shares, l->now_ns);
        g->account = to;
        g->cause = j->cause;
        record_state(l, j, g);
    }
}

static bool may_take(const struct live_run *l, uint32_t job, uint32_t node, int64_t shares, enum activity activity)
{
    enum activity_class class = activity_table[activity].class;
    return job < l->n_jobs && node < l->scenario->cluster.n_nodes && l->node_state[node] == ACT_FREE && shares > 0 &&
           (shares < SHARES_PER_GPU || shares % SHARES_PER_GPU == 0) && (class == CLASS_HELD || class == CLASS_WORK) &&
           l->jobs[job].submitted;
}

uint32_t live_take(struct live_run *l, uint32_t job, uint32_t node, int64_t shares, enum activity activity)
{
    uint64_t gpus = may_take(l, job, node, shares, activity) ? find_gpus(l, node, shares) : 0;
    if (!gpus) {
        l->refused++;
        return LIVE_NONE;
    }
    struct live_job *j = &l->jobs[job];
    array_push(&j->groups, (struct live_group){.gpus = gpus,
                                               .shares = shares,
                                               .since_ns = l->now_ns,
                                               .node = node,
                                               .account = account_of(l, j, node),
                                               .activity = (uint8_t)activity,
                                               .cause = j->cause,
                                               .held = true});
    uint32_t number = (uint32_t)j->groups.n - 1;
    struct live_group *g = &j->groups.v[number];
    change_gpus(l, g, -1);
    ledger_take(l->ledger, l->node_group[node], g->account, activity, shares, l->now_ns);
    live_record(l, REC_GROUP_NODES, (int32_t)job, number, shares < SHARES_PER_GPU ? (unsigned)shares : 0,
                INT64_C(1) << 32 | node, (int64_t)gpus);
    record_state(l, j, g);
    if (j->steps) lift(l, j, g);
    return number;
}

static struct live_group *held_group(struct live_run *l, uint32_t job, uint32_t group)
{
    if (job < l->n_jobs && group < l->jobs[job].groups.n && l->jobs[job].groups.v[group].held)
        return &l->jobs[job].groups.v[group];
    l->refused++;
    return NULL;
}

bool live_enter(struct live_run *l, uint32_t job, uint32_t group, enum activity activity)
{
    struct live_group *g = held_group(l, job, group);
    enum activity_class class = activity_table[activity].class;
    if (!g) return false;
    if (g->lifted || (class != CLASS_HELD && class != CLASS_WORK)) {
        l->refused++;
        return false;
    }
    if (g->activity == activity) return true;
    settle(l, &l->jobs[job], g);
    ledger_move(l->ledger, g->account, g->activity, g->account, activity, g->shares, l->now_ns);
    g->activity = (uint8_t)activity;
    record_state(l, &l->jobs[job], g);
    return true;
}

bool live_takes_part(struct live_run *l, uint32_t job, uint32_t group, bool part, enum activity activity)
{
    struct live_group *g = held_group(l, job, group);
    if (!g) return false;
    if (!part && activity_table[activity].class != CLASS_HELD && activity_table[activity].class != CLASS_WORK) {
        l->refused++;
        return false;
    }
    g->aside = !part;
    if (part) return true;
    if (g->lifted) land(l, &l->jobs[job], g, activity);
    return live_enter(l, job, group, activity);
}

bool live_free(struct live_run *l, uint32_t job, uint32_t group)
{
    struct live_group *g = held_group(l, job, group);
    if (!g) return false;
    if (g->lifted) land(l, &l->jobs[job], g, ACT_TERMINATING);
    settle(l, &l->jobs[job], g);
    ledger_give(l->ledger, l->node_group[g->node], g->account, g->activity, g->shares, l->now_ns);
    live_record(l, REC_GROUP_FREED, (int32_t)job, group, 0, g->shares, 0);
    if (l->node_state[g->node] != ACT_FREE)
        ledger_down(l->ledger, l->node_group[g->node], l->node_state[g->node], g->shares, l->now_ns);
    change_gpus(l, g, +1);
    g->held = false;
    return true;
}

/* ---- nodes of an allocation ---- */

static int by_first(const void *a, const void *b)
{
    const struct node_interval *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

void live_nodes(struct live_job *j)
{
    j->nodes.n = 0;
    for (size_t i = 0; i < j->groups.n; i++)
        if (j->groups.v[i].held) array_push(&j->nodes, (struct node_interval){j->groups.v[i].node, j->groups.v[i].node});
    if (!j->nodes.n) return;
    qsort(j->nodes.v, j->nodes.n, sizeof *j->nodes.v, by_first);
    size_t kept = 0;
    for (size_t i = 1; i < j->nodes.n; i++) {
        if (j->nodes.v[i].first <= j->nodes.v[kept].last + 1) j->nodes.v[kept].last = j->nodes.v[i].last;
        else j->nodes.v[++kept] = j->nodes.v[i];
    }
    j->nodes.n = kept + 1;
}
