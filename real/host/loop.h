/* loop.h - one thread that waits: for file descriptors, for moments, for signals.
 *
 *     struct loop *l = loop_create(&err);
 *     loop_arm(l, &job->timer, loop_now(l) + seconds(10), on_backoff, job);    // the timer is the caller's; armed again, it moves
 *     loop_watch(l, fd, on_readable, process);
 *     loop_on_signal(l, on_signal, host);                                      // SIGCHLD, SIGINT, SIGTERM, SIGHUP
 *     while (!done) if (!loop_wait(l, &err)) ...;                              // waits for the next thing, and calls whoever it is for
 *
 * Timers come by (moment, order of arming); those that are due come before the descriptors of the same round.
 * While a loop is there these signals are blocked in this thread and read from a descriptor, and SIGPIPE is ignored: a child
 * must undo both (process.c does). Time: ns of the monotonic clock. What a signal asks for before the first loop_wait is not lost.
 * A timer must be disarmed before its memory goes. Callbacks may arm, disarm, watch and unwatch anything.
 *
 * Cost: O(log timers) to arm, O(descriptors) a round.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_HOST_LOOP_H
#define TRAINYARD_REAL_HOST_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void loop_fn(void *arg);

/* All zero: not armed. */
struct loop_timer {
    int64_t at_ns;
    uint64_t order;
    loop_fn *fn;
    void *arg;
    size_t place; /* in the heap, from 1; 0: not armed */
};

struct loop;

/* NULL and *err (to free) when the system refuses. */
struct loop *loop_create(char **err);
void loop_destroy(struct loop *); /* the signals are as they were before */

/* Since loop_create, or the last loop_restart. */
int64_t loop_now(const struct loop *);
void loop_restart(struct loop *); /* now is 0; no timer may be armed */
/* A moment of the wall's clock (ns since the epoch) on this one. */
int64_t loop_of_wall(const struct loop *, int64_t epoch_ns);

void loop_arm(struct loop *, struct loop_timer *, int64_t at_ns, loop_fn *, void *arg);
void loop_disarm(struct loop *, struct loop_timer *);

void loop_watch(struct loop *, int fd, loop_fn *, void *arg); /* called when it can be read, or was closed */
void loop_unwatch(struct loop *, int fd);
void loop_on_signal(struct loop *, void (*fn)(void *arg, int signal), void *arg);

/* One round. False and *err on a failure of the system. */
bool loop_wait(struct loop *, char **err);

#endif
