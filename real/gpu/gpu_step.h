/* gpu_step.h - the matrix products of a transformer's training step, by cuBLAS in bfloat16.
 *
 * Of each of L layers of width h, n tokens: the projections h -> 3h (queries, keys, values), h -> h, h -> 4h, 4h -> h, each
 * forward (W x), for the inputs' gradient (W^T g) and for the weights' (g x^T). In all 72 n h^2 L floating point operations
 * (Kaplan et al., arXiv 2001.08361, 2.1: 6 a parameter and token, 12 h^2 parameters a layer). Attention itself, norms and the
 * optimizer are no matrix products of weights and not among them. Values are at random and mean nothing.
 *
 *     struct gpu_step s;
 *     if (!gpu_step_open(&s, &gpu, (struct gpu_shape){ .layers = 8, .width = 4096, .tokens = 8192 }, &diag)) ...
 *     gpu_step_begin(&s, &diag); ... gpu_step_end(&s, &time_s, &diag);      // time_s on the device's own clock
 *     gpu_step_close(&s);
 *
 * Memory on the device: 2 bytes x (4 h^2 + 2 x 4 h n + max(4 h n, 4 h^2)). One step at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_GPU_GPU_STEP_H
#define TRAINYARD_REAL_GPU_GPU_STEP_H

#include "real/gpu/gpu.h"

struct gpu_shape {
    int layers, width, tokens;
};

struct gpu_step {
    struct gpu *gpu;
    struct gpu_shape shape;
    void *weights, *in, *out; /* of any layer */
    cuda_event begin, end;
};

double gpu_shape_flops(struct gpu_shape);

bool gpu_step_open(struct gpu_step *, struct gpu *, struct gpu_shape, struct diag *);
bool gpu_step_begin(struct gpu_step *, struct diag *); /* hands it to the device and returns */
bool gpu_step_end(struct gpu_step *, double *time_s, struct diag *);
void gpu_step_close(struct gpu_step *); /* of one that failed to open, too */

/* C (m x n) = A (m x k) B (k x n), column by column, in bfloat16 with sums in float. */
bool gpu_gemm(struct gpu *, int m, int n, int k, const void *a, const void *b, void *c, struct diag *);

#endif
