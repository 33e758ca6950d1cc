/* core.h - the state behind struct kueue, shared by its files only.
 *
 * A *shape* is all that decides a workload's fate except its age: queue, priority, pod sets. Workloads of a shape wait
 * in a pairing heap of their own (oldest first); a queue keeps a binary heap of the shapes with an active workload.
 * So parking a shape, and bringing everything parked back, costs shapes and not workloads.
 *
 * A *tree* is a root cohort with all below it, or a queue without a cohort: trees do not affect each other. A tree is
 * live while it is dirty (something happened since its last cycle that changed anything) and has a queue with a head.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_KUEUE_CORE_H
#define TRAINYARD_SIM_QUEUE_KUEUE_CORE_H

#include "base/array.h"
#include "base/hmap.h"
#include "sim/queue/kueue/kueue.h"
#include "sim/queue/kueue/quota.h"

#define KUEUE_MAX_USES  (KUEUE_MAX_POD_SETS * KUEUE_MAX_RESOURCES)
#define KUEUE_NO_FLAVOR UINT8_MAX
#define KUEUE_TRIED     8  /* (pod set, group) pairs whose next flavor is remembered, ... */
#define KUEUE_TRIED_MAX 15 /* ... up to this flavor of the group; beyond it the search begins anew */

enum workload_state { WORKLOAD_FREE, WORKLOAD_PENDING, WORKLOAD_ADMITTED, WORKLOAD_EVICTED };

struct workload {
    uint64_t uid, owner;
    int64_t created_ns;
    int64_t order_ns;    /* the queue's order: creation, or the eviction */
    int64_t reserved_ns; /* of the last admission */
    uint32_t shape;
    uint32_t child, next, prev; /* pending: pairing heap; admitted, evicted: next and prev of the priority's list */
    uint32_t tried;             /* nibbles: the flavor with which the next search of a (pod set, group) begins */
    uint32_t tried_generation;  /* the queue's generation then */
    uint32_t message;           /* hash of the last condition message */
    uint16_t assignment;        /* of the shape's; valid while it holds quota */
    uint8_t state, reason;
    bool victim; /* within a cycle: an earlier head evicts it */
};

/* What a workload holds: interned per shape, since few differ. */
struct assignment {
    uint32_t n_uses;
    struct quota_use *uses;
    uint32_t counts[KUEUE_MAX_POD_SETS];
    uint8_t flavors[KUEUE_MAX_USES]; /* pod set x resource */
};

/* A head within a cycle. */
struct entry {
    uint32_t workload, queue;
    uint8_t mode, borrow;
    uint16_t assignment;
    uint32_t first_target, n_targets;
    enum kueue_reason reason;
    uint16_t flavor, resource;
    int64_t short_by;
    uint32_t message, tried;
};

struct shape {
    uint32_t queue;
    int32_t priority;
    uint32_t n_pod_sets;
    struct kueue_pod_set *pod_sets;
    uint32_t reducible; /* the pod set with a minimum, or KUEUE_NONE */
    uint32_t active, parked;
    uint32_t heap_at; /* in the queue's heap of shapes, or KUEUE_NONE */
    bool all_parked;  /* equivalence hashing: what is in `active` waits too */
    bool listed;      /* in the queue's list of shapes with parked workloads */
    ARRAY(struct assignment *) assignments;
    bool refused_once;
    struct entry refused;   /* what its last head was told, when that depends on quotas alone, ... */
    uint64_t refused_state; /* ... and in which state of the quotas (quota_state) */
};

struct group {
    uint32_t n_resources, n_flavors;
    uint16_t resources[KUEUE_MAX_RESOURCES];
    uint16_t flavors[KUEUE_MAX_FLAVORS];
};

struct bucket {
    int32_t priority;
    uint32_t first; /* the last one admitted */
};

