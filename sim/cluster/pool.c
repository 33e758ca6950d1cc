/* pool.c - state and index of a pool: taking, releasing, nodes that come and go.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/cluster/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/cluster/pool_impl.h"

static uint64_t all_gpus(uint32_t n) { return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1; }

static void group_init(struct pool_group *g, const struct node_group *spec)
{
    *g = (struct pool_group){
        .first = spec->first_node,
        .count = spec->count,
        .gpus = spec->gpus,
        .limits_cpu = spec->cpu_milli != INT64_MAX,
        .limits_mem = spec->mem_bytes != INT64_MAX,
        .node_cpu = spec->cpu_milli,
        .node_mem = spec->mem_bytes,
    };
    g->by_free = xcalloc(g->gpus + 1, sizeof *g->by_free);
    g->n_by_free = xcalloc(g->gpus + 1, sizeof *g->n_by_free);
    for (uint32_t f = 0; f <= g->gpus; f++) bitmap_init(&g->by_free[f], spec->count);
    bitmap_init(&g->shared, spec->count);
}

static struct pool *pool_new(const struct cluster_spec *spec)
{
    struct pool *p = xcalloc(1, sizeof *p);
    p->spec = spec;
    p->n_nodes = spec->n_nodes;
    p->n_groups = spec->n_groups;
    p->nodes = xcalloc(spec->n_nodes + 1, sizeof *p->nodes);
    p->groups = xcalloc(spec->n_groups + 1, sizeof *p->groups);
    for (uint32_t i = 0; i < spec->n_groups; i++) group_init(&p->groups[i], &spec->groups[i]);
    return p;
}

/* ---- index ---- */

static bool is_shared(const struct pool_node *n, uint32_t gpus)
{
    if (n->used)
        for (uint32_t d = 0; d < gpus; d++)
            if (n->used[d]) return true;
    return false;
}

static void index_add(struct pool_group *g, uint32_t i, struct pool_node *n)
{
    bitmap_set(&g->by_free[n->n_free], i);
    g->n_by_free[n->n_free]++;
    if (n->used && is_shared(n, g->gpus)) bitmap_set(&g->shared, i);
}

static void index_remove(struct pool_group *g, uint32_t i, struct pool_node *n)
{
    bitmap_clear(&g->by_free[n->n_free], i);
    g->n_by_free[n->n_free]--;
    if (n->used) bitmap_clear(&g->shared, i);
}

static int64_t node_free_shares(const struct pool_node *n, uint32_t gpus)
{
    int64_t shares = n->n_free * INT64_C(1000);
    if (n->used)
        for (uint32_t d = 0; d < gpus; d++)
            if (n->used[d]) shares += 1000 - n->used[d];
    return shares;
}

static void free_changes(struct pool *p, struct pool_group *g, int64_t by)
{
    g->free_shares += by;
    p->free_shares += by;
}

/* Gives devices (or part of one) to a node or takes them, keeping the index. */
static void node_change(struct pool *p, uint32_t node, uint64_t gpus, uint32_t fraction, bool give)
{
    struct pool_node *n = &p->nodes[node];
    struct pool_group *g = &p->groups[n->group];
    int64_t before = n->up ? node_free_shares(n, g->gpus) : 0;
    if (n->up) index_remove(g, node - g->first, n);
    if (fraction) {
        uint32_t d = (uint32_t)__builtin_ctzll(gpus);
        if (!n->used) n->used = xcalloc(g->gpus, sizeof *n->used);
        n->used[d] = (uint16_t)(give ? n->used[d] - fraction : n->used[d] + fraction);
        if (give && n->used[d] == 0) n->free_gpus |= gpus;
        if (!give) n->free_gpus &= ~gpus;
    } else if (give) {
        assert(!(n->free_gpus & gpus));
        n->free_gpus |= gpus;
    } else {
        assert((n->free_gpus & gpus) == gpus);
        n->free_gpus &= ~gpus;
    }
    n->n_free = (uint8_t)__builtin_popcountll(n->free_gpus);
    if (n->up) {
        index_add(g, node - g->first, n);
        free_changes(p, g, node_free_shares(n, g->gpus) - before);
    }
}

static void node_cpu_mem(struct pool *p, uint32_t node, const struct alloc *a, int64_t replicas)
{
    struct pool_node *n = &p->nodes[node];
    if (n->cpu_milli != INT64_MAX) n->cpu_milli += replicas * a->cpu_milli;
    if (n->mem_bytes != INT64_MAX) n->mem_bytes += replicas * a->mem_bytes;
}

/* ---- creation ---- */

