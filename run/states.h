/* states.h - the words of the two ledgers, and those of pods and actors: activities, causes, wait reasons, states.
 *
 * Each list is one table (an X-macro); enum, name, class and help text all come from it, and so do the columns of
 * ledger.csv and jobs.csv, `explain`, `compare` and the documentation.
 *
 * GPU ledger: each share (1 GPU = 1,000 shares) is at each instant in exactly one activity.
 * Wait ledger: each ns of a job between submission and end in which its ranks do not step has exactly one reason.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_STATES_H
#define TRAINYARD_RUN_STATES_H

#include <stdbool.h>
#include <stddef.h>

/* Class of an activity. REDONE is not listed per activity: work below the old high-water mark is booked as the same
 * activity with the flag `redone` (ledger.h). */
enum activity_class { CLASS_IDLE, CLASS_HELD, CLASS_WORK, CLASS_DOWN, CLASS_ABSENT, N_ACTIVITY_CLASSES };

/* X(enum, name in files, class, what it means) */
#define ACTIVITIES(X)                                                                                                  \
    X(ACT_FREE, "free", CLASS_IDLE, "nobody waits for it")                                                             \
    X(ACT_BLOCKED, "blocked", CLASS_IDLE, "jobs wait, but order, quota, policy or dispatch latency keeps them off")    \
    X(ACT_FRAGMENTED, "fragmented", CLASS_IDLE, "jobs may start, but their shape or topology does not fit")            \
    X(ACT_IMAGE_PULL, "image_pull", CLASS_HELD, "the pod is bound and its image is being pulled")                      \
    X(ACT_CONTAINER_START, "container_start", CLASS_HELD, "the container is being created and started")                \
    X(ACT_WAIT_HEAD, "wait_head", CLASS_HELD, "waits for the Ray head or the master's DNS name")                       \
    X(ACT_WAIT_PEERS, "wait_peers", CLASS_HELD, "started, but other members of the group are not")                     \
    X(ACT_RENDEZVOUS, "rendezvous", CLASS_HELD, "all members are there and agree on the world")                        \
    X(ACT_CHECKPOINT_LOAD, "checkpoint_load", CLASS_HELD, "reads the last checkpoint")                                 \
    X(ACT_STALLED, "stalled", CLASS_HELD, "a peer is gone and nobody has noticed yet")                                 \
    X(ACT_HUNG, "hung", CLASS_HELD, "the process hangs without an error")                                              \
    X(ACT_BACKOFF, "backoff", CLASS_HELD, "the container waits out its restart back-off")                              \
    X(ACT_TERMINATING, "terminating", CLASS_HELD, "deleted, but not gone yet")                                         \
    X(ACT_IDLE_POD, "idle_pod", CLASS_HELD, "a bundle, actor, replica or Ray pod that has nothing to do")              \
    X(ACT_AFTER_END, "after_end", CLASS_HELD, "its job has ended and nobody cleaned up")                               \
    X(ACT_COMPUTE, "compute", CLASS_WORK, "computes")                                                                  \
    X(ACT_COMMUNICATION, "communication", CLASS_WORK, "waits for collectives that computation does not hide")          \
    X(ACT_DATA_WAIT, "data_wait", CLASS_WORK, "waits for input data")                                                  \
    X(ACT_BUBBLE, "bubble", CLASS_WORK, "idles in the pipeline bubble")                                                \
    X(ACT_STRAGGLER, "straggler", CLASS_WORK, "waits for the slowest rank")                                            \
    X(ACT_CHECKPOINT, "checkpoint", CLASS_WORK, "blocked while a checkpoint is written")                               \
    X(ACT_OTHER_LOAD, "other_load", CLASS_WORK, "serves, tunes, preprocesses or runs a load of given length")          \
    X(ACT_FAILED, "failed", CLASS_DOWN, "the hardware has failed and repair has not begun")                            \
    X(ACT_REPAIR, "repair", CLASS_DOWN, "under repair")                                                                \
    X(ACT_DRAINED, "drained", CLASS_DOWN, "cordoned or drained")                                                       \
    X(ACT_ABSENT, "absent", CLASS_ABSENT, "not provisioned")                                                           \
    X(ACT_UNOBSERVED, "unobserved", CLASS_ABSENT, "a live run could not see it")

