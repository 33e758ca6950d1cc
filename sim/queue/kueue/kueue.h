/* kueue.h - Kueue's admission decisions as a library: quotas, cohorts, flavors, preemption, queue order.
 *
 * A pure decision library: no clock, no I/O, no random numbers. The caller says what happened and when; the library
 * says which workloads are admitted with which flavors, which are evicted for whom, and why the others wait. What these
 * decisions cost in time is the caller's business (timing.h has the measured constants).
 *
 *     struct kueue *k = kueue_create(&(struct kueue_options){ .n_flavors = 1, .n_resources = 1,
 *                                                             .priority_sorting = true });
 *     uint32_t lab = kueue_add_cohort(k, KUEUE_NONE);
 *     struct kueue_flavor_quotas h100 = { .flavor = 0, .quotas = { { 64, KUEUE_UNLIMITED, KUEUE_UNLIMITED } } };
 *     struct kueue_group gpus = { .n_resources = 1, .resources = { 0 }, .n_flavors = 1, .flavors = &h100 };
 *     uint32_t q = kueue_add_queue(k, &(struct kueue_queue_config){ .cohort = lab, .n_groups = 1, .groups = &gpus });
 *
 *     struct kueue_pod_set eight = { .count = 1, .flavors = ~0ull, .requests = { 8 } };
 *     uint32_t shape = kueue_shape(k, q, 0, 1, &eight);             // once per distinct request
 *     uint32_t w = kueue_submit(k, shape, uid, now, owner);         // the workload is created
 *     while (kueue_ready(k)) {                                      // a cycle would change something
 *         const struct kueue_cycle *c = kueue_run_cycle(k, now);
 *         for (size_t i = 0; i < c->n; i++) act_on(&c->outcomes[i]);
 *     }
 *     kueue_finish(k, w, now);                                      // quota is free, the id is dead
 *     at kueue_next_retry(k):  kueue_retry(k, now);                 // parked workloads come back, in 1 s batches
 *
 * Life of a workload: pending (active or parked) -> admitted -> [evicted -> kueue_release -> pending] -> finished. An
 * evicted workload keeps its quota until the caller says kueue_release (its pods are stopped and the quota is free).
 *
 * The rules, with their source in Kueue (kubernetes-sigs/kueue; recordings are of 0.17.0):
 *   cycle    one head a queue; flavors are assigned to each head on the state before the cycle; heads are then taken
 *            in the order less borrowing, higher priority (gate PrioritySortingWithinCohort), older, and admitted,
 *            made to preempt, or skipped when an earlier one took the room          pkg/scheduler/scheduler.go
 *   reserve  a head that needs preemption and has no victim keeps its capacity for the rest of the cycle, unless its
 *            queue may always reclaim (reclaimWithinCohort Any)                      same
 *   flavors  fit, preempt or no fit a flavor; fungibility; borrowing level           pkg/scheduler/flavorassigner
 *   victims  already evicted first, other queues before the own, lower priority, later reservation, uid; removed
 *            greedily until it fits, then given back in reverse                      pkg/scheduler/preemption
 *   queues   StrictFIFO keeps its head; BestEffortFIFO parks it until quota is freed in its cohort tree, and keeps a
 *            preempting head in front; with equivalence hashing a head that cannot be admitted parks its whole shape
 *                                                                                    pkg/cache/queue
 *   quota    usage above a node's guaranteed part (its subtree's quota less the lending limit) bubbles up to the
 *            parent                                                       pkg/cache/scheduler/resource_node.go
 *   partial  a pod set with a minimum is cut down by bisection when neither the full size nor preemption for it works
 *                                                                                    flavorassigner/podset_reducer.go
 * Not here yet, each an addition: fair sharing (another order of heads and of victims), topology (another test beside
 * the quota), waitForPodsReady, admission checks.
 *
 * Quantities are int64 in any unit per resource (milli-GPU, milli-CPU, bytes). Times are int64 ns since any epoch.
 * Kubernetes keeps creation, reservation and eviction times in whole seconds; .time_grain_ns says so, and ties go to
 * the smaller uid. Ids are small integers; a workload's id is used again after kueue_finish.
 * Errors: none at run time; the caller gives checked input (assert guards the rest).
 * Cost: a cycle is O(heads in cohort trees where something happened since their last cycle); a head is O(flavors x
 * depth of the cohort tree), O(log n) to take it from its queue; un-parking is O(shapes); preemption is O(c log c) in
 * the workloads that may be victims. A tree in which a cycle changed nothing is not looked at again before an event.
 * Memory: about 80 bytes a workload, pending or admitted; 48 bytes a quota cell (node x flavor x resource).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_KUEUE_KUEUE_H
#define TRAINYARD_SIM_QUEUE_KUEUE_KUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KUEUE_NONE          UINT32_MAX
#define KUEUE_UNLIMITED     INT64_MAX /* no borrowing limit; no lending limit */
#define KUEUE_NEVER         INT64_MAX /* kueue_next_retry: nothing is parked that waits for a batch */
#define KUEUE_MAX_RESOURCES 8
#define KUEUE_MAX_FLAVORS   64
#define KUEUE_MAX_POD_SETS  18 /* Kueue's own limit */

