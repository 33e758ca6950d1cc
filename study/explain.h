/* explain.h - a run in words: where its GPU time went, how healthy it is (diagnose.h), why its jobs waited, the life of one job.
 *
 *     explain_run(run, &out);                           // needs ledger.csv and jobs.csv
 *     if (!explain_job(run, "tune-3", &out, &err)) ...  // no such job: err says so, with the nearest id; to free
 *
 * Who ended a wait is told by study/blocker.h, with the time between that release and the end of the wait.
 * Without a timeline (--record none) the sums of jobs.csv are told, without moments.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_EXPLAIN_H
#define TRAINYARD_STUDY_EXPLAIN_H

#include "base/str.h"
#include "run/run.h"

void explain_run(const struct run *, struct str *out);
bool explain_job(const struct run *, const char *id, struct str *out, char **err);

/* Row of a job, NULL: none; and what to say then (to free). */
const struct job_row *explain_row(const struct run *, const char *id);
char *explain_no_such_job(const struct run *, const char *id);

/* Names of numbers in records: stop reasons of job_evicted, states of nodes, faults. "?" for numbers out of range. */
const char *explain_stop_reason(unsigned code);
const char *explain_fault(unsigned code);

#endif
