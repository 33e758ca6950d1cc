/* workqueue.h - the work queue of a controller: keys wait once, and so many workers serve them.
 *
 * As client-go's util/workqueue (queue.go, delaying_queue.go): keys leave in the order in which they came; a key that
 * waits already is not added again; a key that is being worked on and added meanwhile is remembered once and goes to
 * the end of the queue when its worker is done, so no key is ever with two workers.
 *
 *     static int64_t reconcile(void *ctx, void *arg, uint64_t job) { …; return 3 * MILLISECOND; } // worker is busy
 *     struct workqueue *w = workqueue_create(events, 1, reconcile, controller);
 *     workqueue_add(w, job);                               // at once, if a worker is free
 *     workqueue_add_after(w, job, 30 * EVENT_SECOND);      // of several the earliest counts, as in client-go
 *
 * The function is called when a worker takes the key, always from an event of priority EVENT_CONTROL, never from
 * within workqueue_add(). It returns for how long (ns >= 0) the worker is busy, or WORKQUEUE_OPEN when that is not yet
 * known: then the worker stays with the key until workqueue_done().
 *
 * Cost: O(1) expected a call, beside the events: one each time a worker is woken, and one a key served when something else
 * happens while it is. Memory: grows with
 * the most keys known at one time (waiting, delayed or worked on). The queue is owned by the caller and must be
 * destroyed before its event queue.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ENGINE_WORKQUEUE_H
#define TRAINYARD_SIM_ENGINE_WORKQUEUE_H

#include "sim/engine/event.h"

#define WORKQUEUE_OPEN INT64_C(-1)

/* `ctx` as in event_fn, `arg` as given to workqueue_create(). */
typedef int64_t workqueue_fn(void *ctx, void *arg, uint64_t key);

struct workqueue;

struct workqueue *workqueue_create(struct event_queue *events, unsigned workers, workqueue_fn *fn, void *arg);
void workqueue_destroy(struct workqueue *w); /* cancels its events; NULL is fine */

void workqueue_add(struct workqueue *w, uint64_t key);
void workqueue_add_after(struct workqueue *w, uint64_t key, int64_t delay_ns);

/* True when no key waits for a free worker: then the function is the last act of its event (event_skip_to). */
bool workqueue_is_served(const struct workqueue *w);

/* Frees the worker that took `key` and answered WORKQUEUE_OPEN. False when no worker holds it in that way. */
bool workqueue_done(struct workqueue *w, uint64_t key);

size_t workqueue_length(const struct workqueue *w); /* keys that wait for a worker */
unsigned workqueue_busy(const struct workqueue *w); /* workers that hold a key */

#endif
