/* pollux_model.c - see pollux_model.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/pollux_model.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>

enum { N_NUMBERS = 7 };
struct fitting { const struct placement_row *rows; size_t n; };

/* Of the fit: logarithms, and of gamma the odds of its place between 1 and 10. */
static struct pollux_numbers numbers_of(const gsl_vector *x)
{
    double e[N_NUMBERS];
    for (size_t i = 0; i < N_NUMBERS; i++) e[i] = exp(fmin(fmax(gsl_vector_get(x, i), -25), 25));
    return (struct pollux_numbers){e[0], e[1], e[2], e[3], e[4], e[5], 1 + 9 * e[6] / (1 + e[6])};
}

struct placed_time pollux_step(const struct pollux_numbers *p, const struct placement_row *r)
{
    double grad = p->alpha_g + p->beta_g * r->local_batch, others = r->at.gpus - 2.0;
    double sync = r->at.gpus < 2 ? 0 : r->at.nodes == 1 ? p->alpha_l + p->beta_l * others : p->alpha_n + p->beta_n * others;
    double most = fmax(grad, sync), iter = most * pow(pow(grad / most, p->gamma) + pow(sync / most, p->gamma), 1 / p->gamma);
    return (struct placed_time){grad, iter - grad};
}

static int residuals(const gsl_vector *x, void *arg, gsl_vector *f)
{
    const struct fitting *fit = arg;
    struct pollux_numbers p = numbers_of(x);
    for (size_t i = 0; i < fit->n; i++) {
        const struct placement_row *r = &fit->rows[i];
        struct placed_time t = pollux_step(&p, r);
        gsl_vector_set(f, 2 * i, log((t.compute_s + t.sync_s) / r->step_s));
        gsl_vector_set(f, 2 * i + 1, log(t.compute_s / (r->step_s - r->sync_s)));
    }
    for (size_t i = 0; i < N_NUMBERS; i++) gsl_vector_set(f, 2 * fit->n + i, 1e-3 * gsl_vector_get(x, i)); /* keeps it regular */
    return GSL_SUCCESS;
}

struct pollux_numbers pollux_fit(const struct placement_row *rows, size_t n)
{
    struct fitting fit = {rows, n};
    double step = 0, sync = 0, batch = 0;
    int info;
    for (size_t i = 0; i < n; i++) {
        step += rows[i].step_s / (double)n;
        sync += rows[i].sync_s / (double)n;
        batch += rows[i].local_batch / (double)n;
    }
    const double from[N_NUMBERS] = {log(step / 4), log(step / 2 / batch), log(sync / 10), log(sync / 100), log(sync), log(sync / 20), -2};
    gsl_vector *x = gsl_vector_alloc(N_NUMBERS);
    for (size_t i = 0; i < N_NUMBERS; i++) gsl_vector_set(x, i, from[i]);
    gsl_multifit_nlinear_fdf fdf = {.f = residuals, .n = 2 * n + N_NUMBERS, .p = N_NUMBERS, .params = &fit};
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, fdf.n, N_NUMBERS);
    gsl_multifit_nlinear_init(x, &fdf, w);
    gsl_multifit_nlinear_driver(200, 1e-8, 1e-8, 1e-8, NULL, NULL, &info, w);
    struct pollux_numbers p = numbers_of(gsl_multifit_nlinear_position(w));
    gsl_multifit_nlinear_free(w);
    gsl_vector_free(x);
    return p;
}
