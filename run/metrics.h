/* metrics.h - the one table of metric names: summary, compare, SLO, --fail-if, --vary, CSV.
 *
 * A metric is a function of a set of job rows and the ledger of one run. wait = started - submit, jct = finished -
 * submit, slowdown = jct / max(ideal, 10 s) (bounded slowdown), admission = admitted - submit. Statistics are over jobs
 * submitted in [warm-up, horizon). Unfinished jobs enter quantiles as lower bounds (their value so far); a quantile that
 * falls on such a job is marked `bound`.
 *
 *   utilisation = work GPU-s / existing GPU-s; goodput = work that was not redone and belongs to jobs that finished or
 *   still run, over existing GPU-s; waste = held + redone + work of failed jobs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_METRICS_H
#define TRAINYARD_RUN_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "run/run.h"

enum metric_better { BETTER_LESS, BETTER_MORE, BETTER_NEITHER };

struct metric_value {
    double value; /* NAN: undefined for this run */
    bool bound;   /* a lower bound, since a job had not finished */
};

struct metric_info {
    const char *name, *unit, *help; /* unit: "s", "ratio", "GPU-h", "jobs", "1" */
    enum metric_better better;
};

size_t metric_count(void);
const struct metric_info *metric_at(size_t);
/* Index of a name, or -1. Names: mean_wait, p50_wait, p95_wait, p99_wait, max_wait, the same for jct, admission and
 * slowdown, makespan, finished, failed, unfinished, restarts, preemptions, utilisation, goodput, waste,
 * gpu_hours_work, gpu_hours_redone, gpu_hours_held, gpu_hours_idle, gpu_hours_down. */
int metric_find(const char *name);
struct metric_value metric_of(const struct run *, size_t index);

#endif
