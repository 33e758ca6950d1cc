/* progress.h - when the steps of a run's jobs were done, from its timeline.
 *
 *     struct progress p;
 *     if (!progress_read(run, total_steps, n_jobs, &p, &err)) ...      // no timeline, or a damaged one; err: to free
 *     for (size_t i = 0; i < p.spans.n; i++) ... p.spans.v[i] ...        // by their ends
 *     progress_free(&p);
 *
 * A span is a time in which a job went from one whole step to another at one pace, on average: between two of its records that
 * name a step. With everything recorded (--record full) these are all changes of pace; with the records of jobs alone they
 * are starts, saves, roll-backs and the end (then `total_steps`, by number of the job, says how many they were; 0: not
 * known). Time that ranks wait for a link counts into the span in which it lies.
 *
 * Records that no run writes (back in time, steps below 0) are passed over.
 *
 * Cost: one pass over the timeline; 64 bytes a job, 48 a span.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_PROGRESS_H
#define TRAINYARD_STUDY_PROGRESS_H

#include "base/array.h"
#include "run/run.h"

struct progress_span {
    int32_t job;             /* its number */
    int64_t from_ns, to_ns;  /* from < to */
    int64_t first, last;     /* steps done at these moments */
    bool redone;             /* at least in part: the job had been farther than `first` */
};

struct progress { ARRAY(struct progress_span) spans; };

bool progress_read(const struct run *, const int64_t *total_steps, size_t n_jobs, struct progress *, char **err);
void progress_free(struct progress *);

#endif
