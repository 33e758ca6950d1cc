/* calibrate_runs_text.c - a calibration from live runs for people, for programs, and as a profile.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_write.h"
#include "input/stack.h"
#include "study/calibrate_runs.h"
#include "study/figures.h"
#include "study/flips.h"
#include "study/words.h"

enum { NAME = 32, CELL = 11, RANGE = 25, QUANTITY = 24, RUNS_CALIBRATION_FORMAT = 1, STEPS_SHOWN = 20 };

static const char *name_of(const struct fitted_constant *k) { return stack_constant_at(k->constant)->name; }

/* ---- text ---- */

static void value_cell(struct str *out, size_t constant, double value, size_t width)
{
    struct str t = {0};
    flip_value_text(constant, llround(value), &t);
    words_cell(out, &t, width);
    str_free(&t);
}

static void range_cell(struct str *out, const struct fitted_constant *k)
{
    struct str t = {0};
    if (!k->kept) {
        flip_value_text(k->constant, llround(k->low), &t);
        str_append(&t, " to ");
        flip_value_text(k->constant, llround(k->high), &t);
    } else str_append(&t, "-");
    words_cell(out, &t, RANGE);
    str_free(&t);
}

static void remark(const struct runs_calibration *c, const struct fitted_constant *k, struct str *out)
{
    if (k->kept) str_append(out, "; kept: no other value fits better");
    else if (k->twin != SIZE_MAX) str_printf(out, "; cannot be told from %s", name_of(&c->constants.v[k->twin]));
    else if (!k->determined) str_append(out, "; NOT DETERMINED by these runs");
}

static void constants_text(const struct runs_calibration *c, struct str *out)
{
    static const struct { const char *head; size_t width; } heads[] = {{"was", CELL}, {"fitted", CELL}, {"interval", RANGE}};
    struct str t = {0};
    words_left(out, "constant", NAME);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        str_append(&t, heads[i].head);
        words_cell(out, &t, heads[i].width);
    }
    str_append(out, "  moves\n");
    for (size_t i = 0; i < c->constants.n; i++) {
        const struct fitted_constant *k = &c->constants.v[i];
        words_left(out, name_of(k), NAME);
        value_cell(out, k->constant, (double)k->base, CELL);
        value_cell(out, k->constant, (double)k->value, CELL);
        range_cell(out, k);
        str_printf(out, "  %s", quantity_name(k->moves));
        remark(c, k, out);
        str_append(out, "\n");
    }
    if (!c->constants.n) str_append(out, "(none: no service time of the stacks moves anything in these runs)\n");
    if (c->not_read) str_printf(out, "%zu more are not read by these runs and stay as they are.\n", c->not_read);
    if (c->left_zero)
        str_printf(out, "%zu more take no time in the stacks of these runs and stay 0; -c NAME fits such a one.\n", c->left_zero);
    str_free(&t);
}

static void percent_cell(struct str *out, double share)
{
    struct str t = {0};
    if (isfinite(share)) str_printf(&t, "%.1f %%", 100 * share);
    else str_append(&t, isnan(share) ? "-" : "no such");
    words_cell(out, &t, CELL);
    str_free(&t);
}

static void errors_text(const struct runs_calibration *c, struct str *out)
{
    struct str t = {0};
    if (!c->errors.n) return;
    str_append(out, "\nMedian error of durations of jobs that were held out (each half predicted from the other):\n");
    words_left(out, "quantity", QUANTITY);
    str_append(&t, "samples");
    words_cell(out, &t, CELL);
    str_append(&t, "as it was");
    words_cell(out, &t, CELL);
    str_append(&t, "fitted");
    words_cell(out, &t, CELL);
    str_append(out, "\n");
    for (size_t i = 0; i < c->errors.n; i++) {
        words_left(out, quantity_name(c->errors.v[i].quantity), QUANTITY);
        words_number_cell(out, (double)c->errors.v[i].n, CELL);
        percent_cell(out, c->errors.v[i].before);
        percent_cell(out, c->errors.v[i].after);
        str_append(out, "\n");
    }
    str_free(&t);
}

static void steps_text(const struct runs_calibration *c, struct str *out)
{
    static const char *const heads[] = {"steps", "step", "compute", "communic.", "data"};
    struct str t = {0};
    if (!c->steps.n) return;
    str_append(out, "\nMeasured steps:\n");
    words_left(out, "job", QUANTITY);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        str_append(&t, heads[i]);
        words_cell(out, &t, CELL);
    }
    str_append(out, "\n");
    for (size_t i = 0; i < c->steps.n && i < STEPS_SHOWN; i++) {
        const struct measured_steps *s = &c->steps.v[i];
        words_left(out, s->job, QUANTITY);
        words_number_cell(out, (double)s->steps, CELL);
        words_amount_cell(out, "s", s->step_s, CELL);
        words_amount_cell(out, "s", s->compute_s, CELL);
        words_amount_cell(out, "s", s->communication_s, CELL);
        words_amount_cell(out, "s", s->data_s, CELL);
        str_append(out, "\n");
    }
    if (c->steps.n > STEPS_SHOWN) str_printf(out, "... and %zu more jobs (--format json has all)\n", c->steps.n - STEPS_SHOWN);
    str_free(&t);
}

