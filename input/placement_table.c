/* placement_table.c - see placement_table.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/placement_table.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/units.h"

enum column { C_PLACEMENT, C_BATCH, C_STEP, C_SYNC, N_COLUMNS };
static const char *const columns[N_COLUMNS] = {"placement", "local_bsz", "step_time", "sync_time"};

struct reading {
    enum placement_table_use use;
    struct placement_table *table;
    struct diag *d;
    const struct csv_row *in;
    size_t n_read;
    bool ok; /* of the row */
};

static void wrong(struct reading *r, enum column c, const char *what, const char *help)
{
    diag_error(r->d, r->in->file, r->in->line, columns[c], "\"%s\" %s", csv_field(r->in, c), what);
    diag_help(r->d, "%s", help);
    r->ok = false;
}

static double number(struct reading *r, enum column c, double least, double most, const char *help)
{
    double x;
    if (units_parse_double(csv_field(r->in, c), &x)) wrong(r, c, "is no number", help);
    else if (!(x >= least && x <= most)) wrong(r, c, "is out of range", help);
    else return x;
    return NAN;
}

static void read_placement(struct reading *r, struct placement_row *row)
{
    const char *text = csv_field(r->in, C_PLACEMENT);
    size_t n = strlen(text);
    if (n == 0 || n > PLACEMENT_NODES_MAX || strspn(text, "123456789") != n) {
        wrong(r, C_PLACEMENT, "is no placement", "give a digit from 1 to 9 for each of at most 64 nodes: its GPUs");
        return;
    }
    memcpy(row->name, text, n + 1);
    row->at.nodes = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        uint32_t gpus = (uint32_t)(text[i] - '0');
        row->at.gpus += gpus;
        if (gpus > row->at.most) row->at.most = gpus;
    }
}

static bool on_row(void *arg, const struct csv_row *in)
{
    struct reading *r = arg;
    struct placement_row row = {.row = ++r->n_read, .step_s = NAN, .sync_s = NAN};
    r->in = in;
    r->ok = true;
    read_placement(r, &row);
    row.local_batch = number(r, C_BATCH, 1e-3, 1e9, "give the samples of a GPU and step, up to 1e9");
    if (r->use == PLACEMENTS_MEASURED) {
        row.step_s = number(r, C_STEP, 1e-9, 1e6, "give seconds, above 0 and up to 1e6");
        row.sync_s = number(r, C_SYNC, 0, 1e6, "give seconds, up to 1e6; 0 where it is too short to measure");
        if (r->ok && row.sync_s >= row.step_s)
            wrong(r, C_SYNC, "is not below step_time, whose part it is", "give the part of the step that waits");
    }
    if (r->ok) array_push(&r->table->rows, row);
    return true;
}

bool placement_table_read(const char *file, enum placement_table_use use, struct placement_table *t, struct diag *d)
{
    struct reading r = {.use = use, .table = t, .d = d};
    size_t before = diag_errors(d), need = use == PLACEMENTS_MEASURED ? N_COLUMNS : C_STEP;
    csv_read(file, &(struct csv_spec){columns, need, NULL, 0, on_row, &r}, d);
    if (diag_errors(d) == before && t->rows.n == 0) diag_error(d, file, 0, NULL, "a table without a row");
    return diag_errors(d) == before;
}

void placement_table_free(struct placement_table *t) { array_free(&t->rows); }
