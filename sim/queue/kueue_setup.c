/* kueue_setup.c - the quotas of a scenario as Kueue's library takes them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/kueue_setup.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static enum kueue_preemption within(enum preempt_within p)
{
    static const enum kueue_preemption to[] = {KUEUE_PREEMPT_NEVER, KUEUE_PREEMPT_LOWER_PRIORITY,
                                               KUEUE_PREEMPT_LOWER_OR_NEWER_EQUAL};
    return to[p];
}

static enum kueue_preemption reclaim(enum preempt_reclaim p)
{
    static const enum kueue_preemption to[] = {KUEUE_PREEMPT_NEVER, KUEUE_PREEMPT_LOWER_PRIORITY, KUEUE_PREEMPT_ANY};
    return to[p];
}

static struct kueue_quota quota_of(const struct quota_line *l)
{
    return (struct kueue_quota){l->nominal, l->borrowing_limit, l->lending_limit};
}

static const struct quota_line *line_of(const struct cluster_queue_spec *q, uint16_t flavor, uint16_t resource)
{
    for (uint32_t i = 0; i < q->n_lines; i++)
        if (q->lines[i].flavor == flavor && q->lines[i].resource == resource) return &q->lines[i];
    return NULL;
}

static void fill_group(const struct cluster_queue_spec *q, const struct resource_group *g, struct kueue_group *out,
                       struct kueue_flavor_quotas *flavors)
{
    *out = (struct kueue_group){.n_resources = g->n_resources, .n_flavors = g->n_flavors, .flavors = flavors};
    for (uint16_t r = 0; r < g->n_resources; r++) out->resources[r] = g->resources[r];
    for (uint16_t f = 0; f < g->n_flavors; f++) {
        flavors[f] = (struct kueue_flavor_quotas){.flavor = g->flavors[f]};
        for (uint16_t r = 0; r < g->n_resources; r++) {
            const struct quota_line *l = line_of(q, g->flavors[f], g->resources[r]);
            flavors[f].quotas[r] = l ? quota_of(l) : (struct kueue_quota){0, KUEUE_UNLIMITED, KUEUE_UNLIMITED};
        }
    }
}

/* Creates the queue, or replaces its quotas (`id`). The first flavor's first quota may be another than the scenario's. */
void kueue_setup_queue(struct kueue *k, const struct quota_spec *spec, const struct cluster_queue_spec *q, uint32_t id,
                      int64_t nominal, int64_t now_ns)
{
    struct kueue_group *groups = xcalloc(q->n_groups + 1, sizeof *groups);
    struct kueue_flavor_quotas *flavors = xcalloc((size_t)q->n_groups * spec->n_flavors + 1, sizeof *flavors);
    for (uint32_t g = 0; g < q->n_groups; g++) fill_group(q, &q->groups[g], &groups[g], &flavors[g * spec->n_flavors]);
    if (nominal >= 0 && q->n_groups && q->groups[0].n_flavors) flavors[0].quotas[0].nominal = nominal;
    struct kueue_queue_config config = {
        .cohort = q->cohort == NO_INDEX ? KUEUE_NONE : q->cohort,
        .strategy = q->strategy == STRICT_FIFO ? KUEUE_STRICT_FIFO : KUEUE_BEST_EFFORT_FIFO,
        .within_queue = within(q->within),
        .reclaim_within_cohort = reclaim(q->reclaim),
        .borrow_within_cohort = q->borrow_lower,
        .has_priority_threshold = q->has_threshold,
        .max_priority_threshold = q->max_priority_threshold,
        .when_can_borrow = q->can_borrow_try_next ? KUEUE_TRY_NEXT_FLAVOR : KUEUE_MAY_STOP_SEARCH,
        .when_can_preempt = q->can_preempt_stop ? KUEUE_MAY_STOP_SEARCH : KUEUE_TRY_NEXT_FLAVOR,
        .preference = q->prefer_preemption_over_borrowing ? KUEUE_PREEMPTION_OVER_BORROWING : KUEUE_BORROWING_OVER_PREEMPTION,
        .stop = (enum kueue_stop)q->stop,
        .n_groups = q->n_groups,
        .groups = groups,
    };
    if (id == KUEUE_NONE) kueue_add_queue(k, &config);
    else kueue_update_queue(k, id, &config, now_ns);
    free(groups);
    free(flavors);
}

/* Parents have to be there before their children. */
void kueue_setup_cohorts(struct kueue *k, const struct quota_spec *spec)
{
    for (uint32_t i = 0; i < spec->n_cohorts; i++) {
        const struct cohort_spec *c = &spec->cohorts[i];
        assert(c->parent == NO_INDEX || c->parent < i);
        uint32_t id = kueue_add_cohort(k, c->parent == NO_INDEX ? KUEUE_NONE : c->parent);
        for (uint32_t l = 0; l < c->n_lines; l++)
            kueue_set_cohort_quota(k, id, c->lines[l].flavor, c->lines[l].resource, quota_of(&c->lines[l]), 0);
    }
}

/* A job names a local queue, or the cluster queue itself (the short form). */
uint32_t kueue_find_queue(const struct quota_spec *spec, const char *name)
{
    for (uint32_t i = 0; i < spec->n_local; i++)
        if (!strcmp(spec->local[i].name, name)) return spec->local[i].cluster_queue;
    for (uint32_t i = 0; i < spec->n_queues; i++)
        if (!strcmp(spec->queues[i].name, name)) return i;
    return KUEUE_NONE;
}
