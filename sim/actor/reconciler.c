/* reconciler.c - see reconciler.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/actor/reconciler.h"

#include <stdlib.h>

#include "base/hmap.h"
#include "base/mem.h"
#include "sim/engine/workqueue.h"

struct reconciler {
    struct sim *sim;
    reconcile_fn *step;
    struct workqueue *queue;
    struct hmap items;      /* key -> item */
    uint64_t last_key;
    struct work_item *now;  /* being worked on */
    struct event_id event;  /* its next step */
};

static void on_step(void *ctx, void *arg);

/* Steps that take no time follow at once. True when the chain goes on later. */
static bool go_on(struct reconciler *c)
{
    while (c->now) {
        int64_t ns = c->step(c, c->now);
        if (ns == RECONCILED) break;
        if (ns == 0 || !c->now) continue;
        c->event = event_after(c->sim->events, ns, EVENT_CONTROL, on_step, c);
        return true;
    }
    c->now = NULL;
    return false;
}

static void on_step(void *ctx, void *arg)
{
    (void)ctx;
    struct reconciler *c = arg;
    uint64_t key = c->now->key;
    c->event = EVENT_NONE;
    if (!go_on(c)) workqueue_done(c->queue, key);
}

static int64_t take(void *ctx, void *arg, uint64_t key)
{
    (void)ctx;
    struct reconciler *c = arg;
    c->now = hmap_get_u64_ptr(&c->items, key);
    return go_on(c) ? WORKQUEUE_OPEN : 0;
}

struct reconciler *reconciler_create(struct sim *sim, reconcile_fn *step)
{
    struct reconciler *c = xcalloc(1, sizeof *c);
    c->sim = sim;
    c->step = step;
    c->queue = workqueue_create(sim->events, 1, take, c);
    return c;
}

void reconciler_destroy(struct reconciler *c)
{
    event_cancel(c->sim->events, c->event);
    workqueue_destroy(c->queue);
    hmap_free(&c->items);
    free(c);
}

void reconciler_add(struct reconciler *c, struct work_item *w)
{
    if (w->key == 0) {
        w->key = ++c->last_key;
        hmap_put_u64_ptr(&c->items, w->key, w);
    }
    workqueue_add(c->queue, w->key);
}

void reconciler_drop(struct reconciler *c, struct work_item *w)
{
    if (w->key == 0) return;
    hmap_del_u64(&c->items, w->key);
    if (c->now == w) {
        c->now = NULL;
        if (event_cancel(c->sim->events, c->event)) workqueue_done(c->queue, w->key);
    }
    w->key = 0;
}
