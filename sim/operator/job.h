/* job.h - a batch/v1 Job under kube-controller-manager: what the Job controller sees, decides and writes, and what its pods do.
 *
 *   job_sync.c   one sync of the controller: pods observed -> deletions or creations -> status, finalizers, conditions
 *   job_pods.c   pods as a watch shows them -> counters; why the job waits
 *   job_ranks.c  the processes in the containers: a gang that trains together, or pods that work side by side
 *   job_life.c   the row of sim/lifecycle.c's table
 *
 * The rules, with their source (Kubernetes 1.35, pkg/controller/job; "rec" recorded/conditions/job-indexed-*):
 *   queue     a change of the spec syncs at once, a change of a pod or of the status 1 s later (job.sync-batch); an earlier
 *             sync that is planned already stays: hence pods succeeded -> Complete in 0.77 to 1.05 s (rec)
 *   create    in batches of 1, 2, 4 ... (slow start), at most 500 a sync, through the controller's client (20/30); events are
 *             sent one after the other through the same client, 25 a job: N pods take (N + e - 30) / 20 s, 0 <= e <= 25
 *   failed    a pod that has failed, or is terminating (podReplacementPolicy TerminatingOrFailed); each carries a finalizer
 *             until it is counted
 *   back-off  10 s x 2^n <= 10 min after the last failure (finishedAt, else Ready=False, else deletion, else creation, in
 *             whole seconds); a success after it forgets it; while it lasts nothing is written (rec)
 *   failure   failed > backoffLimit, or OnFailure: restarts of containers >= backoffLimit; or the deadline, exact, from the
 *             start time in whole seconds: active pods are deleted, FailureTarget; Failed when none is terminating any more
 *   success   SuccessCriteriaMet when enough have succeeded, Complete when none is terminating any more
 *   suspend   active pods are deleted and not counted; resumed: the start time begins anew
 * One finalizer patch a counted pod goes through the client too: the end of a job of hundreds of pods takes its time.
 *
 * Pods: completions = parallelism (the default) is a gang, whose ranks meet and train as one (train.h); with more
 * completions each pod does the job's work by itself. A pod is called JOB-INDEX-xxxxx, or JOB-xxxxx when NonIndexed;
 * scripts may say JOB-INDEX and mean the newest of that index.
 *
 * A sync costs O(1) when it creates, deletes and counts nothing, else O(pods of the job).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_OPERATOR_JOB_H
#define TRAINYARD_SIM_OPERATOR_JOB_H

#include "run/conditions.h"
#include "sim/engine/workqueue.h"
#include "sim/kube/kube.h"
#include "sim/train/train.h"

/* X(enum, reason, message) */
#define JOB_NOTES(X)                                                                                                   \
    X(JOB_NOTE_NONE, "", "")                                                                                           \
    X(JOB_NOTE_SUSPENDED, "JobSuspended", "Job suspended")                                                             \
    X(JOB_NOTE_RESUMED, "JobResumed", "Job resumed")                                                                   \
    X(JOB_NOTE_COMPLETIONS, "CompletionsReached", "Reached expected number of succeeded pods")                         \
    X(JOB_NOTE_BACKOFF, "BackoffLimitExceeded", "Job has reached the specified backoff limit")                         \
    X(JOB_NOTE_DEADLINE, "DeadlineExceeded", "Job was active longer than specified deadline")
#define X_ENUM(e, ...) e,
enum job_note { JOB_NOTES(X_ENUM) N_JOB_NOTES };
#undef X_ENUM

enum condition_state { CONDITION_ABSENT, CONDITION_FALSE, CONDITION_TRUE };

struct job_status {
    int64_t start_ns; /* -1: not set */
    uint32_t active, ready, terminating, succeeded, failed;
    uint8_t condition[N_JOB_CONDITIONS]; /* enum condition_state */
    uint8_t note[N_JOB_CONDITIONS];
};

/* podBackoffStore: failures since the last success. */
struct job_backoff { uint32_t failures; int64_t last_ns; };

/* One sync under way. */
struct job_sync {
    bool busy;
    uint32_t create, batch, in_batch; /* pods to create, of the next batch, of the present one under way */
    uint32_t next_index;
    uint32_t delete, delete_calls;    /* pods being deleted; calls each takes */
    struct pod *cursor;               /* next candidate for deletion */
    bool uncounted_too;               /* deleted pods are not counted (suspend, scale) */
    uint32_t patches;                 /* pods being counted */
    struct job_status status;         /* to be written */
    struct job_backoff backoff;
    uint8_t outcome;                  /* JOB_COND_COMPLETE or JOB_COND_FAILED when decided, else N_JOB_CONDITIONS */
    uint8_t note;
};

