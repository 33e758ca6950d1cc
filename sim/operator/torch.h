/* torch.h - a PyTorchJob under training-operator v1: what the controller sees, decides and writes, and what its ranks do.
 *
 * Three parts share `struct torch_job` and meet in few places:
 *
 *   observe.c    pods as a watch shows them -> counters for each replica type (active, succeeded, failed, restarts)
 *   reconcile.c  counters -> a plan (API calls in order) and a new status; the order of training-operator 1.9.3
 *   controller.c the work queue, the client's rate limit: carries a plan out call by call, then writes the status
 *   ranks.c      processes in the containers: rendezvous, checkpoint load, training, crash, hang, loss (torchrun, NCCL)
 *   life.c       the row of sim/lifecycle.c's table
 *
 * The plan is made of what is observed when a reconcile begins. Its calls take time, the world goes on meanwhile, and
 * the status written at the end is that of the beginning: hence what is recorded of the real controller, such as a pod
 * that a scale-down re-creates.
 *
 * A reconcile costs O(1) when it creates and deletes nothing, else O(replicas).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_OPERATOR_TORCH_H
#define TRAINYARD_SIM_OPERATOR_TORCH_H

#include "base/array.h"
#include "sim/engine/workqueue.h"
#include "sim/kube/kube.h"
#include "sim/operator/conditions.h"
#include "sim/train/train.h"

enum { MAX_TYPES = 2 };

/* Status of one replica type, as written in status.replicaStatuses. */
struct torch_counts { uint32_t active, succeeded, failed; };

struct replica_type {
    const struct role_spec *spec;
    enum pod_role role;
    enum restart_policy restart; /* of the job object; a pod's own follows from it */
    uint32_t replicas;           /* wanted now */
    uint32_t shares;
    uint64_t groups;
    struct pod **pods;           /* by index, NULL: none */
    bool *services;
    uint32_t cap;
    uint32_t n_pods, n_services;
    uint32_t top_pod, top_service; /* highest index + 1 */
    /* observed */
    struct torch_counts counts;
    uint32_t in_failed;          /* pods whose phase is Failed */
    uint32_t not_failed;         /* ... neither Failed nor Succeeded: they hold something */
    uint64_t restarts;           /* of containers and init containers of Running pods */
};

struct torch_status {
    struct conditions conditions;
    struct torch_counts counts[MAX_TYPES];
    int64_t start_ns, completion_ns; /* -1: not set */
};

enum call_kind {
    CALL_CREATE_POD, CALL_CREATE_SERVICE, CALL_DELETE_POD, CALL_DELETE_SERVICE,
    CALL_DELETE_BOTH, /* a pod, then its service: two calls in a row */
    CALL_DELETE_JOB,
};
struct call { uint8_t kind, type; uint32_t index; };

/* One reconcile under way. */
struct reconcile {
    bool busy;
    ARRAY(struct call) calls;
    size_t next;
    struct torch_status status;  /* the new one, as far as it is decided at the beginning */
    bool update;                 /* UpdateJobStatus follows the calls */
    bool cleans;                 /* the job had finished when it began */
    int64_t requeue_ns;          /* after it, -1: not */
    int64_t decided_ns;          /* before it no call goes out */
};

enum rank_state { RANK_OUT, RANK_WAIT, RANK_IN, RANK_STUCK };
enum group_phase { GROUP_IDLE, GROUP_STARTING, GROUP_RENDEZVOUS, GROUP_LOADING, GROUP_RUNNING, GROUP_BROKEN };

struct torch_op; /* controller.c: one a simulation */

struct torch_job {
    struct job *job;
    struct torch_op *op;
    struct torch_job *next, *prev; /* all, or free */
    struct replica_type type[MAX_TYPES];
    uint32_t n_types;
    struct pod_tally tally;
    struct bucket events;        /* client-go's filter of events about this job */
    struct torch_status status;  /* as written */
    struct reconcile run;
    bool suspend, deleted, cleaned, allocated, trains, stopping;
    uint32_t gang;
    uint32_t waits[N_WAIT_REASONS]; /* pods by what they wait for */
    uint32_t n_bound;

    /* ranks.c */
    uint32_t n_up, n_wait, n_in, n_stuck;
    uint32_t min, max, nominal;  /* elastic; max 0: not; nominal: replicas at which the work is given */
    uint32_t group_restarts;
    uint8_t phase;               /* enum group_phase */
    bool elastic_join;           /* a re-forming because somebody joined is under way */
    struct event_id step;        /* the next thing of the group: rendezvous, load, detection */
    struct event_id join;        /* time-out of those who wait */
    struct event_id monitor;     /* the agents' look at who has joined */
    int64_t step_at_ns, began_ns; /* began: the group its steps */
};

/* observe.c */
void torch_observe(struct torch_job *, struct pod *, enum pod_change);
void torch_refresh_wait(struct torch_job *);
void torch_recount_wait(struct torch_job *, struct pod *);
struct replica_type *torch_type_of(struct torch_job *, enum pod_role);
struct pod *torch_master(const struct torch_job *);
uint32_t torch_wanted(const struct torch_job *); /* replicas of all types */
void torch_allocated(struct torch_job *);         /* all its pods are bound, or enough to start */
void torch_type_reserve(struct replica_type *, uint32_t n);
void torch_service(struct replica_type *, uint32_t index, bool on);
extern const struct pod_owner_ops torch_pod_ops;

/* reconcile.c */
void torch_plan(struct torch_job *);          /* fills run from what is observed now */
void torch_update_status(struct torch_job *); /* UpdateJobStatus on run.status */

/* controller.c */
struct torch_op {
    struct sim *sim;
    struct kube *kube;
    const struct stack *stack;
    struct kube_client client;
    struct workqueue *queue;
    struct torch_job *first, *free;
    struct arena arena;
};
struct torch_op *torch_op_create(struct sim *);
void torch_op_destroy(struct torch_op *);
void torch_enqueue(struct torch_job *);
struct torch_job *torch_job_new(struct torch_op *, struct job *);
void torch_collect_garbage(struct torch_job *); /* the job object is gone: so are its pods and services */
void torch_try_release(struct torch_job *);     /* tells the core when nothing is held any more */

/* ranks.c */
void ranks_process_up(struct torch_job *, struct pod *);
void ranks_process_down(struct torch_job *, struct pod *, bool silent); /* silent: its peers see no closed connection */
void ranks_hang(struct torch_job *);
void ranks_crash(struct torch_job *, uint32_t rank, int32_t code); /* a process of the group; none of that number: nothing */
void ranks_crash_in(struct torch_job *, struct pod *, int32_t code); /* of a pod that is in no group its container ends */
void ranks_job_over(struct torch_job *);
void ranks_close(struct torch_job *);           /* the run ends */
enum rank_state ranks_state(const struct pod *);
extern const struct train_hooks torch_train_hooks;

#endif
