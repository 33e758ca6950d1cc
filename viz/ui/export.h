/* export.h - the selected range, or the time in sight where none is selected, as a file for other programs.
 *
 *     char *err = NULL;
 *     if (!ui_export_write(ui, "out.json", &err)) ...   // err to free: an ending that is none, what does not fit, I/O
 *
 * By the ending: .json is a Chrome trace (chrome_trace.h); .csv one of the tables of `trainyard export --to csv` (study/export_csv.h), cut to the range:
 * NAME.jobs.csv, NAME.nodes.csv, NAME.series.csv; else the timeline. Of the runs that are shown:
 * A and B, one of them, or all of the grid.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_EXPORT_H
#define TRAINYARD_VIZ_UI_EXPORT_H

#include "viz/ui/ui.h"

bool ui_export_write(struct ui *, const char *path, char **err);
/* Whether the ending is one that can be written; else which are. */
const char *export_ending_wrong(const char *path);

#endif
