/* event_list.h - which events the log shows, and how to walk among them.
 *
 *     struct event_pick pick = {scene, EVENTS_FAILURES, passes};
 *     uint32_t i = event_pick_next(&pick, at, true);          // the next shown event behind `at`; the same when there is none
 *
 * Nothing is copied: with a million events, what is not in sight costs nothing, but that a sparse filter is walked over.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_EVENT_LIST_H
#define TRAINYARD_VIZ_VIEWS_EVENT_LIST_H

#include "viz/model/scene.h"

enum event_kinds { EVENTS_ALL, EVENTS_FAILURES, EVENTS_QUEUE, EVENTS_RUNS, EVENTS_SAVES, EVENTS_NODES, N_EVENT_KINDS };
extern const char *const event_kind_names[N_EVENT_KINDS]; /* "all", "failures", ... */

struct event_pick {
    const struct scene *scene;
    enum event_kinds kinds;
    const bool *passes; /* by job: the filter; NULL: none. Events of no job do not pass a filter */
};

bool event_pick_shown(const struct event_pick *, uint32_t i);
/* The nearest shown event behind (or before) i; n_events: none. */
uint32_t event_pick_next(const struct event_pick *, uint32_t i, bool forward);
/* The shown event that the cursor stands at: the last that is not after it, else the first; n_events: none is shown. `chosen`: an event that wins when
 * it is shown and at the cursor's moment; n_events: none. */
uint32_t event_pick_at(const struct event_pick *, int64_t cursor_ns, uint32_t chosen);
/* How many are shown in all, and how many of them stand before i. A pass over the events. */
uint32_t event_pick_count(const struct event_pick *, uint32_t i, uint32_t *before);

/* The node an event is of: its index, n_nodes: none. */
uint32_t event_pick_node(const struct scene *, const struct record *);

#endif
