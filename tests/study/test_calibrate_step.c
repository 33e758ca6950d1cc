/* test_calibrate_step.c - the step model against MosaicML's llm-foundry table, always on rows that were not fitted.
 *
 *     build/tests/study/test_calibrate_step        prints every split with two baselines beside it
 *
 * A split puts each row into a fold by something that is known before (its number, its model, its GPU); a fold is predicted
 * from the rows of the other folds. Goals: issue 4, check 4.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/philox.h"
#include "base/str.h"
#include "input/scenario.h"
#include "models/step.h"
#include "study/calibrate_step.h"
#include "tests/support/doc_section.h"
#include "tests/support/shared.h"

#define TABLE "data/training/mosaicml_llm_foundry.csv"
enum { TRAIN_ONLY = -1 };

/* ---- who predicts: from n measured rows, the seconds of m others ---- */

typedef void predict_fn(const struct step_row *train, size_t n, const struct step_row *test, size_t m, double *s);

static void by_formula(const struct step_row *train, size_t n, const struct step_row *test, size_t m, double *s)
{
    struct step_calibration c;
    calibrate_step(train, n, &c);
    for (size_t i = 0; i < m; i++) s[i] = calibrated_step_s(&c, &test[i]);
}

/* The same calibration in models/step.h, as the simulator uses it, whose collectives are those of models/collective.h. */
static double simulated_s(const struct step_calibration *c, const struct step_row *r)
{
    static const uint8_t stage[N_STEP_SHARDINGS] = {0, 2, 3};
    const struct step_work *w = &r->work;
    struct model_shape m = {.name = "", .parameters = w->parameters, .active_parameters = w->parameters,
                            .layers = (uint32_t)w->layers, .hidden = (uint32_t)w->hidden, .heads = (uint32_t)w->hidden / 64,
                            .kv_heads = (uint32_t)w->hidden / 64, .vocabulary = (uint32_t)w->vocabulary,
                            .sequence = (uint32_t)w->sequence, .tied = true};
    struct step_input in = {.model = m, .hardware = step_hardware_of(r->gpu), .place = {.run = 8}};
    in.split = (struct parallelism){.data = (uint32_t)w->ranks, .tensor = 1, .pipeline = 1, .interleave = 1, .context = 1,
                                    .expert = 1, .zero = stage[w->sharding]};
    double sequences = w->tokens / w->sequence;
    in.batch = (struct step_batch){sequences * w->ranks * w->micro_batches, (uint32_t)sequences,
                                   w->recompute ? RECOMPUTE_FULL : RECOMPUTE_SELECTIVE, w->fp8 ? PRECISION_FP8 : PRECISION_BF16};
    in.hardware.kernels = calibrated_gpu(c, r->gpu->family);
    in.hardware.common = c->all;
    in.hardware.fabric.gpu_generation = strcmp(r->gpu->family, "a100") ? 90 : 80;
    in.hardware.fabric.nvlink_bytes_per_s = r->gpu->link_bytes_per_s;
    in.hardware.fabric.nvlink_links = strcmp(r->gpu->family, "a100") ? 18 : 12;
    in.hardware.fabric.nics = 8;
    in.hardware.fabric.nic_bytes_per_s = r->gpu->node_bytes_per_s / 8;
    in.overlap = 0;
    assert_null(step_problem(&in));
    struct step_time s = step_time(&in);
    return step_total(&s);
}

static void by_simulator(const struct step_row *train, size_t n, const struct step_row *test, size_t m, double *s)
{
    struct step_calibration c;
    calibrate_step(train, n, &c);
    for (size_t i = 0; i < m; i++) s[i] = simulated_s(&c, &test[i]);
}

/* 6 N + 12 L h s a token, over the 16-bit peak: seconds at an MFU of 1. */
static double ideal_s(const struct step_row *r)
{
    const struct step_work *w = &r->work;
    double flops = w->tokens * w->micro_batches * (6 * w->parameters + 12 * w->layers * w->hidden * w->sequence);
    return flops / r->gpu->peak_flops;
}

static bool alike(const struct step_row *a, const struct step_row *b)
{
    return a->gpu == b->gpu && a->work.fp8 == b->work.fp8;
}

/* The mean MFU of the rows on the same GPU at the same precision, else of all. */
static void by_mfu(const struct step_row *train, size_t n, const struct step_row *test, size_t m, double *s)
{
    for (size_t i = 0; i < m; i++) {
        double sum[2] = {0, 0}, count[2] = {0, 0};
        for (size_t k = 0; k < n; k++)
            for (int all = !alike(&train[k], &test[i]); all < 2; all++) {
                sum[all] += ideal_s(&train[k]) / train[k].step_s;
                count[all]++;
            }
        bool all = count[0] == 0;
        s[i] = ideal_s(&test[i]) * count[all] / sum[all];
    }
}

