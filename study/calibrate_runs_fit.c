/* calibrate_runs_fit.c - simulated durations by constants, and the constants of the least misfit.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/calibrate_runs_fit.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hmap.h"
#include "base/mem.h"
#include "base/units.h"
#include "input/scenario.h"
#include "sim/simulate.h"
#include "study/job_index.h"

#define RELATIVE 0.05 /* of a measured duration: counts as one unit of residual */
enum { ITERATIONS = 15 };

/* ---- one evaluation ---- */

const char *fit_key(struct str *s, const struct sample *x)
{
    char buf[24];
    str_clear(s);
    str_printf(s, "%u %u %s", x->quantity, x->k, job_row_id(x->job, buf));
    return str_text(s);
}

bool fit_takes(unsigned quantity) { return quantity != Q_RUN && quantity != Q_STEP; }

static void read_into(struct fitting *f, size_t source, const struct measures *m, double *out)
{
    struct hmap at = {0};
    struct str key = {0};
    uint64_t i;
    for (size_t k = 0; k < m->n; k++)
        if (fit_takes(m->samples[k].quantity)) hmap_put_str(&at, fit_key(&key, &m->samples[k]), k);
    for (size_t t = 0; t < f->targets.n; t++) {
        if (f->targets.v[t].source != source) continue;
        out[t] = hmap_get_str(&at, f->targets.v[t].key, &i) ? (double)m->samples[i].ns / 1e9 : 0;
    }
    str_free(&key);
    hmap_free(&at);
}

bool fit_simulate(struct fitting *f, size_t source, struct measures *m)
{
    struct sim_result r;
    struct sim_options o = {.dir = f->dir, .record_level = RECORD_JOBS, .force = true, .scratch = true,
                            .interrupt = f->plan->interrupt};
    bool ok = sim_run(f->sources[source].scenario, &o, &r);
    if (!ok) f->error = xstrdup(r.error ? r.error : "a simulation failed");
    sim_result_free(&r);
    progress_update(&f->progress, ++f->simulated);
    return ok && measures_read(f->dir, m, &f->error);
}

bool fit_interrupted(const struct fitting *f) { return f->plan->interrupt && *f->plan->interrupt; }

/* Where a constant's fit begins; of one that is 0, which has no logarithm, a second. */
int64_t fit_begin(const struct stack *stack, size_t constant)
{
    int64_t value = stack_get(stack, constant);
    return value > 0 ? value : NS_PER_S;
}

/* The simulated durations of all targets with constants moved by factors e^x. */
bool fit_evaluate(struct fitting *f, const double *x, double *out)
{
    for (size_t s = 0; s < f->n_sources; s++) {
        struct measures m;
        struct stack *stack = &f->sources[s].scenario->approach.stack;
        *stack = f->stacks[s];
        for (size_t p = 0; p < f->constants.n; p++) {
            if (f->kept && f->kept[p]) continue;
            double was = (double)fit_begin(stack, f->constants.v[p]);
            int64_t now = llround(was * exp(fmax(-FARTHEST, fmin(FARTHEST, x[p]))));
            stack_put(stack, f->constants.v[p], now < 1 ? 1 : now);
        }
        if (f->error || fit_interrupted(f) || !fit_simulate(f, s, &m)) return false;
        read_into(f, s, &m, out);
        measures_free(&m);
    }
    return true;
}

/* ---- residuals ---- */

double fit_unit(const struct fitting *f, const struct target *t)
{
    return (double)f->plan->jitter_ns / 1e9 + RELATIVE * t->live_s;
}

double fit_soft(double e)
{
    return copysign(sqrt(2 * (sqrt(1 + e * e) - 1)), e);
}

static bool counts(const struct fitting *f, const struct target *t)
{
    return f->half < 0 || (int)(t->job % 2) == f->half;
}

static void residuals_at(const struct fitting *f, const double *x, const double *sim, gsl_vector *out)
{
    size_t n = f->targets.n;
    for (size_t i = 0; i < n; i++) {
        const struct target *t = &f->targets.v[i];
        gsl_vector_set(out, i, counts(f, t) ? fit_soft((sim[i] - t->live_s) / fit_unit(f, t)) : 0);
    }
    for (size_t p = 0; p < f->constants.n; p++) gsl_vector_set(out, n + p, x[p] / HELD);
}

int fit_residuals(const gsl_vector *x, void *params, gsl_vector *out)
{
    struct fitting *f = params;
    if (!fit_evaluate(f, x->data, f->scratch)) return GSL_EFAILED;
    residuals_at(f, x->data, f->scratch, out);
    return GSL_SUCCESS;
}

/* Forward differences over more than a little: what happens at whole polls and cycles has no slope over less. */
int fit_slopes(const gsl_vector *x, void *params, gsl_matrix *out)
{
    struct fitting *f = params;
    size_t n = f->targets.n + f->constants.n;
    gsl_vector *at = gsl_vector_alloc(x->size), *r0 = gsl_vector_alloc(n), *r1 = gsl_vector_alloc(n);
    gsl_vector_memcpy(at, x);
    int status = fit_residuals(at, f, r0);
    for (size_t p = 0; status == GSL_SUCCESS && p < x->size; p++) {
        gsl_vector_set(at, p, gsl_vector_get(x, p) + f->difference);
        status = fit_residuals(at, f, r1);
        gsl_vector_set(at, p, gsl_vector_get(x, p));
        for (size_t i = 0; i < n; i++)
            gsl_matrix_set(out, i, p, (gsl_vector_get(r1, i) - gsl_vector_get(r0, i)) / f->difference);
    }
    gsl_vector_free(at);
    gsl_vector_free(r0);
    gsl_vector_free(r1);
    return status;
}

