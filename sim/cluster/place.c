/* place.c - the choice of nodes: each placement is a way to name the next node, the rest is shared.
 *
 * A request is answered in two steps: does it fit at all (counts by free GPUs, no walk unless CPU, memory or fractions
 * may decide), and which nodes. So a refusal costs O(GPUs a node) whatever the cluster's size.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/cluster/pool_impl.h"

/* Nodes of one group that a choice may use: all, or one topology domain. */
struct window { struct pool_group *g; uint32_t first, end; /* offsets within the group */ };

bool pool_checks_nodes(const struct pool_group *g, const struct place_request *r)
{
    return (r->cpu_milli && g->limits_cpu) || (r->mem_bytes && g->limits_mem) || r->shares % 1000 || r->shares == 0;
}

static uint32_t fraction_slots(const struct pool_node *n, uint32_t gpus, uint32_t shares)
{
    uint32_t slots = n->n_free * (1000 / shares);
    if (n->used)
        for (uint32_t d = 0; d < gpus; d++)
            if (n->used[d]) slots += (1000u - n->used[d]) / shares;
    return slots;
}

uint32_t pool_node_slots(const struct pool *p, uint32_t node, const struct place_request *r)
{
    const struct pool_node *n = &p->nodes[node];
    int64_t slots = r->replicas;
    if (!n->up) return 0;
    if (r->shares % 1000) slots = fraction_slots(n, p->groups[n->group].gpus, r->shares);
    else if (r->shares) slots = n->n_free / (r->shares / 1000);
    if (r->cpu_milli && n->cpu_milli != INT64_MAX && n->cpu_milli / r->cpu_milli < slots) slots = n->cpu_milli / r->cpu_milli;
    if (r->mem_bytes && n->mem_bytes != INT64_MAX && n->mem_bytes / r->mem_bytes < slots) slots = n->mem_bytes / r->mem_bytes;
    return slots < 0 ? 0 : slots < r->replicas ? (uint32_t)slots : r->replicas;
}

/* Fewest free GPUs a node must have to be worth a look. */
static uint32_t least_free(const struct place_request *r) { return r->shares % 1000 ? 0 : r->shares / 1000; }

/* ---- how many replicas fit ---- */

static uint64_t slots_by_walk(const struct pool *p, const struct pool_group *g, const struct place_request *r)
{
    uint64_t slots = 0;
    for (uint32_t f = least_free(r); f <= g->gpus && slots < r->replicas; f++)
        for (uint32_t i = bitmap_next(&g->by_free[f], 0); i != BITMAP_NONE && slots < r->replicas;
             i = bitmap_next(&g->by_free[f], i + 1))
            slots += pool_node_slots(p, g->first + i, r);
    return slots;
}

static uint64_t group_slots(const struct pool *p, const struct pool_group *g, const struct place_request *r)
{
    if (pool_checks_nodes(g, r)) return slots_by_walk(p, g, r);
    uint64_t slots = 0;
    uint32_t k = r->shares / 1000;
    for (uint32_t f = k; f <= g->gpus; f++) slots += (uint64_t)g->n_by_free[f] * (f / k);
    return slots;
}

static bool fits(const struct pool *p, const struct place_request *r)
{
    uint64_t slots = 0;
    for (uint32_t gi = 0; gi < p->n_groups && slots < r->replicas; gi++)
        if (r->groups >> gi & 1) slots += group_slots(p, &p->groups[gi], r);
    return slots >= r->replicas;
}

static int64_t allowed_free(const struct pool *p, uint64_t groups)
{
    int64_t shares = 0;
    for (uint32_t gi = 0; gi < p->n_groups; gi++)
        if (groups >> gi & 1) shares += p->groups[gi].free_shares;
    return shares;
}

/* ---- the next node of each placement ---- */

static uint32_t next_in(const struct window *w, uint32_t f, uint32_t from)
{
    uint32_t i = bitmap_next(&w->g->by_free[f], from);
    return i < w->end ? i : BITMAP_NONE;
}

/* Lowest id among nodes with at least k free GPUs. */
static uint32_t next_first(const struct window *w, uint32_t k, uint32_t from)
{
    uint32_t best = BITMAP_NONE;
    for (uint32_t f = k; f <= w->g->gpus; f++) {
        uint32_t i = next_in(w, f, from);
        if (i < best) best = i;
    }
    return best;
}

static uint32_t take_on(struct pool *p, uint32_t node, const struct place_request *r, uint32_t want, struct alloc *a)
{
    uint32_t slots = pool_node_slots(p, node, r), n = slots < want ? slots : want;
    for (uint32_t i = 0; i < n; i++) pool_take(p, node, r, a);
    return n;
}

