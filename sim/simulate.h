/* simulate.h - run one scenario under one approach, one replication.
 *
 *     struct sim_options o = { .dir = "out", .record_level = 1, .replication = 0 };
 *     struct sim_result r;
 *     if (!sim_run(scenario, &o, &r)) die(r.error);
 *
 * Any number of calls may run at once in different threads on one scenario.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_SIMULATE_H
#define TRAINYARD_SIM_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/progress.h"
#include "input/scenario.h"
#include "run/run.h"

/* A run that people look at while it grows: pace.h. */
struct watch_options {
    bool watched;          /* its files are brought up to date about once a second */
    double speed;          /* simulated time passes at most so many times as fast as the wall's; 0: as fast as it can */
    void (*begun)(void *); /* called once, when the run's directory can be opened; may be NULL */
    void *arg;
};

struct sim_options {
    const char *dir;       /* NULL: nothing is written */
    int record_level;      /* 0 none, 1 jobs, 2 full */
    uint32_t replication;
    bool force;
    bool scratch;          /* the files are read at once and removed: no waiting for the disk */
    const struct progress_sink *progress; /* progress of a single long run; NULL: silent */
    bool keep_run;         /* the result has the run as run_open would give it, without job rows */
    const volatile int *interrupt; /* set from a signal handler: stop, close the run as interrupted */
    struct watch_options watch;
};

struct sim_result {
    char fingerprint[33];
    int64_t end_ns;
    size_t jobs, succeeded, failed, unfinished;
    uint64_t events;
    bool interrupted, no_progress;
    char *no_progress_text; /* who waits for what and who holds it; owned by the result */
    char *error;            /* on false; exit code 4 */
    struct run *run;        /* with keep_run: for metric_of(); owned by the result */
};

bool sim_run(const struct scenario *, const struct sim_options *, struct sim_result *);
void sim_result_free(struct sim_result *);

/* Step by step, for tests that interleave two simulations in one process. */
struct sim;
struct sim *sim_create(const struct scenario *, const struct sim_options *, char **error);
bool sim_step(struct sim *); /* one event; false at the end */
bool sim_close(struct sim *, struct sim_result *);

#endif
