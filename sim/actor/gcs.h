/* gcs.h - Ray inside the pods: the head's GCS, and a raylet in each worker pod.
 *
 * A raylet joins `ray.start` after its container started, as soon as the GCS is there; from then on its resources are
 * one node of the cluster's pool (a pool of its own over Ray nodes: node i is the i-th Ray worker), from which placement
 * groups take bundles with the code that places jobs on machines.
 *
 *     raylet:  starting --joined--> alive --container ends, node lost--> stopped --noticed--> dead
 *
 * Noticed: at once when the pod is deleted (the raylet drains); after `ray.health-detect` when its connection is refused
 * (5 misses x 3 s), `ray.health-detect-dropped` when packets vanish with the node (5 x (3 + 10) s); or when the same pod's
 * raylet registers again.
 * GCS lost: without fault tolerance all state is gone; when the head is back the old raylets are strangers, die and are
 * restarted by the kubelet. With it they reconnect within `ray.gcs-reconnect` (600 s, set by KubeRay; without fault
 * tolerance Ray's own 60 s), and what ran on them has gone on.
 *
 * Listeners hear of every change in the order in which they were added.
 * Sources: orchestration facts §4.4, §4.5. Cost: O(listeners) a change. Owned by its RayCluster.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ACTOR_GCS_H
#define TRAINYARD_SIM_ACTOR_GCS_H

#include "sim/actor/raycluster.h"

enum raylet_state { RAYLET_STARTING, RAYLET_WAITING /* for the GCS */, RAYLET_ALIVE, RAYLET_STOPPED, RAYLET_NONE };

struct raylet {
    struct gcs *gcs;
    struct ray_pod *pod; /* NULL: the pod is gone, its death not yet noticed */
    uint32_t node;       /* in the cluster's pool */
    uint8_t state;
    struct event_id event;
    int64_t joined_ns, dead_ns; /* last; -1: never */
};

enum gcs_change {
    GCS_UP,      /* the GCS answers */
    GCS_DOWN,    /* it does not; if driver_lost, all drivers on the head died with it */
    GCS_JOINED,  /* a raylet is alive */
    GCS_STOPPED, /* a raylet and its workers are gone, unnoticed */
    GCS_DEAD,    /* ... noticed: its bundles are lost */
};

struct gcs_listener {
    struct gcs_listener *next;
    void (*changed)(struct gcs_listener *, enum gcs_change, struct raylet *);
};

struct pg_manager;

struct gcs {
    struct raycluster *cluster;
    struct sim *sim;
    struct pool *pool;              /* over Ray nodes */
    struct cluster_spec nodes;      /* of that pool: a node group a worker group */
    struct raylet *raylets;         /* by node */
    uint32_t n_nodes;
    struct pg_manager *pgs;
    struct gcs_listener *first, *last;
    bool up, head_running, driver_lost;
    uint32_t generation;            /* of the GCS's state: a new one knows nothing */
    struct event_id event;          /* head starts */
    struct event_id reconnect;
    int64_t look_base_ns;           /* of the coordinator: -1: there is none yet */
};

struct gcs *gcs_create(struct raycluster *);
void gcs_destroy(struct gcs *);
void gcs_listen(struct gcs *, struct gcs_listener *);
void gcs_unlisten(struct gcs *, struct gcs_listener *);

/* Called by raycluster.c: what happens to the containers. */
void gcs_head_started(struct gcs *);
void gcs_head_stopped(struct gcs *);
/* Only the GCS process dies and comes back; the driver and the raylets live on with fault tolerance. */
void gcs_process_crashed(struct gcs *);
void gcs_worker_created(struct gcs *, struct ray_pod *);
void gcs_worker_started(struct gcs *, struct ray_pod *);
/* Ray Train's autoscaling coordinator, which comes with the first driver, looks every `ray-train.node-look` which nodes the GCS
 * has; scaling policies count with those until the next look. */
void gcs_look(struct gcs *);                 /* a driver is at work */
bool gcs_counts(const struct raylet *);      /* it was there at the last look */
int64_t gcs_next_look(const struct gcs *);
uint32_t gcs_node_shares(const struct gcs *, uint32_t node);
enum raylet_end { RAYLET_DRAINED, RAYLET_REFUSED, RAYLET_DROPPED };
void gcs_worker_stopped(struct gcs *, struct ray_pod *, enum raylet_end);
void gcs_worker_gone(struct gcs *, struct ray_pod *);

#endif
