/* flows.h - max-min fair rates of flows over links.
 *
 * A link has a capacity in bytes/s. A flow crosses links, each with a number of lanes; its rate is that of one lane, so it
 * takes lanes x rate of each. No flow gets more than it wants. The rates are max-min fair: a flow that gets less than it
 * wants crosses a link that is full and on which no lane is faster than its own (progressive filling: Bertsekas and
 * Gallager, Data Networks, 2nd ed., section 6.5.2).
 *
 *     struct flows *f = flows_create(capacity, n_links);
 *     uint32_t a = flows_add(f, (struct flow_use[]){{LEAF, 1}, {SPINE, 2}}, 2, FLOW_UNLIMITED);
 *     flows_solve(f);                             // after any number of changes
 *     for (size_t i = 0; i < flows_n_changed(f); i++) ... flows_changed(f, i), flows_rate(f, a) ...
 *
 * All of it is integer: a link's level, what is left of it over its open lanes, is rounded down, so no link ever carries
 * more than its capacity and what is left over is less than its number of lanes. Ties: caps before links, links by number.
 * A change is solved for the flows on the links that it touches; the others stay fixed until one of them shares a full
 * link with a flow whose rate changed, or stands in the way of one that should get more. So the work follows what changes:
 * a link that all its flows together cannot fill is never looked at, flows in another part of the network neither.
 *
 * Units: bytes/s; lanes are counts. Cost of a change: O(u log u) for the u uses (flow x link) of the flows that it reaches;
 * flows_work counts them. Memory: 144 bytes a link, 88 a flow, 20 a use, owned by the flows; flows_destroy frees all.
 * Ids of removed flows are given again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_CLUSTER_FLOWS_H
#define TRAINYARD_SIM_CLUSTER_FLOWS_H

#include <stddef.h>
#include <stdint.h>

#define FLOW_UNLIMITED INT64_MAX
enum { NO_LINK = UINT32_MAX };

/* A flow names each link once. */
struct flow_use { uint32_t link, lanes; };

struct flows;

struct flows *flows_create(const int64_t *capacity_bytes_per_s, uint32_t n_links);
void flows_destroy(struct flows *); /* NULL is fine */

/* `want` of one lane. A flow without links gets what it wants. */
uint32_t flows_add(struct flows *, const struct flow_use *, uint32_t n, int64_t want_bytes_per_s);
void flows_remove(struct flows *, uint32_t flow);
void flows_want(struct flows *, uint32_t flow, int64_t want_bytes_per_s);
void flows_set_capacity(struct flows *, uint32_t link, int64_t bytes_per_s); /* 0: nothing passes */

/* Brings the rates up to date; until then they are those of the last call. */
void flows_solve(struct flows *);
/* Flows whose rate the last flows_solve changed. */
size_t flows_n_changed(const struct flows *);
uint32_t flows_changed(const struct flows *, size_t i);

int64_t flows_rate(const struct flows *, uint32_t flow);         /* of one lane */
int64_t flows_load(const struct flows *, uint32_t link);         /* bytes/s that cross it */
int64_t flows_capacity(const struct flows *, uint32_t link);
uint64_t flows_work(const struct flows *);                       /* uses looked at since creation */

#endif
