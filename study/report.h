/* report.h - the runs of each approach by themselves: metrics with intervals, both ledgers, health, waits by queue and team, who
 * used the GPUs most. compare.h tells what differs between approaches; this tells what each one was.
 *
 *     struct report r;
 *     if (!report_runs(sources.list.v, sources.list.n, &r, &err)) ...      // err: to free; exit 4
 *     report_text(&r, &out); report_json(&r, &out); report_csv(&r, &out);
 *     report_free(&r);
 *
 * Metrics are means over the replications with the interval of that mean (Student's t; quantiles by bootstrap, paired.h),
 * over jobs submitted in [warm-up, horizon). The ledgers are those of all jobs.
 * Memory: one run at a time, and about 10 KB an approach, queue and team.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_REPORT_H
#define TRAINYARD_STUDY_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "study/account.h"
#include "study/approach_runs.h"
#include "study/diagnose.h"
#include "study/paired.h"

struct report_metric {
    double mean; /* NaN: undefined in all runs */
    size_t n;    /* runs with a value */
    struct interval interval;
    enum interval_method method;
};

struct report_approach {
    struct approach_runs runs;
    struct account account;
    struct diagnosis health; /* of a mean replication */
    struct diagnosing *healing; /* while runs are added */
    struct report_metric *metrics; /* [metric] */
};

struct report {
    struct report_approach *approaches;
    size_t n_approaches;
    char *warnings; /* of the readers; NULL when all is well */
    struct arena arena;
};

bool report_runs(const struct approach_source *, size_t n, struct report *, char **err);
/* In steps, for those who read the runs themselves: all runs of all sources in any order, each once. */
void report_begin(struct report *, const struct approach_source *, size_t n);
void report_add(struct report *, size_t approach, const struct run *);
void report_end(struct report *);
void report_free(struct report *);

/* For people (at most 100 columns); docs/report-format.md; a row a figure. */
void report_text(const struct report *, struct str *);
void report_json(const struct report *, struct str *);
void report_csv(const struct report *, struct str *);

#endif
