/* cycle.c - one scheduling cycle.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/kueue/cycle.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/queue/kueue/flavor.h"
#include "sim/queue/kueue/preempt.h"
#include "sim/queue/kueue/queue.h"

/* ---- nominate ---- */

/* Fit, or preempt with victims, which are appended to k->targets. */
static bool will_do(struct kueue *k, uint32_t workload, struct evaluation *e, uint32_t *n_targets)
{
    *n_targets = 0;
    if (e->mode == MODE_PREEMPT)
        *n_targets = preempt_find(k, workload, e->assignment.n_uses, e->uses, e->n_needs, e->needs);
    return e->mode == MODE_FIT || *n_targets > 0;
}

/* The largest count of the reducible pod set that fits or preempts, found as Go's sort.Search does. */
static bool reduce(struct kueue *k, uint32_t workload, uint32_t *counts, struct evaluation *e, uint32_t *n_targets)
{
    const struct shape *s = &k->shapes.v[k->workloads.v[workload].shape];
    const struct kueue_pod_set *ps = &s->pod_sets[s->reducible];
    size_t first = k->targets.n;
    uint32_t low = 0, high = ps->count - ps->min_count + 1;
    while (low < high) {
        uint32_t cut = low + (high - low) / 2;
        counts[s->reducible] = ps->count - cut;
        flavor_assign(k, workload, counts, e);
        k->targets.n = first;
        if (will_do(k, workload, e, n_targets))
            high = cut;
        else
            low = cut + 1;
    }
    k->targets.n = first;
    if (low > ps->count - ps->min_count) return false;
    counts[s->reducible] = ps->count - low;
    flavor_assign(k, workload, counts, e);
    return will_do(k, workload, e, n_targets);
}

static void evaluate(struct kueue *k, uint32_t workload, struct entry *n)
{
    const struct shape *s = &k->shapes.v[k->workloads.v[workload].shape];
    struct evaluation e;
    uint32_t counts[KUEUE_MAX_POD_SETS];
    for (uint32_t i = 0; i < s->n_pod_sets; i++) counts[i] = s->pod_sets[i].count;
    *n = (struct entry){.workload = workload, .queue = s->queue, .first_target = (uint32_t)k->targets.n};
    flavor_assign(k, workload, counts, &e);
    if (!will_do(k, workload, &e, &n->n_targets) && s->reducible != KUEUE_NONE && k->options.partial_admission) {
        struct evaluation cut;
        if (reduce(k, workload, counts, &cut, &n->n_targets))
            e = cut, e.assignment.uses = e.uses;
        else
            n->n_targets = 0;
    }
    n->mode = (uint8_t)e.mode;
    n->borrow = e.borrow;
    n->reason = e.mode == MODE_NO_FIT ? e.lack.reason : KUEUE_NO_VICTIMS;
    n->flavor = e.lack.flavor;
    n->resource = e.lack.resource;
    n->short_by = e.lack.short_by;
    n->message = e.message;
    n->tried = e.tried;
    if (e.mode != MODE_NO_FIT)
        n->assignment =
            shape_intern(&k->shapes.v[k->workloads.v[workload].shape], &e.assignment, k->options.n_resources);
}

/* The queue may not preempt, so what its heads are told depends on quotas alone. */
static bool never_preempts(const struct kueue *k, uint32_t queue)
{
    const struct kueue_queue_config *c = &k->queues.v[queue].config;
    return c->within_queue == KUEUE_PREEMPT_NEVER && c->reclaim_within_cohort == KUEUE_PREEMPT_NEVER &&
           !c->borrow_within_cohort;
}

/* A standing line of equal workloads asks the same question again and again: `no fit` depends on nothing but the shape
 * and the quotas (and on where a workload's search for flavors stood, which only workloads that fitted once have). */
