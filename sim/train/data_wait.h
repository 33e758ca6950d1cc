/* data_wait.h - how long a step of a job waits for its data, where its ranks lie now.
 *
 * A rank here is the process group of a pod (train.h). The loaders of a job (input/data.h) are alike but for their nodes: what
 * counts is the node with most GPUs, and the fewest cores a GPU.
 * Cost: O(ranks). Pure.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_TRAIN_DATA_WAIT_H
#define TRAINYARD_SIM_TRAIN_DATA_WAIT_H

#include "input/data.h"
#include "sim/cluster/sim.h"

struct data_wait {
    int64_t ns;         /* that a step waits */
    int64_t node_bytes; /* that the job reads a node and step from a store which is not the node's own */
    bool ahead;         /* while the step runs */
};
/* Of a step whose other parts take rest_ns. job_detail_of(job)->data is not NULL, here and below; `ppm` as in train_run, `steps` of the whole job. */
struct data_wait data_wait_at(const struct sim *, const struct job *, const uint32_t *nodes, uint32_t ranks, uint32_t ppm,
                              int64_t steps, int64_t rest_ns);

#endif
