/* calendar.h - the hardware calendar: when each component of each node goes down and comes back.
 *
 * Up times are Weibull (exponential with shape 1), repairs lognormal, each drawn by (seed, replication, component, node,
 * k): never shifted by use, equal under every approach, and nested (more nodes leave the old ones' lives alone). One
 * component that is down takes its node down; a rack or switch component takes its rack down.
 *
 *     calendar_create(sim);   // schedules the first failure of each component that fails before the horizon
 * A node is down while any of its components is; `calendar_node` hears of both edges once.
 * Scripted node losses go through calendar_force, so that a script and a profile may overlap.
 *
 * Cost: one event a component and edge. Memory: 48 bytes a component instance (nodes x components).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_CLUSTER_CALENDAR_H
#define TRAINYARD_SIM_CLUSTER_CALENDAR_H

#include "sim/cluster/sim.h"

typedef void calendar_fn(struct sim *, uint32_t node, bool up);

struct calendar *calendar_create(struct sim *, calendar_fn *);
void calendar_destroy(struct calendar *);
/* A scripted cause besides the components; up=true takes it away again. */
void calendar_force(struct sim *, uint32_t node, bool up);
/* True while some component is down: its return may still help a job that waits. */
bool calendar_more(const struct calendar *);

#endif
