/* flips_text.c - which constants would turn the winner, for people and for programs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "run/metrics.h"
#include "study/figures.h"
#include "study/flips.h"
#include "study/words.h"

enum { WIDTH = 100, NAME = 36, DEFAULT = 13, END = 14, TURN = 19, FLIPS_FORMAT = 1 };

/* ---- values of constants ---- */

double flip_value_number(size_t constant, int64_t value)
{
    switch (stack_constant_at(constant)->type) {
    case CONST_TIME: return (double)value / 1e9;
    case CONST_RATE: return (double)value / 1000;
    default: return (double)value;
    }
}

void flip_value_text(size_t constant, int64_t value, struct str *out)
{
    enum constant_type type = stack_constant_at(constant)->type;
    if (type == CONST_SWITCH)
        str_append(out, value ? "true" : "false");
    else if (type == CONST_TIME)
        words_amount(out, "s", flip_value_number(constant, value));
    else
        words_number(out, flip_value_number(constant, value));
    if (type == CONST_RATE) str_append(out, "/s");
}

/* Of the approaches that read it; both where they differ. */
static void values_text(const struct flip *f, const struct flip_values *v, struct str *out)
{
    bool both = f->base_reads && f->other_reads && v->base != v->other;
    flip_value_text(f->constant, f->base_reads ? v->base : v->other, out);
    if (!both) return;
    str_append(out, "|");
    flip_value_text(f->constant, v->other, out);
}

/* ---- text ---- */

static void line(struct str *out, const char *lead, size_t indent, struct str *text)
{
    str_append(out, lead);
    words_wrapped(out, str_text(text), indent, WIDTH);
    str_append(out, "\n");
    str_clear(text);
}

static struct scale scale_for(const struct flips *f, const struct paired *p)
{
    double size = fmax(fabs(p->mean), fmax(fabs(p->difference.low), fabs(p->difference.high)));
    return words_difference_scale(metric_at(f->metric)->unit, p->difference.known ? size : p->mean);
}

static void difference_text(const struct flips *f, const struct paired *p, struct str *out)
{
    struct scale u = scale_for(f, p);
    words_signed_number(out, p->mean * u.factor);
    str_append(out, u.unit);
    if (!p->difference.known) return;
    str_append(out, " (95 % interval ");
    words_signed_number(out, p->difference.low * u.factor);
    str_append(out, " to ");
    words_signed_number(out, p->difference.high * u.factor);
    str_append(out, u.unit);
    str_append(out, ")");
}

static bool is_sure(const struct paired *p)
{
    return p->verdict == VERDICT_MORE || p->verdict == VERDICT_LESS;
}

static void heading(const struct flips *f, struct str *out)
{
    struct str s = {0};
    str_printf(&s, "%s: which constants would turn %s between %s (base) and %s", f->scenario, metric_at(f->metric)->name,
               f->base, f->other);
    line(out, "", 2, &s);
    str_printf(&s, "%zu replication%s with seed %llu, paired; each constant alone, from 0.1 to 10 times its value, in both "
                   "approaches at once; differences are %s minus %s",
               f->n_replications, f->n_replications == 1 ? "" : "s", (unsigned long long)f->seed, f->other, f->base);
    line(out, "  ", 2, &s);
    str_printf(&s, "At the defaults: %s ", f->base);
    words_amount(&s, metric_at(f->metric)->unit, f->at_default.mean_a);
    str_printf(&s, ", %s ", f->other);
    words_amount(&s, metric_at(f->metric)->unit, f->at_default.mean_b);
    str_append(&s, ", difference ");
    difference_text(f, &f->at_default, &s);
    line(out, "  ", 2, &s);
    if (!is_sure(&f->at_default))
        str_append(&s, f->at_default.difference.known
                           ? "note: at the defaults no difference is shown, so there is no winner to turn; signs below may "
                             "change by chance"
                           : "note: without more replications there is no interval, so all of it may be chance");
    if (s.n) line(out, "  ", 8, &s);
    if (f->base_bound || f->other_bound)
        str_append(&s, "note: some jobs had not ended; they count with their time so far");
    if (s.n) line(out, "  ", 8, &s);
    str_free(&s);
}

static void end_cell(const struct flips *f, const struct flip_end *e, struct str *out)
{
    struct str s = {0};
    if (e->tried) {
        struct scale u = words_difference_scale(metric_at(f->metric)->unit, e->difference.mean);
        if (!is_sure(&e->difference)) str_append(&s, "~ ");
        words_signed_number(&s, e->difference.mean * u.factor);
        str_append(&s, !strcmp(u.unit, " points") ? " pt" : u.unit);
    } else
        str_append(&s, "-");
    words_cell(out, &s, END);
    str_free(&s);
}

static void turn_cell(const struct flip *f, struct str *out)
{
    struct str s = {0};
    for (int i = 0; i < 2; i++) {
        const struct flip_end *e = &f->ends[i];
        if (!e->turns) continue;
        if (s.n) str_append(&s, ", ");
        if (!e->shown) str_append(&s, "~ ");
        if (!e->sought && e->factor != 0) str_append(&s, e->factor > 1 ? "up to " : "down to ");
        values_text(f, &e->at, &s);
    }
    if (!s.n) str_append(&s, "no");
    words_cell(out, &s, TURN);
    str_free(&s);
}