struct batch_ctl; /* one a simulation */

struct batch_job {
    struct job *job;
    struct batch_ctl *ctl;
    struct batch_job *next, *prev; /* all, or free */
    const struct role_spec *role;
    uint64_t groups;
    uint32_t shares, parallelism, completions;
    bool indexed, replace_failed;
    uint8_t *done;        /* by index: it has succeeded and is counted */
    uint32_t *active_of;  /* by index: active pods and ones that succeeded, not counted yet */
    uint32_t cap;
    uint32_t n_created;   /* ever: numbers the pods of a NonIndexed job */
    struct pod *first, *last;
    struct pod_tally tally;
    struct bucket events; /* client-go's filter of events about this job */
    struct job_status status; /* as written */
    struct job_backoff backoff;
    struct job_sync run;
    bool suspend, allocated, stopping, over;

    /* job_pods.c: what a sync sees */
    uint32_t n_pods, n_active, n_ready, n_terminating, n_succeeded /* not counted */, n_failed /* not counted */;
    uint32_t n_held;      /* pods that have not ended */
    uint32_t n_bound;
    uint64_t restarts;
    uint32_t waits[N_WAIT_REASONS]; /* pods by what they wait for */

    /* job_ranks.c */
    bool trains, gang;
    uint32_t n_up, n_wait, n_in, n_stuck;
    uint8_t phase;
    struct event_id step;
    int64_t step_at_ns;
};

/* Marks in pod->owner_tag. */
enum {
    TAG_SEEN = 7,            /* job_pods.c: what it is counted as */
    TAG_RANK = 3 << 4,       /* job_ranks.c */
    TAG_UP = 1 << 6,
    TAG_COUNTED = 1 << 16,   /* no finalizer any more */
    TAG_DELETE = 1 << 17,    /* the sync under way deletes it */
    TAG_COUNT = 1 << 18,     /* ... counts it */
    TAG_READY = 1 << 19,
    TAG_TERMINATING = 1 << 20,
    TAG_INDEX = 1 << 21,     /* counted in active_of */
    TAG_WAITS_SHIFT = 8,
};

struct batch_ctl {
    struct sim *sim;
    struct kube *kube;
    const struct stack *stack;
    struct kube_client client;
    struct workqueue *queue;
    struct batch_job *first, *free;
    struct arena arena;
    uint64_t events_waiting; /* to be sent, one after the other */
    bool sending;
};

/* job_sync.c */
struct batch_ctl *batch_ctl_create(struct sim *);
void batch_ctl_destroy(struct batch_ctl *);
void batch_job_held(struct sim *, struct job *); /* lifecycle_ops.held */
void batch_sync_now(struct batch_job *);   /* the spec has changed */
void batch_sync_soon(struct batch_job *);  /* a pod or the status has changed */
void batch_try_release(struct batch_job *);
void batch_event(struct batch_job *);      /* an event about the job is recorded */
struct batch_job *batch_job_new(struct batch_ctl *, struct job *);

/* job_pods.c */
extern const struct pod_owner_ops batch_pod_ops;
bool batch_is_active(const struct pod *);  /* neither ended nor terminating */
bool batch_has_succeeded(const struct pod *);
bool batch_has_failed(const struct batch_job *, const struct pod *);
int64_t batch_finish_time(const struct pod *);
void batch_pod_counted(struct batch_job *, struct pod *); /* its finalizer is taken off */
void batch_pod_patched(struct batch_job *, struct pod *); /* its phase was changed by hand */
void batch_refresh_wait(struct batch_job *);
void batch_recount_wait(struct batch_job *, struct pod *);

/* job_ranks.c */
enum rank_place { PLACE_OUT, PLACE_WAITS, PLACE_IN, PLACE_STUCK };
void job_ranks_up(struct batch_job *, struct pod *);
void job_ranks_down(struct batch_job *, struct pod *, bool silent);
void job_ranks_hang(struct batch_job *);
void job_ranks_crash(struct batch_job *, uint32_t rank, int32_t code);
void job_ranks_close(struct batch_job *);
unsigned job_ranks_wait(const struct batch_job *, const struct pod *); /* WAIT_* or NOT_WAITING */
unsigned job_group_wait(const struct batch_job *);
extern const struct train_hooks batch_train_hooks;

#endif
