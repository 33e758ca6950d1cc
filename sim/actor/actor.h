/* actor.h - the life cycle of the actor school: what hangs together in sim/actor/, and what a job of it has.
 *
 *   actor.c            the row of the table of life cycles: admission, stops, scripted actions, what a job waits for
 *   rayjob.c           RayJob controller and submitter          raycluster.c  RayCluster controller
 *   gcs.c              head and raylets                         placement_group.c  bundles
 *   ray_train.c        the worker group                         autoscaler.c  workers on demand
 *   shared.c           one long-lived cluster for all jobs      env.c  environment of the pods
 *
 * A job of kind RayCluster is only a cluster; every other kind is a RayJob (a neutral load is one whose cluster is shut
 * down at its end), on a cluster of its own or, with `ray_cluster: shared`, on the shared one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ACTOR_ACTOR_H
#define TRAINYARD_SIM_ACTOR_ACTOR_H

#include "sim/actor/ray_train.h"
#include "sim/actor/rayjob.h"

struct shared;
struct seats;
struct autoscaler;

struct actor { /* of a simulation */
    struct sim *sim;
    struct kuberay *kuberay;
    struct rayjob_controller *rayjobs;
    struct shared *shared; /* NULL: a cluster a job */
};

struct ray_run { /* live->state of a job */
    struct ray_train *train; /* first: ray_train.h. The driver, NULL: none */
    struct actor *actor;
    struct sim *sim;
    struct job *job;
    struct rayjob *rayjob;       /* NULL: the job is a RayCluster */
    struct raycluster *cluster;  /* its own, of now; NULL: none */
    struct autoscaler *autoscaler;
    struct pod_tally tally;
    struct ray_shape head, submitter;
    struct ray_group groups[MAX_ROLES];
    uint32_t n_groups;
    uint32_t waits[N_WAIT_REASONS + 1]; /* pods of the cluster by what keeps them */
    uint32_t clusters;           /* of a RayCluster job: those with pods left */
    struct event_id release, end;
    bool ready_seen;
    struct seats *seats;         /* shared.c: its slices of the shared cluster's pods */
};

extern const struct ray_train_ops own_seats;   /* pods of the job itself (seats.c) */
extern const struct ray_train_ops shared_seats; /* slices of the shared cluster's pods (shared.c) */

/* The seats' `ended` and `wants`. */
void actor_driver_ended(struct ray_train *, enum ray_train_state);
void actor_driver_wants(struct ray_train *);
/* Called by the shared cluster when it is ready for the first time: jobs wait for that. */
void actor_shared_ready(struct actor *);
/* Node intervals of the present placement group, for jobs.csv. */
void actor_note_nodes(struct ray_train *);

struct shared *shared_create(struct actor *);
void shared_destroy(struct shared *);
struct raycluster *shared_cluster(struct shared *);
struct autoscaler *shared_autoscaler(struct shared *); /* NULL: of fixed size */

void shared_settle(struct seats *); /* brings its job's sum of held shares up to now */

/* What the workload says of its pods. */
void actor_shapes(struct ray_run *);

struct autoscaler *autoscaler_create(struct raycluster *);
void autoscaler_destroy(struct autoscaler *);
/* A driver that may want more than is there begins or ends. */
void autoscaler_add(struct autoscaler *, struct ray_train *);
void autoscaler_drop(struct autoscaler *, struct ray_train *);
void autoscaler_wake(struct autoscaler *);

#endif
