/* test_calibrate_placements.c - half of Pollux' placements predicted from the other half.
 *
 * The measured tables of six applications lie in the shared folder; of the placements in order of their names the even are
 * fitted, the odd predicted, each application by itself. Goal: 10 % in the median. The same for ten halves drawn at random, whose
 * seeds were fixed before anything was seen of them. What is fitted or chosen, is from the fitted half alone.
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

#include "base/philox.h"
#include "base/str.h"
#include "study/calibrate_placements.h"
#include "tests/support/doc_section.h"
#include "tests/support/pollux_model.h"
#include "tests/support/shared.h"

#define GOAL 0.10
enum { N_SEEDS = 10 }; /* 1 to 10 */

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

static size_t number_placements(const struct placement_row *rows, size_t n, size_t *number)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && strcmp(rows[i].name, rows[i - 1].name)) k++;
        number[i] = k;
    }
    return k + 1;
}

static uint32_t random_at(uint32_t seed, uint32_t i)
{
    uint32_t out[4];
    philox4x32_10((uint32_t[4]){i}, (uint32_t[2]){seed}, out);
    return out[0];
}

/* Which placements are fitted: with seed 0 the even, else a random half (Fisher and Yates' shuffle). */
static void draw_half(uint32_t seed, size_t n, bool *fitted)
{
    for (size_t i = 0; i < n; i++) fitted[i] = seed ? i < (n + 1) / 2 : i % 2 == 0;
    for (size_t i = n - 1; seed && i > 0; i--) {
        size_t j = random_at(seed, (uint32_t)i) % (i + 1);
        bool swap = fitted[i];
        fitted[i] = fitted[j];
        fitted[j] = swap;
    }
}