static double cost_of(struct fitting *f, const double *x)
{
    gsl_vector *r = gsl_vector_alloc(f->targets.n + f->constants.n);
    double sum = 0;
    gsl_vector_view at = gsl_vector_view_array((double *)(uintptr_t)x, f->constants.n);
    if (fit_residuals(&at.vector, f, r) == GSL_SUCCESS)
        for (size_t i = 0; i < f->targets.n; i++) sum += gsl_vector_get(r, i) * gsl_vector_get(r, i);
    gsl_vector_free(r);
    return sum;
}

/* From x down to the next minimum that slopes over f->difference see. */
static void descend(struct fitting *f, gsl_multifit_nlinear_workspace *w, double *x)
{
    int info;
    size_t p = f->constants.n;
    gsl_multifit_nlinear_fdf fdf = {.f = fit_residuals, .df = fit_slopes, .n = f->targets.n + p, .p = p, .params = f};
    gsl_vector_view start = gsl_vector_view_array(x, p);
    if (gsl_multifit_nlinear_init(&start.vector, &fdf, w) != GSL_SUCCESS) return;
    gsl_multifit_nlinear_driver(ITERATIONS, 1e-3, 1e-4, 1e-6, NULL, NULL, &info, w);
    for (size_t i = 0; i < p; i++) x[i] = gsl_vector_get(gsl_multifit_nlinear_position(w), i);
}

/* Keeps x as the best when its misfit is less. */
static void try_from(struct fitting *f, gsl_multifit_nlinear_workspace *w, double *x, double *best, double *least)
{
    descend(f, w, x);
    double cost = cost_of(f, x);
    if (cost >= *least) return;
    *least = cost;
    memcpy(best, x, f->constants.n * sizeof *best);
}

/* The constants that fit the jobs of `half` best. Polls and cycles make the misfit rough, so slopes over several widths
 * are tried, each from the defaults and from the best so far. */
static bool minimise(struct fitting *f, int half, double *best)
{
    static const double differences[] = {0.1, 0.03, 0.01};
    size_t p = f->constants.n;
    double *x = xcalloc(p, sizeof *x), least;
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, f->targets.n + p, p);
    f->half = half;
    memset(best, 0, p * sizeof *best);
    least = cost_of(f, best);
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        f->difference = differences[i];
        memset(x, 0, p * sizeof *x);
        try_from(f, w, x, best, &least);
        memcpy(x, best, p * sizeof *x);
        try_from(f, w, x, best, &least);
    }
    gsl_multifit_nlinear_free(w);
    free(x);
    f->half = -1;
    f->difference = 0.03;
    return !f->error && !fit_interrupted(f);
}

/* ---- those that stay as they are ---- */

bool fit_is_zero(const struct fitting *f, size_t constant)
{
    bool zero = false;
    for (size_t s = 0; s < f->n_sources; s++) zero |= stack_get(&f->stacks[s], constant) <= 0;
    return zero;
}

static bool minimise_with(struct fitting *f, int half, double *x, double *cost)
{
    if (!minimise(f, half, x)) return false;
    f->half = half;
    *cost = cost_of(f, x);
    f->half = -1;
    return !f->error && !fit_interrupted(f);
}

/* Keeps constant p at its 0 when the others have no more misfit then. */
static bool try_zero(struct fitting *f, int half, size_t p, double *x, double *least)
{
    size_t n = f->constants.n;
    double *other = xcalloc(n, sizeof *other), cost;
    f->kept[p] = true;
    bool ok = minimise_with(f, half, other, &cost);
    if (ok && cost <= *least) {
        *least = cost;
        memcpy(x, other, n * sizeof *x);
    } else f->kept[p] = false;
    free(other);
    return ok;
}

/* A constant that is 0 has no logarithm, so 0 is no place that a descent comes to: each is tried at 0, one after another,
 * and then all. */
bool fit_minimise(struct fitting *f, int half, double *x)
{
    size_t n = f->constants.n, zeros = 0;
    double least, none, *other = xcalloc(n, sizeof *other);
    memset(f->kept, 0, n * sizeof *f->kept);
    bool ok = minimise_with(f, half, x, &least);
    for (size_t p = 0; p < n; p++) zeros += fit_is_zero(f, f->constants.v[p]);
    for (size_t p = 0; ok && p < n; p++)
        if (fit_is_zero(f, f->constants.v[p])) ok = try_zero(f, half, p, x, &least);
    if (ok && zeros) {
        bool *found = xcalloc(n, sizeof *found);
        memcpy(found, f->kept, n * sizeof *found);
        for (size_t p = 0; p < n; p++) f->kept[p] = fit_is_zero(f, f->constants.v[p]);
        ok = minimise_with(f, half, other, &none);
        if (ok && none <= least) memcpy(x, other, n * sizeof *x);
        else memcpy(f->kept, found, n * sizeof *found);
        free(found);
    }
    free(other);
    return ok;
}

/* No fit is better than none: then all stay. */
void fit_keep_better(struct fitting *f, double *x, struct runs_calibration *c)
{
    c->cost_after = cost_of(f, x);
    if (c->cost_after > c->cost_before) {
        for (size_t p = 0; p < f->constants.n; p++) f->kept[p] = true;
        c->cost_after = c->cost_before;
    }
    for (size_t p = 0; p < f->constants.n; p++) {
        c->constants.v[p].kept = f->kept[p];
        if (f->kept[p]) x[p] = 0;
    }
}
