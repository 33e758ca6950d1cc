/* data.c - see data.h: the keys of "data", their checks, and the loader that they make.
 *
 * Defaults are those of PyTorch's DataLoader 2.x: no workers (the training process loads by itself), processes, two batches
 * ahead a worker.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/data.h"

#include <math.h>
#include <string.h>

#include "input/raw.h"

static const char *const modes[2] = { "processes", "threads" };
static const char *const cache_rules[2] = { [CACHE_KEEP] = "keep", [CACHE_LRU] = "lru" };

static const struct field data_fields[] = {
    FIELD(raw_data, samples, "samples", TYPE_NUMBER,
          .help = "of a step and GPU; with \"model\" of a data-parallel rank, by default its part of the batch"),
    FIELD(raw_data, workers, "workers", TYPE_INT, .fallback = "0", .min = 0, .max = 1024,
          .help = "that load for a GPU; 0: its training process does, while the GPU waits"),
    FIELD(raw_data, mode, "mode", TYPE_WORD, WORDS(modes), .fallback = "processes",
          .help = "of the workers; threads share the lock of one interpreter"),
    FIELD(raw_data, cpu, "cpu", TYPE_DURATION, .fallback = "0", .help = "CPU time of a sample"),
    FIELD(raw_data, locked, "locked", TYPE_FRACTION, .fallback = "1",
          .help = "share of the CPU time under the interpreter's lock; counts for threads"),
    FIELD(raw_data, cores, "cores", TYPE_QUANTITY, .min = 1, .max = INT64_MAX - 1,
          .help = "for the workers of a GPU; default: its share of the pod's cpu, else of the node's"),
    FIELD(raw_data, size, "size", TYPE_BYTES, .fallback = "0", .help = "of a sample, read from \"storage\""),
    FIELD(raw_data, storage, "storage", TYPE_STRING, .help = "a store of the cluster; absent: reading takes no time"),
    FIELD(raw_data, latency, "latency", TYPE_DURATION, .fallback = "0", .help = "of reading a sample, besides its bytes"),
    FIELD(raw_data, prefetch, "prefetch", TYPE_INT, .fallback = "2", .min = 0, .max = 1024,
          .help = "batches that a worker loads ahead; 0: only on demand"),
    FIELD(raw_data, variation, "variation", TYPE_NUMBER, .fallback = "0",
          .help = "deviation of a batch's loading time over its mean"),
    FIELD(raw_data, dataset, "dataset", TYPE_BYTES, .help = "all samples, each read once an epoch; absent: none is read twice"),
    FIELD(raw_data, cache, "cache", TYPE_BYTES, .fallback = "0", .help = "of a node, for what it has read, with \"dataset\""),
    FIELD(raw_data, cache_rule, "cache_rule", TYPE_WORD, WORDS(cache_rules), .fallback = "lru",
          .help = "what it gives up when full: nothing, or the least recently used as an operating system does"),
};
const struct object_type data_type = OBJECT(raw_data, data_fields, "data", "What steps read, and by whom.", .shorthand = "samples");

static uint32_t store_named(struct build *b, const struct raw_data *raw)
{
    const struct cluster_spec *c = &b->s->cluster;
    const char *names[40];
    size_t n = 0;
    if (!raw->storage) return NO_STORE;
    for (uint32_t i = 0; i < c->n_storage; i++) {
        if (strcmp(c->storage[i].name, raw->storage) == 0) return i;
        if (n < 40) names[n++] = c->storage[i].name;
    }
    name_error(b->diag, place_of(raw->at, "storage"), "storage", raw->storage, names, n);
    return NO_STORE;
}

static void check_data(struct build *b, const struct job_detail *d, const struct raw_job *job)
{
    const struct raw_data *raw = job->data;
    if (isnan(raw->samples) && !job->model) value_error(b->diag, raw->at, "\"samples\" is missing: of a step and GPU");
    if (raw->samples <= 0 || raw->samples > 1e9)
        value_error(b->diag, place_of(raw->at, "samples"), "a step reads more than 0 and at most 1e9 samples");
    if (raw->variation > 10) value_error(b->diag, place_of(raw->at, "variation"), "a variation lies between 0 and 10");
    if (step_nominal_ns(&d->step) == 0 && d->step.communication_ns == 0 && !job->model)
        value_error(b->diag, raw->at, "\"data\" is read step by step: give \"step\", too");
    if (d->step.data_ns > 0)
        value_error(b->diag, raw->at, "give either \"data\", or how long a step waits for it (\"data\" of \"step\")");
    if (raw->cache > 0 && raw->dataset == ABSENT)
        value_error(b->diag, place_of(raw->at, "cache"), "of which share of the data? Give \"dataset\", too");
}

void build_data(struct build *b, struct job_detail *d, const struct raw_job *job)
{
    const struct raw_data *raw = job->data;
    if (!raw) return;
    check_data(b, d, job);
    const struct step_input *m = d->step.model;
    struct data_spec *spec = arena_new(b->arena, struct data_spec);
    double samples = isnan(raw->samples) && m ? m->batch.global / m->split.data : raw->samples;
    *spec = (struct data_spec){ .samples = samples, .gpus_a_loader = m ? m->split.tensor * m->split.pipeline * m->split.context : 1,
                                .workers = (uint32_t)raw->workers,
                                .prefetch = (uint32_t)raw->prefetch, .threads = raw->mode == 1, .cpu_ns = raw->cpu,
                                .locked = raw->locked, .cores_milli = raw->cores == ABSENT ? 0 : raw->cores,
                                .sample_bytes = raw->size, .store = store_named(b, raw), .latency_ns = raw->latency,
                                .variation = raw->variation, .dataset_bytes = raw->dataset == ABSENT ? 0 : raw->dataset,
                                .cache_bytes = raw->cache, .cache_rule = (enum cache_rule)raw->cache_rule };
    d->data = spec;
}

/* ---- the loader ---- */

