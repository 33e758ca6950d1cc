/* timing.h - what Kueue's decisions cost in time, as measured.
 *
 * The decision library has no clock; whoever drives it charges these. Admission patches are sent by goroutines beside
 * the cycle, evictions and condition messages are calls that the cycle waits for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_KUEUE_TIMING_H
#define TRAINYARD_SIM_QUEUE_KUEUE_TIMING_H

#include <stdint.h>

#include "sim/queue/kueue/kueue.h"

struct kueue_timing {
    int64_t create_ns;    /* job created -> its Workload exists and is queued */
    int64_t cycle_ns;     /* a cycle that changes nothing in the API */
    int64_t admission_ns; /* each admission */
    int64_t eviction_ns;  /* each eviction issued */
    int64_t message_ns;   /* each head whose condition message is new */
    int64_t reserve_ns;   /* decision -> QuotaReserved is visible and the job is unsuspended */
    int64_t release_ns;   /* evicted -> quota released and requeued; a pod's grace period does not hold it */
    int64_t complete_ns;  /* all pods succeeded -> Job Complete: the Job controller batches pod updates for 1 s */
    int64_t finish_ns;    /* Job Complete -> Workload Finished, quota free */
    int64_t batch_ns;     /* quota freed -> parked workloads are active again */
    uint32_t client_qps, client_burst; /* of Kueue's API client, shared by all the calls above */
};

/* Kueue 0.17.0 as recorded on two shared cores (recorded/kueue/measure.json and the plays):
 *   create     a created workload is evaluated 0.03-0.07 s later
 *   release    preempt_within_queue: evicted -> released 0.175 s (StrictFIFO 0.29), preemptor's QuotaReserved 0.05 on
 *   complete   next-besteffort: pods succeeded -> Complete 0.77 s after short runs, else 1.05; -> Finished 0.03
 *   batch      next-besteffort: Finished -> next QuotaReserved 1.06
 *   message    case 3 without hashing: 100 blocked heads with new messages take 3.1 s, unchanged ones about a third
 *   admission  drain-qps1000: 94/s with a client that does not limit */
static const struct kueue_timing kueue_timing_recorded = {
    .create_ns = 60000000,
    .cycle_ns = 10000000,
    .admission_ns = 10600000,
    .eviction_ns = 20000000,
    .message_ns = 20000000,
    .reserve_ns = 30000000,
    .release_ns = 180000000,
    .complete_ns = 1050000000,
    .finish_ns = 30000000,
    .batch_ns = 1000000000,
    .client_qps = 50,
    .client_burst = 100,
};

/* Upstream's performance baseline (KQ test/performance/scheduler/configs/baseline/rangespec.yaml): 15,000 workloads in
 * 351 s are 23.4 ms an admission, all other costs included; the other two set-ups give 23.6 and 26.7. */
static const struct kueue_timing kueue_timing_published = {
    .create_ns = 60000000,
    .cycle_ns = 1000000,
    .admission_ns = 22400000,
    .eviction_ns = 20000000,
    .message_ns = 20000000,
    .reserve_ns = 30000000,
    .release_ns = 180000000,
    .complete_ns = 1050000000,
    .finish_ns = 30000000,
    .batch_ns = 1000000000,
    .client_qps = 300,
    .client_burst = 500,
};

/* How long the scheduler is busy with a cycle. */
static inline int64_t kueue_cycle_ns(const struct kueue_timing *t, const struct kueue_cycle *c)
{
    return t->cycle_ns + t->admission_ns * c->admitted + t->eviction_ns * c->evicted + t->message_ns * c->new_messages;
}

#endif
