/* shapes.h - pending jobs by shape: what they request, and so whether they fit, is equal within a shape.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_SHAPES_H
#define TRAINYARD_SIM_QUEUE_SHAPES_H

#include "base/hmap.h"
#include "sim/queue/batch.h"

struct shape {
    struct job_list line;     /* in order of submission (shapes_insert) */
    struct wait_class class;
    struct shape *next_active, *prev_active; /* shapes with a pending job */
    struct shape *next;       /* all, newest first */
    uint32_t detail, replicas, shares;
    int64_t total;            /* shares of a whole job */
    void *own;                /* the policy's: freed by shapes_free */
};

struct shapes {
    struct hmap by_key;       /* (class, shares a replica) -> shape */
    struct shape *active, *all;
    struct hmap classes;      /* (detail, replicas) -> number */
    struct shape *last;       /* of the last look-up: traces come in runs */
};

void shapes_init(struct shapes *);
void shapes_free(struct shapes *);
/* Puts the job into the line of its shape (job->policy points to it). O(1). */
struct shape *shapes_insert(struct sim *, struct shapes *, struct job *);
void shapes_remove(struct shapes *, struct job *);

/* For policies with an order of their own, which keep the lines in `own`: the shape of a job, and whether it is active. */
struct shape *shapes_find(struct sim *, struct shapes *, const struct job *);
void shapes_activate(struct shapes *, struct shape *);
void shapes_deactivate(struct shapes *, struct shape *);

#endif