struct cluster_queue {
    struct kueue_queue_config config; /* .groups is NULL here */
    uint32_t node, tree;
    uint32_t n_groups;
    struct group *groups;
    uint64_t covered;              /* resources in a group */
    ARRAY(uint32_t) heap;          /* shapes with an active workload */
    ARRAY(uint32_t) with_parked;   /* shapes that un-parking must look at */
    ARRAY(struct bucket) admitted; /* by priority, lowest first */
    uint32_t sticky;               /* the preempting head of a BestEffortFIFO queue */
    uint32_t generation;           /* grows when quota may have become free (AllocatableResourceGeneration) */
    uint32_t ready_at;             /* in the tree's list of queues with a head, or KUEUE_NONE */
    uint32_t n_pending, n_admitted;
    bool listed; /* in the tree's list of queues with parked workloads */
};

struct tree {
    ARRAY(uint32_t) queues;
    ARRAY(uint32_t) ready;       /* queues that have a head and run */
    ARRAY(uint32_t) with_parked; /* queues that un-parking must look at */
    uint32_t live_at;            /* in the list of live trees, or KUEUE_NONE */
    bool dirty, retry_armed;
    uint8_t quiet; /* cycles in a row that changed no more than tree_moved_on tells */
};

struct retry {
    uint32_t tree;
    int64_t due_ns;
};

struct target {
    uint32_t workload;
    enum kueue_reason reason;
};

struct candidate {
    uint32_t workload;
    uint32_t lca; /* the lowest cohort above both queues */
    uint8_t rank; /* evicted or not, then hierarchical, by priority, own queue */
    uint8_t variant;
};

struct held_use { /* usage added for the rest of the cycle */
    uint32_t node;
    struct quota_use use;
};

struct kueue {
    struct kueue_options options;
    uint32_t n_frs;
    struct quota quota;
    ARRAY(uint32_t) cohorts;    /* cohort -> node */
    ARRAY(uint32_t) node_queue; /* node -> queue, KUEUE_NONE for a cohort */
    ARRAY(uint32_t) node_tree;  /* root node -> tree */
    ARRAY(struct cluster_queue) queues;
    ARRAY(struct tree) trees;
    ARRAY(struct shape) shapes;
    struct hmap shape_ids;      /* hash -> newest shape of that hash + 1 */
    ARRAY(uint32_t) shape_next; /* the next of the same hash + 1 */
    ARRAY(struct workload) workloads;
    ARRAY(uint32_t) free_workloads;
    ARRAY(uint32_t) live;        /* trees for the next cycle */
    ARRAY(struct retry) retries; /* in order of time, from retry_first */
    size_t retry_first;

    /* scratch of a cycle */
    ARRAY(struct entry) entries;
    ARRAY(struct target) targets;
    ARRAY(struct candidate) candidates;
    ARRAY(struct held_use) held;
    ARRAY(uint32_t) victims, changed_trees, moved_on_trees;
    ARRAY(struct kueue_outcome) outcomes, drained_outcomes;
    struct kueue_cycle cycle, drained;
};

static inline uint16_t kueue_fr(const struct kueue *k, uint32_t flavor, uint32_t resource)
{
    return (uint16_t)(flavor * k->options.n_resources + resource);
}

static inline const struct assignment *workload_assignment(const struct kueue *k, const struct workload *w)
{
    return k->shapes.v[w->shape].assignments.v[w->assignment];
}

/* Times are kept as Kubernetes does, in whole grains. */
static inline int64_t kueue_grain(const struct kueue *k, int64_t ns)
{
    int64_t rest = ns % k->options.time_grain_ns;
    return ns - (rest < 0 ? rest + k->options.time_grain_ns : rest);
}

static inline uint32_t kueue_mix(uint32_t h, uint64_t v)
{
    uint64_t x = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(x ^ (x >> 32));
}

/* Takes a workload's usage out of the quota, or puts it back (kueue.c). */
void workload_remove_usage(struct kueue *k, uint32_t workload);
void workload_add_usage(struct kueue *k, uint32_t workload);

/* The assignment's index in the shape, added when new (kueue.c). */
uint16_t shape_intern(struct shape *s, const struct assignment *a, uint32_t n_resources);

#endif
