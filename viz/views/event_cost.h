/* event_cost.h - what the failure of a node cost: GPU time while it was down, and the work of its jobs that was done again.
 *
 *     struct event_cost c;
 *     if (event_cost(scene, event, &c)) ...            // false: the event is no failure of a node, or the run has no GPU tracks
 *
 * From the event until the node is back, its GPUs are down, or held by a job that cannot work. Jobs: those that held any of its GPUs when it failed. Done
 * again: their steps below their high-water mark from then until they work anew, on all their GPUs; a job that grows or shrinks meanwhile counts with the GPUs it asked for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_EVENT_COST_H
#define TRAINYARD_VIZ_VIEWS_EVENT_COST_H

#include "viz/model/scene.h"

struct event_cost {
    uint32_t node, jobs;
    int64_t from_ns, to_ns; /* of its being down; to: so far, when it is not back */
    share_ns down, held, redone;
};

bool event_cost(const struct scene *, uint32_t event, struct event_cost *);

struct str;
void event_cost_text(const struct scene *, const struct event_cost *, struct str *);

#endif
