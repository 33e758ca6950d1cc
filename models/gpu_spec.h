/* gpu_spec.h - what a GPU can do by its public specification.
 *
 *     const struct gpu_spec *g = gpu_spec_find("a100_80gb");     // also "A100-SXM-80GB", "NVIDIA H100 80GB HBM3"
 *
 * Peaks are dense (without sparsity). `matmul` is what the largest matrix products reach of the 16-bit peak, by a public
 * measurement (stas00/ml-engineering, compute/accelerator, table of maximum achievable matmul FLOPS); where none is
 * known, that of the generation. `mma` is what the warp-wide matrix instructions of Ampere reach of the peak: kernels
 * that were written for Ampere, FlashAttention-2 among them, run on Hopper without its warp-group instructions and get
 * about 62.9 % of the peak at best (Luo et al., arXiv 2402.13499, quoted from memory). Blackwell is taken as Hopper.
 * `node_bytes_per_s` is the fabric of the node of 8 that is usually built with it, a direction.
 *
 * Pure tables; SI units.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_GPU_SPEC_H
#define TRAINYARD_MODELS_GPU_SPEC_H

#include <stddef.h>

struct gpu_spec {
    const char *name, *family; /* GPUs of a family have the same cores: "a100_40gb" and "a100_80gb" are "a100" */
    double peak_flops;         /* a second, bf16; fp16 where there is no bf16 */
    double fp8_flops;          /* 0: none */
    double matmul, mma;        /* fractions of the peak */
    double memory_bytes, memory_bytes_per_s;
    double link_bytes_per_s;   /* to the GPUs of its node, a direction */
    double node_bytes_per_s;   /* of its node's network cards together, a direction */
};

/* Letter case, spaces, "-" and vendor's prefixes do not matter; without a size of memory the larger one is meant. NULL when
 * none is called so. */
const struct gpu_spec *gpu_spec_find(const char *name);
const struct gpu_spec *gpu_spec_at(size_t i); /* NULL behind the last */

#endif
