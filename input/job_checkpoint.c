/* job_checkpoint.c - "checkpoint" of a job: its keys, its times, and the optimal interval.
 *
 * Times that are not given follow from the size, by models/checkpoint.h, for the GPUs that the job really has; so they
 * stay open in the resolved scenario. An optimal interval is fixed there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "input/checkpoint_optimum.h"
#include "input/failure_rate.h"
#include "input/generate.h"
#include "input/raw.h"

/* As models/checkpoint.c has them. */
static const char *const optimizers[] = {
    "adam-mixed", "adam-universal", "adam-gradients", "adam-fp32", "adam-bf16", "adam-8bit", "adafactor", "sgd-momentum",
    "sgd", "weights",
};

static const struct field checkpoint_fields[] = {
    FIELD(raw_checkpoint, interval, "interval", TYPE_DURATION, .required = true, .min = 1, .max = INT64_MAX - 1,
          .special = "optimal", .help = "between saves, of training time; optimal: from failures and the cost of a save"),
    FIELD(raw_checkpoint, save, "save", TYPE_DURATION, .help = "for which training stops; default: from the size"),
    FIELD(raw_checkpoint, background, "background", TYPE_DURATION,
          .help = "until the save is durable after training goes on; default: 0, with \"async\" from the size"),
    FIELD(raw_checkpoint, load, "load", TYPE_DURATION, .help = "default: from the size"),
    FIELD(raw_checkpoint, size, "size", TYPE_BYTES, .help = "of a checkpoint, with \"storage\"; default: from the parameters"),
    FIELD(raw_checkpoint, parameters, "parameters", TYPE_NUMBER, .help = "of the model, instead of a size; default: the job's model"),
    FIELD(raw_checkpoint, optimizer, "optimizer", TYPE_WORD, WORDS(optimizers),
          .help = "what is kept of a parameter; default adam-mixed, 14 bytes"),
    FIELD(raw_checkpoint, storage, "storage", TYPE_STRING, .help = "a store of the cluster"),
    FIELD(raw_checkpoint, sharded, "sharded", TYPE_BOOL,
          .help = "every rank writes its share, or else rank 0 writes all; absent: only the store limits the rate"),
    FIELD(raw_checkpoint, async, "async", TYPE_BOOL, .fallback = "false",
          .help = "training stops for the copy to host memory only"),
    FIELD(raw_checkpoint, process, "process", TYPE_BANDWIDTH, .min = 1, .max = INT64_MAX - 1,
          .help = "of one process (a GPU) to the store or from it; absent: no limit"),
    FIELD(raw_checkpoint, copy, "copy", TYPE_BANDWIDTH, .min = 1, .max = INT64_MAX - 1,
          .help = "of a GPU to host memory; default 25GB/s (PCIe 4.0)"),
};
const struct object_type checkpoint_type =
    OBJECT(raw_checkpoint, checkpoint_fields, "checkpoint", "When and how a job saves.", .shorthand = "interval");

static const double COPY_BYTES_PER_S = 25e9; /* of PCIe 4.0 x16's 31.5 GB/s, by NVIDIA's bandwidthTest on A100 */

/* ---- a class's checkpoints ---- */

static uint32_t store_of(struct build *b, const struct raw_checkpoint *raw)
{
    const struct cluster_spec *c = &b->s->cluster;
    const char *names[40];
    size_t n = 0;
    if (!raw->storage) return NO_STORAGE;
    for (uint32_t i = 0; i < c->n_storage; i++)
        if (strcmp(c->storage[i].name, raw->storage) == 0) return i;
    for (uint32_t i = 0; i < c->n_storage && n < 40; i++) names[n++] = c->storage[i].name;
    name_error(b->diag, place_of(raw->at, "storage"), "storage", raw->storage, names, n);
    return NO_STORAGE;
}

