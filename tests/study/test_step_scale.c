/* test_step_scale.c - step.h with the calibrated kernels against runs with tensor and pipeline parallelism and thousands of
 * GPUs, none of which was fitted: BigScience's trials for BLOOM, Megatron-LM, MegaScale, MLPerf GPT-3, torchtitan.
 *
 *     build/tests/study/test_step_scale      prints each group; TRAINYARD_VERBOSE=1 each row
 *
 * What differs between programs (fused kernels, attention, versions) is one number a group: the ratio of measured to
 * predicted, from the group's first rows or from every other row; the others are predicted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/str.h"
#include "base/units.h"
#include "models/step.h"
#include "study/calibrate_step.h"
#include "tests/support/doc_section.h"
#include "tests/support/shared.h"

enum { ROWS_MAX = 256 };

/* A measured step, what the formula says, and the model's FLOPs a GPU; `fit`: its ratio may be used. */
struct point { double measured_s, predicted_s, work; bool fit; };
struct points { struct point v[ROWS_MAX]; size_t n; };

/* ---- a step as step.h wants it ---- */

struct run {
    const char *gpu;
    struct model_shape model;
    struct parallelism split;
    double batch;
    uint32_t micro;
    enum recompute recompute;
    enum precision precision;
    unsigned nics;
    double nic_bytes_per_s;
    bool bare; /* data-parallel traffic is not overlapped */
};

static double predicted_s(const struct run *r, struct step_time *t)
{
    const struct gpu_spec *gpu = gpu_spec_find(r->gpu);
    struct step_input in = {.model = r->model, .split = r->split, .place = {.run = 8}, .overlap = !r->bare};
    in.batch = (struct step_batch){r->batch, r->micro, r->recompute, r->precision};
    in.hardware = step_hardware_of(gpu);
    in.hardware.fabric.gpu_generation = strcmp(gpu->family, "a100") ? 90 : 80;
    in.hardware.fabric.nvlink_bytes_per_s = gpu->link_bytes_per_s;
    in.hardware.fabric.nics = r->nics;
    in.hardware.fabric.nic_bytes_per_s = r->nic_bytes_per_s;
    if (step_problem(&in)) fail_msg("%s", step_problem(&in));
    *t = step_time(&in);
    return step_total(t);
}

static void add(struct points *to, const struct run *r, double measured_s, bool fit, const char *label)
{
    struct step_time t;
    assert_true(to->n < ROWS_MAX);
    struct point *p = &to->v[to->n++];
    p->measured_s = measured_s;
    p->predicted_s = predicted_s(r, &t);
    p->work = r->batch * model_flops(&r->model) / parallel_ranks(&r->split);
    p->fit = fit;
    if (getenv("TRAINYARD_VERBOSE"))
        printf("    %-34s %8.3f s, predicted %8.3f: compute %.3f bubble %.3f tensor %.3f pipeline %.3f data %.3f\n", label,
               measured_s, p->predicted_s, t.part[STEP_COMPUTE], t.part[STEP_BUBBLE], t.exposed[TRAFFIC_TENSOR],
               t.exposed[TRAFFIC_PIPELINE], t.exposed[TRAFFIC_DATA]);
}

/* ---- errors of a group ---- */

static double median_ratio(const struct points *p, bool formula)
{
    double ratio[ROWS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].fit) ratio[n++] = p->v[i].measured_s / (formula ? p->v[i].predicted_s : p->v[i].work);
    return absolute_quantile(ratio, n, 0.5);
}

static void add_line(struct str *s, const char *name, const struct points *p, const char *fitted, double goal, bool *good)
{
    double own[ROWS_MAX], scaled[ROWS_MAX], constant[ROWS_MAX], factor = median_ratio(p, true), rate = median_ratio(p, false);
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i].fit) continue;
        own[n] = p->v[i].predicted_s / p->v[i].measured_s - 1;
        scaled[n] = factor * p->v[i].predicted_s / p->v[i].measured_s - 1;
        constant[n++] = rate * p->v[i].work / p->v[i].measured_s - 1;
    }
    str_printf(s, "| %s | %zu | %s |", name, n, fitted);
    double median = 100 * absolute_quantile(scaled, n, 0.5);
    str_printf(s, " %.1f / %.1f |", 100 * absolute_quantile(own, n, 0.5), 100 * absolute_quantile(own, n, 0.9));
    str_printf(s, " %.2f | %.1f / %.1f |", factor, median, 100 * absolute_quantile(scaled, n, 0.9));
    str_printf(s, " %.1f / %.1f |\n", 100 * absolute_quantile(constant, n, 0.5), 100 * absolute_quantile(constant, n, 0.9));
    *good &= (goal == 0 || median <= goal) && median <= 100 * absolute_quantile(constant, n, 0.5);
}

