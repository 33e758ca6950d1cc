/* ledger_sums.h - the exact sums of both ledgers of one run or two, line by line, for the ledger view and the report.
 *
 *     struct ledger_table t = {0};
 *     ledger_gpu_table(&t, scenes, 2, LEDGER_BY_STATE);
 *     for (size_t i = 0; i < t.lines.n; i++) ... t.lines.v[i].sum[0] ...       // share-ns; of waits: ns
 *     ledger_table_free(&t);
 *
 * GPU ledger: of ledger.csv; its lines of depth 0 add up to `whole`, exactly: by state these are the classes, with their activities
 * below them (depth 1), else the values of a column. While a run grows there is no ledger.csv yet: then the states are integrals over
 * its records so far, with idle in one piece, and other columns have nothing.
 * Wait ledger: of jobs.csv, the jobs that have a row: what they waited for in all, by reason or by a column.
 * Lines that are 0 in all runs are left out. Cost: one pass over ledger.csv or jobs.csv.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_LEDGER_SUMS_H
#define TRAINYARD_VIZ_VIEWS_LEDGER_SUMS_H

#include "base/array.h"
#include "study/approach_runs.h"
#include "viz/model/curves.h"
#include "viz/ui/ui.h"

enum ledger_by { LEDGER_BY_STATE, LEDGER_BY_TEAM, LEDGER_BY_QUEUE, LEDGER_BY_KIND, LEDGER_BY_GROUP, N_LEDGER_BY };
extern const char *const ledger_by_names[N_LEDGER_BY]; /* "state", "team" ... */

enum { LEDGER_MAX_PARTS = N_WAIT_REASONS };

struct ledger_line {
    const char *name;  /* of the files: an activity, a class, a team ... */
    unsigned depth;
    unsigned show;     /* how it looks; SHOW_NOTHING: by its parts */
    share_ns sum[UI_MAX_RUNS];
    share_ns part[UI_MAX_RUNS][LEDGER_MAX_PARTS]; /* by enum gpu_class, or by wait reason */
};

struct ledger_table {
    ARRAY(struct ledger_line) lines;
    share_ns whole[UI_MAX_RUNS];
    unsigned n_parts;
    bool waits;
};

struct ledger_source { const struct scene *scene; struct curves *curves; /* NULL: none */ };

void ledger_gpu_table(struct ledger_table *, const struct ledger_source *, unsigned n, enum ledger_by);
void ledger_wait_table(struct ledger_table *, const struct ledger_source *, unsigned n, enum ledger_by);
void ledger_table_free(struct ledger_table *);

/* How a part looks. */
unsigned ledger_part_show(const struct ledger_table *, unsigned part);
/* share-ns as GPU-hours, ns as hours. */
double ledger_hours(const struct ledger_table *, share_ns);
/* The exact decimal of a sum: GPU-seconds, or seconds. */
void ledger_exact(const struct ledger_table *, share_ns, struct str *);

#endif
