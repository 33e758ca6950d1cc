/* calibrate_runs_intervals.c - how sure the fitted constants are, and which cannot be told apart.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/engine/stream.h"
#include "study/calibrate_runs_fit.h"

#define ALIKE 0.95
#define DETERMINED 2.0
enum { DRAWS = 400, STREAM_KEY = 20261130 };

/* Normal equations of each job at the minimum: a (p x p) and b (p), in a row of p * (p + 1) numbers a job. */
static double *job_equations(const struct fitting *f, const gsl_matrix *slope, const gsl_vector *r)
{
    size_t p = f->constants.n;
    double *all = xcalloc(f->n_jobs * p * (p + 1) + 1, sizeof *all);
    for (size_t i = 0; i < f->targets.n; i++) {
        double *e = &all[f->targets.v[i].job * p * (p + 1)];
        for (size_t a = 0; a < p; a++) {
            double s = gsl_matrix_get(slope, i, a);
            for (size_t b = 0; s != 0 && b < p; b++) e[a * p + b] += s * gsl_matrix_get(slope, i, b);
            e[p * p + a] -= s * gsl_vector_get(r, i);
        }
    }
    return all;
}

/* Step from x when job j counts times[j] times; false when that has no solution. The normal matrix is left in `a`. */
static bool solve_drawn(const struct fitting *f, const double *equations, const unsigned *times, const double *x,
                        gsl_matrix *a, gsl_vector *step)
{
    size_t p = f->constants.n;
    gsl_matrix_set_zero(a);
    for (size_t i = 0; i < p; i++) {
        gsl_matrix_set(a, i, i, 1 / (HELD * HELD));
        gsl_vector_set(step, i, -x[i] / (HELD * HELD));
    }
    for (size_t j = 0; j < f->n_jobs; j++) {
        const double *e = &equations[j * p * (p + 1)];
        for (size_t k = 0; times[j] && k < p * p; k++) a->data[k / p * a->tda + k % p] += times[j] * e[k];
        for (size_t k = 0; times[j] && k < p; k++) step->data[k * step->stride] += times[j] * e[p * p + k];
    }
    return gsl_linalg_cholesky_decomp1(a) == GSL_SUCCESS && gsl_linalg_cholesky_svx(a, step) == GSL_SUCCESS;
}

static void draw_jobs(gsl_rng *rng, size_t n, unsigned *times)
{
    memset(times, 0, n * sizeof *times);
    for (size_t i = 0; i < n; i++) times[gsl_rng_uniform_int(rng, n)]++;
}

/* Percentiles of the drawn steps from the minimum; `draws` has DRAWS numbers a constant, n of them in use. */
static void set_intervals(struct runs_calibration *c, double level, double *draws, size_t n, const double *x)
{
    for (size_t p = 0; p < c->constants.n; p++) {
        struct fitted_constant *k = &c->constants.v[p];
        gsl_sort(&draws[p * DRAWS], 1, n);
        double low = n ? gsl_stats_quantile_from_sorted_data(&draws[p * DRAWS], 1, n, (1 - level) / 2) : -FARTHEST;
        double high = n ? gsl_stats_quantile_from_sorted_data(&draws[p * DRAWS], 1, n, (1 + level) / 2) : FARTHEST;
        k->value = k->kept ? k->base : llround((double)k->begin * exp(x[p]));
        k->low = k->kept ? (double)k->base : (double)k->begin * exp(x[p] + low);
        k->high = k->kept ? (double)k->base : (double)k->begin * exp(x[p] + high);
    }
}

/* Few jobs tell little of how jobs differ: no interval is narrower than that of samples which are one unit off each. A
 * duration is in two samples, a phase and a wait, hence the root of 2. */
static void widen(struct runs_calibration *c, const gsl_matrix *covariance, double level, const double *x)
{
    double z = M_SQRT2 * gsl_cdf_ugaussian_Pinv((1 + level) / 2);
    for (size_t p = 0; p < c->constants.n; p++) {
        struct fitted_constant *k = &c->constants.v[p];
        double by = z * sqrt(gsl_matrix_get(covariance, p, p));
        if (k->kept) continue;
        k->low = fmin(k->low, (double)k->begin * exp(x[p] - by));
        k->high = fmax(k->high, (double)k->begin * exp(x[p] + by));
        k->determined = k->high < DETERMINED * k->low;
    }
}

static void find_twins(struct runs_calibration *c, const gsl_matrix *covariance)
{
    for (size_t a = 0; a < c->constants.n; a++) {
        double most = ALIKE;
        for (size_t b = 0; b < c->constants.n; b++) {
            double scale = sqrt(gsl_matrix_get(covariance, a, a) * gsl_matrix_get(covariance, b, b));
            double r = fabs(gsl_matrix_get(covariance, a, b)) / scale;
            if (a == b || r <= most) continue;
            most = r;
            c->constants.v[a].twin = b;
        }
        if (c->constants.v[a].twin != SIZE_MAX) c->constants.v[a].determined = false;
    }
}

static void all_once(unsigned *times, size_t n)
{
    for (size_t i = 0; i < n; i++) times[i] = 1;
}

void fit_intervals(struct fitting *f, const double *x, struct runs_calibration *c)
{
    size_t p = f->constants.n, n = f->targets.n + p, drawn = 0;
    gsl_matrix *slope = gsl_matrix_alloc(n, p), *a = gsl_matrix_alloc(p, p);
    gsl_vector *r = gsl_vector_alloc(n), *step = gsl_vector_alloc(p);
    gsl_vector_view at = gsl_vector_view_array((double *)(uintptr_t)x, p);
    double *draws = xcalloc(p * DRAWS, sizeof *draws);
    unsigned *times = xcalloc(f->n_jobs + 1, sizeof *times);
    if (fit_slopes(&at.vector, f, slope) == GSL_SUCCESS && fit_residuals(&at.vector, f, r) == GSL_SUCCESS) {
        double *equations = job_equations(f, slope, r);
        gsl_rng *rng = stream_gsl(stream_make(STREAM_KEY, 0, STREAM_STATISTICS, 0));
        for (int i = 0; i < DRAWS; i++) {
            draw_jobs(rng, f->n_jobs, times);
            if (!solve_drawn(f, equations, times, x, a, step)) continue;
            for (size_t k = 0; k < p; k++) draws[k * DRAWS + drawn] = gsl_vector_get(step, k);
            drawn++;
        }
        gsl_rng_free(rng);
        set_intervals(c, f->plan->level, draws, drawn, x);
        all_once(times, f->n_jobs);
        if (solve_drawn(f, equations, times, x, a, step) && gsl_linalg_cholesky_invert(a) == GSL_SUCCESS) {
            widen(c, a, f->plan->level, x);
            find_twins(c, a);
        }
        free(equations);
    }
    free(times);
    free(draws);
    gsl_vector_free(step);
    gsl_vector_free(r);
    gsl_matrix_free(a);
    gsl_matrix_free(slope);
}
