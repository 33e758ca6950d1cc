/* training.c - a job's step from its model: "model", "parallelism", "batch", and the GPUs that it is for.
 *
 * What the scenario does not say is filled in before the nominal step is computed, and so stands in the resolved scenario:
 * a shipped model's shape, degrees of parallelism, the micro-batch, and the figures of the GPUs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <string.h>

#include "base/detmath.h"
#include "input/raw.h"

enum { MOST_RANKS = 4000000 };

static const struct field model_fields[] = {
    FIELD(raw_model, name, "name", TYPE_STRING, .hidden = true,
          .help = "a shipped model, which gives what is not said here (`trainyard step --list` lists them)"),
    FIELD(raw_model, parameters, "parameters", TYPE_NUMBER, .help = "trained parameters, in all"),
    FIELD(raw_model, active_parameters, "active_parameters", TYPE_NUMBER,
          .help = "that one token meets, of a mixture of experts; default: all"),
    FIELD(raw_model, expert_parameters, "expert_parameters", TYPE_NUMBER, .help = "of all, those of experts; default 0"),
    FIELD(raw_model, layers, "layers", TYPE_INT, .min = 0, .max = 100000, .help = "of a transformer; 0: it is none"),
    FIELD(raw_model, hidden, "hidden", TYPE_INT, .min = 1, .max = 10000000, .help = "its width"),
    FIELD(raw_model, heads, "heads", TYPE_INT, .min = 1, .max = 100000, .help = "of attention"),
    FIELD(raw_model, kv_heads, "kv_heads", TYPE_INT, .min = 1, .max = 100000, .help = "of keys and values; default: heads"),
    FIELD(raw_model, top_k, "top_k", TYPE_INT, .min = 1, .max = 100000, .help = "experts that a token meets"),
    FIELD(raw_model, vocabulary, "vocabulary", TYPE_INT, .min = 0, .max = 100000000, .help = "size of the output layer; default 0"),
    FIELD(raw_model, sequence, "sequence", TYPE_INT, .min = 1, .max = 100000000, .help = "tokens of a sample"),
    FIELD(raw_model, tied, "tied", TYPE_BOOL, .help = "the input embedding is the output layer, too; default true"),
    FIELD(raw_model, sample_flops, "sample_flops", TYPE_NUMBER,
          .help = "of what is no transformer: operations of one sample, forward"),
    FIELD(raw_model, traffic, "sample_traffic", TYPE_BYTES,
          .help = "of what is no transformer: bytes a sample moves through the GPU's memory, forward and backward; default 0"),
    FIELD(raw_model, activations, "sample_activations", TYPE_BYTES,
          .help = "of what is no transformer: bytes of a sample kept for the backward pass; default 0"),
    FIELD(raw_model, launch, "launch", TYPE_DURATION,
          .help = "of what is no transformer: of a step, whatever its samples (kernels' launches); default 0"),
    FIELD(raw_model, exchange, "sample_exchange", TYPE_BYTES,
          .help = "of what is no transformer: bytes of a sample that all ranks exchange, forward and again backward; default 0"),
};
const struct object_type model_type =
    OBJECT(raw_model, model_fields, "model", "What is trained: its parameters and shape.", .shorthand = "name");

static const struct field parallelism_fields[] = {
    FIELD(raw_parallelism, data, "data", TYPE_INT, .min = 1, .max = MOST_RANKS,
          .help = "data-parallel ranks; default: GPUs over the other degrees; it follows the GPUs of an elastic job"),
    FIELD(raw_parallelism, tensor, "tensor", TYPE_INT, .fallback = "1", .min = 1, .max = 1024, .help = "tensor-parallel ranks"),
    FIELD(raw_parallelism, pipeline, "pipeline", TYPE_INT, .fallback = "1", .min = 1, .max = 1024, .help = "pipeline stages"),
    FIELD(raw_parallelism, interleave, "interleave", TYPE_INT, .fallback = "1", .min = 1, .max = 1024,
          .help = "chunks of layers a stage"),
    FIELD(raw_parallelism, context, "context", TYPE_INT, .fallback = "1", .min = 1, .max = 1024,
          .help = "ranks that share a sequence"),
    FIELD(raw_parallelism, expert, "expert", TYPE_INT, .fallback = "1", .min = 1, .max = 1024,
          .help = "data-parallel ranks that share the experts"),
    FIELD(raw_parallelism, sequence, "sequence", TYPE_BOOL, .help = "sequence parallelism; default: with tensor parallelism"),
    FIELD(raw_parallelism, zero, "zero", TYPE_INT, .fallback = "0", .min = 0, .max = 3,
          .help = "stage of ZeRO: 1 shards the optimizer, 2 gradients, 3 (FSDP) weights, too"),
    FIELD(raw_parallelism, overlap, "overlap", TYPE_FRACTION,
          .help = "of computation, behind which data-parallel traffic hides; default 1, with zero 3: 0 (docs/models.md)"),
};
const struct object_type parallelism_type =
    OBJECT(raw_parallelism, parallelism_fields, "parallelism", "How a model is divided over the job's GPUs.");

static const struct field batch_fields[] = {
    FIELD(raw_batch, global, "global", TYPE_INT, .required = true, .min = 1, .max = INT64_C(1000000000000),
          .help = "samples a step, of all ranks"),
    FIELD(raw_batch, micro, "micro", TYPE_INT, .min = 1, .max = 1000000000,
          .help = "samples at a time on a rank; default: 1 of a transformer, else all of the rank's"),
    FIELD(raw_batch, recompute, "recompute", TYPE_WORD, WORDS(recompute_names), .fallback = "selective",
          .help = "activations that are computed again: selective is attention, full is all"),
    FIELD(raw_batch, precision, "precision", TYPE_WORD, WORDS(precision_names), .fallback = "bf16", .help = "of computing"),
};
const struct object_type batch_type =
    OBJECT(raw_batch, batch_fields, "batch", "The samples of a step.", .shorthand = "global");

/* ---- hardware ---- */

