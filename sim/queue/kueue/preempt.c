/* preempt.c - which workloads to evict for one that does not fit.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/kueue/preempt.h"

#include <stdlib.h>
#include <string.h>

enum variant { HIERARCHICAL, WITHOUT_BORROWING, WHILE_BORROWING, WITHIN_QUEUE };
enum { RANK_HIERARCHICAL, RANK_PRIORITY, RANK_OWN, RANK_NOT_EVICTED };

struct search {
    struct kueue *k;
    const struct workload *w;
    const struct shape *shape;
    const struct cluster_queue *queue;
    uint32_t n_uses, n_needs;
    const struct quota_use *uses, *needs;
    bool others, hierarchical; /* such candidates exist */
};

static bool uses_needed(const struct search *s, const struct workload *c)
{
    const struct assignment *a = workload_assignment(s->k, c);
    for (uint32_t i = 0; i < a->n_uses; i++)
        for (uint32_t j = 0; j < s->n_needs; j++)
            if (a->uses[i].fr == s->needs[j].fr) return true;
    return false;
}

static bool policy_allows(const struct search *s, enum kueue_preemption policy, int32_t priority,
                          const struct workload *c)
{
    int32_t mine = s->shape->priority;
    switch (policy) {
    case KUEUE_PREEMPT_NEVER: return false;
    case KUEUE_PREEMPT_LOWER_PRIORITY: return priority < mine;
    case KUEUE_PREEMPT_LOWER_OR_NEWER_EQUAL:
        return priority < mine || (priority == mine && s->w->order_ns < c->order_ns);
    case KUEUE_PREEMPT_ANY: return true;
    }
    return false;
}

static enum variant classify(const struct search *s, int32_t priority, bool own, bool advantage)
{
    const struct kueue_queue_config *c = &s->queue->config;
    if (own) return WITHIN_QUEUE;
    if (advantage) return HIERARCHICAL;
    if (!c->borrow_within_cohort || priority >= s->shape->priority) return WITHOUT_BORROWING;
    return c->has_priority_threshold && priority > c->max_priority_threshold ? WITHOUT_BORROWING : WHILE_BORROWING;
}

static void collect_queue(struct search *s, uint32_t queue, uint32_t lca, bool advantage)
{
    struct kueue *k = s->k;
    const struct cluster_queue *q = &k->queues.v[queue];
    bool own = q == s->queue;
    enum kueue_preemption policy = own ? s->queue->config.within_queue : s->queue->config.reclaim_within_cohort;
    if (q->config.stop != KUEUE_RUN) return; /* Kueue leaves inactive queues out of its snapshot */
    for (size_t b = 0; b < q->admitted.n; b++) {
        int32_t priority = q->admitted.v[b].priority;
        if (policy != KUEUE_PREEMPT_ANY && priority > s->shape->priority) break;
        for (uint32_t i = q->admitted.v[b].first; i != KUEUE_NONE; i = k->workloads.v[i].next) {
            const struct workload *c = &k->workloads.v[i];
            if (!policy_allows(s, policy, priority, c) || !uses_needed(s, c)) continue;
            int rank = own ? RANK_OWN : advantage ? RANK_HIERARCHICAL : RANK_PRIORITY;
            if (c->state != WORKLOAD_EVICTED) rank += RANK_NOT_EVICTED;
            struct candidate found = {i, lca, (uint8_t)rank, (uint8_t)classify(s, priority, own, advantage)};
            array_push(&k->candidates, found);
            s->others = s->others || !own;
            s->hierarchical = s->hierarchical || (!own && advantage);
        }
    }
}

static bool nobody_above(const struct search *s, uint32_t cohort)
{
    for (uint32_t i = 0; i < s->n_needs; i++)
        if (quota_cell(&s->k->quota, cohort, s->needs[i].fr)->above > 0) return false;
    return true;
}

/* Queues below the cohort `node` that use more than their quota; `skip` has been looked at. */
static void collect_subtree(struct search *s, uint32_t node, uint32_t lca, uint32_t skip, bool advantage)
{
    const struct quota *q = &s->k->quota;
    if (nobody_above(s, node)) return;
    for (uint32_t c = q->nodes.v[node].first_child; c != KUEUE_NONE; c = q->nodes.v[c].next_sibling) {
        if (c == skip || c == s->queue->node || quota_within(q, c, s->n_needs, s->needs)) continue;
        if (q->nodes.v[c].leaf)
            collect_queue(s, s->k->node_queue.v[c], lca, advantage);
        else
            collect_subtree(s, c, lca, skip, advantage);
    }
}

/* Does the rest of the request fit in the node's own quota? What the node cannot keep to itself goes up. */
static bool fits_in_quota(const struct quota *q, uint32_t node, uint32_t n, struct quota_use *rest)
{
    bool fits = true;
    for (uint32_t i = 0; i < n; i++) {
        fits = fits && !quota_borrows_with(q, node, rest[i].fr, rest[i].amount);
        int64_t local = quota_local_available(q, node, rest[i].fr);
        rest[i].amount = rest[i].amount > local ? rest[i].amount - local : 0;
    }
    return fits;
}

static void collect_cohort(struct search *s)
{
    const struct quota *q = &s->k->quota;
    struct quota_use rest[KUEUE_MAX_USES];
    memcpy(rest, s->uses, s->n_uses * sizeof *rest);
    uint32_t skip = KUEUE_NONE, node = s->queue->node;
    bool advantage = fits_in_quota(q, node, s->n_uses, rest);
    while ((node = q->nodes.v[node].parent) != KUEUE_NONE) {
        collect_subtree(s, node, node, skip, advantage);
        advantage = fits_in_quota(q, node, s->n_uses, rest) || advantage;
        skip = node;
    }
}

