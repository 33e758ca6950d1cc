/* cycle.h - one scheduling cycle.
 *
 * 1. nominate: each head gets an assignment and, if it must preempt, its victims, all on the state before the cycle;
 * 2. order: less borrowing, higher priority (gate), older, smaller uid;
 * 3. process in that order on the state that the earlier ones leave: what is preempted in this cycle counts as gone,
 *    and what preempts or reserves counts as there until the end of the cycle;
 * 4. requeue: a head that was not admitted stays (StrictFIFO; or it preempts, lost to an earlier one, or has flavors
 *    left to try) or is parked.
 * Kueue's pkg/scheduler/scheduler.go `schedule`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_KUEUE_CYCLE_H
#define TRAINYARD_SIM_QUEUE_KUEUE_CYCLE_H

#include "sim/queue/kueue/core.h"

void cycle_run(struct kueue *k, int64_t now_ns);

/* Marks a workload that holds quota as evicted and reports it in `outcomes`. */
struct kueue_outcome workload_evict(struct kueue *k, uint32_t workload, enum kueue_reason reason, uint32_t by,
                                    int64_t now_ns);

#endif
