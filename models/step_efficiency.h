/* step_efficiency.h - what the kernels of a training step take on a real GPU, and what of sharded weights' traffic shows.
 *
 *     struct step_work w = { .tokens = 16384, .sequence = 2048, .layers = 32, .hidden = 4096, .vocabulary = 50368, ... };
 *     struct gpu_coefficients own = gpu_coefficients_default("h100");
 *     struct step_kernels k = step_kernels(&w, gpu_spec_find("h100_80gb"), &own, &step_coefficients_default);
 *     step_sharded_s(&w, ...)                 // of a whole step with FSDP or DDP
 *
 * Formula. A micro-batch of n tokens, sequences of s tokens, L layers of width h with P parameters, vocabulary V; R is
 * `forward` / 3 where everything is computed a second time (activation checkpointing), else 0; divided by tensor
 * parallelism where the work is:
 *   matrix products   (6 n P (1 + R) / gain + 6 n h V) FLOPs over peak x matmul x `gemm`; gain is `fp8` in 8 bits, else
 *                     1. Kaplan et al. (arXiv 2001.08361), section 2.1
 *   attention         2 n s h L (3.5 + 3 R) FLOPs over peak x matmul x mma x `attention`: forward the causal half of
 *                     4 n s h L; FlashAttention's backward pass has 5 products for the forward's 2 (Dao, arXiv 2307.08691,
 *                     section 2.3)
 *   memory-bound      bytes over the memory bandwidth:
 *                     `activation_bytes` n h L (1 + R)   norms, activation function, residuals, casts. With t tensor-parallel
 *                                      ranks 10/34 of them are on each, 24/34 divided, with sequence parallelism all
 *                                      divided (Korthikanti et al., arXiv 2205.05198, section 4)
 *                     32 n V           the loss in 32 bits: logits written, cast, read twice, their gradient written, cast
 *                     14 N, again 16 N weights read forward and backward, gradients written and added up in 32 bits
 * Of the data-parallel traffic of N parameters over G ranks, a micro-batch, with busbw the slower of link and node network:
 *   full sharding     gather, gather, reduce-scatter in 16 bits: 6 N bytes, 3 L collectives
 *   gradients only    gather, reduce-scatter:                    4 N bytes, 2 L collectives
 *   none              one all-reduce a step:                     4 N bytes, L collectives
 *                     x (G - 1)/G over busbw x `exposed`, and `hop_s` for each of G - 1 hops of a collective (ring: NCCL,
 *                     Patarasuk and Yuan 2009)
 * A step has `micro_batches` of these, Adam's pass over its state (32 N / G bytes over memory bandwidth), and `step_s`.
 *
 * Coefficients: three a GPU family and five for all. The defaults were calibrated by `trainyard calibrate step` on the 144
 * public rows of MosaicML's llm-foundry table; docs/models.md has the errors of rows left out. Pure; seconds; no function
 * of libm. Cost: O(1).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_STEP_EFFICIENCY_H
#define TRAINYARD_MODELS_STEP_EFFICIENCY_H

#include <stdbool.h>

#include "models/gpu_spec.h"

enum step_sharding { SHARD_NONE, SHARD_GRADIENTS, SHARD_FULL, N_STEP_SHARDINGS };

/* What one GPU does in a step. */
struct step_work {
    double parameters, layer_parameters; /* all; those of the layers that a token meets: 12 L h^2 in a GPT */
    double layers, hidden, vocabulary, sequence;
    double tokens;        /* of a micro-batch, on each data-parallel rank */
    double micro_batches; /* a rank, a step */
    double ranks;         /* data-parallel */
    double ranks_per_node;
    double tensor;        /* tensor-parallel ranks, 1 without */
    bool sequence_parallel;
    enum step_sharding sharding;
    bool recompute, fp8, offload; /* offload: kept activations go to the host and back over PCIe */
};

/* Numbers of a GPU family. */
struct gpu_coefficients {
    double gemm;      /* of what the largest matrix products reach */
    double attention; /* of the same, by the instructions that FlashAttention-2 uses */
    double fp8;       /* layers' matrix products in 8 bits: times the speed of 16; of no use where there is no such unit */
};

/* Numbers for all. */
struct step_coefficients {
    double activation_bytes; /* moved a token, layer and unit of width, forward and backward */
    double forward;          /* time of a forward pass that is done again, over a third of forward and backward */
    double exposed;          /* time of traffic that shows, over its time at the links' specified bandwidth */
    double hop_s;
    double step_s;           /* a step, whatever its size: launch, clipping, logging, barrier */
};

extern const struct step_coefficients step_coefficients_default;
/* Of a family that was not calibrated: the mean of those that were. */
struct gpu_coefficients gpu_coefficients_default(const char *family);

/* One micro-batch, in seconds. */
struct step_kernels { double gemm_s, attention_s, memory_s; };

struct step_kernels step_kernels(const struct step_work *, const struct gpu_spec *, const struct gpu_coefficients *,
                                 const struct step_coefficients *);
static inline double step_kernels_s(const struct step_kernels *k) { return k->gemm_s + k->attention_s + k->memory_s; }

/* Data-parallel traffic that shows, a micro-batch. */
double step_traffic_s(const struct step_work *, const struct gpu_spec *, const struct step_coefficients *);
double step_optimizer_s(const struct step_work *, const struct gpu_spec *);
/* A whole step of data-parallel training. */
double step_sharded_s(const struct step_work *, const struct gpu_spec *, const struct gpu_coefficients *,
                      const struct step_coefficients *);

#endif