/* Which attempt of its job does this. */
#define CAUSES(X)                                                                                                      \
    X(CAUSE_FIRST, "first", "the first attempt")                                                                       \
    X(CAUSE_FAILURE, "after_failure", "an attempt after a failure")                                                    \
    X(CAUSE_PREEMPTION, "after_preemption", "an attempt after a preemption or eviction")                               \
    X(CAUSE_RESIZE, "after_resize", "an attempt after an elastic resize")

/* The first N_QUEUE_REASONS are the ones a pending job can have while nothing of it exists yet (clock.h). */
#define WAIT_REASONS(X)                                                                                                \
    X(WAIT_ORDER, "order", "others stand before it in its queue")                                                      \
    X(WAIT_QUOTA, "quota", "its queue's quota is used up")                                                             \
    X(WAIT_CAPACITY, "capacity", "fewer GPUs are free than it needs")                                                  \
    X(WAIT_FRAGMENTATION, "fragmentation", "enough GPUs are free, but not in its shape")                               \
    X(WAIT_TOPOLOGY, "topology", "enough GPUs are free, but not in the topology it asks for")                          \
    X(WAIT_UNSATISFIABLE, "unsatisfiable", "no state of this cluster or quota can ever hold it")                       \
    X(WAIT_DEPENDENCY, "dependency", "a job it comes after has not ended")                                             \
    X(WAIT_SUSPENDED, "suspended", "suspended by its owner")                                                           \
    X(WAIT_ADMISSION_CHECK, "admission_check", "an admission check is not ready")                                      \
    X(WAIT_GANG, "gang", "some members are placed and wait for the rest to be placed")                                 \
    X(WAIT_AUTOSCALER, "autoscaler", "nodes or Ray pods are being added")                                              \
    X(WAIT_CONTROL_PLANE, "control_plane", "API calls, controllers and client rate limits")                            \
    X(WAIT_SCHEDULER_BACKOFF, "scheduler_backoff", "the scheduler retries later")                                      \
    X(WAIT_IMAGE, "image", "images are pulled")                                                                        \
    X(WAIT_START, "start", "containers or processes start")                                                            \
    X(WAIT_HEAD, "head", "the Ray head or the master is not reachable yet")                                            \
    X(WAIT_PEERS, "peers", "other ranks have not started")                                                             \
    X(WAIT_RENDEZVOUS, "rendezvous", "the ranks agree on the world")                                                   \
    X(WAIT_CHECKPOINT_LOAD, "checkpoint_load", "the last checkpoint is read")                                          \
    X(WAIT_STORAGE, "storage", "storage is down or saturated")                                                         \
    X(WAIT_DETECTION, "detection", "a failure has happened and nobody has noticed")                                    \
    X(WAIT_CONTAINER_BACKOFF, "container_backoff", "the kubelet's restart back-off")                                   \
    X(WAIT_PREEMPTED, "preempted", "its pods are being taken away")                                                    \
    X(WAIT_RESIZE, "resize", "its worker group is being resized")

/* What a pod goes through, as its job's page shows it. The first three are before it runs on a node. Those from succeeded
 * on are final: a pod that has ended is not told of again when its object goes. */
