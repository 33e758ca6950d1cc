/* step.c - see step.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/step.h"

#include <string.h>

#include "base/detmath.h"
#include "models/order_statistics.h"

const char *const step_part_names[N_STEP_PARTS] = {"compute", "communication", "data", "bubble", "straggler"};
const char *const step_traffic_names[N_STEP_TRAFFICS] = {"tensor", "context", "expert", "pipeline", "data-parallel"};

#define BUCKET_BYTES 25e6 /* PyTorch DDP's bucket_cap_mb = 25: gradients leave by so much at a time */

double step_total(const struct step_time *t)
{
    double sum = 0;
    for (int k = 0; k < N_STEP_PARTS; k++) sum += t->part[k];
    return sum;
}

#define LONGEST_NS 1e18 /* of a part: 32 years are for ever */

int64_t step_whole_ns(const struct step_time *t, int64_t ns[N_STEP_PARTS])
{
    int64_t sum = 0;
    for (int k = 0; k < N_STEP_PARTS; k++) {
        double part = t->part[k] * 1e9;
        sum += ns[k] = part < LONGEST_NS ? det_round(part) : (int64_t)LONGEST_NS;
    }
    if (sum < 1) sum = ns[STEP_COMPUTE] = 1;
    return sum;
}

/* Of a GPU family: compute capability, NVLinks (vendors' datasheets), and whether a switch joins them. */
static const struct { const char *family; enum collective_library library; unsigned generation, links; bool joined; } families[] = {
    {"v100", COLLECTIVE_NCCL, 70, 6, false},    {"a100", COLLECTIVE_NCCL, 80, 12, true}, {"h100", COLLECTIVE_NCCL, 90, 18, true},
    {"b200", COLLECTIVE_NCCL, 100, 18, true},   {"t4", COLLECTIVE_NCCL, 75, 0, false},   {"a10g", COLLECTIVE_NCCL, 86, 0, false},
    {"l4", COLLECTIVE_NCCL, 89, 0, false},      {"l40s", COLLECTIVE_NCCL, 89, 0, false},
    {"mi300x", COLLECTIVE_RCCL, 94, 7, false},
};
#define NVLINK_LEAST_BYTES_PER_S 100e9 /* a card of an NVLink family with less is on PCIe */

static struct collective_fabric usual_fabric(const struct gpu_spec *gpu)
{
    struct collective_fabric f = collective_fabric_default();
    bool linked = gpu->link_bytes_per_s >= NVLINK_LEAST_BYTES_PER_S;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strcmp(families[i].family, gpu->family) != 0) continue;
        f.library = families[i].library;
        f.gpu_generation = families[i].generation;
        f.nvlink_links = linked ? families[i].links : 0;
        f.nvlink_switch = linked && families[i].joined;
    }
    f.nvlink_bytes_per_s = linked ? gpu->link_bytes_per_s : 0;
    f.nics = linked ? 8 : 1;
    f.nic_bytes_per_s = gpu->node_bytes_per_s / f.nics;
    return f;
}

struct step_hardware step_hardware_of(const struct gpu_spec *gpu)
{
    return (struct step_hardware){.gpu = *gpu, .kernels = gpu_coefficients_default(gpu->family),
                                  .common = step_coefficients_default, .workspace_bytes = STEP_WORKSPACE_BYTES,
                                  .fabric = usual_fabric(gpu)};
}

/* ---- what makes sense ---- */

