/* flops.c - see flops.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/flops.h"

#include <string.h>

const char *const recompute_names[N_RECOMPUTES] = {"none", "selective", "full"};

static const char gpt3[] = "Brown et al., arXiv 2005.14165, tables 2.1 and D.1";
static const char bloom[] = "model card bigscience/bloom, and its config of the smaller sizes; ALiBi, tied embeddings";
static const char llama2[] = "Touvron et al., arXiv 2307.09288, and the released checkpoints";
static const char llama3[] = "Llama team, arXiv 2407.21783, table 3, and the released checkpoints";
static const char mpt[] = "MosaicML llm-foundry, configs of its throughput table; tied embeddings";
static const char megatron[] = "Narayanan et al., arXiv 2104.04473, table 1";
static const char torchvision[] = "torchvision's table of models: parameters, multiply-adds of one image, times 2; memory "
                                  "traffic by activations (flops.h)";

/* Multiply-adds of a row of clicks: bottom 13-512-256-128; 27 vectors of 128 crossed in 3 layers of rank 512; top
 * 3456-1024-1024-512-256-1. */
static const char dlrm[] = "MLPerf Training v3's recommender (DLRM with DCNv2, arXiv 2008.13535), layer sizes of its reference; "
                           "the dense part trains in every rank, 26 embeddings of 128 values are exchanged; memory traffic "
                           "from MLPerf v3.1 on 8 H100";
#define DCN_WIDTH     (27 * 128)
#define DLRM_DENSE    (13 * 512 + 512 * 256 + 256 * 128 + 3 * 2 * DCN_WIDTH * 512 + DCN_WIDTH * 1024 + 1024 * 1024 + 1024 * 512 + \
                       512 * 256 + 256)
#define DLRM_EXCHANGE (26 * 128 * 2)

#define GPT(n, p, l, h, a, v, s, t, src)                                                                               \
    {.name = n, .parameters = p, .active_parameters = p, .layers = l, .hidden = h, .heads = a, .kv_heads = a,           \
     .vocabulary = v, .sequence = s, .tied = t, .source = src}
#define GQA(n, p, l, h, a, kv, v, s, src)                                                                              \
    {.name = n, .parameters = p, .active_parameters = p, .layers = l, .hidden = h, .heads = a, .kv_heads = kv,          \
     .vocabulary = v, .sequence = s, .source = src}
#define IMAGE(n, p, madds, activations, layers)                                                                        \
    {.name = n, .parameters = p, .active_parameters = p, .sample_flops = 2 * (madds), .sample_traffic = 31 * (activations), \
     .sample_activations = 2 * (activations), .launch_s = 50e-6 * (layers), .source = torchvision}

