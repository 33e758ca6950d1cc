/* autoscaler.c - Ray's autoscaler: worker pods on demand, between the bounds of the (single) worker group.
 *
 * Every ray-autoscaler.loop (5 s) it compares what drivers would like to have with what is there or coming, and asks for
 * at most ray-autoscaler.batch (5) more workers; a worker without a bundle for ray-autoscaler.idle (60 s) goes. It wakes
 * only at those of its loops at which it has something to do.
 * Source: orchestration facts §4.5.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "sim/actor/actor.h"

struct autoscaler {
    struct raycluster *cluster;
    struct sim *sim;
    struct gcs_listener listener;
    ARRAY(struct ray_train *) drivers;
    int64_t base_ns;
    struct event_id tick;
};

static void on_tick(void *ctx, void *arg);

static const struct stack *stack_of(const struct autoscaler *a) { return &a->sim->scenario->approach.stack; }

static void tick_at(struct autoscaler *a, int64_t t_ns)
{
    int64_t loop = stack_of(a)->ray_as_loop > 0 ? stack_of(a)->ray_as_loop : 1;
    int64_t loops = (t_ns - a->base_ns + loop - 1) / loop, at = a->base_ns + loops * loop;
    if (at <= sim_now(a->sim)) at += loop;
    if (event_is_pending(a->sim->events, a->tick)) {
        event_cancel(a->sim->events, a->tick);
    }
    a->tick = event_at(a->sim->events, at, EVENT_CONTROL, on_tick, a);
}

void autoscaler_wake(struct autoscaler *a)
{
    if (!event_is_pending(a->sim->events, a->tick)) tick_at(a, sim_now(a->sim));
}

static void on_gcs(struct gcs_listener *l, enum gcs_change c, struct raylet *r)
{
    (void)c, (void)r;
    struct autoscaler *a = (struct autoscaler *)((char *)l - offsetof(struct autoscaler, listener));
    event_cancel(a->sim->events, a->tick);
    autoscaler_wake(a);
}

struct autoscaler *autoscaler_create(struct raycluster *rc)
{
    struct autoscaler *a = xcalloc(1, sizeof *a);
    a->cluster = rc;
    a->sim = rc->gcs->sim;
    a->base_ns = sim_now(a->sim);
    a->listener.changed = on_gcs;
    gcs_listen(rc->gcs, &a->listener);
    autoscaler_wake(a);
    return a;
}

void autoscaler_destroy(struct autoscaler *a)
{
    gcs_unlisten(a->cluster->gcs, &a->listener);
    event_cancel(a->sim->events, a->tick);
    array_free(&a->drivers);
    free(a);
}

void autoscaler_add(struct autoscaler *a, struct ray_train *t)
{
    array_push(&a->drivers, t);
    autoscaler_wake(a);
}

void autoscaler_drop(struct autoscaler *a, struct ray_train *t)
{
    size_t n = 0;
    for (size_t i = 0; i < a->drivers.n; i++)
        if (a->drivers.v[i] != t) a->drivers.v[n++] = a->drivers.v[i];
    a->drivers.n = n;
    event_cancel(a->sim->events, a->tick);
    autoscaler_wake(a);
}

/* Workers that the drivers' missing bundles would fill. */
static uint32_t needed(const struct autoscaler *a)
{
    uint32_t node_shares = a->cluster->spec.groups[0].shape.shares, need = 0;
    bool own = a->cluster->spec.job != NULL;
    for (size_t i = 0; i < a->drivers.n; i++) {
        const struct ray_train *t = a->drivers.v[i];
        uint32_t shares = t->groups[0].shape.shares, wants = ray_train_wants(t);
        uint32_t per_node = own || shares == 0 ? 1 : node_shares / shares;
        if (per_node) need += (wants + per_node - 1) / per_node;
    }
    return need;
}

/* Workers without a bundle: alive, or still to come. */
static uint32_t spare(const struct autoscaler *a)
{
    const struct gcs *g = a->cluster->gcs;
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const struct raylet *r = &g->raylets[i];
        if (r->state == RAYLET_ALIVE) n += pg_used_on(g->pgs, i) == 0;
        else n += r->pod && r->state != RAYLET_NONE && !r->pod->pod->terminating;
    }
    uint32_t wanted = raycluster_wanted(a->cluster);
    return wanted > a->cluster->n_workers ? n + wanted - a->cluster->n_workers : n;
}

static int64_t idle_since(const struct gcs *g, const struct raylet *r)
{
    int64_t left = pg_idle_since(g->pgs, r->node);
    return left > r->joined_ns ? left : r->joined_ns;
}

/* Lets idle workers go; returns when the next one will have been idle for long enough. */
static int64_t shrink(struct autoscaler *a)
{
    struct gcs *g = a->cluster->gcs;
    int64_t next = EVENT_NEVER, idle_ns = stack_of(a)->ray_as_idle;
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        struct raylet *r = &g->raylets[i];
        if (r->state != RAYLET_ALIVE || pg_used_on(g->pgs, i) || r->pod->removing) continue;
        if (a->cluster->spec.groups[0].replicas <= a->cluster->spec.groups[0].min) break;
        int64_t due = idle_since(g, r) + idle_ns;
        if (due <= sim_now(a->sim)) raycluster_remove_worker(a->cluster, r->pod);
        else if (due < next) next = due;
    }
    return next;
}

static void on_tick(void *ctx, void *arg)
{
    (void)ctx;
    struct autoscaler *a = arg;
    struct ray_group *group = &a->cluster->spec.groups[0];
    uint32_t need = needed(a), have = spare(a), most = (uint32_t)stack_of(a)->ray_as_batch;
    a->tick = EVENT_NONE;
    if (need > have) {
        uint32_t more = need - have < most ? need - have : most;
        uint32_t room = group->max > group->replicas ? group->max - group->replicas : 0;
        if (more > room) more = room;
        if (more) raycluster_scale(a->cluster, 0, group->replicas + more);
        if (more && more == most && room > most) tick_at(a, sim_now(a->sim));
        return;
    }
    int64_t next = need ? EVENT_NEVER : shrink(a);
    if (next != EVENT_NEVER) tick_at(a, next);
}