const char *step_problem(const struct step_input *in)
{
    const struct parallelism *p = &in->split;
    const struct model_shape *m = &in->model;
    if (!(m->parameters > 0)) return "the model has no parameters";
    double embeddings = m->layers ? (double)m->vocabulary * m->hidden * (m->tied ? 1 : 2) : 0;
    if (!(m->active_parameters > embeddings) || m->active_parameters > m->parameters || m->expert_parameters > m->parameters)
        return "parameters of a token or of experts are not a part of all, or the embeddings alone (vocabulary x hidden) are more";
    if (!m->layers && !(m->sample_flops > 0)) return "a model without layers needs the FLOPs of a sample";
    if (!p->data || !p->tensor || !p->pipeline || !p->interleave || !p->context || !p->expert || !in->batch.micro)
        return "each degree of parallelism and the micro-batch are at least 1";
    if (!m->layers && (p->tensor > 1 || p->pipeline > 1 || p->context > 1))
        return "only a transformer can be divided into tensors, stages and sequences";
    if (p->pipeline > 1 && (uint64_t)p->pipeline * p->interleave > m->layers) return "more pipeline stages than layers";
    if (p->interleave > 1 && p->pipeline == 1) return "interleaving needs a pipeline";
    if (m->heads && p->tensor > m->heads) return "more tensor-parallel ranks than attention heads";
    if (p->expert > 1 && !(m->expert_parameters > 0)) return "expert parallelism needs a model with experts";
    if (p->data % p->expert) return "the expert-parallel degree must divide the data-parallel one";
    if (!(in->batch.global >= 1)) return "the batch is empty";
    if (!(in->hardware.gpu.peak_flops > 0)) return "the GPU's peak is not known";
    return NULL;
}

/* ---- groups of ranks on nodes ---- */

struct group { unsigned local, nodes; struct collective_fabric fabric; };

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* n ranks, `stride` apart: how many of a group share a node. Groups that straddle nodes unevenly count as the worst. */
static struct group group_of(const struct step_input *in, uint32_t n, uint32_t stride)
{
    uint32_t all = parallel_ranks(&in->split), run = in->place.run;
    if (run > all || run == 0) run = all;
    uint32_t together = gcd(run, n * stride), local = together % stride ? 1 : together / stride;
    struct group g = {local, n / local, in->hardware.fabric};
    if (g.nodes > 1) g.fabric = collective_fabric_share(g.fabric, run / local);
    return g;
}

/* Time of an operation in a group; what a rank sends over the fabric is added to the step. */
static double traffic(struct step_time *t, const struct group *g, enum collective_op op, double bytes, double times)
{
    if (g->local * g->nodes < 2 || !(bytes > 0)) return 0;
    bool linked = g->local * g->nodes <= g->fabric.nvlink_domain; /* NVLink joins the nodes */
    if (g->nodes > 1 && !linked) t->fabric_bytes += times * collective_bus_factor(op, g->nodes) * bytes / g->local;
    return times * collective_time_s(&g->fabric, op, bytes, g->local, g->nodes, NULL);
}

/* ---- one micro-batch on one stage ---- */

struct micro {
    double forward_s, backward_s;  /* computation */
    double exchanged_s;            /* within a stage: tensor, context, expert */
    double layers;                 /* of the longest stage */
};

static double longest_stage(const struct step_input *in)
{
    const struct parallelism *p = &in->split;
    uint32_t chunks = p->pipeline * p->interleave, layers = in->model.layers;
    return layers ? (double)((layers + chunks - 1) / chunks) * p->interleave : 1;
}

static double peak_flops(const struct step_input *in)
{
    return in->hardware.gpu.peak_flops * precision_table[in->batch.precision].peak;
}

/* Of the longest stage; the output layer counts as if all stages had a part of it. */
static double transformer_s(const struct step_input *in, double layers)
{
    const struct parallelism *p = &in->split;
    const struct model_shape *m = &in->model;
    double embeddings = (double)m->vocabulary * m->hidden * (m->tied ? 1 : 2);
    double here = m->parameters - m->expert_parameters * (1 - 1.0 / p->expert);
    struct step_work w = {.parameters = here * layers / m->layers, .layers = layers, .hidden = m->hidden,
                          .sequence = m->sequence, .tensor = p->tensor,
                          .layer_parameters = (m->active_parameters - embeddings) * layers / m->layers,
                          .vocabulary = (double)m->vocabulary / p->pipeline,
                          .tokens = in->batch.micro * (double)m->sequence / p->context, .sequence_parallel = p->sequence,
                          .recompute = in->batch.recompute == RECOMPUTE_FULL, .fp8 = in->batch.precision == PRECISION_FP8};
    struct step_kernels k = step_kernels(&w, &in->hardware.gpu, &in->hardware.kernels, &in->hardware.common);
    double slower = in->batch.precision == PRECISION_FP32 ? 1 / precision_table[PRECISION_FP32].peak : 1;
    return (k.gemm_s + k.attention_s) * slower + k.memory_s;
}

