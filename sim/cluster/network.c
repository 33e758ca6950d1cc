/* network.c - see network.h.
 *
 * Links are numbered level by level: nodes, racks, blocks, stores; each up (written), then down (read).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/cluster/network.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/cluster/sim.h"

typedef __int128 wide;

enum { N_LEVELS = NET_STORE + 1, PPM = 1000000 };
static const int64_t NS_PER_SECOND = 1000000000;

struct network {
    struct flows *flows;
    uint32_t first[N_LEVELS], count[N_LEVELS]; /* links of a level begin here; things of it */
    uint32_t nodes_per[N_LEVELS];              /* of a rack, of a block */
    int64_t *nominal;                          /* capacity by link */
    ARRAY(struct net_flow *) owners;           /* by flow */
    ARRAY(uint32_t) fresh;                     /* flows that began, or want something else, since rates were solved */
    struct event_id settle;
};

/* ---- links ---- */

static uint32_t link_of(const struct network *n, enum net_level level, uint32_t index, enum net_direction d)
{
    return n->first[level] + 2 * index + d;
}

uint32_t network_link(const struct sim *s, enum net_level level, uint32_t index, enum net_direction d)
{
    assert(index < s->network->count[level]);
    return link_of(s->network, level, index, d);
}

const struct flows *network_flows(const struct sim *s) { return s->network->flows; }

static void number_links(struct network *n, const struct cluster_spec *c)
{
    uint32_t rack = c->topology.nodes_per_rack, block = rack * c->topology.racks_per_block;
    n->nodes_per[NET_NODE] = 1;
    n->nodes_per[NET_RACK] = rack;
    n->nodes_per[NET_BLOCK] = block;
    n->count[NET_NODE] = c->n_nodes;
    n->count[NET_RACK] = rack ? (c->n_nodes + rack - 1) / rack : 0;
    n->count[NET_BLOCK] = block ? (c->n_nodes + block - 1) / block : 0;
    n->count[NET_STORE] = c->n_storage;
    for (int l = 1; l < N_LEVELS; l++) n->first[l] = n->first[l - 1] + 2 * n->count[l - 1];
}

static int64_t bytes_per_s(double x) { return x < 1 ? 1 : x > 4e18 ? INT64_C(4000000000000000000) : (int64_t)x; }

static void set_nominal(struct network *n, enum net_level level, uint32_t index, double up, double down)
{
    n->nominal[link_of(n, level, index, NET_UP)] = bytes_per_s(up);
    n->nominal[link_of(n, level, index, NET_DOWN)] = bytes_per_s(down);
}

/* All that lies below a level over what leaves it. The last rack, and the last block, may be smaller. */
static void set_level(struct network *n, enum net_level level, const struct cluster_spec *c, double by)
{
    for (uint32_t i = 0; i < n->count[level]; i++) {
        uint32_t first = i * n->nodes_per[level], nodes = n->nodes_per[level];
        if (nodes > c->n_nodes - first) nodes = c->n_nodes - first;
        double up = nodes * c->network.inter_bytes_per_s / by;
        set_nominal(n, level, i, up, up);
    }
}

static void set_capacities(struct network *n, const struct cluster_spec *c)
{
    double rack = c->network.rack_oversubscription;
    set_level(n, NET_NODE, c, 1);
    set_level(n, NET_RACK, c, rack);
    set_level(n, NET_BLOCK, c, rack * c->network.block_oversubscription);
    for (uint32_t i = 0; i < c->n_storage; i++)
        set_nominal(n, NET_STORE, i, c->storage[i].write_bytes_per_s, c->storage[i].read_bytes_per_s);
}

void network_create(struct sim *s)
{
    const struct cluster_spec *c = &s->scenario->cluster;
    if (!c->network.contention) return;
    struct network *n = xcalloc(1, sizeof *n);
    number_links(n, c);
    uint32_t links = n->first[NET_STORE] + 2 * n->count[NET_STORE];
    n->nominal = xcalloc(links + 1, sizeof *n->nominal);
    set_capacities(n, c);
    n->flows = flows_create(n->nominal, links);
    s->network = n;
}

void network_destroy(struct network *n)
{
    if (!n) return;
    flows_destroy(n->flows);
    array_free(&n->owners);
    array_free(&n->fresh);
    free(n->nominal);
    free(n);
}

/* ---- paths ---- */

static void cross(struct net_path *p, uint32_t link)
{
    array_push(&p->uses, (struct flow_use){link, 1});
}

/* Up (or down) from a node to the level below which the other end lies; N_LEVELS: to the outside. */
static void climb(const struct network *n, struct net_path *p, uint32_t node, int top, enum net_direction d)
{
    for (int level = NET_NODE; level < top && level < NET_STORE; level++)
        if (n->count[level]) cross(p, link_of(n, (enum net_level)level, node / n->nodes_per[level], d));
}

