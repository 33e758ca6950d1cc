/* cmd_calibrate_step.c - trainyard calibrate step: from measured training steps to others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "cli/calibrate.h"
#include "study/calibrate_step.h"

static const struct argp_option options[] = {
    {"train",   't', "CSV",           0, "Measured steps: the columns of MosaicML's benchmark table, by name, in any order", 0},
    {"predict", 'p', "CSV",           0, "Rows to predict; what they say of outcomes is not read", 0},
    {"output",  'o', "FILE",          0, "Write the fitted numbers as a profile, which a scenario names at /cluster/kernels", 0},
    {"format",  'f', "text|json|csv", 0, "Of the predictions (default: text)", 0},
    {0},
};

const struct argp argp_calibrate_step = {
    options,
    calibrate_tables_parse,
    "",
    "Fit the numbers of the step model (three a GPU family, five for all) to measured training steps, and predict others."
    "\v"
    "csv: row,predicted_step_s; row counts the data rows of --predict from 1.\n"
    "Columns: gpu, n_gpus, model or n_params, seqlen, microbatch, grad_accum, global_batch_seq, precision, sharding, "
    "act_ckpt, act_offload; of --train also derived_step_time_s.\n"
    "Example: trainyard calibrate step --train measured.csv --predict planned.csv --format csv",
    NULL,
    NULL,
    NULL};

static void print_csv(const struct step_calibration *c, const struct step_table *t)
{
    struct csv_writer *w = xmalloc(sizeof *w);
    csv_writer_begin(w, stdout);
    csv_write_str(w, "row");
    csv_write_str(w, "predicted_step_s");
    csv_write_row_end(w);
    for (size_t i = 0; i < t->rows.n; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.6g", calibrated_step_s(c, &t->rows.v[i]));
        csv_write_u64(w, t->rows.v[i].row);
        csv_write_str(w, text);
        csv_write_row_end(w);
    }
    csv_writer_end(w);
    free(w);
}

static void print_json(const struct step_calibration *c, const struct step_table *t)
{
    struct str out = {0};
    struct json_writer w;
    json_write_begin(&w, &out);
    json_write_array(&w);
    for (size_t i = 0; i < t->rows.n; i++) {
        json_write_object_inline(&w);
        json_write_key(&w, "row");
        json_write_uint64(&w, t->rows.v[i].row);
        json_write_key(&w, "predicted_step_s");
        json_write_double(&w, calibrated_step_s(c, &t->rows.v[i]));
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
    fputs(str_text(&out), stdout);
    str_free(&out);
}

static void print_text(const struct step_calibration *c, const struct step_table *t)
{
    printf("%zu measured steps, fitted within %.1f %% (median), %.1f %% (9 of 10)\n\n", c->n_rows, 100 * c->median,
           100 * c->p90);
    printf("%5s  %-11s %6s %9s %12s\n", "row", "gpu", "gpus", "tokens", "predicted s");
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct step_row *r = &t->rows.v[i];
        printf("%5zu  %-11s %6.0f %9.0f %12.4g\n", r->row, r->gpu->name, r->work.ranks, r->work.tokens,
               calibrated_step_s(c, r));
    }
}

static int write_profile(const struct calibrate_tables *o, const struct step_calibration *c)
{
    struct str out = {0};
    struct arena arena = {0};
    char *name = arena_strdup(&arena, strcmp(o->out, "-") ? path_base(o->out) : "calibrated");
    if (str_ends_with(name, ".json")) name[strlen(name) - 5] = '\0';
    char *source = arena_printf(&arena, "trainyard calibrate step: %zu rows of %s, fitted within %.1f %% (median), %.1f %% (9 of 10)",
                                c->n_rows, path_base(o->train), 100 * c->median, 100 * c->p90);
    step_calibration_write(c, name, source, &out);
    int code = command_write(o->out, &out);
    str_free(&out);
    arena_free(&arena);
    return code;
}

/* What was not said but taken, and what was left out: on stderr, for it changes what the result is worth. */
static void say_guesses(const char *file, const struct step_table *t)
{
    for (int k = 0; k < N_STEP_GUESSES; k++)
        if (t->n_guessed[k])
            fprintf(stderr, "trainyard: %s: %zu of %zu rows do not say %s\n", file, t->n_guessed[k], t->n_read, step_guess_words[k]);
    if (t->n_unmeasured)
        fprintf(stderr, "trainyard: %s: %zu of %zu rows have no outcome and are not fitted\n", file, t->n_unmeasured, t->n_read);
}

int cmd_calibrate_step(int argc, char **argv)
{
    static void (*const print[])(const struct step_calibration *, const struct step_table *) = {
        [FORMAT_TEXT] = print_text, [FORMAT_JSON] = print_json, [FORMAT_CSV] = print_csv};
    struct calibrate_tables o = {0};
    struct step_table train = {0}, predict = {0};
    struct step_calibration c;
    struct diag d = {0};
    argp_parse(&argp_calibrate_step, argc, argv, 0, NULL, &o);
    bool ok = step_table_read(o.train, STEP_TABLE_MEASURED, &train, &d);
    if (o.predict) ok &= step_table_read(o.predict, STEP_TABLE_TO_PREDICT, &predict, &d);
    int code = command_diag(&d);
    if (ok && code == EXIT_OK) {
        say_guesses(o.train, &train);
        if (o.predict) say_guesses(o.predict, &predict);
        calibrate_step(train.rows.v, train.rows.n, &c);
        if (o.out) code = write_profile(&o, &c);
        if (o.predict) print[o.format](&c, &predict);
    }
    step_table_free(&train);
    step_table_free(&predict);
    return command_end(code);
}
