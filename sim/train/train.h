/* train.h - the progress of a training job, in whole steps and nanoseconds.
 *
 * Both schools train the same way: ranks step together; a checkpoint falls on a whole step; a failure throws the job
 * back to the last durable checkpoint; what lies below the old high-water mark is redone work.
 *
 *     struct train *t = train_create(sim, job, &hooks);
 *     hold_lift(sim, &pod_hold) ...            // the owner lifts the shares of all ranks,
 *     train_run(sim, t, &who, 1, nodes, ranks, ppm);  // all ranks step from now on
 *     ... hooks.end / hooks.crash / hooks.hang are called ...
 *     train_halt(sim, t);                     // ranks stop; the time since train_run is booked, part by part,
 *     hold_land(sim, &pod_hold, ACT_...) ...  // and the owner lands the shares
 *     train_roll_back(sim, t);                // to the last durable checkpoint; the next run redoes
 *
 * A step is not an event: one event stands for the next thing that matters (end, checkpoint, process fault). Of a step's
 * length, compute, communication and data are booked by cumulative floor, the last takes the remainder, so the sum is
 * exact. A job given as a duration has steps of its own length of 1 s (or the checkpoint grain), all compute; a load that
 * does not train books ACT_OTHER_LOAD.
 * A link that is down on one of its nodes (sim/cluster/calendar.h) stalls the ranks: they hold their GPUs as ACT_STALLED and
 * count as running, as in a save; a save under way is finished first.
 * Process faults come from a stream keyed by (job, kind, k) on accumulated training time, so they are paired across
 * approaches: crashes and hangs a rank, and crashes of the job as a whole. Checkpoint time does not count as training time.
 * A blocking save books ACT_CHECKPOINT; the ranks count as running. An asynchronous one blocks for a while and is durable
 * later; a failure before that falls back to the save before, and the next one waits for it (save.h: how long, and whom it
 * shares the store with).
 *
 * Units: ns, steps, shares. Memory: ~200 bytes and 4 a rank, in the simulation's heap; train_destroy frees it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_TRAIN_TRAIN_H
#define TRAINYARD_SIM_TRAIN_TRAIN_H

#include "sim/cluster/sim.h"

/* Called with the ranks halted already (train_halt has been done); the owner lands the shares. */
struct train_hooks {
    void (*end)(struct sim *, struct job *);               /* all steps are done */
    void (*crash)(struct sim *, struct job *, uint32_t rank); /* a process died */
    void (*hang)(struct sim *, struct job *, uint32_t rank);  /* a process hangs */
};

/* Shares that train, by ledger account (one a node group). */
struct train_shares { uint32_t account; int64_t shares; };
enum { TRAIN_MAX_ACCOUNTS = 8 };

struct train *train_create(struct sim *, struct job *, const struct train_hooks *);
void train_destroy(struct sim *, struct train *);

/* Ranks step from now on; a rank here is a process group of one pod. `nodes`: where each lies, in rank order (copied).
 * `speed_ppm`: 1,000,000 is the nominal size; an elastic job at half size has 500,000. */
void train_run(struct sim *, struct train *, const struct train_shares *, uint32_t n, const uint32_t *nodes,
               uint32_t ranks, uint32_t speed_ppm);
/* Ranks stop; what they did since train_run is booked. Work since the last durable checkpoint stays until a roll back. */
void train_halt(struct sim *, struct train *);
/* Work since the last durable checkpoint is lost. Returns the steps lost. */
int64_t train_roll_back(struct sim *, struct train *);

/* A link of a node that it has ranks on went down or came back: the ranks stall, or step again. */
void train_links(struct sim *, struct train *);

bool train_running(const struct train *);
bool train_done(const struct train *);

/* Before the ranks step: loads the checkpoint that they resume from onto these nodes. ns that it takes, 0 without one;
 * TRAIN_LOADING: it shares the network, and loaded(sim, arg) is called when it is there, unless train_load_stop comes
 * first. A checkpoint on disks of nodes that were lost, or that these ranks do not stand on, is none: the work begins anew. */
enum { TRAIN_LOADING = -1 };
int64_t train_load(struct sim *, struct train *, const uint32_t *nodes, uint32_t ranks, event_fn *loaded, void *arg);
void train_load_stop(struct sim *, struct train *); /* NULL is fine */

#endif
