/* step.h - the time of one training step, part by part, and why.
 *
 *     struct step_input in = { .model = *model_known("llama2-70b"), .split = { 8, 8, 4, 1, 1, 1, .zero = 1 }, ... };
 *     const char *wrong = step_problem(&in);             // static text, NULL when it makes sense
 *     struct step_time t = step_time(&in);
 *     step_total(&t) ...  t.part[STEP_COMMUNICATION] ... t.mfu
 *
 * B samples a step over D data-parallel ranks in micro-batches of b: m = ceil(B / (D b)) micro-batches go through a pipeline
 * of p stages (each v chunks). A micro-batch takes a stage
 *   compute        a transformer: matrix products, attention and memory-bound kernels as step_efficiency.h has them, the
 *                  products by the parameters that multiply; other models: FLOPs over what matrix products reach and bytes
 *                  moved over the memory bandwidth; or all FLOPs over peak x `efficiency` where that is given
 *   tensor         all-reduces of b s h activations, 4 a layer forward and backward (6 with full recompute), exposed
 *                  (Shoeybi et al., Megatron-LM, arXiv 1909.08053, section 3; sequence parallelism moves as many bytes:
 *                  arXiv 2205.05198)
 *   context        keys and values of the whole sequence gathered, forward and twice backward (Llama 3, arXiv 2407.21783,
 *                  section 3.3.2), exposed
 *   expert         2 all-to-alls of the tokens forward and 2 backward, top_k copies each (GShard, arXiv 2006.16668), and one
 *                  each way of embeddings that are spread over the ranks (DLRM, arXiv 1906.00091), exposed
 *   pipeline       its activations to the next stage and their gradients back, v times
 * Parts of the step:
 *   compute        m micro-batches, the optimizer (Adam passes once over its state: HBM bandwidth) and what each step takes
 *                  besides, of any size (launch, clipping, logging: step_efficiency.h)
 *   communication  the above m times, and what of the data-parallel traffic no computation hides:
 *                    ZeRO 0  all-reduce of the gradients behind the backward pass of the last micro-batch
 *                    1, 2    reduce-scatter behind it, all-gather of the weights behind a forward pass
 *                    3       all-gather behind each forward pass, all-gather and reduce-scatter behind each backward pass
 *                  (volumes P, P, 2 P, 3 P a step: ZeRO, arXiv 1910.02054, section 7; overlap as in PyTorch DDP and FSDP:
 *                  the last bucket, one layer, is never hidden)
 *   bubble         (p - 1)/(v m) of the micro-batches' time: Narayanan et al., SC21 (arXiv 2104.04473), section 2.2
 *   straggler      the slowest of n ranks, whose times have a relative deviation `jitter` (order_statistics.h), and what a
 *                  slow node adds to the work of all
 *   data           given: time for which the loader keeps the ranks waiting
 * Groups lie as Megatron-LM orders ranks: tensor innermost, then context, data, pipeline. `run` consecutive ranks share a
 * node; a group that leaves it uses the fabric.
 *
 * MFU is model FLOPs over the step and the peak of all GPUs. Pure; seconds; no function of libm. Cost: O(1).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_STEP_H
#define TRAINYARD_MODELS_STEP_H

#include "models/collective.h"
#include "models/memory_fit.h"
#include "models/step_efficiency.h"

/* One GPU and what connects it. */
struct step_hardware {
    struct gpu_spec gpu;
    struct gpu_coefficients kernels; /* of its family */
    struct step_coefficients common;
    double efficiency;         /* of the peak, that all kernels together reach: instead of the formulas; 0: by them */
    double workspace_bytes;    /* a GPU: CUDA context, buffers of the collectives, fragmentation */
    struct collective_fabric fabric; /* of a whole node; groups that run at once share its NICs */
};
/* With the default coefficients; `efficiency` 0, the default workspace, and the node that is usually built with it: 8 of them,
 * with a network card each where they have NVLink. */
struct step_hardware step_hardware_of(const struct gpu_spec *);
#define STEP_WORKSPACE_BYTES 2147483648.0 /* the order of CUDA context (0.5 GB), NCCL's and cuBLAS' buffers (1 GB) and gaps */

struct step_place { uint32_t run; /* consecutive ranks that share a node */ };

struct step_noise {
    double jitter;             /* deviation of a rank's compute time in a step, over its mean; normal */
    double slowness;           /* time of the slowest node's GPUs over that of the others; 1: none is slow */
};

struct step_input {
    struct model_shape model;
    struct parallelism split;
    struct step_batch batch;
    struct step_hardware hardware;
    struct step_place place;
    struct step_noise noise;
    double overlap;            /* share of computation behind which data-parallel traffic hides; 1: all of it */
    double data_wait_s;
};

enum step_part { STEP_COMPUTE, STEP_COMMUNICATION, STEP_DATA, STEP_BUBBLE, STEP_STRAGGLER, N_STEP_PARTS };
extern const char *const step_part_names[N_STEP_PARTS];
/* Whose exposed time the communication is. */
enum step_traffic { TRAFFIC_TENSOR, TRAFFIC_CONTEXT, TRAFFIC_EXPERT, TRAFFIC_PIPELINE, TRAFFIC_DATA, N_STEP_TRAFFICS };
extern const char *const step_traffic_names[N_STEP_TRAFFICS];

struct step_time {
    double part[N_STEP_PARTS];
    double exposed[N_STEP_TRAFFICS]; /* sums to part[STEP_COMMUNICATION] */
    double hidden_s;                 /* data-parallel traffic behind computation */
    double optimizer_s, fixed_s;     /* of part[STEP_COMPUTE] */
    double micro_batches;
    double fabric_bytes;             /* that a GPU sends over the fabric in a step */
    double mfu, hfu;                 /* of the whole step */
};
double step_total(const struct step_time *);
/* Parts in whole ns, each rounded; their sum, at least 1, is the length of a step in the simulator. */
int64_t step_whole_ns(const struct step_time *, int64_t ns[N_STEP_PARTS]);

/* What makes no sense (static text), or NULL. */
const char *step_problem(const struct step_input *);
struct step_time step_time(const struct step_input *);

#endif