enum kueue_strategy { KUEUE_BEST_EFFORT_FIFO, KUEUE_STRICT_FIFO };

/* withinClusterQueue takes the first three, reclaimWithinCohort NEVER, LOWER_PRIORITY and ANY. */
enum kueue_preemption {
    KUEUE_PREEMPT_NEVER,
    KUEUE_PREEMPT_LOWER_PRIORITY,
    KUEUE_PREEMPT_LOWER_OR_NEWER_EQUAL,
    KUEUE_PREEMPT_ANY,
};

/* flavorFungibility: what to do with a flavor that fits only by borrowing, or only by preempting. */
enum kueue_fungibility { KUEUE_MAY_STOP_SEARCH, KUEUE_TRY_NEXT_FLAVOR };
enum kueue_preference { KUEUE_BORROWING_OVER_PREEMPTION, KUEUE_PREEMPTION_OVER_BORROWING };

enum kueue_stop { KUEUE_RUN, KUEUE_HOLD, KUEUE_HOLD_AND_DRAIN };

struct kueue_quota {
    int64_t nominal;
    int64_t borrowing_limit; /* KUEUE_UNLIMITED: none */
    int64_t lending_limit;   /* KUEUE_UNLIMITED: all may be lent */
};

struct kueue_flavor_quotas {
    uint16_t flavor;
    struct kueue_quota quotas[KUEUE_MAX_RESOURCES]; /* one a resource of the group, in the group's order */
};

/* A resource group: all its resources take the same flavor, the first in order that will do. */
struct kueue_group {
    uint16_t n_resources, n_flavors;
    uint16_t resources[KUEUE_MAX_RESOURCES];
    const struct kueue_flavor_quotas *flavors; /* read during the call only */
};

struct kueue_queue_config {
    uint32_t cohort; /* or KUEUE_NONE */
    enum kueue_strategy strategy;
    enum kueue_preemption within_queue;
    enum kueue_preemption reclaim_within_cohort;
    bool borrow_within_cohort;   /* borrowWithinCohort.policy LowerPriority */
    bool has_priority_threshold; /* borrowWithinCohort.maxPriorityThreshold is set */
    int32_t max_priority_threshold;
    enum kueue_fungibility when_can_borrow, when_can_preempt; /* Kueue's defaults: MAY_STOP_SEARCH, TRY_NEXT_FLAVOR */
    enum kueue_preference preference;
    enum kueue_stop stop;
    uint32_t n_groups;
    const struct kueue_group *groups; /* read during the call only */
};

struct kueue_options {
    uint32_t n_flavors, n_resources; /* flavors and resources are numbered by the caller from 0 */
    bool priority_sorting;           /* gate PrioritySortingWithinCohort, on in every release */
    bool equivalence_hashing;        /* gate SchedulingEquivalenceHashing, on since 0.18 */
    bool partial_admission;          /* gate PartialAdmission, on since 0.5 */
    int64_t time_grain_ns;           /* 0: one second */
    int64_t retry_batch_ns;          /* 0: one second */
};

struct kueue_pod_set {
    uint32_t count;
    uint32_t min_count;                    /* 0: all or nothing; at most one pod set of a workload has a minimum */
    uint64_t flavors;                      /* bit f: node selector, affinity and tolerations allow flavor f */
    int64_t requests[KUEUE_MAX_RESOURCES]; /* one pod's, by resource */
};

struct kueue *kueue_create(const struct kueue_options *options);
void kueue_destroy(struct kueue *k);

/* ---- cohorts and queues. Their ids count from 0, each kind for itself. ---- */

uint32_t kueue_add_cohort(struct kueue *k, uint32_t parent);
void kueue_set_cohort_quota(struct kueue *k, uint32_t cohort, uint16_t flavor, uint16_t resource,
                            struct kueue_quota quota, int64_t now_ns);
uint32_t kueue_add_queue(struct kueue *k, const struct kueue_queue_config *config);

/* Replaces quotas and policies; the cohort stays. Shapes and workloads stay, and admitted ones keep their flavors. */
void kueue_update_queue(struct kueue *k, uint32_t queue, const struct kueue_queue_config *config, int64_t now_ns);

/* RUN makes all parked workloads active at once. HOLD_AND_DRAIN evicts what is admitted: see kueue_drained. */
void kueue_set_stop(struct kueue *k, uint32_t queue, enum kueue_stop stop, int64_t now_ns);

/* ---- workloads ---- */

/* The id of the shape with these properties in this queue; new when it has not been seen. */
uint32_t kueue_shape(struct kueue *k, uint32_t queue, int32_t priority, uint32_t n_pod_sets,
                     const struct kueue_pod_set *pod_sets);

