/* parts.h - what the files of real/host share; nobody else's.
 *
 *   host.c      begin and end of a run, its clock, signals
 *   pods.c      processes in the places of pods: start, what they say, their end
 *   queue.c     submission, admission, placement
 *   ranks.c     what processes say -> phases of the job, steps, checkpoints
 *   operator.c, actor.c, none.c     what follows when a process has ended: a row of the table of life cycles each
 *   script.c    the scenario's scripted actions
 *
 * Times are the scenario's; only host.c knows the loop's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_HOST_PARTS_H
#define TRAINYARD_REAL_HOST_PARTS_H

#include "base/array.h"
#include "base/str.h"
#include "real/host/host.h"
#include "real/host/line.h"
#include "real/host/loop.h"
#include "real/host/plan.h"
#include "real/host/process.h"
#include "real/live_run.h"

struct host;
struct host_job;

enum seat_state {
    SEAT_NONE,     /* no process is in it, and none is to come by itself */
    SEAT_STARTING, /* started; it has not said anything */
    SEAT_WAITS,    /* looks for its peers */
    SEAT_MET,      /* has met them, and loads */
    SEAT_READY,    /* trains, or waits for the others to be ready */
    SEAT_STUCK,    /* trained; a peer is gone or hangs, or one has come */
    SEAT_BACKOFF,  /* the container waits to be restarted */
    SEAT_STOPPED,  /* its process has ended just now */
    SEAT_ENDED,    /* ... for good */
};

struct holding { uint32_t node, group; int64_t shares; }; /* group: the number that live_take gave */

/* The place of a process. */
struct host_pod {
    struct host_job *job;
    uint32_t number;          /* in job->pods and job->plan.v */
    ARRAY(struct holding) holds;
    struct process process;
    struct str text;          /* of its stdout: a line that has not ended */
    enum seat_state state;
    enum pod_state noted;     /* the last that was told; N_POD_STATES: none */
    bool reading;             /* its lines are being read: not again from within */
    bool hung, stands;        /* stands: its node is lost, and it is stopped */
    bool replaced;            /* the pod is deleted or has failed: another one takes its place */
    bool is_agent;            /* what was killed was a process of torchrun's agent, which starts it again */
    bool by_agent;            /* ... and was killed by it, to meet anew: another rank has come, or one was lost */
    bool took_part;           /* its process has met others */
    int told_code;            /* what its end counts as; -1: as it ends */
    uint32_t restarts, backoff;
    int64_t started_ns;       /* its process */
    int64_t since_ns;         /* ... or its group's steps: nothing is left from failures before */
    struct loop_timer timer;
    struct loop_timer deaf;   /* armed from SIGKILL on to its end, on another machine */
};

enum job_stage {
    STAGE_FUTURE, STAGE_DEPENDS, STAGE_PENDING, STAGE_ACTIVE,
    STAGE_STOPPING, /* taken back: when its processes have ended it is suspended, or asks again */
    STAGE_SUSPENDED,
    STAGE_ENDING,   /* over; processes of it are left */
    STAGE_OVER,
};

struct host_life {
    bool pods_start; /* a process is a pod's container; else Ray's pods are there before */
    void (*begin)(struct host_job *);       /* admitted; its pods hold their GPUs */
    void (*joined)(struct host_job *);      /* a rank has come while the others step; NULL: nothing follows */
    void (*again)(struct host_pod *);       /* its process, which has lost a peer, would meet anew as it is; NULL: it may */
    void (*started)(struct host_job *);     /* all ranks step; NULL: nothing follows */
    void (*ended)(struct host_job *, struct host_pod *, int code); /* the pod is SEAT_STOPPED */
    void (*resized)(struct host_job *);     /* other pods of it hold GPUs than before; NULL: it has a fixed size */
    void (*hang)(struct host_job *, struct host_pod *); /* what follows for the one that hangs */
};

