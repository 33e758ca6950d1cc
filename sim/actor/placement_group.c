/* placement_group.c - see placement_group.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/actor/placement_group.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sim/actor/gcs.h"

enum { BACKOFF_FIRST_NS = 100000000 }; /* RAY gcs_create_placement_group_retry_min_interval_ms */

struct pg_manager {
    struct sim *sim;
    struct pool *pool;
    struct placement_group *first, *last;
    struct placement_group *committing; /* placed, its creation is under way */
    struct event_id event;              /* next attempt, or the end of the commit */
    uint64_t news;                      /* how often something changed that may help */
    struct node_use { uint32_t bundles; int64_t idle_since_ns; } *use; /* by node */
    bool paused;
};

static void on_attempt(void *ctx, void *arg);

static const struct stack *stack_of(const struct pg_manager *m) { return &m->sim->scenario->approach.stack; }

/* ---- bundles ---- */

static struct place_request request(const struct pg_bundle *b, enum placement_name placement)
{
    return (struct place_request){.replicas = 1,
                                  .shares = b->shares,
                                  .cpu_milli = b->cpu_milli,
                                  .mem_bytes = b->mem_bytes,
                                  .groups = b->groups,
                                  .placement = placement};
}

static bool node_allowed(const struct pg_manager *m, const struct pg_bundle *b, uint32_t node)
{
    return pool_node_is_up(m->pool, node) && (b->groups >> pool_node_group(m->pool, node) & 1);
}

static void seat(struct pg_manager *m, struct placement_group *pg, struct pg_bundle *b, uint32_t node)
{
    b->node = node;
    m->use[node].bundles++;
    pg->held++;
}

static bool hold_on(struct pg_manager *m, struct placement_group *pg, struct pg_bundle *b, uint32_t node)
{
    struct place_request r = request(b, PLACE_FIRST);
    if (!node_allowed(m, b, node) || pool_place_on(m->pool, node, &r, &b->alloc) != PLACED) return false;
    seat(m, pg, b, node);
    return true;
}

static bool used_by(const struct placement_group *pg, uint32_t node)
{
    for (uint32_t i = 0; i < pg->n; i++)
        if (pg->bundles[i].node == node) return true;
    return false;
}

static bool hold_apart(struct pg_manager *m, struct placement_group *pg, struct pg_bundle *b)
{
    for (uint32_t node = 0; node < pool_nodes(m->pool); node++)
        if (!used_by(pg, node) && hold_on(m, pg, b, node)) return true;
    return false;
}

static bool hold_anywhere(struct pg_manager *m, struct placement_group *pg, struct pg_bundle *b,
                          enum placement_name placement)
{
    struct place_request r = request(b, placement);
    if (pool_place(m->pool, &r, &b->alloc) != PLACED) return false;
    seat(m, pg, b, alloc_node(&b->alloc, 0));
    return true;
}

static void let_go(struct pg_manager *m, struct placement_group *pg, struct pg_bundle *b)
{
    if (b->node == PG_NO_NODE) return;
    pool_release(m->pool, &b->alloc);
    struct node_use *u = &m->use[b->node];
    if (--u->bundles == 0) u->idle_since_ns = sim_now(m->sim);
    b->node = PG_NO_NODE;
    pg->held--;
}

static void let_all_go(struct pg_manager *m, struct placement_group *pg)
{
    for (uint32_t i = 0; i < pg->n; i++) let_go(m, pg, &pg->bundles[i]);
}

/* The node on which a strictly packed group lies already, PG_NO_NODE: none. */
static uint32_t packed_on(const struct placement_group *pg)
{
    for (uint32_t i = 0; i < pg->n; i++)
        if (pg->bundles[i].node != PG_NO_NODE) return pg->bundles[i].node;
    return PG_NO_NODE;
}

static bool hold_one(struct pg_manager *m, struct placement_group *pg, struct pg_bundle *b)
{
    uint32_t node;
    switch ((enum pg_strategy)pg->strategy) {
    case PG_STRICT_SPREAD: return hold_apart(m, pg, b);
    case PG_SPREAD: return hold_apart(m, pg, b) || hold_anywhere(m, pg, b, PLACE_SPREAD);
    case PG_STRICT_PACK:
        node = packed_on(pg);
        return node != PG_NO_NODE && hold_on(m, pg, b, node);
    default: return hold_anywhere(m, pg, b, PLACE_PACK);
    }
}

static bool hold_rest(struct pg_manager *m, struct placement_group *pg)
{
    for (uint32_t i = 0; i < pg->n; i++)
        if (pg->bundles[i].node == PG_NO_NODE && !hold_one(m, pg, &pg->bundles[i])) return false;
    return true;
}

