/* calendar.c - see calendar.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/cluster/calendar.h"

#include <stdlib.h>

#include "base/detmath.h"
#include "base/mem.h"
#include "models/weibull.h"

struct unit { /* one component of one node, or of one rack */
    const struct fault_component *component;
    struct stream stream;
    uint32_t first, n; /* nodes that it takes down */
    bool down;
};

struct calendar {
    calendar_fn *changed;
    struct unit *units;
    size_t n_units, n_down;
    uint16_t *causes; /* a node: components and scripts that keep it down */
};

/* ---- edges ---- */

static void change(struct sim *s, uint32_t node, bool up)
{
    struct calendar *c = s->calendar;
    if (up ? --c->causes[node] == 0 : c->causes[node]++ == 0) c->changed(s, node, up);
}

void calendar_force(struct sim *s, uint32_t node, bool up)
{
    if (up && s->calendar->causes[node] == 0) return;
    change(s, node, up);
}

static void on_edge(void *ctx, void *arg);

/* Mean life to Weibull scale: mean = scale x Gamma(1 + 1/shape). */
static int64_t life_ns(struct unit *u)
{
    const struct fault_component *f = u->component;
    if (f->shape == 1.0) return stream_exponential_ns(&u->stream, f->mtbf_ns);
    double scale = (double)f->mtbf_ns / weibull_mean_factor(f->shape);
    return stream_weibull_ns(&u->stream, (int64_t)scale, f->shape);
}

static int64_t repair_ns(struct unit *u)
{
    const struct fault_component *f = u->component;
    if (f->repair_sigma == 0.0) {
        stream_u64(&u->stream); /* one draw a life and one a repair, whatever the distribution */
        return f->repair_ns;
    }
    double median = (double)f->repair_ns / det_exp(f->repair_sigma * f->repair_sigma / 2);
    return stream_lognormal_ns(&u->stream, (int64_t)median, f->repair_sigma);
}

static void arm(struct sim *s, struct unit *u)
{
    int64_t in = u->down ? repair_ns(u) : life_ns(u);
    event_after(s->events, in, EVENT_FAULT, on_edge, u);
}

static void on_edge(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct unit *u = arg;
    u->down = !u->down;
    s->calendar->n_down += u->down ? 1 : (size_t)-1;
    if (u->down) sim_record(s, REC_FAULT, NULL, u->first, N_FAULT_ACTIONS + u->component->scope, u->n, 0);
    for (uint32_t i = 0; i < u->n; i++) change(s, u->first + i, !u->down);
    arm(s, u);
}

/* ---- creation ---- */

static uint32_t copies(const struct fault_component *f, const struct node_group *g)
{
    return f->scope == FAULT_GPU ? g->gpus : 1;
}

static void add_unit(struct sim *s, struct calendar *c, uint32_t index, uint32_t group, uint32_t offset, uint32_t n,
                     uint32_t copy)
{
    const struct fault_component *f = &s->scenario->faults.components[index];
    uint64_t entity = (uint64_t)index << 52 | (uint64_t)group << 44 | (uint64_t)copy << 36 | offset;
    c->units[c->n_units++] = (struct unit){
        .component = f,
        .stream = stream_make(s->scenario->run.seed, s->replication, STREAM_HARDWARE, entity),
        .first = s->scenario->cluster.groups[group].first_node + offset,
        .n = n,
    };
}

static void add_component(struct sim *s, struct calendar *c, uint32_t index)
{
    const struct fault_component *f = &s->scenario->faults.components[index];
    const struct cluster_spec *spec = &s->scenario->cluster;
    for (uint32_t gi = 0; gi < spec->n_groups; gi++) {
        const struct node_group *g = &spec->groups[gi];
        uint32_t span = f->scope == FAULT_GPU || f->scope == FAULT_NODE ? 1 : spec->topology.nodes_per_rack;
        if (!(f->groups >> gi & 1) || span == 0) continue;
        for (uint32_t i = 0; i < g->count; i += span)
            for (uint32_t k = 0; k < copies(f, g); k++)
                add_unit(s, c, index, gi, i, i + span <= g->count ? span : g->count - i, k);
    }
}

static size_t count_units(const struct sim *s)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->scenario->faults.n_components; i++)
        for (uint32_t g = 0; g < s->scenario->cluster.n_groups; g++) {
            const struct node_group *group = &s->scenario->cluster.groups[g];
            n += (size_t)group->count * copies(&s->scenario->faults.components[i], group);
        }
    return n;
}

struct calendar *calendar_create(struct sim *s, calendar_fn *changed)
{
    struct calendar *c = xcalloc(1, sizeof *c);
    c->changed = changed;
    c->causes = xcalloc(s->scenario->cluster.n_nodes + 1, sizeof *c->causes);
    c->units = xcalloc(count_units(s) + 1, sizeof *c->units);
    s->calendar = c;
    for (uint32_t i = 0; i < s->scenario->faults.n_components; i++) add_component(s, c, i);
    for (size_t i = 0; i < c->n_units; i++) arm(s, &c->units[i]);
    return c;
}

void calendar_destroy(struct calendar *c)
{
    if (!c) return;
    free(c->units);
    free(c->causes);
    free(c);
}

bool calendar_more(const struct calendar *c) { return c && c->n_down > 0; }
