/* calibrate_step.c - see calibrate_step.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/calibrate_step.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/mem.h"

#define SOFT       0.03
#define HELD       0.02 /* the weight of what a number is held to: that of one measurement with this error */
#define ITERATIONS 100

/* The numbers, and where the fit begins and is held: not what some rows gave, but what is to be expected of them. */
struct number { const char *name; size_t at; double expected; };  /* name: in profiles */
static const struct number for_all[] = {
    {"activation_bytes", offsetof(struct step_coefficients, activation_bytes), 200 }, /* twice the 84 bytes of elementwise kernels, fused badly */
    {"forward",          offsetof(struct step_coefficients, forward),          1   }, /* a third of forward and backward */
    {"exposed",          offsetof(struct step_coefficients, exposed),          1   }, /* nothing hidden, links at their specification */
    {"hop",              offsetof(struct step_coefficients, hop_s),            3e-6}, /* NCCL, src/graph/tuning.cc: 3.4 us over NVLink */
    {"step",             offsetof(struct step_coefficients, step_s),           0.02},
};
static const struct number for_one[] = {
    {"gemm",      offsetof(struct gpu_coefficients, gemm),      1  }, /* as the largest products */
    {"attention", offsetof(struct gpu_coefficients, attention), 0.5},
    {"fp8",       offsetof(struct gpu_coefficients, fp8),       2  }, /* the ratio of the peaks */
};
enum { N_ALL = sizeof for_all / sizeof *for_all, N_OWN = sizeof for_one / sizeof *for_one };

static double *number_in(void *numbers, const struct number *n)
{
    return (double *)(void *)((char *)numbers + n->at);
}

struct fitting {
    const struct step_row *rows;
    size_t n;
    struct step_calibration *c;
    double held[N_ALL + N_OWN * STEP_FAMILIES_MAX]; /* logarithms of what is expected */
};

static size_t n_numbers(const struct step_calibration *c)
{
    return N_ALL + N_OWN * c->n_families;
}

static const struct number *number_info(size_t i)
{
    return i < N_ALL ? &for_all[i] : &for_one[(i - N_ALL) % N_OWN];
}

static double *number_at(struct step_calibration *c, size_t i)
{
    return i < N_ALL ? number_in(&c->all, &for_all[i])
                     : number_in(&c->family[(i - N_ALL) / N_OWN].numbers, number_info(i));
}

static double soft_residual(double e)
{
    double z = e / SOFT;
    return e * sqrt(2 / (sqrt(1 + z * z) + 1));
}

static int residuals(const gsl_vector *x, void *arg, gsl_vector *f)
{
    struct fitting *fit = arg;
    size_t p = n_numbers(fit->c);
    for (size_t i = 0; i < p; i++) {
        *number_at(fit->c, i) = exp(gsl_vector_get(x, i));
        gsl_vector_set(f, fit->n + i, HELD * (gsl_vector_get(x, i) - fit->held[i]));
    }
    for (size_t i = 0; i < fit->n; i++)
        gsl_vector_set(f, i, soft_residual(log(calibrated_step_s(fit->c, &fit->rows[i]) / fit->rows[i].step_s)));
    return GSL_SUCCESS;
}

static void start(const struct step_row *rows, size_t n, struct step_calibration *c)
{
    *c = (struct step_calibration){.n_rows = n};
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < c->n_families && strcmp(c->family[k].name, rows[i].gpu->family)) k++;
        if (k == STEP_FAMILIES_MAX) continue;
        if (k == c->n_families)
            c->family[c->n_families++].name = rows[i].gpu->family;
        c->family[k].rows++;
    }
}

static void minimise(struct fitting *fit)
{
    size_t p = n_numbers(fit->c);
    int info;
    gsl_vector *x = gsl_vector_alloc(p);
    gsl_multifit_nlinear_fdf fdf = {.f = residuals, .n = fit->n + p, .p = p, .params = fit};
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, fit->n + p, p);
    for (size_t i = 0; i < p; i++) {
        fit->held[i] = log(number_info(i)->expected);
        gsl_vector_set(x, i, fit->held[i]);
    }
    gsl_multifit_nlinear_init(x, &fdf, w);
    gsl_multifit_nlinear_driver(ITERATIONS, 1e-8, 1e-8, 1e-8, NULL, NULL, &info, w);
    for (size_t i = 0; i < p; i++) *number_at(fit->c, i) = exp(gsl_vector_get(gsl_multifit_nlinear_position(w), i));
    gsl_multifit_nlinear_free(w);
    gsl_vector_free(x);
}

double absolute_quantile(double *x, size_t n, double q)
{
    for (size_t i = 0; i < n; i++) x[i] = fabs(x[i]);
    gsl_sort(x, 1, n);
    return gsl_stats_quantile_from_sorted_data(x, 1, n, q);
}

void calibrate_step(const struct step_row *rows, size_t n, struct step_calibration *c)
{
    struct fitting fit = {.rows = rows, .n = n, .c = c};
    double *error = xcalloc(n, sizeof *error);
    start(rows, n, c);
    minimise(&fit);
    for (size_t i = 0; i < n; i++) error[i] = calibrated_step_s(c, &rows[i]) / rows[i].step_s - 1;
    c->median = absolute_quantile(error, n, 0.5);
    c->p90 = absolute_quantile(error, n, 0.9);
    free(error);
}

struct gpu_coefficients calibrated_gpu(const struct step_calibration *c, const char *family)
{
    struct gpu_coefficients mean = {0, 0, 0};
    for (size_t i = 0; i < c->n_families; i++) {
        struct gpu_coefficients own = c->family[i].numbers;
        if (!strcmp(c->family[i].name, family)) return own;
        for (size_t k = 0; k < N_OWN; k++)
            *number_in(&mean, &for_one[k]) += *number_in(&own, &for_one[k]) / (double)c->n_families;
    }
    return mean;
}

double calibrated_step_s(const struct step_calibration *c, const struct step_row *row)
{
    struct gpu_coefficients own = calibrated_gpu(c, row->gpu->family);
    return step_sharded_s(&row->work, row->gpu, &own, &c->all);
}

static void write_families(const struct step_calibration *c, struct json_writer *w)
{
    json_write_key(w, "gpus");
    json_write_array(w);
    for (size_t i = 0; i < c->n_families; i++) {
        struct step_family f = c->family[i];
        json_write_object_inline(w);
        json_write_key(w, "family");
        json_write_string(w, f.name);
        json_write_key(w, "rows");
        json_write_uint64(w, f.rows);
        for (size_t k = 0; k < N_OWN; k++) {
            json_write_key(w, for_one[k].name);
            json_write_double(w, *number_in(&f.numbers, &for_one[k]));
        }
        json_write_end(w);
    }
    json_write_end(w);
}

void step_calibration_write(const struct step_calibration *c, const char *name, const char *source, struct str *out)
{
    struct step_coefficients all = c->all;
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    json_write_key(&w, "name");
    json_write_string(&w, name);
    json_write_key(&w, "source");
    json_write_string(&w, source);
    json_write_key(&w, "rows");
    json_write_uint64(&w, c->n_rows);
    for (size_t i = 0; i < N_ALL; i++) {
        json_write_key(&w, for_all[i].name);
        json_write_double(&w, *number_in(&all, &for_all[i]));
    }
    write_families(c, &w);
    json_write_end(&w);
    json_write_finish(&w);
}
