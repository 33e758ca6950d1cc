/* calibrate_runs.h - from live runs to the constants of the stacks that make the simulator repeat them.
 *
 *     struct runs_calibration c;
 *     struct calibrate_runs_plan p = {.dirs = dirs, .n = 2, .jitter_ns = 10000000, .level = 0.95};
 *     if (!calibrate_runs(&p, &c, diag, &err)) ...      // errors in diag (exit 3), or err (to free; exit 4)
 *     runs_calibration_text(&c, &out); runs_calibration_profile(&c, "mine", &json);
 *     runs_calibration_free(&c);
 *
 * Each live run holds its scenario. The scenario is simulated again and again, and the constants are moved until the
 * simulated durations are the measured ones: no formula of a phase is needed, what the simulator models is what is fitted.
 *
 *   samples     measures.h, of a job each: admission, readmission, allocation, start, restart, save, the waits by reason; not
 *               run and step, which are the work and not the stack; of jobs that had not ended at the horizon no waits
 *   residual    soft((sim - live) / (jitter + 5 % of live)), soft as in calibrate_collective.h with f = 1, so that a
 *               few odd ones do not pull; a sample of one of the two only counts as 0 s in the other
 *   constants   the service times and rates of the machine (enum below); settings such as time-outs and periods are known
 *               from the flags and stay. Those whose doubling changes no sample are not read by these runs and stay. One that
 *               is 0 in a run's stack is left out unless it is named; then its fit begins at a second, and 0 is kept unless
 *               a fit without it has less misfit
 *   minimum     Levenberg-Marquardt on the logarithms (GSL, multifit_nlinear), slopes over 10, 3 and 1 %, each constant held
 *               to its default (of 0: to a second) with a deviation of a factor e^2, which counts as much as one sample that is one unit off
 *   worse       no result has more misfit than the scenarios' constants: these are kept then
 *   interval    percentiles of a bootstrap over jobs of the problem made linear at the minimum (the phases of one job
 *               hang together and overlap, so jobs are drawn and not samples), and no narrower than samples that
 *               are one unit off each would make it
 *   held out    jobs are dealt into two halves by turns; each half is predicted by the constants fitted to the other
 *
 * A constant is `determined` when its interval spans less than a factor of 2. Two that move the samples alike (correlation
 * over 0.95) cannot be told apart: `twin` names the other. All fitted ones go into the profile, as they were fitted together;
 * its source names those that are worth nothing by themselves.
 * Beside these, straight from the live runs: step times by job with their parts, checkpoints (time = latency + bytes of
 * all of it over bandwidth, least squares), failures a rank-hour with their exact Poisson interval.
 *
 * A run whose timeline is damaged, and runs without any duration, are bad input.
 *
 * Cost: (constants + 1) x about 100 simulations of each scenario, in files of a temporary directory; as much again for each
 * named constant that is 0, and once more for them all.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_CALIBRATE_RUNS_H
#define TRAINYARD_STUDY_CALIBRATE_RUNS_H

#include "base/array.h"
#include "base/diag.h"
#include "base/progress.h"
#include "base/str.h"
#include "input/stack.h"
#include "study/measures.h"

struct calibrate_runs_plan {
    const char *const *dirs;  /* of live runs, n >= 1 */
    size_t n;
    int64_t jitter_ns;
    double level;             /* of the intervals: 0.95 */
    const char *const *only;  /* names of constants; NULL: all service times */
    size_t n_only;
    const struct progress_sink *progress;
    const volatile int *interrupt;
};

struct fitted_constant {
    size_t constant;          /* of stack.h */
    int64_t base, value;      /* in its unit there */
    int64_t begin;            /* where its fit begins: base, or of 0 a second */
    double low, high;         /* likewise */
    bool kept;                /* at its base, as no other value has less misfit; low and high are it too, and tell nothing */
    unsigned moves;           /* the quantity that it moves most */
    bool determined;
    size_t twin;              /* another one's place in the list, or SIZE_MAX */
};

struct held_out_error { /* median |sim - live| / live over the samples of a quantity, predicted by the other half */
    unsigned quantity;
    size_t n;
    double before, after; /* with the scenario's constants; with the fitted ones */
};

struct measured_steps { char *job; int64_t steps; double step_s, compute_s, communication_s, data_s; };
/* Of those whose size is known; then medians of all, and of loads (a job's whole time for them over its starts but the first). */
struct measured_saves { size_t n; double latency_s, latency_low, latency_high, bytes_per_s, low, high; size_t n_all, n_loads; double save_s, load_s; };
struct measured_failures { size_t n; double rank_hours, rate, low, high; }; /* a rank-hour */

struct runs_calibration {
    ARRAY(struct fitted_constant) constants;
    ARRAY(struct held_out_error) errors;
    ARRAY(struct measured_steps) steps;
    struct stack stack;                /* of the runs: what they have in common, else the defaults */
    struct measured_saves saves;       /* n 0: none whose size is known */
    struct measured_failures failures;
    size_t n_runs, n_jobs, n_samples, not_read;
    size_t left_zero; /* constants that these runs read, are 0 in their stacks and were not named: they stay */
    double level, cost_before, cost_after; /* sums of squared residuals */
    char *source;                          /* what was fitted to */
    struct str warnings;                   /* of the runs: what is damaged or missing, whole lines */
};

bool calibrate_runs(const struct calibrate_runs_plan *, struct runs_calibration *, struct diag *, char **err);
void runs_calibration_text(const struct runs_calibration *, struct str *);
void runs_calibration_json(const struct runs_calibration *, struct str *);
void runs_calibration_csv(const struct runs_calibration *, struct str *);
/* A stack profile, as a scenario's "stack" takes it: the stack of the runs with the fitted constants, and where from. */
void runs_calibration_profile(const struct runs_calibration *, const char *name, struct str *);
void runs_calibration_free(struct runs_calibration *);

/* ---- calibrate_runs_direct.c ---- */
struct live_source { struct measures measures; struct scenario *scenario; };
void calibrate_runs_direct(const struct live_source *, size_t n, double level, struct runs_calibration *);

#endif
