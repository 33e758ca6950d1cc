/* step_efficiency.c - see step_efficiency.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/step_efficiency.h"

#include <string.h>

#define LOGIT_BYTES     32.0
#define WEIGHT_BYTES    14.0 /* a parameter and micro-batch; 2 more for a forward pass that is done again */
#define OPTIMIZER_BYTES 32.0  /* a parameter: Adam reads gradient, master weight and two moments, writes three and a copy */
#define PCIE_BYTES_PER_S 25e9 /* what a PCIe 4 x16 slot carries a direction */

const struct step_coefficients step_coefficients_default = {
    .activation_bytes = 276, .forward = 0.753, .exposed = 0.765, .hop_s = 2.08e-6, .step_s = 0.0282};

static const struct { const char *family; struct gpu_coefficients numbers; } families[] = {
    {"a100", {0.887, 0.3555, 2.0}},
    {"h100", {0.811, 0.3405, 1.552}},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

struct gpu_coefficients gpu_coefficients_default(const char *family)
{
    struct gpu_coefficients mean = {0, 0, 0};
    for (size_t i = 0; i < N_FAMILIES; i++) {
        if (!strcmp(families[i].family, family)) return families[i].numbers;
        mean.gemm += families[i].numbers.gemm / N_FAMILIES;
        mean.attention += families[i].numbers.attention / N_FAMILIES;
        mean.fp8 += families[i].numbers.fp8 / N_FAMILIES;
    }
    return mean;
}

/* What is done again, over forward and backward; `speed` 1 counts operations, `forward` time. */
static double again(const struct step_work *w, double speed)
{
    return w->recompute ? speed / 3 : 0;
}

static double layer_flops(const struct step_work *w, double speed)
{
    return 6 * w->tokens * w->layer_parameters * (1 + again(w, speed)) / w->tensor;
}

static double head_flops(const struct step_work *w)
{
    return 6 * w->tokens * w->hidden * w->vocabulary / w->tensor;
}

static double attention_flops(const struct step_work *w, double speed)
{
    return 2 * w->tokens * w->sequence * w->hidden * w->layers * (3.5 + 3 * again(w, speed)) / w->tensor;
}

static double kept_bytes(const struct step_work *w)
{
    return 2 * w->tokens * w->hidden * w->layers;
}

struct step_kernels step_kernels(const struct step_work *w, const struct gpu_spec *gpu, const struct gpu_coefficients *own,
                                 const struct step_coefficients *all)
{
    double reached = gpu->peak_flops * gpu->matmul, gain = w->fp8 && gpu->fp8_flops > 0 ? own->fp8 : 1;
    double whole = w->sequence_parallel ? 0 : 10.0 / 34, divided = whole + (1 - whole) / w->tensor;
    double layers = all->activation_bytes * w->tokens * w->hidden * w->layers * (1 + again(w, all->forward)) * divided;
    double loss = LOGIT_BYTES * w->tokens * w->vocabulary / w->tensor;
    double weights = (WEIGHT_BYTES + 2 * w->recompute) * w->parameters / w->tensor;
    struct step_kernels k;
    k.gemm_s = (layer_flops(w, all->forward) / gain + head_flops(w)) / (reached * own->gemm);
    k.attention_s = attention_flops(w, all->forward) / (reached * gpu->mma * own->attention);
    k.memory_s = (layers + loss + weights) / gpu->memory_bytes_per_s;
    return k;
}

double step_traffic_s(const struct step_work *w, const struct gpu_spec *gpu, const struct step_coefficients *all)
{
    static const struct { double bytes, collectives; } of[N_STEP_SHARDINGS] = {{4, 1}, {4, 2}, {6, 3}};
    double link = gpu->link_bytes_per_s, node = gpu->node_bytes_per_s, ranks = w->ranks;
    double busbw = ranks > w->ranks_per_node && node < link ? node : link;
    double often = w->sharding == SHARD_NONE ? 1 / w->micro_batches : 1;
    if (ranks <= 1) return 0;
    double wire = of[w->sharding].bytes * w->parameters / w->tensor * (ranks - 1) / ranks / busbw;
    return often * (wire * all->exposed + of[w->sharding].collectives * w->layers * (ranks - 1) * all->hop_s);
}

double step_optimizer_s(const struct step_work *w, const struct gpu_spec *gpu)
{
    double held = w->parameters / w->tensor / (w->sharding == SHARD_NONE ? 1 : w->ranks);
    return OPTIMIZER_BYTES * held / gpu->memory_bytes_per_s;
}

double step_sharded_s(const struct step_work *w, const struct gpu_spec *gpu, const struct gpu_coefficients *own,
                      const struct step_coefficients *all)
{
    struct step_kernels k = step_kernels(w, gpu, own, all);
    double micro = step_kernels_s(&k) + step_traffic_s(w, gpu, all);
    if (w->offload) micro += 2 * kept_bytes(w) / PCIE_BYTES_PER_S;
    return w->micro_batches * micro + step_optimizer_s(w, gpu) + all->step_s;
}
