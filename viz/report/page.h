/* page.h - runs as one HTML page: what they say first, then pictures and tables. Loads nothing: no network, no fonts, no scripts of others.
 *
 *     struct str page = {0};
 *     if (!report_page(sources.list.v, sources.list.n, text, &page, &warnings, &err)) ...     // err: to free; exit 4
 *
 * One approach: its metrics, ledgers and waits. Several: each other one against the first too, with the words of compare.
 * Figures are means over all replications (study/report.h, study/compare.h); pictures over time are of the first replication, drawn by the
 * views of the viewer. Tables of jobs hold the
 * REPORT_JOBS_LISTED that waited longest, say how many they leave out, and where all are: jobs.csv of the run.
 * What comes from scenarios and traces is escaped. The same runs give the same bytes.
 *
 * Two approaches share each picture over time, more stand in a grid on the same scales.
 * Pictures and jobs are of the first REPORT_PICTURED approaches; the page says so where there are more.
 * Memory: the page, and a scene each that is pictured. Cost: reading each run once, and what the pictures cost: about 10 us a job and run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_REPORT_PAGE_H
#define TRAINYARD_VIZ_REPORT_PAGE_H

#include "base/str.h"
#include "study/approach_runs.h"
#include "viz/draw/text.h"

enum { REPORT_JOBS_LISTED = 200, REPORT_PICTURED = 16 };

bool report_page(const struct approach_source *, size_t n, const struct text_engine *, struct str *out, char **warnings, char **err);

#endif