static const struct model_shape known[] = {
    /*  name              parameters      layers hidden heads vocabulary sequence tied */
    GPT("gpt3-175b",      174.6e9,        96, 12288,  96,  50257, 2048, true, gpt3),
    GPT("gpt3-13b",       12.85e9,        40,  5120,  40,  50257, 2048, true, gpt3),
    GPT("gpt3-6.7b",      6.66e9,         32,  4096,  32,  50257, 2048, true, gpt3),
    GPT("gpt2-1.5b",      1.5576e9,       48,  1600,  25,  50257, 1024, true, "Radford et al. 2019, and the released checkpoint"),
    GPT("opt-175b",       174.6e9,        96, 12288,  96,  50272, 2048, true, "Zhang et al., arXiv 2205.01068, table 1"),
    GPT("megatron-530b",  529.6e9,       105, 20480, 128,  51200, 2048, true, megatron),
    GPT("megatron-1t",    1008.0e9,      128, 25600, 160,  51200, 2048, true, megatron),
    GPT("bloom-176b",     176247271424.0, 70, 14336, 112, 250880, 2048, true, bloom),
    GPT("bloom-7b1",      7069016064.0,   30,  4096,  32, 250880, 2048, true, bloom),
    GPT("llama2-7b",      6738415616.0,   32,  4096,  32,  32000, 4096, false, llama2),
    GPT("llama2-13b",     13015864320.0,  40,  5120,  40,  32000, 4096, false, llama2),
    GQA("llama2-70b",     68976648192.0,  80,  8192,  64, 8, 32000, 4096, llama2),
    GQA("llama3-8b",      8030261248.0,   32,  4096,  32, 8, 128256, 8192, llama3),
    GQA("llama3-70b",     70553706496.0,  80,  8192,  64, 8, 128256, 8192, llama3),
    GQA("llama3-405b",    405853388800.0, 126, 16384, 128, 8, 128256, 8192, llama3),
    GPT("mpt-125m",       125311488.0,    12,   768,  12,  50368, 2048, true, mpt),
    GPT("mpt-350m",       355985408.0,    24,  1024,  16,  50368, 2048, true, mpt),
    GPT("mpt-760m",       760470528.0,    24,  1536,  12,  50368, 2048, true, mpt),
    GPT("mpt-1b",         1315950592.0,   24,  2048,  16,  50368, 2048, true, mpt),
    GPT("mpt-3b",         2651837440.0,   32,  2560,  20,  50368, 2048, true, mpt),
    GPT("mpt-7b",         6658859008.0,   32,  4096,  32,  50368, 2048, true, mpt),
    GPT("mpt-13b",        12853954560.0,  40,  5120,  40,  50368, 2048, true, mpt),
    GPT("mpt-30b",        29975214080.0,  48,  7168,  56,  50368, 2048, true, mpt),
    GPT("mpt-70b",        64862437376.0,  80,  8192,  64,  50368, 2048, true, mpt),
    GPT("bert-large",     336226108.0,    24,  1024,  16,  30522,  512, true, "Devlin et al., arXiv 1810.04805, and its checkpoint"),
    {.name = "mixtral-8x7b", .parameters = 46.7e9, .active_parameters = 12.9e9, .layers = 32, .hidden = 4096, .heads = 32,
     .kv_heads = 8, .vocabulary = 32000, .sequence = 4096, .top_k = 2, .expert_parameters = 32.0 * 8 * 3 * 4096 * 14336,
     .source = "Jiang et al., arXiv 2401.04088: 8 experts of 14336, 2 a token"},
    GPT("vit-l-16",       304326632.0,    24,  1024,  16,   1000,  197, true, "Dosovitskiy et al., arXiv 2010.11929, table 1"),
    IMAGE("resnet-50",    25557032.0,  4.09e9, 11.1e6, 50),
    IMAGE("resnet-101",   44549160.0,  7.80e9, 16.2e6, 101),
    IMAGE("resnet-152",   60192808.0, 11.51e9, 22.6e6, 152),
    {.name = "dlrm-dcnv2", .parameters = DLRM_DENSE, .active_parameters = DLRM_DENSE, .sample_flops = 2.0 * DLRM_DENSE,
     .sample_traffic = 1.4e6, .sample_exchange = DLRM_EXCHANGE, .source = dlrm},
};

const struct model_shape *model_at(size_t i) { return i < sizeof known / sizeof *known ? &known[i] : NULL; }

const struct model_shape *model_known(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return &known[i];
    return NULL;
}

/* Of attention's two products, forward: 2 x 2 s h a token and layer. */
static double attention_flops(const struct model_shape *m) { return 4.0 * m->layers * m->hidden * m->sequence; }

static double output_parameters(const struct model_shape *m) { return (double)m->vocabulary * m->hidden; }

double forward_flops(const struct model_shape *m)
{
    if (!m->layers) return m->sample_flops;
    double multiply = m->active_parameters - (m->tied ? 0 : output_parameters(m));
    return m->sequence * (2 * multiply + attention_flops(m));
}

double model_flops(const struct model_shape *m) { return 3 * forward_flops(m); }

double hardware_flops(const struct model_shape *m, enum recompute recompute)
{
    double again = 0;
    if (!m->layers) return model_flops(m) + (recompute == RECOMPUTE_FULL ? forward_flops(m) : 0);
    if (recompute == RECOMPUTE_SELECTIVE) again = m->sequence * attention_flops(m);
    if (recompute == RECOMPUTE_FULL) again = forward_flops(m) - m->sequence * 2 * output_parameters(m);
    return model_flops(m) + again;
}

double training_flops(double parameters, double tokens) { return 6 * parameters * tokens; }

double megatron_flops(double batch, double sequence, double layers, double hidden, double vocabulary)
{
    return 96 * batch * sequence * layers * hidden * hidden *
           (1 + sequence / (6 * hidden) + vocabulary / (16 * layers * hidden));
}

double gpt_parameters(double sequence, double layers, double hidden, double vocabulary)
{
    return 12 * layers * hidden * hidden * (1 + 13 / (12 * hidden) + (vocabulary + sequence) / (12 * layers * hidden));
}
