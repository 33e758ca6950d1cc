/* placement_table.h - tables of steps measured in placements: CSV, columns by name in any order.
 *
 *     struct placement_table t = {0};
 *     if (placement_table_read("placements.csv", PLACEMENTS_MEASURED, &t, &d)) use(t.rows.v, t.rows.n);
 *     placement_table_free(&t);
 *
 * Columns (those of Pollux' profiles, petuum/adaptdl, branch osdi21-artifact):
 *   placement   a digit a node, its GPUs: "21" is two on one node and one on another
 *   local_bsz   samples of a GPU and step
 *   step_time   seconds, synchronisation included
 *   sync_time   seconds of it for which the rank waited for the gradients of the others; 0: too short to measure
 * The times are not read of a table to predict, though they be there. Other columns are not looked at.
 *
 * Errors (diag, with the line): a placement with anything but digits from 1 to 9, a number that is none or out of range, a
 * sync_time that is not below its step_time, a table without a row.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_PLACEMENT_TABLE_H
#define TRAINYARD_INPUT_PLACEMENT_TABLE_H

#include "base/array.h"
#include "base/diag.h"
#include "models/placed_step.h"

enum placement_table_use { PLACEMENTS_MEASURED, PLACEMENTS_TO_PREDICT };
enum { PLACEMENT_NODES_MAX = 64 };

struct placement_row {
    size_t row; /* of the file's data rows, from 1 */
    char name[PLACEMENT_NODES_MAX + 1];
    struct gpu_placement at;
    double local_batch;
    double step_s, sync_s; /* NAN in a table to predict */
};

struct placement_table { ARRAY(struct placement_row) rows; };

bool placement_table_read(const char *file, enum placement_table_use, struct placement_table *, struct diag *d);
void placement_table_free(struct placement_table *);

#endif
