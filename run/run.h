/* run.h - a run on disk: what every command right of the simulator reads, be it simulated or live.
 *
 *   DIR/run.json       manifest: versions, scenario hash, seed, back end, approach, replication, `state`
 *                      running|complete|interrupted|failed, fingerprint, summary. Replaced atomically.
 *   DIR/scenario.json  the resolved scenario (and scenario.jobs.csv when the workload is a table)
 *   DIR/timeline.bin   records (record.h) in blocks: versioned header, checksum a block; append-only, readable while it
 *                      grows, recoverable to the last whole block
 *   DIR/jobs.csv       one row a job, in the order in which they end; unfinished ones last in order of submission
 *   DIR/ledger.csv     one row a cell: class, activity, redone, cause, queue, team, group, kind, gpu_s
 *
 * With several approaches or replications: DIR/<approach>/<replication>/, a level left out when single; run_open takes
 * any level (run_tree lists the leaves).
 *
 * Writing:
 *     struct run_writer *w = run_create(dir, &meta, &err);    // makes DIR, refuses one that holds a run unless `force`
 *     recorder = run_recorder(w); ...; run_job(w, &row); ...
 *     run_finish(w, RUN_COMPLETE, ledger, &summary, &err);    // writes ledger.csv, closes files, replaces run.json
 * A process that dies leaves `state: running` and whole blocks; readers say so and use what is there.
 *
 * `dir` NULL writes nothing at all (studies that only need summaries); everything else works the same.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_RUN_H
#define TRAINYARD_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/ledger.h"
#include "run/record.h"
#include "run/states.h"

enum run_state { RUN_RUNNING, RUN_COMPLETE, RUN_INTERRUPTED, RUN_FAILED };

/* Node numbers as an interval set; `text` form is "0 4-6". Owned by the caller. */
struct node_interval { uint32_t first, last; };

/* One row of jobs.csv. Times are ns; -1: did not happen. The first columns are
 * job,state,gpus,submit_s,admitted_s,allocated_s,started_s,finished_s,nodes; times as exact decimals in seconds.
 * Then restarts,preemptions,team,queue,kind,priority,ideal_s,work_gpu_s,redone_gpu_s,held_gpu_s,wait_<reason>_s ... */
struct job_row {
    const char *id; /* NULL: number is the id */
    uint64_t number;
    enum job_state state;
    int64_t gpu_shares; /* 1 GPU = 1,000 */
    int64_t submit_ns, admitted_ns, allocated_ns, started_ns, finished_ns; /* first of each; finished: last */
    const struct node_interval *nodes; /* of the last allocation */
    unsigned n_nodes;
    uint32_t restarts, preemptions;
    const char *team, *queue, *kind;
    int32_t priority;
    int64_t ideal_ns;                      /* work at full speed on its GPUs, never waiting: for slowdowns */
    share_ns work, redone, held;           /* of this job; exact */
    const int64_t *wait_ns;                /* N_WAIT_REASONS values */
};

/* What the manifest says of a run before it starts. */
struct run_meta {
    const char *scenario_name, *scenario_hash, *approach, *back_end; /* "sim", "host", ... */
    uint64_t seed;
    uint32_t replication;
    int record_level;
    bool force; /* replace an existing run */
    const char *const *queues, *const *teams, *const *groups, *const *kinds; /* names of ledger columns */
    unsigned n_queues, n_teams, n_groups, n_kinds;
    int64_t warmup_ns, horizon_ns; /* horizon -1: open end */
};

/* Figures of a run: the summary in run.json. All from exact sums; NAN where undefined. Over jobs submitted in
 * [warm-up, horizon); unfinished jobs enter quantiles as lower bounds. The names are in metrics.h. */
struct run_writer;

struct run_writer *run_create(const char *dir, const struct run_meta *, char **err);
struct recorder *run_recorder(struct run_writer *);
void run_job(struct run_writer *, const struct job_row *);
/* Extra text for DIR (scenario.json and such); written atomically. */
bool run_attach(struct run_writer *, const char *name, const char *text, size_t n, char **err);
/* Closes and frees the writer. False and *err (to free) on an I/O error; exit code 4. */
bool run_finish(struct run_writer *, enum run_state, const struct ledger *, int64_t end_ns, char **err);

/* ---- reading ---- */

struct run_job_view { /* a job_row read back; strings live in the run */
    struct job_row row;
    int64_t *waits;
};

struct run_ledger_row {
    enum activity activity;
    bool redone;
    enum cause cause;
    const char *queue, *team, *group, *kind; /* "" when not a job's */
    share_ns sum;
};

struct run {
    const char *dir, *scenario_name, *approach, *back_end, *fingerprint, *version, *scenario_hash;
    enum run_state state;
    uint64_t seed;
    uint32_t replication;
    int64_t end_ns, warmup_ns, horizon_ns;
    struct run_job_view *jobs;
    size_t n_jobs;
    struct run_ledger_row *ledger;
    size_t n_ledger;
    void *owner; /* arena and open files */
};

/* Leaves of a run tree below dir, sorted by approach (order of the manifest) then replication. */
struct run_list { char **dirs; size_t n; };
bool run_tree(const char *dir, struct run_list *, char **err);
void run_list_free(struct run_list *);

/* Reads manifest, jobs.csv and ledger.csv of one leaf; damaged parts are named in *warnings (may be NULL). */
struct run *run_open(const char *dir, char **warnings, char **err);
void run_close(struct run *);

/* Sequential reader of timeline.bin; stops at the last whole block. */
struct timeline_reader;
struct timeline_reader *timeline_open(const char *dir, char **err);
bool timeline_next(struct timeline_reader *, struct record *);
bool timeline_damaged(const struct timeline_reader *, const char **why);
void timeline_close(struct timeline_reader *);

#endif