/* As given, or from the parameters; those of the job's own model are known. */
static int64_t size_of(struct build *b, const struct job_detail *d, const struct raw_checkpoint *raw)
{
    double parameters = raw->parameters;
    if (isnan(parameters) && raw->storage && d->step.model) parameters = d->step.model->model.parameters;
    const char *optimizer = optimizers[raw->optimizer == ABSENT ? 0 : raw->optimizer];
    if (raw->size != ABSENT && !isnan(raw->parameters))
        value_error(b->diag, place_of(raw->at, "parameters"), "give either \"size\" or \"parameters\"");
    if (raw->size != ABSENT) return raw->size;
    if (isnan(parameters)) return 0;
    double bytes = parameters * checkpoint_state_bytes(checkpoint_state_named(optimizer));
    if (bytes >= 1 && bytes < 1e18) return llround(bytes);
    value_error(b->diag, place_of(raw->at, "parameters"), "between 1 and 10^16 parameters are possible");
    return 0;
}

/* Keys that say how the bytes go mean nothing without bytes and a store. */
static void check_size(struct build *b, const struct raw_checkpoint *raw, int64_t size, uint32_t store)
{
    static const char *const of_size[] = { "sharded", "process", "copy", "optimizer" };
    if ((size > 0) != (raw->storage != NULL))
        value_error(b->diag, raw->at, "\"size\" (or \"parameters\") and \"storage\" go together: they give the times to save and load");
    if (size > 0 && store != NO_STORAGE) return;
    for (size_t i = 0; i < sizeof of_size / sizeof *of_size; i++)
        if (value_member(raw->at, of_size[i]))
            value_error(b->diag, place_of(raw->at, of_size[i]), "this needs \"size\" and \"storage\"");
    if (raw->async == 1 && raw->background == ABSENT)
        value_error(b->diag, place_of(raw->at, "async"), "this needs \"background\", or \"size\" and \"storage\"");
}

static int64_t given_or(int64_t given, bool derived) { return given != ABSENT ? given : derived ? FROM_SIZE : 0; }

void build_checkpoint(struct build *b, struct job_detail *d, struct raw_checkpoint *raw, uint32_t detail)
{
    if (!raw) return;
    uint32_t store = store_of(b, raw);
    int64_t size = size_of(b, d, raw);
    bool derived = size > 0 && store != NO_STORAGE, optimal = raw->interval == SPECIAL;
    check_size(b, raw, size, store);
    d->checkpoint = (struct checkpoint_spec){
        .interval_ns = raw->interval == ABSENT || optimal ? 0 : raw->interval,
        .save_ns = given_or(raw->save, derived),
        .background_ns = given_or(raw->background, derived && raw->async == 1),
        .load_ns = given_or(raw->load, derived),
        .size_bytes = size,
        .storage = store,
        .sharded = raw->sharded != 0,
        .async = raw->async == 1,
        .node_limits = raw->sharded != ABSENT || raw->process != ABSENT,
        .process_bytes_per_s = raw->process == ABSENT ? 0 : (double)raw->process,
        .copy_bytes_per_s = raw->copy == ABSENT ? COPY_BYTES_PER_S : (double)raw->copy,
    };
    if (optimal) array_push(&b->optimal, ((struct optimal_interval){ raw, detail }));
}

/* ---- times ---- */

static struct checkpoint_path path_of(const struct scenario *s, const struct checkpoint_spec *c)
{
    const struct storage *store = &s->cluster.storage[c->storage];
    struct checkpoint_path p = { .process_bytes_per_s = c->process_bytes_per_s, .copy_bytes_per_s = c->copy_bytes_per_s };
    if (store->local) {
        p.node_bytes_per_s = store->write_bytes_per_s;
        return p;
    }
    p.store_write_bytes_per_s = store->write_bytes_per_s;
    p.store_read_bytes_per_s = store->read_bytes_per_s;
    if (c->node_limits) p.node_bytes_per_s = s->cluster.network.inter_bytes_per_s;
    return p;
}