struct pool *pool_create(const struct cluster_spec *spec)
{
    struct pool *p = pool_new(spec);
    for (uint32_t gi = 0; gi < p->n_groups; gi++) {
        struct pool_group *g = &p->groups[gi];
        for (uint32_t i = 0; i < g->count; i++) {
            struct pool_node *n = &p->nodes[g->first + i];
            *n = (struct pool_node){.free_gpus = all_gpus(g->gpus),
                                    .cpu_milli = g->node_cpu,
                                    .mem_bytes = g->node_mem,
                                    .group = (uint16_t)gi,
                                    .n_free = (uint8_t)g->gpus,
                                    .up = true};
            index_add(g, i, n);
        }
        g->free_shares = (int64_t)g->count * g->gpus * 1000;
        p->free_shares += g->free_shares;
    }
    p->total_shares = p->free_shares;
    return p;
}

void pool_destroy(struct pool *p)
{
    if (!p) return;
    for (uint32_t i = 0; i < p->n_groups; i++) {
        struct pool_group *g = &p->groups[i];
        for (uint32_t f = 0; f <= g->gpus; f++) bitmap_free(&g->by_free[f]);
        bitmap_free(&g->shared);
        free(g->by_free);
        free(g->n_by_free);
    }
    for (uint32_t i = 0; i < p->n_nodes; i++) free(p->nodes[i].used);
    free(p->spare);
    free(p->nodes);
    free(p->groups);
    free(p);
}

/* ---- taking and giving ---- */

static struct alloc_part *part_add(struct pool *p, struct alloc *a)
{
    if (a->n_parts == a->cap_parts && a->cap_parts == 0 && p->spare) {
        a->parts = p->spare;
        a->cap_parts = SPARE_PARTS;
        p->spare = NULL;
    } else if (a->n_parts == a->cap_parts) {
        a->cap_parts = a->cap_parts ? a->cap_parts * 2 : SPARE_PARTS;
        a->parts = xreallocarray(a->parts, a->cap_parts, sizeof *a->parts);
    }
    return &a->parts[a->n_parts++];
}

static bool same_node(const struct alloc_part *l, const struct alloc_part *r)
{
    return l->first_node == r->first_node && l->n_nodes == 1 && r->n_nodes == 1 && !l->fraction && !r->fraction;
}

/* Never over the border of a node group: a part belongs to one. */
static bool continues(const struct pool *p, const struct alloc_part *l, const struct alloc_part *r)
{
    return l->n_nodes && r->n_nodes && l->first_node + l->n_nodes == r->first_node && l->gpus == r->gpus &&
           !l->fraction && !r->fraction && l->replicas == r->replicas &&
           p->nodes[l->first_node].group == p->nodes[r->first_node].group;
}

static int by_node(const void *x, const void *y)
{
    const struct alloc_part *a = x, *b = y;
    if (a->first_node != b->first_node) return a->first_node < b->first_node ? -1 : 1;
    return (a->gpus > b->gpus) - (a->gpus < b->gpus);
}

void pool_alloc_finish(const struct pool *p, struct alloc *a)
{
    bool sorted = true;
    uint32_t n = 0;
    for (uint32_t i = 1; i < a->n_parts; i++) sorted &= a->parts[i - 1].first_node <= a->parts[i].first_node;
    if (!sorted) qsort(a->parts, a->n_parts, sizeof *a->parts, by_node);
    for (uint32_t i = 0; i < a->n_parts; i++) {
        if (n && same_node(&a->parts[n - 1], &a->parts[i])) {
            a->parts[n - 1].gpus |= a->parts[i].gpus;
            a->parts[n - 1].replicas = (uint16_t)(a->parts[n - 1].replicas + a->parts[i].replicas);
        } else {
            a->parts[n++] = a->parts[i];
        }
    }
    a->n_parts = n;
    n = 0;
    for (uint32_t i = 0; i < a->n_parts; i++) {
        if (n && continues(p, &a->parts[n - 1], &a->parts[i])) a->parts[n - 1].n_nodes += a->parts[i].n_nodes;
        else a->parts[n++] = a->parts[i];
    }
    a->n_parts = n;
}

static uint64_t lowest_gpus(uint64_t from, uint32_t n)
{
    uint64_t taken = 0;
    for (; n; n--) {
        uint64_t bit = from & -from;
        taken |= bit;
        from ^= bit;
    }
    return taken;
}

/* The device for a fraction: the fullest shared one that still has room, else the first free one. */
static uint64_t fraction_device(const struct pool_node *n, uint32_t gpus, uint32_t shares)
{
    uint32_t best = UINT32_MAX;
    if (n->used)
        for (uint32_t d = 0; d < gpus; d++)
            if (n->used[d] && n->used[d] + shares <= 1000 && (best == UINT32_MAX || n->used[d] > n->used[best])) best = d;
    if (best != UINT32_MAX) return UINT64_C(1) << best;
    return n->free_gpus & -n->free_gpus;
}

