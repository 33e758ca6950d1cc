/* export_csv.h - runs as CSV tables for spreadsheets and data frames: names instead of codes, ids instead of numbers.
 *
 *     FILE *to = fopen("timeline.csv", "w");
 *     if (!export_table("timeline", dirs, n, NULL, to, &warnings, &err)) ...     // err: to free
 *
 * Tables: jobs, ledger, timeline, nodes (which job held which nodes, from when to when), series (loss, learning rate, samples/s ...
 * of each job with steps, series.h). Each row begins with approach
 * and replication, so that several runs go into one file. Times are exact decimal seconds, GPU time exact GPU-seconds.
 * Node intervals come from the timeline where it was recorded in full; else each job's last allocation stands for it,
 * from its first allocation to its end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_EXPORT_CSV_H
#define TRAINYARD_STUDY_EXPORT_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

/* [from, to): of jobs those that lived in it, of the timeline and of series what happened in it, of nodes what reaches into it, cut to it. A ledger
 * has sums over a whole run and none of a range. */
struct export_range {
    int64_t from_ns, to_ns;
};

extern const char *const export_tables[];
extern const size_t n_export_tables;

/* Whether the table can be cut to a range. */
bool export_table_has_range(const char *table);
/* One table of all these runs (range NULL: all of it); false and *err (to free) for an unknown table or an I/O error. What is damaged or
 * unfinished in a run goes to `warnings` in whole lines; NULL: nowhere. */
bool export_table(const char *table, char *const *dirs, size_t n, const struct export_range *range, FILE *to, struct str *warnings, char **err);

#endif
