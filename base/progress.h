/* progress.h - how far long work is.
 *
 * On a terminal: one line, drawn over itself at most ten times a second, from the first second on. Elsewhere: one line
 * every 10 s. Work under a second says nothing. Without a sink, or with one without a file, it is silent.
 *
 *     struct progress_sink sink = progress_sink(quiet ? NULL : stderr);
 *     struct progress p;
 *     progress_begin(&p, &sink, "jobs", n_jobs);        // total 0: not known
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
#include <stdio.h>

struct progress_sink {
    FILE *to;      /* NULL: nothing is shown */
    bool terminal; /* it is drawn over its own line only here */
};

struct progress {
    const struct progress_sink *sink; /* NULL: silent */
    const char *what;                 /* what is counted, in the plural */
    uint64_t total, done;
    uint32_t calls, calls_a_look; /* updates since the last look at the clock; updates between looks */
    int64_t begin_ns, shown_ns, looked_ns;
    bool drawn;
};

struct progress_sink progress_sink(FILE *to);

void progress_begin(struct progress *p, const struct progress_sink *sink, const char *what, uint64_t total);
void progress_update(struct progress *p, uint64_t done);
void progress_end(struct progress *p);

#endif
