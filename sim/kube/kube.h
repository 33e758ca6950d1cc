/* kube.h - pods, and what Kubernetes itself does with them: API clients, scheduler, kubelets, node life cycle.
 *
 * Both schools create pods through here; a controller (operator/, actor/) owns its pods and hears of every change that a
 * watch would show it. Objects are as a controller sees them, so the semantics of real controllers can be written down as
 * they are: a pod has a phase, may be bound, ready, terminating; its container has restarts and exit codes.
 *
 *     struct pod *p = kube_pod_create(k, &(struct pod_spec){ .ops = &ops, .ctx = ctx, .job = job, .role = ROLE_WORKER, ... });
 *     kube_pod_exit(k, p, 137);          // the program in its container ends (the owner's training says when)
 *     kube_pod_delete(k, p, -1);         // deletion requested: terminating, gone after the grace (never on a lost node)
 *
 * Life of a pod:
 *   Pending (unbound) --scheduler binds--> Pending (bound) --image, start, init container--> Running [--probe--> Ready]
 *   --exit--> restart in place (restart policy, crash back-off) | Succeeded | Failed;   deletion: terminating --> gone
 *
 *   api client   each controller's own token bucket (QPS, burst): kube_client_call says when a call issued now is done;
 *                events share the bucket, 25 an object (client-go's spam filter)
 *   scheduler    one pod a cycle, priority then creation; binds through its own bucket (scheduler.qps/burst); a shape
 *                that does not fit is parked as a whole and tried again when something that may help happens, not before
 *                its back-off (1 s doubling to 10 s) is over; coscheduling: see gang.c
 *   kubelet      image pull (serial a node, cached or not), container start, init container with its polling grain,
 *                crash back-off: at once, then 10 s x 2^n <= 300 s, reset after 10 min of running; readiness
 *   nodes        lost: lease (renewed each 10 s) expires, seen at a 5 s check -> not ready, its pods too; NoExecute taint
 *                (0.1 nodes/s) -> after the toleration (300 s) deletion is requested -> terminating until the node is back
 *                or the pod is force-deleted
 *
 * Every wait of a pod is an event; nothing polls. The pod's shares are held (hold.h) from the scheduler's decision until it
 * is gone or finished: activities by state (image pull, container start, wait for head, back-off, terminating ...). While
 * the job trains its owner lifts the holds (kube_pod_lift) and lands them before it lets the pod change.
 * What a pod goes through is recorded (REC_POD_STATE, run/states.h): every state that lasts. What begins and ends within one
 * instant is not told: a pod whose image is there is `starting` when it is bound, one without a readiness probe `ready` when
 * it runs.
 * A pod that is gone stays readable until the next kube_pod_create outside `changed`; owners drop it at POD_GONE.
 *
 * Cost: O(1) a change; a scheduling pass O(log classes), a release O(classes that wait), where a class is all waiting pods
 * of one shape, priority and gang: 10,000 standing pods of a shape cost as much as one.
 * Memory: about 350 bytes a pod, reused when it is gone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_KUBE_KUBE_H
#define TRAINYARD_SIM_KUBE_KUBE_H

#include "sim/cluster/hold.h"
#include "sim/cluster/sim.h"
#include "sim/engine/bucket.h"

struct kube;
struct pod;
struct sched_class; /* scheduler.c */

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED };

/* What a watch shows; the last two are physical: no watch shows them, but the processes know. */
enum pod_change {
    POD_CREATED, POD_UNSCHEDULABLE /* first refusal */, POD_BOUND, POD_IMAGE_PULLED, POD_INIT /* init container runs */,
    POD_STARTED /* container runs */, POD_READY, POD_NOT_READY, POD_EXITED /* container ended, will be restarted */,
    POD_RESTARTING /* its back-off is over */, POD_RESTARTED /* container runs again */, POD_PHASE /* Succeeded or Failed */, POD_TERMINATING, POD_GONE,
    POD_LOST /* its node has died, and its processes with it */, POD_FOUND /* its node is back */, N_POD_CHANGES,
};

