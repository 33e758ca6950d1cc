/* test_collective_table.c - tables of collectives in each printed form, and what is said about bad ones; profiles of fabrics.
 *
 * The layouts are those of NVIDIA/nccl-tests (src/common.cu, versions 2.0 to 2.17), ROCm/rccl-tests and the OSU
 * micro-benchmarks 5 and 7; the figures are made up.
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
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "input/collective_fabric.h"
#include "input/collective_table.h"
#include "input/raw.h"
#include "tests/support/doc_section.h"

static int make_file(const char *text, char path[64])
{
    int fd = memfd_create("table", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static struct collective_table read_text(const char *text)
{
    char path[64];
    int fd = make_file(text, path);
    struct collective_table t = {0};
    struct diag d = {0};
    if (!collective_table_read(path, &t, &d)) {
        diag_print(&d, stderr);
        fail_msg("not read");
    }
    close(fd);
    return t;
}

static void row_is(const struct collective_table *t, size_t i, double bytes, double us)
{
    assert_true(i < t->rows.n);
    assert_true(t->rows.v[i].bytes == bytes);
    assert_true(fabs(t->rows.v[i].time_s * 1e6 - us) < 1e-9 * us);
}

static void csv_in_any_order(void **state)
{
    (void)state;
    struct collective_table t = read_text("\xef\xbb\xbf"
                                          "busbw_gbs,size_bytes,inplace_time_us,time_us,algbw_gbs\r\n"
                                          "18.75,1048576,99.5,100,10\r\n"
                                          "0.0001,8,,25.5,0.0001\r\n"
                                          "1.875,0,1,1,1\r\n"
                                          "37.5,2097152,,,20\r\n");
    assert_int_equal(t.rows.n, 3);
    row_is(&t, 0, 8, 25.5);
    row_is(&t, 1, 1048576, 99.5);
    row_is(&t, 2, 2097152, 104.8576); /* size over algorithm bandwidth */
    assert_true(t.op_known && t.op == COLLECTIVE_ALL_REDUCE && t.ranks == 16); /* 1.875 = 2 x 15 / 16 */
    collective_table_free(&t);
}

/* As spreadsheets write it: quotes, blanks, a comma within a field of no interest, a line of blanks. */
static void csv_with_quotes(void **state)
{
    (void)state;
    struct collective_table t = read_text("\"machine\", \"size_bytes\" ,\"time_us\"\n\"H100, 2 x 8\",\"8\", 25.5\n  \nH100,16, \"26\"\n");
    assert_int_equal(t.rows.n, 2);
    row_is(&t, 0, 8, 25.5);
    row_is(&t, 1, 16, 26);
    collective_table_free(&t);
}

static void ratio_tells_the_operation(void **state)
{
    (void)state;
    struct collective_table t = read_text("size_bytes,time_us,algbw_gbs,busbw_gbs\n1024,10,8,7\n");
    assert_true(t.op == COLLECTIVE_ALL_GATHER && t.ranks == 8);
    collective_table_free(&t);
    t = read_text("size_bytes,time_us,algbw_gbs,busbw_gbs\n1024,10,8,8\n");
    assert_true(t.op == COLLECTIVE_ALL_REDUCE && t.ranks == 2);
    collective_table_free(&t);
    t = read_text("size_bytes,time_us\n1024,10\n");
    assert_true(!t.op_known && t.ranks == 0);
    collective_table_free(&t);
}

#define NCCL_HEAD                                                                                                       \
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1\n" \
    "#\n# Using devices\n"                                                                                               \
    "#  Rank  0 Group  0 Pid    100 on     node-a device  0 [0x1b] NVIDIA H100 80GB HBM3\n"                              \
    "#  Rank  1 Group  0 Pid    100 on     node-a device  1 [0x43] NVIDIA H100 80GB HBM3\n"                              \
    "#  Rank  2 Group  0 Pid    200 on     node-b device  0 [0x1b] NVIDIA H100 80GB HBM3\n"                              \
    "#  Rank  3 Group  0 Pid    200 on     node-b device  1 [0x43] NVIDIA H100 80GB HBM3\n"