static int candidate_order(const void *x, const void *y, void *kueue)
{
    const struct kueue *k = kueue;
    const struct candidate *a = x, *b = y;
    const struct workload *v = &k->workloads.v[a->workload], *w = &k->workloads.v[b->workload];
    int32_t p = k->shapes.v[v->shape].priority, r = k->shapes.v[w->shape].priority;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (p != r) return p < r ? -1 : 1;
    if (v->reserved_ns != w->reserved_ns) return v->reserved_ns > w->reserved_ns ? -1 : 1;
    if (v->uid != w->uid) return v->uid < w->uid ? -1 : 1;
    return a->workload < b->workload ? -1 : a->workload > b->workload;
}

/* Evictions so far may have brought its queue, or a cohort below the common one, within its quota. */
static bool still_counts(const struct search *s, const struct candidate *c, bool borrow)
{
    const struct quota *q = &s->k->quota;
    if (c->variant == WITHIN_QUEUE) return true;
    if (borrow && c->variant == WITHOUT_BORROWING) return false;
    uint32_t node = s->k->queues.v[s->k->shapes.v[s->k->workloads.v[c->workload].shape].queue].node;
    for (; node != c->lca; node = q->nodes.v[node].parent)
        if (quota_within(q, node, s->n_needs, s->needs)) return false;
    return true;
}

static bool request_fits(const struct search *s, bool borrow)
{
    const struct quota *q = &s->k->quota;
    for (uint32_t i = 0; !borrow && i < s->n_uses; i++)
        if (quota_borrows_with(q, s->queue->node, s->uses[i].fr, s->uses[i].amount)) return false;
    return quota_fits(q, s->queue->node, s->n_uses, s->uses);
}

static enum kueue_reason reason_of(enum variant v)
{
    static const enum kueue_reason reasons[] = {
        [HIERARCHICAL] = KUEUE_IN_COHORT_RECLAMATION,
        [WITHOUT_BORROWING] = KUEUE_IN_COHORT_RECLAMATION,
        [WHILE_BORROWING] = KUEUE_IN_COHORT_RECLAIM_WHILE_BORROWING,
        [WITHIN_QUEUE] = KUEUE_IN_CLUSTER_QUEUE,
    };
    return reasons[v];
}

/* Puts victims back while the request still fits. Their order is Kueue's: the last one fills a gap. */
static void fill_back(struct search *s, size_t first, bool borrow)
{
    struct kueue *k = s->k;
    for (size_t i = k->targets.n - 1; i-- > first;) {
        workload_add_usage(k, k->targets.v[i].workload);
        if (request_fits(s, borrow))
            k->targets.v[i] = array_pop(&k->targets);
        else
            workload_remove_usage(k, k->targets.v[i].workload);
    }
}

static bool attempt(struct search *s, bool borrow)
{
    struct kueue *k = s->k;
    size_t first = k->targets.n;
    bool fits = false;
    for (size_t i = 0; !fits && i < k->candidates.n; i++) {
        const struct candidate *c = &k->candidates.v[i];
        if (!still_counts(s, c, borrow)) continue;
        workload_remove_usage(k, c->workload);
        array_push(&k->targets, (struct target){c->workload, reason_of(c->variant)});
        fits = request_fits(s, borrow);
    }
    if (fits) fill_back(s, first, borrow);
    for (size_t i = first; i < k->targets.n; i++) workload_add_usage(k, k->targets.v[i].workload);
    if (!fits) k->targets.n = first;
    return fits;
}

static bool under_nominal(const struct search *s)
{
    for (uint32_t i = 0; i < s->n_needs; i++) {
        const struct quota_cell *c = quota_cell(&s->k->quota, s->queue->node, s->needs[i].fr);
        if (c->usage >= c->nominal) return false;
    }
    return true;
}

uint32_t preempt_find(struct kueue *k, uint32_t workload, uint32_t n_uses, const struct quota_use *uses,
                      uint32_t n_needs, const struct quota_use *needs)
{
    struct search s = {.k = k, .w = &k->workloads.v[workload], .n_uses = n_uses, .n_needs = n_needs};
    s.uses = uses;
    s.needs = needs;
    s.shape = &k->shapes.v[s.w->shape];
    s.queue = &k->queues.v[s.shape->queue];
    array_clear(&k->candidates);
    if (s.queue->config.within_queue != KUEUE_PREEMPT_NEVER) collect_queue(&s, s.shape->queue, s.queue->node, false);
    if (s.queue->config.reclaim_within_cohort != KUEUE_PREEMPT_NEVER) collect_cohort(&s);
    if (k->candidates.n == 0) return 0;
    qsort_r(k->candidates.v, k->candidates.n, sizeof *k->candidates.v, candidate_order, k);

    size_t before = k->targets.n;
    bool forbidden = !s.queue->config.borrow_within_cohort;
    if (!s.others || (forbidden && !under_nominal(&s)))
        attempt(&s, true);
    else if (forbidden && !s.hierarchical)
        (void)(attempt(&s, false) || attempt(&s, true));
    else
        (void)(attempt(&s, true) || attempt(&s, false));
    return (uint32_t)(k->targets.n - before);
}
