/* queue.h - the order in which a queue's workloads become heads.
 *
 * Order: the preempting head (BestEffortFIFO), higher priority, older, smaller uid (pkg/cache/queue/cluster_queue.go).
 * Every pending workload is in its shape's active or parked heap. Heads are looked at in place and leave their heap
 * only when they are admitted, parked or gone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_KUEUE_QUEUE_H
#define TRAINYARD_SIM_QUEUE_KUEUE_QUEUE_H

#include "sim/queue/kueue/core.h"

/* Puts a workload into its queue, active; parked when equivalence hashing has parked its shape. */
void queue_push(struct kueue *k, uint32_t workload);

/* Takes a pending workload out, wherever it is. */
void queue_take(struct kueue *k, uint32_t workload);

/* Parks the queue's head; its whole shape when `whole_shape`. */
void queue_park(struct kueue *k, uint32_t workload, bool whole_shape);

/* The next head, or KUEUE_NONE. */
uint32_t queue_head(const struct kueue *k, uint32_t queue);

/* Everything parked is active again. True when there was something. */
bool queue_unpark(struct kueue *k, uint32_t queue);
bool tree_unpark(struct kueue *k, uint32_t tree);

/* After a change of the queue's heads or of its stop policy. */
void queue_refresh(struct kueue *k, uint32_t queue);

/* The tree needs a cycle (true), or its last cycle changed nothing (false). */
void tree_set_dirty(struct kueue *k, uint32_t tree, bool dirty);

/* All that a cycle changed is with which flavor some heads begin next, or who is the preempting head: worth another
 * cycle, but such a head may go round for ever (Kueue's does), so not without end. */
void tree_moved_on(struct kueue *k, uint32_t tree);

/* Parked workloads of the tree come back one batch period from now, unless a batch is already on its way. */
void tree_arm_retry(struct kueue *k, uint32_t tree, int64_t now_ns);

/* The lists of workloads that hold quota. */
void admitted_insert(struct kueue *k, uint32_t workload);
void admitted_remove(struct kueue *k, uint32_t workload);

#endif