static void medians_text(const struct measured_saves *s, struct str *out)
{
    if (!s->n_all && !s->n_loads) return;
    str_printf(out, "\nCheckpoints: %zu saves", s->n_all);
    if (s->n_all) str_append(out, ", "), words_amount(out, "s", s->save_s), str_append(out, " in the median");
    str_printf(out, "; loads of %zu jobs", s->n_loads);
    if (s->n_loads) str_append(out, ", "), words_amount(out, "s", s->load_s);
    str_append(out, ".\n");
}

static void saves_text(const struct measured_saves *s, struct str *out)
{
    if (!s->n) return;
    str_printf(out, "%zu saves are of known size: ", s->n);
    words_number(out, s->bytes_per_s / 1e9);
    str_append(out, " GB/s (");
    words_number(out, s->low / 1e9);
    str_append(out, " to ");
    words_number(out, s->high / 1e9);
    str_append(out, ")");
    if (isnan(s->latency_s)) {
        str_append(out, "; all are of one size, so what does not depend on it cannot be told from bandwidth.\n");
        return;
    }
    str_append(out, " after ");
    words_amount(out, "s", s->latency_s);
    str_append(out, " (");
    words_amount(out, "s", s->latency_low);
    str_append(out, " to ");
    words_amount(out, "s", s->latency_high);
    str_append(out, ").\n");
}

static void failures_text(const struct measured_failures *f, struct str *out)
{
    if (f->rank_hours <= 0) return;
    str_printf(out, "\nFailures: %zu in ", f->n);
    words_number(out, f->rank_hours);
    str_append(out, " GPU-hours of training");
    if (f->n) {
        str_append(out, ", ");
        words_number(out, f->rate);
        str_append(out, " an hour (");
        words_number(out, f->low);
        str_append(out, " to ");
    } else {
        str_append(out, " (at most ");
    }
    words_number(out, f->high);
    str_append(out, f->n ? ").\n" : " an hour).\n");
}

void runs_calibration_text(const struct runs_calibration *c, struct str *out)
{
    str_printf(out, "%s\n%zu durations", c->source, c->n_samples);
    if (c->constants.n)
        str_printf(out, "; misfit %.3g before, %.3g after (1 a duration that is one unit off)", c->cost_before, c->cost_after);
    str_append(out, "\n\n");
    constants_text(c, out);
    errors_text(c, out);
    steps_text(c, out);
    medians_text(&c->saves, out);
    saves_text(&c->saves, out);
    failures_text(&c->failures, out);
}

/* ---- JSON ---- */

static void constant_json(struct json_writer *w, const struct runs_calibration *c, const struct fitted_constant *k)
{
    json_write_object(w);
    figure_string(w, "constant", name_of(k));
    figure_double(w, "was", flip_value_number(k->constant, k->base));
    figure_double(w, "fitted", flip_value_number(k->constant, k->value));
    figure_bool(w, "kept", k->kept);
    figure_double(w, "low", k->kept ? NAN : flip_value_number(k->constant, llround(k->low)));
    figure_double(w, "high", k->kept ? NAN : flip_value_number(k->constant, llround(k->high)));
    figure_string(w, "moves", quantity_name(k->moves));
    figure_bool(w, "determined", k->determined);
    if (k->twin != SIZE_MAX) figure_string(w, "not_told_from", name_of(&c->constants.v[k->twin]));
    json_write_end(w);
}

static void begin_list(struct json_writer *w, const char *key)
{
    json_write_key(w, key);
    json_write_array(w);
}

static void errors_json(struct json_writer *w, const struct runs_calibration *c)
{
    begin_list(w, "held_out");
    for (size_t i = 0; i < c->errors.n; i++) {
        json_write_object(w);
        figure_string(w, "quantity", quantity_name(c->errors.v[i].quantity));
        figure_count(w, "samples", c->errors.v[i].n);
        figure_double(w, "before", c->errors.v[i].before);
        figure_double(w, "after", c->errors.v[i].after);
        json_write_end(w);
    }
    json_write_end(w);
}

static void steps_json(struct json_writer *w, const struct runs_calibration *c)
{
    begin_list(w, "steps");
    for (size_t i = 0; i < c->steps.n; i++) {
        const struct measured_steps *s = &c->steps.v[i];
        json_write_object(w);
        figure_string(w, "job", s->job);
        figure_count(w, "steps", (size_t)s->steps);
        figure_double(w, "step_s", s->step_s);
        figure_double(w, "compute_s", s->compute_s);
        figure_double(w, "communication_s", s->communication_s);
        figure_double(w, "data_s", s->data_s);
        json_write_end(w);
    }
    json_write_end(w);
}