static void nominate(struct kueue *k, uint32_t workload, struct entry *e)
{
    uint32_t shape = k->workloads.v[workload].shape;
    struct shape *s = &k->shapes.v[shape];
    bool plain = k->workloads.v[workload].tried == 0 && s->reducible == KUEUE_NONE;
    uint64_t state = quota_state(&k->quota, k->queues.v[s->queue].node);
    if (plain && s->refused_once && s->refused_state == state) {
        *e = s->refused;
        e->workload = workload;
        e->first_target = (uint32_t)k->targets.n;
        return;
    }
    evaluate(k, workload, e);
    if (plain && (e->mode == MODE_NO_FIT || (e->mode == MODE_PREEMPT && never_preempts(k, e->queue)))) {
        s = &k->shapes.v[shape];
        s->refused = *e;
        s->refused_state = state;
        s->refused_once = true;
    }
}

/* ---- order ---- */

static int entry_order(const void *x, const void *y, void *kueue)
{
    const struct kueue *k = kueue;
    const struct entry *a = x, *b = y;
    const struct workload *v = &k->workloads.v[a->workload], *w = &k->workloads.v[b->workload];
    int32_t p = k->shapes.v[v->shape].priority, r = k->shapes.v[w->shape].priority;
    if (a->borrow != b->borrow) return a->borrow < b->borrow ? -1 : 1;
    if (k->options.priority_sorting && p != r) return p > r ? -1 : 1;
    if (v->order_ns != w->order_ns) return v->order_ns < w->order_ns ? -1 : 1;
    if (v->uid != w->uid) return v->uid < w->uid ? -1 : 1;
    return a->workload < b->workload ? -1 : a->workload > b->workload;
}

/* ---- process ---- */

static const struct assignment *entry_assignment(const struct kueue *k, const struct entry *e)
{
    return k->shapes.v[k->workloads.v[e->workload].shape].assignments.v[e->assignment];
}

/* Usage that counts for the rest of the cycle only. */
static void hold(struct kueue *k, uint32_t node, uint16_t fr, int64_t amount)
{
    if (amount <= 0) return;
    quota_add(&k->quota, node, fr, amount);
    array_push(&k->held, (struct held_use){
                             node, {fr, amount}
    });
}

