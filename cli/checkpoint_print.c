/* checkpoint_print.c - see checkpoint.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/checkpoint.h"

#include <math.h>

#include "base/json_write.h"
#include "base/svg_plot.h"
#include "base/units.h"
#include "study/figures.h"
#include "study/words.h"

static const char *const limit_names[N_CHECKPOINT_LIMITS] = {"none", "process", "node", "store"};
static const char *const limit_words[N_CHECKPOINT_LIMITS] = {"", "as fast as its processes write", "as fast as the nodes send",
                                                             "as fast as the store takes it"};
static const char *const load_words[N_CHECKPOINT_LIMITS] = {"", "as fast as the processes read", "as fast as the nodes receive",
                                                            "as fast as the store gives it"};

/* ---- text ---- */

static void row_begin(struct str *out, const char *name)
{
    str_append(out, "  ");
    words_left(out, name, 12);
}

static void bytes_words(struct str *out, double bytes)
{
    units_format_bytes(out, bytes < 9e18 ? (int64_t)(bytes + 0.5) : INT64_MAX);
}

static void size_text(const struct checkpoint_answer *a, struct str *out)
{
    const struct checkpoint_layout *l = &a->layout;
    str_append(out, "Checkpoint\n");
    if (l->bytes > 0) {
        row_begin(out, "size");
        bytes_words(out, l->bytes);
        if (a->parameters > 0) {
            str_append(out, "  ");
            units_format_count(out, (int64_t)(a->parameters + 0.5));
            str_printf(out, " parameters%s%s%s x %g bytes (%s: %s)", a->model ? " (" : "", a->model ? a->model : "",
                       a->model ? ")" : "", checkpoint_state_bytes(a->state), a->state->name, a->state->what);
        }
        str_append_char(out, '\n');
        row_begin(out, "written by");
        if (l->sharded) str_printf(out, l->gpus == 1 ? "one GPU" : "%u GPUs on %u node%s, each its share", l->gpus, l->nodes, l->nodes == 1 ? "" : "s");
        else str_append(out, "rank 0");
        if (l->savers > 1) str_printf(out, ", beside %u other jobs", l->savers - 1);
        str_append_char(out, '\n');
    }
    row_begin(out, "save");
    words_amount(out, "s", a->times.save_s);
    if (a->times.save_limit) str_printf(out, "  %s", limit_words[a->times.save_limit]);
    str_append_char(out, '\n');
    row_begin(out, "stall");
    words_amount(out, "s", a->cost.stall_s);
    str_append(out, l->async ? "  training stops for the copy to host memory; durable " : "  training stops for all of it\n");
    if (l->async) {
        words_amount(out, "s", a->times.background_s);
        str_append(out, " later\n");
    }
    row_begin(out, "load");
    words_amount(out, "s", a->times.load_s);
    if (a->times.load_limit) str_printf(out, "  %s", load_words[a->times.load_limit]);
    str_append_char(out, '\n');
}

static void risk_text(const struct checkpoint_answer *a, struct str *out)
{
    str_append(out, "Failures\n");
    row_begin(out, "every");
    words_amount(out, "s", a->risk.mtbf_s);
    if (a->failures) str_printf(out, "  failure profile %s for %u GPUs", a->failures, a->layout.gpus);
    str_append_char(out, '\n');
    row_begin(out, "downtime");
    words_amount(out, "s", a->risk.down_s);
    str_append(out, "\n");
    row_begin(out, "recovery");
    words_amount(out, "s", a->risk.recovery_s);
    str_append(out, "  loading included; a failure may strike in it\n");
}

static void cell_share(struct str *out, double share)
{
    struct str cell = {0};
    str_printf(&cell, "%.2f %%", 100 * share);
    words_cell(out, &cell, 10);
    str_free(&cell);
}

static void interval_text(struct str *out, const struct interval_row *r)
{
    str_append(out, "  ");
    words_left(out, r->rule, 12);
    words_amount_cell(out, "s", r->interval_s, 11);
    cell_share(out, r->goodput);
    cell_share(out, r->saving);
    cell_share(out, r->redone);
    cell_share(out, r->downtime);
    str_append_char(out, '\n');
}

static void intervals_text(const struct checkpoint_answer *a, struct str *out)
{
    str_append(out, "Intervals\n");
    if (interval_least_s(a->cost) > 0) {
        str_append(out, "  at least ");
        words_amount(out, "s", interval_least_s(a->cost));
        str_append(out, ": one save is under way at a time\n");
    }
    str_append(out, "                   interval    goodput     saving     redone   downtime\n");
    for (size_t i = 0; i < a->n_asked; i++) interval_text(out, &a->asked[i]);
    for (int i = 0; i < N_INTERVAL_RULES; i++) interval_text(out, &a->rules[i]);
    for (int i = 0; i < a->n_spread; i++) interval_text(out, &a->spread[i]);
}

void checkpoint_text(const struct checkpoint_answer *a, struct str *out)
{
    size_text(a, out);
    if (!(a->risk.mtbf_s > 0)) return;
    risk_text(a, out);
    intervals_text(a, out);
}