uint32_t kueue_submit(struct kueue *k, uint32_t shape, uint64_t uid, int64_t created_ns, uint64_t owner);

/* Succeeded, failed or deleted, in any state. Frees quota and id. */
void kueue_finish(struct kueue *k, uint32_t workload, int64_t now_ns);

/* The evicted workload has let go of its quota. It is pending again, and active at once. */
void kueue_release(struct kueue *k, uint32_t workload, int64_t now_ns);

/* ---- cycles ---- */

enum kueue_outcome_kind { KUEUE_ADMIT, KUEUE_EVICT, KUEUE_BLOCK };

enum kueue_reason {
    KUEUE_OK,
    /* of an eviction: Kueue's reasons of the condition Preempted, then those of other evictions */
    KUEUE_IN_CLUSTER_QUEUE,
    KUEUE_IN_COHORT_RECLAMATION,
    KUEUE_IN_COHORT_RECLAIM_WHILE_BORROWING,
    KUEUE_QUEUE_STOPPED,
    /* of a wait */
    KUEUE_WAITS_ORDER,         /* not looked at: behind its queue's head */
    KUEUE_WAITS_STOPPED,       /* the queue is on hold */
    KUEUE_NO_RESOURCE,         /* no group of the queue covers a requested resource */
    KUEUE_NO_MATCHING_FLAVOR,  /* node selector or taints exclude every flavor */
    KUEUE_EXCEEDS_MAXIMUM,     /* more than the queue can ever get: never admitted */
    KUEUE_WAITS_FOR_QUOTA,     /* quota is used and may not be taken back */
    KUEUE_NO_VICTIMS,          /* preemption is allowed but frees too little */
    KUEUE_PENDING_PREEMPTION,  /* victims are leaving */
    KUEUE_NO_LONGER_FITS,      /* an earlier head of the same cycle took the room */
    KUEUE_OVERLAPPING_VICTIMS, /* an earlier head of the same cycle evicts the same victims */
    KUEUE_REASONS,
};

struct kueue_outcome {
    enum kueue_outcome_kind kind;
    enum kueue_reason reason;
    uint32_t workload;
    uint32_t by;      /* EVICT: the workload that it makes room for, or KUEUE_NONE */
    uint64_t owner;   /* as given to kueue_submit */
    bool new_message; /* BLOCK: Kueue writes a new condition message (a call to the API server) */
    bool parked;      /* BLOCK: waits for a batch, not for the next cycle */
    uint8_t borrow;   /* ADMIT: 0 within nominal, else the height of the subtree it borrows from */
    uint16_t flavor;  /* BLOCK for quota: where it lacks most, ... */
    uint16_t resource;
    int64_t short_by; /* ... and by how much */
};

struct kueue_cycle {
    size_t n;
    const struct kueue_outcome *outcomes; /* in the order in which Kueue handles them; good until the next cycle */
    uint32_t heads, admitted, evicted, blocked, new_messages;
};

/* True when a cycle would do more than repeat the last one. */
bool kueue_ready(const struct kueue *k);
const struct kueue_cycle *kueue_run_cycle(struct kueue *k, int64_t now_ns);

/* The next batch in which parked workloads become active; KUEUE_NEVER without one. kueue_retry runs those due. */
int64_t kueue_next_retry(const struct kueue *k);
void kueue_retry(struct kueue *k, int64_t now_ns);

/* What kueue_set_stop(HOLD_AND_DRAIN) evicted; good until the next cycle. */
const struct kueue_cycle *kueue_drained(const struct kueue *k);

/* ---- looking ---- */

const char *kueue_reason_name(enum kueue_reason reason);

/* Why a pending workload waits: the last outcome, or ORDER, STOPPED, HOLD. KUEUE_OK when it is not pending. O(1). */
enum kueue_reason kueue_wait_reason(const struct kueue *k, uint32_t workload);

bool kueue_is_admitted(const struct kueue *k, uint32_t workload); /* holds quota and is not evicted */
uint32_t kueue_pods(const struct kueue *k, uint32_t workload, uint32_t pod_set);
/* The flavor of a resource of an admitted or evicted workload's pod set; UINT16_MAX when the pod set requests none. */
uint16_t kueue_flavor(const struct kueue *k, uint32_t workload, uint32_t pod_set, uint16_t resource);

uint32_t kueue_pending(const struct kueue *k, uint32_t queue);
int64_t kueue_usage(const struct kueue *k, uint32_t queue, uint16_t flavor, uint16_t resource);
int64_t kueue_available(const struct kueue *k, uint32_t queue, uint16_t flavor, uint16_t resource);

/* A hash over quota, usage, and the state, order and reservation of workloads (for tests of simulate and undo). */
uint64_t kueue_state_hash(const struct kueue *k);

#endif
