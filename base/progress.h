/* progress.h - how far long work is.
 *
 * On a terminal: one line, drawn over itself at most ten times a second, from the first second on. Elsewhere: one line
 * every 10 s. Work under a second says nothing. With a log below LOG_INFO, or NULL, it is silent.
 *
 *     struct progress p;
 *     progress_begin(&p, log, "jobs", n_jobs);          // total 0: not known
 *     progress_update(&p, i);                           // cheap: looks at the clock at most every 1,000 steps or so
 *     progress_end(&p);                                 // wipes the line
 *
 * The caller owns the struct; one thread at a time. The clock is the wall's and reaches nothing but the line.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_PROGRESS_H
#define TRAINYARD_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

struct progress {
    const struct log *log; /* NULL: silent */
    const char *what;      /* what is counted, in the plural */
    uint64_t total, done;
    uint32_t calls, calls_a_look; /* updates since the last look at the clock; updates between looks */
    int64_t begin_ns, shown_ns, looked_ns;
    bool drawn;
};

void progress_begin(struct progress *p, const struct log *log, const char *what, uint64_t total);
void progress_update(struct progress *p, uint64_t done);
void progress_end(struct progress *p);

#endif