static double distance(const struct step_row *a, const struct step_row *b)
{
    double x[] = {log(a->work.parameters / b->work.parameters), log(a->work.sequence / b->work.sequence),
                  log(a->work.ranks / b->work.ranks), log(a->work.tokens / b->work.tokens),
                  a->work.recompute != b->work.recompute, 10 * !alike(a, b)};
    double sum = 0;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) sum += x[i] * x[i];
    return sum;
}

/* The MFU of the row that is most alike. */
static void by_neighbour(const struct step_row *train, size_t n, const struct step_row *test, size_t m, double *s)
{
    for (size_t i = 0; i < m; i++) {
        const struct step_row *near = &train[0];
        for (size_t k = 1; k < n; k++)
            if (distance(&train[k], &test[i]) < distance(near, &test[i])) near = &train[k];
        s[i] = ideal_s(&test[i]) * near->step_s / ideal_s(near);
    }
}

enum { FORMULA, MFU, NEIGHBOUR, N_PREDICTORS };
static predict_fn *const predictors[N_PREDICTORS] = {by_formula, by_mfu, by_neighbour};

/* ---- splits ---- */

static int by_row(const struct step_row *r) { return (int)(r->row % 5); }
static int by_row_pairs(const struct step_row *r) { return (int)(r->row / 2 % 5); }
static int by_row_tenth(const struct step_row *r) { return (int)(r->row * 7 % 10); }
static int by_half(const struct step_row *r) { return (int)(r->row % 2); }
static int by_block(const struct step_row *r) { return (int)(r->row / 12); }
static int by_model(const struct step_row *r) { return (int)r->work.hidden / 256; }
static int by_sequence(const struct step_row *r) { return (int)(log2(r->work.sequence) + 0.5); }
static int by_scale(const struct step_row *r) { return r->work.ranks >= 128 ? 0 : TRAIN_ONLY; }
static int by_family(const struct step_row *r) { return strcmp(r->gpu->family, "h100") ? TRAIN_ONLY : 0; }
static int by_family_16(const struct step_row *r) { return by_family(r) == 0 && r->work.fp8 ? 1 : by_family(r); }
static int by_precision(const struct step_row *r) { return by_family_16(r) == 0 ? 0 : TRAIN_ONLY; }

static const struct split {
    const char *name;
    int (*fold)(const struct step_row *);
    double median, p90; /* goals, percent; 0: none */
    bool family;        /* rows of the tested GPU never train, whatever their fold */
    predict_fn *predict; /* NULL: by_formula */
} splits[] = {
    {"5 folds, row modulo 5",                            by_row,       4, 12, false, NULL},
    {"5 folds, pairs of rows",                           by_row_pairs, 4, 12, false, NULL},
    {"10 folds",                                         by_row_tenth, 4, 12, false, NULL},
    {"halves (even from odd rows and the reverse)",      by_half,      4, 12, false, NULL},
    {"blocks of 12 neighbouring rows",                   by_block,     0, 0,  false, NULL},
    {"one model size left out",                          by_model,     0, 0,  false, NULL},
    {"one sequence length left out",                     by_sequence,  0, 0,  false, NULL},
    {"up to 64 GPUs → 128 and more",                     by_scale,     8, 0,  false, NULL},
    {"A100 → H100, from specifications (16 bits)",       by_family_16, 8, 0,  true,  NULL},
    {"A100 → H100, 8-bit rows as well",                  by_family,    8, 0,  true,  NULL},
    {"A100, H100 in 8 bits → H100 in 16",                by_precision, 0, 0,  false, NULL},
    {"5 folds, row modulo 5, by `models/step.h`",         by_row,       4, 12, false, by_simulator},
    {"up to 64 GPUs → 128 and more, by `models/step.h`", by_scale,     8, 0,  false, by_simulator},
};
enum { N_SPLITS = sizeof splits / sizeof *splits, FOLDS_MAX = 64 };

struct errors { size_t n; double median, p90; };

/* Relative errors of the rows that some fold tests. */
static struct errors held_out(const struct split *split, const struct step_table *t, predict_fn *predict)
{
    struct step_row *train = xcalloc(t->rows.n, sizeof *train), *test = xcalloc(t->rows.n, sizeof *test);
    double *s = xcalloc(t->rows.n, sizeof *s), *error = xcalloc(t->rows.n, sizeof *error);
    struct errors e = {0, 0, 0};
    for (int fold = 0; fold < FOLDS_MAX; fold++) {
        size_t n = 0, m = 0;
        for (size_t i = 0; i < t->rows.n; i++) {
            int own = split->fold(&t->rows.v[i]);
            if (own == fold) test[m++] = t->rows.v[i];
            else if (own == TRAIN_ONLY || !split->family) train[n++] = t->rows.v[i];
        }
        if (m == 0 || (split->fold == by_family_16 && fold == 1)) continue;
        predict(train, n, test, m, s);
        for (size_t i = 0; i < m; i++) error[e.n++] = s[i] / test[i].step_s - 1;
    }
    e.median = 100 * absolute_quantile(error, e.n, 0.5);
    e.p90 = 100 * absolute_quantile(error, e.n, 0.9);
    free(train);
    free(test);
    free(s);
    free(error);
    return e;
}

