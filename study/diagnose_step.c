/* diagnose_step.c - see diagnose_step.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/diagnose_step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input/data.h"

#define EXCESS 1.02 /* of what a model says: less is rounding of steps */

static double over(double part, double all) { return all > 0 ? part / all : 0; }
static double at_least_0(double x) { return x > 0 ? x : 0; }

static const enum activity booked_as[N_STEP_PARTS] = {
    [STEP_COMPUTE] = ACT_COMPUTE, [STEP_COMMUNICATION] = ACT_COMMUNICATION, [STEP_DATA] = ACT_DATA_WAIT,
    [STEP_BUBBLE] = ACT_BUBBLE,   [STEP_STRAGGLER] = ACT_STRAGGLER,
};

static double measured(const double *by, enum step_part k) { return by[booked_as[k] - FIRST_WORK]; }

/* ---- a step ---- */

static double rest_of(const double *part)
{
    double sum = 0;
    for (int k = 0; k < N_STEP_PARTS; k++) sum += k == STEP_DATA ? 0 : part[k];
    return sum;
}

static double parts_of(const struct step_case *c, double *part)
{
    memcpy(part, c->declared, sizeof c->declared);
    if (c->modelled) {
        struct step_time t = step_time(&c->in);
        memcpy(part, t.part, sizeof t.part);
    }
    part[STEP_COMMUNICATION] = part[STEP_COMMUNICATION] * c->exposed + c->slow_links_s;
    double rest = rest_of(part);
    if (c->loads) part[STEP_DATA] = data_loading_wait_s(&c->load, rest) + c->slow_reads_s;
    return rest + part[STEP_DATA];
}

static double seconds(const struct step_case *c)
{
    double part[N_STEP_PARTS];
    return parts_of(c, part);
}

static double part_of(const struct step_case *c, enum step_part k)
{
    double part[N_STEP_PARTS];
    parts_of(c, part);
    return part[k];
}

/* ---- the case ---- */

static const struct node_group *group_of(const struct scenario *s, const struct job_row *row)
{
    for (uint32_t g = 0; row->n_nodes && g < s->cluster.n_groups; g++) {
        const struct node_group *group = &s->cluster.groups[g];
        if (row->nodes[0].first >= group->first_node && row->nodes[0].first < group->first_node + group->count) return group;
    }
    return NULL;
}

static uint32_t gpus_of(const struct job_row *row)
{
    int64_t gpus = row->gpu_shares / SHARES_PER_GPU;
    return gpus < 1 ? 1 : (uint32_t)gpus;
}

static void take_model(const struct step_input *model, const struct node_group *g, const struct job_row *row, struct step_case *c)
{
    c->modelled = true;
    c->in = *model;
    c->node = model->place.run;
    if (g && g->hardware) c->in.hardware = *g->hardware;
    struct parallelism *p = &c->in.split;
    uint64_t data = gpus_of(row) / ((uint64_t)p->tensor * p->pipeline * p->context);
    p->data = data < 1 ? 1 : (uint32_t)data;
    if (p->data % p->expert) p->expert = 1;
    if (row->together) c->in.place.run = row->together;
}

/* Parts as they were measured, on the scale of the computing that is declared; communication as it is declared. */
static void take_parts(const struct step_spec *spec, const double *by, struct step_case *c)
{
    double scale = over((double)spec->compute_ns / 1e9, measured(by, STEP_COMPUTE));
    for (int k = 0; k < N_STEP_PARTS; k++) c->declared[k] = measured(by, (enum step_part)k) * scale;
    double told = (double)spec->communication_ns / 1e9;
    if (told >= 0 && told < c->declared[STEP_COMMUNICATION]) c->declared[STEP_COMMUNICATION] = told;
}