static const double tera = 1e12;

struct step_hardware *build_hardware(struct build *b, const struct raw_node_group *g, struct raw_network *n)
{
    const struct gpu_spec *known = g->gpu ? gpu_spec_find(g->gpu) : NULL;
    if (g->gpus == ABSENT || g->gpus == 0 || (!known && isnan(g->peak_tflops))) return NULL;
    struct step_hardware *h = arena_new(b->arena, struct step_hardware);
    static const struct gpu_spec unknown = { .name = "", .family = "", .matmul = 0.8, .mma = 1, .memory_bytes = 80e9,
                                             .memory_bytes_per_s = 2e12 };
    *h = step_hardware_of(known ? known : &unknown);
    if (!isnan(g->peak_tflops)) h->gpu.peak_flops = g->peak_tflops * tera;
    if (g->gpu_memory != ABSENT) h->gpu.memory_bytes = (double)g->gpu_memory;
    if (!isnan(g->gpu_memory_tbps)) h->gpu.memory_bytes_per_s = g->gpu_memory_tbps * tera;
    apply_fabric(b, &h->fabric, g, n);
    return h;
}

/* So that the resolved scenario says what was counted with. */
static void write_hardware(struct raw_node_group *g, const struct step_hardware *h)
{
    if (isnan(g->peak_tflops)) g->peak_tflops = h->gpu.peak_flops / tera;
    if (g->gpu_memory == ABSENT) g->gpu_memory = (int64_t)h->gpu.memory_bytes;
    if (isnan(g->gpu_memory_tbps)) g->gpu_memory_tbps = h->gpu.memory_bytes_per_s / tera;
}

/* Groups with GPUs that may serve it; all, when none may: it is a job all the same. */
static uint64_t groups_for(const struct cluster_spec *c, const struct job_detail *d)
{
    uint64_t with = 0;
    for (uint32_t g = 0; g < c->n_groups; g++)
        if (c->groups[g].gpus) with |= UINT64_C(1) << g;
    return with & d->groups ? with & d->groups : with;
}

/* A group without its GPUs is reported already. */
static bool gpus_unknown(const struct list *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        if (LIST_AT(*nodes, struct raw_node_group, i).gpus == ABSENT) return true;
    return false;
}

static const struct step_hardware *hardware_for(struct build *b, const struct job_detail *d, const struct raw_job *raw)
{
    const struct cluster_spec *c = &b->s->cluster;
    const struct step_hardware *first = NULL;
    uint64_t groups = groups_for(c, d);
    if (!groups && !gpus_unknown(&b->raw->cluster->nodes))
        value_error(b->diag, place_of(raw->at, "model"), "the cluster has no GPU to compute a step on");
    for (uint32_t g = 0; g < c->n_groups; g++) {
        const struct step_hardware *h = c->groups[g].hardware;
        if (!(groups >> g & 1)) continue;
        if (!h) {
            value_error(b->diag, place_of(raw->at, "model"), "nothing is known of the GPUs of group %s", c->groups[g].name);
            diag_help(b->diag, "give the group a \"gpu\" such as \"h100\", or \"peak_tflops\"");
            return NULL;
        }
        write_hardware(&LIST_AT(b->raw->cluster->nodes, struct raw_node_group, g), h);
        if (!first) first = h;
    }
    return first;
}