/* ---- CSV ---- */

struct reading { struct points *points; size_t kept; const char *wanted; };

static double number_of(const struct csv_row *row, size_t column)
{
    const char *text = csv_field(row, column);
    double x;
    return text && *text && !units_parse_double(text, &x) ? x : 0;
}

static void read_rows(const char *relative, const char *const *columns, size_t n,
                      bool (*on_row)(void *, const struct csv_row *), struct points *to, const char *wanted)
{
    char path[SHARED_PATH_MAX];
    struct diag d = {0};
    struct reading r = {to, 0, wanted};
    shared_path(path, relative);
    assert_true(csv_read(path, &(struct csv_spec){columns, n, NULL, 0, on_row, &r}, &d));
    diag_free(&d);
}

/* A GPT of so many parameters whose layers divide by `stages`. */
static struct model_shape gpt(double parameters, double vocabulary, double sequence, uint32_t layers)
{
    double v = vocabulary + sequence, h = (sqrt(v * v + 48.0 * layers * parameters) - v) / (24.0 * layers);
    return (struct model_shape){.name = "gpt", .parameters = parameters, .active_parameters = parameters, .layers = layers,
                                .hidden = (uint32_t)(h / 128 + 0.5) * 128, .heads = (uint32_t)(h / 128 + 0.5),
                                .kv_heads = (uint32_t)(h / 128 + 0.5), .vocabulary = (uint32_t)vocabulary,
                                .sequence = (uint32_t)sequence, .tied = true};
}

/* ---- BigScience: A100 80 GB, 8 a node, 4 x 100 Gb/s Omni-Path; BLOOM has 70 layers (Le Scao et al., arXiv 2211.05100) ---- */

/* The program changed on 21 February 2022: tensor 8, pipeline 12, micro-batch 2 went from 162 to 120 s; `wanted` is "before" or "after". */
static const char *const bigscience[] = {"model_size", "gpus", "dp", "tp", "pp", "microbatch", "global_batch", "sec_per_iter",
                                         "notes"};

static bool on_bigscience(void *arg, const struct csv_row *row)
{
    struct reading *r = arg;
    double gpus = number_of(row, 1), batch = number_of(row, 6), seconds = number_of(row, 7);
    uint32_t tp = (uint32_t)number_of(row, 3), pp = (uint32_t)number_of(row, 4), micro = (uint32_t)number_of(row, 5);
    double size = strtod(csv_field(row, 0), NULL) * 1e9;
    uint32_t dp = (uint32_t)number_of(row, 2), layers = pp ? (72 + pp - 1) / pp * pp : 0;
    bool before = strncmp(csv_field(row, 8), "02-20", 5) == 0;
    if (!(seconds > 0) || !(gpus >= 8) || !tp || !micro || !dp || !layers || !(size > 0)) return true;
    if (before != !strcmp(r->wanted, "before")) return true;
    struct run run = {.gpu = "a100_80gb", .model = gpt(size, 250880, 2048, layers), .batch = batch, .micro = micro,
                      .split = {.data = dp, .tensor = tp, .pipeline = pp, .interleave = 1, .context = 1, .expert = 1, .zero = 1},
                      .recompute = RECOMPUTE_FULL, .nics = 4, .nic_bytes_per_s = 12.5e9};
    char label[96];
    snprintf(label, sizeof label, "%s tp %u pp %u dp %u mb %u b %g", csv_field(row, 0), tp, pp, dp, micro, batch);
    add(r->points, &run, seconds, r->kept++ % 2 == 0, label);
    return true;
}

/* ---- published tables ---- */

static const char *const published[] = {"model", "params_b", "gpus", "tp", "pp", "dp", "global_batch_seq", "step_time_s"};

/* GPT-175B of MegaScale's table 2: 96 layers, tensor 8, pipeline 8, interleaved 6 times; 8 x 200 Gb/s a node. Overlapping
 * the data-parallel traffic is what MegaScale adds to Megatron-LM (arXiv 2402.15627, section 3.2). */
static bool on_megascale(void *arg, const struct csv_row *row)
{
    struct reading *r = arg;
    double seconds = number_of(row, 7), batch = number_of(row, 6), gpus = number_of(row, 2);
    char set[64];
    snprintf(set, sizeof set, "%s %g", csv_field(row, 0), batch);
    if (strcmp(set, r->wanted) || !(seconds > 0)) return true;
    struct run run = {.gpu = "a100_80gb", .model = *model_known("gpt3-175b"), .batch = batch, .micro = 1,
                      .split = {.data = (uint32_t)number_of(row, 5), .tensor = 8, .pipeline = 8, .interleave = 6, .context = 1,
                                .expert = 1, .zero = 2, .sequence = true},
                      .recompute = RECOMPUTE_SELECTIVE, .nics = 8, .nic_bytes_per_s = 25e9,
                      .bare = strstr(set, "Megatron-LM") != NULL};
    char label[96];
    snprintf(label, sizeof label, "%s, %g GPUs", set, gpus);
    add(r->points, &run, seconds, r->kept++ == 0, label);
    return true;
}