static void read_table(struct step_table *t)
{
    char path[SHARED_PATH_MAX];
    struct diag d = {0};
    shared_path(path, TABLE);
    assert_true(step_table_read(path, STEP_TABLE_MEASURED, t, &d));
    diag_free(&d);
}

static void add_line(struct str *s, const struct split *split, const struct errors e[N_PREDICTORS])
{
    str_printf(s, "| %s | %zu |", split->name, e[FORMULA].n);
    for (int p = 0; p < N_PREDICTORS; p++) str_printf(s, " %.1f / %.1f |", e[p].median, e[p].p90);
    if (split->p90 > 0) str_printf(s, " %g / %g |\n", split->median, split->p90);
    else if (split->median > 0) str_printf(s, " %g median |\n", split->median);
    else str_append(s, " |\n");
}

static void rows_left_out_are_predicted(void **state)
{
    struct step_table t = {0};
    struct str s = {0};
    size_t missed = 0;
    (void)state;
    read_table(&t);
    str_append(&s, "| rows left out | rows | formula | constant MFU | nearest neighbour | goal |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < N_SPLITS; i++) {
        const struct split *split = &splits[i];
        struct errors e[N_PREDICTORS];
        for (int p = 0; p < N_PREDICTORS; p++) e[p] = held_out(split, &t, p == FORMULA && split->predict ? split->predict : predictors[p]);
        add_line(&s, split, e);
        missed += (split->median > 0 && e[FORMULA].median > split->median) ||
                  (split->p90 > 0 && e[FORMULA].p90 > split->p90) || e[FORMULA].median > e[MFU].median;
    }
    doc_section("docs/models.md", "step errors", str_text(&s));
    assert_int_equal(missed, 0);
    str_free(&s);
    step_table_free(&t);
}

/* ---- a third kept back ---- */

enum { DRAWS = 30 };

/* The rows in an order of this draw's own (Fisher and Yates). */
static void shuffle(struct step_row *rows, size_t n, uint32_t draw)
{
    for (size_t i = n; i-- > 1;) {
        uint32_t out[4];
        philox4x32_10((uint32_t[4]){(uint32_t)i}, (uint32_t[2]){draw}, out);
        size_t j = out[0] % (i + 1);
        struct step_row kept = rows[i];
        rows[i] = rows[j];
        rows[j] = kept;
    }
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void random_thirds_are_predicted(void **state)
{
    struct step_table t = {0};
    struct str s = {0};
    double median[DRAWS], p90[DRAWS];
    (void)state;
    read_table(&t);
    size_t m = t.rows.n / 3;
    double *e = xcalloc(m, sizeof *e);
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        shuffle(t.rows.v, t.rows.n, draw + 1);
        by_formula(t.rows.v + m, t.rows.n - m, t.rows.v, m, e);
        for (size_t i = 0; i < m; i++) e[i] = e[i] / t.rows.v[i].step_s - 1;
        median[draw] = 100 * absolute_quantile(e, m, 0.5);
        p90[draw] = 100 * absolute_quantile(e, m, 0.9);
    }
    qsort(median, DRAWS, sizeof *median, ascending);
    qsort(p90, DRAWS, sizeof *p90, ascending);
    str_printf(&s, "| error of a random third, %d draws | the middle draw | range | goal |\n|---|---|---|---|\n", DRAWS);
    str_printf(&s, "| median | %.1f %% | %.1f to %.1f %% | 4 %% |\n", median[DRAWS / 2], median[0], median[DRAWS - 1]);
    str_printf(&s, "| 90th percentile | %.1f %% | %.1f to %.1f %% | 12 %% |\n", p90[DRAWS / 2], p90[0], p90[DRAWS - 1]);
    doc_section("docs/models.md", "step thirds", str_text(&s));
    assert_true(median[DRAWS - 1] <= 4 && p90[DRAWS / 2] <= 12);
    free(e);
    str_free(&s);
    step_table_free(&t);
}