/* ---- model ---- */

static void fill(int64_t *to, int64_t from)
{
    if (*to == ABSENT) *to = from;
}

static void fill_number(double *to, double from)
{
    if (isnan(*to)) *to = from;
}

static void fill_shape(struct raw_model *m, const struct model_shape *s)
{
    fill_number(&m->parameters, s->parameters);
    fill_number(&m->active_parameters, s->active_parameters);
    fill_number(&m->expert_parameters, s->expert_parameters);
    fill_number(&m->sample_flops, s->sample_flops);
    fill(&m->layers, s->layers);
    fill(&m->vocabulary, s->vocabulary);
    fill(&m->tied, s->tied);
    fill(&m->traffic, (int64_t)s->sample_traffic);
    fill(&m->activations, (int64_t)s->sample_activations);
    fill(&m->exchange, (int64_t)s->sample_exchange);
    fill(&m->launch, det_round(s->launch_s * 1e9));
    if (s->hidden) fill(&m->hidden, s->hidden);
    if (s->heads) fill(&m->heads, s->heads);
    if (s->kv_heads) fill(&m->kv_heads, s->kv_heads);
    if (s->top_k) fill(&m->top_k, s->top_k);
    if (s->sequence) fill(&m->sequence, s->sequence);
}

static bool known_shape(struct build *b, struct raw_model *m)
{
    const struct model_shape *s = model_known(m->name);
    const char *names[64];
    size_t n = 0;
    if (s) {
        fill_shape(m, s);
        m->name = NULL;
        return true;
    }
    while (n < 64 && model_at(n)) names[n] = model_at(n)->name, n++;
    name_error(b->diag, place_of(m->at, "name"), "model", m->name, names, n);
    return false;
}

static uint32_t or_none(int64_t x)
{
    return x == ABSENT ? 0 : (uint32_t)x;
}

static bool shape_of(struct build *b, struct raw_model *m, struct model_shape *out)
{
    if (m->name && !known_shape(b, m)) return false;
    fill_number(&m->active_parameters, m->parameters);
    fill_shape(m, &(struct model_shape){ .tied = true });
    if (m->heads != ABSENT) fill(&m->kv_heads, m->heads);
    if (isnan(m->parameters) || !(m->parameters > 0)) {
        value_error(b->diag, m->at, "the model has no \"parameters\"; a shipped one is given by its name");
        return false;
    }
    if (m->layers && (m->hidden == ABSENT || m->sequence == ABSENT || m->heads == ABSENT)) {
        value_error(b->diag, m->at, "a transformer needs \"layers\", \"hidden\", \"heads\" and \"sequence\"");
        return false;
    }
    *out = (struct model_shape){ .name = "", .parameters = m->parameters, .active_parameters = m->active_parameters,
                                 .expert_parameters = m->expert_parameters, .layers = or_none(m->layers),
                                 .hidden = or_none(m->hidden), .heads = or_none(m->heads), .kv_heads = or_none(m->kv_heads),
                                 .vocabulary = or_none(m->vocabulary), .sequence = or_none(m->sequence),
                                 .top_k = or_none(m->top_k), .tied = m->tied != 0, .sample_flops = m->sample_flops,
                                 .sample_activations = (double)m->activations, .sample_traffic = (double)m->traffic,
                                 .sample_exchange = (double)m->exchange, .launch_s = (double)m->launch / 1e9 };
    return true;
}

/* ---- division ---- */

static uint32_t gpus_of(const struct job_detail *d)
{
    uint64_t sum = 0;
    for (uint32_t r = 0; r < d->n_roles; r++)
        if (d->roles[r].gpu_shares) sum += (uint64_t)d->roles[r].replicas * ((d->roles[r].gpu_shares + 999) / SHARES_PER_GPU);
    return sum > MOST_RANKS ? MOST_RANKS : (uint32_t)sum;
}

