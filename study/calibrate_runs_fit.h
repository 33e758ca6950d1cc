/* calibrate_runs_fit.h - a fit of constants under way: for the files of calibrate_runs.h only.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_CALIBRATE_RUNS_FIT_H
#define TRAINYARD_STUDY_CALIBRATE_RUNS_FIT_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/progress.h"
#include "study/calibrate_runs.h"

#define HELD     2.0 /* deviation of a logarithm from its default */
#define FARTHEST 7.0 /* a factor of 1,100 */

/* One measured duration, or one that only the simulated run has (0 then). */
struct target {
    size_t job;       /* over all runs */
    size_t source;
    unsigned quantity;
    double live_s;
    const char *key;
};

struct fitting {
    const struct calibrate_runs_plan *plan;
    struct live_source *sources;
    struct stack *stacks; /* as the scenarios have them */
    size_t n_sources, n_jobs;
    ARRAY(struct target) targets;
    struct arena arena;
    ARRAY(size_t) constants; /* those that are fitted, of stack.h */
    bool *kept;              /* [as constants] as the scenarios have it; NULL: none is */
    int half;                /* of the jobs that count: 0 or 1; -1: all */
    double difference;       /* of a logarithm, for slopes */
    char *dir, *error;
    double *scratch;         /* a simulated duration a target */
    struct progress progress;
    uint64_t simulated;
};

/* ---- calibrate_runs_fit.c ---- */
const char *fit_key(struct str *, const struct sample *); /* of a quantity, its number and its job, in one source */
bool fit_takes(unsigned quantity);
bool fit_interrupted(const struct fitting *);
int64_t fit_begin(const struct stack *, size_t constant);
bool fit_is_zero(const struct fitting *, size_t constant); /* in one of the runs' stacks */
bool fit_simulate(struct fitting *, size_t source, struct measures *);
bool fit_evaluate(struct fitting *, const double *x, double *out);
double fit_unit(const struct fitting *, const struct target *); /* of a residual, in seconds */
double fit_soft(double e);
int fit_residuals(const gsl_vector *x, void *fitting, gsl_vector *out);
int fit_slopes(const gsl_vector *x, void *fitting, gsl_matrix *out);
bool fit_minimise(struct fitting *, int half, double *x);
void fit_keep_better(struct fitting *, double *x, struct runs_calibration *);

/* ---- calibrate_runs_intervals.c ---- */
void fit_intervals(struct fitting *, const double *x, struct runs_calibration *);

#endif
