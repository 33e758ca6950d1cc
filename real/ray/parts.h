/* parts.h - what ray.c and job.c share; nobody else's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_RAY_PARTS_H
#define TRAINYARD_REAL_RAY_PARTS_H

#include "base/arena.h"
#include "base/array.h"
#include "real/host/plan.h"
#include "real/live_run.h"
#include "real/ray/client.h"
#include "real/ray/line.h"
#include "real/ray/ray.h"

enum ray_stage { RAY_FUTURE, RAY_OPEN, RAY_OVER };

struct ray_job {
    uint32_t index;
    enum ray_stage stage;
    struct job_plan plan;
    const char *id;              /* of the submission */
    size_t read;                 /* bytes of its output that were taken */
    int64_t group;               /* the present one; 0: none yet */
    uint32_t world, starts;      /* ranks of it; that have begun */
    ARRAY(uint32_t) holds;       /* groups of the live run, one a rank */
    int64_t step, durable, last_ns; /* steps done, step of the last whole checkpoint, end of the last step */
    bool noticed;                /* of the present stop: the controller has seen it */
};

struct ray_play {
    const struct scenario *scenario;
    const struct ray_options *options;
    struct ray_client *client;
    struct live_run *run;
    struct arena arena;
    struct ray_nodes nodes;      /* of the scenario's nodes, in their order */
    uint32_t *node_numbers;      /* of the scenario: of each of `nodes` */
    struct ray_job *jobs;
    size_t n_jobs;
    int64_t begin_ns;            /* since the epoch: time 0 of the run */
    const char *data, *work;
    struct ray_result *result;
};

/* What the line says has happened: moves the job and the run on. */
void ray_job_line(struct ray_play *, struct ray_job *, const struct ray_line *);
void ray_job_over(struct ray_play *, struct ray_job *, enum job_state);
/* The driver's source, as it was built in. */
extern const char ray_driver[];

#endif
