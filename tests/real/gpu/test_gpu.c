/* test_gpu.c - the GPU's part on a machine without one: the libraries are played by stub_cuda.so; every call that can fail
 * does so once, and is told; what is measured are the stub's figures (stub_cuda.h).
 *
 * Numbers of errors: CUDA Runtime API (2, 35, 100, 700), cublasStatus_t (1, 13, 14), ncclResult_t (1, 2), nvmlReturn_t (9).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/units.h"
#include "real/gpu/gpu_measure.h"
#include "real/worker/comm_nccl.h"
#include "real/worker/device.h"
#include "real/worker/net.h"
#include "tests/real/gpu/stub_cuda.h"
#include "tests/support/mesh_threads.h"

static char folder[64];

static void name_stub(const char *as, const char *what)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, as);
    assert_int_equal(symlink(what, path), 0);
}

/* The stub (STUB_CUDA, by the makefile) under the four names that are looked for but `without`, in a folder of its own: the loader
 * knows a library that it has once loaded from there. */
static int folder_without(const char *without)
{
    static const char *const names[] = {"libcudart.so.13", "libcublas.so.12", "libnccl.so.2", "libnvidia-ml.so.1"};
    strcpy(folder, "/tmp/trainyard-gpu-XXXXXX");
    if (!mkdtemp(folder) || access(STUB_CUDA, R_OK) != 0) return -1;
    for (size_t i = 0; i < 4; i++)
        if (!without || strcmp(names[i], without) != 0) name_stub(names[i], STUB_CUDA);
    setenv("TRAINYARD_CUDA_LIB", folder, 1);
    unsetenv("STUB_CUDA");
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return folder_without(NULL);
}

static int teardown(void **state)
{
    (void)state;
    struct diag d = {0};
    unsetenv("STUB_CUDA");
    return !file_remove_tree(folder, &d);
}

static void says(struct diag *d, const char *text)
{
    if (diag_errors(d) == 0) fail_msg("no error, where \"%s\" is expected", text);
    if (!strstr(d->entries.v[0].text, text)) fail_msg("\"%s\" does not say \"%s\"", d->entries.v[0].text, text);
    diag_free(d);
}

static void facts_are_those_of_the_device(void **state)
{
    (void)state;
    struct gpu g;
    struct gpu_facts f;
    struct diag d = {0};
    setenv("STUB_CUDA", "devices=2", 1);
    assert_true(gpu_open(&g, GPU_BLAS | GPU_COLLECTIVES, &d));
    assert_int_equal(g.count, 2);
    assert_true(g.nvml);
    assert_true(gpu_use(&g, 1, &d) && gpu_facts(&g, &f, &d));
    assert_string_equal(f.name, STUB_NAME);
    assert_int_equal(f.capability, 90);
    assert_int_equal(f.nvlink_links, STUB_LINKS);
    assert_true(f.pcie_bytes_per_s == 64e9); /* generation 5, 16 lanes */
    assert_true(f.memory_bytes == STUB_MEMORY);
    gpu_close(&g);
    assert_true(gpu_open(&g, 0, &d));
    assert_false(gpu_use(&g, 2, &d));
    says(&d, "no device 2");
    gpu_close(&g);
}

/* Which call answers what, and what is said. */
static const struct {
    const char *stub, *says;
} no_gpu[] = {
    {"cudaGetDeviceCount=35", "no GPU: there is no driver, or one older than this CUDA runtime needs (35)"},
    {"cudaGetDeviceCount=100", "no GPU: the driver shows no device (100)"},
    {"cudaGetDeviceCount=999", "no GPU: stub error (999)"},
    {"devices=0", "no GPU: the driver shows no device (0)"},
};

static void no_gpu_is_told_with_its_reason(void **state)
{
    (void)state;
    struct gpu g;
    struct diag d = {0};
    for (size_t i = 0; i < sizeof no_gpu / sizeof *no_gpu; i++) {
        setenv("STUB_CUDA", no_gpu[i].stub, 1);
        assert_false(gpu_open(&g, GPU_BLAS, &d));
        says(&d, no_gpu[i].says);
    }
    teardown(NULL);
    folder_without("libnccl.so.2");
    assert_true(gpu_open(&g, GPU_BLAS, &d)); /* is not asked for */
    gpu_close(&g);
    assert_false(gpu_open(&g, GPU_BLAS | GPU_COLLECTIVES, &d));
    says(&d, "no GPU: NCCL cannot be loaded");
    teardown(NULL);
    folder_without("libcudart.so.13");
    name_stub("libcudart.so.12", "/dev/null"); /* no library */
    assert_false(gpu_open(&g, 0, &d));
    says(&d, "no GPU: the CUDA runtime cannot be loaded");
}