struct pod_owner_ops {
    /* The pod has just changed. May call any kube_ function. */
    void (*changed)(struct kube *, struct pod *, enum pod_change);
    /* Its init container asks whether what it waits for is there (the master's name, the GCS). NULL: no init container.
     * The owner calls kube_pod_init_done when it becomes true; the container sees it at its next poll. */
    bool (*init_ready)(struct kube *, struct pod *);
    /* Name of the pod; NULL: JOB-ROLE-INDEX, as the training operator names them. */
    void (*name)(const struct sim *, const struct pod *, char *buf, size_t n);
};

/* Shares that a job's pods hold and those that its refused pods want; part of the owner's state of the job. Both above
 * zero is a partial hold: its start and end are recorded (REC_PARTIAL_HOLD), and kube_each_partial lists those that last. */
struct pod_tally {
    struct job *job;
    int64_t held, wanted;
    uint32_t refused;        /* pods */
    int64_t since_ns;        /* of the partial hold */
    bool partial;
    struct pod_tally *next, *prev;
};

struct pod_spec {
    const struct pod_owner_ops *ops;
    void *ctx;
    struct job *job;
    struct pod_tally *tally; /* NULL: not watched */
    enum pod_role role;
    uint32_t index;
    uint32_t shares;
    int64_t cpu_milli, mem_bytes;
    uint64_t groups;
    enum restart_policy restart; /* of the pod: ALWAYS, ON_FAILURE or NEVER */
    int32_t priority;
    int64_t init_poll_ns;    /* with ops->init_ready: polling grain ... */
    int64_t init_tries;      /* ... and polls until it exits with 1 and is restarted; 0: for ever */
    int64_t ready_delay_ns;  /* from start to Ready when a probe is set; 0: at once */
    int64_t toleration_ns;   /* of unreachable nodes; < 0: the stack's */
    uint32_t gang;           /* from kube_gang_create, 0: none */
    bool finalizer;          /* a deleted pod stays, ended, until kube_pod_unfinalize */
    bool has_image;          /* false: no pull (image in cache for sure) */
    bool uses_init;          /* has the init container that asks ops->init_ready */
};

struct pod {
    struct pod_spec spec;
    struct hold hold;                  /* its shares, from the scheduler's decision on */
    struct pod *next, *prev;           /* of its owner's list, free for the owner */
    void *owner_data;
    uint32_t owner_tag, owner_count;   /* free for the owner */
    int64_t owner_ns;                  /* free for the owner */
    uint32_t id;                       /* unique in the run, by creation */
    uint32_t number;                   /* in the records: of its job's pods and groups, by creation */
    uint32_t node;                     /* when bound or reserved; UINT32_MAX before */
    uint32_t restarts;                 /* of the main container */
    uint32_t init_restarts;
    int32_t exit_code;                 /* of the last exit; -1 none */
    uint8_t phase;                     /* enum pod_phase */
    uint8_t wait;                      /* enum wait_reason while it is not bound: why */
    bool bound, started, ready, terminating, node_lost;
    bool evicted;                      /* Failed without a terminated container */
    bool gone;
    int64_t created_ns, bound_ns, started_ns;

    /* kube's own */
    struct pod *live_next, *live_prev; /* all pods */
    struct pod *node_next, *node_prev; /* pods of a node */
    struct pod *wait_next, *wait_prev; /* of its scheduling class */
    struct sched_class *waits_in;
    struct event_id timer;             /* the next thing that happens to its container */
    struct event_id end;               /* its end when terminating */
    int64_t init_started_ns;
    int64_t pull_at;                   /* puller.c: position at which its image is there */
    uint32_t backoff;                  /* crashes that count for the kubelet's back-off */
    uint8_t stage;                     /* kubelet.c */
    uint8_t state;                     /* enum pod_state: as recorded */
    bool told, permitted, init_satisfied;
    bool stopped;                      /* only its finalizer keeps it */
};

struct kube *kube_create(struct sim *);
void kube_destroy(struct kube *);
struct sim *kube_sim(struct kube *);

/* ---- API clients ---- */

struct kube_client {
    struct bucket bucket;
    int64_t call_ns;         /* latency of one call */
};
/* From the stack's constants: milli-QPS, burst, latency. */
struct kube_client kube_client_make(int64_t milli_qps, int64_t burst, int64_t call_ns);
/* The time at which a call issued now is done. */
int64_t kube_client_call(struct kube *, struct kube_client *);
/* An event (or any call that nobody waits for): takes a token now if its object's filter lets it. */
void kube_client_event(struct kube *, struct kube_client *, struct bucket *filter);

/* ---- pods ---- */