/* Moves the rows of the half that is fitted to the front; gives how many they are. */
static size_t split(struct placement_row *rows, size_t n, uint32_t seed)
{
    struct placement_row *rest = calloc(n, sizeof *rest);
    size_t *number = calloc(n, sizeof *number), n_fitted = 0, n_rest = 0;
    bool *fitted = calloc(n, sizeof *fitted);
    qsort(rows, n, sizeof *rows, by_name);
    draw_half(seed, number_placements(rows, n, number), fitted);
    for (size_t i = 0; i < n; i++) {
        if (fitted[number[i]]) rows[n_fitted++] = rows[i];
        else rest[n_rest++] = rows[i];
    }
    memcpy(rows + n_fitted, rest, n_rest * sizeof *rest);
    free(rest);
    free(number);
    free(fitted);
    return n_fitted;
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

/* What is held out of all applications: by the model, by its formula alone, by the nearest rows, by Pollux' model. */
struct errors_of { struct held model, formula, nearest, pollux; };

static struct placement_table read_application(int i)
{
    char path[SHARED_PATH_MAX], name[100];
    struct placement_table t = {0};
    struct diag d = {0};
    snprintf(name, sizeof name, "traces/pollux/profiles/%s/placements.csv", applications[i]);
    shared_path(path, name);
    if (!placement_table_read(path, PLACEMENTS_MEASURED, &t, &d)) {
        diag_print(&d, stderr);
        fail();
    }
    return t;
}

/* The same number of GPUs on the nodes, in another order. */
static bool measured_again(const struct placement_row *a, const struct placement_row *b)
{
    int count[10] = {0};
    if (a->at.nodes != b->at.nodes || a->local_batch != b->local_batch || !strcmp(a->name, b->name)) return false;
    for (uint32_t i = 0; i < a->at.nodes; i++) {
        count[a->name[i] - '0']++;
        count[b->name[i] - '0']--;
    }
    for (int i = 0; i < 10; i++)
        if (count[i]) return false;
    return true;
}

/* |ln| of two measurements of the same over the root of 2: what the best prediction of both would miss in the median, were the
 * deviations normal and independent. */
static void note_repeats(const struct placement_table *t, struct held *h)
{
    for (size_t i = 0; i < t->rows.n; i++)
        for (size_t j = 0; j < i; j++) {
            const struct placement_row *a = &t->rows.v[i], *b = &t->rows.v[j];
            if (!measured_again(a, b)) continue;
            array_push(&h->step, fabs(log(a->step_s / b->step_s)) / sqrt(2));
            array_push(&h->sync, fabs(log(a->sync_s / b->sync_s)) / sqrt(2));
        }
}

static void predict(int application, struct errors_of *all, struct str *out)
{
    struct placement_table t = read_application(application);
    struct placed_calibration c;
    struct held own = {0}, repeats = {0};
    note_repeats(&t, &repeats);
    size_t n = split(t.rows.v, t.rows.n, 0);
    struct pollux_numbers pollux = pollux_fit(t.rows.v, n);
    calibrate_placements(t.rows.v, n, &c);
    for (size_t i = n; i < t.rows.n; i++) {
        const struct placement_row *r = &t.rows.v[i];
        struct placed_time p = placed_predict(&c, r->at, r->local_batch);
        note(&own, p, r);
        note(&all->model, p, r);
        note(&all->formula, placed_step(&c.numbers, r->at, r->local_batch), r);
        note(&all->nearest, nearest(t.rows.v, n, r), r);
        note(&all->pollux, pollux_step(&pollux, r), r);
    }
    str_printf(out, "| %s | %zu | %zu | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", applications[application], n, own.step.n,
               100 * median(&own.step), 100 * median(&own.sync), 100 * median(&repeats.step), 100 * median(&repeats.sync));
    held_free(&own);
    held_free(&repeats);
    placed_calibration_free(&c);
    placement_table_free(&t);
}

static double median_of_both(const struct held *h)
{
    errors both = {0};
    for (size_t i = 0; i < h->step.n; i++) {
        array_push(&both, h->step.v[i]);
        array_push(&both, h->sync.v[i]);
    }
    double m = median(&both);
    array_free(&both);
    return m;
}

static void row(struct str *out, const char *name, struct held *h)
{
    str_printf(out, "| %s | | %zu | %.1f %% | %.1f %% | | |\n", name, h->step.n, 100 * median(&h->step), 100 * median(&h->sync));
}

static void half_from_the_other_half(void **state)
{
    struct errors_of all = {0};
    struct str out = {0};
    (void)state;
    str_printf(&out, "| application | rows fitted | rows predicted | step | sync | step of repeats | sync of repeats |\n"
                     "|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < N_APPLICATIONS; i++) predict(i, &all, &out);
    row(&out, "all", &all.model);
    str_printf(&out, "| all, steps and syncs together | | %zu | %.1f %% | | | |\n", 2 * all.model.step.n,
               100 * median_of_both(&all.model));
    row(&out, "formula alone", &all.formula);
    row(&out, "seven nearest", &all.nearest);
    row(&out, "Pollux' model", &all.pollux);
    assert_true(median(&all.model.step) <= GOAL && median(&all.model.sync) <= GOAL && median_of_both(&all.model) <= GOAL);
    doc_section("docs/models.md", "placements", str_text(&out));
    str_free(&out);
    held_free(&all.model);
    held_free(&all.formula);
    held_free(&all.nearest);
    held_free(&all.pollux);
}

static void predict_half(uint32_t seed, struct held *model, struct held *formula)
{
    for (int a = 0; a < N_APPLICATIONS; a++) {
        struct placement_table t = read_application(a);
        struct placed_calibration c;
        size_t n = split(t.rows.v, t.rows.n, seed);
        calibrate_placements(t.rows.v, n, &c);
        for (size_t i = n; i < t.rows.n; i++) {
            const struct placement_row *r = &t.rows.v[i];
            note(model, placed_predict(&c, r->at, r->local_batch), r);
            note(formula, placed_step(&c.numbers, r->at, r->local_batch), r);
        }
        placed_calibration_free(&c);
        placement_table_free(&t);
    }
}

/* Of the seeds' medians the median, the least and the greatest. */
static double seeds_row(struct str *out, const char *name, errors *e)
{
    double m = median(e); /* which sorts */
    str_printf(out, "| %s | %.1f %% | %.1f to %.1f %% |\n", name, 100 * m, 100 * e->v[0], 100 * e->v[e->n - 1]);
    return m;
}

static void other_halves(void **state)
{
    errors step = {0}, sync = {0}, both = {0}, formula_step = {0}, formula_sync = {0};
    struct str out = {0};
    (void)state;
    for (uint32_t seed = 1; seed <= N_SEEDS; seed++) {
        struct held model = {0}, formula = {0};
        predict_half(seed, &model, &formula);
        array_push(&both, median_of_both(&model));
        array_push(&step, median(&model.step));
        array_push(&sync, median(&model.sync));
        array_push(&formula_step, median(&formula.step));
        array_push(&formula_sync, median(&formula.sync));
        held_free(&model);
        held_free(&formula);
    }
    str_printf(&out, "| error, median | of ten random halves | range |\n|---|---|---|\n");
    double step_m = seeds_row(&out, "step", &step), sync_m = seeds_row(&out, "sync", &sync);
    double both_m = seeds_row(&out, "steps and syncs together", &both);
    seeds_row(&out, "step, formula alone", &formula_step);
    double alone = seeds_row(&out, "sync, formula alone", &formula_sync);
    assert_true(step_m <= GOAL && sync_m <= GOAL && both_m <= GOAL);
    assert_true(sync_m < alone);
    doc_section("docs/models.md", "placements, random halves", str_text(&out));
    str_free(&out);
    array_free(&step);
    array_free(&sync);
    array_free(&both);
    array_free(&formula_step);
    array_free(&formula_sync);
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
    placed_calibration_free(&c);
}

/* What rows of as many GPUs and the same batch share is found; what is noise of each is not taken for it. */
static void shared_draws_are_found(void **state)
{
    struct placement_residual r[4 * 6];
    struct placement_draws d;
    (void)state;
    for (uint32_t i = 0; i < 24; i++) {
        double own = i / 6 % 2 ? 0.3 : -0.3, sign = i % 2 ? 1 : -1; /* steps share; of syncs each says the contrary of the next */
        r[i] = (struct placement_residual){i / 6, 8, own, sign * 0.3};
    }
    placement_draws_learn(r, 24, &d);
    assert_true(d.step_held == 0 && isinf(d.sync_held));
    assert_true(d.list.n == 4 && fabs(placement_draws_find(&d, 3, 8)->step - 0.3) < 1e-12);
    assert_true(placement_draws_find(&d, 2, 8)->sync == 0);
    assert_null(placement_draws_find(&d, 3, 16));
    placement_draws_free(&d);
}

/* One GPU waits for nobody: a sync of 0 leaves the step to be fitted, with one row or many, and nothing else measured. */
static void syncs_of_zero_are_accepted(void **state)
{
    struct placement_row rows[6];
    (void)state;
    for (int b = 0; b < 6; b++)
        rows[b] = (struct placement_row){.at = {1, 1, 1}, .local_batch = 4 << b, .step_s = 0.1 + 0.01 * (4 << b), .sync_s = 0};
    for (size_t n = 1; n <= 6; n += 5) {
        struct placed_calibration c;
        calibrate_placements(rows, n, &c);
        struct placed_time t = placed_predict(&c, rows[n - 1].at, rows[n - 1].local_batch);
        assert_true(isnan(c.sync_median) && c.step_median < 0.01);
        assert_true(fabs((t.compute_s + t.sync_s) / rows[n - 1].step_s - 1) < 0.01 && t.sync_s < 1e-4);
        placed_calibration_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_rows_come_back),
        cmocka_unit_test(shared_draws_are_found),
        cmocka_unit_test(syncs_of_zero_are_accepted),
        cmocka_unit_test(other_halves),
        cmocka_unit_test(half_from_the_other_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