static void end_holds(struct kueue *k)
{
    for (size_t i = 0; i < k->held.n; i++)
        quota_remove(&k->quota, k->held.v[i].node, k->held.v[i].use.fr, k->held.v[i].use.amount);
    array_clear(&k->held);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A head that needs preemption and finds no victims keeps its room up to the borrowing limit (quotaResourcesToReserve).
 * With less quota than usage nothing is kept. */
static void reserve(struct kueue *k, const struct entry *e)
{
    const struct cluster_queue *q = &k->queues.v[e->queue];
    const struct assignment *a = entry_assignment(k, e);
    if (q->config.reclaim_within_cohort == KUEUE_PREEMPT_ANY) return;
    for (uint32_t i = 0; i < a->n_uses; i++) {
        const struct quota_cell *c = quota_cell(&k->quota, q->node, a->uses[i].fr);
        int64_t amount = a->uses[i].amount;
        if (e->borrow == 0)
            amount = least(amount, c->nominal - c->usage);
        else if (c->borrowing_limit != KUEUE_UNLIMITED)
            amount = least(amount, c->nominal + c->borrowing_limit - c->usage);
        hold(k, q->node, a->uses[i].fr, amount);
    }
}

static bool overlaps(const struct kueue *k, const struct entry *e)
{
    for (uint32_t i = 0; i < e->n_targets; i++)
        if (k->workloads.v[k->targets.v[e->first_target + i].workload].victim) return true;
    return false;
}

/* Does it fit once the victims of earlier heads and its own are gone? */
static bool fits_now(struct kueue *k, const struct entry *e)
{
    const struct assignment *a = entry_assignment(k, e);
    for (size_t i = 0; i < k->victims.n; i++) workload_remove_usage(k, k->victims.v[i]);
    for (uint32_t i = 0; i < e->n_targets; i++) workload_remove_usage(k, k->targets.v[e->first_target + i].workload);
    bool fits = quota_fits(&k->quota, k->queues.v[e->queue].node, a->n_uses, a->uses);
    for (uint32_t i = 0; i < e->n_targets; i++) workload_add_usage(k, k->targets.v[e->first_target + i].workload);
    for (size_t i = 0; i < k->victims.n; i++) workload_add_usage(k, k->victims.v[i]);
    return fits;
}

struct kueue_outcome workload_evict(struct kueue *k, uint32_t workload, enum kueue_reason reason, uint32_t by,
                                    int64_t now_ns)
{
    struct workload *w = &k->workloads.v[workload];
    assert(w->state == WORKLOAD_ADMITTED);
    w->state = WORKLOAD_EVICTED;
    /* Without priority sorting its preemptor must stay ahead of it: workload.Ordering adds 1 ms to the eviction. */
    bool behind = reason == KUEUE_IN_COHORT_RECLAIM_WHILE_BORROWING && !k->options.priority_sorting;
    if (behind) w->order_ns = kueue_grain(k, now_ns) + 1000000;
    tree_set_dirty(k, k->queues.v[k->shapes.v[w->shape].queue].tree, true);
    return (struct kueue_outcome){
        .kind = KUEUE_EVICT, .reason = reason, .workload = workload, .by = by, .owner = w->owner};
}

/* True when a victim is evicted that was not before. */
static bool issue_preemptions(struct kueue *k, struct entry *e, int64_t now_ns)
{
    bool any = false;
    for (uint32_t i = 0; i < e->n_targets; i++) {
        struct target t = k->targets.v[e->first_target + i];
        k->workloads.v[t.workload].victim = true;
        array_push(&k->victims, t.workload);
        if (k->workloads.v[t.workload].state == WORKLOAD_EVICTED) continue;
        array_push(&k->outcomes, workload_evict(k, t.workload, t.reason, e->workload, now_ns));
        k->cycle.evicted++;
        any = true;
    }
    const struct assignment *a = entry_assignment(k, e);
    for (uint32_t i = 0; i < a->n_uses; i++) hold(k, k->queues.v[e->queue].node, a->uses[i].fr, a->uses[i].amount);
    e->message = kueue_mix(e->message, e->n_targets);
    return any;
}

static void admit(struct kueue *k, const struct entry *e, int64_t now_ns)
{
    struct workload *w = &k->workloads.v[e->workload];
    queue_take(k, e->workload);
    w->state = WORKLOAD_ADMITTED;
    w->assignment = e->assignment;
    w->reserved_ns = kueue_grain(k, now_ns);
    w->order_ns = kueue_grain(k, w->created_ns);
    w->tried = w->message = 0;
    w->reason = KUEUE_OK;
    workload_add_usage(k, e->workload);
    admitted_insert(k, e->workload);
    array_push(
        &k->outcomes,
        (struct kueue_outcome){
            .kind = KUEUE_ADMIT, .workload = e->workload, .by = KUEUE_NONE, .owner = w->owner, .borrow = e->borrow});
    k->cycle.admitted++;
}

/* Gives the reason why it is not admitted, or KUEUE_OK; *changed when the state that the next cycle sees differs. */
static enum kueue_reason process(struct kueue *k, struct entry *e, int64_t now_ns, bool *changed)
{
    if (e->mode == MODE_NO_FIT) return e->reason;
    if (e->mode == MODE_PREEMPT && e->n_targets == 0) {
        reserve(k, e);
        return KUEUE_NO_VICTIMS;
    }
    if (overlaps(k, e)) return KUEUE_OVERLAPPING_VICTIMS;
    if (!fits_now(k, e)) return KUEUE_NO_LONGER_FITS;
    if (e->mode == MODE_PREEMPT) {
        *changed = issue_preemptions(k, e, now_ns) || *changed;
        return KUEUE_PENDING_PREEMPTION;
    }
    admit(k, e, now_ns);
    *changed = true;
    return KUEUE_OK;
}

/* ---- requeue ---- */

static bool keeps_its_place(const struct cluster_queue *q, enum kueue_reason reason, uint32_t tried)
{
    return q->config.strategy == KUEUE_STRICT_FIFO || tried != 0 || reason == KUEUE_PENDING_PREEMPTION ||
           reason == KUEUE_NO_LONGER_FITS || reason == KUEUE_OVERLAPPING_VICTIMS;
}

static void requeue(struct kueue *k, struct entry *e, enum kueue_reason reason, bool *changed)
{
    struct cluster_queue *q = &k->queues.v[e->queue];
    struct workload *w = &k->workloads.v[e->workload];
    bool lost = reason == KUEUE_NO_LONGER_FITS || reason == KUEUE_OVERLAPPING_VICTIMS;
    uint32_t sticky = q->sticky, tried = lost || reason == KUEUE_PENDING_PREEMPTION ? 0 : e->tried;
    uint32_t message = kueue_mix(lost ? 0 : e->message, (uint64_t)reason + 1);
    struct kueue_outcome o = {.kind = KUEUE_BLOCK, .reason = reason, .workload = e->workload, .by = KUEUE_NONE};
    o.owner = w->owner;
    o.flavor = e->flavor;
    o.resource = e->resource;
    o.short_by = e->short_by;
    o.new_message = message != w->message;
    o.parked = !keeps_its_place(q, reason, tried);
    if (q->config.strategy == KUEUE_BEST_EFFORT_FIFO && reason == KUEUE_PENDING_PREEMPTION)
        q->sticky = e->workload;
    else if (q->sticky == e->workload)
        q->sticky = KUEUE_NONE;
    *changed = *changed || o.parked;
    if (tried != w->tried || sticky != q->sticky) array_push(&k->moved_on_trees, q->tree);
    w->tried = tried;
    w->tried_generation = q->generation;
    w->message = message;
    w->reason = (uint8_t)reason;
    if (o.parked) queue_park(k, e->workload, k->options.equivalence_hashing);
    array_push(&k->outcomes, o);
    k->cycle.blocked++;
    k->cycle.new_messages += o.new_message;
}

/* ---- the cycle ---- */

static void collect_heads(struct kueue *k)
{
    for (size_t i = 0; i < k->live.n; i++) {
        const struct tree *t = &k->trees.v[k->live.v[i]];
        for (size_t j = 0; j < t->ready.n; j++) nominate(k, queue_head(k, t->ready.v[j]), array_add(&k->entries));
    }
}

/* A tree stays dirty when one of its heads changed anything; entries of a tree are all of its heads. */
static void settle(struct kueue *k)
{
    while (k->live.n > 0) tree_set_dirty(k, array_last(&k->live), false);
}

void cycle_run(struct kueue *k, int64_t now_ns)
{
    array_clear(&k->entries);
    array_clear(&k->targets);
    array_clear(&k->outcomes);
    array_clear(&k->victims);
    k->cycle = (struct kueue_cycle){0};
    collect_heads(k);
    settle(k);
    if (k->entries.n > 1) qsort_r(k->entries.v, k->entries.n, sizeof *k->entries.v, entry_order, k);
    array_clear(&k->changed_trees);
    array_clear(&k->moved_on_trees);
    for (size_t i = 0; i < k->entries.n; i++) {
        struct entry *e = &k->entries.v[i];
        bool changed = false;
        enum kueue_reason reason = process(k, e, now_ns, &changed);
        e->reason = reason;
        if (reason != KUEUE_OK) requeue(k, e, reason, &changed);
        if (changed) array_push(&k->changed_trees, k->queues.v[e->queue].tree);
    }
    end_holds(k);
    for (size_t i = 0; i < k->victims.n; i++) k->workloads.v[k->victims.v[i]].victim = false;
    for (size_t i = 0; i < k->changed_trees.n; i++) tree_set_dirty(k, k->changed_trees.v[i], true);
    for (size_t i = 0; i < k->moved_on_trees.n; i++) tree_moved_on(k, k->moved_on_trees.v[i]);
    k->cycle.heads = (uint32_t)k->entries.n;
    k->cycle.outcomes = k->outcomes.v;
    k->cycle.n = k->outcomes.n;
}