struct pod *kube_pod_create(struct kube *, const struct pod_spec *);
/* Deletion request. grace_ns < 0: the kubelet's usual time. Again: nothing. */
void kube_pod_delete(struct kube *, struct pod *, int64_t grace_ns);
/* Gone at once, even on a lost node. */
void kube_pod_force_delete(struct kube *, struct pod *);
/* Its finalizer is taken off: it goes if that is all that kept it. */
void kube_pod_unfinalize(struct kube *, struct pod *);
/* A pod that has ended and that nobody will ask for again: its memory is given back, no watch sees it go. */
void kube_pod_forget(struct kube *, struct pod *);
/* The program in the container ends with this code. Ignored unless the container runs. */
void kube_pod_exit(struct kube *, struct pod *, int32_t code);
/* The pod ends from outside: POD_SUCCEEDED, or POD_FAILED with a code; code < 0: evicted, no container status. */
void kube_pod_finish(struct kube *, struct pod *, enum pod_phase, int32_t code);
/* What its init container waits for is there now. */
void kube_pod_init_done(struct kube *, struct pod *);
/* The activity of its shares while its container runs and does not train (wait for peers, rendezvous ...), in the account
 * of its job's present cause. */
void kube_pod_activity(struct kube *, struct pod *, enum activity);
/* Around training: its shares leave the ledger's clocks, or land. No-ops when it holds none. */
void kube_pod_lift(struct kube *, struct pod *);
void kube_pod_land(struct kube *, struct pod *, enum activity);
/* Adds the shares of a lifted pod to a list for train_run; false when the list has no room for another account. */
bool kube_pod_shares(struct kube *, const struct pod *, uint32_t *accounts, int64_t *shares, uint32_t *n, uint32_t room);
/* Why a job with this pod does not go on because of it: WAIT_*, or NOT_WAITING when its container runs. */
unsigned kube_pod_waits_for(const struct kube *, const struct pod *);

/* Node groups that a pod template's selector leaves; all without one. */
struct pod_template; /* input/objects.h */
uint64_t kube_selected_groups(const struct sim *, const struct pod_template *);
/* A scripted action that means the same for every owner: exits, failures, evictions, deletions. False: it is none of those. */
bool kube_pod_script(struct kube *, struct pod *, const struct script_action *);
void kube_pod_name(const struct kube *, const struct pod *, char *buf, size_t n);
struct pod *kube_find_pod(struct kube *, const char *name); /* O(pods): for scripts */
struct pod *kube_first_pod(struct kube *);                  /* then live_next: by creation */

/* ---- gangs (coscheduling) ---- */

uint32_t kube_gang_create(struct kube *, struct job *, uint32_t min_member);
void kube_gang_delete(struct kube *, uint32_t gang);

/* ---- nodes ---- */

/* The pool has been told already (pool_node_down, pool_node_up); these are what Kubernetes makes of it. */
void kube_node_lost(struct kube *, uint32_t node);
void kube_node_back(struct kube *, uint32_t node);
/* Its pods are asked to leave (the eviction API's deletion); the caller has taken the node out of the pool. It comes back
 * with kube_node_back. */
void kube_node_drain(struct kube *, uint32_t node);
void kube_each_pod_on(struct kube *, uint32_t node, void (*fn)(struct kube *, struct pod *, void *), void *arg);

/* ---- watching ---- */

/* Jobs that hold some of their shares and wait for others, oldest first. */
void kube_each_partial(struct kube *, void (*fn)(const struct pod_tally *, void *), void *arg);
void kube_tally_close(struct kube *, struct pod_tally *); /* the owner's state goes away */

/* A watch on everything, for tests and `explain`: pods as they change, conditions as controllers write them. */
struct kube_observer {
    void (*pod)(void *ctx, struct kube *, const struct pod *, enum pod_change);
    void (*condition)(void *ctx, struct kube *, const struct job *, const char *type, const char *status, const char *reason,
                      const char *message);
    void (*object)(void *ctx, struct kube *, const struct job *, const char *kind, const char *name, bool added);
    bool keep_objects; /* a job's objects are kept to the end, although nothing is held any more */
    void *ctx;
};
void kube_observe(struct kube *, const struct kube_observer *); /* must outlive the kube; NULL: none */
const struct kube_observer *kube_observer(const struct kube *);

#endif
