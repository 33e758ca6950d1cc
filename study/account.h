/* account.h - both ledgers of one or more runs of one approach, summed: where the GPU time went, why jobs waited, who
 * used the most. explain tells one run, report all replications of an approach.
 *
 *     struct account a = {0};
 *     account_add(&a, run);                          // once a replication; needs ledger.csv and jobs.csv
 *     account_gpu_text(&a, &out); account_waits_text(&a, &out);
 *     account_free(&a);
 *
 * Sums are exact over all runs; the texts divide them by the runs ("a replication" where there are several).
 * All jobs of a run count, those of the warm-up too: the sums are those of the ledgers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_ACCOUNT_H
#define TRAINYARD_STUDY_ACCOUNT_H

#include "base/arena.h"
#include "base/array.h"
#include "base/hmap.h"
#include "base/str.h"
#include "run/run.h"
#include "study/approach_runs.h"

struct wait_sums { /* of all jobs, of a queue or of a team */
    const char *name;
    size_t jobs;
    __int128 reason[N_WAIT_REASONS], all; /* ns */
    size_t hit[N_WAIT_REASONS];           /* jobs that waited for it at all */
    int64_t longest[N_WAIT_REASONS], longest_sum;
    const char *longest_job[N_WAIT_REASONS];
};

struct gpu_use { /* GPU time of a queue, a team, ... */
    const char *name;
    share_ns class[N_GPU_CLASSES], all;
};

/* Columns of ledger.csv by which GPU time is told apart; group: all of its time, the others: that of jobs. */
enum use_by { USE_BY_QUEUE, USE_BY_TEAM, USE_BY_GROUP, USE_BY_KIND, USE_BY_CAUSE, N_USES };
extern const char *const use_by_names[N_USES];

struct wait_groups {
    struct intern names;
    ARRAY(struct wait_sums) sums;
};

struct gpu_uses {
    struct intern names;
    ARRAY(struct gpu_use) uses;
};

/* The job that has most of something. */
enum record_of { MOST_GPU_TIME, MOST_WAIT, MOST_RESTARTS, MOST_PREEMPTIONS, N_RECORDS };
extern const char *const record_names[N_RECORDS];
struct record_holder {
    const char *job, *team, *queue; /* job NULL: none has any */
    uint32_t replication;
    int64_t gpu_shares;
    double amount; /* GPU-seconds, seconds, times */
};

struct account {
    size_t runs, jobs;
    cell_sums cells;
    share_ns class[N_GPU_CLASSES], all;
    struct wait_sums waits;
    struct wait_groups queues, teams;
    struct gpu_uses uses[N_USES];
    struct record_holder records[N_RECORDS];
    struct arena arena; /* names of jobs */
};

void account_add(struct account *, const struct run *);
void account_free(struct account *);

/* The greatest reason; 0 when there is none. */
int wait_sums_top(const struct wait_sums *);
/* Held, working and working again. */
share_ns gpu_use_busy(const struct gpu_use *);
/* Queues and teams of waits by name, uses by how busy they are. After it, no more runs are added. */
void account_sort(struct account *);

/* Parts of a text of at most 100 columns, each with an empty line before it. */
void account_gpu_text(const struct account *, struct str *);
void account_waits_text(struct account *, struct str *);     /* by reason, queue and team */
void account_busiest_text(struct account *, struct str *);   /* who used the GPUs; jobs that had most of something */

#endif
