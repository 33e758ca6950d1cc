/* sim.h - one simulation: its clock, cluster, ledgers, jobs, and the parts that act on them.
 *
 * Nothing is global: all state of a run hangs on its `struct sim`, so any number of them run side by side and their
 * results do not depend on each other. Parts talk in one direction through two tables of functions:
 *
 *   policy (sim/queue)                     admission: which pending job may start, which must stop
 *       |  job_admit(), job_stop()
 *   life cycle (sim/operator, sim/actor)   what an admitted job does: pods, rendezvous, training, restarts, ends
 *       |  job_allocated(), job_started(), job_finished(), job_released()
 *   core (this header)                     states, times, wait ledger, records, jobs.csv
 *
 * The life of a job:
 *
 *   PENDING --job_admit--> ADMITTED --job_started--> RUNNING --job_finished--> SUCCEEDED or FAILED
 *      ^                       |                        |
 *      +------ job_requeue ----+--- policy: job_stop ---+    (preempted, evicted; the life cycle lets go of all first)
 *
 * job_finished ends the job's time; what it still holds then (pods not cleaned up) is booked as after-end until
 * job_released. A policy hears of both: quotas free at the first, nodes at the second.
 *
 * Every change of state goes through the functions below, which keep the wait ledger and write the records; nothing else
 * writes the fields. The GPU ledger is kept by who holds the shares (life cycles, through `hold_*` in hold.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_CLUSTER_SIM_H
#define TRAINYARD_SIM_CLUSTER_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "input/scenario.h"
#include "run/ledger.h"
#include "run/record.h"
#include "run/run.h"
#include "run/wait.h"
#include "sim/cluster/pool.h"
#include "sim/engine/event.h"
#include "sim/engine/stream.h"

struct sim;
struct job;
struct train; /* sim/train/train.h */

/* Pending jobs that share queue, shape and so the reason why they wait: one clock and one sum of demand, so that a change
 * of reason costs the same for one job or 10,000. Owned by the policy; the policy makes it with sim_class_init. */
struct wait_class {
    struct wait_clock clock;
    int64_t shares;  /* demand of the jobs on it */
    uint32_t jobs;
    uint32_t number; /* in the records */
    uint16_t group;  /* node group that the demand is counted in */
    uint8_t told;    /* reason that the records know; N_QUEUE_REASONS: none */
};

/* Admission. A row of sim/queue/policy.c's table. */
struct policy_ops {
    const char *name;
    void *(*create)(struct sim *);
    void (*destroy)(struct sim *, void *state);
    /* The job asks for admission; also again after job_requeue. */
    void (*submit)(struct sim *, struct job *);
    /* A pending job no longer asks (deleted, suspended). */
    void (*withdraw)(struct sim *, struct job *);
    /* An admitted job has ended; it may still hold nodes. */
    void (*finished)(struct sim *, struct job *);
    /* An admitted job holds nothing any more (ended, or stopped and about to be requeued). */
    void (*released)(struct sim *, struct job *);
    /* Nodes came or went, or a quota changed. */
    void (*capacity)(struct sim *);
    /* Who keeps this pending job waiting: index of a job, or NO_JOB. May be NULL. */
    int32_t (*blocker)(struct sim *, const struct job *);
    /* Admitted jobs are to have fewer shares than before (resized_shares). NULL: does not count by what jobs are. */
    void (*resized)(struct sim *);
    /* What is stopped shows nothing active in its object's status; pods may still be terminating. NULL: waits for released. */
    void (*idle)(struct sim *, struct job *);
};

/* What an admitted job does. A row of sim/lifecycle.c's table. */
struct lifecycle_ops {
    const char *name;
    bool needs_pods;  /* false: the policy places the whole job and live->alloc is filled when start is called */
    /* Optional per-simulation state. */
    void *(*create)(struct sim *);
    void (*destroy)(struct sim *, void *state);
    /* Optional: an admission policy holds the job from its submission on; records what its object shows meanwhile. */
    void (*held)(struct sim *, struct job *);
    void (*start)(struct sim *, struct job *);
    /* Let go of everything held; job_released() when done (at once or later). STOP_HORIZON: the run ends; book what the
     * ranks have done up to now and land lifted shares, nothing else. */
    void (*stop)(struct sim *, struct job *, enum stop_reason);
    /* A scripted action on the job or one of its pods; false: this life cycle knows no such thing. */
    bool (*script)(struct sim *, struct job *, const struct script_action *, const char *pod);
    /* A node on which the job holds something went down or came back. */
    void (*node)(struct sim *, struct job *, uint32_t node, bool up);
};

