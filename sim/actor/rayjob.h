/* rayjob.h - KubeRay's RayJob controller, and the submitter's batch/v1 Job.
 *
 *   New -> Initializing --cluster ready--> Running --> Complete | Failed --(backoffLimit)--> Retrying -> New
 *             any of these --suspend--> Suspending -> Suspended --resume--> New
 *
 * One controller with one worker serves all RayJobs. It looks at an object when its RayCluster, its submitter Job or its
 * spec changes, and every 3 s; here it looks at the first of those times at which it would see something.
 * A retry is a new RayCluster. A RayJob is Running as soon as its submitter exists.
 *
 * K8sJobMode   a submitter pod runs `ray job submit` and follows the job; its Job has a back-off limit (2) and 10 s x 2^n
 *              between tries. A retry that finds the id unknown submits again, one that finds it follows it.
 *              Submitter failed: Failed, AppFailed when the job had failed, else SubmissionFailed. Submitter done and the
 *              job unknown: AppFailed. Submitter done and the job not terminal for 62 s: grace period exceeded.
 * HTTPMode     the controller submits itself, at the first look after Running; an unknown job is submitted again.
 * SidecarMode  the submitter is a container of the head pod, which is not replaced: head gone AppFailed, its container
 *              ended SubmissionFailed.
 *
 * When the head is lost without fault tolerance the job is unknown to the new one; the submitter ends with
 * `kuberay.submitter-exit-on-head-loss` (both outcomes of case 23 are legal). `kuberay.notices-head-loss` off: as before
 * 1.5, the RayJob stays Running (kuberay#2161). `kuberay.dashboard-reachable` off: nobody answers, as on the recorded KWOK
 * cluster: nothing is submitted and no job ends.
 *
 * Sources: orchestration facts §4.2, §4.4, §10; recorded kuberay/rayjob-*. Cost: O(1) a change.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ACTOR_RAYJOB_H
#define TRAINYARD_SIM_ACTOR_RAYJOB_H

#include "run/conditions.h"
#include "sim/actor/gcs.h"

#define RAYJOB_MODES(X) X(RJ_K8S_JOB, "K8sJobMode") X(RJ_HTTP, "HTTPMode") X(RJ_SIDECAR, "SidecarMode")
#define X_ENUM(e, ...) e,
enum rayjob_mode { RAYJOB_MODES(X_ENUM) N_RAYJOB_MODES };
#undef X_ENUM
extern const char *const rayjob_mode_names[N_RAYJOB_MODES];

/* The submitted Ray job as the head knows it. */
enum ray_app { APP_UNKNOWN, APP_RUNNING, APP_SUCCEEDED, APP_FAILED };

struct rayjob;

struct rayjob_ops {
    struct raycluster *(*make_cluster)(struct rayjob *);
    void (*submit)(struct rayjob *);  /* the driver starts on the head */
    void (*kill)(struct rayjob *);    /* the driver is to end, if it runs */
    void (*status)(struct rayjob *);  /* the status was written */
    void (*empty)(struct rayjob *);   /* something of it is gone; must not free it at once */
};

struct rayjob_spec {
    const struct rayjob_ops *ops;
    void *ctx;
    struct job *job;
    struct raycluster *shared;        /* a cluster that outlives it (clusterSelector), or NULL */
    enum rayjob_mode mode;
    uint32_t backoff_limit;           /* new clusters */
    uint32_t submitter_backoff;       /* pods of the submitter's Job */
    struct ray_shape submitter;
    int64_t deadline_ns, ttl_ns;      /* TIME_NEVER: none */
    bool shutdown, suspend;
};

/* batch/v1 Job with one pod. */
struct submitter {
    struct pod *pod;                  /* the present one */
    uint32_t failures, made;
    uint8_t state;                    /* enum submitter_state */
    int64_t finished_ns;              /* of its Job */
    struct event_id event;
};
enum submitter_state { SUBMITTER_NONE, SUBMITTER_ACTIVE, SUBMITTER_COMPLETE, SUBMITTER_FAILED };

struct rayjob_controller;

struct rayjob {
    struct work_item work;            /* first: the queue gives it back */
    struct rayjob_controller *controller;
    struct rayjob_spec spec;
    struct raycluster *cluster;
    struct gcs_listener listener;
    struct submitter submitter;
    uint32_t dying;                   /* clusters deleted, with pods left */
    uint32_t failed;                  /* attempts */
    struct pod *pods;                 /* of submitters, the finished ones too */
    uint8_t status, reason, at;
    uint8_t app;                      /* what is true on the head */
    bool closing;                     /* the object is deleted: all goes */
    int64_t start_ns, end_ns, seen_ns; /* of the attempt; of the job; last look */
    struct event_id poll;
};

struct rayjob_controller *rayjob_controller_create(struct kuberay *);
void rayjob_controller_destroy(struct rayjob_controller *);

struct rayjob *rayjob_create(struct rayjob_controller *, const struct rayjob_spec *);
/* Only when nothing of it is left: rayjob_idle(). */
void rayjob_destroy(struct rayjob *);
bool rayjob_idle(const struct rayjob *); /* no cluster and no pod of it exists */
/* Something that it watches has changed. */
void rayjob_look(struct rayjob *);
/* An owner's suspension of a RayJob that keeps its cluster is invalid (ValidationFailed, and the cluster stays). Queues do not take such
 * jobs, so where a policy admits they are suspended. */
bool rayjob_refuses_suspend(const struct rayjob *);
void rayjob_suspend(struct rayjob *, bool);
/* The object is deleted: driver, cluster and submitter go. */
void rayjob_delete(struct rayjob *);
/* The driver has ended: the head knows its result. */
void rayjob_app_ended(struct rayjob *, bool ok);

#endif