#define POD_STATES(X)                                                                                                  \
    X(POD_IS_PENDING, "pending", "created, on no node")                                                                \
    X(POD_IS_SCHEDULED, "scheduled", "a node is reserved for it; its gang, or the call that binds it, is to come")     \
    X(POD_IS_PULLING, "pulling", "its image is pulled")                                                                \
    X(POD_IS_STARTING, "starting", "its container is created and started")                                             \
    X(POD_IS_INIT, "init", "its init container waits for the head or the master's name")                               \
    X(POD_IS_RUNNING, "running", "its container runs, and is not ready yet")                                           \
    X(POD_IS_READY, "ready", "its container runs and is ready")                                                        \
    X(POD_IS_BACKOFF, "backoff", "its container has ended and waits out its back-off")                                 \
    X(POD_IS_LOST, "lost", "its node is dead, and nobody has noticed")                                                 \
    X(POD_IS_UNKNOWN, "unknown", "its node does not answer")                                                           \
    X(POD_IS_TERMINATING, "terminating", "deleted, but not gone yet")                                                  \
    X(POD_IS_SUCCEEDED, "succeeded", "its container has ended well")                                                   \
    X(POD_IS_FAILED, "failed", "its container has failed and is not restarted")                                        \
    X(POD_IS_EVICTED, "evicted", "failed from outside, its container without a status")                                \
    X(POD_IS_DELETED, "deleted", "gone before it had ended")

/* What a Ray worker actor goes through; a rank of its group. */
#define ACTOR_STATES(X)                                                                                                \
    X(ACTOR_IS_PENDING, "pending", "its placement group is asked for")                                                 \
    X(ACTOR_IS_STARTING, "starting", "it has its place, and its process starts")                                       \
    X(ACTOR_IS_ALIVE, "alive", "it runs")                                                                              \
    X(ACTOR_IS_RESTARTING, "restarting", "its group was shut down and is asked for again")                             \
    X(ACTOR_IS_DEAD, "dead", "its process has died, or its node with it")                                              \
    X(ACTOR_IS_ENDED, "ended", "its group is over, or smaller: its controller has killed it")

#define X_ENUM(e, ...) e,
enum activity { ACTIVITIES(X_ENUM) N_ACTIVITIES };
enum cause { CAUSES(X_ENUM) N_CAUSES };
enum wait_reason { WAIT_REASONS(X_ENUM) N_WAIT_REASONS };
enum pod_state { POD_STATES(X_ENUM) N_POD_STATES };
enum actor_state { ACTOR_STATES(X_ENUM) N_ACTOR_STATES };
#undef X_ENUM
enum { N_QUEUE_REASONS = WAIT_UNSATISFIABLE + 1 };
/* Activities of class work stand in a row. */
enum { FIRST_WORK = ACT_COMPUTE, N_WORK_ACTIVITIES = ACT_OTHER_LOAD - ACT_COMPUTE + 1 };

struct activity_info { const char *name, *help; enum activity_class class; };
struct state_info { const char *name, *help; };

extern const struct activity_info activity_table[N_ACTIVITIES];
extern const struct state_info cause_table[N_CAUSES];
extern const struct state_info wait_table[N_WAIT_REASONS];
extern const struct state_info pod_state_table[N_POD_STATES];
extern const struct state_info actor_state_table[N_ACTOR_STATES];
extern const char *const activity_class_names[N_ACTIVITY_CLASSES];

/* The idle GPUs that a pending job of this reason stands for: kept off it by order, quota or policy (blocked), or not of its
 * shape (fragmented). Neither: it stands for none. */
static inline bool wait_is_kept_off(unsigned reason)
{
    return reason == WAIT_ORDER || reason == WAIT_QUOTA || reason == WAIT_ADMISSION_CHECK || reason == WAIT_CONTROL_PLANE;
}

static inline bool wait_is_misfit(unsigned reason)
{
    return reason == WAIT_CAPACITY || reason == WAIT_FRAGMENTATION || reason == WAIT_TOPOLOGY;
}

/* Whether time held so is what a failure or a preemption cost. */
static inline bool held_is_recovery(enum activity activity, enum cause cause)
{
    bool ill = activity == ACT_STALLED || activity == ACT_HUNG || activity == ACT_BACKOFF;
    return ill || cause == CAUSE_FAILURE || cause == CAUSE_PREEMPTION;
}

#endif
