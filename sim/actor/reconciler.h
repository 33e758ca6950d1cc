/* reconciler.h - a controller with one worker whose reconciles take several API calls.
 *
 * On top of engine/workqueue.h: a reconcile is a chain of steps, each does one call's worth and says how long that takes;
 * the worker stays with the object until the chain ends. So one slow reconcile keeps all other objects of the controller
 * waiting, as it does in KubeRay (reconcile concurrency 1).
 *
 *     static int64_t step(struct reconciler *c, struct work_item *w) { ...; return 28 * MS; or RECONCILED; }
 *     struct reconciler *c = reconciler_create(sim, step);
 *     reconciler_add(c, &cluster->work);
 *
 * An object that is added while it is worked on comes again afterwards. Items lie in their objects; an object is taken
 * out with reconciler_drop() before it is freed (a chain in progress is abandoned).
 * Cost: O(1) expected.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ACTOR_RECONCILER_H
#define TRAINYARD_SIM_ACTOR_RECONCILER_H

#include "sim/cluster/sim.h"

enum { RECONCILED = -1 };

struct work_item { uint64_t key; }; /* 0: not known to a reconciler yet */

struct reconciler;
typedef int64_t reconcile_fn(struct reconciler *, struct work_item *);

struct reconciler *reconciler_create(struct sim *, reconcile_fn *step);
void reconciler_destroy(struct reconciler *);
void reconciler_add(struct reconciler *, struct work_item *);
void reconciler_drop(struct reconciler *, struct work_item *);

#endif
