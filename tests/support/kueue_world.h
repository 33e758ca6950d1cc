/* kueue_world.h - small Kueue configurations written as text, for tables of test rows.
 *
 *     cohort all [in PARENT] [QUOTA]
 *     queue  a [in COHORT] QUOTA [strict] [within lower|newer] [reclaim lower|any] [borrow] [max P]
 *            [next-borrow] [stop-preempt] [prefer-preempt]
 *     run    w a 4 [prio P] [flavors 01]          admitted, by cycles of its own
 *     wait   w a 4 [prio P] [min M] [flavors 01]  pending; 4 is the number of pods of one unit
 *
 * QUOTA is NOMINAL[/BORROWING[/LENDING]] of one resource, "-" for no limit; several flavors are joined by commas:
 * "4/2,3/-/0". Lines end with ';' or '\n'. Times: the i-th line stands at second i, so later lines are newer.
 * Text comes from the test itself: an error in it fails the test.
 *
 *     struct kueue_world *w = kueue_world("queue a 2; run x a 2; wait y a 1 prio 1", NULL);
 *     kueue_world_cycle(w);      // "admit y(f0) evict x:InClusterQueue<y block z:NoFit": in order, one blank between
 *     kueue_world_free(w);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_KUEUE_WORLD_H
#define TRAINYARD_TESTS_SUPPORT_KUEUE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/queue/kueue/kueue.h"

#define WORLD_NAMES 2048

struct kueue_world {
    struct kueue *k;
    char *cohorts[64], *queues[64], *workloads[WORLD_NAMES];
    uint32_t ids[WORLD_NAMES]; /* of workloads */
    uint32_t n_cohorts, n_queues, n_workloads;
    int64_t now_ns;
    char said[65536]; /* by the last cycle */
};

/* `options`: the gates; NULL: priority sorting and partial admission on, hashing off. */
struct kueue_world *kueue_world(const char *text, const struct kueue_options *options);
void kueue_world_add(struct kueue_world *w, const char *text);
void kueue_world_free(struct kueue_world *w);

/* One cycle, a millisecond later. Admissions name flavors of more than one, and a pod count that was cut. */
const char *kueue_world_cycle(struct kueue_world *w);

/* Cycles until nothing changes; evicted workloads are released between cycles. Gives the last cycle that said other
 * than "block". *n counts the cycles, *evictions the evictions. */
void kueue_world_settle(struct kueue_world *w, int *n, int *evictions);

uint32_t kueue_world_id(const struct kueue_world *w, const char *workload);
bool kueue_world_admitted(const struct kueue_world *w, const char *workload);
void kueue_world_finish(struct kueue_world *w, const char *workload);
void kueue_world_release(struct kueue_world *w, const char *workload);
void kueue_world_wait(struct kueue_world *w, double s); /* time passes, batches run */

#endif
