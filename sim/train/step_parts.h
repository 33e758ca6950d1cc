/* step_parts.h - how long a step is where the ranks lie now, and what it consists of.
 *
 *     struct step_parts p;
 *     step_parts_at(s, job, nodes, ranks, ppm, &p);     // at each change of size or place
 *     ... p.ns[STEP_BUBBLE] ..., p.length_ns ...        // their sum
 *
 * Declared parts (a job's "step"): computing and loading take 10^6 / ppm times as long on fewer ranks; communication is as
 * declared or that of the network model.
 * Modelled parts (a job's "model"): models/step.h with the data-parallel ranks that the GPUs at hand make, the hardware of the
 * slowest group that any rank lies on, and the places of the ranks: the shortest run of consecutive ranks on one node
 * decides whether tensor-parallel and other groups cross the fabric.
 * Either way computation waits for the slowest: a node may be slow (cluster "stragglers": drawn once a node and replication,
 * keyed by group and index, so that approaches see the same and more nodes leave the old ones alone), and each rank's time
 * varies from step to step (models/order_statistics.h).
 * Behind all that the loader of the job's data works (data_wait.h); what it takes longer is waited for.
 *
 * Cost: O(ranks), and 10 us for a modelled step; 200 us a collective where a measured one is carried to another scale. Pure but
 * for the streams that it makes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_TRAIN_STEP_PARTS_H
#define TRAINYARD_SIM_TRAIN_STEP_PARTS_H

#include "models/step.h"
#include "sim/cluster/sim.h"

struct step_parts {
    int64_t ns[N_STEP_PARTS]; /* by models/step.h's parts */
    int64_t length_ns;        /* their sum, at least 1 */
    uint32_t together;        /* GPUs of consecutive ranks that share a node, at the least; of a modelled step */
    int64_t edge_bytes;       /* that cross each edge of the job's ring of nodes in a step (models/traffic.h) */
    int64_t read_bytes;       /* that a node reads from the store of its data in a step; 0: from its own disk, or nothing */
    int64_t wait_ns;          /* of STEP_DATA, what the loader makes ranks wait */
    bool reads_ahead;         /* while the step runs; else the wait is all of the reading */
};

/* A rank is the process group of a pod; `nodes` has its node, in rank order. `nominal_ns`: the length of a step as the job's
 * work counts it. */
void step_parts_at(const struct sim *, const struct job *, const uint32_t *nodes, uint32_t ranks, uint32_t ppm,
                   int64_t nominal_ns, struct step_parts *out);

/* Length of a modelled step on the GPUs that this job asks for, on full nodes; that of its class when they are the same. */
int64_t step_nominal_of(const struct sim *, const struct job *);

/* How many times as long computation takes on a node; 1 on most. */
double node_slowness(const struct sim *, uint32_t node);

#endif
