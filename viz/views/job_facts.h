/* job_facts.h - what one job went through, gathered from its tracks and events: waits, attempts, marks, places.
 *
 *     struct job_facts f;
 *     job_facts_make(&f, scene, job);
 *     for (size_t i = 0; i < f.waits.n; i++) f.waits.v[i] ...
 *     job_facts_free(&f);
 *
 * Waits are in order of time, neighbours of one reason joined; of a time in a queue the longest has the blocker that ended it all. An attempt lasts from an admission, or from what comes first after the
 * attempt before, until its ranks stop for good: crash, eviction, end; a restart in place begins a new one. Moments that did not come are -1. Marks are single moments. Places are the nodes whose GPUs it held, of runs with GPU tracks.
 *
 * Cost: O(its events and spans); places: a pass over the GPU tracks within its life. Memory is the facts' own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_JOB_FACTS_H
#define TRAINYARD_VIZ_VIEWS_JOB_FACTS_H

#include "base/array.h"
#include "viz/model/scene.h"

struct job_wait {
    int64_t from_ns, to_ns;
    enum wait_reason reason;
    int32_t blocker; /* who let go of what it waited for, -1: not known */
};

struct job_attempt {
    unsigned cause;  /* enum cause */
    int64_t admitted_ns, allocated_ns, started_ns, stopped_ns;
    int64_t from_step, to_step, kept_step; /* where it began, how far it came, what was kept of that; -1: not told */
    unsigned ended;  /* enum record_type that ended it; N_RECORD_TYPES: it goes on */
    unsigned code;   /* of that record */
    int32_t by;      /* the preempting job, -1 */
};

enum job_mark_kind { MARK_FAILURE, MARK_EVICTED, MARK_CHECKPOINT, MARK_ROLLBACK, N_JOB_MARKS };
extern const char *const job_mark_names[N_JOB_MARKS];
struct job_mark {
    int64_t at_ns;
    enum job_mark_kind kind;
    uint32_t event; /* of scene.events */
};

struct job_place {
    uint32_t node, gpus, gpu; /* gpu: a track of it that was held first */
    int64_t from_ns, to_ns;
};

struct job_facts {
    const struct scene *scene;
    int32_t number;
    const struct scene_job *job;
    int64_t from_ns, to_ns; /* submission to end, or so far */
    ARRAY(struct job_wait) waits;
    ARRAY(struct job_attempt) attempts;
    ARRAY(struct job_mark) marks;
    ARRAY(struct job_place) places;
    int64_t wait_ns[N_WAIT_REASONS]; /* of jobs.csv; of a job that has not ended: of its track */
};

void job_facts_make(struct job_facts *, const struct scene *, int32_t job);
void job_facts_free(struct job_facts *);

/* First begin of step to end; -1 while it is not known. */
int64_t job_ran_ns(const struct scene *, const struct scene_job *);
int64_t job_waited_ns(const struct scene *, const struct scene_job *); /* submission to first step */

#endif