/* Worth a row: it turns the winner, or moves the difference by a hundredth. */
static bool has_row(const struct flips *f, const struct flip *x)
{
    return x->ends[0].turns || x->ends[1].turns || x->moved > 0.01 * fabs(f->at_default.mean);
}

static void table(const struct flips *f, struct str *out)
{
    struct str s = {0};
    size_t rows = 0;
    for (size_t i = 0; i < f->list.n; i++) rows += has_row(f, &f->list.v[i]);
    if (!rows) return;
    str_append(out, "\n");
    words_left(out, "Constant", NAME);
    str_printf(out, " %*s %*s %*s %*s\n", DEFAULT, "default", END, "at 0.1x", END, "at 10x", TURN, "turns at");
    for (size_t i = 0; i < f->list.n; i++) {
        const struct flip *x = &f->list.v[i];
        if (!has_row(f, x)) continue;
        words_left(out, stack_constant_at(x->constant)->name, NAME);
        values_text(x, &x->values, &s);
        words_cell(out, &s, DEFAULT);
        end_cell(f, &x->ends[0], out);
        end_cell(f, &x->ends[1], out);
        turn_cell(x, out);
        str_append(out, "\n");
    }
    str_append(&s, "~ no difference shown (its 95 % interval holds 0), or a turn that such an interval does not show; a "
                   "switch is turned over under 10x; - the value would be that of the default");
    line(out, "  ", 2, &s);
    str_free(&s);
}

static void turn_sentence(const struct flips *f, const struct flip *x, const struct flip_end *e, struct str *out)
{
    struct str s = {0};
    const char *fewer = e->difference.mean < 0 ? f->other : f->base;
    str_append(&s, stack_constant_at(x->constant)->name);
    str_append(&s, e->factor == 0 ? " turned to " : e->factor > 1 ? " above about " : " below about ");
    values_text(x, &e->at, &s);
    str_append(&s, e->sought || e->factor == 0 ? " (now " : " at the latest (now ");
    values_text(x, &x->values, &s);
    str_printf(&s, "): %s would have the lower %s", fewer, metric_at(f->metric)->name);
    if (e->factor == 0)
        str_append(&s, ": ");
    else {
        str_append(&s, "; at ");
        values_text(x, &e->values, &s);
        str_append(&s, " the difference is ");
    }
    difference_text(f, &e->difference, &s);
    if (!e->shown) str_append(&s, ", which shows no turn");
    line(out, "  * ", 4, &s);
    str_free(&s);
}

static void plain_words(const struct flips *f, struct str *out)
{
    size_t n = 0;
    str_append(out, "\nIn plain words\n");
    for (size_t i = 0; i < f->list.n; i++)
        for (int e = 0; e < 2; e++)
            if (f->list.v[i].ends[e].shown && ++n) turn_sentence(f, &f->list.v[i], &f->list.v[i].ends[e], out);
    if (n) return;
    struct str s = {0};
    str_printf(&s, "No constant that was tried turns the %s from one approach to the other between 0.1 and 10 times its "
                   "value, as far as the intervals show.",
               metric_at(f->metric)->name);
    line(out, "  * ", 4, &s);
    str_free(&s);
}

static void names_line(struct str *out, const char *lead, const size_t *constants, size_t n)
{
    struct str s = {0};
    if (!n) return;
    str_printf(&s, "%s (%zu): ", lead, n);
    for (size_t i = 0; i < n; i++) str_printf(&s, "%s%s", i ? ", " : "", stack_constant_at(constants[i])->name);
    str_append(out, "\n");
    line(out, "", 2, &s);
    str_free(&s);
}

static void small_line(const struct flips *f, struct str *out)
{
    ARRAY(size_t) small = {0};
    for (size_t i = 0; i < f->list.n; i++)
        if (!has_row(f, &f->list.v[i])) array_push(&small, f->list.v[i].constant);
    names_line(out, "Move the difference by less than a hundredth", small.v, small.n);
    array_free(&small);
}

void flips_text(const struct flips *f, struct str *out)
{
    heading(f, out);
    plain_words(f, out);
    table(f, out);
    small_line(f, out);
    names_line(out, "Changed nothing in the first replication", f->inert.v, f->inert.n);
    names_line(out, "Not tried, since the time was up (--budget)", f->not_tried.v, f->not_tried.n);
}

/* ---- JSON ---- */

static const char *const type_units[] = {
    [CONST_TIME] = "s", [CONST_RATE] = "1/s", [CONST_COUNT] = "1", [CONST_SWITCH] = "switch"};

static void write_values(struct json_writer *w, const char *key, size_t constant, const struct flip_values *v)
{
    json_write_key(w, key);
    json_write_object_inline(w);
    figure_double(w, "base", flip_value_number(constant, v->base));
    figure_double(w, "other", flip_value_number(constant, v->other));
    json_write_end(w);
}