static double other_s(const struct step_input *in)
{
    const struct step_hardware *h = &in->hardware;
    double reached = peak_flops(in) * h->gpu.matmul * h->kernels.gemm, value = precision_table[in->batch.precision].activation / 2;
    return in->batch.micro * (hardware_flops(&in->model, in->batch.recompute) / reached +
                              in->model.sample_traffic * value / h->gpu.memory_bytes_per_s);
}

static void compute_micro(const struct step_input *in, struct micro *u)
{
    const struct parallelism *p = &in->split;
    double forward = forward_flops(&in->model), all = hardware_flops(&in->model, in->batch.recompute), s;
    u->layers = longest_stage(in);
    double part = u->layers / (in->model.layers ? in->model.layers : 1) / ((double)p->tensor * p->context);
    if (in->hardware.efficiency > 0) s = in->batch.micro * all * part / (peak_flops(in) * in->hardware.efficiency);
    else s = in->model.layers ? transformer_s(in, u->layers) : other_s(in);
    u->forward_s = s * forward / all;
    u->backward_s = s - u->forward_s;
}

static void exchange_micro(const struct step_input *in, struct micro *u, struct step_time *t, double m)
{
    const struct parallelism *p = &in->split;
    const struct model_shape *s = &in->model;
    bool again = in->batch.recompute == RECOMPUTE_FULL;
    double value = precision_table[in->batch.precision].activation;
    double tokens = in->batch.micro * (double)s->sequence / p->context, activations = tokens * s->hidden * value;
    struct group tensor = group_of(in, p->tensor, 1), context = group_of(in, p->context, p->tensor);
    double keys = 2 * tokens * p->context * s->hidden * value / p->tensor * (s->heads ? (double)s->kv_heads / s->heads : 1);
    double *to = t->exposed;
    to[TRAFFIC_TENSOR] = traffic(t, &tensor, COLLECTIVE_ALL_REDUCE, activations, m * u->layers * (again ? 6 : 4));
    to[TRAFFIC_CONTEXT] = traffic(t, &context, COLLECTIVE_ALL_GATHER, keys, m * u->layers * (again ? 3 : 2)) +
                          traffic(t, &context, COLLECTIVE_REDUCE_SCATTER, keys, m * u->layers);
    struct group expert = group_of(in, p->expert, p->tensor * p->context), all = group_of(in, p->data, 1);
    double routed = activations * s->top_k / (p->sequence ? p->tensor : 1);
    to[TRAFFIC_EXPERT] = traffic(t, &expert, COLLECTIVE_ALL_TO_ALL, routed, m * u->layers * (again ? 6 : 4));
    if (s->sample_exchange > 0)
        to[TRAFFIC_EXPERT] += traffic(t, &all, COLLECTIVE_ALL_TO_ALL, s->sample_exchange * in->batch.micro, 2 * m);
    u->exchanged_s = (to[TRAFFIC_TENSOR] + to[TRAFFIC_CONTEXT] + to[TRAFFIC_EXPERT]) / m;
}

/* To the next stage and back, for each chunk: two ranks, on one node or on two. */
static void pass_on(const struct step_input *in, struct step_time *t, double m)
{
    const struct parallelism *p = &in->split;
    if (p->pipeline == 1) return;
    struct group g = group_of(in, p->pipeline, p->tensor * p->context * p->data);
    if (g.nodes > 1) g.local = 1, g.nodes = 2;
    else g.local = 2;
    double bytes = in->batch.micro * (double)in->model.sequence / p->context * in->model.hidden *
                   precision_table[in->batch.precision].activation / (p->sequence ? p->tensor : 1);
    t->exposed[TRAFFIC_PIPELINE] = traffic(t, &g, COLLECTIVE_POINT_TO_POINT, bytes, 2 * m * p->interleave);
}

/* ---- data-parallel traffic ---- */

/* What is left of `s` seconds behind `window` seconds of computation: at least the last of `pieces`. */
static double uncovered(struct step_time *t, double s, double window, double pieces)
{
    double last = s / pieces, left = s - window;
    double exposed = left > last ? left : last;
    t->hidden_s += s - exposed;
    return exposed;
}

