/* pace.c - see pace.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/pace.h"

#include <time.h>

#include "base/units.h"

static const int64_t flush_every_ns = NS_PER_S;
static const int64_t nap_ns = 20 * NS_PER_MS; /* an interrupt is noticed after so long */

static int64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

void pace_begin(struct pace *p, const struct watch_options *options, struct run_writer *out)
{
    *p = (struct pace){.options = *options, .out = out};
    if (options->watched) p->begin_ns = p->flushed_ns = wall_ns();
}

static void bring_up_to_date(struct pace *p, int64_t now)
{
    if (now - p->flushed_ns < flush_every_ns) return;
    run_flush(p->out);
    p->flushed_ns = now;
}

/* A moment of the wall's clock; with a speed so low that it lies beyond the clock's end, that end. */
static int64_t due_ns(const struct pace *p, int64_t simulated_ns, int64_t now)
{
    if (!(p->options.speed > 0)) return now;
    double wait = (double)simulated_ns / p->options.speed;
    return wait < (double)(INT64_MAX / 2) ? p->begin_ns + (int64_t)wait : INT64_MAX;
}

bool pace_keep(struct pace *p, int64_t simulated_ns, const volatile int *interrupt)
{
    if (!p->options.watched) return false;
    int64_t now = wall_ns();
    int64_t due = due_ns(p, simulated_ns, now);
    for (; now < due; now = wall_ns()) {
        int64_t left = due - now < nap_ns ? due - now : nap_ns;
        bring_up_to_date(p, now);
        if (interrupt && *interrupt) return true;
        nanosleep(&(struct timespec){.tv_nsec = left}, NULL);
    }
    bring_up_to_date(p, now);
    return false;
}
