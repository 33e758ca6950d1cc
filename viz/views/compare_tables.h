/* compare_tables.h - the tables of the comparison: plain words, metrics, jobs that win and lose, teams. For viz/views only.
 *
 * Each has a height for a width, and draws into a box of that size.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_COMPARE_TABLES_H
#define TRAINYARD_VIZ_VIEWS_COMPARE_TABLES_H

#include "viz/ui/ui.h"
#include "viz/views/compare_page.h"

enum { COMPARE_JOBS_SHOWN = 8, COMPARE_TEAMS_SHOWN = 12 };

float compare_words_height(const struct ui *, const struct compare_page *, float width);
void compare_words_draw(const struct ui *, const struct compare_page *, struct draw_list *, struct box);

/* Which metrics are listed: those of `trainyard compare` that are not 0 or unknown in all. */
unsigned compare_metrics(const struct compare_page *, size_t metric[64]);
float compare_metrics_height(const struct ui *, const struct compare_page *);
void compare_metrics_draw(const struct ui *, const struct compare_page *, struct draw_list *, struct box);

/* Jobs in the order of their rows: the winners, then the losers; NULL behind the last one. */
const struct job_pair *compare_row_job(const struct compare_page *, unsigned row);
unsigned compare_job_rows(const struct compare_page *);
float compare_row_y(const struct ui *, const struct compare_page *, unsigned row); /* its baseline within the box */
float compare_jobs_height(const struct ui *, const struct compare_page *);
void compare_jobs_draw(const struct ui *, const struct compare_page *, struct draw_list *, struct box, unsigned focus_row);

float compare_teams_height(const struct ui *, const struct compare_page *);
void compare_teams_draw(const struct ui *, const struct compare_page *, struct draw_list *, struct box);

#endif
