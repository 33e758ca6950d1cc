/* quota.h - quotas as Kueue's objects say them: flavors, cohorts, cluster queues, local queues, priority classes.
 *
 * A line's resource group is found by its resource: a resource is in one group of its queue.
 * Filled from the scenario's short form "queues" (one flavor a node group or GPU type, one resource nvidia.com/gpu) or
 * from the real YAML in "objects". Amounts are milli-units (1 GPU = 1,000), as Kubernetes' quantities.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_QUOTA_H
#define TRAINYARD_INPUT_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#define QUOTA_UNLIMITED INT64_MAX
enum queueing_strategy { BEST_EFFORT_FIFO, STRICT_FIFO };
enum preempt_within { WITHIN_NEVER, WITHIN_LOWER, WITHIN_LOWER_OR_NEWER_EQUAL };
enum preempt_reclaim { RECLAIM_NEVER, RECLAIM_LOWER, RECLAIM_ANY };
enum stop_policy { STOP_NONE, STOP_HOLD, STOP_HOLD_AND_DRAIN };

struct flavor_spec { const char *name; uint64_t groups; /* node groups whose labels its nodeLabels select */ };

/* One (flavor, resource) line of a resource group. Limits: QUOTA_UNLIMITED when absent. */
struct quota_line {
    uint16_t flavor, resource;
    int64_t nominal, borrowing_limit, lending_limit;
};
struct resource_group { uint16_t *resources; uint16_t n_resources; uint16_t *flavors; uint16_t n_flavors; };

struct cohort_spec {
    const char *name;
    uint16_t parent; /* NO_INDEX (0xffff): none */
    struct quota_line *lines; uint32_t n_lines;
};

struct cluster_queue_spec {
    const char *name;
    uint16_t cohort; /* 0xffff: none */
    enum queueing_strategy strategy;
    enum preempt_within within;
    enum preempt_reclaim reclaim;
    bool borrow_lower;               /* borrowWithinCohort.policy LowerPriority */
    bool has_threshold; int32_t max_priority_threshold;
    bool can_borrow_try_next;        /* flavorFungibility.whenCanBorrow TryNextFlavor */
    bool can_preempt_stop;           /* flavorFungibility.whenCanPreempt Preempt */
    bool prefer_preemption_over_borrowing;
    enum stop_policy stop;
    struct resource_group *groups; uint32_t n_groups;
    struct quota_line *lines; uint32_t n_lines;
    int64_t fair_weight_milli;
};

struct local_queue_spec {
    const char *name, *ns;
    uint16_t cluster_queue; /* 0xffff: it names a queue that does not exist; its jobs wait for ever, as in Kueue */
    enum stop_policy stop;
};
struct priority_class_spec { const char *name; int32_t value; };

struct quota_spec {
    const char **resources; uint32_t n_resources; /* "nvidia.com/gpu", "cpu", "memory", ... */
    struct flavor_spec *flavors; uint32_t n_flavors;
    struct cohort_spec *cohorts; uint32_t n_cohorts; /* parents before their children */
    struct cluster_queue_spec *queues; uint32_t n_queues;
    struct local_queue_spec *local; uint32_t n_local;
    struct priority_class_spec *priorities; uint32_t n_priorities;
};

#endif
