/* tables.h - the tables of the page; for viz/report only.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_REPORT_TABLES_H
#define TRAINYARD_VIZ_REPORT_TABLES_H

#include "study/compare.h"
#include "study/report.h"

/* All approaches side by side; with two of them the difference too. compare NULL: one approach. */
void table_metrics(const struct report *, const struct compare *, struct str *);
void table_gpu(const struct report *, struct str *);    /* by state, exact */
void table_waits(const struct report *, struct str *);  /* by reason */
void table_uses(const struct report *, size_t approach, struct str *); /* GPU time and waits by queue and team */
void table_teams(const struct compare *, struct str *);
/* The jobs of a run that waited longest. */
void table_jobs(const struct run *, const char *name, size_t approach, size_t listed, struct str *);

#endif
