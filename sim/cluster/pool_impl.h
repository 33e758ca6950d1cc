/* pool_impl.h - the inside of a pool, shared by pool.c (state and index) and place.c (choice of nodes).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_CLUSTER_POOL_IMPL_H
#define TRAINYARD_SIM_CLUSTER_POOL_IMPL_H

#include "sim/cluster/bitmap.h"
#include "sim/cluster/pool.h"

struct pool_node {
    uint64_t free_gpus; /* whole devices that are free */
    uint16_t *used;     /* shares used of each device that is shared, 0: not shared; NULL: none ever was */
    int64_t cpu_milli, mem_bytes; /* free; INT64_MAX: not limited */
    uint16_t group;
    uint8_t n_free;     /* popcount of free_gpus */
    bool up;
};

struct pool_group {
    uint32_t first, count, gpus;
    struct bitmap *by_free;  /* gpus + 1 sets of up nodes, by free devices */
    uint32_t *n_by_free;
    struct bitmap shared;    /* up nodes with a device that is shared and not full */
    int64_t free_shares;     /* of up nodes */
    int64_t counted_shares;  /* held by PLACE_COUNT */
    bool limits_cpu, limits_mem;
    int64_t node_cpu, node_mem;
};

struct pool {
    const struct cluster_spec *spec;
    struct pool_node *nodes;
    struct pool_group *groups;
    uint32_t n_nodes, n_groups;
    int64_t free_shares, total_shares;
    struct alloc_part *spare; /* one array of SPARE_PARTS, kept from the last release: most jobs need no more */
};
enum { SPARE_PARTS = 4 };

/* Takes one replica on a node; the caller has checked that it fits. Adds it to the allocation. */
void pool_take(struct pool *, uint32_t node, const struct place_request *, struct alloc *);
/* Sorts the parts and joins those that are alike. Call when all replicas are taken. */
void pool_alloc_finish(const struct pool *, struct alloc *);
/* Replicas of a request that fit on a node now. */
uint32_t pool_node_slots(const struct pool *, uint32_t node, const struct place_request *);
/* True when CPU or memory may decide in this group, so that counts of free GPUs are not enough. */
bool pool_checks_nodes(const struct pool_group *, const struct place_request *);

#endif