static void take_loader(const struct scenario *s, const struct job_spec *spec, const struct node_group *g,
                        const struct job_row *row, struct step_case *c)
{
    const struct job_detail *d = &s->details[spec->detail];
    struct data_place at = {.gpus = gpus_of(row), .steps = 1, .share = 1};
    int64_t step_ns = step_nominal_ns(&d->step);
    for (unsigned i = 0; i < row->n_nodes; i++) at.nodes += row->nodes[i].last - row->nodes[i].first + 1;
    if (!at.nodes) at.nodes = 1;
    at.on_node = (at.gpus + at.nodes - 1) / at.nodes;
    if (g && g->cpu_milli != INT64_MAX) at.cores = (double)g->cpu_milli / 1000 / (g->gpus ? g->gpus : 1);
    if (step_ns > 0 && spec->work_ns != TIME_NEVER) at.steps = spec->work_ns / step_ns;
    c->loads = true;
    c->load = data_loading_at(s, d, &at);
    c->loaders = (double)at.gpus / (d->data->gpus_a_loader ? d->data->gpus_a_loader : 1);
}

/* What a part takes beyond the model, in seconds a step. */
static double excess(const struct step_case *c, const double *by, enum step_part k)
{
    double alone_s = part_of(c, k), took_s = measured(by, k) / measured(by, STEP_COMPUTE) * part_of(c, STEP_COMPUTE);
    return took_s > EXCESS * alone_s ? took_s - alone_s : 0;
}

static void take_excess(const struct scenario *s, const struct job_detail *d, const double *by, struct step_case *c)
{
    if (d->elastic.max) return; /* at which size it ran for how long is not known */
    if (s->cluster.network.contention) c->slow_links_s = excess(c, by, STEP_COMMUNICATION);
    if (c->loads && c->load.sample_bytes > 0) c->slow_reads_s = excess(c, by, STEP_DATA);
}

bool step_case_of(const struct scenario *s, const struct job_spec *spec, const struct job_row *row, const double *by,
                  struct step_case *c)
{
    const struct job_detail *d = &s->details[spec->detail];
    const struct node_group *g = group_of(s, row);
    *c = (struct step_case){.exposed = 1};
    if ((!d->step.model && !d->data) || !(measured(by, STEP_COMPUTE) > 0)) return false;
    if (d->step.model) take_model(d->step.model, g, row, c);
    else take_parts(&d->step, by, c);
    if (d->data) take_loader(s, spec, g, row, c);
    if (c->modelled) c->in.noise = (struct step_noise){0, 1 + over(measured(by, STEP_STRAGGLER), measured(by, STEP_COMPUTE))};
    if (c->modelled && step_problem(&c->in)) return false;
    take_excess(s, d, by, c);
    return true;
}

/* ---- remedies of the step ---- */

static bool possible(const struct step_case *c)
{
    const struct step_input *in = &c->in;
    struct memory_fit f = memory_fit(&in->model, &in->split, &in->batch, in->hardware.gpu.memory_bytes,
                                     in->hardware.workspace_bytes);
    return !step_problem(in) && memory_fits(&f);
}

/* Takes over what is faster; as it is stays possible, whatever the model says of its memory. Data come later. */
static bool faster(struct step_case *best, const struct step_case *other)
{
    struct step_case a = *best, b = *other;
    a.loads = b.loads = false;
    if (!possible(other) || !(seconds(&b) < seconds(&a))) return false;
    *best = *other;
    return true;
}

static void shorter_tensor(struct step_case *best)
{
    uint32_t times = best->in.split.tensor / best->node;
    struct step_case data = *best, pipeline = *best;
    if (times < 2 || best->in.split.tensor % best->node) return;
    data.in.split.tensor = pipeline.in.split.tensor = best->node;
    data.in.split.data *= times;
    pipeline.in.split.pipeline *= times;
    faster(best, &data);
    faster(best, &pipeline);
}

static void better_topology(struct step_case *c, char *said)
{
    struct step_case was = *c, whole = *c;
    if (!c->modelled || c->node < 1) return;
    whole.in.place.run = c->node;
    if (was.in.place.run < c->node && seconds(&whole) < seconds(c)) {
        *c = whole;
        snprintf(said, REMEDY_TEXT, "%u consecutive ranks on a node instead of %u", c->node, was.in.place.run);
    }
    shorter_tensor(c);
    if (c->in.split.tensor < was.in.split.tensor)
        snprintf(said, REMEDY_TEXT, "tensor %u instead of %u", c->in.split.tensor, was.in.split.tensor);
}