static void direct_json(struct json_writer *w, const struct runs_calibration *c)
{
    json_write_key(w, "saves");
    json_write_object(w);
    figure_count(w, "samples", c->saves.n);
    figure_double(w, "bytes_per_s", c->saves.n ? c->saves.bytes_per_s : NAN);
    figure_double(w, "latency_s", c->saves.n ? c->saves.latency_s : NAN);
    figure_count(w, "all", c->saves.n_all);
    figure_double(w, "save_s", c->saves.n_all ? c->saves.save_s : NAN);
    figure_count(w, "loads", c->saves.n_loads);
    figure_double(w, "load_s", c->saves.n_loads ? c->saves.load_s : NAN);
    json_write_end(w);
    json_write_key(w, "failures");
    json_write_object(w);
    figure_count(w, "failures", c->failures.n);
    figure_double(w, "gpu_hours", c->failures.rank_hours);
    figure_double(w, "per_gpu_hour", c->failures.rate);
    figure_double(w, "low", c->failures.low);
    figure_double(w, "high", c->failures.high);
    json_write_end(w);
}

void runs_calibration_json(const struct runs_calibration *c, struct str *out)
{
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    figure_count(&w, "trainyard_calibration", RUNS_CALIBRATION_FORMAT);
    figure_string(&w, "source", c->source);
    figure_count(&w, "jobs", c->n_jobs);
    figure_count(&w, "samples", c->n_samples);
    figure_count(&w, "not_read", c->not_read);
    figure_count(&w, "left_zero", c->left_zero);
    figure_double(&w, "misfit_before", c->constants.n ? c->cost_before : NAN);
    figure_double(&w, "misfit_after", c->constants.n ? c->cost_after : NAN);
    begin_list(&w, "constants");
    for (size_t i = 0; i < c->constants.n; i++) constant_json(&w, c, &c->constants.v[i]);
    json_write_end(&w);
    errors_json(&w, c);
    steps_json(&w, c);
    direct_json(&w, c);
    json_write_end(&w);
    str_append(out, "\n");
}

/* ---- CSV ---- */

void runs_calibration_csv(const struct runs_calibration *c, struct str *out)
{
    str_append(out, "constant,was,fitted,low,high,moves,determined\n");
    for (size_t i = 0; i < c->constants.n; i++) {
        const struct fitted_constant *k = &c->constants.v[i];
        const int64_t values[] = {k->base, k->value, llround(k->low), llround(k->high)};
        figure_csv_text(out, name_of(k));
        for (size_t v = 0; v < 4; v++) figure_csv_number(out, flip_value_number(k->constant, values[v]), v < 2 || !k->kept);
        figure_csv_text(out, quantity_name(k->moves));
        str_append(out, k->determined ? "yes\n" : "no\n");
    }
}

/* ---- profile ---- */

/* The source, and which of the constants are worth nothing by themselves. */
static void source_with_doubts(const struct runs_calibration *c, struct str *out)
{
    const char *lead = "; only together and in runs like these: ";
    str_append(out, c->source);
    for (size_t i = 0; i < c->constants.n; i++) {
        if (c->constants.v[i].determined || c->constants.v[i].kept) continue;
        str_append(out, lead);
        str_append(out, name_of(&c->constants.v[i]));
        lead = ", ";
    }
}

/* Constants that are as everywhere are left out. */
static void constants_profile(const struct runs_calibration *c, struct json_writer *w)
{
    struct stack values = c->stack, usual;
    struct arena arena = {0};
    bool fitted[sizeof values / sizeof(int64_t)] = {false};
    stack_defaults(&usual);
    for (size_t i = 0; i < c->constants.n; i++) {
        if (c->constants.v[i].kept) continue;
        fitted[c->constants.v[i].constant] = true;
        stack_put(&values, c->constants.v[i].constant, c->constants.v[i].value);
    }
    json_write_key(w, "constants");
    json_write_object(w);
    for (size_t i = 0; i < stack_constant_count(); i++)
        if (fitted[i] || stack_get(&values, i) != stack_get(&usual, i))
            figure_string(w, stack_constant_at(i)->name, stack_text(&arena, &values, i));
    json_write_end(w);
    arena_free(&arena);
}

void runs_calibration_profile(const struct runs_calibration *c, const char *name, struct str *out)
{
    struct json_writer w;
    struct str source = {0};
    json_write_begin(&w, out);
    json_write_object(&w);
    figure_string(&w, "name", name);
    source_with_doubts(c, &source);
    figure_string(&w, "source", str_text(&source));
    constants_profile(c, &w);
    json_write_end(&w);
    str_append(out, "\n");
    str_free(&source);
}
