/* compare.h - two or more approaches on the same scenario: what differs, by how much, how sure, and where it comes from.
 *
 * Reads run directories only, so simulated and live runs compare alike. The first source is the base; each other one is
 * compared with it, replication by replication (paired.h).
 *
 *     struct approach_source sources[2] = {{.name = "operator", .dirs = d1, .n = 20}, {.name = "actor", ...}};
 *     struct compare c;
 *     if (!compare_runs(sources, 2, &c, &err)) ...              // err: to free; exit 4
 *     compare_text(&c, &out); compare_json(&c, &out); compare_csv(&c, &out);
 *     compare_free(&c);
 *
 * Two decompositions, each exact in integers:
 *   GPU time: the sum over all cells (activity, redone or not) of a run is its existing share-ns, so the differences of
 *   the cells add up to the difference of the wholes.
 *   Job completion time of the jobs that ended in both, matched by id within a replication: end - submission =
 *   the ns of each wait reason + the rest, in which its ranks stepped. The rest is split into work and redone work in
 *   proportion to the job's GPU time of both, the remainder to work. Jobs that ended in one run only are counted apart.
 * Jobs count that were submitted in [warm-up, horizon), as for the metrics.
 *
 * Runs of replications that not all sources have are left out; `left_out` counts them. With one run each, the replication's
 * number does not matter.
 * Memory: the runs of one replication at a time, and about 3 KB an approach and replication.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_COMPARE_H
#define TRAINYARD_STUDY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "run/metrics.h"
#include "run/run.h"
#include "study/approach_runs.h"
#include "study/paired.h"

/* Parts of a job's completion time: the wait reasons, then these. */
enum { JCT_WORK = N_WAIT_REASONS, JCT_REDONE, N_JCT_PARTS };
const char *jct_part_name(int part);

struct gpu_part { /* one cell; hours of GPU time a replication */
    enum activity activity;
    bool redone;
    share_ns base, other; /* summed over the replications */
    struct paired hours;
};

struct jct_part {               /* seconds of a job on average, by replication */
    __int128 base_ns, other_ns; /* summed over the matched jobs of all replications */
    struct paired seconds;
};

struct team_change { /* jobs that ended in both, by team; means by replication, seconds */
    const char *team;
    size_t jobs; /* over all replications */
    struct paired wait, jct;
};

struct job_change {
    const char *id, *team, *queue;
    uint32_t replication;
    int64_t gpu_shares, base_ns, other_ns; /* completion times */
    int reason;                            /* the part of the completion time that changed most: jct_part_name */
};

struct compare_matches { /* jobs over all replications */
    size_t ended_in_both, ended_in_base_only, ended_in_other_only, ended_in_neither, in_one_run_only, other_outcome;
};

enum { JOB_CHANGES = 5 };

struct compare_pair {
    size_t other;           /* index of the approach */
    struct paired *metrics; /* [metric] */
    struct gpu_part *gpu;   /* cells that are not 0 in both, by class, then activity */
    size_t n_gpu;
    struct gpu_part class_sum[N_GPU_CLASSES], gpu_sum; /* only the sums of these are filled */
    struct jct_part jct[N_JCT_PARTS], jct_sum;
    struct compare_matches matches;
    struct team_change *teams; /* by name */
    size_t n_teams;
    struct job_change sooner[JOB_CHANGES], later[JOB_CHANGES]; /* greatest change first */
    size_t n_sooner, n_later;
};

struct compare {
    struct approach_runs *approaches; /* [0] is the base */
    size_t n_approaches;
    struct compare_pair *pairs; /* n_approaches - 1 */
    size_t n_replications, left_out;
    bool unpaired;  /* seeds or replications differ: differences hold chance that pairing would have cancelled */
    char *warnings; /* of the readers; NULL when all is well */
    struct arena arena;
};

bool compare_runs(const struct approach_source *, size_t n, struct compare *, char **err);
/* The same, and the report of the same runs: each is read once. */
struct report;
bool compare_and_report(const struct approach_source *, size_t n, struct compare *, struct report *, char **err);
void compare_free(struct compare *);

/* Forms of the result: for people (at most 100 columns), docs/compare-format.md, a row a figure. */
void compare_text(const struct compare *, struct str *);
void compare_json(const struct compare *, struct str *);
void compare_csv(const struct compare *, struct str *);

#endif
