/* wait_check.h - what records tell of waits, by reason, held against jobs.csv; part of run_check.
 *
 *     struct wait_check *c = wait_check_create(n_jobs);
 *     for (each record) wait_check_record(c, &r);
 *     const int64_t *sums = wait_check_sums(c, job, end_ns);     // N_WAIT_REASONS, up to the job's end or that of the run
 *     wait_check_destroy(c);
 *
 * A job waits for the reason of its last record of a wait, or, where that says so, for what its class waits for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_WAIT_CHECK_H
#define TRAINYARD_TESTS_SUPPORT_WAIT_CHECK_H

#include <stddef.h>

#include "run/record.h"
#include "run/states.h"

struct wait_check;
struct wait_check *wait_check_create(size_t n_jobs);
void wait_check_record(struct wait_check *, const struct record *);
const int64_t *wait_check_sums(struct wait_check *, size_t job, int64_t end_ns);
void wait_check_destroy(struct wait_check *);

#endif
