/* calibrate_placements.c - see calibrate_placements.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/calibrate_placements.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_write.h"
#include "base/mem.h"

#define SOFT       0.05
#define HELD       0.02 /* the weight of a beginning: that of one measurement with this error */
#define FARTHEST   20.0 /* a logarithm beyond is as good as there */
#define ITERATIONS 200
#define LEAST      1e-6 /* s: where a time begins that was too short to measure */

/* Shares stay below `most`; 0: any positive number. */
static const struct number { const char *name; size_t at; double most; } numbers[] = {
    {"compute_s", offsetof(struct placed_numbers, compute_s), 0}, {"sample_s", offsetof(struct placed_numbers, sample_s), 0},
    {"fixed_s", offsetof(struct placed_numbers, fixed_s), 0},     {"node_s", offsetof(struct placed_numbers, node_s), 0},
    {"pair_s", offsetof(struct placed_numbers, pair_s), 0},       {"fabric_s", offsetof(struct placed_numbers, fabric_s), 0},
    {"hop_s", offsetof(struct placed_numbers, hop_s), 0},         {"crowd", offsetof(struct placed_numbers, crowd), 0},
    {"overlap", offsetof(struct placed_numbers, overlap), 1},     {"rest", offsetof(struct placed_numbers, rest), 1},
    {"uneven", offsetof(struct placed_numbers, uneven), 1},       {"blur", offsetof(struct placed_numbers, blur), 1},
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static double *number_at(struct placed_numbers *p, size_t i)
{
    return (double *)(void *)((char *)p + numbers[i].at);
}

struct fitting {
    const struct placement_row *rows;
    size_t n;
    struct placed_numbers at;
    double begun[N_NUMBERS];
};

/* ---- where to begin ---- */

static double median(double *x, size_t n)
{
    gsl_sort(x, 1, n);
    return n ? gsl_stats_median_from_sorted_data(x, 1, n) : NAN;
}

enum reach { ONE_GPU, ONE_NODE, SEVERAL_NODES };
static double median_sync(const struct placement_row *rows, size_t n, enum reach reach)
{
    double *x = xcalloc(n, sizeof *x);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if ((rows[i].at.nodes > 1 ? SEVERAL_NODES : rows[i].at.gpus > 1 ? ONE_NODE : ONE_GPU) == reach) x[k++] = rows[i].sync_s;
    double m = median(x, k);
    free(x);
    return m;
}

/* A line through what a rank computes; both its numbers positive. */
static void begin_compute(const struct placement_row *rows, size_t n, struct placed_numbers *p)
{
    double *b = xcalloc(n, sizeof *b), *c = xcalloc(n, sizeof *c), c00, c01, c11, sum;
    for (size_t i = 0; i < n; i++) b[i] = rows[i].local_batch, c[i] = rows[i].step_s - rows[i].sync_s;
    gsl_fit_linear(b, 1, c, 1, n, &p->compute_s, &p->sample_s, &c00, &c01, &c11, &sum);
    double batch = median(b, n), compute = median(c, n);
    if (!(p->compute_s > 0.02 * compute)) p->compute_s = 0.02 * compute;
    if (!(p->sample_s > 0.02 * compute / batch)) p->sample_s = 0.02 * compute / batch;
    free(b);
    free(c);
}

static struct placed_numbers begin(const struct placement_row *rows, size_t n)
{
    struct placed_numbers p = {.crowd = 1, .overlap = 0.5, .rest = 0.05, .uneven = 0.02, .blur = 0.15};
    double alone = median_sync(rows, n, ONE_GPU), within = median_sync(rows, n, ONE_NODE),
           across = median_sync(rows, n, SEVERAL_NODES);
    begin_compute(rows, n, &p);
    if (isnan(across)) across = isnan(within) ? 10 * alone : 10 * within;
    across = fmax(across, LEAST);
    p.fixed_s = isnan(alone) ? 0.01 * across : fmax(alone, LEAST);
    p.node_s = 0.1 * across;
    p.pair_s = across;
    p.fabric_s = 0.7 * across;
    p.hop_s = 0.01 * across;
    return p;
}

/* ---- the fit ---- */

static double soft_residual(double e)
{
    double z = e / SOFT;
    return e * sqrt(2 / (sqrt(1 + z * z) + 1));
}

/* What is fitted: the logarithm of a number, for a share that of its odds. */
static double fitted_of(size_t i, double number)
{
    return numbers[i].most > 0 ? log(number / (numbers[i].most - number)) : log(number);
}

static void numbers_of(const gsl_vector *x, struct placed_numbers *p)
{
    for (size_t i = 0; i < N_NUMBERS; i++) {
        double e = exp(fmin(fmax(gsl_vector_get(x, i), -FARTHEST), FARTHEST));
        *number_at(p, i) = numbers[i].most > 0 ? numbers[i].most * e / (1 + e) : e;
    }
}

static int residuals(const gsl_vector *x, void *arg, gsl_vector *f)
{
    struct fitting *fit = arg;
    numbers_of(x, &fit->at);
    for (size_t i = 0; i < fit->n; i++) {
        const struct placement_row *r = &fit->rows[i];
        struct placed_time t = placed_step(&fit->at, r->at, r->local_batch);
        gsl_vector_set(f, 2 * i, soft_residual(log((t.compute_s + t.sync_s) / r->step_s)));
        gsl_vector_set(f, 2 * i + 1, r->sync_s > 0 ? soft_residual(log(t.sync_s / r->sync_s)) : 0);
    }
    for (size_t i = 0; i < N_NUMBERS; i++)
        gsl_vector_set(f, 2 * fit->n + i, HELD * (gsl_vector_get(x, i) - fit->begun[i]));
    return GSL_SUCCESS;
}

static void minimise(struct fitting *fit)
{
    int info;
    size_t n = 2 * fit->n + N_NUMBERS;
    gsl_vector *x = gsl_vector_alloc(N_NUMBERS);
    gsl_multifit_nlinear_fdf fdf = {.f = residuals, .n = n, .p = N_NUMBERS, .params = fit};
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, n, N_NUMBERS);
    for (size_t i = 0; i < N_NUMBERS; i++) {
        fit->begun[i] = fitted_of(i, *number_at(&fit->at, i));
        gsl_vector_set(x, i, fit->begun[i]);
    }
    gsl_multifit_nlinear_init(x, &fdf, w);
    gsl_multifit_nlinear_driver(ITERATIONS, 1e-8, 1e-8, 1e-8, NULL, NULL, &info, w);
    numbers_of(gsl_multifit_nlinear_position(w), &fit->at);
    gsl_multifit_nlinear_free(w);
    gsl_vector_free(x);
}

