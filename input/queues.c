/* queues.c - "queues", "cohorts" and "priorities": the short form of Kueue's objects.
 *
 * A queue of the short form is a ClusterQueue and a LocalQueue of the same name. Its flavors are the node groups or GPU
 * types that its quota names; all resources lie in one resource group, flavors in the order of the quota, as one pod set
 * takes one flavor for all of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <string.h>

#include "input/quota_build.h"
#include "input/raw.h"

/* v1beta2 says MayStopSearch for both Borrow and Preempt. */
static const char *const borrow_policies[2] = { "Never", "LowerPriority" };
static const char *const when_borrow_words[3] = { "Borrow", "TryNextFlavor", "MayStopSearch" };
static const char *const when_preempt_words[3] = { "TryNextFlavor", "Preempt", "MayStopSearch" };
static const char *const preference_words[2] = { "BorrowingOverPreemption", "PreemptionOverBorrowing" };

static const struct field borrow_fields[] = {
    FIELD(raw_borrow_within, policy, "policy", TYPE_WORD, WORDS(borrow_policies), .fallback = "Never",
          .help = "whether to preempt in the cohort while borrowing"),
    FIELD(raw_borrow_within, threshold, "maxPriorityThreshold", TYPE_INT, .min = INT32_MIN, .max = INT32_MAX,
          .help = "only victims up to this priority"),
};
static const struct object_type borrow_type =
    OBJECT(raw_borrow_within, borrow_fields, "borrowWithinCohort", "Preemption in the cohort while borrowing.");

static const struct field preemption_fields[] = {
    FIELD(raw_preemption, within, "withinClusterQueue", TYPE_WORD, WORDS(preempt_within_names), .fallback = "Never",
          .help = "whom in its own queue a workload may preempt"),
    FIELD(raw_preemption, reclaim, "reclaimWithinCohort", TYPE_WORD, WORDS(preempt_reclaim_names), .fallback = "Never",
          .help = "whom in the cohort it may preempt to get its queue's nominal quota back"),
    FIELD(raw_preemption, borrow, "borrowWithinCohort", TYPE_OBJECT, .sub = &borrow_type, .always = true,
          .help = "preemption in the cohort while borrowing"),
};
const struct object_type preemption_type =
    OBJECT(raw_preemption, preemption_fields, "preemption", "Kueue's preemption policies.");

static const struct field fungibility_fields[] = {
    FIELD(raw_fungibility, can_borrow, "whenCanBorrow", TYPE_WORD, WORDS(when_borrow_words), .fallback = "Borrow",
          .help = "with a flavor that fits by borrowing: take it, or try the next"),
    FIELD(raw_fungibility, can_preempt, "whenCanPreempt", TYPE_WORD, WORDS(when_preempt_words),
          .fallback = "TryNextFlavor", .help = "with a flavor that fits by preempting: try the next, or take it"),
    FIELD(raw_fungibility, preference, "preference", TYPE_WORD, WORDS(preference_words),
          .fallback = "BorrowingOverPreemption", .help = "which is better when no flavor fits as it is"),
};
const struct object_type fungibility_type =
    OBJECT(raw_fungibility, fungibility_fields, "flavorFungibility", "How Kueue goes through the flavors.");

