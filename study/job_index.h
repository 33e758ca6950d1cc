/* job_index.h - which row of jobs.csv a job number of timeline.bin is.
 *
 * Records name a job by its number in order of submission, jobs.csv by its id. Both hold the moments of its life, so that
 * is what matches them: submission, GPUs, first admission, allocation and step, end. Jobs that agree in all of these are
 * taken in their order in both files.
 *
 *     struct job_index x;
 *     if (!job_index_read(run, &x, &err)) ...          // no timeline, or a damaged one: err says so; to free
 *     const struct job_row *row = job_index_row(&x, record.job);    // NULL: no such row
 *     int32_t number = job_index_find(&x, "tune-3");                // NO_JOB: none
 *     job_index_free(&x);
 *
 * Cost: one pass over the timeline; 100 bytes a job while reading, 8 after.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_JOB_INDEX_H
#define TRAINYARD_STUDY_JOB_INDEX_H

#include "run/run.h"

struct job_index {
    const struct job_row **rows; /* by number */
    size_t n;
};

/* What both files say of a job; -1: did not happen. For those who have read the timeline themselves. */
struct job_moments {
    int64_t submit, shares, admitted, allocated, started, finished;
};

bool job_index_read(const struct run *, struct job_index *, char **err);
void job_index_match(const struct run *, const struct job_moments *, size_t n, struct job_index *);
const struct job_row *job_index_row(const struct job_index *, int32_t number);
int32_t job_index_find(const struct job_index *, const char *id);
void job_index_free(struct job_index *);

/* Id of a row; buf of >= 24 bytes is used for numbers. "-" for NULL. */
const char *job_row_id(const struct job_row *, char buf[24]);

#endif