void pool_take(struct pool *p, uint32_t node, const struct place_request *r, struct alloc *a)
{
    struct pool_node *n = &p->nodes[node];
    struct alloc_part piece = {.first_node = node, .n_nodes = 1, .replicas = 1};
    if (r->shares % 1000) {
        piece.gpus = fraction_device(n, p->groups[n->group].gpus, r->shares);
        piece.fraction = (uint16_t)r->shares;
    } else {
        piece.gpus = lowest_gpus(n->free_gpus, r->shares / 1000);
    }
    if (r->shares) node_change(p, node, piece.gpus, piece.fraction, false);
    a->cpu_milli = r->cpu_milli;
    a->mem_bytes = r->mem_bytes;
    node_cpu_mem(p, node, a, -1);
    a->shares += r->shares;
    *part_add(p, a) = piece;
}

void pool_take_devices(struct pool *p, uint32_t node, uint64_t gpus, struct alloc *a)
{
    assert(p->nodes[node].up);
    node_change(p, node, gpus, 0, false);
    a->shares += INT64_C(1000) * __builtin_popcountll(gpus);
    *part_add(p, a) = (struct alloc_part){.first_node = node, .n_nodes = 1, .gpus = gpus, .replicas = 1};
}

void pool_devices_taken(const struct pool *p, struct alloc *a) { pool_alloc_finish(p, a); }

static void part_release(struct pool *p, const struct alloc *a, const struct alloc_part *part)
{
    if (part->n_nodes == 0) { /* counted only */
        struct pool_group *g = &p->groups[part->first_node];
        g->counted_shares -= (int64_t)part->gpus;
        free_changes(p, g, (int64_t)part->gpus);
        return;
    }
    for (uint32_t i = 0; i < part->n_nodes; i++) {
        if (part->gpus) node_change(p, part->first_node + i, part->gpus, part->fraction, true);
        node_cpu_mem(p, part->first_node + i, a, part->replicas);
    }
}

void pool_release(struct pool *p, struct alloc *a)
{
    for (uint32_t i = 0; i < a->n_parts; i++) part_release(p, a, &a->parts[i]);
    if (a->cap_parts == SPARE_PARTS && !p->spare) p->spare = a->parts;
    else free(a->parts);
    *a = (struct alloc){0};
}

/* ---- nodes ---- */

int64_t pool_node_down(struct pool *p, uint32_t node)
{
    struct pool_node *n = &p->nodes[node];
    struct pool_group *g = &p->groups[n->group];
    if (!n->up) return 0;
    int64_t shares = node_free_shares(n, g->gpus);
    index_remove(g, node - g->first, n);
    n->up = false;
    free_changes(p, g, -shares);
    return shares;
}

int64_t pool_node_up(struct pool *p, uint32_t node)
{
    struct pool_node *n = &p->nodes[node];
    struct pool_group *g = &p->groups[n->group];
    if (n->up) return 0;
    n->up = true;
    index_add(g, node - g->first, n);
    int64_t shares = node_free_shares(n, g->gpus);
    free_changes(p, g, shares);
    return shares;
}

bool pool_node_is_up(const struct pool *p, uint32_t node) { return p->nodes[node].up; }
int64_t pool_free_shares(const struct pool *p) { return p->free_shares; }
int64_t pool_total_shares(const struct pool *p) { return p->total_shares; }
uint32_t pool_nodes(const struct pool *p) { return p->n_nodes; }
uint32_t pool_node_group(const struct pool *p, uint32_t node) { return p->nodes[node].group; }
uint32_t pool_node_free_gpus(const struct pool *p, uint32_t node) { return p->nodes[node].up ? p->nodes[node].n_free : 0; }

uint32_t alloc_node(const struct alloc *a, uint32_t replica)
{
    for (uint32_t i = 0; i < a->n_parts; i++) {
        uint32_t here = a->parts[i].n_nodes * a->parts[i].replicas;
        if (replica < here) return a->parts[i].first_node + replica / a->parts[i].replicas;
        replica -= here;
    }
    return UINT32_MAX;
}

static int64_t part_shares(const struct alloc_part *part)
{
    if (part->n_nodes == 0) return (int64_t)part->gpus;
    return part->fraction ? part->fraction : INT64_C(1000) * __builtin_popcountll(part->gpus) * part->n_nodes;
}

/* Nodes of a part that lie in the group; a part may go on from one group into the next. */
static uint32_t part_nodes_in(const struct pool_group *g, const struct alloc_part *part)
{
    uint32_t from = part->first_node > g->first ? part->first_node : g->first;
    uint32_t end = part->first_node + part->n_nodes, last = g->first + g->count;
    if (end > last) end = last;
    return end > from ? end - from : 0;
}

int64_t alloc_shares_of(const struct pool *p, const struct alloc *a, uint32_t group)
{
    int64_t shares = 0;
    for (uint32_t i = 0; i < a->n_parts; i++) {
        const struct alloc_part *part = &a->parts[i];
        if (part->n_nodes) shares += part_shares(part) / part->n_nodes * part_nodes_in(&p->groups[group], part);
        else if (part->first_node == group) shares += part_shares(part);
    }
    return shares;
}
