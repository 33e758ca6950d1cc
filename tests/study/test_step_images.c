/* test_step_images.c - steps of what is no transformer against MLPerf Training v3.0 and v3.1: ResNet-50 and the recommender.
 *
 *     build/tests/study/test_step_images      prints the table; TRAINYARD_VERBOSE=1 each row
 *
 * Three numbers are from one row each: bytes that an activation moves, from ResNet-50 on 8 A100 SXM; launches of a layer, from
 * ResNet-50 on 64 H100; bytes that a row of clicks moves, from the recommender on 8 H100 (models/flops.c). All other rows are
 * predicted. A PCIe card runs at its own clocks,
 * which no row of the GPU table has; L4 is the smallest GPU that it has.
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

static const struct group {
    const char *name, *benchmark, *model, *accelerator, *gpu;
    double from, to;    /* GPUs */
    double fitted_gpus; /* of rows that gave a number; 0: none */
    double goal;        /* percent, median; 0: none */
} groups[] = {
    {"ResNet-50, 4 to 16 H100 SXM", "resnet", "resnet-50", "NVIDIA H100-SXM5-80GB", "h100_80gb", 1, 16, 0, 10},
    {"ResNet-50, 512 and 768 H100 SXM", "resnet", "resnet-50", "NVIDIA H100-SXM5-80GB", "h100_80gb", 64, 4096, 64, 10},
    {"ResNet-50, 16 A100 SXM", "resnet", "resnet-50", "NVIDIA A100-SXM-80GB CTS", "a100_80gb", 16, 4096, 8, 10},
    {"ResNet-50, 2 to 8 H100 PCIe", "resnet", "resnet-50", "NVIDIA H100-PCIe-80GB", "h100_pcie", 1, 8, 0, 0},
    {"ResNet-50, 4 to 32 A100 PCIe, as SXM", "resnet", "resnet-50", "NVIDIA A100-PCIe-80GB", "a100_80gb", 1, 64, 0, 0},
    {"ResNet-50, 6 L4", "resnet", "resnet-50", "NVIDIA L4", "l4", 1, 64, 0, 0},
    {"DLRM-DCNv2, 4 H100", "dlrm_dcnv2", "dlrm-dcnv2", "NVIDIA H100-SXM5-80GB", "h100_80gb", 1, 4, 0, 0},
    {"DLRM-DCNv2, 64 and 128 H100", "dlrm_dcnv2", "dlrm-dcnv2", "NVIDIA H100-SXM5-80GB", "h100_80gb", 64, 4096, 0, 0},
};

struct reading { const struct group *g; double error[ROWS_MAX], constant[ROWS_MAX]; size_t n; double rate; };

static double number_of(const struct csv_row *row, size_t column)
{
    const char *text = csv_field(row, column);
    double x;
    return text && *text && !units_parse_double(text, &x) ? x : 0;
}

static double predicted_s(const struct group *g, double gpus, double batch)
{
    const struct gpu_spec *gpu = gpu_spec_find(g->gpu);
    struct step_input in = {.model = *model_known(g->model), .hardware = step_hardware_of(gpu), .place = {8}, .overlap = 1};
    in.split = (struct parallelism){(uint32_t)gpus, 1, 1, 1, 1, 1, 0, false};
    in.batch = (struct step_batch){batch, (uint32_t)ceil(batch / gpus), RECOMPUTE_NONE, PRECISION_BF16};
    in.hardware.fabric.gpu_generation = strcmp(gpu->family, "a100") ? 90 : 80;
    in.hardware.fabric.nvlink_bytes_per_s = gpu->link_bytes_per_s;
    struct step_time t = step_time(&in);
    return step_total(&t);
}

static bool on_row(void *arg, const struct csv_row *row)
{
    struct reading *r = arg;
    const struct group *g = r->g;
    double gpus = number_of(row, 2), batch = number_of(row, 3), samples_per_s = number_of(row, 4);
    if (strcmp(csv_field(row, 0), g->benchmark) || strcmp(csv_field(row, 1), g->accelerator) || !(samples_per_s > 0)) return true;
    if (gpus < g->from || gpus > g->to || gpus == g->fitted_gpus) return true;
    double measured = batch / samples_per_s, predicted = predicted_s(g, gpus, batch);
    r->error[r->n] = predicted / measured - 1;
    r->constant[r->n++] = batch / (r->rate * gpus) / measured - 1;
    if (getenv("TRAINYARD_VERBOSE")) printf("  %s: %g GPUs, batch %g: %.4f s, predicted %.4f\n", g->name, gpus, batch, measured, predicted);
    assert_true(r->n < ROWS_MAX);
    return true;
}

/* Samples a second and GPU if the peak told all: MFU as on the row that gave the number. */
static double constant_rate(const struct group *g)
{
    bool images = strcmp(g->model, "resnet-50") == 0;
    double rate = images ? 28603.3924 / 8 : 12436723.1138 / 8;
    return rate * gpu_spec_find(g->gpu)->peak_flops / gpu_spec_find(images ? "a100" : "h100")->peak_flops;
}

static void measure(const struct group *g, struct reading *r)
{
    static const char *const columns[] = {"benchmark", "accelerator", "accelerators", "global_batch",
                                          "median_logged_throughput_samples_s"};
    char path[SHARED_PATH_MAX];
    struct diag d = {0};
    *r = (struct reading){.g = g, .rate = constant_rate(g)};
    shared_path(path, "data/training/mlperf_training_v3x.csv");
    assert_true(csv_read(path, &(struct csv_spec){columns, 5, NULL, 0, on_row, r}, &d));
    diag_free(&d);
    assert_true(r->n > 0);
}

static void images_and_clicks(void **state)
{
    struct str s = {0};
    bool good = true;
    (void)state;
    str_append(&s, "| group | rows | model | constant MFU |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct reading r;
        measure(&groups[i], &r);
        double median = 100 * absolute_quantile(r.error, r.n, 0.5), constant = 100 * absolute_quantile(r.constant, r.n, 0.5);
        str_printf(&s, "| %s | %zu | %.1f / %.1f |", groups[i].name, r.n, median, 100 * absolute_quantile(r.error, r.n, 0.9));
        str_printf(&s, " %.1f / %.1f |\n", constant, 100 * absolute_quantile(r.constant, r.n, 0.9));
        good &= groups[i].goal == 0 || median <= groups[i].goal;
    }
    doc_section("docs/models.md", "steps of other models", str_text(&s));
    assert_true(good);
    str_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(images_and_clicks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