/* ---- what the formula leaves ---- */

static void measure_errors(const struct placement_residual *left, size_t n, struct placed_calibration *c)
{
    double *step = xcalloc(n, sizeof *step), *sync = xcalloc(n, sizeof *sync);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        step[i] = fabs(exp(-left[i].step) - 1);
        if (!isnan(left[i].sync)) sync[k++] = fabs(exp(-left[i].sync) - 1);
    }
    c->step_median = median(step, n);
    c->sync_median = median(sync, k);
    free(step);
    free(sync);
}

void calibrate_placements(const struct placement_row *rows, size_t n, struct placed_calibration *c)
{
    struct fitting fit = {.rows = rows, .n = n, .at = begin(rows, n)};
    struct placement_residual *left = xcalloc(n, sizeof *left);
    minimise(&fit);
    *c = (struct placed_calibration){.numbers = fit.at, .n_rows = n};
    for (size_t i = 0; i < n; i++) {
        const struct placement_row *r = &rows[i];
        struct placed_time t = placed_step(&fit.at, r->at, r->local_batch);
        left[i] = (struct placement_residual){r->at.gpus, r->local_batch, log(r->step_s / (t.compute_s + t.sync_s)),
                                              r->sync_s > 0 ? log(r->sync_s / t.sync_s) : NAN};
    }
    measure_errors(left, n, c);
    placement_draws_learn(left, n, &c->draws);
    free(left);
}

void placed_calibration_free(struct placed_calibration *c) { placement_draws_free(&c->draws); }

struct placed_time placed_predict(const struct placed_calibration *c, struct gpu_placement at, double local_batch)
{
    struct placed_time t = placed_step(&c->numbers, at, local_batch);
    const struct placement_draw *own = placement_draws_find(&c->draws, at.gpus, local_batch);
    if (!own) return t;
    double step = (t.compute_s + t.sync_s) * exp(own->step), sync = t.sync_s * exp(own->sync);
    return (struct placed_time){fmax(step - sync, 0), sync};
}

static void write_draws(const struct placement_draws *d, struct json_writer *w)
{
    json_write_key(w, "draws");
    json_write_array(w);
    for (size_t i = 0; i < d->list.n; i++) {
        const struct placement_draw *draw = &d->list.v[i];
        json_write_object_inline(w);
        json_write_key(w, "gpus");
        json_write_uint64(w, draw->gpus);
        json_write_key(w, "local_bsz");
        json_write_double(w, draw->local_batch);
        json_write_key(w, "step_factor");
        json_write_double(w, exp(draw->step));
        json_write_key(w, "sync_factor");
        json_write_double(w, exp(draw->sync));
        json_write_end(w);
    }
    json_write_end(w);
}

void placed_calibration_write(const struct placed_calibration *c, const char *source, struct str *out)
{
    struct placed_numbers p = c->numbers;
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    json_write_key(&w, "profile");
    json_write_string(&w, "placements");
    json_write_key(&w, "source");
    json_write_string(&w, source);
    json_write_key(&w, "rows");
    json_write_uint64(&w, c->n_rows);
    for (size_t i = 0; i < N_NUMBERS; i++) {
        json_write_key(&w, numbers[i].name);
        json_write_double(&w, *number_at(&p, i));
    }
    write_draws(&c->draws, &w);
    json_write_end(&w);
    json_write_finish(&w);
}