/* Phase one of a creation: all bundles, or none. */
static bool prepare(struct pg_manager *m, struct placement_group *pg)
{
    uint32_t tries = pg->strategy == PG_STRICT_PACK ? pool_nodes(m->pool) : 1;
    for (uint32_t node = 0; node < tries; node++) {
        bool begun = pg->strategy != PG_STRICT_PACK || hold_on(m, pg, &pg->bundles[0], node);
        if (begun && hold_rest(m, pg)) return true;
        let_all_go(m, pg);
    }
    return false;
}

/* ---- attempts ---- */

static void wake(struct pg_manager *m, int64_t at_ns)
{
    if (m->paused || m->committing) return;
    if (event_is_pending(m->sim->events, m->event)) event_cancel(m->sim->events, m->event);
    m->event = event_at(m->sim->events, at_ns, EVENT_SCHEDULE, on_attempt, m);
}

static void on_committed(void *ctx, void *arg)
{
    (void)ctx;
    struct pg_manager *m = arg;
    struct placement_group *pg = m->committing;
    m->committing = NULL;
    m->event = EVENT_NONE;
    wake(m, sim_now(m->sim));
    pg->state = PG_CREATED;
    if (pg->changed) pg->changed(pg->ctx, pg, PG_CREATED);
}

static void commit(struct pg_manager *m, struct placement_group *pg)
{
    m->committing = pg;
    pg->backoff_ns = 0;
    m->event = event_after(m->sim->events, stack_of(m)->ray_pg, EVENT_CONTROL, on_committed, m);
}

/* Takes what it can get; a new group all or nothing. True when it is complete. */
static bool attempt(struct pg_manager *m, struct placement_group *pg)
{
    int64_t most = stack_of(m)->ray_pg_retry;
    pg->seen = m->news;
    if (pg->state == PG_RESCHEDULING) {
        bool all = true;
        for (uint32_t i = 0; i < pg->n; i++)
            if (pg->bundles[i].node == PG_NO_NODE && !hold_one(m, pg, &pg->bundles[i])) all = false;
        if (all) return true;
    } else if (prepare(m, pg)) {
        return true;
    }
    pg->backoff_ns = pg->backoff_ns ? pg->backoff_ns * 3 / 2 : BACKOFF_FIRST_NS;
    if (pg->backoff_ns > most) pg->backoff_ns = most;
    pg->not_before_ns = sim_now(m->sim) + pg->backoff_ns;
    return false;
}

static bool same_shape(const struct placement_group *a, const struct placement_group *b)
{
    const struct pg_bundle *x = a->bundles, *y = b->bundles;
    return a->uniform && b->uniform && a->n == b->n && a->strategy == b->strategy && x->shares == y->shares &&
           x->cpu_milli == y->cpu_milli && x->mem_bytes == y->mem_bytes && x->groups == y->groups;
}

/* One round over the groups in a state; stops at the first that is complete. */
static bool round_of(struct pg_manager *m, enum pg_state state, int64_t *next_ns)
{
    const struct placement_group *refused = NULL;
    int64_t now = sim_now(m->sim);
    for (struct placement_group *pg = m->first; pg; pg = pg->next) {
        if (pg->state != state || pg->seen == m->news) continue;
        if (pg->not_before_ns > now) {
            if (pg->not_before_ns < *next_ns) *next_ns = pg->not_before_ns;
            continue;
        }
        if (refused && state == PG_PENDING && same_shape(pg, refused)) {
            pg->seen = m->news;
            continue;
        }
        if (attempt(m, pg)) {
            commit(m, pg);
            return true;
        }
        refused = pg;
    }
    return false;
}

static void on_attempt(void *ctx, void *arg)
{
    (void)ctx;
    struct pg_manager *m = arg;
    int64_t next_ns = EVENT_NEVER;
    m->event = EVENT_NONE;
    if (m->paused || m->committing) return;
    if (round_of(m, PG_RESCHEDULING, &next_ns) || round_of(m, PG_PENDING, &next_ns)) return;
    if (next_ns != EVENT_NEVER) wake(m, next_ns);
}

/* ---- the manager ---- */

struct pg_manager *pg_manager_make(struct sim *sim, struct pool *pool)
{
    struct pg_manager *m = xcalloc(1, sizeof *m);
    m->sim = sim;
    m->pool = pool;
    m->use = xcalloc(pool_nodes(pool) + 1, sizeof *m->use);
    return m;
}

struct pg_manager *pg_manager_create(struct gcs *g) { return pg_manager_make(g->sim, g->pool); }

