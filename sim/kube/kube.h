/* kube.h - pods, and what Kubernetes itself does with them: API clients, scheduler, kubelets, node life cycle.
 *
 * Both schools create pods through here; a controller (operator/, actor/) owns its pods and hears of every change that a
 * watch would show it. Objects are as a controller sees them, so the semantics of real controllers can be written down as
 * they are: a pod has a phase, may be bound, ready, terminating; its container has restarts and exit codes.
 *
 *     struct pod *p = kube_pod_create(k, &(struct pod_spec){ .owner = &ops, .ctx = ctx, .job = job, .name = "j-worker-0", ... });
 *     kube_pod_exit(k, p, 137);          // the program in its container ends (the owner's training says when)
 *     kube_pod_delete(k, p, grace_ns);   // deletion requested: terminating, gone after the grace (never on a lost node)
 *
 * Life of a pod:
 *   Pending (unbound) --scheduler binds--> Pending (bound) --image, init container, start--> Running [--probe--> Ready]
 *   --exit--> restart in place (restart policy, crash back-off) | Succeeded | Failed;   deletion: terminating --> gone
 *
 *   api client   each controller's own token bucket (QPS, burst): kube_client_call returns when the n-th call goes out
 *   scheduler    one pod a cycle, priority then creation; binds through its own bucket; a pod that does not fit backs
 *                off (1 s doubling to 10 s) and is retried when something that may help happens; coscheduling: Permit
 *                with minMember, 60 s, reject at > 10 % missing (gang.h)
 *   kubelet      image pull (serial a node, cached or not), container start, crash back-off 10 s x 2^n <= 300 s with
 *                reset after 10 min of running, readiness
 *   nodes        lost: lease expires (grace 50 s, seen at the next 5 s check) -> Ready False on its pods, NoExecute taint
 *                (0.1 nodes/s) -> after the toleration (300 s) deletion is requested -> terminating until the node is back
 *                or the pod is force-deleted
 *
 * Every wait of a pod is an event; nothing polls. The pod's shares are held (pool, ledger) from binding until it is gone
 * or finished: activities by state (image pull, container start, wait for head, back-off, terminating ...); while the job
 * trains, its shares are lifted by train.h.
 * Cost: O(1) a change plus O(log pending) in the scheduler. Memory: about 200 bytes a pod, freed when it is gone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_KUBE_KUBE_H
#define TRAINYARD_SIM_KUBE_KUBE_H

#include "sim/cluster/sim.h"
#include "sim/engine/bucket.h"

struct kube;
struct pod;

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED };

/* What a watch shows. */
enum pod_change {
    POD_CREATED, POD_BOUND, POD_STARTED /* container runs */, POD_READY, POD_NOT_READY, POD_EXITED /* container ended */,
    POD_RESTARTED, POD_PHASE /* Succeeded or Failed */, POD_TERMINATING, POD_GONE,
};

struct pod_owner_ops {
    /* The pod has just changed. May call any kube_ function. After POD_GONE the pod is freed. */
    void (*changed)(struct kube *, struct pod *, enum pod_change);
    /* Its init container asks whether what it waits for is there (the master's name, the GCS). NULL: no init container.
     * The owner calls kube_pod_init_done when it becomes true; polling grain: init_poll_ns. */
    bool (*init_ready)(struct kube *, struct pod *);
};

struct pod_spec {
    const struct pod_owner_ops *ops;
    void *ctx;
    struct job *job;
    const char *name;        /* lives as long as the pod; NULL: made from job, role and index when asked for */
    enum role role;
    uint32_t index;
    uint32_t shares;
    int64_t cpu_milli, mem_bytes;
    uint64_t groups;
    enum restart_policy restart; /* of the pod: ALWAYS, ON_FAILURE or NEVER */
    int32_t priority;
    int64_t init_poll_ns, init_tries; /* with ops->init_ready */
    int64_t ready_delay_ns;  /* from start to Ready when a probe is set; 0: at once */
    uint32_t gang;           /* pod group id from kube_gang_create, 0: none */
    bool has_image;          /* false: no pull (image in cache for sure) */
};

struct pod {
    struct pod_spec spec;
    struct pod *next, *prev;           /* of its owner's list, free for the owner */
    struct pod *node_next, *node_prev; /* kube's: pods of a node */
    void *owner_data;
    uint32_t id;                       /* unique in the run, by creation */
    uint32_t node;                     /* when bound */
    uint32_t restarts;                 /* of the main container */
    uint32_t init_restarts;
    int32_t exit_code;                 /* of the last exit; -1 none */
    uint8_t phase;
    bool bound, started, ready, terminating, node_lost, has_container_status;
    int64_t created_ns, bound_ns, started_ns;
    struct kube_pod *impl;             /* kube's own */
};

struct kube *kube_create(struct sim *);
void kube_destroy(struct kube *);

/* An API client with its own rate limit. call_ns: latency of one call. */
struct kube_client { struct bucket bucket; int64_t call_ns; };
/* The time at which a call issued now is done. */
int64_t kube_client_call(struct kube *, struct kube_client *);

struct pod *kube_pod_create(struct kube *, const struct pod_spec *);
/* Deletion request. grace_ns < 0: the kubelet's usual time. Force: gone at once even on a lost node. */
void kube_pod_delete(struct kube *, struct pod *, int64_t grace_ns);
void kube_pod_force_delete(struct kube *, struct pod *);
/* The program in the container ends with this code. Ignored unless the container runs. */
void kube_pod_exit(struct kube *, struct pod *, int32_t code);
/* The pod becomes Failed (evicted: no container status) or Succeeded from outside. */
void kube_pod_fail(struct kube *, struct pod *, bool evicted);
void kube_pod_init_done(struct kube *, struct pod *);
/* The activity that its shares are in while its container runs and does not train (wait for peers, rendezvous ...). */
void kube_pod_activity(struct kube *, struct pod *, enum activity);
/* For train.h: the shares of running pods of a job are about to be lifted or have landed in `activity`. */
enum activity kube_pod_current_activity(const struct pod *);
void kube_pod_set_lifted(struct kube *, struct pod *, bool lifted, enum activity landed_in);

/* Gang (coscheduling). */
uint32_t kube_gang_create(struct kube *, struct job *, uint32_t min_member);
void kube_gang_delete(struct kube *, uint32_t gang);

/* Nodes. */
void kube_node_lost(struct kube *, uint32_t node);
void kube_node_back(struct kube *, uint32_t node);
void kube_node_drain(struct kube *, uint32_t node, bool on);
/* Every pod of a node, e.g. for the calendar: calls fn for each. */
void kube_each_pod_on(struct kube *, uint32_t node, void (*fn)(struct kube *, struct pod *, void *), void *arg);
struct pod *kube_find_pod(struct kube *, const char *name);
struct sim *kube_sim(struct kube *);

#endif
