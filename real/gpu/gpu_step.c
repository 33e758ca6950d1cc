/* gpu_step.c - the matrix products of a transformer's training step.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/gpu/gpu_step.h"

double gpu_shape_flops(struct gpu_shape s)
{
    return 72.0 * s.tokens * s.width * s.width * s.layers;
}

bool gpu_gemm(struct gpu *g, int m, int n, int k, const void *a, const void *b, void *c, struct diag *d)
{
    static const float one = 1, zero = 0;
    return gpu_blas_ok(g->api.blas_gemm(g->blas, CUBLAS_N, CUBLAS_N, m, n, k, &one, a, CUBLAS_BFLOAT16, m, b, CUBLAS_BFLOAT16, k,
                                        &zero, c, CUBLAS_BFLOAT16, m, CUBLAS_COMPUTE_FLOAT, CUBLAS_DEFAULT_ALGORITHM),
                       "cublasGemmEx", d);
}

/* y = W x; the gradient of x = W^T dy; the gradient of W = dy x^T. With column-major W of (out x in). */
static bool projection(const struct gpu_step *s, int out, int in, struct diag *d)
{
    static const float one = 1, zero = 0;
    struct gpu *g = s->gpu;
    const int n = s->shape.tokens, type = CUBLAS_BFLOAT16;
    return gpu_gemm(g, out, n, in, s->weights, s->in, s->out, d) &&
           gpu_blas_ok(g->api.blas_gemm(g->blas, CUBLAS_T, CUBLAS_N, in, n, out, &one, s->weights, type, out, s->in, type, out,
                                        &zero, s->out, type, in, CUBLAS_COMPUTE_FLOAT, CUBLAS_DEFAULT_ALGORITHM),
                       "cublasGemmEx", d) &&
           gpu_blas_ok(g->api.blas_gemm(g->blas, CUBLAS_N, CUBLAS_T, out, in, n, &one, s->in, type, out, s->in, type, in, &zero,
                                        s->out, type, out, CUBLAS_COMPUTE_FLOAT, CUBLAS_DEFAULT_ALGORITHM),
                       "cublasGemmEx", d);
}

bool gpu_step_open(struct gpu_step *s, struct gpu *g, struct gpu_shape shape, struct diag *d)
{
    const size_t h = (size_t)shape.width, n = (size_t)shape.tokens, most = 4 * h * (n > h ? n : h) * 2;
    *s = (struct gpu_step){.gpu = g, .shape = shape};
    return gpu_ok(g, g->api.allocate(&s->weights, 4 * h * h * 2), "cudaMalloc", d) &&
           gpu_ok(g, g->api.allocate(&s->in, 4 * h * n * 2), "cudaMalloc", d) &&
           gpu_ok(g, g->api.allocate(&s->out, most), "cudaMalloc", d) && gpu_fill(g, s->weights, 4 * h * h * 2, d) &&
           gpu_fill(g, s->in, 4 * h * n * 2, d) && gpu_ok(g, g->api.event_create(&s->begin), "cudaEventCreate", d) &&
           gpu_ok(g, g->api.event_create(&s->end), "cudaEventCreate", d);
}

bool gpu_step_begin(struct gpu_step *s, struct diag *d)
{
    struct gpu *g = s->gpu;
    const int h = s->shape.width;
    bool ok = gpu_ok(g, g->api.event_record(s->begin, g->stream), "cudaEventRecord", d);
    for (int layer = 0; ok && layer < s->shape.layers; layer++)
        ok = projection(s, 3 * h, h, d) && projection(s, h, h, d) && projection(s, 4 * h, h, d) && projection(s, h, 4 * h, d);
    return ok && gpu_ok(g, g->api.event_record(s->end, g->stream), "cudaEventRecord", d);
}

bool gpu_step_end(struct gpu_step *s, double *time_s, struct diag *d)
{
    float ms = 0;
    struct gpu *g = s->gpu;
    bool ok = gpu_ok(g, g->api.event_wait(s->end), "cudaEventSynchronize", d) &&
              gpu_ok(g, g->api.event_elapsed_ms(&ms, s->begin, s->end), "cudaEventElapsedTime", d);
    *time_s = (double)ms * 1e-3;
    return ok;
}

void gpu_step_close(struct gpu_step *s)
{
    struct gpu *g = s->gpu;
    if (!g) return;
    if (s->begin) g->api.event_destroy(s->begin);
    if (s->end) g->api.event_destroy(s->end);
    if (s->weights) g->api.release(s->weights);
    if (s->in) g->api.release(s->in);
    if (s->out) g->api.release(s->out);
    *s = (struct gpu_step){0};
}