/* Rows made by the formula itself, with known numbers, give the numbers back. */
static void known_numbers_are_found(void **state)
{
    static const struct step_coefficients all = {250, 0.8, 1.2, 4e-6, 0.03};
    static const struct gpu_coefficients own = {0.8, 0.4, 1.7};
    struct step_row rows[144];
    struct step_calibration c;
    size_t n = 0;
    (void)state;
    for (int k = 0; k < 144; k++) {
        struct step_row *r = &rows[n++];
        double layers = 12 + 4 * (k % 7), hidden = 768 + 512 * (k % 5), sequence = 512 << k % 6;
        *r = (struct step_row){.gpu = gpu_spec_find("h100_80gb")};
        double inner = 12 * layers * hidden * hidden;
        r->work = (struct step_work){.parameters = inner + 50368 * hidden, .layer_parameters = inner, .layers = layers,
                                     .hidden = hidden, .vocabulary = 50368, .sequence = sequence, .tokens = 8192 << k % 3,
                                     .micro_batches = 1 + k % 4, .ranks = 8 << k % 7, .ranks_per_node = 8, .tensor = 1,
                                     .sharding = k % 4 ? SHARD_FULL : SHARD_GRADIENTS, .recompute = k % 3 == 0,
                                     .fp8 = k % 11 == 0};
        r->step_s = step_sharded_s(&r->work, r->gpu, &own, &all);
    }
    calibrate_step(rows, n, &c);
    assert_int_equal(c.n_families, 1);
    double got[] = {c.all.activation_bytes, c.all.forward, c.all.exposed, c.all.hop_s, c.all.step_s,
                    c.family[0].numbers.gemm, c.family[0].numbers.attention, c.family[0].numbers.fp8};
    double want[] = {250, 0.8, 1.2, 4e-6, 0.03, 0.8, 0.4, 1.7};
    for (size_t i = 0; i < sizeof got / sizeof *got; i++) assert_true(fabs(got[i] / want[i] - 1) < 0.02);
    assert_true(c.median < 1e-3);
}

/* A calibration that is written, named by a scenario and read gives the simulator's hardware the same numbers. */
static void profile_goes_into_a_scenario(void **state)
{
    static const char text[] = "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 1, \"gpus\": 8, "
                               "\"gpu\": \"h100\"}], \"kernels\": \"mine.json\"}, \"approaches\": {\"op\": {}}}";
    struct step_calibration c = {.all = {250, 0.8, 1.2, 4e-6, 0.03}, .n_families = 1, .n_rows = 7};
    struct diag d = {0};
    struct str profile = {0}, path = {0}, scenario = {0};
    char dir[] = "/tmp/trainyard-profile-XXXXXX";
    (void)state;
    c.family[0] = (struct step_family){"h100", 7, {0.7, 0.3, 1.5}};
    assert_non_null(mkdtemp(dir));
    step_calibration_write(&c, "mine", "a test", &profile);
    str_printf(&path, "%s/mine.json", dir);
    assert_true(file_write_atomic(str_text(&path), profile.s, profile.n, &d));
    str_printf(&scenario, "%s/scenario.json", dir);
    struct scenario *s = scenario_parse(str_text(&scenario), text, strlen(text), NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    const struct step_hardware *h = s->cluster.groups[0].hardware;
    assert_non_null(h);
    assert_true(h->common.activation_bytes == 250 && h->common.forward == 0.8 && fabs(h->common.step_s - 0.03) < 1e-9);
    assert_true(h->kernels.gemm == 0.7 && h->kernels.attention == 0.3 && h->kernels.fp8 == 1.5);
    scenario_free(s);
    file_remove_tree(dir, &d);
    diag_free(&d);
    str_free(&profile);
    str_free(&path);
    str_free(&scenario);
}

/* The shipped numbers are those that the public table gives. */
static void shipped_numbers_are_the_calibrated(void **state)
{
    struct step_table t = {0};
    struct step_calibration c;
    (void)state;
    read_table(&t);
    calibrate_step(t.rows.v, t.rows.n, &c);
    const struct step_coefficients *shipped = &step_coefficients_default;
    double ratio[] = {c.all.activation_bytes / shipped->activation_bytes, c.all.forward / shipped->forward,
                      c.all.exposed / shipped->exposed, c.all.hop_s / shipped->hop_s, c.all.step_s / shipped->step_s};
    for (size_t i = 0; i < sizeof ratio / sizeof *ratio; i++) assert_true(fabs(ratio[i] - 1) < 0.02);
    for (size_t i = 0; i < c.n_families; i++) {
        struct gpu_coefficients own = gpu_coefficients_default(c.family[i].name);
        assert_true(fabs(own.gemm / c.family[i].numbers.gemm - 1) < 0.02);
        assert_true(fabs(own.attention / c.family[i].numbers.attention - 1) < 0.02);
    }
    step_table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_left_out_are_predicted),
        cmocka_unit_test(random_thirds_are_predicted),
        cmocka_unit_test(known_numbers_are_found),
        cmocka_unit_test(profile_goes_into_a_scenario),
        cmocka_unit_test(shipped_numbers_are_the_calibrated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
