/* preempt.h - which workloads to evict for one that does not fit.
 *
 * Kueue's classical preemption (pkg/scheduler/preemption). Candidates, in this order:
 *   evicted ones first (they leave anyway), and among each half
 *     hierarchical  of queues above their quota, below a cohort in whose quota the request fits without borrowing there
 *     by priority   of other queues above their quota, as reclaimWithinCohort allows
 *     own           of the same queue, as withinClusterQueue allows
 *   and in each of these: lower priority, later reservation, smaller uid.
 * They are removed until the request fits; then, from the last but one back to the first, each is put back if the
 * request still fits. A candidate of another queue counts only while that queue and all cohorts below the common one
 * are above their quota. A candidate that may be taken only without borrowing (no borrowWithinCohort, or its priority
 * is not below the incoming one's or above the threshold) is left out while borrowing is allowed.
 * Borrowing and not borrowing are tried in the order that preempt_find's attempts state; the first set found wins.
 *
 * The quota is unchanged on return.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_KUEUE_PREEMPT_H
#define TRAINYARD_SIM_QUEUE_KUEUE_PREEMPT_H

#include "sim/queue/kueue/core.h"

/* Appends the victims to k->targets and gives their number. `uses`: the whole request; `needs`: the pairs that lack
 * quota (a victim must use one of them). */
uint32_t preempt_find(struct kueue *k, uint32_t workload, uint32_t n_uses, const struct quota_use *uses,
                      uint32_t n_needs, const struct quota_use *needs);

#endif
