/* workqueue.c - see workqueue.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/actor/workqueue.h"

static void run(void *ctx, void *arg);

void workqueue_init(struct workqueue *q, struct sim *sim, work_fn *step)
{
    *q = (struct workqueue){.sim = sim, .step = step};
}

static void wake(struct workqueue *q, int64_t delay_ns)
{
    q->event = event_after(q->sim->events, delay_ns, EVENT_CONTROL, run, q);
}

static void append(struct workqueue *q, struct work_item *w)
{
    w->queued = true;
    w->next = NULL;
    if (q->last) q->last->next = w;
    else q->first = w;
    q->last = w;
}

void workqueue_add(struct workqueue *q, struct work_item *w)
{
    if (q->now == w) {
        w->again = true;
        return;
    }
    if (w->queued) return;
    append(q, w);
    if (!q->running && !q->now && !event_is_pending(q->sim->events, q->event)) wake(q, 0);
}

static struct work_item *take(struct workqueue *q)
{
    struct work_item *w = q->first;
    if (!w) return NULL;
    q->first = w->next;
    if (!q->first) q->last = NULL;
    w->queued = w->again = false;
    w->next = NULL;
    return w;
}

/* Steps that take no time follow at once; objects that need no call cost no event. */
static void run(void *ctx, void *arg)
{
    (void)ctx;
    struct workqueue *q = arg;
    q->running = true;
    while (q->now || (q->now = take(q))) {
        int64_t ns = q->step(q, q->now);
        if (ns > 0) {
            wake(q, ns);
            break;
        }
        if (ns != WORK_DONE) continue;
        struct work_item *done = q->now;
        q->now = NULL;
        if (done && done->again && !done->queued) append(q, done);
    }
    q->running = false;
}

static void unlink_waiting(struct workqueue *q, struct work_item *w)
{
    struct work_item *before = NULL;
    for (struct work_item *i = q->first; i; before = i, i = i->next) {
        if (i != w) continue;
        if (before) before->next = w->next;
        else q->first = w->next;
        if (q->last == w) q->last = before;
        break;
    }
    w->queued = false;
    w->next = NULL;
}

void workqueue_drop(struct workqueue *q, struct work_item *w)
{
    if (w->queued) unlink_waiting(q, w);
    if (q->now != w) return;
    q->now = NULL;
    w->again = false;
    if (!q->running && event_cancel(q->sim->events, q->event)) wake(q, 0);
}
