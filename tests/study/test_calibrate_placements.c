/* test_calibrate_placements.c - half of Pollux' placements predicted from the other half.
 *
 * The measured tables of six applications lie in the shared folder; of the placements in order of their names the even are
 * fitted, the odd predicted, each application by itself. Goal: 10 % in the median.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "study/calibrate_placements.h"
#include "tests/support/doc_section.h"
#include "tests/support/pollux_model.h"
#include "tests/support/shared.h"

#define GOAL 0.10

static const char *const applications[] = {"bert", "cifar10", "deepspeech2", "imagenet", "ncf", "yolov3"};
enum { N_APPLICATIONS = sizeof applications / sizeof *applications };

typedef ARRAY(double) errors;

static double median(errors *e)
{
    gsl_sort(e->v, 1, e->n);
    return gsl_stats_median_from_sorted_data(e->v, 1, e->n);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct placement_row *)a)->name, ((const struct placement_row *)b)->name);
}

/* Moves the even placements to the front; gives how many rows they have. */
static size_t split(struct placement_row *rows, size_t n)
{
    struct placement_row *odd = calloc(n, sizeof *odd);
    size_t n_even = 0, n_odd = 0, placement = 0;
    char last[PLACEMENT_NODES_MAX + 1];
    qsort(rows, n, sizeof *rows, by_name);
    for (size_t i = 0; i < n; i++) {
        struct placement_row row = rows[i];
        if (i && strcmp(row.name, last)) placement++;
        memcpy(last, row.name, sizeof last);
        if (placement % 2) odd[n_odd++] = row;
        else rows[n_even++] = row;
    }
    memcpy(rows + n_even, odd, n_odd * sizeof *odd);
    free(odd);
    return n_even;
}

/* The baseline: the median of the nearest fitted rows in GPUs, of as many nodes and the same batch. */
static struct placed_time nearest(const struct placement_row *rows, size_t n, const struct placement_row *r)
{
    enum { NEAREST = 7 };
    errors step = {0}, sync = {0};
    for (uint32_t far = 0; far < 64 && step.n < NEAREST; far++)
        for (size_t i = 0; i < n && step.n < NEAREST; i++) {
            uint32_t gpus = rows[i].at.gpus, apart = gpus > r->at.gpus ? gpus - r->at.gpus : r->at.gpus - gpus;
            if (apart != far || rows[i].at.nodes != r->at.nodes || rows[i].local_batch != r->local_batch) continue;
            array_push(&step, rows[i].step_s);
            array_push(&sync, rows[i].sync_s);
        }
    struct placed_time t = step.n ? (struct placed_time){median(&step) - median(&sync), median(&sync)} : (struct placed_time){1e9, 1e9};
    array_free(&step);
    array_free(&sync);
    return t;
}

struct held { errors step, sync; };

static void note(struct held *h, struct placed_time p, const struct placement_row *r)
{
    array_push(&h->step, fabs((p.compute_s + p.sync_s) / r->step_s - 1));
    array_push(&h->sync, fabs(p.sync_s / r->sync_s - 1));
}

static void held_free(struct held *h)
{
    array_free(&h->step);
    array_free(&h->sync);
}

/* What is held out of all applications: by the model, by the nearest rows, by Pollux' model. */
struct errors_of { struct held model, nearest, pollux; };

static void predict(const char *application, const char *path, struct errors_of *all, struct str *out)
{
    struct placement_table t = {0};
    struct placed_calibration c;
    struct diag d = {0};
    struct held own = {0};
    if (!placement_table_read(path, PLACEMENTS_MEASURED, &t, &d)) {
        diag_print(&d, stderr);
        fail();
    }
    size_t n = split(t.rows.v, t.rows.n);
    struct pollux_numbers pollux = pollux_fit(t.rows.v, n);
    calibrate_placements(t.rows.v, n, &c);
    for (size_t i = n; i < t.rows.n; i++) {
        const struct placement_row *r = &t.rows.v[i];
        struct placed_time p = placed_step(&c.numbers, r->at, r->local_batch);
        note(&own, p, r);
        note(&all->model, p, r);
        note(&all->nearest, nearest(t.rows.v, n, r), r);
        note(&all->pollux, pollux_step(&pollux, r), r);
    }
    str_printf(out, "| %s | %zu | %zu | %.1f %% | %.1f %% |\n", application, n, own.step.n, 100 * median(&own.step),
               100 * median(&own.sync));
    held_free(&own);
    placement_table_free(&t);
}

static void row(struct str *out, const char *name, struct held *h)
{
    str_printf(out, "| %s | | %zu | %.1f %% | %.1f %% |\n", name, h->step.n, 100 * median(&h->step), 100 * median(&h->sync));
}

static void half_from_the_other_half(void **state)
{
    char path[N_APPLICATIONS][SHARED_PATH_MAX], name[100];
    struct errors_of all = {0};
    errors both = {0};
    struct str out = {0};
    (void)state;
    for (int i = 0; i < N_APPLICATIONS; i++) {
        snprintf(name, sizeof name, "traces/pollux/profiles/%s/placements.csv", applications[i]);
        shared_path(path[i], name);
    }
    str_printf(&out, "| application | rows fitted | rows predicted | step | sync |\n|---|---|---|---|---|\n");
    for (int i = 0; i < N_APPLICATIONS; i++) predict(applications[i], path[i], &all, &out);
    for (size_t i = 0; i < all.model.step.n; i++) {
        array_push(&both, all.model.step.v[i]);
        array_push(&both, all.model.sync.v[i]);
    }
    row(&out, "all", &all.model);
    str_printf(&out, "| all, steps and syncs together | | %zu | %.1f %% | |\n", both.n, 100 * median(&both));
    row(&out, "seven nearest", &all.nearest);
    row(&out, "Pollux' model", &all.pollux);
    assert_true(median(&all.model.step) <= GOAL && median(&all.model.sync) <= GOAL && median(&both) <= GOAL);
    doc_section("docs/models.md", "placements", str_text(&out));
    str_free(&out);
    held_free(&all.model);
    held_free(&all.nearest);
    held_free(&all.pollux);
    array_free(&both);
}

/* Rows made by the model itself are found again; the numbers need not be, where several say the same. */
static void own_rows_come_back(void **state)
{
    const struct placed_numbers made = {0.1, 0.01, 0.001, 0.03, 0.4, 0.25, 0.002, 1.05, 0.6, 0.1, 0.03, 0.1};
    static const struct gpu_placement at[] = {{1, 1, 1}, {1, 2, 2}, {1, 4, 4}, {2, 2, 1}, {2, 5, 4}, {3, 3, 1}, {3, 9, 3}, {4, 16, 4}};
    struct placement_row rows[8 * 6];
    struct placed_calibration c;
    size_t n = 0;
    (void)state;
    for (int i = 0; i < 8; i++)
        for (int b = 0; b < 6; b++) {
            struct placed_time t = placed_step(&made, at[i], 4 << b);
            rows[n++] = (struct placement_row){.at = at[i], .local_batch = 4 << b, .step_s = t.compute_s + t.sync_s, .sync_s = t.sync_s};
        }
    calibrate_placements(rows, n, &c);
    printf("own rows: %.2g and %.2g\n", c.step_median, c.sync_median);
    assert_true(c.step_median < 0.002 && c.sync_median < 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_rows_come_back),
        cmocka_unit_test(half_from_the_other_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
