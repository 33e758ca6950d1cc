/* ray.h - plays a scenario's jobs on a live Ray cluster: trainyard-worker in the workers of Ray Train v2 groups.
 *
 *     if (!ray_check(scenario, &diag)) ...                        // what this back end cannot play, by name: exit code 3
 *     struct ray_result r;
 *     if (!ray_run(scenario, &(struct ray_options){.dir = "out", .address = "http://head:8265", ...}, &r, &diag)) ...    // 4
 *
 * Each job is submitted at its time through the REST API of the head (client.h), with the driver that stands beside
 * (driver.py) as its program; what the driver prints becomes the records of the run. Ray itself queues, places, watches and
 * starts again: nothing of that is in here. The cluster must be there, with as many nodes alive as the scenario has nodes
 * with GPUs, each with at least as many GPUs: node n of the scenario is the n-th of them by address.
 *
 *   admitted    submitted: Ray takes all that comes      started     all ranks of the group have begun
 *   allocated   the placement group is there             stopped     a fault of the scenario, else the last step before the
 *                                                                    controller restarts or resizes
 * The phases between are those of the simulator's ray-train-v2: control plane (until the driver asks for workers, and where
 * as much is free as it must have), capacity, start (the workers' processes), rendezvous (from the whole group to all ranks
 * having met), checkpoint load, detection, resize. Moments are the machines' own, in seconds since the epoch: their clocks must
 * agree (to be told by how much).
 *
 * What the script does to nodes (node-lost, node-back; container-exit of pod/ray-shared-worker-NUMBER, the Ray processes of
 * a node) only the user can do: `node_command` is run, with lost, back or exit and the node's address, and is not waited for.
 * The ranks there stop at that moment, as told; those that the command does not reach at once do a step or two more, which
 * count for nothing. The loss of a node that no script announces is seen when the head knows of it (it is asked every 2 s),
 * and what that does to a job when Ray Train's controller sees it.
 *
 * What jobs say is read five times a second while it is short, and less often as it grows (4 MB/s in all); before anything else
 * is told. Steps are told in sums (driver.py), so that what the driver holds back at a stop is 0.2 s of steps, or a ten-thousandth of the
 * job's age where that is more.
 *
 * Files: data and checkpoints lie below `work`, under the same path on all nodes, as does the worker program. Checkpoints are in
 * JOB/SUBMISSION, of its own for each run; what earlier runs have left in `work`/JOB is removed here when a run begins, on nodes with
 * disks of their own it stays.
 * Interrupted (*stop set), or on an error, the jobs of this run are stopped; killed, they go on and end by themselves.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_RAY_RAY_H
#define TRAINYARD_REAL_RAY_RAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "input/scenario.h"

struct ray_options {
    const char *dir, *work;        /* work NULL: DIR/work */
    const char *address;           /* of the dashboard */
    const char *token;             /* NULL: none */
    const char *worker;            /* the program */
    const char *node_command;      /* NULL: none, and ray_run refuses a script that needs it */
    int record_level;
    bool force;
    const volatile int *stop;
    FILE *tell;                    /* what happens; NULL: silent */
};

struct ray_result {
    size_t jobs, succeeded, failed, unfinished;
    int64_t end_ns;
    bool interrupted;
};

bool ray_check(const struct scenario *, struct diag *);
bool ray_run(const struct scenario *, const struct ray_options *, struct ray_result *, struct diag *);

#endif
