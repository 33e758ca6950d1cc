/* memory_fit.h - what lies in the memory of the fullest GPU of a training job, term by term, and which term overflows.
 *
 * Terms of P parameters on a GPU (all of them divided by tensor and pipeline, those of experts by expert parallelism as
 * well), in bytes by precision (struct precision_bytes), divided over D data-parallel ranks by the stage of ZeRO:
 *   weights    w P,  stage 3: / D        gradients  g P,  stage >= 2: / D        optimizer  k P,  stage >= 1: / D
 * Adam in mixed precision: w = 2, g = 2, k = 12 (Rajbhandari et al., ZeRO, arXiv 1910.02054, section 3; figure 1 of it:
 * 7.5B on 64 GPUs 120, 31.4, 16.6, 1.9 GB).
 *   activations of a transformer, bytes a layer, b sequences of s tokens a micro-batch, a heads, t tensor-parallel ranks:
 *     none       s b h (10 + 24/t + 5 a s/(h t)), with sequence parallelism s b h/t (34 + 5 a s/h)
 *     selective  the same without the last summand
 *     full       2 s b h (with sequence parallelism / t)
 *   The first stage of a pipeline holds min(p, m) micro-batches of L/p layers, interleaved 1 + (p - 1)/(p v) times as
 *   many. Without a pipeline 4 s b h/t (1 + V/h) for the output layer and its loss. Context parallelism divides s.
 *   Korthikanti et al., "Reducing activation recomputation in large transformer models" (arXiv 2205.05198), equations 1-6.
 *   workspace  what the caller says (CUDA context, NCCL buffers, fragmentation), and with ZeRO 3 the gathered weights of
 *     the two largest units that are there at a time (the one in use and the one fetched ahead).
 *
 * Pure. Units: bytes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_MEMORY_FIT_H
#define TRAINYARD_MODELS_MEMORY_FIT_H

#include "models/flops.h"

enum precision { PRECISION_BF16, PRECISION_FP16, PRECISION_FP32, PRECISION_FP8, N_PRECISIONS };
extern const char *const precision_names[N_PRECISIONS];

struct precision_bytes {
    double weight, gradient, optimizer; /* bytes a parameter */
    double gathered;                    /* bytes a parameter that ZeRO sends to the other ranks */
    double activation;                  /* bytes a value */
    double peak;                        /* of the tensor cores, over that in 16 bits */
};
extern const struct precision_bytes precision_table[N_PRECISIONS];

/* How a model is divided. Each is at least 1; data-parallel ranks follow from the GPUs. */
struct parallelism {
    uint32_t data, tensor, pipeline, interleave, context, expert;
    uint8_t zero;      /* stage 0 to 3; 3 is FSDP's full sharding */
    bool sequence;     /* sequence parallelism beside tensor parallelism */
};
static inline uint32_t parallel_ranks(const struct parallelism *p) { return p->data * p->tensor * p->pipeline * p->context; }

struct step_batch { double global; uint32_t micro; enum recompute recompute; enum precision precision; };
/* Micro-batches that one pipeline works through in a step, rounded up. */
double batch_micro_batches(const struct step_batch *, const struct parallelism *);

enum memory_term { MEM_WEIGHTS, MEM_GRADIENTS, MEM_OPTIMIZER, MEM_ACTIVATIONS, MEM_WORKSPACE, N_MEMORY_TERMS };
extern const char *const memory_term_names[N_MEMORY_TERMS];

struct memory_fit {
    double bytes[N_MEMORY_TERMS];
    double total, capacity;
    enum memory_term overflows; /* when total > capacity: the term with which the sum, in the order above, passes it */
};
static inline bool memory_fits(const struct memory_fit *m) { return m->total <= m->capacity; }

/* `workspace`: bytes a GPU that hold neither parameters nor activations. */
struct memory_fit memory_fit(const struct model_shape *, const struct parallelism *, const struct step_batch *,
                             double capacity_bytes, double workspace_bytes);
/* Parameters on one GPU before any sharding by ZeRO, and of them those of experts (whose replicas are data / expert). */
double local_parameters(const struct model_shape *, const struct parallelism *);
double local_expert_parameters(const struct model_shape *, const struct parallelism *);

#endif
