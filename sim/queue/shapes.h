/* shapes.h - pending jobs by shape: what they request, and so whether they fit, is equal within a shape.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_SHAPES_H
#define TRAINYARD_SIM_QUEUE_SHAPES_H

#include "base/hmap.h"
#include "sim/queue/batch.h"

struct shape {
    struct job_list line;     /* in order of submission */
    struct wait_class class;
    struct shape *next_active, *prev_active; /* shapes with a pending job */
    uint32_t detail, replicas, shares;
};

struct shapes {
    struct hmap by_key;       /* (class, shares a replica) -> shape */
    struct shape *active;
    struct hmap classes;      /* (detail, replicas) -> number */
    struct shape *last;       /* of the last look-up: traces come in runs */
};

void shapes_init(struct shapes *);
void shapes_free(struct shapes *);
/* Puts the job into the line of its shape (job->policy points to it). O(1). */
struct shape *shapes_insert(struct sim *, struct shapes *, struct job *);
void shapes_remove(struct shapes *, struct job *);

#endif
