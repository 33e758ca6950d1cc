/* diagnose_step.c - see diagnose_step.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/diagnose_step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the case ---- */

static const struct step_hardware *hardware_of(const struct scenario *s, const struct job_row *row)
{
    for (uint32_t g = 0; row->n_nodes && g < s->cluster.n_groups; g++) {
        const struct node_group *group = &s->cluster.groups[g];
        if (row->nodes[0].first >= group->first_node && row->nodes[0].first < group->first_node + group->count)
            return group->hardware;
    }
    return NULL;
}

static double over(double part, double all) { return all > 0 ? part / all : 0; }

bool step_case_of(const struct scenario *s, const struct job_spec *spec, const struct job_row *row, const double *by,
                  struct step_case *c)
{
    const struct step_input *model = s->details[spec->detail].step.model;
    if (!model) return false;
    const struct step_hardware *h = hardware_of(s, row);
    c->in = *model;
    if (h) c->in.hardware = *h;
    struct parallelism *p = &c->in.split;
    uint64_t data = (uint64_t)row->gpu_shares / SHARES_PER_GPU / ((uint64_t)p->tensor * p->pipeline * p->context);
    p->data = data < 1 ? 1 : (uint32_t)data;
    if (p->data % p->expert) p->expert = 1;
    c->node = model->place.run;
    if (row->together) c->in.place.run = row->together;
    double waits = by[ACT_STRAGGLER - FIRST_WORK];
    c->in.noise = (struct step_noise){0, 1 + over(waits, by[ACT_COMPUTE - FIRST_WORK])};
    return step_problem(&c->in) == NULL;
}

/* ---- remedies ---- */

static double seconds(const struct step_case *c)
{
    struct step_time t = step_time(&c->in);
    return step_total(&t);
}

static bool possible(const struct step_case *c)
{
    const struct step_input *in = &c->in;
    struct memory_fit f = memory_fit(&in->model, &in->split, &in->batch, in->hardware.gpu.memory_bytes,
                                     in->hardware.workspace_bytes);
    return !step_problem(in) && memory_fits(&f);
}

/* Takes over what is faster; as it is stays possible, whatever the model says of its memory. */
static bool faster(struct step_case *best, const struct step_case *other)
{
    if (!possible(other) || !(seconds(other) < seconds(best))) return false;
    *best = *other;
    return true;
}

static void shorter_tensor(struct step_case *best, uint32_t node)
{
    uint32_t times = best->in.split.tensor / node;
    struct step_case data = *best, pipeline = *best;
    if (times < 2 || best->in.split.tensor % node) return;
    data.in.split.tensor = pipeline.in.split.tensor = node;
    data.in.split.data *= times;
    pipeline.in.split.pipeline *= times;
    faster(best, &data);
    faster(best, &pipeline);
}

/* `node`: ranks of a full node. */
static void better_topology(struct step_case *c, uint32_t node, char *said, size_t n)
{
    struct step_case was = *c, whole = *c;
    if (whole.in.place.run < node) {
        whole.in.place.run = node;
        if (seconds(&whole) < seconds(c)) {
            *c = whole;
            snprintf(said, n, "%u ranks a node instead of %u", node, was.in.place.run);
        }
    }
    shorter_tensor(c, node);
    if (c->in.split.tensor < was.in.split.tensor)
        snprintf(said, n, "tensor %u instead of %u", c->in.split.tensor, was.in.split.tensor);
}

static void larger_micro_batch(struct step_case *c, char *said, size_t n)
{
    struct step_case other = *c;
    double most = c->in.batch.global / c->in.split.data;
    while (2.0 * other.in.batch.micro <= most) {
        other.in.batch.micro *= 2;
        if (faster(c, &other)) snprintf(said, n, "micro-batches of %u", other.in.batch.micro);
    }
}

