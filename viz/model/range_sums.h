/* range_sums.h - what lies between two moments of a run: GPU time by state, waits by reason, jobs and events, exactly.
 *
 *     struct range_sums r;
 *     range_sums_make(&r, scene, curves, from, to);
 *     if (r.gpus) ... r.by_show[SHOW_REDONE] ...        // share-ns
 *
 * The range is [from, to): what happens at `to` belongs to the next one, so neighbouring ranges add up and the whole run gives the
 * sums of its ledgers. GPU time: idle (nobody holds it) and all of by_show add up to `existing`. Waits are those of the job tracks (scene.h says
 * what is known of a time in a queue): job-ns. Jobs are counted by their own times, events by their records (all but group_* and steps).
 *
 * Cost: O(jobs + events in the range + log records).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_MODEL_RANGE_SUMS_H
#define TRAINYARD_VIZ_MODEL_RANGE_SUMS_H

#include "viz/model/curves.h"

struct range_sums {
    int64_t from_ns, to_ns;
    bool gpus;                              /* false: the run keeps no records of GPUs, and their sums are 0 */
    share_ns existing, idle;
    share_ns by_show[SHOW_WAIT];            /* activities, work, redone work */
    __int128 waits[N_WAIT_REASONS];         /* job-ns */
    uint32_t submitted, started, ended;     /* jobs; started: their first step */
    uint32_t events, by_type[N_RECORD_TYPES];
    uint32_t failures;                      /* of the events: those that are never lost to sight */
};

void range_sums_make(struct range_sums *, const struct scene *, const struct curves *, int64_t from_ns, int64_t to_ns);

#endif