double data_loaders(const struct data_spec *d, uint32_t gpus)
{
    uint32_t n = gpus / d->gpus_a_loader;
    return n ? n : 1;
}

double data_hit(const struct data_spec *d, const struct data_place *at)
{
    if (d->dataset_bytes <= 0 || d->cache_bytes <= 0) return 0;
    double read = d->samples * at->share * data_loaders(d, at->gpus) * (double)d->sample_bytes * (double)at->steps;
    double hit = data_cache_hit(d->cache_rule, (double)d->cache_bytes / (double)d->dataset_bytes, at->nodes);
    return data_cache_hit_of_run(hit, read / (double)d->dataset_bytes);
}

static double read_rate(const struct scenario *s, const struct data_spec *d, const struct data_place *at)
{
    const struct storage *store = &s->cluster.storage[d->store];
    double on_node = data_loaders(d, at->on_node), node = s->cluster.network.inter_bytes_per_s / on_node;
    if (store->local) return store->read_bytes_per_s / on_node;
    double own = store->read_bytes_per_s / data_loaders(d, at->gpus);
    return node > 0 && node < own ? node : own;
}

/* What is said, else the share of its GPUs in the pod, else in the node. */
static double cores_of(const struct job_detail *detail, const struct data_place *at)
{
    const struct data_spec *d = detail->data;
    const struct role_spec *role = &detail->roles[detail->n_roles - 1];
    uint32_t gpus = role->gpu_shares >= SHARES_PER_GPU ? role->gpu_shares / SHARES_PER_GPU : 1;
    uint32_t own = d->gpus_a_loader < at->on_node ? d->gpus_a_loader : at->on_node;
    if (d->cores_milli) return (double)d->cores_milli / 1000;
    return own * (role->cpu_milli ? (double)role->cpu_milli / 1000 / gpus : at->cores);
}

struct data_place data_place_nominal(const struct scenario *s, const struct job_spec *job)
{
    const struct job_detail *d = &s->details[job->detail];
    uint32_t shares = job_role_shares(s, job, d->n_roles - 1), pods = job_role_replicas(s, job, d->n_roles - 1);
    uint32_t pod = shares >= SHARES_PER_GPU ? shares / SHARES_PER_GPU : 1, room = 1;
    int64_t step_ns = step_nominal_ns(&d->step);
    struct data_place at = { .share = 1 };
    for (uint32_t g = s->cluster.n_groups; g-- > 0;) {
        const struct node_group *group = &s->cluster.groups[g];
        if (!(d->groups >> g & 1) || group->gpus < pod) continue;
        room = group->gpus / pod;
        at.cores = group->cpu_milli == INT64_MAX ? 0 : (double)group->cpu_milli / 1000 / group->gpus;
    }
    if (pods == 0) pods = 1;
    at.gpus = pods * pod;
    at.nodes = (pods + room - 1) / room;
    at.on_node = (pods < room ? pods : room) * pod;
    if (step_ns > 0 && job->work_ns != TIME_NEVER) at.steps = job->work_ns / step_ns;
    return at;
}

struct data_loading data_loading_at(const struct scenario *s, const struct job_detail *detail, const struct data_place *at)
{
    const struct data_spec *d = detail->data;
    struct data_loading l = { .samples = d->samples * at->share, .workers = d->workers, .threads = d->threads,
                              .cpu_s = (double)d->cpu_ns / 1e9, .locked = d->locked, .cores = cores_of(detail, at),
                              .hit = data_hit(d, at), .prefetch = (double)d->prefetch * d->workers,
                              .variation = d->variation,
                              .ranks = (uint32_t)data_loaders(d, at->gpus) };
    if (d->store == NO_STORE) return l;
    l.sample_bytes = (double)d->sample_bytes;
    l.read_bytes_per_s = read_rate(s, d, at);
    l.latency_s = (double)d->latency_ns / 1e9;
    return l;
}