static void smaller_bubble(struct step_case *c, char *said, size_t n)
{
    struct step_case was = *c, other = *c;
    uint32_t stage = c->in.model.layers / (c->in.split.pipeline ? c->in.split.pipeline : 1);
    for (uint32_t v = c->in.split.interleave; v <= stage; v++)
        for (uint32_t b = was.in.batch.micro; stage % v == 0 && b >= 1; b /= 2) {
            other.in.split.interleave = v;
            other.in.batch.micro = b;
            if (faster(c, &other)) snprintf(said, n, "interleave %u, micro-batches of %u", v, b);
        }
}

/* ---- the split ---- */

static double part(const struct step_case *c, enum step_part k)
{
    return step_time(&c->in).part[k];
}

static double at_least_0(double x) { return x > 0 ? x : 0; }

/* A part of a step and what of it two remedies save, one after the other; never more than all of it. */
static void shares_of(enum step_part k, const struct step_case *as_is, const struct step_case *first,
                      const struct step_case *second, double measured, double *share_first, double *share_second)
{
    double all = part(as_is, k), a = all - part(first, k), b = part(first, k) - part(second, k);
    a = fmin(at_least_0(a), all);
    b = fmin(at_least_0(b), all - a);
    *share_first += measured * over(a, all);
    *share_second += measured * over(b, all);
}

static void gain(struct step_split *s, enum health_cause cause, const struct step_case *as_is, const struct step_case *without,
                 double steps)
{
    double before = seconds(as_is);
    s->gain[cause] = steps * at_least_0(before - seconds(without)) / before;
}

struct step_split step_split(const struct step_case *c, const double *by)
{
    struct step_split s = {{0}, {0}, 0, {{0}}};
    double compute = by[ACT_COMPUTE - FIRST_WORK], communication = by[ACT_COMMUNICATION - FIRST_WORK];
    double steps = compute + communication + by[ACT_DATA_WAIT - FIRST_WORK] + by[ACT_BUBBLE - FIRST_WORK] +
                   by[ACT_STRAGGLER - FIRST_WORK];
    s.share[WHY_DATA] = s.gain[WHY_DATA] = by[ACT_DATA_WAIT - FIRST_WORK];
    s.share[WHY_BUBBLE] = by[ACT_BUBBLE - FIRST_WORK];
    s.share[WHY_STRAGGLER] = by[ACT_STRAGGLER - FIRST_WORK];
    struct step_case lying = *c, micro = *c, both, bubble = *c, alike = *c;
    better_topology(&lying, c->node, s.remedy[WHY_TOPOLOGY], sizeof *s.remedy);
    larger_micro_batch(&micro, s.remedy[WHY_MICRO_BATCH], sizeof *s.remedy);
    smaller_bubble(&bubble, s.remedy[WHY_BUBBLE], sizeof *s.remedy);
    alike.in.noise = (struct step_noise){0, 1};
    both = lying;
    both.in.batch.micro = micro.in.batch.micro;
    double topology_computes = 0;
    shares_of(STEP_COMPUTE, c, c, &micro, compute, &topology_computes, &s.share[WHY_MICRO_BATCH]);
    s.useful = compute - s.share[WHY_MICRO_BATCH];
    shares_of(STEP_COMMUNICATION, c, &lying, &both, communication, &s.share[WHY_TOPOLOGY], &s.share[WHY_MICRO_BATCH]);
    double divided = s.share[WHY_TOPOLOGY] + s.share[WHY_MICRO_BATCH] - (compute - s.useful);
    s.share[WHY_COMMUNICATION] = communication - divided;
    gain(&s, WHY_TOPOLOGY, c, &lying, steps);
    gain(&s, WHY_MICRO_BATCH, c, &micro, steps);
    gain(&s, WHY_BUBBLE, c, &bubble, steps);
    gain(&s, WHY_STRAGGLER, c, &alike, steps);
    s.gain[WHY_COMMUNICATION] = s.share[WHY_COMMUNICATION];
    return s;
}
