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
 *     run_finish(w, RUN_COMPLETE, ledger, end_ns, &err);      // writes ledger.csv, closes files, replaces run.json
 * A process that dies leaves `state: running` and whole blocks; readers say so and use what is there. A write that
 * fails (disk full) is kept and told by run_finish (or at once by run_failing), and such a run is never `complete`.
 * run.json holds size and CRC-32 of each file, so that readers find a file that was cut or changed later.
 *
 * `dir` NULL writes nothing at all (studies that only need summaries); everything else works the same:
 *     struct run *r = run_finish_open(w, RUN_COMPLETE, ledger, end_ns, &err);    // metric_of(r, ...); run_close(r);
 *
 * Cost: about 300 ns a row of jobs.csv; memory a job: 32 bytes for the summary, with `keep_rows` about 400 more.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_RUN_H
#define TRAINYARD_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/ledger.h"
#include "run/out.h"
#include "run/record.h"
#include "run/states.h"

enum run_state { RUN_RUNNING, RUN_COMPLETE, RUN_INTERRUPTED, RUN_FAILED };

/* Node numbers as an interval set; `text` form is "0 4-6". Owned by the caller. */
struct node_interval {
    uint32_t first, last;
};

/* One row of jobs.csv. Times are ns; -1: did not happen. The first columns are
 * job,state,gpus,submit_s,admitted_s,allocated_s,started_s,finished_s,nodes; times as exact decimals in seconds.
 * Then restarts,preemptions,team,queue,kind,priority,ideal_s,work_gpu_s,redone_gpu_s,held_gpu_s,wait_<reason>_s ... */
struct job_row {
    const char *id; /* NULL: number is the id */
    uint64_t number;
    enum job_state state;
    int64_t gpu_shares;                                                    /* 1 GPU = 1,000 */
    int64_t submit_ns, admitted_ns, allocated_ns, started_ns, finished_ns; /* first of each; finished: last */
    const struct node_interval *nodes;                                     /* of the last allocation */
    unsigned n_nodes;
    uint32_t restarts, preemptions;
    const char *team, *queue, *kind;
    int32_t priority;
    int64_t ideal_ns;            /* work at full speed on its GPUs, never waiting: for slowdowns */
    share_ns work, redone, held; /* of this job; exact; work is without redone */
    const share_ns *work_by;     /* work by activity: N_WORK_ACTIVITIES values from FIRST_WORK on; NULL: not known */
    uint32_t together;           /* GPUs of consecutive ranks that shared a node, at the least, in the last attempt; 0: not known */
    share_ns recovery;           /* of held: in attempts after a failure or preemption, stalled, hung or in back-off */
    const int64_t *wait_ns;      /* N_WAIT_REASONS values */
};

/* What the manifest says of a run before it starts. */
struct run_meta {
    const char *scenario_name, *scenario_hash, *approach, *back_end; /* "sim", "host", ... */
    uint64_t seed;
    uint32_t replication;
    int record_level;
    uint32_t approach_index;    /* place of the approach in the scenario: the order of run_tree */
    bool force;                 /* replace an existing run */
    bool scratch;               /* read at once and removed: no waiting for the disk */
    bool keep_rows;             /* for run_finish_open: keep job rows in memory; without it only ledger and metrics */
    const struct io_hook *hook; /* tests: makes writes fail (out.h); NULL */
    const char *const *queues, *const *teams, *const *groups, *const *kinds; /* names of ledger columns */
    unsigned n_queues, n_teams, n_groups, n_kinds;
    int64_t warmup_ns, horizon_ns; /* horizon -1: open end */
};

/* Makes DIR/ ready to be the top of a run tree. A tree below it that holds runs already is refused, or, with `force`,
 * its run files (and directories that become empty) are removed; files of others stay, and are never written over. For single runs run_create is
 * enough. */
bool run_prepare(const char *dir, bool force, char **err);

/* The summary in run.json has all metrics of metrics.h. */
struct run_writer;

/* NULL and *err (to free) when DIR holds a run and `force` is not set, or on an I/O error; exit code 4. Copies meta. */
struct run_writer *run_create(const char *dir, const struct run_meta *, char **err);
struct recorder *run_recorder(struct run_writer *);
void run_job(struct run_writer *, const struct job_row *);
/* Brings what there is so far into the files. For a watched run: call it about once a second. */
void run_flush(struct run_writer *);
/* True when a write has failed: going on is of no use, run_finish will say why. */
bool run_failing(const struct run_writer *);
/* Extra text for DIR (scenario.json and such); written atomically. */
bool run_attach(struct run_writer *, const char *name, const char *text, size_t n, char **err);
/* Closes and frees the writer. The ledger is closed; NULL when there is none (a failed run). False and *err (to free)
 * on an I/O error, exit code 4, or when the ledger does not add up; then the state is `failed`, or still `running`
 * where not even that could be written. */
bool run_finish(struct run_writer *, enum run_state, const struct ledger *, int64_t end_ns, char **err);
/* The same, and gives the run as run_open would (also with dir NULL). NULL when run_finish would say false. */
struct run *run_finish_open(struct run_writer *, enum run_state, const struct ledger *, int64_t end_ns, char **err);

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

struct run_group {
    const char *name;
    share_ns existing; /* the integral that the ledger's cells of this group add up to */
};

extern const char *const run_state_names[];    /* by enum run_state */
extern const char *const record_level_names[]; /* by enum record_level */

struct run {
    const char *dir, *scenario_name, *approach, *back_end, *version, *scenario_hash;
    const char *fingerprint; /* "" for a live run and before the end */
    enum run_state state;
    uint64_t seed, n_records; /* records: all that were hashed, kept or not */
    uint32_t replication, approach_index;
    int record_level;
    int64_t end_ns, warmup_ns, horizon_ns; /* end -1: not known; horizon -1: open end */
    struct run_group *groups;
    size_t n_groups;
    struct run_job_view *jobs;
    size_t n_jobs;
    struct run_ledger_row *ledger;
    size_t n_ledger;
    void *owner; /* arena and open files */
};

/* Metrics and comparisons are over jobs submitted from the end of the warm-up on, before the horizon. */
static inline bool submission_counts(int64_t submit_ns, int64_t warmup_ns, int64_t horizon_ns)
{
    return submit_ns >= warmup_ns && (horizon_ns < 0 || submit_ns < horizon_ns);
}

static inline bool run_counts(const struct run *r, int64_t submit_ns) { return submission_counts(submit_ns, r->warmup_ns, r->horizon_ns); }

/* Leaves of a run tree below dir, sorted by approach (order of the manifest) then replication. */
struct run_list {
    char **dirs;
    size_t n;
};
bool run_tree(const char *dir, struct run_list *, char **err);
void run_list_free(struct run_list *);

/* Reads manifest, jobs.csv and ledger.csv of one leaf. NULL and *err (to free) when there is no run or its manifest is
 * no good. Else all that can be read; what is damaged, missing, changed or not finished is named in *warnings (whole lines; to free;
 * NULL when all is well; the argument may be NULL). */
struct run *run_open(const char *dir, char **warnings, char **err);
void run_close(struct run *);

/* Sequential reader of timeline.bin; stops at the last whole block. At the end of a growing file timeline_next may be
 * called again later. timeline_damaged: the bytes behind the last whole block are no block (yet); *why says where. */
struct timeline_reader;
struct timeline_reader *timeline_open(const char *dir, char **err);
bool timeline_next(struct timeline_reader *, struct record *);
bool timeline_damaged(const struct timeline_reader *, const char **why);
void timeline_close(struct timeline_reader *);

#endif