static void a_library_of_another_version_is_told(void **state)
{
    (void)state;
    struct gpu g;
    struct diag d = {0};
    teardown(NULL);
    folder_without("libcublas.so.12");
    name_stub("libcublas.so.13", "/lib/x86_64-linux-gnu/libz.so.1"); /* any library without cuBLAS' names */
    if (access("/lib/x86_64-linux-gnu/libz.so.1", R_OK) != 0) skip();
    assert_false(gpu_open(&g, GPU_BLAS, &d));
    says(&d, "no GPU: cuBLAS lacks cublasCreate_v2");
}

static void nvml_may_lack(void **state)
{
    (void)state;
    struct gpu g;
    struct gpu_facts f;
    struct diag d = {0};
    setenv("STUB_CUDA", "nvmlInit_v2=9", 1);
    assert_true(gpu_open(&g, 0, &d));
    assert_false(g.nvml);
    assert_non_null(strstr(g.nvml_lacks, "Driver Not Loaded (9)"));
    assert_true(gpu_use(&g, 0, &d) && gpu_facts(&g, &f, &d));
    assert_string_equal(f.name, "compute capability 9.0");
    assert_int_equal(f.nvlink_links, -1);
    gpu_close(&g);
    teardown(NULL);
    folder_without("libnvidia-ml.so.1");
    assert_true(gpu_open(&g, 0, &d));
    assert_non_null(strstr(g.nvml_lacks, "cannot be loaded"));
    gpu_close(&g);
}

/* A rank's device: from opening to the second step, each call fails in turn. */
static const struct {
    const char *stub, *says;
} device_errors[] = {
    {"cudaSetDevice=101", "cudaSetDevice: stub error (101)"},
    {"cudaStreamCreate=2", "cudaStreamCreate: out of memory (2)"},
    {"cublasCreate_v2=1", "cublasCreate: not initialised (1)"},
    {"cublasSetStream_v2=14", "cublasSetStream: internal error (14)"},
    {"cudaDeviceGetAttribute=1", "cudaDeviceGetAttribute: stub error (1)"},
    {"cudaMemGetInfo=2", "cudaMemGetInfo: out of memory (2)"},
    {"cudaRuntimeGetVersion=1", "cudaRuntimeGetVersion"},
    {"cudaMalloc=2", "cudaMalloc: out of memory (2)"},
    {"cudaMallocHost=2", "cudaMallocHost: out of memory (2)"},
    {"cudaMemcpyAsync=700", "cudaMemcpyAsync: an illegal memory access"},
    {"cudaStreamSynchronize=700", "cudaStreamSynchronize: an illegal"},
    {"cudaEventCreate=2", "cudaEventCreate: out of memory"},
    {"cudaEventRecord=700", "cudaEventRecord: an illegal"},
    {"cublasGemmEx=13", "cublasGemmEx: execution failed (13)"},
    {"cudaEventSynchronize=700", "cudaEventSynchronize: an illegal memory access was encountered (700)"},
    {"cudaEventElapsedTime=700", "cudaEventElapsedTime: an illegal"},
};

static const struct gpu_shape small = {2, 256, 512};

static void each_call_that_fails_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof device_errors / sizeof *device_errors; i++) {
        struct device v;
        struct diag d = {0};
        setenv("STUB_CUDA", device_errors[i].stub, 1);
        if (device_open(&v, 0, small, 0, &d)) {
            assert_false(device_begin(&v, &d) && device_end(&v, &d));
            device_close(&v);
        }
        says(&d, device_errors[i].says);
    }
}

