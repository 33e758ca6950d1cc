/* event.h - the clock and the event queue.
 *
 * Events leave in the order (time, priority, sequence): earlier first; at one instant the lower priority number;
 * among equals the one scheduled first. The order is total and knows no floating point, so a run depends on nothing
 * but its scenario and seed. It is the order of what is pending: an event that, while it runs, schedules another one
 * for the same instant with a lower priority number sees that one leave next.
 *
 *     struct event_queue *q = event_queue_create();
 *     struct event_id e = event_after(q, 30 * EVENT_SECOND, EVENT_OBSERVE, on_rendezvous_timeout, job);
 *     event_cancel(q, e);                                  // O(1); a stale id is ignored
 *     event_now(q, EVENT_SCHEDULE, scheduling_pass, queue); // this instant, after all releases and requests
 *     while (event_step(q, sim)) {}                        // calls on_x(sim, arg) one by one
 *     event_queue_destroy(q);
 *
 * Time is int64_t nanoseconds from the start of the run, 0 <= t < EVENT_NEVER (292 years). An event at EVENT_NEVER, or
 * so far ahead that the sum overflows, never happens: it is not stored and its id is EVENT_NONE. An event before the
 * clock is a fault of the caller (assert).
 *
 * Inside. A pending event is a key of 16 bytes, the unsigned 128-bit number
 *
 *     time 64 | priority 3 | sequence 35 | slot 26
 *
 * in a 4-ary heap whose groups of four children each fill one cache line, compared without branches, and 24 bytes in
 * an array of slots (callback, argument, generation). An event for the present instant goes to the ring of its
 * priority instead: those keys arrive sorted, so the next event is the smaller of the first ring's head and the heap's
 * top, and the order is the same as if all stood in the heap. Cancelling empties the slot; the key is dropped when it
 * surfaces, or with all dead keys at once when they are more than half (so timers that are always moved cost no
 * memory). When the 2^35 sequence numbers run out, the pending events are renumbered from 0 in their order: no limit on
 * the number of events of a run.
 *
 * Cost: schedule and pop O(log n), cancel O(1), event_now O(1).
 * Memory: owned by the queue; at most 64 bytes a pending event beyond the first 64: 16 of key and 24 of slot in arrays
 * that grow by a quarter, or 32 of key in a ring that doubles. Nothing shrinks. At most 2^26 (67 million) events are
 * pending at once (abort beyond).
 * Ids stay unique for 2^32 reuses of a slot.
 * A queue belongs to one thread at a time; any number of queues live side by side.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ENGINE_EVENT_H
#define TRAINYARD_SIM_ENGINE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_NEVER  INT64_MAX
#define EVENT_SECOND INT64_C(1000000000)

/* What happens first when several things happen at one instant. */
enum event_priority {
    EVENT_FAULT,    /* hardware goes down or comes back, processes die: later events see the damage */
    EVENT_RELEASE,  /* ends, frees, give-backs: before anybody asks for what they free */
    EVENT_CONTROL,  /* controllers, kubelets, timers of the control plane */
    EVENT_REQUEST,  /* submissions and new demand */
    EVENT_SCHEDULE, /* scheduling passes: after all changes of the instant */
    EVENT_OBSERVE,  /* time-outs, samples, metrics: last, so that what arrives in time is in time */
    EVENT_PRIORITIES
};

/* `ctx` is what event_step() was given (the simulation), `arg` what was scheduled. */
typedef void event_fn(void *ctx, void *arg);

/* A handle of a scheduled event. All zero is no event. */
struct event_id {
    uint32_t slot;
    uint32_t generation;
};
#define EVENT_NONE ((struct event_id){0, 0})

struct event_queue;

struct event_queue *event_queue_create(void);
void event_queue_destroy(struct event_queue *q); /* NULL is fine; pending events are dropped, not called */

/* Schedules fn(ctx, arg) at an absolute time, after a delay >= 0, or at the present instant. */
struct event_id event_at(struct event_queue *q, int64_t t_ns, enum event_priority priority, event_fn *fn, void *arg);
struct event_id event_after(struct event_queue *q, int64_t delay_ns, enum event_priority priority, event_fn *fn,
                            void *arg);
struct event_id event_now(struct event_queue *q, enum event_priority priority, event_fn *fn, void *arg);

/* An event is pending from its scheduling until it is called or cancelled; while it runs it no longer is. */
bool event_is_pending(const struct event_queue *q, struct event_id id);

/* True if the event was pending and will not happen; false for EVENT_NONE and for ids that are stale. */
bool event_cancel(struct event_queue *q, struct event_id id);

/* Moves a pending event: cancels it and schedules the same callback, argument and priority at t_ns, last among the
 * equals there. Returns the new id; EVENT_NONE when `id` was not pending. */
struct event_id event_reschedule(struct event_queue *q, struct event_id id, int64_t t_ns);

/* Advances the clock to the next event and calls it. False when nothing is pending. */
bool event_step(struct event_queue *q, void *ctx);
/* The same, if the next event is not after horizon_ns. */
bool event_step_until(struct event_queue *q, void *ctx, int64_t horizon_ns);

/* Calls all events up to and including horizon_ns, then puts the clock there (with EVENT_NEVER: runs until nothing is
 * pending and leaves the clock at the last event). Returns how many were called. */
uint64_t event_run_until(struct event_queue *q, void *ctx, int64_t horizon_ns);

static inline int64_t event_clock(const struct event_queue *q) /* now, ns */
{
    return *(const int64_t *)q; /* inline: everything asks for the time */
}
/* Moves the clock to t_ns when nothing is pending at or before it and the horizon of the step that runs is not passed,
 * and tells whether it did: a callback whose last act would be to schedule an event of its own for that time goes on at
 * once instead, with the same result. */
bool event_skip_to(struct event_queue *q, int64_t t_ns);

int64_t event_next_time(struct event_queue *q);        /* of the next event; EVENT_NEVER when none is pending */
uint64_t event_pending(const struct event_queue *q);   /* events pending, cancelled ones not counted */
uint64_t event_called(const struct event_queue *q);    /* events called since the queue was created */
size_t event_queue_bytes(const struct event_queue *q); /* memory held */

/* Gives the pending events the sequence numbers 0, 1, … in their order; happens by itself when the numbers run out. */
void event_renumber(struct event_queue *q);

#endif
