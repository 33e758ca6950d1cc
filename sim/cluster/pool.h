/* pool.h - GPUs, CPU and memory by node, and the one way to hold them.
 *
 * A pool is a set of nodes with free GPU devices, CPU and memory. The cluster is a pool; inside a RayCluster its Ray nodes
 * (worker pods) are one too (sim/actor/gcs.h), with the same placement code. `pool_place` takes all of a request or
 * nothing; `pool_release` gives it back.
 *
 *     struct pool *p = pool_create(&scenario->cluster);
 *     struct alloc a = {0};
 *     struct place_request r = { .replicas = 4, .shares = 8000, .groups = ~0ull, .placement = PLACE_PACK };
 *     switch (pool_place(p, &r, &a)) { case PLACED: ...; case PLACE_LACKS: ...; case PLACE_SHAPE: ... }
 *     pool_release(p, &a);
 *
 * Placement (design, section 3): PLACE_COUNT counts shares and touches no node (alloc has no parts); PLACE_FIRST takes the
 * lowest node ids and in each the lowest GPU ids; PLACE_PACK the fullest nodes that still fit (ties: lowest id);
 * PLACE_SPREAD the emptiest; PLACE_TOPOLOGY the smallest domain (host, rack, block, all) that holds the whole request,
 * within it packed.
 * Requests of whole GPUs take devices; a fraction (shares < 1000) takes part of one device, best fit among devices
 * that are already shared, then a whole free one. One replica lies on one node.
 * A node that is down (or drained) offers nothing; what is held there stays held until its holder releases it.
 *
 * Index: for each (node group, count of free GPUs) a bitmap of nodes with summary words, so "lowest node with at least
 * k free" costs O(k_max + log n), a change of a node O(1), whatever the size of the cluster. Requests with CPU or memory
 * walk candidates in that order.
 * Cost: pool_place O(nodes taken), pool_release O(nodes given back).
 * Memory: 40 bytes a node, 1/8 byte a node and count.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_CLUSTER_POOL_H
#define TRAINYARD_SIM_CLUSTER_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "input/scenario.h"

struct pool;

enum { TOPO_NONE, TOPO_HOST, TOPO_RACK, TOPO_BLOCK };

struct place_request {
    uint32_t replicas;
    uint32_t shares;              /* a replica: a multiple of 1000, or less than 1000; 0: CPU only */
    int64_t cpu_milli, mem_bytes; /* a replica */
    uint64_t groups;              /* bit g: node group g is allowed */
    enum placement_name placement;
    uint8_t topology;             /* TOPO_*: all replicas in one such domain ... */
    bool topology_required;       /* ... or else fail; otherwise only preferred */
};

/* Consecutive nodes on which the same GPUs are held. */
struct alloc_part {
    uint32_t first_node, n_nodes;
    uint64_t gpus;          /* devices, the same on each node; a fraction: its one device */
    uint16_t fraction;      /* shares of that device, 0: whole devices */
    uint16_t replicas;      /* a node */
};

/* What is held. Plain data, moved by assignment; parts are owned by it and freed by pool_release. */
struct alloc {
    struct alloc_part *parts; /* ascending first_node */
    uint32_t n_parts, cap_parts;
    int64_t shares;           /* in all */
    int64_t cpu_milli, mem_bytes; /* a replica */
};

enum place_result {
    PLACED,
    PLACE_LACKS,    /* fewer shares are free than it needs */
    PLACE_SHAPE,    /* enough are free, but not on nodes in its shape */
    PLACE_DOMAIN,   /* enough fit, but not in the topology that it requires */
};

struct pool *pool_create(const struct cluster_spec *);
void pool_destroy(struct pool *);

enum place_result pool_place(struct pool *, const struct place_request *, struct alloc *);
/* One replica on exactly this node (schedulers that choose the node themselves). */
enum place_result pool_place_on(struct pool *, uint32_t node, const struct place_request *, struct alloc *);
/* Exactly these free devices of a node, node by node in ascending order; pool_devices_taken when all are. For policies
 * that keep a map of devices of their own (GPUs by name). */
void pool_take_devices(struct pool *, uint32_t node, uint64_t gpus, struct alloc *);
void pool_devices_taken(const struct pool *, struct alloc *);
/* True if an empty pool with all nodes up could hold the request. O(groups). */
bool pool_could_ever(const struct pool *, const struct place_request *);
/* What pool_place would say; changes nothing. */
enum place_result pool_try(struct pool *, const struct place_request *);
void pool_release(struct pool *, struct alloc *);

/* Takes a node out of service or back; what is held there stays held. Returns the shares that left or entered the free
 * ones. A second call of the same kind changes nothing. */
int64_t pool_node_down(struct pool *, uint32_t node);
int64_t pool_node_up(struct pool *, uint32_t node);
bool pool_node_is_up(const struct pool *, uint32_t node);

int64_t pool_free_shares(const struct pool *);
int64_t pool_total_shares(const struct pool *);
uint32_t pool_nodes(const struct pool *);
uint32_t pool_node_group(const struct pool *, uint32_t node);
uint32_t pool_node_free_gpus(const struct pool *, uint32_t node);
/* Node of the i-th replica in an allocation. */
uint32_t alloc_node(const struct alloc *, uint32_t replica);
/* Shares held in one node group. */
int64_t alloc_shares_of(const struct pool *, const struct alloc *, uint32_t group);

#endif