/* Consecutive ranks on a node when the job fills nodes of its group, pod by pod. */
static uint32_t nominal_run(const struct build *b, const struct job_detail *d)
{
    const struct cluster_spec *c = &b->s->cluster;
    uint32_t pod = (d->roles[d->n_roles - 1].gpu_shares + 999) / SHARES_PER_GPU;
    for (uint32_t g = 0; g < c->n_groups; g++)
        if (d->groups >> g & 1 && c->groups[g].gpus >= pod) return pod ? c->groups[g].gpus / pod * pod : c->groups[g].gpus;
    return pod;
}

static bool split_of(struct build *b, struct raw_job *raw, uint32_t gpus, struct parallelism *out)
{
    struct raw_parallelism *p = raw->parallelism;
    int64_t others = p->tensor * p->pipeline * p->context;
    fill(&p->sequence, p->tensor > 1);
    fill_number(&p->overlap, p->zero == 3 ? 0 : 1);
    fill(&p->data, gpus / others > 0 ? gpus / others : 1);
    if (p->data * others > gpus || gpus % (p->data * others)) {
        value_error(b->diag, place_of(raw->at, "parallelism"),
                    "%" PRId64 " data x %" PRId64 " tensor x %" PRId64 " pipeline x %" PRId64 " context does not make %u GPUs",
                    p->data, p->tensor, p->pipeline, p->context, gpus);
        return false;
    }
    *out = (struct parallelism){ (uint32_t)p->data, (uint32_t)p->tensor, (uint32_t)p->pipeline, (uint32_t)p->interleave,
                                 (uint32_t)p->context, (uint32_t)p->expert, (uint8_t)p->zero, p->sequence != 0 };
    return true;
}

static struct step_batch batch_of(const struct model_shape *m, const struct parallelism *p, struct raw_batch *raw)
{
    int64_t each = (raw->global + p->data - 1) / p->data;
    fill(&raw->micro, m->layers ? 1 : each > INT32_MAX ? INT32_MAX : each);
    return (struct step_batch){ (double)raw->global, (uint32_t)raw->micro, (enum recompute)raw->recompute,
                           (enum precision)raw->precision };
}

/* At its smallest an elastic job still has one of each part of the model. */
static void check_smallest(struct build *b, const struct job_detail *d, const struct raw_job *raw, const struct parallelism *p)
{
    uint32_t pod = d->n_roles ? (d->roles[d->n_roles - 1].gpu_shares + 999) / SHARES_PER_GPU : 0;
    uint64_t parts = (uint64_t)p->tensor * p->pipeline * p->context;
    if (d->elastic.max && (uint64_t)d->elastic.min * pod < parts)
        value_error(b->diag, place_of(raw->at, "elastic"), "minReplicas %u have %u GPUs, but the model is divided over %" PRIu64,
                    d->elastic.min, d->elastic.min * pod, parts);
}

static bool all_given(struct build *b, const struct raw_job *raw)
{
    if (raw->step) {
        value_error(b->diag, place_of(raw->at, "step"), "give either \"step\" or \"model\", which says how long a step is");
        return false;
    }
    if (raw->batch) return true;
    value_error(b->diag, raw->at, "\"model\" needs \"batch\", the samples of a step");
    return false;
}

void build_model(struct build *b, struct job_detail *d, struct raw_job *raw)
{
    if (!raw->model) {
        if (raw->batch || raw->parallelism)
            value_error(b->diag, raw->batch ? raw->batch->at : raw->parallelism->at, "this needs \"model\", what is trained");
        return;
    }
    struct step_input *in = arena_new(b->arena, struct step_input);
    uint32_t gpus = gpus_of(d);
    if (!raw->parallelism) raw->parallelism = object_read(&b->reader, &parallelism_type, NULL);
    if (!all_given(b, raw) || !shape_of(b, raw->model, &in->model) || !split_of(b, raw, gpus, &in->split)) return;
    const struct step_hardware *h = hardware_for(b, d, raw);
    if (!h) return;
    check_smallest(b, d, raw, &in->split);
    in->hardware = *h;
    in->batch = batch_of(&in->model, &in->split, raw->batch);
    in->place.run = nominal_run(b, d);
    in->noise.slowness = 1;
    in->overlap = raw->parallelism->overlap;
    const char *wrong = step_problem(in);
    if (wrong) {
        value_error(b->diag, place_of(raw->at, "model"), "%s", wrong);
        return;
    }
    struct step_time t = step_time(in);
    int64_t parts[N_STEP_PARTS];
    d->step.model = in;
    d->step.modelled_ns = step_whole_ns(&t, parts);
}
