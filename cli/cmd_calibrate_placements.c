/* cmd_calibrate_placements.c - trainyard calibrate placements: from steps measured in some placements to others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "cli/calibrate.h"
#include "study/calibrate_placements.h"

static const struct argp_option options[] = {
    {"train",   't', "CSV",           0, "Measured steps: placement, local_bsz, step_time, sync_time", 0},
    {"predict", 'p', "CSV",           0, "Rows to predict: placement, local_bsz; times are not read", 0},
    {"output",  'o', "FILE",          0, "Write the fitted numbers as a profile (JSON)", 0},
    {"format",  'f', "text|json|csv", 0, "Of the predictions (default: text)", 0},
    {0},
};

const struct argp argp_calibrate_placements = {
    options,
    calibrate_tables_parse,
    "",
    "Fit twelve numbers of one model on one platform to steps measured in some placements, and predict other placements and "
    "batches.\v"
    "placement has a digit a node, its GPUs: 21 is two on one node and one on another. local_bsz: samples of a GPU and step. "
    "Times are in seconds; sync_time is the part of step_time that waits for the others' gradients, 0 where it is too short to "
    "measure. Where rows of as many GPUs and the same batch deviate from the formula in common (ranks that draw the same "
    "samples), predictions of these do, too.\n"
    "csv: row,predicted_step_s,predicted_sync_s; row counts the data rows of --predict from 1.\n"
    "Example: trainyard calibrate placements --train measured.csv --predict planned.csv --format csv",
    NULL,
    NULL,
    NULL};

struct predicted { double step_s, sync_s; };

static struct predicted predicted(const struct placed_calibration *c, const struct placement_row *r)
{
    struct placed_time t = placed_predict(c, r->at, r->local_batch);
    return (struct predicted){t.compute_s + t.sync_s, t.sync_s};
}

static void csv_seconds(struct csv_writer *w, double s)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", s);
    csv_write_str(w, text);
}

static void print_csv(const struct placed_calibration *c, const struct placement_table *t)
{
    struct csv_writer *w = xmalloc(sizeof *w);
    csv_writer_begin(w, stdout);
    csv_write_str(w, "row");
    csv_write_str(w, "predicted_step_s");
    csv_write_str(w, "predicted_sync_s");
    csv_write_row_end(w);
    for (size_t i = 0; i < t->rows.n; i++) {
        struct predicted p = predicted(c, &t->rows.v[i]);
        csv_write_u64(w, t->rows.v[i].row);
        csv_seconds(w, p.step_s);
        csv_seconds(w, p.sync_s);
        csv_write_row_end(w);
    }
    csv_writer_end(w);
    free(w);
}

static void print_json(const struct placed_calibration *c, const struct placement_table *t)
{
    struct str out = {0};
    struct json_writer w;
    json_write_begin(&w, &out);
    json_write_array(&w);
    for (size_t i = 0; i < t->rows.n; i++) {
        struct predicted p = predicted(c, &t->rows.v[i]);
        json_write_object_inline(&w);
        json_write_key(&w, "row");
        json_write_uint64(&w, t->rows.v[i].row);
        json_write_key(&w, "predicted_step_s");
        json_write_double(&w, p.step_s);
        json_write_key(&w, "predicted_sync_s");
        json_write_double(&w, p.sync_s);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
    fputs(str_text(&out), stdout);
    str_free(&out);
}

static void print_text(const struct placed_calibration *c, const struct placement_table *t)
{
    printf("%zu measured steps, fitted within %.1f %% (steps)", c->n_rows, 100 * c->step_median);
    if (!isnan(c->sync_median)) printf(", %.1f %% (their sync)", 100 * c->sync_median);
    printf(" in the median\n\n");
    printf("%5s  %-10s %12s %12s %12s\n", "row", "placement", "local batch", "step s", "sync s");
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct placement_row *r = &t->rows.v[i];
        struct predicted p = predicted(c, r);
        printf("%5zu  %-10s %12g %12.4g %12.4g\n", r->row, r->name, r->local_batch, p.step_s, p.sync_s);
    }
}

static int write_profile(const struct calibrate_tables *o, const struct placed_calibration *c)
{
    struct str out = {0};
    placed_calibration_write(c, o->train, &out);
    int code = command_write(o->out, &out);
    str_free(&out);
    return code;
}

int cmd_calibrate_placements(int argc, char **argv)
{
    static void (*const print[])(const struct placed_calibration *, const struct placement_table *) = {
        [FORMAT_TEXT] = print_text, [FORMAT_JSON] = print_json, [FORMAT_CSV] = print_csv};
    struct calibrate_tables o = {0};
    struct placement_table train = {0}, predict = {0};
    struct placed_calibration c;
    struct diag d = {0};
    argp_parse(&argp_calibrate_placements, argc, argv, 0, NULL, &o);
    bool ok = placement_table_read(o.train, PLACEMENTS_MEASURED, &train, &d);
    if (o.predict) ok &= placement_table_read(o.predict, PLACEMENTS_TO_PREDICT, &predict, &d);
    int code = command_diag(&d);
    if (ok && code == EXIT_OK) {
        calibrate_placements(train.rows.v, train.rows.n, &c);
        if (o.out) code = write_profile(&o, &c);
        if (o.predict) print[o.format](&c, &predict);
        placed_calibration_free(&c);
    }
    placement_table_free(&train);
    placement_table_free(&predict);
    return command_end(code);
}
