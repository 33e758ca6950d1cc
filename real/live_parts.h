/* live_parts.h - what live_run.c and live_groups.c share; nobody else's.
 *
 * A group is what a pod holds: GPUs of one node in one activity. Its time since `since_ns` is not booked yet, neither in
 * the job's sums nor, while it is lifted, in the ledger.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_LIVE_PARTS_H
#define TRAINYARD_REAL_LIVE_PARTS_H

#include "base/array.h"
#include "real/live_run.h"

struct live_group {
    uint64_t gpus; /* of the node, a bit each */
    int64_t shares, since_ns;
    uint32_t node, account;
    uint8_t activity, cause;
    bool held, lifted, aside; /* aside: takes no part in the steps */
};

struct live_job {
    const struct job_spec *spec;
    ARRAY(struct live_group) groups;
    ARRAY(struct node_interval) nodes; /* of the last allocation */
    struct wait_track wait;
    int64_t submit_ns, admitted_ns, allocated_ns, started_ns, finished_ns;
    int64_t step, high_step; /* steps finished: of this attempt's state, and at the most */
    share_ns work, redone, held, recovery, work_by[N_WORK_ACTIVITIES];
    uint32_t attempt, restarts, preemptions;
    uint8_t state, cause; /* enum job_state, enum cause of the present attempt */
    bool submitted, allocated, steps, told_steps, evicted;
};

struct live_run {
    const struct scenario *scenario;
    const struct job_spec *specs;
    struct job_spec *owned_specs;
    size_t n_jobs;
    struct live_job *jobs;
    struct run_writer *out;
    struct recorder *recorder;
    struct ledger *ledger;
    int64_t now_ns;
    uint64_t refused;
    uint16_t *free_shares;           /* of each GPU of each node */
    size_t *first_gpu;               /* of each node in free_shares */
    uint16_t *node_group;
    uint8_t *node_state;             /* enum activity: ACT_FREE, or of class down */
    int64_t *blocked, *fragmented;   /* pending demand by node group, in shares */
};

static inline int32_t live_index(const struct live_run *l, const struct live_job *j) { return (int32_t)(j - l->jobs); }
void live_groups_create(struct live_run *);
void live_groups_destroy(struct live_run *);
void live_record(struct live_run *, enum record_type, int32_t job, uint32_t subject, unsigned code, int64_t a, int64_t b);
/* The job's groups leave the ledger's clocks, and come back in `activity`. */
void live_lift(struct live_run *, struct live_job *);
void live_land(struct live_run *, struct live_job *, enum activity);
/* Books up to `ns` of `activity` of the time of lifted groups that is not booked yet. */
void live_book(struct live_run *, struct live_job *, enum activity, bool redone, int64_t ns);
/* Brings the sums of what is held up to now. */
void live_settle(struct live_run *, struct live_job *);
/* Moves what the job holds into the accounts of its present cause. */
void live_recause(struct live_run *, struct live_job *);
/* Nodes of all that it holds, as intervals. */
void live_nodes(struct live_job *);

#endif
