/* test_gpu_spec.c - the table of GPUs against the collected specifications and measured matrix products.
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

#include "base/csv.h"
#include "models/gpu_spec.h"
#include "tests/support/shared.h"

static size_t n_compared;

static void near(const char *gpu, const char *what, double have, const char *said, double unit)
{
    char *end;
    double want = strtod(said, &end) * unit;
    if (end == said || fabs(have / want - 1) < 0.02) return;
    fail_msg("%s: %s is %g here and %s there", gpu, what, have, said);
}

static bool on_spec(void *arg, const struct csv_row *row)
{
    const char *name = csv_field(row, 0);
    const struct gpu_spec *g = gpu_spec_find(name);
    (void)arg;
    if (!g) fail_msg("%s is not known", name);
    near(name, "peak", g->peak_flops, csv_field(row, 1), 1e12);
    near(name, "memory bandwidth", g->memory_bytes_per_s, csv_field(row, 2), 1e12);
    if (strcmp(csv_field(row, 3), "0") && !strstr(name, "PCIe")) near(name, "link", g->link_bytes_per_s, csv_field(row, 3), 0.5e9);
    n_compared++;
    return true;
}

static bool on_matmul(void *arg, const struct csv_row *row)
{
    const struct gpu_spec *g = gpu_spec_find(csv_field(row, 0));
    (void)arg;
    if (!g || strstr(csv_field(row, 0), "PCIe")) return true;
    near(csv_field(row, 0), "matmul", g->matmul, csv_field(row, 1), 1);
    n_compared++;
    return true;
}

static void read_all(const char *relative, const char *const *columns, size_t n, bool (*on_row)(void *, const struct csv_row *))
{
    char path[SHARED_PATH_MAX];
    struct diag d = {0};
    shared_path(path, relative);
    assert_true(csv_read(path, &(struct csv_spec){columns, n, NULL, 0, on_row, NULL}, &d));
    diag_free(&d);
}

static void as_specified(void **state)
{
    static const char *const spec[] = {"gpu", "peak_dense_tflops", "hbm_tbs", "nvlink_duplex_gbs"};
    static const char *const matmul[] = {"gpu", "fraction"};
    (void)state;
    n_compared = 0;
    read_all("data/hardware/gpu_specs.csv", spec, 4, on_spec);
    read_all("data/hardware/max_achievable_matmul_bf16.csv", matmul, 2, on_matmul);
    assert_true(n_compared >= 20);
}

static void each_row_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; gpu_spec_at(i); i++) {
        const struct gpu_spec *g = gpu_spec_at(i);
        assert_ptr_equal(gpu_spec_find(g->name), g);
        assert_true(g->peak_flops > 0 && g->matmul > 0 && g->matmul <= 1 && g->mma > 0 && g->mma <= 1);
        assert_true(g->memory_bytes > 0 && g->memory_bytes_per_s > 0 && g->link_bytes_per_s > 0 && g->node_bytes_per_s > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_row_is_found), cmocka_unit_test(as_specified)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
