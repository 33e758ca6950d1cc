/* raycluster.h - KubeRay's RayCluster controller, as it really reconciles.
 *
 * One controller with one worker (reconciler.h) serves all clusters of a simulation. A reconcile does, in this order:
 *
 *     head Service -> head pod -> per worker group: delete unhealthy pods | delete what the autoscaler named |
 *     create what is missing, one pod a call (about 28 ms each) -> write the status if it changed
 *
 * Nothing waits for the head: workers are created in the same reconcile and wait in their init container until the GCS
 * answers. A pod that is Failed or Succeeded is deleted; while it or any other pod is still terminating it counts as
 * existing, so nothing replaces it; it is replaced once it is gone. A container that ends in a running pod with restart
 * policy Always is the kubelet's business. Deleting unhealthy pods ends the reconcile of the pods: creation comes with
 * the next one, which the disappearance of the pod causes.
 *
 * Status. HeadPodReady follows the head pod (reason HeadPodRunningAndReady, Unknown, HeadPodNotFound).
 * RayClusterProvisioned and `ready` are sticky: True once all pods were Running and Ready at the same time, and never
 * False again except by a suspension. Suspending -> all pods deleted -> Suspended -> (resume) -> pods created again.
 *
 *     struct kuberay *k = kuberay_create(sim);
 *     struct raycluster *rc = raycluster_create(k, &(struct raycluster_spec){ .job = job, .groups = g, .n_groups = 1, ... });
 *     raycluster_scale(rc, 0, 3);  raycluster_suspend(rc, true);
 *     raycluster_delete(rc);                    // pods are garbage-collected; ops->empty when the last is gone
 *
 * Sources: orchestration facts §4.1 and §10; recorded kuberay/raycluster-*, rates/raycluster-*, nodeloss. Constants:
 * kuberay.* of the stack. The head's GCS and the raylets are gcs.h.
 * Ownership: a cluster lives until its ops->empty has returned (deleted clusters) or kuberay_destroy. Memory: about 200
 * bytes a pod. Cost: a change of a pod O(1), a reconcile O(pods that it creates or deletes).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ACTOR_RAYCLUSTER_H
#define TRAINYARD_SIM_ACTOR_RAYCLUSTER_H

#include "run/conditions.h"
#include "sim/actor/reconciler.h"
#include "sim/kube/kube.h"

enum condition_status { CONDITION_NONE, CONDITION_FALSE, CONDITION_TRUE };

struct ray_condition { uint8_t status, reason; };

/* What its creator sees in the object's status. */
struct raycluster_status {
    struct ray_condition conditions[N_RAYCLUSTER_CONDITIONS];
    uint32_t ready_workers, available_workers;
    bool ready, suspended; /* .status.state; `ready` is sticky */
};

/* Shape of a pod: what it asks for. */
struct ray_shape {
    uint32_t shares;
    int64_t cpu_milli, mem_bytes;
    uint64_t groups; /* node groups that may serve it */
};
struct ray_group { /* a worker group */
    struct ray_shape shape;
    uint32_t replicas, min, max;
};

struct kuberay;
struct raycluster;
struct gcs;
struct ray_pod;

struct raycluster_ops {
    void (*status)(struct raycluster *);                               /* the status was written */
    void (*pod)(struct raycluster *, struct ray_pod *, enum pod_change); /* a pod changed; before POD_GONE frees it */
    void (*empty)(struct raycluster *);                                /* deleted, and the last pod is gone */
};

struct raycluster_spec {
    const struct raycluster_ops *ops;
    void *ctx;
    struct job *job;             /* whose pods they are; NULL: a shared cluster's */
    struct pod_tally *tally;     /* of that job; NULL: not watched */
    struct ray_shape head;
    struct ray_group groups[MAX_ROLES];
    uint32_t n_groups;
    int32_t priority;
    bool autoscaling, suspend, gcs_ft;
    bool head_final;             /* the head is not replaced (RayJob SidecarMode) */
};

/* A pod of a cluster. */
struct ray_pod {
    struct raycluster *cluster;
    struct pod *pod;
    struct ray_pod *next, *prev; /* of its cluster: by creation */
    struct raylet *raylet;       /* gcs.h; NULL: the head */
    uint32_t group;
    uint32_t node;               /* shared.c: its Ray node while its raylet lives */
    bool head, running, ready, failed; /* as counted; failed: and not yet asked to go */
    bool delete_asked, removing;       /* by the controller; named by the autoscaler */
};

struct raycluster {
    struct work_item work; /* first: the queue gives it back */
    struct kuberay *kuberay;
    struct raycluster_spec spec;
    struct raycluster_status status;
    struct gcs *gcs;
    struct ray_pod *head, *first, *last; /* all pods, the head too */
    /* workers by group: existing; of these named by the autoscaler; asked to go by the controller and still there */
    uint32_t pods[MAX_ROLES], removing[MAX_ROLES], deleting[MAX_ROLES];
    uint32_t n_workers, n_running, n_ready;
    uint32_t n_failed;                   /* workers Failed or Succeeded, not yet asked to go */
    uint32_t heads_made, workers_made;   /* numbers of the pods' names */
    uint32_t gang;
    uint32_t name;                       /* number of the cluster in the run */
    bool service, head_created, deleted;
    /* the reconcile in progress */
    uint8_t at;
    bool error, head_left, head_left_ready; /* the head went while it was on, and how it was then */
    struct ray_pod *leaving;             /* its deletion is being asked for */
    uint32_t group_at, to_create, removed;
    struct event_id requeue;
    struct raycluster *next_all, *prev_all;
};

struct kuberay *kuberay_create(struct sim *);
void kuberay_destroy(struct kuberay *);
struct sim *kuberay_sim(struct kuberay *);
struct kube_client *kuberay_client(struct kuberay *);

struct raycluster *raycluster_create(struct kuberay *, const struct raycluster_spec *);
void raycluster_delete(struct raycluster *);
/* Wanted replicas of a group, kept within its bounds. */
void raycluster_scale(struct raycluster *, uint32_t group, uint32_t replicas);
/* The autoscaler names a worker to go and lowers the replicas by one. */
void raycluster_remove_worker(struct raycluster *, struct ray_pod *);
void raycluster_suspend(struct raycluster *, bool);
uint32_t raycluster_wanted(const struct raycluster *); /* workers of all groups */

#endif
