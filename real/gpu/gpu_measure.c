/* gpu_measure.c - what a GPU of this machine reaches.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/gpu/gpu_measure.h"

#include <stdlib.h>

#include "real/gpu/gpu_power.h"
#include "real/worker/net.h"

const char *const gpu_quantity_names[N_GPU_QUANTITIES] = {"gemm", "memory", "to-device", "to-host", "step", "all-reduce"};

enum { REPEATS_MAX = 50, MOST_GPUS = 64 };
static const int64_t ROW_NS = 300000000; /* enough repeats for a row */

struct bench {
    struct gpu *gpu;
    struct gpu_rows *rows;
    struct diag *diag;
    cuda_event begin, end;
    int64_t until_ns;
    size_t room; /* bytes of the device that may be used */
};

/* One operation to be timed: hands it to the stream. */
typedef bool operation(struct bench *, void *arg);

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool time_once(struct bench *b, operation *run, void *arg, double *time_s)
{
    struct gpu *g = b->gpu;
    float ms = 0;
    bool ok = gpu_ok(g, g->api.event_record(b->begin, g->stream), "cudaEventRecord", b->diag) && run(b, arg) &&
              gpu_ok(g, g->api.event_record(b->end, g->stream), "cudaEventRecord", b->diag) &&
              gpu_ok(g, g->api.event_wait(b->end), "cudaEventSynchronize", b->diag) &&
              gpu_ok(g, g->api.event_elapsed_ms(&ms, b->begin, b->end), "cudaEventElapsedTime", b->diag);
    *time_s = (double)ms * 1e-3;
    return ok;
}

static bool over(const struct bench *b)
{
    return net_now_ns() > b->until_ns;
}

/* Adds a row; `row` says of what. */
static bool measure_row(struct bench *b, operation *run, void *arg, struct gpu_row row)
{
    double t[REPEATS_MAX], first;
    int n = 0;
    if (over(b)) return true;
    if (!time_once(b, run, arg, &first)) return false;
    int64_t begin_ns = net_now_ns();
    while (n < REPEATS_MAX && (n < GPU_REPEATS || net_now_ns() - begin_ns < ROW_NS))
        if (!time_once(b, run, arg, &t[n++])) return false;
    qsort(t, (size_t)n, sizeof *t, ascending);
    row.time_s = t[n / 2];
    array_push(&b->rows->list, row);
    return true;
}

/* ---- matrix products ---- */

struct product {
    int m, n, k;
    void *memory; /* A, B, C one behind the other */
};

static size_t product_bytes(const struct product *p)
{
    return 2 * ((size_t)p->m * (size_t)p->k + (size_t)p->k * (size_t)p->n + (size_t)p->m * (size_t)p->n);
}

static bool run_product(struct bench *b, void *arg)
{
    const struct product *p = arg;
    char *a = p->memory, *second = a + 2 * (size_t)p->m * (size_t)p->k, *c = second + 2 * (size_t)p->k * (size_t)p->n;
    return gpu_gemm(b->gpu, p->m, p->n, p->k, a, second, c, b->diag);
}

static bool measure_product(struct bench *b, struct product p)
{
    struct gpu *g = b->gpu;
    size_t bytes = product_bytes(&p);
    if (bytes > b->room) return true;
    bool ok = gpu_ok(g, g->api.allocate(&p.memory, bytes), "cudaMalloc", b->diag) && gpu_fill(g, p.memory, bytes, b->diag);
    ok = ok && measure_row(b, run_product, &p, (struct gpu_row){GPU_GEMM, 2.0 * p.m * p.n * p.k, 0, p.m, p.n, p.k});
    if (p.memory) g->api.release(p.memory);
    return ok;
}

static bool measure_products(struct bench *b)
{
    static const int widths[] = {2048, 4096, 5120, 8192};
    bool ok = true;
    for (int side = 1024; ok && side <= 16384; side *= 2) ok = measure_product(b, (struct product){side, side, side, NULL});
    for (size_t i = 0; ok && i < sizeof widths / sizeof *widths; i++) {
        const int h = widths[i], n = 8192;
        ok = measure_product(b, (struct product){3 * h, n, h, NULL}) && measure_product(b, (struct product){h, n, h, NULL}) &&
             measure_product(b, (struct product){4 * h, n, h, NULL}) && measure_product(b, (struct product){h, n, 4 * h, NULL});
    }
    return ok;
}

