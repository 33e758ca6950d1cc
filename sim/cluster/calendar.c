/* calendar.c - see calendar.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/cluster/calendar.h"

#include <stdlib.h>

#include "base/detmath.h"
#include "base/mem.h"
#include "models/weibull.h"

struct unit { /* one component of one node, of one rack, or of many */
    const struct fault_component *component;
    struct stream stream;
    int64_t mean_ns; /* of the next life */
    int64_t age_ns;  /* of the present life when the run begins; 0 later */
    struct event_id gives_up; /* link: nobody waits for it any longer */
    uint32_t first, n;        /* nodes that it takes down, where they are in the component's groups */
    bool down, lost;          /* lost: a link whose node counts as down */
};

struct calendar {
    const struct calendar_hooks *hooks;
    ARRAY(struct unit) units;
    size_t n_down;
    uint64_t n_links_down; /* nodes that have one down */
    uint16_t *causes;     /* a node: components and scripts that keep it down */
    uint16_t *links_down; /* a node */
};

/* ---- edges ---- */

static void change(struct sim *s, uint32_t node, bool up)
{
    struct calendar *c = s->calendar;
    if (up ? --c->causes[node] == 0 : c->causes[node]++ == 0) c->hooks->node(s, node, up);
}

void calendar_force(struct sim *s, uint32_t node, bool up)
{
    if (up && s->calendar->causes[node] == 0) return;
    change(s, node, up);
}

typedef void node_fn(struct sim *, uint32_t node, bool up);

static void each_node(struct sim *s, const struct unit *u, node_fn *fn, bool up)
{
    for (uint32_t node = u->first; node < u->first + u->n; node++)
        if (u->component->groups >> pool_node_group(s->pool, node) & 1) fn(s, node, up);
}

static void change_link(struct sim *s, uint32_t node, bool up)
{
    struct calendar *c = s->calendar;
    if (up ? --c->links_down[node] > 0 : c->links_down[node]++ > 0) return;
    c->n_links_down += up ? UINT64_MAX : 1;
    c->hooks->link(s, node, up);
}

bool calendar_link_down(const struct sim *s, const uint32_t *nodes, uint32_t n)
{
    const struct calendar *c = s->calendar;
    if (!c || c->n_links_down == 0) return false;
    for (uint32_t i = 0; i < n; i++)
        if (c->links_down[nodes[i]]) return true;
    return false;
}

static void on_give_up(void *ctx, void *arg)
{
    struct unit *u = arg;
    u->lost = true;
    each_node(ctx, u, change, false);
}

static void link_edge(struct sim *s, struct unit *u)
{
    if (u->down) {
        u->gives_up = event_after(s->events, s->scenario->approach.stack.ib_timeout, EVENT_FAULT, on_give_up, u);
    } else {
        event_cancel(s->events, u->gives_up);
        if (u->lost) each_node(s, u, change, true);
        u->lost = false;
    }
    each_node(s, u, change_link, !u->down);
}

static void on_edge(void *ctx, void *arg);

/* ---- lives ---- */