/* The lowest level at which both nodes lie below one switch. */
static int meeting(const struct network *n, uint32_t a, uint32_t b)
{
    int level = NET_RACK;
    while (level < NET_STORE && (!n->count[level] || a / n->nodes_per[level] != b / n->nodes_per[level])) level++;
    return level;
}

static int by_link(const void *x, const void *y)
{
    uint32_t a = ((const struct flow_use *)x)->link, b = ((const struct flow_use *)y)->link;
    return (a > b) - (a < b);
}

/* Each link once, with a lane for each crossing. */
static void merge(struct net_path *p)
{
    size_t n = 0;
    array_sort(&p->uses, by_link);
    for (size_t i = 0; i < p->uses.n; i++) {
        if (n && p->uses.v[n - 1].link == p->uses.v[i].link) p->uses.v[n - 1].lanes += p->uses.v[i].lanes;
        else p->uses.v[n++] = p->uses.v[i];
    }
    p->uses.n = n;
}

static int by_number(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* The nodes once each, in order of their first appearance: sorted by (node, place) to find the first, then by place. */
static uint32_t once(const uint32_t *nodes, uint32_t n, uint64_t *out)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) out[i] = (uint64_t)nodes[i] << 32 | i;
    if (n > 1) qsort(out, n, sizeof *out, by_number);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || out[i] >> 32 != (out[i - 1] >> 32)) out[k++] = out[i];
    return k;
}

static void by_place(uint64_t *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) v[i] = v[i] << 32 | v[i] >> 32;
    if (n > 1) qsort(v, n, sizeof *v, by_number);
}

void net_path_ring(const struct sim *s, struct net_path *p, const uint32_t *nodes, uint32_t n)
{
    const struct network *net = s->network;
    array_clear(&p->uses);
    if (!net || n < 2) return;
    uint64_t *v = xmalloc(n * sizeof *v);
    uint32_t k = once(nodes, n, v);
    by_place(v, k);
    for (uint32_t i = 0; i < k && k > 1; i++) {
        uint32_t from = (uint32_t)v[i], to = (uint32_t)v[(i + 1) % k];
        int top = meeting(net, from, to);
        climb(net, p, from, top, NET_UP);
        climb(net, p, to, top, NET_DOWN);
    }
    free(v);
    merge(p);
}

void net_path_store(const struct sim *s, struct net_path *p, const uint32_t *nodes, uint32_t n, uint32_t store,
                    enum net_direction d)
{
    const struct network *net = s->network;
    array_clear(&p->uses);
    if (!net || n == 0) return;
    uint64_t *v = xmalloc(n * sizeof *v);
    uint32_t k = once(nodes, n, v);
    for (uint32_t i = 0; i < k; i++) {
        climb(net, p, (uint32_t)(v[i] >> 32), N_LEVELS, d);
        cross(p, link_of(net, NET_STORE, store, d));
    }
    free(v);
    merge(p);
}

void net_path_outside(const struct sim *s, struct net_path *p, uint32_t node)
{
    array_clear(&p->uses);
    if (s->network) climb(s->network, p, node, N_LEVELS, NET_DOWN);
}

uint64_t net_path_crossings(const struct sim *s, const struct net_path *p, enum net_level level)
{
    const struct network *n = s->network;
    uint64_t lanes = 0;
    for (size_t i = 0; i < p->uses.n; i++) {
        uint32_t at = p->uses.v[i].link - n->first[level];
        if (p->uses.v[i].link >= n->first[level] && at < 2 * n->count[level] && at % 2 == NET_UP) lanes += p->uses.v[i].lanes;
    }
    return lanes;
}

void net_path_free(struct net_path *p) { array_free(&p->uses); }

/* ---- flows and their owners ---- */

static void tell(struct sim *s, uint32_t flow)
{
    struct net_flow *w = s->network->owners.v[flow];
    if (!w) return; /* stopped meanwhile */
    w->granted = flows_rate(s->network->flows, flow);
    w->solved = true;
    w->changed(s, w);
}

/* What owners do when they are told waits for the next settlement, in this instant. */
static void on_settle(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct network *n = arg;
    size_t n_fresh = n->fresh.n;
    n->settle = EVENT_NONE;
    flows_solve(n->flows);
    for (size_t i = 0; i < flows_n_changed(n->flows); i++) tell(s, flows_changed(n->flows, i));
    for (size_t i = 0; i < n_fresh; i++) /* those whose rate is what it was */
        if (n->owners.v[n->fresh.v[i]] && !n->owners.v[n->fresh.v[i]]->solved) tell(s, n->fresh.v[i]);
    memmove(n->fresh.v, n->fresh.v + n_fresh, (n->fresh.n - n_fresh) * sizeof *n->fresh.v);
    n->fresh.n -= n_fresh;
}

