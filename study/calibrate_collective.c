/* calibrate_collective.c - see calibrate_collective.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/calibrate_collective.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "study/calibrate_step.h"

enum { N_NUMBERS = 3, N_STARTS = 3, ITERATIONS = 200 };
#define SOFT       0.01 /* where errors begin to count by their size only */
#define HELD       3.0  /* a number this many e-folds from its guess costs about as much as one row off by SOFT */
#define FAR        50.0 /* e-folds: beyond this nothing is finite */

struct fit {
    const struct collective_row *rows;
    size_t n;
    unsigned form;
    double guess[N_NUMBERS]; /* logarithms of latency, plateau, third */
};

static double soft(double e)
{
    double x = e / SOFT;
    return copysign(SOFT * sqrt(2 * (sqrt(1 + x * x) - 1)), e);
}

static struct collective_curve curve_at(const struct fit *fit, const gsl_vector *x)
{
    return (struct collective_curve){fit->form, exp(gsl_vector_get(x, 0)), exp(gsl_vector_get(x, 1)),
                                     exp(gsl_vector_get(x, 2))};
}

static int residuals(const gsl_vector *x, void *params, gsl_vector *f)
{
    const struct fit *fit = params;
    for (size_t k = 0; k < N_NUMBERS; k++) {
        double away = gsl_vector_get(x, k) - fit->guess[k];
        if (!(fabs(away) < FAR)) return GSL_EDOM;
        gsl_vector_set(f, fit->n + k, SOFT * away / HELD);
    }
    struct collective_curve c = curve_at(fit, x);
    for (size_t i = 0; i < fit->n; i++) {
        double e = log(collective_curve_s(&c, fit->rows[i].bytes) / fit->rows[i].time_s);
        if (!isfinite(e)) return GSL_EDOM;
        gsl_vector_set(f, i, soft(e));
    }
    return GSL_SUCCESS;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Latency: the middle of the three smallest messages; plateau: the largest message over its time. */
static void rough(const struct collective_row *rows, size_t n, double *latency, double *plateau)
{
    double t[3];
    size_t few = n < 3 ? n : 3;
    for (size_t i = 0; i < few; i++) t[i] = rows[i].time_s;
    qsort(t, few, sizeof *t, by_value);
    *latency = t[few / 2];
    *plateau = rows[n - 1].bytes / rows[n - 1].time_s;
}

/* Starts of the third number: where channels are full, in transfers of the latency; bandwidth of words over the plateau;
 * start of buffers over the latency. The middle one is the guess that it is held to. */
static const double starts[COLLECTIVE_N_CURVE_KINDS][N_STARTS] = {{3, 30, 300}, {0.02, 0.08, 0.3}, {1.2, 3, 8}};

static double third_of(enum collective_curve_kind kind, double start, double latency, double plateau)
{
    switch (kind) {
    case COLLECTIVE_FILLING: return start * latency * plateau;
    case COLLECTIVE_LATE_START: return start * plateau;
    default: return start * latency;
    }
}

struct best { double cost; struct collective_curve curve; };

static void descend(struct fit *fit, gsl_multifit_nlinear_workspace *w, double third, struct best *best)
{
    gsl_multifit_nlinear_fdf fdf = {.f = residuals, .n = fit->n + N_NUMBERS, .p = N_NUMBERS, .params = fit};
    double at[N_NUMBERS] = {fit->guess[0], fit->guess[1], third}, cost;
    gsl_vector_view x = gsl_vector_view_array(at, N_NUMBERS);
    int info;
    if (gsl_multifit_nlinear_init(&x.vector, &fdf, w) != GSL_SUCCESS) return;
    gsl_multifit_nlinear_driver(ITERATIONS, 1e-7, 1e-7, 1e-10, NULL, NULL, &info, w);
    gsl_vector *f = gsl_multifit_nlinear_residual(w);
    gsl_blas_ddot(f, f, &cost);
    if (cost < best->cost) *best = (struct best){cost, curve_at(fit, gsl_multifit_nlinear_position(w))};
}

static void try_form(struct fit *fit, gsl_multifit_nlinear_workspace *w, unsigned form, struct best *best)
{
    enum collective_curve_kind kind = collective_curve_form(form).kind;
    double latency = exp(fit->guess[0]), plateau = exp(fit->guess[1]);
    fit->form = form;
    fit->guess[2] = log(third_of(kind, starts[kind][1], latency, plateau));
    for (int i = 0; i < N_STARTS; i++) descend(fit, w, log(third_of(kind, starts[kind][i], latency, plateau)), best);
}

static void errors_of(struct collective_calibration *c, const struct collective_row *rows, size_t n)
{
    double *e = xcalloc(n, sizeof *e);
    for (size_t i = 0; i < n; i++) e[i] = collective_curve_s(&c->curve, rows[i].bytes) / rows[i].time_s - 1;
    c->median = absolute_quantile(e, n, 0.5);
    c->p90 = absolute_quantile(e, n, 0.9);
    free(e);
}

double collective_curve_fit(const struct collective_row *rows, size_t n, enum collective_curve_kind kind,
                            struct collective_curve *curve)
{
    struct fit fit = {.rows = rows, .n = n};
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, n + N_NUMBERS, N_NUMBERS);
    double latency, plateau;
    rough(rows, n, &latency, &plateau);
    fit.guess[0] = log(latency);
    fit.guess[1] = log(plateau);
    struct best best = {HUGE_VAL, {1, latency, plateau, third_of(COLLECTIVE_FILLING, starts[0][1], latency, plateau)}};
    for (unsigned form = 1; form <= collective_curve_n_forms(); form++)
        if (collective_curve_form(form).kind == kind) try_form(&fit, w, form, &best);
    gsl_multifit_nlinear_free(w);
    gsl_set_error_handler(handler);
    *curve = best.curve;
    return best.cost;
}

void calibrate_collective(const struct collective_row *rows, size_t n, struct collective_calibration *c)
{
    double least = HUGE_VAL;
    *c = (struct collective_calibration){.n_rows = n};
    for (int kind = 0; kind < COLLECTIVE_N_CURVE_KINDS; kind++) {
        struct collective_curve curve;
        double cost = collective_curve_fit(rows, n, (enum collective_curve_kind)kind, &curve);
        if (kind > 0 && !(cost < least)) continue;
        least = cost;
        c->curve = curve;
    }
    errors_of(c, rows, n);
}

void collective_form_name(unsigned form, struct str *out)
{
    static const char letters[COLLECTIVE_N_CURVE_KINDS][2] = {{'r', 'u'}, {'k', 'p'}, {'w', 'p'}};
    struct collective_curve_form f = collective_curve_form(form);
    str_printf(out, "%s %c=%g %c=%g", collective_curve_kind_names[f.kind], letters[f.kind][0], f.a, letters[f.kind][1], f.b);
}