struct checkpoint_times checkpoint_times_of(const struct scenario *s, const struct checkpoint_spec *c, uint32_t gpus, uint32_t nodes)
{
    struct checkpoint_layout l = { .bytes = (double)c->size_bytes, .gpus = gpus, .nodes = nodes, .savers = 1,
                                   .copies = c->sharded ? 1 : nodes, .sharded = c->sharded, .async = c->async };
    struct checkpoint_times t = { 0 };
    if (c->size_bytes > 0 && c->storage != NO_STORAGE) {
        struct checkpoint_path p = path_of(s, c);
        t = checkpoint_times(&l, &p);
        if (s->cluster.storage[c->storage].local) {
            p.node_bytes_per_s = s->cluster.storage[c->storage].read_bytes_per_s;
            t.load_s = checkpoint_times(&l, &p).load_s;
        }
    }
    if (c->save_ns != FROM_SIZE) t.stall_s = (double)c->save_ns / 1e9;
    if (c->background_ns != FROM_SIZE) t.background_s = (double)c->background_ns / 1e9;
    if (c->load_ns != FROM_SIZE) t.load_s = (double)c->load_ns / 1e9;
    return t;
}

/* ---- the optimal interval ---- */

/* Of all jobs of a class: GPUs and replicas, each job with the weight of its GPU-time, which is what failures cost. */
struct mean_size { double gpus, replicas, weight; };

static void add_size(struct mean_size *m, double gpus, double replicas, double weight)
{
    m->gpus += gpus * weight;
    m->replicas += replicas * weight;
    m->weight += weight;
}

static void add_generated(struct mean_size *m, const struct generate_class *c)
{
    for (uint32_t i = 0; i < c->mix->n_sizes; i++) {
        const struct size_class *z = &c->mix->sizes[i];
        double gpus = (double)z->replicas * z->gpu_shares / SHARES_PER_GPU;
        add_size(m, gpus, z->replicas, z->weight * gpus * distribution_mean_ns(&z->work));
    }
}

static struct mean_size size_of_class(const struct scenario *s, uint32_t detail)
{
    struct mean_size m = { 0 };
    for (size_t i = 0; i < s->n_jobs; i++) {
        const struct job_spec *j = &s->jobs[i];
        if (j->detail != detail) continue;
        double gpus = (double)job_shares(s, j) / SHARES_PER_GPU;
        double replicas = job_role_replicas(s, j, s->details[detail].n_roles - 1);
        add_size(&m, gpus, replicas, gpus * (double)(j->work_ns == TIME_NEVER ? 1 : j->work_ns));
    }
    for (uint32_t i = 0; i < s->n_generated; i++)
        if (s->generated[i].detail == detail) add_generated(&m, &s->generated[i]);
    if (m.weight > 0) m.gpus /= m.weight, m.replicas /= m.weight;
    return m;
}

static uint32_t nodes_of(const struct scenario *s, const struct job_detail *d, double gpus)
{
    uint32_t most = 1;
    for (uint32_t g = 0; g < s->cluster.n_groups; g++)
        if (d->groups >> g & 1 && s->cluster.groups[g].gpus > most) most = s->cluster.groups[g].gpus;
    double nodes = ceil(gpus / most);
    return nodes >= 1 ? (uint32_t)nodes : 1;
}

static void solve(struct build *b, const struct optimal_interval *o)
{
    struct job_detail *d = &b->s->details[o->detail];
    struct mean_size m = size_of_class(b->s, o->detail);
    uint32_t gpus = m.gpus >= 1 ? (uint32_t)llround(m.gpus) : 1;
    struct checkpoint_times t = checkpoint_times_of(b->s, &d->checkpoint, gpus, nodes_of(b->s, d, m.gpus));
    double rate = job_failures_per_s(b->s, d, m.gpus, m.replicas);
    const struct value *at = place_of(o->raw->at, "interval");
    if (!(rate > 0)) {
        value_error(b->diag, at, "nothing stops this job, so no interval is best");
        diag_help(b->diag, "give \"faults\" or \"crash_mtbf\", or an interval");
        return;
    }
    if (!(t.stall_s > 0)) {
        value_error(b->diag, at, "a save costs nothing, so no interval is best");
        diag_help(b->diag, "give \"save\", or \"size\" and \"storage\", or an interval");
        return;
    }
    d->checkpoint.interval_ns = checkpoint_optimum_ns(t.stall_s, t.background_s, 1 / rate);
    o->raw->interval = d->checkpoint.interval_ns;
}

void build_optimal_intervals(struct build *b)
{
    if (diag_errors(b->diag)) return;
    for (size_t i = 0; i < b->optimal.n; i++) solve(b, &b->optimal.v[i]);
}
