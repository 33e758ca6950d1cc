/* flavor.c - which flavors a workload gets, and whether by fitting, by preempting, or not at all.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/kueue/flavor.h"

#include <string.h>

#include "sim/queue/kueue/preempt.h"

enum fine_mode { NO_FIT, NO_VICTIMS, PREEMPT, RECLAIM, FIT };

struct grade {
    enum fine_mode mode;
    uint32_t borrow;
};

/* One group of one pod set with one flavor. */
struct choice {
    uint32_t flavor;
    struct grade grade;
    uint8_t borrow; /* the worst of its resources; the grade keeps the least preferred pair */
    bool preempt[KUEUE_MAX_RESOURCES];
    struct lack lack;
};

struct assigner {
    struct kueue *k;
    uint32_t workload;
    const struct shape *shape;
    const struct cluster_queue *queue;
    struct evaluation *e;
};

static bool preferred(struct grade a, struct grade b, enum kueue_preference preference)
{
    if (a.mode == NO_FIT) return false;
    if (b.mode == NO_FIT) return true;
    if (preference == KUEUE_BORROWING_OVER_PREEMPTION) return a.mode != b.mode ? a.mode > b.mode : a.borrow < b.borrow;
    return a.borrow != b.borrow ? a.borrow < b.borrow : a.mode > b.mode;
}

static bool try_next(struct grade g, const struct kueue_queue_config *c)
{
    if (g.mode <= NO_VICTIMS) return true;
    if (g.mode != FIT && c->when_can_preempt == KUEUE_TRY_NEXT_FLAVOR) return true;
    return g.borrow > 0 && c->when_can_borrow == KUEUE_TRY_NEXT_FLAVOR;
}

static struct quota_use *use_of(struct evaluation *e, uint16_t fr)
{
    for (uint32_t i = 0; i < e->assignment.n_uses; i++)
        if (e->uses[i].fr == fr) return &e->uses[i];
    return NULL;
}

/* What lacks for one resource of a flavor: the condition message tells all of it, the choice the least hopeful. */
static void lacks(struct assigner *a, struct choice *c, enum kueue_reason reason, uint32_t resource, int64_t short_by)
{
    struct evaluation *e = a->e;
    uint64_t what = (uint64_t)reason << 56 ^ (uint64_t)c->flavor << 40 ^ (uint64_t)resource << 32;
    e->message = kueue_mix(e->message, what ^ (uint64_t)short_by);
    if (c->lack.reason != KUEUE_OK && c->lack.reason <= reason) return;
    c->lack = (struct lack){reason, (uint16_t)c->flavor, (uint16_t)resource, short_by};
}

/* Would victims make room for this pair alone? Gives the borrowing level after their eviction. */
static struct grade simulate(struct assigner *a, struct quota_use use)
{
    struct kueue *k = a->k;
    size_t first = k->targets.n;
    uint32_t n = preempt_find(k, a->workload, 1, &use, 1, &use);
    bool smaller, own = false;
    for (uint32_t i = 0; i < n; i++) workload_remove_usage(k, k->targets.v[first + i].workload);
    struct grade g = {NO_VICTIMS, quota_height_that_fits(&k->quota, a->queue->node, use.fr, use.amount, &smaller)};
    for (uint32_t i = 0; i < n; i++) {
        workload_add_usage(k, k->targets.v[first + i].workload);
        own = own || k->targets.v[first + i].reason == KUEUE_IN_CLUSTER_QUEUE;
    }
    k->targets.n = first;
    if (n > 0) g.mode = own ? PREEMPT : RECLAIM;
    return g;
}

static struct grade grade_pair(struct assigner *a, struct choice *c, uint32_t resource, int64_t amount)
{
    const struct quota *q = &a->k->quota;
    uint32_t node = a->queue->node;
    uint16_t fr = kueue_fr(a->k, c->flavor, resource);
    int64_t most = quota_potential(q, node, fr), available = quota_available(q, node, fr);
    if (amount > most) {
        lacks(a, c, KUEUE_EXCEEDS_MAXIMUM, resource, amount - most);
        return (struct grade){NO_FIT, 0};
    }
    bool smaller;
    uint16_t borrow = quota_height_that_fits(q, node, fr, amount, &smaller);
    if (amount <= available) return (struct grade){FIT, borrow};
    lacks(a, c, KUEUE_WAITS_FOR_QUOTA, resource, amount - available);
    if (amount > quota_cell(q, node, fr)->nominal && !smaller && !a->queue->config.borrow_within_cohort)
        return (struct grade){NO_FIT, borrow};
    return simulate(a, (struct quota_use){fr, amount});
}

static void try_flavor(struct assigner *a, const struct kueue_pod_set *ps, uint32_t count, const struct group *g,
                       struct choice *c)
{
    c->grade = (struct grade){FIT, 0};
    for (uint32_t r = 0; r < g->n_resources; r++) {
        int64_t amount = ps->requests[g->resources[r]] * (int64_t)count;
        if (amount == 0) continue;
        const struct quota_use *before = use_of(a->e, kueue_fr(a->k, c->flavor, g->resources[r]));
        struct grade grade = grade_pair(a, c, g->resources[r], amount + (before ? before->amount : 0));
        if (preferred(c->grade, grade, a->queue->config.preference)) c->grade = grade;
        if (c->grade.mode == NO_FIT) return;
        c->preempt[r] = grade.mode != FIT;
        if (grade.borrow > c->borrow) c->borrow = (uint8_t)grade.borrow;
    }
}

