/* test_calibrate_gpu.c - lines through measured rows, and the profiles that are made of them.
 *
 * Expected values: an exact line gives itself; through the origin the slope is sum(w x t) / sum(w x^2) with w = 1/t^2 (weighted least
 * squares, one parameter); peaks and reachable parts of a GPU are those of models/gpu_spec.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "study/calibrate_gpu.h"

static void near(double got, double want)
{
    if (!(fabs(got / want - 1) < 1e-9)) fail_msg("%.12g, not %.12g", got, want);
}

static void add(struct gpu_rows *rows, enum gpu_quantity q, double work, double time_s)
{
    array_push(&rows->list, (struct gpu_row){.quantity = q, .work = work, .time_s = time_s});
}

static void a_line_gives_itself(void **state)
{
    (void)state;
    struct gpu_rows rows = {0};
    struct gpu_fit f[N_GPU_QUANTITIES];
    for (int i = 0; i < 6; i++) add(&rows, GPU_TO_HOST, 1e6 * (1 << i), 20e-6 + 1e6 * (1 << i) / 25e9);
    add(&rows, GPU_MEMORY, 1e9, 1e-3);
    calibrate_gpu(&rows, f);
    assert_int_equal(f[GPU_TO_HOST].rows, 6);
    near(f[GPU_TO_HOST].rate, 25e9);
    near(f[GPU_TO_HOST].start_s, 20e-6);
    near(f[GPU_TO_HOST].best_rate, 32e6 / (20e-6 + 32e6 / 25e9));
    assert_true(f[GPU_TO_HOST].p90 < 1e-9 && f[GPU_TO_HOST].rate_error < 1e-6);
    assert_int_equal(f[GPU_MEMORY].rows, 0); /* one row is no line */
    gpu_rows_free(&rows);
}

/* 1 in 1 s, 2 in 2.2 s, 4 in 5 s: a straight line would begin below 0. */
static void no_time_is_negative(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 4}, t[] = {1, 2.2, 5};
    double xt = 0, xx = 0;
    struct gpu_rows rows = {0};
    struct gpu_fit f[N_GPU_QUANTITIES];
    for (int i = 0; i < 3; i++) {
        add(&rows, GPU_GEMM, x[i], t[i]);
        xt += x[i] * t[i] / (t[i] * t[i]);
        xx += x[i] * x[i] / (t[i] * t[i]);
    }
    double slope = xt / xx, residual[3];
    calibrate_gpu(&rows, f);
    assert_true(f[GPU_GEMM].start_s == 0);
    near(f[GPU_GEMM].rate, 1 / slope);
    for (int i = 0; i < 3; i++) residual[i] = fabs(slope * x[i] / t[i] - 1);
    double most = fmax(residual[0], fmax(residual[1], residual[2])), least = fmin(residual[0], fmin(residual[1], residual[2]));
    near(f[GPU_GEMM].median, residual[0] + residual[1] + residual[2] - most - least);
    gpu_rows_free(&rows);
}

static const char *text_of(const cJSON *o, const char *key)
{
    const cJSON *v = json_member(o, key);
    assert_true(cJSON_IsString(v));
    return v->valuestring;
}

static void profiles_say_what_was_measured(void **state)
{
    (void)state;
    const struct gpu_spec *h100 = gpu_spec_find("NVIDIA H100 80GB HBM3");
    struct gpu_facts facts = {.name = "NVIDIA H100 80GB HBM3", .capability = 90, .nvlink_links = 18, .pcie_bytes_per_s = 64e9};
    struct gpu_rows rows = {0};
    struct gpu_fit f[N_GPU_QUANTITIES];
    struct str json = {0};
    struct diag d = {0};
    const double rate = 0.9 * h100->peak_flops * h100->matmul;
    for (int i = 1; i < 5; i++) add(&rows, GPU_STEP, i * 1e14, i * 1e14 / rate);
    for (int i = 10; i < 28; i++) add(&rows, GPU_ALL_REDUCE, 1 << i, 20e-6 + (1 << i) / 240e9);
    calibrate_gpu(&rows, f);
    near(calibrate_gpu_gemm(h100, f), 0.9);
    assert_true(calibrate_gpu_gemm(NULL, f) == 0);

    calibrate_gpu_hardware(&facts, 8, f, 8, "ours", "a test", &json);
    struct json_doc *doc = json_parse("hardware", json.s, json.n, &d);
    assert_string_equal(text_of(doc->root, "gpu"), "h100");
    assert_string_equal(text_of(doc->root, "intra"), "420GB/s"); /* 240 x 2 x 7/8: bus bandwidth as nccl-tests defines it */
    assert_string_equal(text_of(doc->root, "pcie"), "64GB/s");
    assert_int_equal(json_member(doc->root, "gpus")->valueint, 8);
    json_free(doc);
    str_clear(&json);

    calibrate_gpu_kernels(h100, f, "ours", "a test", &json);
    doc = json_parse("kernels", json.s, json.n, &d);
    const cJSON *family = json_member(doc->root, "gpus")->child;
    assert_string_equal(text_of(family, "family"), "h100");
    near(json_member(family, "gemm")->valuedouble, 0.9);
    json_free(doc);
    str_clear(&json);

    calibrate_gpu_residuals(&rows, f, &json);
    size_t lines = 0;
    for (const char *p = str_text(&json); *p; p++) lines += *p == '\n';
    assert_int_equal(lines, 1 + rows.list.n);
    str_free(&json);
    gpu_rows_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_gives_itself),
        cmocka_unit_test(no_time_is_negative),
        cmocka_unit_test(profiles_say_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
