/* network.h - the fabric of a simulation: what crosses it shares its links, max-min fair (flows.h).
 *
 * Links, each direction by itself:
 *
 *   node       inter bytes/s up and down (all NICs of a node together)
 *   rack       its nodes' inter / oversubscription.rack        where the topology has racks
 *   block      its racks' uplinks / oversubscription.block     where it has blocks
 *   store      write and read bytes/s of a store of the cluster; it stands outside all blocks
 *
 * A path is a set of connections, each over the links on its way. All connections of a flow have one rate, and links are
 * shared by connections.
 *
 * Two kinds of owners:
 *
 *   a pace      does something of its own length which moves bytes on the way (a training step). It wants as many
 *               bytes/s as it would use undisturbed; when it is granted less, all of it takes wanted / granted as long.
 *   a transfer  moves bytes, as fast as it gets on, up to its own limit, and ends when the last one is there.
 *
 *     struct net_path path = {0};
 *     net_path_ring(s, &path, nodes, n);                                   // or net_path_store, net_path_outside
 *     net_pace_start(s, &t->pace, &path, bytes_per_s, on_share);            // on_share: length = net_pace_stretch(...)
 *     net_transfer_start(s, &save->transfer, &path, bytes, limit, on_end);  // of a connection
 *     net_path_free(&path);
 *
 * Changes of one instant are solved together, after all else of the instant (EVENT_OBSERVE); owners hear of a new rate
 * then. Until it is solved for the first time a pace goes at full speed and a transfer has not begun, for no time at all.
 * Transfers are exact: bytes x 10^9 = the sum of rate x ns, of which the last nanosecond takes what is left.
 *
 * Off (s->network is NULL) unless the cluster's network has "contention": then every call does nothing, a pace goes at
 * full speed, and net_transfer_start returns false: the owner takes its own nominal time.
 *
 * Cost: that of flows.h for what a change reaches, and an event. Memory: 152 bytes a link; 2 links a node.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_CLUSTER_NETWORK_H
#define TRAINYARD_SIM_CLUSTER_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "sim/cluster/flows.h"
#include "sim/engine/event.h"

struct sim;
struct network;

void network_create(struct sim *); /* s->network, or NULL when it is off */
void network_destroy(struct network *);

/* ---- paths ---- */

enum net_level { NET_NODE, NET_RACK, NET_BLOCK, NET_STORE };
enum net_direction { NET_UP, NET_DOWN }; /* of a store: written, read */

struct net_path { ARRAY(struct flow_use) uses; };

/* One connection from each node to the next in this order, and from the last to the first: the ring of a collective, which
 * visits each node once. Of nodes that are named again the first counts; one node needs no network. */
void net_path_ring(const struct sim *, struct net_path *, const uint32_t *nodes, uint32_t n);
/* One connection between each node (again once each) and a store. */
void net_path_store(const struct sim *, struct net_path *, const uint32_t *nodes, uint32_t n, uint32_t store,
                    enum net_direction);
/* One connection from outside (a registry) to a node. */
void net_path_outside(const struct sim *, struct net_path *, uint32_t node);
/* Connections that cross the links of a level in one direction: of a ring, how often it leaves a rack. */
uint64_t net_path_crossings(const struct sim *, const struct net_path *, enum net_level);
void net_path_free(struct net_path *);

/* ---- owners ---- */

/* Part of its owner, all zero before the first start. */
struct net_flow {
    void (*changed)(struct sim *, struct net_flow *);
    int64_t wanted, granted; /* bytes/s of a connection */
    uint32_t flow;
    bool on, solved;
};

struct net_pace;
typedef void net_pace_fn(struct sim *, struct net_pace *);
struct net_pace {
    struct net_flow flow; /* first */
    net_pace_fn *changed;
};

/* `bytes_per_s` of one connection, at full speed. A path without links is no start. */
void net_pace_start(struct sim *, struct net_pace *, const struct net_path *, int64_t bytes_per_s, net_pace_fn *changed);
void net_pace_want(struct sim *, struct net_pace *, int64_t bytes_per_s); /* 0: silent for now */
void net_pace_stop(struct sim *, struct net_pace *);
/* What a pace is granted of what it wants; all zero: all of it. */
struct net_share { int64_t granted, wanted; };
struct net_share net_pace_share(const struct net_pace *);
/* How long something takes that takes ns at full speed: x wanted / granted, rounded up; INT64_MAX when nothing passes. */
int64_t net_share_stretch(struct net_share, int64_t ns);
/* How much of it is done in ns: x granted / wanted, rounded down. */
int64_t net_share_done(struct net_share, int64_t ns);
static inline int64_t net_pace_stretch(const struct net_pace *p, int64_t ns)
{
    return net_share_stretch(net_pace_share(p), ns);
}

struct net_transfer;
typedef void net_transfer_fn(struct sim *, struct net_transfer *);
struct net_transfer {
    struct net_flow flow; /* first */
    net_transfer_fn *end;
    int64_t bytes;        /* of a connection */
    int64_t since_ns;     /* from then on it goes at `rate` bytes/s, with `left` x 10^-9 bytes to go */
    int64_t rate;
    __int128 left;
    struct event_id timer;
};

/* `bytes` of each connection, at no more than `limit` bytes/s of it (FLOW_UNLIMITED: none). False: there is no link on its
 * path (the network is off), nothing was started. */
bool net_transfer_start(struct sim *, struct net_transfer *, const struct net_path *, int64_t bytes,
                        int64_t limit_bytes_per_s, net_transfer_fn *end);
/* Gives it up; returns the bytes of a connection that had been moved. */
int64_t net_transfer_stop(struct sim *, struct net_transfer *);
static inline bool net_transfer_active(const struct net_transfer *t) { return t->flow.on; }

/* ---- failures ---- */

/* Capacity of a link as a share of its nominal one: 0 is down, 1,000,000 whole. Incidents of a script do it ("set-link"). */
void network_link_scale(struct sim *, enum net_level, uint32_t index, enum net_direction, uint32_t ppm);

/* ---- for reports and tests ---- */

uint32_t network_link(const struct sim *, enum net_level, uint32_t index, enum net_direction);
const struct flows *network_flows(const struct sim *);

#endif
