/* calendar.h - the hardware calendar: when each component of each node goes down and comes back.
 *
 * Each unit (a component of a node, a rack, a storage system) lives, is down, lives again. All its times are drawn by
 * (seed, replication, component, group, node, copy, k): never shifted by use, equal under every approach, and nested (more
 * nodes leave the old ones' lives alone).
 *
 *   life     Weibull, exponential with shape 1. A node group's age makes the first life the rest of one that has lasted so
 *            long already (weibull_residual): where the hazard falls, old nodes fail less.
 *   repair   lognormal, or fixed; afterwards as new, or worn: each repair multiplies the mean life by `after_repair` down to
 *            `least_mtbf` (geometric process, Lam 1988)
 *   lemons   nodes that fail so many times as often; which ones is drawn once a node, for all components alike
 *
 * What goes down with a unit: its node, its rack, or as many nodes as it says; all nodes of its groups with storage. A link
 * that is down stalls the training on its node; after nccl.ib-timeout the node counts as down until the link is back (the
 * network library gives up, health checks take the node out).
 *
 *     calendar_create(sim, &hooks);   // schedules the first failure of each unit
 * A node is down while any of its causes is, and off the network while any of its links is; `hooks.node` and `hooks.link`
 * hear of both edges once.
 * Scripted node losses go through calendar_force, so that a script and a profile may overlap.
 *
 * Cost: one event an edge and unit (two for links). Memory: 88 bytes a unit.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_CLUSTER_CALENDAR_H
#define TRAINYARD_SIM_CLUSTER_CALENDAR_H

#include "sim/cluster/sim.h"

struct calendar_hooks {
    void (*node)(struct sim *, uint32_t node, bool up);
    void (*link)(struct sim *, uint32_t node, bool up);
};

struct calendar *calendar_create(struct sim *, const struct calendar_hooks *);
void calendar_destroy(struct calendar *);
/* A scripted cause besides the components; up=true takes it away again. */
void calendar_force(struct sim *, uint32_t node, bool up);
/* Whether one of these nodes has a link down. O(1) while none has. */
bool calendar_link_down(const struct sim *, const uint32_t *nodes, uint32_t n);
/* True while some component is down: its return may still help a job that waits. */
bool calendar_more(const struct calendar *);

#endif
