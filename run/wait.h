/* wait.h - the wait ledger: why a job's ranks do not step, each ns with one reason.
 *
 * A running job owns a `struct wait_track`; a pending job shares a `struct wait_clock` with all jobs of its queue and
 * shape, so that a change of reason of 10,000 standing jobs costs one addition: a job copies the clock's sums when it
 * enters (N_QUEUE_REASONS values) and takes the difference when it leaves.
 *
 *     wait_clock_set(clock, WAIT_CAPACITY, now);         // the reason of everybody on this clock
 *     wait_join(&ticket, clock, now); ... wait_leave(&ticket, clock, now, sums);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_WAIT_H
#define TRAINYARD_RUN_WAIT_H

#include <stdint.h>

#include "run/states.h"

struct wait_clock {
    int64_t sum_ns[N_QUEUE_REASONS];
    int64_t since_ns;
    enum wait_reason reason; /* < N_QUEUE_REASONS */
};

/* What a pending job remembers of its clock. */
struct wait_ticket {
    int64_t at_ns[N_QUEUE_REASONS];
};

/* A job's own account; NOT_WAITING while its ranks step. */
enum { NOT_WAITING = N_WAIT_REASONS };
/* In records only: from now on it shares a clock with others, whose reasons are told by class (record.h). */
enum { WAITS_IN_CLASS = N_WAIT_REASONS + 1 };
struct wait_track {
    int64_t sum_ns[N_WAIT_REASONS];
    int64_t since_ns;
    unsigned reason; /* enum wait_reason or NOT_WAITING */
};

static inline void wait_clock_set(struct wait_clock *c, enum wait_reason reason, int64_t now_ns)
{
    c->sum_ns[c->reason] += now_ns - c->since_ns;
    c->since_ns = now_ns;
    c->reason = reason;
}

static inline void wait_join(struct wait_ticket *t, struct wait_clock *c, int64_t now_ns)
{
    wait_clock_set(c, c->reason, now_ns);
    for (int r = 0; r < N_QUEUE_REASONS; r++) t->at_ns[r] = c->sum_ns[r];
}

/* Adds to sums[] what the clock counted since wait_join. */
static inline void wait_leave(const struct wait_ticket *t, struct wait_clock *c, int64_t now_ns, int64_t *sums)
{
    wait_clock_set(c, c->reason, now_ns);
    for (int r = 0; r < N_QUEUE_REASONS; r++) sums[r] += c->sum_ns[r] - t->at_ns[r];
}

static inline void wait_track_set(struct wait_track *w, unsigned reason, int64_t now_ns)
{
    if (w->reason != NOT_WAITING) w->sum_ns[w->reason] += now_ns - w->since_ns;
    w->since_ns = now_ns;
    w->reason = reason;
}

#endif