static const struct field queue_fields[] = {
    FIELD(raw_queue, name, "name", TYPE_STRING, .required = true, .help = "as jobs name it"),
    FIELD(raw_queue, quota, "quota", TYPE_QUOTA, .required = true,
          .help = "nominal quota by flavor (a node group or GPU type): GPUs, or amounts by resource"),
    FIELD(raw_queue, cohort, "cohort", TYPE_STRING, .help = "queues of a cohort lend each other what they do not use"),
    FIELD(raw_queue, borrowing, "borrowing", TYPE_QUOTA, .help = "borrowing limit; absent: unlimited"),
    FIELD(raw_queue, lending, "lending", TYPE_QUOTA, .help = "lending limit; absent: all may be lent"),
    FIELD(raw_queue, strategy, "strategy", TYPE_WORD, WORDS(queueing_strategy_names), .fallback = "BestEffortFIFO",
          .help = "whether a head that does not fit blocks those behind it"),
    FIELD(raw_queue, preemption, "preemption", TYPE_OBJECT, .sub = &preemption_type, .always = true,
          .help = "who may be preempted"),
    FIELD(raw_queue, fungibility, "flavorFungibility", TYPE_OBJECT, .sub = &fungibility_type, .always = true,
          .help = "how flavors are tried"),
    FIELD(raw_queue, stop, "stopPolicy", TYPE_WORD, WORDS(stop_policy_names), .fallback = "None",
          .help = "whether it admits at all"),
    FIELD(raw_queue, weight, "weight", TYPE_NUMBER, .fallback = "1", .help = "for fair sharing"),
};
const struct object_type queue_type = OBJECT(raw_queue, queue_fields, "queue", "A queue with its quota.");

static const struct field cohort_fields[] = {
    FIELD(raw_cohort, name, "name", TYPE_STRING, .required = true, .help = "as queues name it"),
    FIELD(raw_cohort, parent, "parent", TYPE_STRING, .help = "the cohort above"),
    FIELD(raw_cohort, quota, "quota", TYPE_QUOTA, .help = "quota of the cohort itself, for all its queues"),
    FIELD(raw_cohort, borrowing, "borrowing", TYPE_QUOTA, .help = "what the subtree may borrow from above"),
    FIELD(raw_cohort, lending, "lending", TYPE_QUOTA, .help = "what the subtree may lend to others"),
};
const struct object_type cohort_type = OBJECT(raw_cohort, cohort_fields, "cohort", "A node of the tree of cohorts.");

static const struct field priority_fields[] = {
    FIELD(raw_priority, value, "value", TYPE_INT, .min = INT32_MIN, .max = INT32_MAX, .required = true,
          .help = "higher goes first"),
};
const struct object_type priority_type =
    OBJECT(raw_priority, priority_fields, "priority class", "A priority by name.", .shorthand = "value");

/* ---- building ---- */

void queue_policies(struct cluster_queue_spec *q, const struct raw_preemption *p, const struct raw_fungibility *f)
{
    q->within = (enum preempt_within)p->within;
    q->reclaim = (enum preempt_reclaim)p->reclaim;
    q->borrow_lower = p->borrow->policy == 1;
    q->has_threshold = p->borrow->threshold != ABSENT;
    q->max_priority_threshold = q->has_threshold ? (int32_t)p->borrow->threshold : 0;
    q->can_borrow_try_next = f->can_borrow == 1;
    q->can_preempt_stop = f->can_preempt != 0;
    q->prefer_preemption_over_borrowing = f->preference == 1;
}

static uint16_t short_flavor(struct build *b, struct quota_builder *qb, const struct quota_item *item)
{
    uint16_t known = quota_find_flavor(qb, item->flavor);
    if (known != NO_INDEX) return known;
    const struct cluster_spec *c = &b->s->cluster;
    uint64_t groups = groups_named(c, item->flavor);
    if (!groups) {
        const char *names[128];
        size_t n = 0;
        for (uint32_t i = 0; i < c->n_groups; i++) {
            names[n++] = c->groups[i].name;
            if (c->groups[i].gpu[0]) names[n++] = c->groups[i].gpu;
        }
        name_error(b->diag, item->at, "node group or GPU type", item->flavor, names, n);
        return NO_INDEX;
    }
    return quota_add_flavor(qb, item->flavor, groups);
}

/* A bare amount in a quota is of the only flavor; in limits it stands for all flavors of the queue. */
static void add_nominal(struct build *b, struct quota_builder *qb, struct quota_lines *lines, struct list quota)
{
    for (size_t i = 0; i < quota.n; i++) {
        struct quota_item item = LIST_AT(quota, struct quota_item, i);
        const struct cluster_spec *c = &b->s->cluster;
        if (!item.flavor[0] && c->n_groups == 1) {
            item.flavor = c->groups[0].name;
            LIST_AT(quota, struct quota_item, i).flavor = item.flavor;
        }
        if (!item.flavor[0]) {
            value_error(b->diag, item.at, "of which flavor? The cluster has %u node groups; write { \"%s\": ... }",
                        c->n_groups, c->n_groups ? c->groups[0].name : "group");
            continue;
        }
        uint16_t flavor = short_flavor(b, qb, &item);
        if (flavor == NO_INDEX) continue;
        struct quota_line *line = quota_line_at(lines, flavor, quota_resource(qb, item.resource), true);
        line->nominal = item.milli;
    }
}

