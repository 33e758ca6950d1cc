/* pace.h - a simulation that people watch while it runs: slowed down, its files brought up to date about once a second.
 *
 *     struct pace p;
 *     pace_begin(&p, &(struct watch_options){.watched = true, .speed = 3600}, run_writer);
 *     while (sim_step(s)) if (pace_keep(&p, sim_now(s), interrupt)) break;      // true: the interrupt came while it waited
 *
 * Simulated time passes at most `speed` times as fast as the wall's; with 0 as fast as it can. Only the moment at which the
 * next event is looked at changes: what happens, and so the fingerprint, does not.
 *
 * Cost: a look at the clock an event when watched, nothing otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_PACE_H
#define TRAINYARD_SIM_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "run/run.h"
#include "sim/simulate.h"

struct pace {
    struct watch_options options;
    struct run_writer *out; /* brought up to date */
    int64_t begin_ns, flushed_ns; /* of the wall's clock */
};

void pace_begin(struct pace *, const struct watch_options *, struct run_writer *);
bool pace_keep(struct pace *, int64_t simulated_ns, const volatile int *interrupt);

#endif