static void larger_micro_batch(struct step_case *c, char *said)
{
    struct step_case other = *c;
    if (!c->modelled) return;
    double most = c->in.batch.global / c->in.split.data;
    while (2.0 * other.in.batch.micro <= most) {
        other.in.batch.micro *= 2;
        if (faster(c, &other)) snprintf(said, REMEDY_TEXT, "micro-batches of %u", other.in.batch.micro);
    }
}

static void smaller_bubble(struct step_case *c, char *said)
{
    struct step_case was = *c, other = *c;
    if (!c->modelled || c->in.split.pipeline < 2) return;
    uint32_t stage = c->in.model.layers / c->in.split.pipeline;
    for (uint32_t v = c->in.split.interleave; v <= stage; v++)
        for (uint32_t b = was.in.batch.micro; stage % v == 0 && b >= 1; b /= 2) {
            other.in.split.interleave = v;
            other.in.batch.micro = b;
            if (faster(c, &other)) snprintf(said, REMEDY_TEXT, "interleave %u, micro-batches of %u", v, b);
        }
}

static void all_alike(struct step_case *c, char *said)
{
    (void)said;
    c->in.noise = (struct step_noise){0, 1};
    c->declared[STEP_STRAGGLER] = 0;
}

static void links_alone(struct step_case *c, char *said)
{
    (void)said;
    c->slow_links_s = 0;
}

/* ---- remedies of loading ---- */

static double reading_s(const struct data_loading *l)
{
    return (1 - l->hit) * (l->latency_s + over(l->sample_bytes, l->read_bytes_per_s));
}

static void no_lock(struct step_case *c, char *said)
{
    if (!c->loads || !c->load.threads) return;
    c->load.threads = false;
    snprintf(said, REMEDY_TEXT, "%u loader processes instead of threads", c->load.workers);
}

static double rest_s(const struct step_case *c)
{
    double part[N_STEP_PARTS];
    parts_of(c, part);
    return rest_of(part);
}

static void enough_cpu(struct step_case *c, char *said)
{
    enum { ENOUGH = 1 << 20, AHEAD = 2 };
    if (!c->loads) return;
    struct data_loading *l = &c->load;
    double rest = rest_s(c), workers = ceil(over(l->samples * (l->cpu_s + reading_s(l)), rest));
    snprintf(said, REMEDY_TEXT, "at least %.0f workers and %.0f cores a loader", fmax(1, workers),
             fmax(1, ceil(over(l->samples * l->cpu_s, rest))));
    l->prefetch = l->workers ? l->prefetch / l->workers * ENOUGH : AHEAD * ENOUGH;
    l->workers = ENOUGH;
    l->cores = 0;
}

static void enough_storage(struct step_case *c, char *said)
{
    if (!c->loads || !(c->load.sample_bytes > 0)) return;
    struct data_loading *l = &c->load;
    double rate = over((1 - l->hit) * l->sample_bytes * l->samples * c->loaders, rest_s(c));
    snprintf(said, REMEDY_TEXT, "at least %.3g GB/s for the job", rate / 1e9);
    l->read_bytes_per_s = l->latency_s = c->slow_reads_s = 0;
}

/* By which of lock, CPU and storage loading is held back; N_HEALTH_CAUSES: by none. */
static enum health_cause held_back_by(const struct data_loading *l)
{
    switch (data_loading_rate(l).limit) {
    case DATA_LOCK: return WHY_LOCK;
    case DATA_CORES: return WHY_CPU;
    case DATA_STORAGE: return WHY_STORAGE;
    case DATA_WORKERS: return reading_s(l) > l->cpu_s ? WHY_STORAGE : WHY_CPU;
    default: return N_HEALTH_CAUSES;
    }
}

static void (*const remedies[N_HEALTH_CAUSES])(struct step_case *, char *said) = {
    [WHY_TOPOLOGY] = better_topology, [WHY_MICRO_BATCH] = larger_micro_batch, [WHY_BUBBLE] = smaller_bubble,
    [WHY_STRAGGLER] = all_alike,      [WHY_LOCK] = no_lock,                   [WHY_CPU] = enough_cpu,
    [WHY_STORAGE] = enough_storage,   [WHY_LINKS] = links_alone,
};