/* 2 layers of 12 products; flops by the formula of gpu_step.h. */
static void a_step_takes_the_devices_time(void **state)
{
    (void)state;
    struct device v;
    struct gpu_record r;
    struct diag d = {0};
    const double flops = 72.0 * 512 * 256 * 256 * 2, expected_s = 24 * STUB_LAUNCH_S + flops / STUB_FLOPS;
    assert_true(device_open(&v, 5, small, 0, &d)); /* of one device it is the first */
    for (int i = 0; i < 3; i++) assert_true(device_begin(&v, &d) && device_end(&v, &d));
    device_tell(&v, &r);
    assert_true(fabs(r.step_s / expected_s - 1) < 1e-5); /* the clock is told as float */
    assert_true(fabs(r.flops_per_s * expected_s / flops - 1) < 1e-5);
    assert_true(r.power_w == STUB_WATTS && fabs(r.utilisation - 0.9) < 1e-12);
    assert_string_equal(r.name, STUB_NAME);
    device_close(&v);
}

/* Time of a row by the stub's figures. */
static double stub_s(const struct gpu_row *r, int ranks)
{
    switch (r->quantity) {
    case GPU_GEMM: return STUB_LAUNCH_S + r->work / STUB_FLOPS;
    case GPU_MEMORY: return STUB_LAUNCH_S + r->work / STUB_MEMORY_RATE;
    case GPU_STEP: return 12 * r->m * STUB_LAUNCH_S + r->work / STUB_FLOPS;
    case GPU_ALL_REDUCE: return STUB_NCCL_S + 2.0 * (ranks - 1) / ranks * r->work / STUB_NCCL_RATE;
    default: return STUB_COPY_S + r->work / STUB_COPY_RATE;
    }
}

static void what_is_measured_is_what_the_device_does(void **state)
{
    (void)state;
    struct gpu g;
    struct gpu_rows rows = {0};
    struct diag d = {0};
    int count[N_GPU_QUANTITIES] = {0};
    setenv("STUB_CUDA", "devices=4", 1);
    assert_true(gpu_open(&g, GPU_BLAS | GPU_COLLECTIVES, &d) && gpu_use(&g, 0, &d));
    assert_true(gpu_measure(&g, &(struct gpu_measure_options){.budget_ns = seconds(60)}, &rows, &d));
    for (size_t i = 0; i < rows.list.n; i++) {
        const struct gpu_row *r = &rows.list.v[i];
        count[r->quantity]++;
        if (fabs(r->time_s / stub_s(r, 4) - 1) > 1e-3)
            fail_msg("%s of %g: %g s, not %g", gpu_quantity_names[r->quantity], r->work, r->time_s, stub_s(r, 4));
    }
    for (int q = 0; q < N_GPU_QUANTITIES; q++) assert_true(count[q] >= 2);
    assert_int_equal(rows.all_reduce_ranks, 4);
    assert_true(rows.power.samples > 0 && rows.power.mean_w == STUB_WATTS);
    gpu_rows_free(&rows);
    gpu_close(&g);
}

static void measuring_tells_what_fails(void **state)
{
    (void)state;
    static const struct {
        const char *stub, *says;
    } rows_of[] = {{"devices=2,ncclCommInitAll=1", "ncclCommInitAll: unhandled cuda error (1)"},
                   {"devices=2,ncclAllReduce=2", "ncclAllReduce: unhandled system error (2)"},
                   {"devices=2,ncclGroupStart=1", "ncclGroupStart"},
                   {"devices=2,ncclGroupEnd=1", "ncclGroupEnd"}};
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++) {
        struct gpu g;
        struct gpu_rows rows = {0};
        struct diag d = {0};
        setenv("STUB_CUDA", rows_of[i].stub, 1);
        assert_true(gpu_open(&g, GPU_BLAS | GPU_COLLECTIVES, &d) && gpu_use(&g, 0, &d));
        assert_false(gpu_measure(&g, &(struct gpu_measure_options){.budget_ns = seconds(60)}, &rows, &d));
        says(&d, rows_of[i].says);
        gpu_rows_free(&rows);
        gpu_close(&g);
    }
}

/* ---- NCCL between ranks, which are threads ---- */

enum leaving { STAYS, LEAVES_BEFORE_SUM, LEAVES_BEFORE_START }; /* rank 1 */

static struct {
    enum leaving leaving;
    struct gpu gpu[2];
    bool taken[2], summed[2];
    float got[2][1000];
    char error[2][200];
} play;

