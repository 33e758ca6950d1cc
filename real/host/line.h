/* line.h - a line of a worker's log, as real/worker/steplog.h describes them.
 *
 *     struct worker_line w;
 *     if (worker_line_read(text, n, &w)) switch (w.event) ...
 *
 * Workers are other programs, maybe of another version: a line that is none, an unknown event, a field of the wrong kind or
 * without sense is no error, but false; what a line lacks is 0 (rank and step: -1).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_HOST_LINE_H
#define TRAINYARD_REAL_HOST_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum worker_event { WORKER_JOIN, WORKER_MET, WORKER_START, WORKER_STEP, WORKER_SAVE, WORKER_CHECKPOINT, WORKER_END, N_WORKER_EVENTS };
enum worker_end { END_DONE, END_STOPPED, END_RESIZE, N_WORKER_ENDS };

struct worker_line {
    enum worker_event event;
    int64_t time_ns;   /* since the epoch */
    int64_t rank, size, step;
    int64_t resumed;   /* start: the step; -1: from the beginning */
    int64_t data_ns, compute_ns, communication_ns, checkpoint_ns, all_ns;
    bool ok;           /* checkpoint */
    enum worker_end end;
    char weights[33];  /* end: fingerprint of the parameters; "" when it lacks */
};

bool worker_line_read(const char *text, size_t n, struct worker_line *);

#endif