/* A job that has been submitted and not yet forgotten. 112 bytes; what only an admitted job needs is in `live`. */
struct job {
    const struct job_spec *spec;
    struct job_live *live;      /* from the first admission (or any history) to the end; NULL before */
    struct wait_class *class;   /* while it is pending and shares a clock; NULL: own reason in `wait` */
    struct wait_ticket ticket;
    struct job *prev, *next;    /* the policy's own: a list of pending or running jobs */
    void *policy;               /* the policy's own */
    int32_t index;              /* order of submission */
    uint32_t policy_key;        /* the policy's own */
    uint8_t state;              /* enum job_state */
    uint8_t wait;               /* enum wait_reason or NOT_WAITING */
    uint8_t cause;              /* enum cause of the current attempt */
    uint8_t flags;
};
enum { JOB_HOLDS = 1 /* holds something in a pool */, JOB_STOPPING = 2, JOB_ENDED = 4, JOB_DEMANDS = 8 /* counted in the demand */,
       JOB_ALLOCATED = 16 /* all that this attempt needs is bound */ };

/* What an admitted job, or one with a history, has besides. */
struct job_live {
    const struct lifecycle_ops *life;
    void *state;             /* the life cycle's */
    struct alloc alloc;      /* placed by the policy (life cycles without pods) */
    struct train *train;
    int64_t admitted_ns, allocated_ns, started_ns; /* first of each, -1 before */
    int64_t finished_ns;
    struct wait_track wait;
    struct node_interval *nodes; /* of the last allocation */
    uint32_t n_nodes;
    uint32_t attempt, restarts, preemptions;
    uint64_t flavors;        /* of the main role, as admission assigned them: a byte a resource, number + 1; 0: none */
    uint32_t pods;           /* of the main role, as admitted; 0: as the job says */
    uint8_t eviction;        /* rule by which it is being evicted (enum kueue_reason), for the record */
    uint64_t groups;
    int64_t done_ns;         /* work done so far at full speed (life cycle none; srpt, las read it) */
    int64_t run_since_ns;
    share_ns work, redone, held; /* of this job */
    share_ns work_by[N_WORK_ACTIVITIES]; /* of work */
    uint32_t together;           /* GPUs of consecutive ranks that share a node, at the least; 0: not known */
    share_ns recovery;           /* of held: what a failure or a preemption cost */
    int64_t held_shares;     /* in holds now (hold.h) */
    int64_t resized_shares;  /* its part of the simulation's */
    uint32_t groups_made;    /* numbers of its pods and allocation groups, in the records */
};

/* A job's own sums; whoever books into the ledger tells them too. */
static inline void job_live_worked(struct job_live *l, enum activity activity, bool redone, share_ns sum)
{
    if (redone) {
        l->redone += sum;
        return;
    }
    l->work += sum;
    l->work_by[activity - FIRST_WORK] += sum;
}

static inline void job_live_held(struct job_live *l, enum activity activity, enum cause cause, share_ns sum)
{
    l->held += sum;
    if (held_is_recovery(activity, cause)) l->recovery += sum;
}

struct sim {
    const struct scenario *scenario;
    const struct job_spec *specs; /* this replication's workload, by submission */
    size_t n_specs;
    uint32_t replication;
    struct event_queue *events;
    struct pool *pool;
    struct ledger *ledger;
    struct run_writer *out;
    struct recorder *recorder;
    struct arena arena;            /* lives as long as the simulation */
    const struct policy_ops *policy;
    void *policy_state;
    const struct lifecycle_ops *lifecycle[N_JOB_KINDS];
    void *lifecycle_state[N_JOB_KINDS];
    struct kube *kube;             /* sim/kube/kube.h; NULL when no life cycle has pods */
    struct network *network;       /* sim/cluster/network.h; NULL when flows do not contend */
    struct calendar *calendar;     /* sim/cluster/calendar.h; NULL without hardware faults */
    struct progress_watch *watch;  /* sim/cluster/watch.h: deadlocks and partial holds */
    struct job **by_index;         /* live jobs by index of submission; NULL when ended and forgotten */
    size_t next_arrival;
    size_t n_live, n_ended;
    uint32_t n_classes;            /* of waiting jobs, made so far */
    int64_t *blocked_shares, *fragmented_shares; /* pending demand by group: kept off; allowed but not fitting */
    int64_t up_shares;             /* of nodes that are up */
    int64_t resized_shares;        /* of admitted jobs, beyond what they were submitted with; below 0: less than that */
    int64_t last_progress_ns;      /* when ranks last stepped, or a job began or ended */
    int64_t last_repair_ns;        /* when a node last came back: what waited for it begins only then */
    uint32_t n_stepping;           /* jobs whose ranks step now */
    uint32_t restarts_in_vain;     /* of all jobs, since one of them made a step that was new, or ended */
    int64_t warmup_ns, horizon_ns;
    struct job *free_jobs;         /* for reuse */
    struct job_live *free_live;
    struct hold *holds;            /* all active ones, newest first */
    struct script *script;         /* sim/script.h */
    struct job_spec *owned_specs;  /* to free, when this replication's workload is its own */
    ARRAY(struct job *) dependents; /* wait for other jobs to end */
    bool *unsuccessful;            /* by index of submission: ended, and not well; NULL until one has */
    size_t n_succeeded, n_failed;
    bool interrupted;
    int64_t *node_lost_ns;         /* when each node last went down, -1: never; NULL without local stores */
    uint8_t *node_state;           /* ACT_FREE when up, else the activity of its free shares */
};