/* ---- the split ---- */

/* `gpu_s` of a part of a step, and what of it two remedies save, one after the other; the rest. */
static double share_part(struct step_split *s, const struct step_case *as_is, const struct step_case *lying,
                         const struct step_case *both, double gpu_s, enum step_part k)
{
    double all = part_of(as_is, k), a = fmin(at_least_0(all - part_of(lying, k)), all);
    double b = fmin(at_least_0(part_of(lying, k) - part_of(both, k)), all - a), scale = over(gpu_s, all);
    s->share[WHY_TOPOLOGY] += a * scale;
    s->share[WHY_MICRO_BATCH] += b * scale;
    return gpu_s - (a + b) * scale;
}

static void share_steps(struct step_split *s, const struct step_case *c, const double *by)
{
    struct step_case clear = *c, lying, micro, both, computing;
    char unsaid[REMEDY_TEXT];
    links_alone(&clear, unsaid);
    lying = micro = computing = clear;
    better_topology(&lying, unsaid);
    larger_micro_batch(&micro, unsaid);
    both = lying;
    both.in.batch.micro = computing.in.batch.micro = micro.in.batch.micro;
    double communication = measured(by, STEP_COMMUNICATION);
    s->share[WHY_LINKS] = communication * over(c->slow_links_s, part_of(c, STEP_COMMUNICATION));
    s->useful = share_part(s, &clear, &clear, &computing, measured(by, STEP_COMPUTE), STEP_COMPUTE);
    s->share[WHY_COMMUNICATION] =
        share_part(s, &clear, &lying, &both, communication - s->share[WHY_LINKS], STEP_COMMUNICATION);
    s->share[WHY_BUBBLE] = measured(by, STEP_BUBBLE);
    s->share[WHY_STRAGGLER] = measured(by, STEP_STRAGGLER);
    if (!c->modelled) s->untold += s->share[WHY_COMMUNICATION];
}

/* Lifts the narrowest limit, then the next. What the n-th takes beside those behind it, the first n share alike: each of
 * them alone would make ranks wait so long. What no remedy ends stays undivided. */
static void share_data(struct step_split *s, const struct step_case *c, const double *by)
{
    char unsaid[REMEDY_TEXT];
    enum health_cause lifted[N_DATA_LIMITS];
    double wait = measured(by, STEP_DATA), all = part_of(c, STEP_DATA), left = all;
    struct step_case now = *c;
    double shared = fmin(now.slow_reads_s, all);
    s->share[WHY_STORAGE] += wait * over(shared, all);
    now.slow_reads_s = 0;
    left -= shared;
    for (int n = 0; c->loads && n < N_DATA_LIMITS && left > 0; n++) {
        lifted[n] = held_back_by(&now.load);
        if (lifted[n] == N_HEALTH_CAUSES) break;
        remedies[lifted[n]](&now, unsaid);
        double then = fmin(left, part_of(&now, STEP_DATA));
        for (int i = 0; i <= n; i++) s->share[lifted[i]] += wait * over(left - then, all) / (n + 1);
        left = then;
    }
    s->share[WHY_DATA] = all > 0 ? wait * left / all : wait;
    s->untold += s->share[WHY_DATA];
}

struct step_split step_split(const struct step_case *c, const double *by)
{
    struct step_split s = {.useful = 0};
    double steps = 0, before = seconds(c);
    for (int k = 0; k < N_STEP_PARTS; k++) steps += measured(by, (enum step_part)k);
    share_steps(&s, c, by);
    share_data(&s, c, by);
    for (int cause = 0; cause < N_HEALTH_CAUSES; cause++) {
        struct step_case cured = *c;
        if (cause == WHY_COMMUNICATION) cured.exposed = 1 - over(s.share[cause], measured(by, STEP_COMMUNICATION) - s.share[WHY_LINKS]);
        else if (remedies[cause]) remedies[cause](&cured, s.remedy[cause]);
        s.gain[cause] = steps * over(at_least_0(before - seconds(&cured)), before);
    }
    s.gain[WHY_DATA] = s.share[WHY_DATA];
    return s;
}