/* ---- JSON and CSV ---- */

static void interval_json(struct json_writer *w, const struct interval_row *r)
{
    json_write_object_inline(w);
    json_write_key(w, "rule");
    json_write_string(w, *r->rule ? r->rule : NULL);
    figure_double(w, "interval_s", r->interval_s);
    figure_double(w, "segment_s", r->segment_s);
    figure_double(w, "goodput", r->goodput);
    figure_double(w, "saving", r->saving);
    figure_double(w, "redone", r->redone);
    figure_double(w, "downtime", r->downtime);
    json_write_end(w);
}

static void intervals_json(struct json_writer *w, const struct checkpoint_answer *a)
{
    json_write_key(w, "intervals");
    json_write_array(w);
    if (a->risk.mtbf_s > 0) {
        for (size_t i = 0; i < a->n_asked; i++) interval_json(w, &a->asked[i]);
        for (int i = 0; i < N_INTERVAL_RULES; i++) interval_json(w, &a->rules[i]);
        for (int i = 0; i < a->n_spread; i++) interval_json(w, &a->spread[i]);
    }
    json_write_end(w);
}

void checkpoint_json(const struct checkpoint_answer *a, struct str *out)
{
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    json_write_key(&w, "trainyard_checkpoint");
    json_write_int64(&w, 1);
    if (a->layout.bytes > 0) figure_double(&w, "size_bytes", a->layout.bytes);
    if (a->parameters > 0) {
        figure_double(&w, "parameters", a->parameters);
        figure_double(&w, "bytes_per_parameter", checkpoint_state_bytes(a->state));
    }
    figure_double(&w, "save_s", a->times.save_s);
    figure_double(&w, "stall_s", a->cost.stall_s);
    figure_double(&w, "background_s", a->cost.lag_s);
    figure_double(&w, "load_s", a->times.load_s);
    json_write_key(&w, "save_limit");
    json_write_string(&w, limit_names[a->times.save_limit]);
    json_write_key(&w, "load_limit");
    json_write_string(&w, limit_names[a->times.load_limit]);
    if (a->risk.mtbf_s > 0) {
        figure_double(&w, "mtbf_s", a->risk.mtbf_s);
        figure_double(&w, "down_s", a->risk.down_s);
        figure_double(&w, "recovery_s", a->risk.recovery_s);
    }
    intervals_json(&w, a);
    json_write_end(&w);
    json_write_finish(&w);
}

static void interval_csv(struct str *out, const struct interval_row *r)
{
    const double cells[] = {r->interval_s, r->segment_s, r->goodput, r->saving, r->redone, r->downtime};
    str_append(out, r->rule);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        str_append_char(out, ',');
        str_append_double(out, cells[i]);
    }
    str_append_char(out, '\n');
}

void checkpoint_csv(const struct checkpoint_answer *a, struct str *out)
{
    if (!(a->risk.mtbf_s > 0)) {
        str_append(out, "size_bytes,save_s,stall_s,background_s,load_s\n");
        str_printf(out, "%.17g,%.9g,%.9g,%.9g,%.9g\n", a->layout.bytes, a->times.save_s, a->cost.stall_s, a->cost.lag_s,
                   a->times.load_s);
        return;
    }
    str_append(out, "rule,interval_s,segment_s,goodput,saving,redone,downtime\n");
    for (size_t i = 0; i < a->n_asked; i++) interval_csv(out, &a->asked[i]);
    for (int i = 0; i < N_INTERVAL_RULES; i++) interval_csv(out, &a->rules[i]);
    for (int i = 0; i < a->n_spread; i++) interval_csv(out, &a->spread[i]);
}

/* ---- the picture ---- */

enum { PLOT_POINTS = 121 };

bool checkpoint_plot(const struct checkpoint_answer *a, const char *path, struct diag *d)
{
    double x[PLOT_POINTS], y[PLOT_POINTS], at[N_INTERVAL_RULES], good[N_INTERVAL_RULES];
    struct plot_series series[N_INTERVAL_RULES + 1];
    double low = fmax(a->rules[0].interval_s / 30, interval_least_s(a->cost)), high = a->rules[0].interval_s * 30;
    for (int i = 0; i < PLOT_POINTS; i++) {
        x[i] = low * pow(high / low, (double)i / (PLOT_POINTS - 1));
        y[i] = 100 * checkpoint_goodput(x[i], a->cost, &a->risk);
    }
    series[0] = (struct plot_series){"goodput", x, y, PLOT_POINTS, PLOT_LINE};
    for (int i = 0; i < N_INTERVAL_RULES; i++) {
        at[i] = a->rules[i].interval_s;
        good[i] = 100 * a->rules[i].goodput;
        series[i + 1] = (struct plot_series){a->rules[i].rule, &at[i], &good[i], 1, PLOT_MARKS};
    }
    struct svg_plot p = {.title = "Goodput by checkpoint interval",
                         .x = {.title = "work between saves (s)", .log = true},
                         .y = {.title = "goodput (% of time)"},
                         .series = series,
                         .n_series = N_INTERVAL_RULES + 1};
    return svg_plot_write(&p, path, d);
}
