/* batch.h - what the batch policies share: placing or reserving a whole job, its reason to wait, ordered lists.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_BATCH_H
#define TRAINYARD_SIM_QUEUE_BATCH_H

#include "sim/cluster/sim.h"

/* Jobs in order of submission (index), linked through job->policy and job->link: O(1) at the end and to remove. */
struct job_list { struct job *first, *last; size_t n; };
void job_list_insert(struct job_list *, struct job *);
void job_list_remove(struct job_list *, struct job *);

struct batch {
    bool asked;             /* a pass is pending */
    int64_t reserved;       /* shares admitted to jobs with pods as submitted, whether bound or not */
};

void batch_init(struct batch *);
/* Whether the job fits now. */
enum place_result batch_try(struct sim *, struct batch *, struct job *);
/* Places it (or reserves its shares) if it fits now; then batch_admit, which takes the allocation. */
enum place_result batch_place(struct sim *, struct batch *, struct job *, struct alloc *);
void batch_admit(struct sim *, struct job *, struct alloc *);
/* Both at once, for a job that fits. */
void batch_start(struct sim *, struct batch *, struct job *);
void batch_released(struct sim *, struct batch *, struct job *);
/* The wait reason that goes with a result; unsatisfiable when no state of the cluster could hold it. */
enum wait_reason batch_reason(struct sim *, struct batch *, struct job *, enum place_result);

#endif
