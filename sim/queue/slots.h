/* slots.h - GPUs by name: the machines of EASY and conservative backfilling.
 *
 * A slot is one GPU of one node, numbered along the nodes: on nodes of one GPU a slot is a machine, as Batsim has it; on
 * nodes of 8 the first node is slots 0 to 7. A job of n GPUs takes n slots, the lowest that are free, whatever nodes they
 * lie on; a fraction takes a whole slot. CPU and memory are not looked at.
 * Sets are bit words (`words` of the map); what a job takes is a list of ranges.
 *
 *     struct slot_map m;
 *     slot_map_init(&m, sim);
 *     uint64_t *free = slot_set_new(&m);
 *     slot_map_up(&m, sim, free);
 *     if (slots_count(&m, free, groups) >= n) slots_lowest(&m, free, groups, n, &list);
 *     slots_remove(free, &list);
 *     slots_place(sim, &m, &list, &alloc);
 *
 * Cost: count and lowest O(slots / 64), add and remove O(ranges + slots in them / 64).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_SLOTS_H
#define TRAINYARD_SIM_QUEUE_SLOTS_H

#include "base/array.h"
#include "sim/cluster/sim.h"

struct slot_allowed { uint64_t groups; uint64_t *set; };

struct slot_map {
    uint32_t n, words;
    uint32_t *first; /* slot of each node; one more at the end */
    uint32_t *node;  /* of each slot */
    ARRAY(struct slot_allowed) allowed; /* slots of each set of node groups asked for so far */
};

struct slot_range { uint32_t first, n; };
struct slot_list { ARRAY(struct slot_range) a; };

void slot_map_init(struct slot_map *, const struct sim *);
void slot_map_free(struct slot_map *);
uint64_t *slot_set_new(const struct slot_map *); /* empty; to be freed */
/* The slots of nodes that are up. O(nodes). */
void slot_map_up(const struct slot_map *, const struct sim *, uint64_t *set);
/* The slots of these node groups; belongs to the map. */
const uint64_t *slot_map_allowed(struct slot_map *, const struct sim *, uint64_t groups);

/* Members of both. */
uint32_t slots_count(const struct slot_map *, const uint64_t *set, const uint64_t *allowed);
/* The n lowest members of both, which must have them. */
void slots_lowest(const struct slot_map *, const uint64_t *set, const uint64_t *allowed, uint32_t n, struct slot_list *);
void slots_add(uint64_t *set, const struct slot_list *);
void slots_remove(uint64_t *set, const struct slot_list *);
/* Takes exactly these GPUs from the pool. */
void slots_place(struct sim *, const struct slot_map *, const struct slot_list *, struct alloc *);

/* Slots that a job takes, and for how long at most from now on (TIME_NEVER: no limit). */
uint32_t slots_of_job(const struct sim *, const struct job *);
int64_t slots_window_ns(const struct job *);

#endif
