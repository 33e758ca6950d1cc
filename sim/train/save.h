/* save.h - a job's checkpoints: on their way, durable, lost. Private to sim/train.
 *
 *     saves_init(sim, &t->saves, job, on_written);
 *     if (saves_underway(sim, v)) ...                      // one at a time: the next one waits for it
 *     if (!saves_write(sim, v, nodes, n)) ...              // false: no network to share; it takes v->save_ns
 *     ... on_written ...                                   // a transfer is through, the blocking one or that in the background
 *     int64_t bytes = saves_written(sim, v, step, nodes, n); // the blocking part is over: durable now, or in the background (0)
 *     saves_drop(sim, v);                                  // processes died: what was in the background is gone
 *     int64_t ns = saves_load(sim, v, nodes, n, fn, arg);  // SAVES_LOADING: fn is called when the transfer is through
 *
 * Where the cluster's network has contention, a checkpoint whose times follow from its size is a transfer: savers share a
 * store's write bandwidth and their nodes' links max-min fair with all else, loaders its read bandwidth (network.h).
 * Without, and where times are given, they take their nominal times.
 * A local store is the disks of the job's nodes: it takes nothing of the network, and what it holds is lost when one of
 * the nodes goes down, and of no use to ranks on other nodes. There is then no checkpoint: the work begins anew.
 *
 * Units: ns, steps, bytes. Memory: the nodes of a durable save on a local store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_TRAIN_SAVE_H
#define TRAINYARD_SIM_TRAIN_SAVE_H

#include "sim/cluster/network.h"
#include "sim/cluster/sim.h"

enum { SAVES_LOADING = -1 };

struct saves;
typedef void saves_fn(struct sim *, struct saves *);

struct saves {
    const struct checkpoint_spec *spec;
    saves_fn *on_written;
    uint32_t gpus;        /* of the job when it is whole */
    int64_t save_ns, background_ns, load_ns; /* nominal, at the job's size */
    int64_t durable;      /* last durable step; 0: none */
    int64_t pending;      /* step of the one in the background; -1: none */
    int64_t pending_ns;   /* when it will be durable; INT64_MAX: when its transfer is through */
    const struct job *job;
    struct event_id timer; /* at pending_ns, so that its end is recorded */
    int64_t begun_ns, durable_begun_ns; /* when the one under way, and the durable one, began */
    struct { uint32_t *v, n; } on, durable_on; /* nodes whose disks hold them; of a local store */
    struct net_transfer write, read;
    event_fn *loaded;
    void *loaded_arg;
};

void saves_init(struct sim *, struct saves *, const struct job *, saves_fn *on_written);
void saves_free(struct sim *, struct saves *);

/* Whether one is in the background still; pending_ns says until when, and on_written is called if its transfer ends it. */
bool saves_underway(struct sim *, struct saves *);
bool saves_write(struct sim *, struct saves *, const uint32_t *nodes, uint32_t n);
void saves_stop_write(struct sim *, struct saves *); /* a blocking one */
/* Gives the bytes that are durable by that: 0 while they are on their way (their record comes with their end), or where no size is said. */
int64_t saves_written(struct sim *, struct saves *, int64_t step, const uint32_t *nodes, uint32_t n);

/* Gives up what is not durable yet. */
void saves_drop(struct sim *, struct saves *);
/* Forgets a durable one that is lost to ranks on these nodes: v->durable is 0 from then on. */
void saves_look(struct sim *, struct saves *, const uint32_t *nodes, uint32_t n);
int64_t saves_load(struct sim *, struct saves *, const uint32_t *nodes, uint32_t n, event_fn *loaded, void *arg);
void saves_stop_load(struct sim *, struct saves *);

#endif
