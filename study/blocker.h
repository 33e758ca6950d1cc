/* blocker.h - who let a job go on, or took its GPUs: the one rule, for what `explain` tells and for the links of the viewer.
 *
 *     struct blockers b = {0};
 *     while (timeline_next(t, &r)) {
 *         struct blocker by = blockers_take(&b, &r);
 *         if (by.job != NO_JOB) ...                       // this record of r.job is due to that job
 *     }
 *     blockers_free(&b);
 *
 * All records of a run are taken, in their order (their order counts at one instant, at which the simulator releases before it
 * requests). A record is due to
 *   the job that it names, if it is an eviction or the begin of a wait;
 *   else, if it ends a wait for what others hold, the job that let go of GPUs last since that wait began: that ended, stopped or was
 *   evicted, and had been given GPUs before. The two need not be cause and effect, so the release comes with its moment.
 * Waits for what others hold are those in a queue, for a dependency and for the rest of a gang; a retry of the scheduler does
 * not break them off. They end by an admission, an allocation, the first step, or a wait for what comes after these; that a job ends, is
 * suspended or loses its pods ends them by nobody's release.
 *
 * Numbers of jobs have to be such as can be (the caller knows how many there are). Cost: O(1) a record; 24 bytes a job.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_BLOCKER_H
#define TRAINYARD_STUDY_BLOCKER_H

#include "base/array.h"
#include "run/record.h"

struct blocker {
    int64_t time_ns; /* of the release; of the record itself, where that names the job */
    int32_t job;     /* NO_JOB: none known */
    uint16_t type;   /* of the record by which that job let go: REC_JOB_FINISHED, _STOPPED, _EVICTED; or of the record itself */
};

struct blocked {        /* a job */
    int64_t since_ns;   /* of the wait under way for what others hold; -1: there is none */
    uint64_t since : 63; /* records before that wait */
    uint64_t had_gpus : 1;
};

struct blocker_release {
    struct blocker by;
    uint64_t record; /* its place among the records */
};

struct blockers {
    ARRAY(struct blocked) jobs;           /* by number */
    struct blocker_release last, other;   /* the last release; the last one by another job than that one */
    uint64_t n_records;
};

struct blocker blockers_take(struct blockers *, const struct record *);
void blockers_free(struct blockers *);

#endif