static void nccl_tests_of_today(void **state)
{
    (void)state;
    struct collective_table t = read_text(
        NCCL_HEAD "NCCL version 2.26.2+cuda12.8\n"
        "#                                                              out-of-place                       in-place          \n"
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n"
        "           8             2     float     sum      -1    30.00    0.00    0.00      0    29.50    0.00    0.00      0\n"
        "     1048576        262144     float     sum      -1      200    5.24    7.86      0    210.0    4.99    7.49    N/A\n"
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 3.8 \n#\n");
    assert_int_equal(t.rows.n, 2);
    row_is(&t, 0, 8, 29.5);
    row_is(&t, 1, 1048576, 200);
    assert_true(t.ranks == 4 && t.nodes == 2 && t.gpus_per_process == 2);
    assert_string_equal(t.gpu, "NVIDIA H100 80GB HBM3");
    assert_true(t.op_known && t.op == COLLECTIVE_ALL_REDUCE);
    collective_table_free(&t);
}

/* Without a root, behind a launcher's prefix, of an all-gather. */
static void nccl_tests_of_old(void **state)
{
    (void)state;
    struct collective_table t = read_text(
        "[1,0]<stdout>:# nThread 1 nGpus 1 minBytes 8 maxBytes 64\n"
        "[1,0]<stdout>:#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n"
        "[1,0]<stdout>:     8388608        131072   float            400.0   20.97   19.66  0e+00    390.0   21.51   20.16  0e+00\n"
        "[1,3]<stderr>:some talk of 3 kinds\n"
        "[1,0]<stdout>:    16777216        262144   float            700.0   23.97   22.47  0e+00    710.0   23.63   22.15  0e+00\n");
    assert_int_equal(t.rows.n, 2);
    row_is(&t, 0, 8388608, 390);
    row_is(&t, 1, 16777216, 700);
    assert_true(t.op == COLLECTIVE_ALL_GATHER && t.ranks == 16);
    collective_table_free(&t);
}

static void rccl_tests(void **state)
{
    (void)state;
    struct collective_table t = read_text(
        "# Collective test starting: reduce_scatter_perf\n"
        "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 1048576\n"
        "#   Rank  0 Pid   4711 on host-1 device  0 [0000:0c:00.0] AMD Instinct MI300X\n"
        "#   Rank  1 Pid   4712 on host-1 device  1 [0000:22:00.0] AMD Instinct MI300X\n"
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
        "     1048576        131072     float     sum      -1    50.00   20.97   10.49      0    51.00   20.56   10.28      0\n");
    assert_true(t.op == COLLECTIVE_REDUCE_SCATTER && t.ranks == 2 && t.nodes == 1);
    assert_string_equal(t.gpu, "AMD Instinct MI300X");
    row_is(&t, 0, 1048576, 50);
    collective_table_free(&t);
}

static void osu(void **state)
{
    (void)state;
    struct collective_table t = read_text("\n# OSU MPI Allreduce Latency Test v5.8\n# Size       Avg Latency(us)\n"
                                          "4                      20.5\n8                      21.25\n");
    assert_int_equal(t.rows.n, 2);
    row_is(&t, 1, 8, 21.25);
    assert_true(t.cpu && t.op == COLLECTIVE_ALL_REDUCE);
    collective_table_free(&t);
    t = read_text("# OSU MPI All-to-All Personalized Exchange Latency Test v7.3\n"
                  "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
                  "1                       5.5              5.0              6.0        1000\n");
    row_is(&t, 0, 1, 5.5);
    assert_true(t.op == COLLECTIVE_ALL_TO_ALL);
    collective_table_free(&t);
}

static void osu_of_one_message(void **state)
{
    static const struct { const char *title; bool known; } titles[] = {
        {"# OSU MPI Latency Test v7.3", true}, {"# OSU MPI-CUDA Latency Test v5.8", true}, {"# OSU MPI Gather Latency Test v7.3", false}};
    (void)state;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s\n# Size          Latency (us)\n0 1.2\n1 1.3\n", titles[i].title);
        struct collective_table t = read_text(text);
        assert_int_equal(t.rows.n, 1);
        assert_true(t.op_known == titles[i].known && (!t.op_known || t.op == COLLECTIVE_POINT_TO_POINT));
        collective_table_free(&t);
    }
}

