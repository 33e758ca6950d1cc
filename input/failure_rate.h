/* failure_rate.h - how often a job of a size is stopped, by what the scenario says of failures.
 *
 *     double rate = job_failures_per_s(scenario, detail, 2048, 256);      // 2,048 GPUs in 256 replicas; 1/rate is its MTBF
 *
 * The sum over all that stops the whole job: components of its nodes (each with the mean life of a new one; lemons raise
 * it), racks and switches that it stands on, storage, and the processes' own crashes and hangs. The mean over the node
 * groups that may serve the job, by their GPUs; the job stands on as few nodes, racks and switches as hold it. Links
 * count in so far as they stay down for longer than nccl.ib-timeout.
 * Hardware stops a job wherever it is; a process only while it trains.
 *
 * GSL's distributions are used for the share of long link repairs: this stands where scenarios are resolved.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_FAILURE_RATE_H
#define TRAINYARD_INPUT_FAILURE_RATE_H

#include "input/scenario.h"

double job_failures_per_s(const struct scenario *, const struct job_detail *, double gpus, double replicas);

#endif