static void write_end(struct json_writer *w, const char *key, const struct flip *f, const struct flip_end *e)
{
    json_write_key(w, key);
    if (!e->tried) {
        json_write_null(w);
        return;
    }
    json_write_object(w);
    figure_double(w, "factor", e->factor);
    write_values(w, "values", f->constant, &e->values);
    json_write_key(w, "figure");
    json_write_object_inline(w);
    figure_paired(w, &e->difference);
    json_write_end(w);
    figure_bool(w, "turns", e->turns);
    figure_bool(w, "shown", e->shown);
    if (e->turns) figure_bool(w, "sought", e->sought || e->factor == 0);
    if (e->turns && e->factor != 0) {
        json_write_key(w, "between");
        json_write_array_inline(w);
        json_write_double(w, e->near);
        json_write_double(w, e->far);
        json_write_end(w);
        write_values(w, "turns_at", f->constant, &e->at);
    }
    json_write_end(w);
}

static void write_flip(struct json_writer *w, const struct flip *f)
{
    json_write_object(w);
    figure_string(w, "constant", stack_constant_at(f->constant)->name);
    figure_string(w, "unit", type_units[stack_constant_at(f->constant)->type]);
    figure_string(w, "source", stack_constant_at(f->constant)->source);
    figure_bool(w, "base_reads", f->base_reads);
    figure_bool(w, "other_reads", f->other_reads);
    write_values(w, "default", f->constant, &f->values);
    figure_double(w, "moved", f->moved);
    write_end(w, "low", f, &f->ends[0]);
    write_end(w, "high", f, &f->ends[1]);
    json_write_end(w);
}

static void write_names(struct json_writer *w, const char *key, const size_t *constants, size_t n)
{
    json_write_key(w, key);
    json_write_array(w);
    for (size_t i = 0; i < n; i++) json_write_string(w, stack_constant_at(constants[i])->name);
    json_write_end(w);
}

void flips_json(const struct flips *f, struct str *out)
{
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    json_write_key(&w, "trainyard_flips");
    json_write_int64(&w, FLIPS_FORMAT);
    figure_string(&w, "scenario", f->scenario);
    figure_string(&w, "base", f->base);
    figure_string(&w, "other", f->other);
    json_write_key(&w, "seed");
    json_write_uint64(&w, f->seed);
    figure_count(&w, "replications", f->n_replications);
    figure_double(&w, "level", PAIRED_LEVEL);
    figure_string(&w, "metric", metric_at(f->metric)->name);
    figure_string(&w, "unit", metric_at(f->metric)->unit);
    json_write_key(&w, "at_default");
    json_write_object_inline(&w);
    figure_paired(&w, &f->at_default);
    json_write_end(&w);
    figure_bool(&w, "base_bound", f->base_bound);
    figure_bool(&w, "other_bound", f->other_bound);
    json_write_key(&w, "constants");
    json_write_array(&w);
    for (size_t i = 0; i < f->list.n; i++) write_flip(&w, &f->list.v[i]);
    json_write_end(&w);
    write_names(&w, "inert", f->inert.v, f->inert.n);
    write_names(&w, "not_tried", f->not_tried.v, f->not_tried.n);
    json_write_end(&w);
    json_write_finish(&w);
}

/* ---- CSV ---- */

static void csv_end(const struct flips *f, const struct flip *x, const struct flip_end *e, struct str *out)
{
    if (!e->tried) return;
    figure_csv_text(out, stack_constant_at(x->constant)->name);
    figure_csv_text(out, type_units[stack_constant_at(x->constant)->type]);
    figure_csv_text(out, metric_at(f->metric)->name);
    figure_csv_number(out, flip_value_number(x->constant, x->values.base), true);
    figure_csv_number(out, flip_value_number(x->constant, x->values.other), true);
    figure_csv_number(out, e->factor, e->factor != 0);
    figure_csv_number(out, e->difference.mean, true);
    figure_csv_number(out, e->difference.difference.low, e->difference.difference.known);
    figure_csv_number(out, e->difference.difference.high, e->difference.difference.known);
    str_printf(out, "%s,", verdict_names[e->difference.verdict]);
    figure_csv_number(out, e->far, e->turns && e->factor != 0);
    figure_csv_number(out, flip_value_number(x->constant, e->at.base), e->turns);
    figure_csv_number(out, flip_value_number(x->constant, e->at.other), e->turns);
    str_append(out, e->shown ? "shown\n" : e->turns ? "by_mean\n" : "no\n");
}

void flips_csv(const struct flips *f, struct str *out)
{
    str_append(out, "constant,unit,metric,base_default,other_default,factor,difference,low,high,verdict,turns_factor,"
                    "turns_base,turns_other,turns\n");
    for (size_t i = 0; i < f->list.n; i++)
        for (int e = 0; e < 2; e++) csv_end(f, &f->list.v[i], &f->list.v[i].ends[e], out);
}