static double pieces_of(const struct step_input *in, const struct micro *u, double bytes)
{
    double n = in->model.layers ? u->layers : det_ceil(bytes / BUCKET_BYTES);
    return n < 1 ? 1 : n;
}

static void reduce_gradients(const struct step_input *in, const struct micro *u, struct step_time *t, double m)
{
    const struct parallelism *p = &in->split;
    const struct precision_bytes *size = &precision_table[in->batch.precision];
    double n = local_parameters(&in->model, p), gradients = size->gradient * n;
    double weights = size->gathered * n, pieces = pieces_of(in, u, gradients);
    double behind = u->backward_s * in->overlap, ahead = u->forward_s * in->overlap;
    struct group g = group_of(in, p->data * p->context, p->tensor);
    double *to = &t->exposed[TRAFFIC_DATA];
    if (p->zero == 0) {
        *to = uncovered(t, traffic(t, &g, COLLECTIVE_ALL_REDUCE, gradients, 1), behind, pieces);
    } else if (p->zero < 3) {
        *to = uncovered(t, traffic(t, &g, COLLECTIVE_REDUCE_SCATTER, gradients, 1), behind, pieces);
        *to += uncovered(t, traffic(t, &g, COLLECTIVE_ALL_GATHER, weights, 1), ahead, pieces);
    } else {
        double gather = traffic(t, &g, COLLECTIVE_ALL_GATHER, weights, m);
        double back = traffic(t, &g, COLLECTIVE_ALL_GATHER, weights, m) + traffic(t, &g, COLLECTIVE_REDUCE_SCATTER, gradients, m);
        *to = uncovered(t, gather, m * ahead, pieces) + uncovered(t, back, m * behind, pieces);
    }
}

/* Reads gradient, master copy and two moments, writes the latter and the weight. */
static double optimizer_s(const struct step_input *in)
{
    const struct precision_bytes *size = &precision_table[in->batch.precision];
    double n = local_parameters(&in->model, &in->split) / (in->split.zero >= 1 ? in->split.data : 1);
    double bytes = size->gradient + 2 * size->optimizer + size->weight;
    return n * bytes / in->hardware.gpu.memory_bytes_per_s;
}

/* ---- the step ---- */

static void utilisation(const struct step_input *in, struct step_time *t)
{
    double peak = peak_flops(in);
    double gpu_s = step_total(t) * parallel_ranks(&in->split);
    t->mfu = in->batch.global * model_flops(&in->model) / (gpu_s * peak);
    t->hfu = in->batch.global * hardware_flops(&in->model, in->batch.recompute) / (gpu_s * peak);
}

static double slowest(const struct step_input *in)
{
    double n = parallel_ranks(&in->split), jitter = in->noise.jitter > 0 ? in->noise.jitter * max_of_normals(n) : 0;
    return (in->noise.slowness > 1 ? in->noise.slowness : 1) * (1 + jitter);
}

struct step_time step_time(const struct step_input *in)
{
    struct step_time t = {.micro_batches = batch_micro_batches(&in->batch, &in->split)};
    struct micro u = {0};
    double m = t.micro_batches;
    compute_micro(in, &u);
    exchange_micro(in, &u, &t, m);
    pass_on(in, &t, m);
    reduce_gradients(in, &u, &t, m);
    t.optimizer_s = optimizer_s(in);
    double one = u.forward_s + u.backward_s;
    t.fixed_s = in->hardware.efficiency > 0 ? 0 : in->model.layers ? in->hardware.common.step_s : in->model.launch_s;
    t.part[STEP_COMPUTE] = m * one + t.optimizer_s + t.fixed_s;
    for (int k = 0; k < N_STEP_TRAFFICS; k++) t.part[STEP_COMMUNICATION] += t.exposed[k];
    t.part[STEP_BUBBLE] = (in->split.pipeline - 1.0) / in->split.interleave * (one + u.exchanged_s);
    t.part[STEP_STRAGGLER] = t.part[STEP_COMPUTE] * (slowest(in) - 1);
    t.part[STEP_DATA] = in->data_wait_s;
    utilisation(in, &t);
    return t;
}
