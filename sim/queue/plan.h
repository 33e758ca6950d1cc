/* plan.h - which slots are free from when on: the profile of conservative backfilling.
 *
 * A list of steps in order of time; each has the set of slots that are free from its time until the next step. The last
 * lasts for ever. Neighbours differ. Windows are [from, to) in ns; TIME_NEVER as `to` is for ever.
 *
 *     plan_begin(&p, &map, now, free_set);             // one step
 *     int64_t at = plan_fit(&p, allowed, n, window, &list);   // first time at which n slots are free for the whole window
 *     plan_take(&p, at, at + window, &list); ... plan_give(&p, at, at + window, &list);
 *     plan_advance(&p, now);                           // forgets what is past
 *
 * Cost, with S steps of W = slots / 64 words: take, give O(S), and O(W + ranges) for each step in the window;
 * fit O(S x W) when the first steps with enough slots hold for the window, O(S^2 x W) at worst. S is at most twice the jobs
 * in the plan. Memory: 8 W + 32 bytes a step.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_PLAN_H
#define TRAINYARD_SIM_QUEUE_PLAN_H

#include "sim/queue/slots.h"

struct plan_step { int64_t at_ns; uint64_t *free; };

struct plan {
    const struct slot_map *map;
    ARRAY(struct plan_step) steps;
    ARRAY(uint64_t *) spare;
    uint64_t *work;
};

void plan_init(struct plan *, const struct slot_map *);
void plan_free(struct plan *);
void plan_begin(struct plan *, int64_t now_ns, const uint64_t *free);
void plan_advance(struct plan *, int64_t now_ns);
/* The lowest n slots at the first possible time; TIME_NEVER when there is none. */
int64_t plan_fit(struct plan *, const uint64_t *allowed, uint32_t n, int64_t window_ns, struct slot_list *);
void plan_take(struct plan *, int64_t from_ns, int64_t to_ns, const struct slot_list *);
void plan_give(struct plan *, int64_t from_ns, int64_t to_ns, const struct slot_list *);

#endif