static void play_rank(struct comm *c, void *arg)
{
    struct diag d = {0};
    int r = c->rank;
    char meeting[sizeof(struct nccl_id) + sizeof(int)]; /* what comm_nccl_take sends first */
    (void)arg;
    if (r == 1 && play.leaving == LEAVES_BEFORE_START) {
        comm_broadcast(c, meeting, sizeof meeting);
        return;
    }
    play.taken[r] = comm_nccl_take(c, &play.gpu[r], &d);
    if (!play.taken[r]) snprintf(play.error[r], sizeof play.error[r], "%s", diag_errors(&d) ? d.entries.v[0].text : comm_error(c));
    diag_free(&d);
    if (!play.taken[r] || (r == 1 && play.leaving == LEAVES_BEFORE_SUM)) return;
    char word[8] = "";
    if (r == 0) strcpy(word, "rank 0");
    for (int i = 0; i < 1000; i++) play.got[r][i] = (float)(i * (r + 1));
    play.summed[r] = comm_all_reduce(c, play.got[r], 1000) && comm_broadcast(c, word, sizeof word) && !strcmp(word, "rank 0");
    if (!play.summed[r]) snprintf(play.error[r], sizeof play.error[r], "%s", comm_error(c));
}

static void two_ranks(const char *stub, enum leaving leaving)
{
    struct diag d = {0};
    memset(&play, 0, sizeof play);
    play.leaving = leaving;
    unsetenv("STUB_CUDA");
    for (int r = 0; r < 2; r++) assert_true(gpu_open(&play.gpu[r], GPU_COLLECTIVES, &d) && gpu_use(&play.gpu[r], 0, &d));
    setenv("STUB_CUDA", stub, 1);
    mesh_threads(2, COMM_TCP, COMM_ANY, seconds(1) / 2, play_rank, NULL);
    for (int r = 0; r < 2; r++) gpu_close(&play.gpu[r]);
}

static void ranks_sum_by_nccl(void **state)
{
    (void)state;
    two_ranks("", STAYS);
    for (int r = 0; r < 2; r++) {
        assert_true(play.taken[r] && play.summed[r]);
        for (int i = 0; i < 1000; i++) assert_true(play.got[r][i] == (float)(3 * i));
    }
}

/* Told within the time-out of half a second and some more: nothing waits in a library for what never comes. */
static void nccl_that_fails_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *stub, *says;
        enum leaving leaving;
    } rows[] = {
        {"ncclGetUniqueId=2", "ncclGetUniqueId: unhandled system error (2)", STAYS},
        {"ncclCommInitRankConfig=1", "ncclCommInitRankConfig: unhandled cuda error (1)", STAYS},
        {"ncclCommInitRankConfig=7", "no answer from NCCL within 0.5 s", STAYS},
        {"", "rank 1 is gone", LEAVES_BEFORE_START},
        {"ncclAllReduce=1", "ncclAllReduce: unhandled cuda error (1)", STAYS},
        {"cudaMalloc=2", "cudaMalloc: out of memory (2)", STAYS},
        {"cudaMemcpyAsync=700", "cudaMemcpyAsync: an illegal memory access", STAYS},
        {"cudaStreamQuery=700", "gpu: an illegal memory access was encountered (700)", STAYS},
        {"cudaStreamQuery=600", "no answer from NCCL within 0.5 s", STAYS},
        {"cudaStreamQuery=600,async=2", "NCCL: unhandled system error (2)", STAYS},
        {"cudaStreamQuery=600", "rank 1 is gone", LEAVES_BEFORE_SUM},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t begin_ns = net_now_ns();
        two_ranks(rows[i].stub, rows[i].leaving);
        assert_false(play.summed[0] || play.summed[1]);
        assert_true(net_now_ns() - begin_ns < seconds(STUB_STANDS_S / 2));
        if (!strstr(play.error[0], rows[i].says) && !strstr(play.error[1], rows[i].says)) /* who is later may see that the other is gone */
            fail_msg("row %zu: \"%s\" and \"%s\" do not say \"%s\"", i, play.error[0], play.error[1], rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(facts_are_those_of_the_device, setup, teardown),
        cmocka_unit_test_setup_teardown(no_gpu_is_told_with_its_reason, setup, teardown),
        cmocka_unit_test_setup_teardown(a_library_of_another_version_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(nvml_may_lack, setup, teardown),
        cmocka_unit_test_setup_teardown(each_call_that_fails_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(a_step_takes_the_devices_time, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_measured_is_what_the_device_does, setup, teardown),
        cmocka_unit_test_setup_teardown(measuring_tells_what_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(ranks_sum_by_nccl, setup, teardown),
        cmocka_unit_test_setup_teardown(nccl_that_fails_is_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