static uint32_t take_first(struct pool *p, const struct window *w, const struct place_request *r, uint32_t want,
                           struct alloc *a)
{
    uint32_t got = 0, k = least_free(r);
    for (uint32_t i = next_first(w, k, w->first); i != BITMAP_NONE && got < want; i = next_first(w, k, i + 1))
        got += take_on(p, w->g->first + i, r, want - got, a);
    return got;
}

static uint32_t take_pack(struct pool *p, const struct window *w, const struct place_request *r, uint32_t want,
                          struct alloc *a)
{
    uint32_t got = 0;
    if (r->shares % 1000) /* a device that is already shared comes before a whole one */
        for (uint32_t i = bitmap_next(&w->g->shared, w->first); i < w->end && got < want;
             i = bitmap_next(&w->g->shared, i + 1))
            got += take_on(p, w->g->first + i, r, want - got, a);
    for (uint32_t f = least_free(r); f <= w->g->gpus && got < want; f++)
        for (uint32_t i = next_in(w, f, w->first); i != BITMAP_NONE && got < want; i = next_in(w, f, i + 1))
            got += take_on(p, w->g->first + i, r, want - got, a);
    return got;
}

static uint32_t take_spread(struct pool *p, const struct window *w, const struct place_request *r, uint32_t want,
                            struct alloc *a)
{
    uint32_t got = 0, least = least_free(r);
    for (uint32_t f = w->g->gpus + 1; f-- > least && got < want;)
        for (uint32_t i = next_in(w, f, w->first); i != BITMAP_NONE && got < want; i = next_in(w, f, i + 1))
            got += take_on(p, w->g->first + i, r, 1, a);
    return got;
}

typedef uint32_t take_fn(struct pool *, const struct window *, const struct place_request *, uint32_t, struct alloc *);
static take_fn *const takers[N_PLACEMENTS] = {
    [PLACE_FIRST] = take_first, [PLACE_PACK] = take_pack, [PLACE_SPREAD] = take_spread, [PLACE_TOPOLOGY] = take_pack};

/* Spreading rounds end when a round places nothing; the others take all they can in one. */
static uint32_t take_all(struct pool *p, const struct window *w, const struct place_request *r, uint32_t want,
                         struct alloc *a)
{
    uint32_t got = 0, n;
    do got += n = takers[r->placement](p, w, r, want - got, a);
    while (r->placement == PLACE_SPREAD && n && got < want);
    return got;
}

/* ---- topology: the smallest domain that holds the request ---- */

static uint32_t domain_nodes(const struct cluster_spec *s, int level)
{
    if (level == TOPO_HOST) return 1;
    if (level == TOPO_RACK) return s->topology.nodes_per_rack;
    return s->topology.nodes_per_rack * s->topology.racks_per_block;
}

static uint64_t window_slots(const struct pool *p, const struct window *w, const struct place_request *r)
{
    uint64_t slots = 0;
    for (uint32_t i = next_first(w, least_free(r), w->first); i != BITMAP_NONE && slots < r->replicas;
         i = next_first(w, least_free(r), i + 1))
        slots += pool_node_slots(p, w->g->first + i, r);
    return slots;
}

/* The domain of a level with the fewest free shares that holds all; domains are cut along node ids of the cluster. */
static bool best_domain(struct pool *p, const struct place_request *r, int level, struct window *best)
{
    uint32_t size = domain_nodes(p->spec, level);
    uint32_t least = UINT32_MAX;
    if (!size) return false;
    for (uint32_t gi = 0; gi < p->n_groups; gi++) {
        struct pool_group *g = &p->groups[gi];
        if (!(r->groups >> gi & 1)) continue;
        for (uint32_t d = g->first / size; d * size < g->first + g->count; d++) {
            uint32_t lo = d * size > g->first ? d * size - g->first : 0, hi = (d + 1) * size - g->first;
            struct window w = {g, lo, hi < g->count ? hi : g->count};
            if (window_slots(p, &w, r) < r->replicas) continue;
            uint32_t spare = 0;
            for (uint32_t i = w.first; i < w.end; i++) spare += pool_node_free_gpus(p, g->first + i);
            if (spare < least) {
                least = spare;
                *best = w;
            }
        }
    }
    return least != UINT32_MAX;
}