static void unlink_group(struct pg_manager *m, struct placement_group *pg)
{
    if (pg->forgotten) return;
    if (pg->next) pg->next->prev = pg->prev;
    else m->last = pg->prev;
    if (pg->prev) pg->prev->next = pg->next;
    else m->first = pg->next;
    pg->forgotten = true;
}

static void abandon(struct pg_manager *m, struct placement_group *pg)
{
    if (m->committing != pg) return;
    m->committing = NULL;
    event_cancel(m->sim->events, m->event);
    m->event = EVENT_NONE;
}

static void dispose(struct placement_group *pg)
{
    free(pg->bundles);
    free(pg);
}

void pg_manager_destroy(struct pg_manager *m)
{
    event_cancel(m->sim->events, m->event);
    while (m->first) {
        struct placement_group *pg = m->first;
        let_all_go(m, pg);
        unlink_group(m, pg);
        dispose(pg);
    }
    free(m->use);
    free(m);
}

static bool is_uniform(const struct pg_request *r)
{
    for (uint32_t i = 1; i < r->n; i++) {
        const struct pg_bundle *a = &r->bundles[0], *b = &r->bundles[i];
        if (a->shares != b->shares || a->cpu_milli != b->cpu_milli || a->mem_bytes != b->mem_bytes ||
            a->groups != b->groups)
            return false;
    }
    return true;
}

struct placement_group *pg_create(struct pg_manager *m, const struct pg_request *r)
{
    struct placement_group *pg = xcalloc(1, sizeof *pg);
    *pg = (struct placement_group){.n = r->n,
                                   .strategy = (uint8_t)r->strategy,
                                   .state = PG_PENDING,
                                   .whole = r->whole,
                                   .uniform = is_uniform(r),
                                   .changed = r->changed,
                                   .ctx = r->ctx,
                                   .prev = m->last};
    pg->bundles = xcalloc(r->n, sizeof *pg->bundles);
    for (uint32_t i = 0; i < r->n; i++) {
        pg->bundles[i] = r->bundles[i];
        pg->bundles[i].node = PG_NO_NODE;
        pg->bundles[i].alloc = (struct alloc){0};
    }
    if (m->last) m->last->next = pg;
    else m->first = pg;
    m->last = pg;
    pg_capacity(m);
    return pg;
}

void pg_remove(struct pg_manager *m, struct placement_group *pg)
{
    abandon(m, pg);
    bool held = pg->held > 0;
    let_all_go(m, pg);
    unlink_group(m, pg);
    dispose(pg);
    if (held) pg_capacity(m);
    else wake(m, sim_now(m->sim));
}

void pg_pause(struct pg_manager *m, bool on)
{
    m->paused = on;
    if (!on) pg_capacity(m);
}

void pg_forget_all(struct pg_manager *m)
{
    while (m->first) {
        struct placement_group *pg = m->first;
        abandon(m, pg);
        let_all_go(m, pg);
        unlink_group(m, pg);
    }
}

void pg_capacity(struct pg_manager *m)
{
    m->news++;
    if (m->first) wake(m, sim_now(m->sim));
}

static void lose_bundles(struct pg_manager *m, struct placement_group *pg, uint32_t node)
{
    uint32_t before = pg->held;
    for (uint32_t i = 0; i < pg->n; i++)
        if (pg->bundles[i].node == node) let_go(m, pg, &pg->bundles[i]);
    if (pg->held == before) return;
    bool created = pg->state == PG_CREATED;
    if (m->committing == pg || pg->whole) {
        abandon(m, pg);
        if (!(pg->state == PG_RESCHEDULING && !pg->whole)) let_all_go(m, pg);
    }
    if (created) pg->state = pg->whole ? PG_PENDING : PG_RESCHEDULING;
    pg->seen = 0;
    if (created && pg->changed) pg->changed(pg->ctx, pg, PG_RESCHEDULING);
}

void pg_node_dead(struct pg_manager *m, uint32_t node)
{
    for (struct placement_group *pg = m->first, *next; pg; pg = next) {
        next = pg->next;
        lose_bundles(m, pg, node);
    }
    pg_capacity(m);
}

bool pg_infeasible(const struct pg_manager *m, const struct placement_group *pg)
{
    for (uint32_t i = 0; i < pg->n; i++) {
        struct place_request r = request(&pg->bundles[i], PLACE_PACK);
        if (!pool_could_ever(m->pool, &r)) return true;
    }
    return false;
}

uint32_t pg_used_on(const struct pg_manager *m, uint32_t node) { return m->use[node].bundles; }
int64_t pg_idle_since(const struct pg_manager *m, uint32_t node) { return m->use[node].idle_since_ns; }