static void add_limit(struct build *b, struct quota_builder *qb, struct quota_lines *lines, struct list limits, bool lend)
{
    for (size_t i = 0; i < limits.n; i++) {
        const struct quota_item *item = &LIST_AT(limits, struct quota_item, i);
        uint16_t resource = quota_resource(qb, item->resource);
        uint16_t flavor = item->flavor[0] ? quota_find_flavor(qb, item->flavor) : NO_INDEX;
        bool found = false;
        for (size_t k = 0; k < lines->n; k++) {
            struct quota_line *line = &lines->v[k];
            if (line->resource != resource || (item->flavor[0] && line->flavor != flavor)) continue;
            *(lend ? &line->lending_limit : &line->borrowing_limit) = item->milli;
            found = true;
        }
        if (!found)
            value_error(b->diag, item->at, "a limit for %s%s%s, of which the queue has no quota",
                        item->resource, item->flavor[0] ? " of " : "", item->flavor);
    }
}

static void build_queue(struct build *b, struct quota_builder *qb, const struct raw_queue *raw)
{
    if (!raw->name) return;
    struct cluster_queue_spec *q = quota_add_queue(qb, raw->name, raw->at);
    struct quota_lines lines = { 0 };
    if (!q) return;
    q->cohort = raw->cohort ? quota_cohort(qb, raw->cohort) : NO_INDEX;
    q->strategy = (enum queueing_strategy)raw->strategy;
    q->stop = (enum stop_policy)raw->stop;
    q->fair_weight_milli = (int64_t)(raw->weight * 1000 + 0.5);
    queue_policies(q, raw->preemption, raw->fungibility);
    add_nominal(b, qb, &lines, raw->quota);
    add_limit(b, qb, &lines, raw->borrowing, false);
    add_limit(b, qb, &lines, raw->lending, true);
    if (lines.n == 0) value_error(b->diag, place_of(raw->at, "quota"), "the queue has no quota for anything");
    quota_one_group(qb, q, &lines);
    quota_add_local(qb, raw->name, "default", raw->name, STOP_NONE, raw->at);
}

static void build_cohort(struct build *b, struct quota_builder *qb, const struct raw_cohort *raw)
{
    if (!raw->name) return;
    struct cohort_spec *c = quota_define_cohort(qb, raw->name, raw->parent, raw->at);
    struct quota_lines lines = { 0 };
    add_nominal(b, qb, &lines, raw->quota);
    add_limit(b, qb, &lines, raw->borrowing, false);
    add_limit(b, qb, &lines, raw->lending, true);
    if (c) quota_take_lines(qb, &lines, &c->lines, &c->n_lines);
}

void build_quota(struct build *b, struct object_set *objects)
{
    const struct raw_scenario *raw = b->raw;
    struct quota_builder *qb = quota_begin(b);
    for (size_t i = 0; i < raw->priorities.n; i++) {
        const struct map_entry *e = &LIST_AT(raw->priorities, struct map_entry, i);
        const struct raw_priority *p = e->object;
        quota_add_priority(qb, e->key, p->value == ABSENT ? 0 : (int32_t)p->value, e->at);
    }
    for (size_t i = 0; i < raw->cohorts.n; i++)
        build_cohort(b, qb, &LIST_AT(raw->cohorts, struct raw_cohort, i));
    for (size_t i = 0; i < raw->queues.n; i++) build_queue(b, qb, &LIST_AT(raw->queues, struct raw_queue, i));
    objects_quota(b, objects, qb);
    quota_end(qb, &b->s->quota);
}