struct host_job {
    struct host *host;
    uint32_t index;
    const struct job_spec *spec;
    const struct job_detail *detail;
    const struct host_life *life;
    enum job_stage stage;
    struct job_plan plan;
    struct host_pod *pods;    /* plan.n of them */
    uint32_t wanted;          /* the first so many are to run */
    uint32_t world;           /* ranks of the present meeting; 0: it is not over */
    int port, port_socket;    /* where its ranks meet; bound to it so that nobody else gets it, -1: none */
    uint32_t failures, agent_restarts;
    int64_t failed_ns, settled_ns, gone_ns; /* agents: the last failure that they have counted; its consequences so far; the one
                                             * at which they had no restart left and ended. -1: none */
    int64_t step, durable;    /* steps done; step of the last whole checkpoint */
    int64_t admitted_ns, poll_base_ns, group_ns; /* polls go on from then; the present group began then */
    bool resizing, regrouping, noticing; /* noticing: it has failed, and its controller will see it */
    enum wait_reason stop_reason; /* of STAGE_STOPPING: WAIT_SUSPENDED, or it asks again */
    struct loop_timer timer, limit, scaler; /* scaler: of who looks for pods or ranks that have come */
};

struct host {
    const struct scenario *scenario;
    const struct live_spec *live;
    const struct host_options *options;
    struct live_run *run;
    struct loop *loop;
    struct arena arena;
    const char *work, *data;
    const char *id;           /* of this run, among all that use the same directories */
    struct host_job *jobs;    /* by index of submission */
    size_t n_jobs;
    int64_t *free_shares;     /* by node */
    uint16_t *node_group;
    bool *node_up;
    size_t next_submit;
    uint32_t next_action;
    struct loop_timer submit, script, flush, horizon, pass, patience;
    bool closing, done;       /* closing: all is killed; done: the loop ends */
    struct host_result *result;
};

/* ---- host.c ---- */
int64_t host_now(const struct host *);
/* `ns` of the scenario from now. */
void host_after(struct host *, struct loop_timer *, int64_t ns, loop_fn *, void *arg);
void host_fail(struct host *, char *error); /* ends the run; takes the text */
void host_tell(struct host *, const struct host_job *, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void host_look_for_end(struct host *);      /* a job has ended, or cannot go on */
/* The job is over: what is left of it is killed (`spare`: ends by itself). */
void job_over(struct host_job *, enum job_state, bool spare);
/* It lets go of all, then asks for admission again, or is suspended. */
void job_take_back(struct host_job *, enum stop_reason);

/* ---- pods.c ---- */
/* Rank `rank` of `world` begins in the pod. A failure of the system ends the run. */
void seat_start(struct host_pod *, uint32_t rank, uint32_t world);
/* SIGKILL; its end will count as exit with `code` (-1: 137). Without a process nothing happens. One on another machine that has not
 * ended 5 s later is given up: the machine cannot be reached. */
void seat_kill(struct host_pod *, int code);
void seat_enter(struct host_pod *, enum seat_state);
/* What the pods that it stands for go through, as run/states.h has it; `b`: docs/run-format.md. Nothing after an end. */
void seat_note(struct host_pod *, enum pod_state, int64_t b);
/* What the other processes of the job have said and nobody has read; then the clock is at this line again. */
void pods_read_others(struct host_pod *, const struct worker_line *);
void pods_reap(struct host *);
void pods_none_left(struct host_job *);  /* of a job that is over or taken back: what follows */
bool job_has_processes(const struct host_job *);
void job_kill_all(struct host_job *);
/* Another one than before, where there was one. */
void job_new_port(struct host_job *);
void job_free_port(struct host_job *);

/* ---- queue.c ---- */
void queue_begin(struct host *);
/* Of one that comes after others: when these have succeeded; it is cancelled when one has ended otherwise. */
void queue_asks(struct host_job *);
void queue_pass_soon(struct host *);
void queue_job_ended(struct host *);
/* GPUs for those of the first n processes of an active job that hold none, as far as there are any; how many got some. */
uint32_t queue_grow(struct host_job *, uint32_t n);
void queue_free(struct host_pod *);

/* ---- ranks.c ---- */
void ranks_line(struct host_pod *, const struct worker_line *);
/* They step no longer, and fall back to the last checkpoint. */
void ranks_stop(struct host_job *, enum activity, enum wait_reason, enum cause next);
/* What the job waits for, and in which activity its pods are. */
void ranks_refresh(struct host_job *);
bool ranks_wait(const struct host_job *); /* some wait to meet */

/* ---- life cycles ---- */
extern const struct host_life host_operator, host_actor, host_none;

/* ---- script.c ---- */
void host_script_begin(struct host *);
bool host_script_more(const struct host *);
void script_check(const struct scenario *, struct diag *);

#endif
