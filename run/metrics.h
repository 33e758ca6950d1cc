/* metrics.h - the one table of metric names: summary, compare, SLO, --fail-if, --vary, CSV.
 *
 * A metric is a function of a set of job rows and the ledger of one run. Statistics are over jobs submitted in
 * [warm-up, horizon); sums over the ledger are over the whole run.
 *
 *   wait = started - submit, admission = admitted - submit, jct = finished - submit,
 *   slowdown = max(1, jct / max(ideal, 10 s)): bounded slowdown (Feitelson and Rudolph, JSSPP 1998, tau = 10 s).
 *   p50, p95, p99: linear interpolation between order statistics at (n - 1) p (Hyndman and Fan 1996, type 7; numpy's
 *   and R's default). mean of times: exact sum / n.
 *   utilisation = work GPU-s (redone or not) / existing GPU-s, where absent and unobserved shares do not exist;
 *   waste = (held + redone + work of jobs that failed or were cancelled) / existing;
 *   goodput = work that is neither redone nor of such a job / existing. goodput + waste + idle + down = 1.
 *
 * Lower bounds: a job that has not started (been admitted, ended) by the end of the run counts with its value so far; a
 * job cancelled before it started with its wait until then. A statistic is marked `bound` when such a value is at or
 * below it in order, since the true one may then be larger; the mean and the maximum when there is any. Rejected jobs
 * have no times. A job without a value (no ideal, no admission layer) is left out of that statistic.
 *
 *     struct metrics *m = metrics_create(warmup_ns, horizon_ns);
 *     metrics_job(m, &row); ... metrics_cell(m, ACT_COMPUTE, false, sum); ...
 *     metrics_end(m, end_ns);
 *     struct metric_value v = metrics_value(m, (size_t)metric_find("p95_wait"));
 *
 * `metric_of` is the same for a run that was read. Subsets (a team, a kind) are a `struct metrics` of their own.
 * Cost: O(1) a job and 32 bytes; metrics_end O(n) expected (selection, no sort).
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
/* Index of a name, or -1. Names: mean_wait, p50_wait, p95_wait, p99_wait, max_wait, the same for admission, jct and
 * slowdown, makespan, jobs, finished (succeeded), failed, rejected, cancelled, unfinished, restarts, preemptions,
 * utilisation, goodput, waste, gpu_hours_work (not redone), gpu_hours_redone, gpu_hours_held, gpu_hours_idle,
 * gpu_hours_down. */
int metric_find(const char *name);
struct metric_value metric_of(const struct run *, size_t index);
/* An order statistic (p50, p95, p99, max): skewed over replications where means are not. */
bool metric_is_quantile(size_t index);

struct metrics;
/* horizon_ns -1: open. */
struct metrics *metrics_create(int64_t warmup_ns, int64_t horizon_ns);
void metrics_job(struct metrics *, const struct job_row *);
void metrics_cell(struct metrics *, enum activity, bool redone, share_ns);
/* Computes all; no more jobs or cells after it. */
void metrics_end(struct metrics *, int64_t end_ns);
struct metric_value metrics_value(const struct metrics *, size_t index);
void metrics_destroy(struct metrics *);

#endif
