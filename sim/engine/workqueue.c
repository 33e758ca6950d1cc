/* workqueue.c - a queue of distinct keys before a number of workers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/engine/workqueue.h"

#include "base/array.h"
#include "base/hmap.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

/* What is known of a key. An item that neither waits, nor is delayed, nor is worked on is free. */
struct item {
    struct workqueue *w;
    uint64_t key;
    struct event_id delayed, finish; /* finish: of a worker that knows when it is done */
    int64_t ready_ns;                /* when `delayed` comes */
    struct item *next;               /* in the queue, or in the list of free items */
    bool wanted;                     /* waits, or shall when its worker is done */
    bool in_work;
};

struct workqueue {
    struct event_queue *events;
    workqueue_fn *fn;
    void *arg;
    ARRAY(struct item *) items; /* items do not move: events point to them */
    struct hmap by_key;         /* those that are not free */
    struct item *head, *tail, *free;
    size_t length;
    unsigned workers, busy;
    struct event_id serve;
};

struct workqueue *workqueue_create(struct event_queue *events, unsigned workers, workqueue_fn *fn, void *arg)
{
    assert(workers > 0 && fn);
    struct workqueue *w = xcalloc(1, sizeof *w);
    *w = (struct workqueue){.events = events, .fn = fn, .arg = arg, .workers = workers};
    return w;
}

void workqueue_destroy(struct workqueue *w)
{
    if (!w) return;
    event_cancel(w->events, w->serve);
    for (size_t i = 0; i < w->items.n; i++) {
        event_cancel(w->events, w->items.v[i]->delayed);
        event_cancel(w->events, w->items.v[i]->finish);
        free(w->items.v[i]);
    }
    array_free(&w->items);
    hmap_free(&w->by_key);
    free(w);
}

/* Items */

static struct item *item_new(struct workqueue *w)
{
    struct item *item = w->free;
    if (item) {
        w->free = item->next;
        return item;
    }
    item = xmalloc(sizeof *item);
    array_push(&w->items, item);
    return item;
}

static struct item *item_of(struct workqueue *w, uint64_t key)
{
    struct item *item = hmap_get_u64_ptr(&w->by_key, key);
    if (item) return item;
    item = item_new(w);
    *item = (struct item){.w = w, .key = key};
    hmap_put_u64_ptr(&w->by_key, key, item);
    return item;
}

static void item_release(struct item *item)
{
    struct workqueue *w = item->w;
    if (item->wanted || item->in_work || event_is_pending(w->events, item->delayed)) return;
    hmap_del_u64(&w->by_key, item->key);
    item->next = w->free;
    w->free = item;
}

/* The queue */

static void serve(void *ctx, void *arg);

static void wake(struct workqueue *w)
{
    if (w->busy < w->workers && w->length > 0 && !event_is_pending(w->events, w->serve))
        w->serve = event_now(w->events, EVENT_CONTROL, serve, w);
}

static void append(struct item *item)
{
    struct workqueue *w = item->w;
    item->next = NULL;
    if (w->tail)
        w->tail->next = item;
    else
        w->head = item;
    w->tail = item;
    w->length++;
    wake(w);
}

static struct item *take(struct workqueue *w)
{
    struct item *item = w->head;
    w->head = item->next;
    if (!w->head) w->tail = NULL;
    w->length--;
    return item;
}

static void want(struct item *item)
{
    if (item->wanted) return;
    item->wanted = true;
    if (!item->in_work) append(item);
}

void workqueue_add(struct workqueue *w, uint64_t key)
{
    want(item_of(w, key));
}

static void delay_over(void *ctx, void *arg)
{
    (void)ctx;
    want(arg);
}

/* A key added for a later time than the one it has keeps that one; when it comes earlier by another way, the delayed
 * entry stays and adds it once more (delaying_queue.go, insert). */
void workqueue_add_after(struct workqueue *w, uint64_t key, int64_t delay_ns)
{
    if (delay_ns <= 0) {
        workqueue_add(w, key);
        return;
    }
    int64_t ready_ns;
    if (__builtin_add_overflow(event_clock(w->events), delay_ns, &ready_ns) || ready_ns == EVENT_NEVER) return;
    struct item *item = item_of(w, key);
    if (event_is_pending(w->events, item->delayed)) {
        if (ready_ns < item->ready_ns) {
            item->delayed = event_reschedule(w->events, item->delayed, ready_ns);
            item->ready_ns = ready_ns;
        }
        return;
    }
    item->delayed = event_at(w->events, ready_ns, EVENT_CONTROL, delay_over, item);
    item->ready_ns = ready_ns;
}

/* Workers */

static void finish(struct item *item)
{
    struct workqueue *w = item->w;
    item->in_work = false;
    w->busy--;
    if (item->wanted)
        append(item);
    else
        item_release(item);
    wake(w);
}

static void finish_event(void *ctx, void *arg)
{
    (void)ctx;
    finish(arg);
}

bool workqueue_is_served(const struct workqueue *w)
{
    return w->busy == w->workers || w->length == 0;
}

/* The worker is busy until then. When that is the last act of this event, and nothing lies between, it is over at once. */
static void work_until(struct item *item, int64_t t_ns)
{
    struct workqueue *w = item->w;
    if (t_ns < EVENT_NEVER && workqueue_is_served(w) && event_skip_to(w->events, t_ns)) finish(item);
    else item->finish = event_at(w->events, t_ns, EVENT_CONTROL, finish_event, item);
}

/* A function that goes on at once may be done before it returns; whom it wakes comes by an event of its own. */
static void serve(void *ctx, void *arg)
{
    struct workqueue *w = arg;
    while (!workqueue_is_served(w) && !event_is_pending(w->events, w->serve)) {
        struct item *item = take(w);
        item->wanted = false;
        item->in_work = true;
        w->busy++;
        int64_t busy_ns = w->fn(ctx, w->arg, item->key);
        assert(busy_ns < 0 || item->in_work);
        if (busy_ns >= 0) work_until(item, event_clock(w->events) + busy_ns);
    }
}

bool workqueue_done(struct workqueue *w, uint64_t key)
{
    struct item *item = hmap_get_u64_ptr(&w->by_key, key);
    if (!item || !item->in_work || event_is_pending(w->events, item->finish)) return false;
    finish(item);
    return true;
}

size_t workqueue_length(const struct workqueue *w)
{
    return w->length;
}

unsigned workqueue_busy(const struct workqueue *w)
{
    return w->busy;
}