static void remember(struct assigner *a, uint32_t slot, uint32_t next)
{
    if (slot >= KUEUE_TRIED || next > KUEUE_TRIED_MAX) return;
    a->e->tried |= next << (4 * slot);
}

static uint32_t remembered(const struct assigner *a, uint32_t slot)
{
    const struct workload *w = &a->k->workloads.v[a->workload];
    if (slot >= KUEUE_TRIED || w->tried_generation != a->queue->generation) return 0;
    return w->tried >> (4 * slot) & 15;
}

static void take(struct assigner *a, uint32_t pod_set, uint32_t count, const struct group *g, const struct choice *c)
{
    struct evaluation *e = a->e;
    if (c->borrow > e->borrow) e->borrow = c->borrow;
    for (uint32_t r = 0; r < g->n_resources; r++) {
        uint16_t resource = g->resources[r], fr = kueue_fr(a->k, c->flavor, resource);
        int64_t amount = a->shape->pod_sets[pod_set].requests[resource] * (int64_t)count;
        if (amount == 0) continue;
        struct quota_use *use = use_of(e, fr);
        if (!use) {
            use = &e->uses[e->assignment.n_uses++];
            *use = (struct quota_use){.fr = fr};
        }
        use->amount += amount;
        e->assignment.flavors[pod_set * a->k->options.n_resources + resource] = (uint8_t)c->flavor;
        if (!c->preempt[r]) continue;
        e->needs[e->n_needs++] = (struct quota_use){.fr = fr};
        e->mode = MODE_PREEMPT;
    }
}

/* The group's flavor for a pod set; false when none will do. */
static bool assign_group(struct assigner *a, uint32_t pod_set, uint32_t count, uint32_t group)
{
    const struct group *g = &a->queue->groups[group];
    const struct kueue_pod_set *ps = &a->shape->pod_sets[pod_set];
    enum kueue_preference preference = a->queue->config.preference;
    uint32_t slot = pod_set * a->queue->n_groups + group, next = 0;
    struct choice best = {
        .grade = {NO_FIT, UINT32_MAX}
    };
    struct lack lack = {0};
    for (uint32_t i = remembered(a, slot); i < g->n_flavors; i++) {
        next = i + 1 == g->n_flavors ? 0 : i + 1;
        struct choice c = {.flavor = g->flavors[i]};
        if (ps->flavors >> c.flavor & 1)
            try_flavor(a, ps, count, g, &c);
        else
            lacks(a, &c, KUEUE_NO_MATCHING_FLAVOR, 0, 0);
        if (c.lack.reason > lack.reason) lack = c.lack;
        bool stop = !try_next(c.grade, &a->queue->config);
        if (stop || preferred(c.grade, best.grade, preference)) best = c;
        if (stop) break;
    }
    if (best.grade.mode == NO_FIT) {
        a->e->lack = lack;
        return false;
    }
    if (best.grade.mode != FIT && a->e->lack.reason == KUEUE_OK) a->e->lack = best.lack;
    remember(a, slot, next);
    take(a, pod_set, count, g, &best);
    return true;
}

static bool requests_any(const struct kueue_pod_set *ps, const struct group *g)
{
    for (uint32_t r = 0; r < g->n_resources; r++)
        if (ps->requests[g->resources[r]] > 0) return true;
    return false;
}

static bool assign_pod_set(struct assigner *a, uint32_t pod_set, uint32_t count)
{
    const struct kueue_pod_set *ps = &a->shape->pod_sets[pod_set];
    uint32_t before = a->e->tried;
    for (uint32_t r = 0; r < a->k->options.n_resources; r++) {
        if (ps->requests[r] == 0 || (a->queue->covered >> r & 1)) continue;
        struct choice none = {0};
        lacks(a, &none, KUEUE_NO_RESOURCE, r, ps->requests[r] * (int64_t)count);
        a->e->lack = none.lack;
        return false;
    }
    for (uint32_t g = 0; g < a->queue->n_groups; g++) {
        if (!requests_any(ps, &a->queue->groups[g])) continue;
        if (assign_group(a, pod_set, count, g)) continue;
        a->e->tried = before; /* a pod set that fails forgets where its other groups stood */
        return false;
    }
    return true;
}

void flavor_assign(struct kueue *k, uint32_t workload, const uint32_t *counts, struct evaluation *e)
{
    const struct shape *s = &k->shapes.v[k->workloads.v[workload].shape];
    struct assigner a = {k, workload, s, &k->queues.v[s->queue], e};
    e->mode = MODE_FIT;
    e->borrow = 0;
    e->n_needs = e->tried = e->message = 0;
    e->lack = (struct lack){.flavor = UINT16_MAX, .resource = UINT16_MAX};
    e->assignment.n_uses = 0;
    e->assignment.uses = e->uses;
    memcpy(e->assignment.counts, counts, s->n_pod_sets * sizeof *counts);
    memset(e->assignment.flavors, KUEUE_NO_FLAVOR, s->n_pod_sets * k->options.n_resources);
    for (uint32_t i = 0; i < s->n_pod_sets; i++) {
        if (assign_pod_set(&a, i, counts[i])) continue;
        e->mode = MODE_NO_FIT;
        return;
    }
}