/* Mean life to Weibull scale: mean = scale x Gamma(1 + 1/shape). */
static int64_t life_ns(struct unit *u)
{
    double shape = u->component->shape;
    if (shape == 1.0) return stream_exponential_ns(&u->stream, u->mean_ns);
    double scale = (double)u->mean_ns / weibull_mean_factor(shape), age = (double)u->age_ns;
    u->age_ns = 0;
    if (age == 0) return stream_weibull_ns(&u->stream, (int64_t)scale, shape);
    return det_round(weibull_residual(scale, shape, age, -det_log(stream_unit(&u->stream))));
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

/* Repaired, and not quite as new. */
static void wear(struct unit *u)
{
    const struct fault_component *f = u->component;
    if (f->after_repair == 1.0) return;
    int64_t least = f->least_mtbf_ns < u->mean_ns ? f->least_mtbf_ns : u->mean_ns;
    u->mean_ns = det_round((double)u->mean_ns * f->after_repair);
    if (u->mean_ns < least) u->mean_ns = least;
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
    else wear(u);
    if (u->component->scope == FAULT_LINK) link_edge(s, u);
    else each_node(s, u, change, !u->down);
    arm(s, u);
}

/* ---- creation ---- */

struct place { uint32_t component, group, offset, copy; };
enum { OF_THE_NODE = 0xfff }; /* stands for a component in the key of what a node has of its own */

static struct stream stream_of(const struct sim *s, struct place p)
{
    uint64_t entity = (uint64_t)p.component << 52 | (uint64_t)p.group << 44 | (uint64_t)p.copy << 36 | p.offset;
    return stream_make(s->scenario->run.seed, s->replication, STREAM_HARDWARE, entity);
}

/* One draw a node: a larger share has all lemons of a smaller one. */
static bool is_lemon(const struct sim *s, const struct fault_component *f, struct place p)
{
    if (f->lemon_share <= 0) return false;
    struct stream own = stream_of(s, (struct place){OF_THE_NODE, p.group, p.offset, 0});
    return stream_unit(&own) < f->lemon_share;
}

static void add_unit(struct sim *s, struct calendar *c, struct place p, uint32_t first, uint32_t n)
{
    const struct fault_component *f = &s->scenario->faults.components[p.component];
    int64_t mean = f->mtbf_ns;
    if (is_lemon(s, f, p)) mean = det_round((double)mean / f->lemon_times);
    array_push(&c->units, ((struct unit){.component = f,
                                         .stream = stream_of(s, p),
                                         .mean_ns = mean > 0 ? mean : 1,
                                         .age_ns = s->scenario->cluster.groups[p.group].age_ns,
                                         .first = first,
                                         .n = n}));
}

static void add_to_group(struct sim *s, struct calendar *c, uint32_t index, uint32_t group)
{
    const struct fault_component *f = &s->scenario->faults.components[index];
    const struct node_group *g = &s->scenario->cluster.groups[group];
    uint32_t copies = f->per_node ? f->per_node : g->gpus;
    for (uint32_t i = 0; i < g->count; i += f->nodes) {
        uint32_t n = f->nodes < g->count - i ? f->nodes : g->count - i;
        for (uint32_t k = 0; k < copies; k++) add_unit(s, c, (struct place){index, group, i, k}, g->first_node + i, n);
        if (n < f->nodes) return; /* the last one; i + nodes may not fit */
    }
}

static void add_component(struct sim *s, struct calendar *c, uint32_t index)
{
    const struct fault_component *f = &s->scenario->faults.components[index];
    const struct cluster_spec *spec = &s->scenario->cluster;
    if (f->nodes == 0) add_unit(s, c, (struct place){index, 0, 0, 0}, 0, spec->n_nodes);
    for (uint32_t g = 0; f->nodes && g < spec->n_groups; g++)
        if (f->groups >> g & 1) add_to_group(s, c, index, g);
}

struct calendar *calendar_create(struct sim *s, const struct calendar_hooks *hooks)
{
    struct calendar *c = xcalloc(1, sizeof *c);
    c->hooks = hooks;
    c->causes = xcalloc(s->scenario->cluster.n_nodes + 1, sizeof *c->causes);
    c->links_down = xcalloc(s->scenario->cluster.n_nodes + 1, sizeof *c->links_down);
    s->calendar = c;
    for (uint32_t i = 0; i < s->scenario->faults.n_components; i++) add_component(s, c, i);
    for (size_t i = 0; i < c->units.n; i++) arm(s, &c->units.v[i]);
    return c;
}

void calendar_destroy(struct calendar *c)
{
    if (!c) return;
    array_free(&c->units);
    free(c->causes);
    free(c->links_down);
    free(c);
}

bool calendar_more(const struct calendar *c) { return c && c->n_down > 0; }
