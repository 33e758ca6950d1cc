/* train.h - the progress of a training job, in whole steps and nanoseconds.
 *
 * Both schools train the same way: ranks step together; a checkpoint falls on a whole step; a failure throws the job
 * back to the last durable checkpoint; what lies below the old high-water mark is redone work.
 *
 *     struct train *t = train_create(sim, job, &hooks);
 *     train_run(sim, t, shares, account);     // all ranks step from now on
 *     ... hooks.end / hooks.crash / hooks.hang are called ...
 *     train_halt(sim, t, keep);               // ranks stop; the time since train_run is booked, part by part
 *     train_roll_back(sim, t);                // to the last durable checkpoint; the next run redoes
 *
 * A step is not an event: one event stands for the next thing that matters (end, checkpoint, process fault). Of a step's
 * length, compute, communication and data are booked by cumulative floor, the last takes the remainder, so the sum is
 * exact. A job given as a duration has steps of its own length of 1 s (or the checkpoint grain), all compute; a load that
 * does not train books ACT_OTHER_LOAD.
 * Process faults come from a stream keyed by (job, kind, k) on accumulated training time, so they are paired across
 * approaches. Checkpoint time does not count as training time.
 * While it runs the shares are lifted from the ledger (ledger.h); train_halt lands them in `to`.
 *
 * Units: ns, steps, shares. Memory: ~200 bytes, in the simulation's heap; train_destroy frees it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_TRAIN_TRAIN_H
#define TRAINYARD_SIM_TRAIN_TRAIN_H

#include "sim/cluster/sim.h"

struct train_hooks {
    void (*end)(struct sim *, struct job *);               /* all steps are done */
    void (*crash)(struct sim *, struct job *, uint32_t rank); /* a process died; call train_halt */
    void (*hang)(struct sim *, struct job *, uint32_t rank);  /* a process hangs; call train_halt */
};

/* How the time of an attempt is spent per step at its present size; asked from models/ once a change of rate. */
struct step_parts { int64_t compute_ns, communication_ns, data_ns; };

struct train *train_create(struct sim *, struct job *, const struct train_hooks *);
void train_destroy(struct sim *, struct train *);

/* Ranks step from now on, with the shares (in clocked activity `from` of `account`) of `ranks` replicas. `speed_ppm`:
 * 1,000,000 is the nominal size; an elastic job at half size has 500,000. */
void train_run(struct sim *, struct train *, uint32_t account, enum activity from, int64_t shares, uint32_t ranks,
               uint32_t speed_ppm);
/* Ranks stop. The shares land in activity `to`. Work done since the last durable checkpoint stays until a roll back. */
void train_halt(struct sim *, struct train *, enum activity to);
/* Work since the last durable checkpoint is lost. Returns the steps lost. */
int64_t train_roll_back(struct sim *, struct train *);
/* A save right now, durable at once (a graceful preemption); false when the job has no checkpoints. */
bool train_save_now(struct sim *, struct train *);

bool train_running(const struct train *);
bool train_done(const struct train *);
int64_t train_load_ns(const struct train *); /* time to load the checkpoint that it would resume from; 0 without one */
int64_t train_remaining_ns(const struct sim *, const struct train *); /* at nominal size, without checkpoints */

#endif