/* ---- copies ---- */

struct copies {
    void *to, *from;
    size_t bytes;
    int kind;
};

static bool run_copy(struct bench *b, void *arg)
{
    const struct copies *c = arg;
    struct gpu *g = b->gpu;
    return gpu_ok(g, g->api.copy(c->to, c->from, c->bytes, c->kind, g->stream), "cudaMemcpyAsync", b->diag);
}

static bool measure_on_device(struct bench *b)
{
    struct gpu *g = b->gpu;
    size_t most = (size_t)1 << 30;
    struct copies c = {.kind = CUDA_ON_DEVICE};
    while (most > (size_t)1 << 20 && 2 * most > b->room) most /= 2;
    bool ok = gpu_ok(g, g->api.allocate(&c.from, most), "cudaMalloc", b->diag) &&
              gpu_ok(g, g->api.allocate(&c.to, most), "cudaMalloc", b->diag);
    for (c.bytes = (size_t)1 << 20; ok && c.bytes <= most; c.bytes *= 4)
        ok = measure_row(b, run_copy, &c, (struct gpu_row){.quantity = GPU_MEMORY, .work = 2 * (double)c.bytes});
    if (c.from) g->api.release(c.from);
    if (c.to) g->api.release(c.to);
    return ok;
}

static bool measure_to_and_fro(struct bench *b)
{
    struct gpu *g = b->gpu;
    const size_t most = (size_t)256 << 20;
    void *host = NULL, *device = NULL;
    if (most > b->room) return true;
    bool ok = gpu_ok(g, g->api.allocate_host(&host, most), "cudaMallocHost", b->diag) &&
              gpu_ok(g, g->api.allocate(&device, most), "cudaMalloc", b->diag);
    for (size_t bytes = (size_t)64 << 10; ok && bytes <= most; bytes *= 4) {
        struct copies in = {device, host, bytes, CUDA_TO_DEVICE}, out = {host, device, bytes, CUDA_TO_HOST};
        ok = measure_row(b, run_copy, &in, (struct gpu_row){.quantity = GPU_TO_DEVICE, .work = (double)bytes}) &&
             measure_row(b, run_copy, &out, (struct gpu_row){.quantity = GPU_TO_HOST, .work = (double)bytes});
    }
    if (device) g->api.release(device);
    if (host) g->api.release_host(host);
    return ok;
}

/* ---- steps ---- */

static size_t step_bytes(struct gpu_shape s)
{
    size_t h = (size_t)s.width, n = (size_t)s.tokens;
    return 2 * (4 * h * h + 4 * h * n + 4 * h * (n > h ? n : h));
}

static bool measure_step(struct bench *b, struct gpu_shape shape, struct gpu_meter *meter)
{
    struct gpu_step s;
    double t[GPU_REPEATS], first;
    if (step_bytes(shape) > b->room || over(b)) return true;
    bool ok = gpu_step_open(&s, b->gpu, shape, b->diag) && gpu_step_begin(&s, b->diag) && gpu_step_end(&s, &first, b->diag);
    for (int i = 0; ok && i < GPU_REPEATS; i++) {
        ok = gpu_step_begin(&s, b->diag) && gpu_step_end(&s, &t[i], b->diag);
        gpu_meter_sample(meter);
    }
    gpu_step_close(&s);
    if (!ok) return false;
    qsort(t, GPU_REPEATS, sizeof *t, ascending);
    array_push(&b->rows->list, (struct gpu_row){GPU_STEP, gpu_shape_flops(shape), t[GPU_REPEATS / 2], shape.layers, shape.width,
                                                shape.tokens});
    return true;
}

static bool measure_steps(struct bench *b)
{
    static const struct gpu_shape shapes[] = {{4, 2048, 8192}, {24, 2048, 8192}, {16, 4096, 8192},
                                              {32, 4096, 4096}, {16, 5120, 8192}, {8, 8192, 8192}};
    struct gpu_meter meter;
    struct gpu_power *p = &b->rows->power;
    bool ok = true;
    gpu_meter_begin(&meter, b->gpu);
    for (size_t i = 0; ok && i < sizeof shapes / sizeof *shapes; i++) ok = measure_step(b, shapes[i], &meter);
    if (gpu_meter_mean(&meter, &p->mean_w, &p->utilisation)) p->samples = meter.samples;
    return ok;
}

