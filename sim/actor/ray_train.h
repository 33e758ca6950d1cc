/* ray_train.h - Ray Train v2: one worker group on a Ray cluster, from the driver's start to its end.
 *
 *   Initializing -> Scheduling --placement group, actors--> Running: process group, checkpoint, steps -> Finished
 *                       ^  |  start time-out (60 s) of the placement group: it is        |  failure noticed
 *                       |  v  removed and asked for again, for ever                      v
 *                       Rescheduling            <---- Restarting <---- failures <= max_failures, else Errored
 *                                               <---- Resizing: every 60 s, when more workers would fit
 *
 * The whole group restarts from the last checkpoint, after a failure and after a resize. What happens in a group is noticed by
 * the controller's poll (2 s), its end too: at once for a dead process; after the TCP reset for peers of a container that
 * ended; when the GCS gives the node up for a node that is silent; after 600 s for a worker that hangs.
 * Elastic groups (approach `elastic`: "ray") begin with what there is room for once that is the minimum, and look for more
 * every 60 s. They count by nodes as they were at the coordinator's last look (`ray-train.node-look`, 20 s): after the loss of
 * a node a group asks for as many as before, in vain, until the start time-out.
 * The driver runs on the head: it dies with it.
 *
 * What trains is train.h's. Where the shares of the workers are booked is the business of struct ray_seats_ops: pods of the
 * job itself, or slices of a shared cluster's pods (shared.h).
 *
 *     run->train = ray_train_create(gcs, job, groups, n, &ops, ctx); // live->state begins with this pointer
 *     ray_train_begin(run->train);
 *     ops.ended(t, state) ... ray_train_stop(run->train);
 *
 * Sources: orchestration facts §4.6, §4.5; constants ray.*, ray-train.* of the stack. Cost: O(workers) a group start or
 * stop, O(1) else; a group that runs undisturbed has no events of its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ACTOR_RAY_TRAIN_H
#define TRAINYARD_SIM_ACTOR_RAY_TRAIN_H

#include "run/conditions.h"
#include "sim/actor/gcs.h"
#include "sim/actor/placement_group.h"
#include "sim/train/train.h"

struct ray_train;

struct ray_train_ops {
    /* Where the workers' shares are booked; the group's bundles are t->pg's. */
    void (*enter)(struct ray_train *, enum activity);
    uint32_t (*lift)(struct ray_train *, struct train_shares *); /* returns the number of accounts */
    void (*land)(struct ray_train *, enum activity);
    void (*seated)(struct ray_train *);   /* the placement group is there */
    void (*unseated)(struct ray_train *); /* ... is about to be removed */
    void (*wants)(struct ray_train *);    /* it may want other bundles than before: for the autoscaler */
    /* The driver is over: all steps done, failures beyond the limit, or it died with the head. */
    void (*ended)(struct ray_train *, enum ray_train_state);
};

struct ray_train {
    struct gcs *gcs;
    struct sim *sim;
    struct job *job;
    const struct ray_train_ops *ops;
    void *ctx;
    struct gcs_listener listener;
    struct placement_group *pg;
    uint32_t workers;          /* of the present group */
    uint32_t min, max;         /* equal: not elastic */
    uint32_t nominal;          /* workers of the job as it is declared */
    uint32_t told;             /* ranks that the records know, and not as ended */
    struct ray_group groups[MAX_ROLES]; /* what its workers ask for */
    uint32_t n_groups;
    uint32_t failures;
    uint8_t state, wait;
    bool asks;                 /* the driver has begun to ask for workers */
    bool lifted, driver_dead, failing, done; /* done: all steps are, and the controller has not seen it */
    int64_t poll_base_ns;      /* the controller polls every ray-train.poll from here on */
    int64_t group_ns;          /* when the present group was there */
    struct event_id timeout;   /* of a placement group */
    struct event_id step;      /* of a start: actors, process group, checkpoint; of a failure or the end: when it is noticed */
    struct event_id resize;
};

/* The job's struct train is used and made when there is none; its progress outlives the driver. The life cycle's state of
 * the job (live->state) must begin with a pointer to the present driver, since train.h calls back with the job. */
struct ray_train *ray_train_create(struct gcs *, struct job *, const struct ray_group *, uint32_t n_groups,
                                   const struct ray_train_ops *, void *ctx);
void ray_train_begin(struct ray_train *);
/* The driver is killed, or has ended: lets go of all and is freed. Steps since the last checkpoint are lost. */
void ray_train_stop(struct ray_train *);
void ray_train_free(struct ray_train *); /* the simulation is over */
/* The simulation ends: the ranks' time is booked. */
void ray_train_halt(struct ray_train *);
/* A rank's process dies or hangs now (scripted). False: there is no such rank in a group that runs. */
bool ray_train_fault(struct ray_train *, uint32_t rank, bool hang);
/* Bundles that it would like to have and has not; for the autoscaler. */
uint32_t ray_train_wants(const struct ray_train *);

#endif
