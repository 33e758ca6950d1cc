/* memory_fit.c - see memory_fit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/memory_fit.h"

#include "base/detmath.h"

const char *const precision_names[N_PRECISIONS] = {"bf16", "fp16", "fp32", "fp8"};
const char *const memory_term_names[N_MEMORY_TERMS] = {"weights", "gradients", "optimizer", "activations", "workspace"};

/* Adam: in mixed precision a master copy and two moments of 4 bytes (ZeRO, section 3.1); in fp32 the weights are the master.
 * fp8 as in Transformer Engine: weights stay in 16 bits, with an 8-bit copy beside. Peaks: TF32 half, FP8 twice that of 16
 * bits (NVIDIA A100 and H100 datasheets). */
const struct precision_bytes precision_table[N_PRECISIONS] = {
    [PRECISION_BF16] = {2, 2, 12, 2, 2, 1},
    [PRECISION_FP16] = {2, 2, 12, 2, 2, 1},
    [PRECISION_FP32] = {4, 4, 8, 4, 4, 0.5},
    [PRECISION_FP8] = {3, 2, 12, 2, 2, 2},
};

double batch_micro_batches(const struct step_batch *b, const struct parallelism *p)
{
    double m = det_ceil(b->global / ((double)p->data * b->micro));
    return m < 1 ? 1 : m;
}

/* The first stage has the input embedding; without a pipeline the output layer lies there, too. */
static double embedding_parameters(const struct model_shape *m, bool all)
{
    double one = (double)m->vocabulary * m->hidden;
    return !m->layers ? 0 : all && !m->tied ? 2 * one : one;
}

double local_parameters(const struct model_shape *m, const struct parallelism *p)
{
    double layers = m->parameters - m->expert_parameters - embedding_parameters(m, true);
    double here = embedding_parameters(m, p->pipeline == 1) + layers / p->pipeline;
    return here / p->tensor + local_expert_parameters(m, p);
}

double local_expert_parameters(const struct model_shape *m, const struct parallelism *p)
{
    return m->expert_parameters / ((double)p->pipeline * p->expert * p->tensor);
}

/* Of one layer and micro-batch; 2 bytes a value in the paper's sums. */
static double layer_activations(const struct model_shape *m, const struct parallelism *p, const struct step_batch *b)
{
    double s = (double)m->sequence / p->context, t = p->tensor, h = m->hidden, sbh = s * b->micro * h;
    double values = precision_table[b->precision].activation / 2;
    if (b->recompute == RECOMPUTE_FULL) return values * 2 * sbh / (p->sequence ? t : 1);
    double scores = b->recompute == RECOMPUTE_NONE ? 5 * m->heads * (double)m->sequence / (h * t) : 0;
    double rest = p->sequence ? 34 / t : 10 + 24 / t;
    return values * sbh * (rest + scores);
}

static double activations(const struct model_shape *m, const struct parallelism *p, const struct step_batch *b)
{
    if (!m->layers) return m->sample_activations * b->micro;
    double waiting = p->pipeline, micro = batch_micro_batches(b, p);
    if (micro < waiting) waiting = micro;
    double interleaved = p->interleave > 1 ? 1 + (p->pipeline - 1.0) / ((double)p->pipeline * p->interleave) : 1;
    double layers = (double)m->layers / p->pipeline * waiting * interleaved;
    double output = 0;
    if (p->pipeline == 1)
        output = 4.0 * m->sequence / p->context * b->micro * m->hidden / p->tensor * (1 + (double)m->vocabulary / m->hidden);
    return layers * layer_activations(m, p, b) + output;
}

/* Weights that ZeRO 3 has gathered: two layers, or the embedding when it is larger. */
static double gathered(const struct model_shape *m, const struct parallelism *p, double parameters, double weight)
{
    if (p->zero < 3 || p->data == 1) return 0;
    if (!m->layers) return parameters * weight;
    double embedding = embedding_parameters(m, false) / p->tensor;
    double unit = (parameters - embedding) * p->pipeline / m->layers;
    return weight * (unit + (unit > embedding ? unit : embedding));
}

static void find_overflow(struct memory_fit *f)
{
    for (int k = 0; k < N_MEMORY_TERMS; k++) {
        f->total += f->bytes[k];
        if (f->total > f->capacity && f->total - f->bytes[k] <= f->capacity) f->overflows = (enum memory_term)k;
    }
}

struct memory_fit memory_fit(const struct model_shape *m, const struct parallelism *p, const struct step_batch *b,
                             double capacity_bytes, double workspace_bytes)
{
    const struct precision_bytes *size = &precision_table[b->precision];
    double n = local_parameters(m, p), experts = local_expert_parameters(m, p);
    double shard = (n - experts) / p->data + experts * p->expert / p->data;
    struct memory_fit f = {.capacity = capacity_bytes};
    f.bytes[MEM_WEIGHTS] = size->weight * (p->zero >= 3 ? shard : n);
    f.bytes[MEM_GRADIENTS] = size->gradient * (p->zero >= 2 ? shard : n);
    f.bytes[MEM_OPTIMIZER] = size->optimizer * (p->zero >= 1 ? shard : n);
    f.bytes[MEM_ACTIVATIONS] = activations(m, p, b);
    f.bytes[MEM_WORKSPACE] = workspace_bytes + gathered(m, p, n, size->gathered);
    find_overflow(&f);
    return f;
}
