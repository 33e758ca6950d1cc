/* compare_jobs.h - the jobs of two runs, matched by id; for study/, and what a job's time consists of.
 *
 *     struct job_matcher *m = job_matcher_create(arena, n_replications);
 *     job_matcher_add(m, k, base, other);           // once a replication
 *     job_matcher_end(m, pair);                     // fills jct, matches, teams, sooner, later; frees m
 *
 * Cost: O(jobs) a replication.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_COMPARE_JOBS_H
#define TRAINYARD_STUDY_COMPARE_JOBS_H

#include "study/compare.h"

struct job_matcher;
struct job_matcher *job_matcher_create(struct arena *, size_t n_replications);
void job_matcher_add(struct job_matcher *, size_t k, const struct run *base, const struct run *other);
void job_matcher_end(struct job_matcher *, struct compare_pair *);

/* Splits the completion time of a job that has ended into its parts, which add up to it exactly. */
void jct_split(const struct job_row *, int64_t parts[N_JCT_PARTS]);

#endif