static bool place_in_domain(struct pool *p, const struct place_request *r, struct alloc *a)
{
    struct place_request inner = *r;
    struct window w;
    int widest = r->topology_required ? r->topology : TOPO_BLOCK;
    inner.placement = r->placement == PLACE_TOPOLOGY ? PLACE_PACK : r->placement;
    for (int level = r->topology == TOPO_NONE ? TOPO_HOST : r->topology; level <= widest; level++)
        if (best_domain(p, r, level, &w)) return take_all(p, &w, &inner, r->replicas, a) == r->replicas;
    return false;
}

/* ---- the calls ---- */

static enum place_result place_count(struct pool *p, const struct place_request *r, struct alloc *a)
{
    int64_t want = (int64_t)r->replicas * r->shares;
    if (allowed_free(p, r->groups) < want) return PLACE_LACKS;
    if (!a) return PLACED;
    a->parts = xcalloc(p->n_groups, sizeof *a->parts);
    a->cap_parts = p->n_groups;
    a->shares = want;
    for (uint32_t gi = 0; gi < p->n_groups && want; gi++) {
        struct pool_group *g = &p->groups[gi];
        int64_t n = g->free_shares < want ? g->free_shares : want;
        if (!(r->groups >> gi & 1) || n <= 0) continue;
        a->parts[a->n_parts++] = (struct alloc_part){.first_node = gi, .gpus = (uint64_t)n};
        g->counted_shares += n;
        g->free_shares -= n;
        p->free_shares -= n;
        want -= n;
    }
    return PLACED;
}

enum place_result pool_try(struct pool *p, const struct place_request *r)
{
    struct window w;
    if (allowed_free(p, r->groups) < (int64_t)r->replicas * r->shares) return PLACE_LACKS;
    if (r->placement == PLACE_COUNT) return PLACED;
    if (!fits(p, r)) return PLACE_SHAPE;
    if (r->topology && r->topology_required && !best_domain(p, r, r->topology, &w)) return PLACE_DOMAIN;
    return PLACED;
}

enum place_result pool_place(struct pool *p, const struct place_request *r, struct alloc *a)
{
    assert(a->n_parts == 0);
    if (r->placement == PLACE_COUNT) return place_count(p, r, a);
    enum place_result result = pool_try(p, r);
    if (result != PLACED) return result;
    uint32_t got = 0;
    if ((r->topology || r->placement == PLACE_TOPOLOGY) && place_in_domain(p, r, a)) got = r->replicas;
    for (uint32_t gi = 0; gi < p->n_groups && got < r->replicas; gi++) {
        struct window w = {&p->groups[gi], 0, p->groups[gi].count};
        if (r->groups >> gi & 1) got += take_all(p, &w, r, r->replicas - got, a);
    }
    assert(got == r->replicas);
    pool_alloc_finish(p, a);
    return PLACED;
}

enum place_result pool_place_on(struct pool *p, uint32_t node, const struct place_request *r, struct alloc *a)
{
    if (!pool_node_slots(p, node, r)) return PLACE_SHAPE;
    pool_take(p, node, r, a);
    pool_alloc_finish(p, a);
    return PLACED;
}

static uint64_t empty_node_slots(const struct pool_group *g, const struct place_request *r)
{
    int64_t slots = r->replicas;
    if (r->shares % 1000) slots = (int64_t)g->gpus * (1000 / r->shares);
    else if (r->shares) slots = g->gpus / (r->shares / 1000);
    if (r->cpu_milli && g->limits_cpu && g->node_cpu / r->cpu_milli < slots) slots = g->node_cpu / r->cpu_milli;
    if (r->mem_bytes && g->limits_mem && g->node_mem / r->mem_bytes < slots) slots = g->node_mem / r->mem_bytes;
    return slots < 0 ? 0 : (uint64_t)slots;
}

bool pool_could_ever(const struct pool *p, const struct place_request *r)
{
    uint64_t slots = 0, domain = 0;
    int64_t total = 0;
    for (uint32_t gi = 0; gi < p->n_groups; gi++) {
        const struct pool_group *g = &p->groups[gi];
        if (!(r->groups >> gi & 1)) continue;
        total += (int64_t)g->count * g->gpus * 1000;
        slots += empty_node_slots(g, r) * g->count;
        uint64_t nodes = r->topology ? domain_nodes(p->spec, r->topology) : g->count;
        uint64_t here = empty_node_slots(g, r) * (nodes < g->count ? nodes : g->count);
        if (here > domain) domain = here;
    }
    if (r->placement == PLACE_COUNT) return total >= (int64_t)r->replicas * r->shares;
    return slots >= r->replicas && (!r->topology_required || domain >= r->replicas);
}
