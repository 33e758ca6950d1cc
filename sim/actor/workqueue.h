/* workqueue.h - a controller's work queue with one worker, as controller-runtime has it.
 *
 * An object that is added waits its turn; added again while it waits it stands there once; added while it is being
 * worked on it comes again afterwards. A reconcile is a chain of steps: each does one API call's worth and says how long
 * that takes, so one slow reconcile keeps all other objects of the controller waiting, as it does in KubeRay
 * (reconcile concurrency 1).
 *
 *     static int64_t step(struct workqueue *q, struct work_item *w) { ...; return 28 * MS; or WORK_DONE; }
 *     workqueue_init(&q, sim, step);
 *     workqueue_add(&q, &cluster->work);
 *
 * Ownership: items lie in their objects; an object must not be freed while workqueue_holds() it: workqueue_drop() takes
 * it out first (a step in progress is abandoned).
 * Cost: O(1); an idle controller has no event pending.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ACTOR_WORKQUEUE_H
#define TRAINYARD_SIM_ACTOR_WORKQUEUE_H

#include "sim/cluster/sim.h"

enum { WORK_DONE = -1 };

struct work_item {
    struct work_item *next;
    bool queued, again; /* waits its turn; was added while it is worked on */
};

struct workqueue;
/* Does the next step of an object's reconcile. Returns how long it takes (ns), or WORK_DONE. */
typedef int64_t work_fn(struct workqueue *, struct work_item *);

struct workqueue {
    struct sim *sim;
    work_fn *step;
    struct work_item *first, *last; /* waiting */
    struct work_item *now;          /* being reconciled */
    struct event_id event;          /* its next step */
    bool running;                   /* inside a step */
};

void workqueue_init(struct workqueue *, struct sim *, work_fn *step);
void workqueue_add(struct workqueue *, struct work_item *);
void workqueue_drop(struct workqueue *, struct work_item *);

#endif