/* ---- MLPerf GPT-3: 8-bit, tensor 4, pipeline 8, as the name of the public configuration says (DGXH100_64x8x128x4x8) ---- */

static const char *const mlperf[] = {"round", "submitter", "benchmark", "accelerators", "global_batch",
                                     "median_logged_throughput_samples_s"};

static bool on_mlperf(void *arg, const struct csv_row *row)
{
    struct reading *r = arg;
    double gpus = number_of(row, 3), batch = number_of(row, 4), tokens = number_of(row, 5);
    if (strcmp(csv_field(row, 2), "gpt3") || strcmp(csv_field(row, 0), r->wanted) || !(tokens > 0)) return true;
    struct run run = {.gpu = "h100_80gb", .model = *model_known("gpt3-175b"), .batch = batch, .micro = 1,
                      .split = {.data = (uint32_t)(gpus / 32), .tensor = 4, .pipeline = 8, .interleave = 6, .context = 1,
                                .expert = 1, .zero = 2, .sequence = true},
                      .recompute = RECOMPUTE_SELECTIVE, .precision = PRECISION_FP8, .nics = 8, .nic_bytes_per_s = 50e9};
    char label[96];
    snprintf(label, sizeof label, "%s %s, %g GPUs", csv_field(row, 0), csv_field(row, 1), gpus);
    add(r->points, &run, batch * 2048 / tokens, gpus == 512, label);
    return true;
}

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define BIGSCIENCE "data/training/bigscience_bloom_3d.csv"
#define PUBLISHED  "data/training/published_step_tables.csv"
#define MLPERF     "data/training/mlperf_training_v3x.csv"

static const struct group {
    const char *name, *fitted, *file;
    const char *const *columns;
    size_t n_columns;
    bool (*on_row)(void *, const struct csv_row *);
    const char *wanted;
    double goal; /* percent, median: published for perfect scaling or constant FLOP/s; 0: none. It must be beaten,
                    * and so must be the constant rate from the same rows */
} groups[] = {
    {"BigScience 176B to 203B, 320 to 384 A100, on 20 February", "every other row", BIGSCIENCE, bigscience, COUNT(bigscience), on_bigscience, "before", 11.7},
    {"BigScience 176B to 203B, 320 to 384 A100, from 21 February", "every other row", BIGSCIENCE, bigscience, COUNT(bigscience), on_bigscience, "after", 11.7},
    {"Megatron-LM 175B, batch 6144: 3,072 → 12,288 A100", "the smallest", PUBLISHED, published, COUNT(published), on_megascale, "GPT-175B Megatron-LM 6144", 0},
    {"MegaScale 175B, batch 6144: 3,072 → 12,288 A100", "the smallest", PUBLISHED, published, COUNT(published), on_megascale, "GPT-175B MegaScale 6144", 7.2},
    {"MegaScale 175B, batch 768: 256 → 1,024 A100", "the smallest", PUBLISHED, published, COUNT(published), on_megascale, "GPT-175B MegaScale 768", 7.2},
    {"MLPerf v3.1 GPT-3: 512 → 10,752 H100", "512 GPUs", MLPERF, mlperf, COUNT(mlperf), on_mlperf, "v3.1", 17.4},
    {"MLPerf v3.0 GPT-3: 512 → 3,584 H100", "512 GPUs", MLPERF, mlperf, COUNT(mlperf), on_mlperf, "v3.0", 17.4},
};

static void other_programs(void **state)
{
    static struct points p;
    struct str s = {0};
    bool good = true;
    (void)state;
    str_append(&s, "| group | rows | its factor from | as it is | factor | with the factor | constant FLOP/s |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT(groups); i++) {
        const struct group *g = &groups[i];
        p.n = 0;
        if (getenv("TRAINYARD_VERBOSE")) printf("%s\n", g->name);
        read_rows(g->file, g->columns, g->n_columns, g->on_row, &p, g->wanted);
        assert_true(p.n > 1);
        add_line(&s, g->name, &p, g->fitted, g->goal, &good);
    }
    doc_section("docs/models.md", "step scale", str_text(&s));
    assert_true(good);
    str_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
