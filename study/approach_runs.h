/* approach_runs.h - what is kept of the runs of one approach while they are read one by one; compare and report use it.
 *
 *     struct approach_runs a;
 *     approach_runs_begin(&a, &arena, &source);
 *     approach_runs_add(&a, &arena, run);            // once a replication
 *     approach_runs_end(&a);
 *     a.values[m * a.n + k]                          // metric m in the k-th run added
 *
 * A source may lend its first run where the caller has it open already; it stays the caller's:
 *     struct run *run = source_open(&source, k, &warnings, &err);   // its k-th run, as run_open
 *     source_close(&source, run);
 *
 * Memory: about 3 KB a run, in the arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_APPROACH_RUNS_H
#define TRAINYARD_STUDY_APPROACH_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "run/metrics.h"
#include "run/run.h"

struct approach_source {
    const char *name; /* as shown */
    char **dirs;      /* leaves, by replication */
    size_t n;
    bool patches_cluster; /* flagged in the output */
    struct run *first;    /* the run of dirs[0], open; NULL: it is read when it is needed */
};

struct run *source_open(const struct approach_source *, size_t k, char **warnings, char **err);
void source_close(const struct approach_source *, struct run *); /* run NULL: nothing */

/* Classes of GPU time as shown: those of activities, with redone work as one of its own. */
enum gpu_class { GPU_IDLE, GPU_HELD, GPU_WORK, GPU_REDONE, GPU_DOWN, GPU_ABSENT, N_GPU_CLASSES };
extern const char *const gpu_class_names[N_GPU_CLASSES];
enum gpu_class gpu_class_of(enum activity, bool redone);

typedef share_ns cell_sums[N_ACTIVITIES][2]; /* [activity][redone] */

struct approach_runs {
    const char *name, *approach, *version, *back_end, *hash, *scenario;
    uint64_t seed;
    size_t n, room;    /* runs added; that there is room for */
    double gpus, jobs; /* means over them; GPUs that existed */
    bool patches_cluster;
    size_t not_complete; /* runs that were interrupted, failed or still going */
    double *values;      /* [metric * n + k] */
    bool *bound;         /* [metric]: lower bounds among them */
    cell_sums *cells;    /* [k] */
};

void approach_runs_begin(struct approach_runs *, struct arena *, const struct approach_source *);
void approach_runs_add(struct approach_runs *, struct arena *, const struct run *);
/* Means, and values packed to the runs that were added. */
void approach_runs_end(struct approach_runs *);

#endif
