/* host.h - plays a scenario's jobs as real processes: bin/trainyard-worker on this machine and, over ssh, on others.
 *
 *     if (!host_check(scenario, &diag)) ...                    // what this back end cannot play, by name: exit code 3
 *     struct host_result r;
 *     if (!host_run(scenario, &(struct host_options){.dir = "out", .worker = path}, &r)) die(r.error);    // 4
 *
 * A pod is a process (or several pods one, where the scenario's "live" says so) and holds its GPUs by count: a node has as
 * many as the scenario says, whatever the machine has. Jobs are admitted whole, in order of submission: `fifo` strictly,
 * `fifo-skip` and `none` whoever fits. Processes get the environment that the life cycle's controller writes into
 * the pods, with addresses and ports of here.
 *
 *   training-operator-v1   a container that ends is restarted in place as its restart policy says, after the kubelet's
 *                          back-off; torchrun's elastic jobs meet again by themselves (operator.c)
 *   ray-train-v2           the controller polls; a failure or a resize stops the whole group, which begins anew from the last
 *                          checkpoint (actor.c)
 *   none                   a process that fails ends its job
 *
 * Back-offs, polls and time-outs are those of the approach's stack. One thread does all (loop.h). A process dies with this
 * one, however it dies. SIGINT, SIGTERM and SIGHUP end the run as interrupted.
 *
 * Times: all of the scenario's and the run's are live.time_scale times the machine's.
 * Files: DIR is the run; below WORK (DIR/work if NULL) lie the data set, each job's checkpoints and what its processes said; on other
 * machines data and checkpoints below the directory that "live" names. Checkpoints are in JOB/saved-RUN: no run goes on from another's.
 * When a run begins WORK/JOB is emptied; on other machines nothing is removed, then or at the end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_HOST_HOST_H
#define TRAINYARD_REAL_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "input/scenario.h"

struct host_options {
    const char *dir, *work;
    const char *worker;  /* the program */
    int record_level;
    int gpus;            /* of this machine: processes compute on them, and the run is "gpu"'s; 0: on the CPU */
    bool force;
    FILE *tell;          /* what is scaled, and what happens; NULL: silent */
};

struct host_result {
    size_t jobs, succeeded, failed, unfinished;
    int64_t end_ns;
    bool interrupted, no_progress;
    char *error; /* to free */
};

bool host_check(const struct scenario *, struct diag *);
/* What is scaled, a line each, appended. */
struct str;
void host_describe(const struct scenario *, struct str *);
bool host_run(const struct scenario *, const struct host_options *, struct host_result *);

#endif
