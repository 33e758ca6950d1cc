/* diagnose_step.c - see diagnose_step.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/diagnose_step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input/data.h"
#include "study/diagnose_save.h"

#define EXCESS 1.02 /* of what a model says: less is rounding of steps */

static double over(double part, double all)
{
    return all > 0 ? part / all : 0;
}
static double at_least_0(double x)
{
    return x > 0 ? x : 0;
}

const enum activity step_booked_as[N_STEP_PARTS] = {
    [STEP_COMPUTE] = ACT_COMPUTE, [STEP_COMMUNICATION] = ACT_COMMUNICATION, [STEP_DATA] = ACT_DATA_WAIT,
    [STEP_BUBBLE] = ACT_BUBBLE,   [STEP_STRAGGLER] = ACT_STRAGGLER,
};

static double measured(const double *by, enum step_part k)
{
    return by[step_booked_as[k] - FIRST_WORK];
}

/* ---- a step ---- */

static double rest_of(const double *part)
{
    double sum = 0;
    for (int k = 0; k < N_STEP_PARTS; k++) sum += k == STEP_DATA ? 0 : part[k];
    return sum;
}

double step_case_parts(const struct step_case *c, double part[N_STEP_PARTS])
{
    memcpy(part, c->declared, sizeof c->declared);
    if (c->modelled) {
        struct step_time t = step_time(&c->in);
        memcpy(part, t.part, sizeof t.part);
    }
    part[STEP_COMMUNICATION] = at_least_0(part[STEP_COMMUNICATION] - c->hidden_s) + c->slow_links_s;
    double rest = rest_of(part);
    if (c->loads) part[STEP_DATA] = data_loading_wait_s(&c->load, rest) + c->slow_reads_s;
    return rest + part[STEP_DATA];
}

static double seconds(const struct step_case *c)
{
    double part[N_STEP_PARTS];
    return step_case_parts(c, part);
}

static double part_of(const struct step_case *c, enum step_part k)
{
    double part[N_STEP_PARTS];
    step_case_parts(c, part);
    return part[k];
}

/* ---- the case ---- */

static const struct node_group *group_of(const struct scenario *s, const struct job_row *row)
{
    for (uint32_t g = 0; row->n_nodes && g < s->cluster.n_groups; g++) {
        const struct node_group *group = &s->cluster.groups[g];
        if (row->nodes[0].first >= group->first_node && row->nodes[0].first < group->first_node + group->count)
            return group;
    }
    return NULL;
}

static void take_model(const struct step_input *model, const struct node_group *g, const struct job_row *row,
                       struct step_case *c)
{
    c->modelled = true;
    c->in = *model;
    c->node = model->place.run;
    if (g && g->hardware) c->in.hardware = *g->hardware;
    struct parallelism *p = &c->in.split;
    uint64_t data = row_gpus(row) / ((uint64_t)p->tensor * p->pipeline * p->context);
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
    struct data_place at = {.gpus = row_gpus(row), .nodes = row_nodes(row), .steps = 1, .share = 1};
    int64_t step_ns = step_nominal_ns(&d->step);
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
    *c = (struct step_case){.modelled = false};
    if ((!d->step.model && !d->data) || !(measured(by, STEP_COMPUTE) > 0)) return false;
    if (d->step.model)
        take_model(d->step.model, g, row, c);
    else
        take_parts(&d->step, by, c);
    if (d->data) take_loader(s, spec, g, row, c);
    if (c->modelled)
        c->in.noise = (struct step_noise){0, 1 + over(measured(by, STEP_STRAGGLER), measured(by, STEP_COMPUTE))};
    if (c->modelled && step_problem(&c->in)) return false;
    take_excess(s, d, by, c);
    return true;
}

/* ---- remedies of the step ---- */

static bool possible(const struct step_case *c)
{
    const struct step_input *in = &c->in;
    struct memory_fit f =
        memory_fit(&in->model, &in->split, &in->batch, in->hardware.gpu.memory_bytes, in->hardware.workspace_bytes);
    return !step_problem(in) && memory_fits(&f);
}

/* But for waiting for data, which may hide it. */
static bool shorter(const struct step_case *a, const struct step_case *b)
{
    struct step_case x = *a, y = *b;
    x.loads = y.loads = false;
    return seconds(&x) < seconds(&y);
}

/* Takes over what is faster; as it is stays possible, whatever the model says of its memory. */
static bool faster(struct step_case *best, const struct step_case *other)
{
    if (!possible(other) || !shorter(other, best)) return false;
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
    if (was.in.place.run < c->node && shorter(&whole, c)) {
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

/* What is left of the communication where links, topology and micro-batch are as they should be. */
static void hidden_communication(struct step_case *c, char *said)
{
    struct step_case core = *c, micro = *c;
    char unsaid[REMEDY_TEXT];
    (void)said;
    links_alone(&core, unsaid);
    better_topology(&core, unsaid);
    larger_micro_batch(&micro, unsaid);
    core.in.batch.micro = micro.in.batch.micro;
    c->hidden_s = part_of(&core, STEP_COMMUNICATION);
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
    step_case_parts(c, part);
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

/* ---- the table ---- */

static void mix_topology(struct step_case *to, const struct step_case *from)
{
    to->in.place = from->in.place;
    to->in.split.tensor = from->in.split.tensor;
    to->in.split.data = from->in.split.data;
    to->in.split.pipeline = from->in.split.pipeline;
}

static void mix_bubble(struct step_case *to, const struct step_case *from)
{
    to->in.split.interleave = from->in.split.interleave;
    to->in.batch.micro = from->in.batch.micro;
}

static void mix_micro_batch(struct step_case *to, const struct step_case *from)
{
    to->in.batch.micro = from->in.batch.micro;
}

static void mix_stragglers(struct step_case *to, const struct step_case *from)
{
    to->in.noise = from->in.noise;
    to->declared[STEP_STRAGGLER] = from->declared[STEP_STRAGGLER];
}

static void mix_links(struct step_case *to, const struct step_case *from)
{
    to->slow_links_s = from->slow_links_s;
}
static void mix_communication(struct step_case *to, const struct step_case *from)
{
    to->hidden_s = from->hidden_s;
}
static void mix_lock(struct step_case *to, const struct step_case *from)
{
    to->load.threads = from->load.threads;
}

static void mix_cpu(struct step_case *to, const struct step_case *from)
{
    to->load.workers = from->load.workers;
    to->load.prefetch = from->load.prefetch;
    to->load.cores = from->load.cores;
}

static void mix_storage(struct step_case *to, const struct step_case *from)
{
    to->load.read_bytes_per_s = from->load.read_bytes_per_s;
    to->load.latency_s = from->load.latency_s;
    to->slow_reads_s = from->slow_reads_s;
}

/* In the order in which several are mixed: a larger micro-batch after what makes it smaller. */
const struct step_remedy step_remedies[N_STEP_REMEDIES] = {
    {WHY_LINKS,         links_alone,          mix_links        },
    {WHY_TOPOLOGY,      better_topology,      mix_topology     },
    {WHY_BUBBLE,        smaller_bubble,       mix_bubble       },
    {WHY_MICRO_BATCH,   larger_micro_batch,   mix_micro_batch  },
    {WHY_STRAGGLER,     all_alike,            mix_stragglers   },
    {WHY_COMMUNICATION, hidden_communication, mix_communication},
    {WHY_LOCK,          no_lock,              mix_lock         },
    {WHY_CPU,           enough_cpu,           mix_cpu          },
    {WHY_STORAGE,       enough_storage,       mix_storage      },
};
