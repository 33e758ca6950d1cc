/* calibrate_gpu.c - from what was measured on a machine's GPUs to profiles.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/calibrate_gpu.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/mem.h"

/* ---- fits ---- */

struct points {
    double *work, *time_s, *weight;
    size_t n;
};

static void collect(const struct gpu_rows *rows, enum gpu_quantity q, struct points *p)
{
    p->n = 0;
    for (size_t i = 0; i < rows->list.n; i++) {
        const struct gpu_row *r = &rows->list.v[i];
        if (r->quantity != q || !(r->time_s > 0)) continue;
        p->work[p->n] = r->work;
        p->time_s[p->n] = r->time_s;
        p->weight[p->n++] = 1 / (r->time_s * r->time_s);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void line(const struct points *p, struct gpu_fit *f)
{
    double start, slope, c00, c01, c11, chi2;
    gsl_fit_wlinear(p->work, 1, p->weight, 1, p->time_s, 1, p->n, &start, &slope, &c00, &c01, &c11, &chi2);
    if (start < 0) { /* no time is negative: through the origin */
        start = 0;
        gsl_fit_wmul(p->work, 1, p->weight, 1, p->time_s, 1, p->n, &slope, &c11, &chi2);
    }
    size_t free_rows = p->n - (start > 0 ? 2 : 1);
    f->start_s = start;
    f->rate = 1 / slope;
    f->rate_error = free_rows ? sqrt(c11 * chi2 / (double)free_rows) / slope : NAN;
}

static void residuals_of(const struct points *p, struct gpu_fit *f, double *e)
{
    for (size_t i = 0; i < p->n; i++) {
        e[i] = fabs(calibrate_gpu_s(f, p->work[i]) / p->time_s[i] - 1);
        f->best_rate = fmax(f->best_rate, p->work[i] / p->time_s[i]);
    }
    qsort(e, p->n, sizeof *e, ascending);
    f->median = gsl_stats_median_from_sorted_data(e, 1, p->n);
    f->p90 = gsl_stats_quantile_from_sorted_data(e, 1, p->n, 0.9);
}

void calibrate_gpu(const struct gpu_rows *rows, struct gpu_fit fits[N_GPU_QUANTITIES])
{
    size_t n = rows->list.n;
    struct points p = {xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)), 0};
    double *errors = xcalloc(n, sizeof *errors);
    for (enum gpu_quantity q = 0; q < N_GPU_QUANTITIES; q++) {
        collect(rows, q, &p);
        fits[q] = (struct gpu_fit){0};
        if (p.n < 2) continue;
        fits[q].rows = p.n;
        line(&p, &fits[q]);
        residuals_of(&p, &fits[q], errors);
    }
    free(errors);
    free(p.work);
    free(p.time_s);
    free(p.weight);
}

double calibrate_gpu_s(const struct gpu_fit *f, double work)
{
    return f->start_s + work / f->rate;
}

/* ---- profiles ---- */

static void text(struct json_writer *w, const char *key, const char *value)
{
    json_write_key(w, key);
    json_write_string(w, value);
}

static void number(struct json_writer *w, const char *key, double value)
{
    json_write_key(w, key);
    json_write_double(w, value);
}

static void bandwidth(struct json_writer *w, const char *key, double bytes_per_s)
{
    char value[64];
    snprintf(value, sizeof value, "%.4gGB/s", bytes_per_s * 1e-9);
    text(w, key, value);
}

void calibrate_gpu_hardware(const struct gpu_facts *facts, int gpus, const struct gpu_fit fits[N_GPU_QUANTITIES], int ranks,
                            const char *name, const char *source, struct str *json)
{
    struct json_writer w;
    const struct gpu_spec *spec = gpu_spec_find(facts->name);
    const struct gpu_fit *sum = &fits[GPU_ALL_REDUCE];
    json_write_begin(&w, json);
    json_write_object(&w);
    text(&w, "name", name);
    text(&w, "source", source);
    text(&w, "gpu", spec ? spec->family : facts->name);
    json_write_key(&w, "gpus"), json_write_int64(&w, gpus);
    json_write_key(&w, "cpu"), json_write_int64(&w, sysconf(_SC_NPROCESSORS_ONLN));
    json_write_key(&w, "memory"), json_write_int64(&w, (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    if (sum->rows) bandwidth(&w, "intra", sum->rate * 2 * (ranks - 1) / ranks);
    json_write_key(&w, "compute_capability"), json_write_int64(&w, facts->capability);
    if (facts->nvlink_links >= 0) json_write_key(&w, "nvlink_links"), json_write_int64(&w, facts->nvlink_links);
    if (facts->pcie_bytes_per_s > 0) bandwidth(&w, "pcie", facts->pcie_bytes_per_s);
    json_write_end(&w);
    json_write_finish(&w);
}

double calibrate_gpu_gemm(const struct gpu_spec *spec, const struct gpu_fit fits[N_GPU_QUANTITIES])
{
    const struct gpu_fit *f = &fits[GPU_STEP];
    return spec && f->rows ? f->rate / (spec->peak_flops * spec->matmul) : 0;
}

void calibrate_gpu_kernels(const struct gpu_spec *spec, const struct gpu_fit fits[N_GPU_QUANTITIES], const char *name,
                           const char *source, struct str *json)
{
    struct json_writer w;
    json_write_begin(&w, json);
    json_write_object(&w);
    text(&w, "name", name);
    text(&w, "source", source);
    json_write_key(&w, "rows"), json_write_int64(&w, (int64_t)fits[GPU_STEP].rows);
    json_write_key(&w, "gpus");
    json_write_array(&w);
    json_write_object_inline(&w);
    text(&w, "family", spec->family);
    json_write_key(&w, "rows"), json_write_int64(&w, (int64_t)fits[GPU_STEP].rows);
    number(&w, "gemm", calibrate_gpu_gemm(spec, fits));
    json_write_end(&w);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}

void calibrate_gpu_residuals(const struct gpu_rows *rows, const struct gpu_fit fits[N_GPU_QUANTITIES], struct str *csv)
{
    str_append(csv, "quantity,work,m,n,k,measured_s,predicted_s,residual\n");
    for (size_t i = 0; i < rows->list.n; i++) {
        const struct gpu_row *r = &rows->list.v[i];
        const struct gpu_fit *f = &fits[r->quantity];
        double predicted_s = f->rows ? calibrate_gpu_s(f, r->work) : NAN;
        str_printf(csv, "%s,%.0f,%d,%d,%d,%.9g,%.9g,%.6g\n", gpu_quantity_names[r->quantity], r->work, r->m, r->n, r->k, r->time_s,
                   predicted_s, predicted_s / r->time_s - 1);
    }
}