static inline int64_t sim_now(const struct sim *s) { return event_clock(s->events); }

/* ---- called by policies ---- */

/* Admission: the attempt begins. The life cycle's start is called before this returns. `groups`: node groups it may use.
 * For life cycles without pods `a` is the placement (moved into the job); NULL otherwise. */
void job_admit(struct sim *, struct job *, uint64_t groups, struct alloc *a);
/* Before job_admit, by policies that assign flavors or admit fewer pods. */
void job_assign(struct sim *, struct job *, uint64_t flavors, uint32_t pods);
/* Takes an admitted job back; `by` is the job that it makes room for, or NULL. The life cycle lets go of everything,
 * then policy->released is called and the job is pending again (submit is called). */
void job_preempt(struct sim *, struct job *, enum stop_reason, const struct job *by);
/* A job's reason to wait: its own (any time), or that of a class (while it is pending). */
void job_wait(struct sim *, struct job *, unsigned reason);
void job_wait_in(struct sim *, struct job *, struct wait_class *);
/* The reason of all jobs of a class. */
void sim_class_init(struct sim *, struct wait_class *, uint64_t groups, enum wait_reason);
void sim_class_reason(struct sim *, struct wait_class *, enum wait_reason);
/* A pass of the policy at this instant, after all releases and submissions; asked for any number of times, made once. */
void sim_pass(struct sim *, event_fn *fn, bool *asked);

/* ---- called by life cycles ---- */

void job_allocated(struct sim *, struct job *);
void job_started(struct sim *, struct job *);           /* first step of this attempt on all ranks */
/* Ranks stopped stepping; what follows is a new attempt for this cause. */
void job_interrupted(struct sim *, struct job *, unsigned wait_reason, enum cause next);
/* Ranks stopped stepping, with no new attempt to follow: the work is done and nobody has seen it yet. */
void job_paused(struct sim *, struct job *, unsigned wait_reason);
void job_finished(struct sim *, struct job *, enum job_state);
/* Its object's status shows nothing active: said by life cycles whose pods may outlast that, as often as it is written. */
void job_idle(struct sim *, struct job *);
void job_released(struct sim *, struct job *);          /* holds nothing; ends or requeues it */
/* A life cycle without restarts of its own lost the job's attempt (a node went down) and holds nothing: it is requeued. */
void job_lost(struct sim *, struct job *);

/* ---- for all ---- */

int64_t job_total_shares(const struct sim *, const struct job *); /* as it was submitted */
/* It has been scaled: from now until it is released it is to have so many. Nothing happens when it is not admitted. */
void job_resized(struct sim *, struct job *, int64_t shares);
static inline const struct job_detail *job_detail_of(const struct sim *s, const struct job *j)
{
    return &s->scenario->details[j->spec->detail];
}
uint32_t job_account(struct sim *, const struct job *, uint32_t group); /* ledger account of its current cause */
/* Makes the job of a spec, writes its submission and hands it to the policy, or keeps it until the jobs that it comes after
 * have succeeded; when one of them ends otherwise it is cancelled. */
void job_submit(struct sim *, size_t index);
/* Suspends a pending job, and lets it ask for admission again. */
void job_put_aside(struct sim *, struct job *);
void job_ask_again(struct sim *, struct job *);
/* At the end of a run: brings an unfinished job's waits up to now (it leaves its class), then writes its row. */
void job_settle(struct sim *, struct job *);
void job_write_row(struct sim *, struct job *);
/* The request that places all of a job's main role at once. */
void job_request(const struct sim *, const struct job *, struct place_request *);
void sim_record(struct sim *, enum record_type, const struct job *, uint32_t subject, unsigned code, int64_t a,
                int64_t b);
/* Of a range of `n` pods or actors of one job (recorder_range). */
void sim_record_range(struct sim *, enum record_type, const struct job *, uint32_t first, unsigned code, uint32_t n, int64_t b);

#endif
