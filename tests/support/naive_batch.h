/* naive_batch.h - batch policies written a second time, as plainly as can be: lists that are sorted and gone through at
 * every event, time as whole seconds, free machines as one word for each second. What the simulator is compared with.
 *
 * Semantics: Tiresias' simulator (SymbioticLab/Tiresias, run_sim.py: one_queue_fifo, fit_first, smallest_first,
 * shortest_first, dlas with gputime) and batsched's easy_bf and conservative_bf as facts/peers.md states them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_NAIVE_BATCH_H
#define TRAINYARD_TESTS_SUPPORT_NAIVE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct naive_job {
    int64_t submit, work, limit; /* s; limit only for backfilling */
    int gpus;
    int64_t start, end;          /* result; -1: never */
    uint64_t machines;           /* result of backfilling */
    /* inside */
    int state, queue;
    int64_t executed, checked;
};

/* Jobs by submission. Policy: fifo, fifo-skip, fewest-gpus, srpt, las. */
void naive_tiresias(const char *policy, struct naive_job *, size_t n, int gpus, const int64_t las_limits[2]);
/* At most 64 machines. */
void naive_backfill(bool conservative, struct naive_job *, size_t n, int machines);

#endif