/* ---- NCCL ---- */

struct team { /* a communicator, stream and buffer a GPU */
    int n;
    nccl_comm comm[MOST_GPUS];
    cuda_stream stream[MOST_GPUS];
    void *buffer[MOST_GPUS];
    size_t bytes; /* of the operation */
};

static bool run_all_reduce(struct bench *b, void *arg)
{
    const struct team *t = arg;
    struct gpu *g = b->gpu;
    bool ok = gpu_nccl_ok(g, g->api.nccl_group_start(), "ncclGroupStart", b->diag);
    for (int i = 0; ok && i < t->n; i++)
        ok = gpu_nccl_ok(g, g->api.nccl_all_reduce(t->buffer[i], t->buffer[i], t->bytes / sizeof(float), NCCL_FLOAT, NCCL_SUM,
                                                   t->comm[i], i ? t->stream[i] : g->stream),
                         "ncclAllReduce", b->diag);
    return ok && gpu_nccl_ok(g, g->api.nccl_group_end(), "ncclGroupEnd", b->diag);
}

static bool team_open(struct bench *b, struct team *t, size_t most)
{
    struct gpu *g = b->gpu;
    int devices[MOST_GPUS];
    bool ok = true;
    for (int i = 0; ok && i < t->n; i++) {
        devices[i] = i;
        ok = gpu_ok(g, g->api.set_device(i), "cudaSetDevice", b->diag) &&
             gpu_ok(g, g->api.stream_create(&t->stream[i]), "cudaStreamCreate", b->diag) &&
             gpu_ok(g, g->api.allocate(&t->buffer[i], most), "cudaMalloc", b->diag);
    }
    ok = ok && gpu_ok(g, g->api.set_device(g->device), "cudaSetDevice", b->diag);
    return ok && gpu_nccl_ok(g, g->api.nccl_init_all(t->comm, t->n, devices), "ncclCommInitAll", b->diag);
}

static void team_close(struct bench *b, struct team *t)
{
    struct cuda_api *a = &b->gpu->api;
    for (int i = 0; i < t->n; i++) {
        if (t->comm[i]) a->nccl_destroy(t->comm[i]);
        if (t->buffer[i]) a->release(t->buffer[i]);
        if (t->stream[i]) a->stream_destroy(t->stream[i]);
    }
}

static bool measure_collectives(struct bench *b)
{
    struct team t = {.n = b->gpu->count < MOST_GPUS ? b->gpu->count : MOST_GPUS};
    const size_t most = (size_t)256 << 20;
    if (t.n < 2 || most > b->room || over(b)) return true;
    b->rows->all_reduce_ranks = t.n;
    bool ok = team_open(b, &t, most);
    for (t.bytes = 4096; ok && t.bytes <= most; t.bytes *= 4)
        ok = measure_row(b, run_all_reduce, &t, (struct gpu_row){.quantity = GPU_ALL_REDUCE, .work = (double)t.bytes});
    team_close(b, &t);
    return ok;
}

/* ---- all ---- */

bool gpu_measure(struct gpu *g, const struct gpu_measure_options *o, struct gpu_rows *rows, struct diag *d)
{
    struct bench b = {.gpu = g, .rows = rows, .diag = d};
    bool (*const parts[])(struct bench *) = {measure_on_device, measure_to_and_fro, measure_products, measure_steps,
                                             measure_collectives};
    const size_t n = sizeof parts / sizeof *parts;
    size_t total;
    int64_t begin_ns = net_now_ns();
    bool ok = gpu_ok(g, g->api.memory_info(&b.room, &total), "cudaMemGetInfo", d) &&
              gpu_ok(g, g->api.event_create(&b.begin), "cudaEventCreate", d) &&
              gpu_ok(g, g->api.event_create(&b.end), "cudaEventCreate", d);
    b.room = b.room / 10 * 9;
    for (size_t i = 0; ok && i < n; i++) { /* each its share of the time */
        b.until_ns = begin_ns + o->budget_ns / (int64_t)n * (int64_t)(i + 1);
        ok = parts[i](&b);
    }
    if (b.begin) g->api.event_destroy(b.begin);
    if (b.end) g->api.event_destroy(b.end);
    return ok;
}

void gpu_rows_free(struct gpu_rows *rows)
{
    array_free(&rows->list);
}