/* A row tells by the number of its fields that it has a root. */
static void nccl_rows_alone(void **state)
{
    (void)state;
    struct collective_table t = read_text("8\t2\tfloat\tsum\t-1\t30.00\t0.00\t0.00\t0\t29.50\t0.00\t0.00\t0\n"
                                          "16 4 float sum -1 31.00 0.00 0.00 0\n32 8 float sum 32.00 0.00 0.00 0\n");
    assert_int_equal(t.rows.n, 3);
    row_is(&t, 0, 8, 29.5);
    row_is(&t, 1, 16, 31);
    row_is(&t, 2, 32, 32);
    collective_table_free(&t);
}

static void bad_tables(void **state)
{
    static const struct { const char *text, *says; int line; } bad[] = {
        {"", "no row", 0},
        {"hello\nworld\n", "no row", 0},
        {"size_bytes,latency\n8,1\n", "size_bytes and time_us", 1},
        {"size_bytes,time_us\n8\n", "fields", 2},
        {"size_bytes,time_us\n8,1\n16,fast\n", "time_us is no number", 3},
        {"size_bytes,time_us\n8,1\n16,nan\n", "no number", 3},
        {"size_bytes,time_us\n8,1\n16,0\n", "positive", 3},
        {"size_bytes,time_us\n8,1\n16,-3\n", "positive", 3},
        {"size_bytes,time_us\n8,1\n16,\n", "positive", 3},
        {"size_bytes,time_us\n-8,1\n", "bytes", 2},
        {"time_us,size_bytes\n1,8\n-3,16\n", "microseconds: \"-3\"", 3},
        {"size_bytes,time_us,time_us\n8,1,2\n", "there twice: \"time_us\"", 1},
        {"size_bytes,time_us\n1e30,1\n", "bytes", 2},
        {"  8   2   float   sum   -1   x   0.00   0.00   0\n", "nccl-tests", 1},
        {"# OSU MPI Allreduce Latency Test\n4 20.5\n8 3x\n", "OSU", 3},
        {"# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n1 5.5\n", "give the latency test", 2},
        {"size_bytes,time_us\n8,1e-320\n", "positive", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char path[64];
        int fd = make_file(bad[i].text, path);
        struct collective_table t;
        struct diag d = {0};
        assert_false(collective_table_read(path, &t, &d));
        assert_true(d.entries.n > 0 && t.rows.n == 0);
        if (!strstr(d.entries.v[0].text, bad[i].says) || d.entries.v[0].line != bad[i].line)
            fail_msg("case %zu: %d: %s", i, d.entries.v[0].line, d.entries.v[0].text);
        diag_free(&d);
        close(fd);
    }
    struct collective_table t;
    struct diag d = {0};
    assert_false(collective_table_read("no/such/file", &t, &d));
    diag_free(&d);
}

/* ---- fabrics ---- */

static void fabrics_from_profiles(void **state)
{
    (void)state;
    struct collective_fabric f;
    struct diag d = {0};
    assert_true(collective_fabric_profiles("h100-sxm-8", "", &f, &d));
    assert_true(f.gpu_generation == 90 && f.nvlink_links == 18 && f.nvlink_switch && f.gpus_per_node == 8);
    assert_true(f.nic == COLLECTIVE_NIC_EFA && f.nics == 32 && f.nic_bytes_per_s == 12.5e9);
    assert_true(collective_fabric_profiles("h100-sxm-8", "ib-ndr-400", &f, &d));
    assert_true(f.nic == COLLECTIVE_NIC_IB && f.nics == 8 && f.nic_bytes_per_s == 50e9);
    assert_true(collective_fabric_profiles("cpu-64", NULL, &f, &d));
    assert_true(f.library == COLLECTIVE_MPI && f.nvlink_bytes_per_s == 0 && f.nic == COLLECTIVE_NIC_TCP);
    assert_true(collective_fabric_profiles("mi300x-8", NULL, &f, &d));
    assert_true(f.library == COLLECTIVE_RCCL);
    assert_false(collective_fabric_profiles("h100-smx-8", NULL, &f, &d));
    assert_true(strstr(d.entries.v[0].help, "h100-sxm-8") != NULL);
    diag_free(&d);
}

static void a_calibration_comes_back(void **state)
{
    (void)state;
    struct collective_fabric f = collective_fabric_default(), again;
    f.algorithms = 1u << COLLECTIVE_RING;
    f.gpus_per_process = 8;
    f.measured = (struct collective_curve){3, 25.5e-6, 250e9, 33e6};
    f.measured_op = COLLECTIVE_ALL_GATHER;
    f.measured_ranks_per_node = 8;
    f.measured_nodes = 2;
    struct str text = {0};
    struct diag d = {0};
    char path[64];
    collective_fabric_write(&f, "some table", &text);
    int fd = make_file(str_text(&text), path);
    if (!collective_fabric_measured(path, &again, &d)) {
        diag_print(&d, stderr);
        fail_msg("not read");
    }
    assert_true(again.measured.form == f.measured.form && again.measured.latency_s == f.measured.latency_s);
    assert_true(again.measured.plateau_bytes_per_s == f.measured.plateau_bytes_per_s && again.measured.third == f.measured.third);
    for (double bytes = 8; bytes < 1e10; bytes *= 8)
        for (unsigned nodes = 1; nodes <= 8; nodes *= 2)
            assert_true(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, bytes, 8, nodes, NULL) ==
                        collective_time_s(&again, COLLECTIVE_ALL_REDUCE, bytes, 8, nodes, NULL));
    close(fd);
    char *third = strstr(text.s, "\"third\": 33000000");
    assert_non_null(third);
    memcpy(third, "\"third\":        0", 17);
    fd = make_file(str_text(&text), path);
    assert_false(collective_fabric_measured(path, &again, &d));
    assert_true(strstr(d.entries.v[0].text, "above 0") != NULL);
    close(fd);
    diag_free(&d);
    str_free(&text);
}

/* docs/models.md lists the keys of both kinds of profile. */
static void add_keys(struct str *s, const struct object_type *type)
{
    for (size_t i = 0; i < type->n_fields; i++)
        str_printf(s, "| %s | `%s` | %s |\n", type->name, type->fields[i].name, type->fields[i].help);
}

static void keys_of_profiles(void **state)
{
    (void)state;
    struct str s = {0};
    str_append(&s, "| profile | key | what |\n|---|---|---|\n");
    add_keys(&s, &hardware_type);
    add_keys(&s, &fabric_type);
    doc_section("docs/models.md", "profile keys", str_text(&s));
    str_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_in_any_order),
        cmocka_unit_test(csv_with_quotes),     cmocka_unit_test(ratio_tells_the_operation),
        cmocka_unit_test(nccl_tests_of_today),  cmocka_unit_test(nccl_tests_of_old),
        cmocka_unit_test(rccl_tests),           cmocka_unit_test(osu),
        cmocka_unit_test(osu_of_one_message),   cmocka_unit_test(nccl_rows_alone),
        cmocka_unit_test(bad_tables),           cmocka_unit_test(fabrics_from_profiles),
        cmocka_unit_test(a_calibration_comes_back), cmocka_unit_test(keys_of_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
