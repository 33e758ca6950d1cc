/* quota.h - quota and usage of a forest of cohorts and queues.
 *
 * Each node (a cohort, or a queue as a leaf) has a cell per flavor-resource pair ("fr"). Per cell, as in Kueue's
 * pkg/cache/scheduler/resource_node.go:
 *
 *   subtree   = nominal + sum over children of (child.subtree - child.local)
 *   local     = max(0, subtree - lending limit), 0 without a limit: what the node never lends
 *   usage     : of a queue, what its workloads hold; of a cohort, sum over children of
 *               max(0, child.usage - child.local)
 *   available = subtree - usage at a root; else max(0, local - usage) + what the parent has, the latter cut to
 *               (subtree - local) - max(0, usage - local) + borrowing limit
 *   potential = the same with no usage: the largest request that can ever fit
 *
 * quota_add and quota_remove are exact inverses in any order, since a parent's usage is a function of its children's:
 * simulations on the live forest leave no trace. May be negative: availability after quota was taken away.
 *
 * Cost: O(depth) a call, and O(depth) more when a queue begins or ceases to use more than its nominal quota;
 * quota_rebuild O(nodes x frs) of the forest.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_KUEUE_QUOTA_H
#define TRAINYARD_SIM_QUEUE_KUEUE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "sim/queue/kueue/kueue.h"

struct quota_cell {
    int64_t nominal, borrowing_limit, lending_limit;
    int64_t subtree, local, usage;
    int64_t above; /* of a cohort: queues below that use more than their nominal quota, where victims may be found */
};

struct quota_node {
    uint32_t parent; /* KUEUE_NONE at a root */
    uint32_t root;
    uint32_t first_child, next_sibling; /* in order of addition */
    uint32_t last_child;
    uint16_t height; /* of the node above its deepest leaf; a cohort without children is 0 */
    bool leaf;       /* a queue */
    uint64_t state;  /* of a root: see quota_state */
};

struct quota {
    uint32_t n_frs;
    ARRAY(struct quota_node) nodes;
    ARRAY(struct quota_cell) cells; /* node x n_frs */
    uint64_t rebuilds;
};

/* One entry of a request or of a workload's usage. */
struct quota_use {
    uint16_t fr;
    int64_t amount;
};

void quota_init(struct quota *q, uint32_t n_frs);
void quota_free(struct quota *q);
uint32_t quota_add_node(struct quota *q, uint32_t parent, bool leaf);
void quota_set(struct quota *q, uint32_t node, uint16_t fr, struct kueue_quota quota);

/* After quota_set or quota_add_node: subtree quotas and cohort usages of the whole forest, from leaves up. */
void quota_rebuild(struct quota *q);

static inline struct quota_cell *quota_cell(const struct quota *q, uint32_t node, uint16_t fr)
{
    return &q->cells.v[(size_t)node * q->n_frs + fr];
}

static inline bool quota_has_parent(const struct quota *q, uint32_t node)
{
    return q->nodes.v[node].parent != KUEUE_NONE;
}

void quota_add(struct quota *q, uint32_t leaf, uint16_t fr, int64_t amount);
void quota_remove(struct quota *q, uint32_t leaf, uint16_t fr, int64_t amount);

int64_t quota_local_available(const struct quota *q, uint32_t node, uint16_t fr);
int64_t quota_available(const struct quota *q, uint32_t node, uint16_t fr);
int64_t quota_potential(const struct quota *q, uint32_t node, uint16_t fr);

/* Would the node with `amount` more use above its own quota (a queue: nominal; a cohort: its subtree's)? */
bool quota_borrows_with(const struct quota *q, uint32_t node, uint16_t fr, int64_t amount);

/* Tells states of the node's tree apart: equal quotas and equal usages of all its queues give the same number, others a
 * different one (but for 1 in 2^64), so an answer that depends on nothing else may be kept with it. */
static inline uint64_t quota_state(const struct quota *q, uint32_t node)
{
    return q->nodes.v[q->nodes.v[node].root].state;
}

/* No pair of `uses` is above the node's quota. */
bool quota_within(const struct quota *q, uint32_t node, uint32_t n, const struct quota_use *uses);

/* All of `uses` are available to the queue at once. */
bool quota_fits(const struct quota *q, uint32_t node, uint32_t n, const struct quota_use *uses);

/* The height of the lowest subtree whose quota takes `amount` more of the queue (0: the queue alone), else that of the
 * whole tree. *smaller: the subtree is not the whole tree (Kueue's FindHeightOfLowestSubtreeThatFits). */
uint16_t quota_height_that_fits(const struct quota *q, uint32_t node, uint16_t fr, int64_t amount, bool *smaller);

#endif