static void settle_later(struct sim *s)
{
    struct network *n = s->network;
    if (!event_is_pending(s->events, n->settle)) n->settle = event_now(s->events, EVENT_OBSERVE, on_settle, n);
}

static bool start(struct sim *s, struct net_flow *w, const struct net_path *p, int64_t wanted)
{
    struct network *n = s->network;
    assert(!w->on);
    if (!n || !p->uses.n) return false;
    w->wanted = wanted;
    w->granted = 0;
    w->solved = false;
    w->on = true;
    w->flow = flows_add(n->flows, p->uses.v, (uint32_t)p->uses.n, wanted);
    if (w->flow == n->owners.n) array_push(&n->owners, w);
    else n->owners.v[w->flow] = w;
    array_push(&n->fresh, w->flow);
    settle_later(s);
    return true;
}

static void stop(struct sim *s, struct net_flow *w)
{
    if (!w->on) return;
    flows_remove(s->network->flows, w->flow);
    s->network->owners.v[w->flow] = NULL;
    w->on = false;
    settle_later(s);
}

/* ---- paces ---- */

static void pace_changed(struct sim *s, struct net_flow *w)
{
    struct net_pace *p = (struct net_pace *)w;
    p->changed(s, p);
}

void net_pace_start(struct sim *s, struct net_pace *p, const struct net_path *path, int64_t bytes, net_pace_fn *changed)
{
    p->changed = changed;
    p->flow.changed = pace_changed;
    start(s, &p->flow, path, bytes);
}

void net_pace_want(struct sim *s, struct net_pace *p, int64_t bytes)
{
    if (!p->flow.on || p->flow.wanted == bytes) return;
    p->flow.wanted = bytes;
    p->flow.solved = false;
    flows_want(s->network->flows, p->flow.flow, p->flow.wanted);
    array_push(&s->network->fresh, p->flow.flow);
    settle_later(s);
}

void net_pace_stop(struct sim *s, struct net_pace *p) { stop(s, &p->flow); }

struct net_share net_pace_share(const struct net_pace *p)
{
    const struct net_flow *w = &p->flow;
    if (!w->on || !w->solved || w->granted >= w->wanted) return (struct net_share){0, 0};
    return (struct net_share){w->granted, w->wanted};
}

int64_t net_share_stretch(struct net_share share, int64_t ns)
{
    if (share.wanted == 0) return ns;
    if (share.granted == 0) return INT64_MAX;
    wide x = ((wide)ns * share.wanted + share.granted - 1) / share.granted;
    return x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

int64_t net_share_done(struct net_share share, int64_t ns)
{
    return share.wanted == 0 ? ns : (int64_t)((wide)ns * share.granted / share.wanted);
}

/* ---- transfers ---- */

/* Counts what was moved since the last change of rate. */
static void advance(const struct sim *s, struct net_transfer *t)
{
    t->left -= (wide)t->rate * (sim_now(s) - t->since_ns);
    t->since_ns = sim_now(s);
    if (t->left < 0) t->left = 0; /* its last nanosecond */
}

static void on_end(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct net_transfer *t = arg;
    t->left = 0;
    stop(s, &t->flow);
    t->end(s, t);
}

static void transfer_changed(struct sim *s, struct net_flow *w)
{
    struct net_transfer *t = (struct net_transfer *)w;
    advance(s, t);
    event_cancel(s->events, t->timer);
    t->timer = EVENT_NONE;
    t->rate = w->granted;
    if (t->rate == 0) return;
    wide ns = (t->left + t->rate - 1) / t->rate;
    t->timer = event_after(s->events, ns > INT64_MAX ? INT64_MAX : (int64_t)ns, EVENT_CONTROL, on_end, t);
}

bool net_transfer_start(struct sim *s, struct net_transfer *t, const struct net_path *path, int64_t bytes, int64_t limit,
                        net_transfer_fn *end)
{
    t->end = end;
    t->flow.changed = transfer_changed;
    t->bytes = bytes;
    t->left = (wide)bytes * NS_PER_SECOND;
    t->since_ns = sim_now(s);
    t->rate = 0;
    t->timer = EVENT_NONE;
    return start(s, &t->flow, path, limit);
}

int64_t net_transfer_stop(struct sim *s, struct net_transfer *t)
{
    if (!t->flow.on) return 0;
    advance(s, t);
    event_cancel(s->events, t->timer);
    stop(s, &t->flow);
    return t->bytes - (int64_t)((t->left + NS_PER_SECOND - 1) / NS_PER_SECOND);
}

/* ---- failures ---- */

void network_link_scale(struct sim *s, enum net_level level, uint32_t index, enum net_direction d, uint32_t ppm)
{
    struct network *n = s->network;
    if (!n || index >= n->count[level]) return;
    uint32_t link = link_of(n, level, index, d);
    flows_set_capacity(n->flows, link, (int64_t)((wide)n->nominal[link] * ppm / PPM));
    settle_later(s);
}
