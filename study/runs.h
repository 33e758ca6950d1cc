/* runs.h - runs a scenario under its approaches and replications, on threads, into a tree of run directories.
 *
 *     struct runs_plan p = { .scenario = "two-teams.json", .out = "out", .threads = 2, .record_level = 1 };
 *     struct runs r;
 *     if (!runs_execute(&p, &r, diag)) ...         // r.error (exit 4) or errors in diag (exit 3)
 *     r.cells[a * r.n_replications + k].result     // approach a, replication k
 *     runs_free(&r);
 *
 * Directories: OUT/<approach>/<replication>/, a level left out when single. `out` NULL: nothing is written.
 * Each cell is a simulation of its own, so the number of threads changes no result. SIGINT: cells under way close as
 * interrupted, the others are not begun; `interrupted` is set.
 * Watched cells are begun first and at once, on a thread each even where fewer were asked for; only they are slowed down.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_RUNS_H
#define TRAINYARD_STUDY_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/progress.h"
#include "input/scenario.h"
#include "sim/simulate.h"

enum { RUNS_MAX_WATCHED = 2 };

struct runs_plan {
    const char *scenario;         /* file; "-": stdin */
    const char *const *approaches; /* NULL: all of the scenario */
    size_t n_approaches;
    const char *const *overrides; /* "pointer=value", NULL-terminated; NULL: none */
    uint32_t replications;        /* 0: as the scenario says */
    const char *out;
    int record_level;
    unsigned threads;             /* 0: one a core */
    bool force;
    bool keep_run;                /* cells keep what metrics need: result.run */
    const struct progress_sink *progress; /* of anything over a second; NULL: silent */
    const volatile int *interrupt;
    unsigned n_watched;           /* replication 0 of so many approaches, the first ones, is watched (sim/pace.h); <= RUNS_MAX_WATCHED */
    double speed;                 /* of watched runs; 0: as fast as they can */
    void (*begun)(void *, char **dirs, unsigned n); /* once all watched runs can be opened, from one of the threads; may be NULL */
    void *arg;
};

struct runs_cell {
    const struct scenario *scenario;
    uint32_t approach, replication;
    char *dir;                    /* NULL when nothing is written */
    struct sim_result result;
    bool done, ok;
};

struct runs {
    struct scenario **scenarios;  /* one an approach */
    uint32_t n_approaches, n_replications;
    struct runs_cell *cells;
    bool interrupted;
    char *error;                  /* the first I/O error */
};

bool runs_execute(const struct runs_plan *, struct runs *, struct diag *);
/* Only runs these cells, whose scenario, replication and dir are set; of the plan it reads the lines from record_level on.
 * False when the interrupt came before all were done. */
bool runs_cells(const struct runs_plan *, struct runs_cell *, size_t n);
/* One scenario an approach, as runs_execute loads them, in *list (n of them, to free one by one); false: see diag. */
bool runs_load(const struct runs_plan *, struct scenario ***list, uint32_t *n, struct diag *);
/* Says which cells found that nothing can progress, and who waits for what; false: none did. */
bool runs_print_no_progress(const struct runs *, FILE *);
void runs_free(struct runs *);

#endif
