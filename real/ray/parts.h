/* parts.h - what ray.c and job.c share; nobody else's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_RAY_PARTS_H
#define TRAINYARD_REAL_RAY_PARTS_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/array.h"
#include "real/host/plan.h"
#include "real/live_run.h"
#include "real/ray/client.h"
#include "real/ray/line.h"
#include "real/ray/ray.h"

enum ray_stage { RAY_FUTURE, RAY_OPEN, RAY_OVER };

struct ray_seat { uint32_t hold, node; }; /* group of the live run, the scenario's node; LIVE_NONE: none of its nodes */

struct ray_job {
    uint32_t index;
    enum ray_stage stage;
    struct job_plan plan;
    const char *id;              /* of the submission */
    size_t read;                 /* bytes of its output that were taken */
    int64_t group;               /* the present one; 0: none yet */
    uint32_t world, mets, starts, ends; /* ranks of it; that have met, begun, ended */
    ARRAY(struct ray_seat) seats; /* one a rank */
    int64_t step, durable, last_ns; /* steps done, step of the last whole checkpoint, end of the last step */
    bool noticed;                /* of the present stop: the controller has seen it */
};

struct ray_place {
    bool gone, machine;          /* there is no Ray on it; ... because it is gone itself */
    int64_t lost_ms;             /* since the epoch: when the script took it away; 0: never */
};

struct ray_play {
    const struct scenario *scenario;
    const struct ray_options *options;
    struct ray_client *client;
    struct live_run *run;
    struct arena arena;
    struct ray_nodes nodes;      /* of the scenario's nodes, in their order */
    uint32_t *node_numbers;      /* of the scenario: of each of `nodes` */
    struct ray_place *places;    /* of each of `nodes` */
    uint32_t n_acted;            /* actions of the script on nodes that are done, or of others */
    ARRAY(pid_t) commands;       /* that run */
    struct ray_job *jobs;
    size_t n_jobs;
    int64_t begin_ns;            /* since the epoch: time 0 of the run */
    int64_t next_look_ns;        /* when what jobs say is read again, at the earliest */
    const char *data, *work;
    struct ray_result *result;
};

/* Reads what all jobs have said until now. To be called before anything is told as of now: the run's clock does not go back. */
bool ray_follow(struct ray_play *, struct diag *);
/* What the line says has happened: moves the job and the run on. */
void ray_job_line(struct ray_play *, struct ray_job *, const struct ray_line *);
/* What runs on the scenario's node is gone. */
void ray_job_node_lost(struct ray_play *, struct ray_job *, uint32_t node);
void ray_job_over(struct ray_play *, struct ray_job *, enum job_state);

/* ---- node.c ---- */

/* "node/GROUP-2", "pod/ray-shared-worker-2" -> which of the scenario's nodes with GPUs, from 0, an action of the script acts on. */
bool ray_node_target(const struct scenario *, const struct script_action *, size_t *node);
/* What the script has for nodes until now is begun. False: the command cannot be run, or one has failed. */
bool ray_nodes_act(struct ray_play *, int64_t now_ns, struct diag *);
/* Asks the head which nodes are alive. */
bool ray_nodes_look(struct ray_play *, int64_t now_ns, struct diag *);
/* Commands that run are waited for. */
bool ray_nodes_end(struct ray_play *, struct diag *);

/* The driver's source, as it was built in. */
extern const char ray_driver[];

#endif
