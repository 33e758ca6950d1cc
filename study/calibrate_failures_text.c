/* calibrate_failures_text.c - a failure calibration as text, CSV, JSON and profile.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json_write.h"
#include "base/units.h"
#include "study/calibrate_failures.h"
#include "study/figures.h"
#include "study/words.h"

static const char *const scopes[N_FAULT_SCOPES] = {"gpu", "node", "rack", "switch", "storage", "link"};

/* ---- text ---- */

/* "71.4 (58.2 to 87.0)". */
static void estimate_cell(struct str *s, struct estimate e, double unit, size_t width)
{
    struct str text = {0};
    if (isnan(e.value)) {
        str_append(&text, "-");
    } else {
        words_number(&text, e.value / unit);
        str_append(&text, " (");
        words_number(&text, e.low / unit);
        str_append(&text, " to ");
        if (isinf(e.high)) str_append(&text, "any");
        else words_number(&text, e.high / unit);
        str_append(&text, ")");
    }
    words_cell(s, &text, width);
    str_free(&text);
}

static void percent_cell(struct str *s, double x, size_t width)
{
    struct str text = {0};
    str_printf(&text, "%.0f %%", 100 * x);
    words_cell(s, &text, width);
    str_free(&text);
}

static void reach_cell(struct str *s, const struct component_fit *f, uint32_t nodes)
{
    struct str text = {0};
    str_append(&text, scopes[f->scope]);
    if (f->scope == FAULT_STORAGE) str_printf(&text, " of all %" PRIu32, nodes);
    else if (f->span > 1) str_printf(&text, " of %" PRIu32, f->span);
    else if (f->per_node > 1) str_printf(&text, ", %" PRIu32 " a node", f->per_node);
    words_cell(s, &text, 18);
    str_free(&text);
}

static void component_line(const struct failure_calibration *c, const struct component_fit *f, struct str *s)
{
    words_left(s, f->name, 12);
    reach_cell(s, f, c->nodes);
    words_number_cell(s, (double)f->events, 9);
    estimate_cell(s, f->mtbf_s, 3600, 28);
    estimate_cell(s, f->life.shape, 1, 20);
    words_number_cell(s, f->repair_s.median.value / 60, 14);
    words_number_cell(s, f->repair_s.mean / 60, 9);
    words_number_cell(s, f->repair_s.sigma.value, 6);
    percent_cell(s, f->together, 9);
    percent_cell(s, f->by_chance, 7);
    str_append(s, "\n");
}

static void lemon_line(const struct failure_calibration *c, const struct component_fit *f, struct str *s)
{
    if (!f->lemons.n) return;
    struct str text = {0};
    str_printf(&text, "%s: %zu of %" PRIu32 " nodes fail ", f->name, f->lemons.n, c->nodes);
    words_number(&text, f->lemon_times.value);
    str_append(&text, " times as often as the others (");
    words_number(&text, f->lemon_times.low);
    str_append(&text, " to ");
    words_number(&text, f->lemon_times.high);
    str_append(&text, "), the worst first:");
    for (size_t i = 0; i < f->lemons.n && i < 40; i++) str_printf(&text, " %s", intern_text(&c->log->nodes, f->lemons.v[i]));
    if (f->lemons.n > 40) str_append(&text, " ...");
    words_wrapped(s, str_text(&text), 4, 116);
    str_append(s, "\n");
    str_free(&text);
}

static void ageing_line(const struct component_fit *f, struct str *s)
{
    if (!f->ages) return;
    str_printf(s, "%s: the hazard %s with age (shape 1 is refused, p = %.2g, %zu lives); its mean time to failure is that of a new one\n",
               f->name, f->life.shape.value < 1 ? "falls" : "rises", f->life.p_exponential, f->life.ended);
}

/* What each kind is counted as: by its component and text. */

struct kind_count { uint32_t kind; size_t n; };
typedef ARRAY(struct kind_count) kind_counts;

static int by_number(const void *a, const void *b)
{
    const struct kind_count *x = a, *y = b;
    if (x->n != y->n) return x->n > y->n ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* How often each kind stands in the log for this component, the most frequent first. */
static kind_counts kinds_of(const struct failure_calibration *c, const struct component_fit *f)
{
    kind_counts kinds = {0};
    for (uint32_t i = 0; i < intern_count(&c->log->kinds); i++) array_push(&kinds, ((struct kind_count){i, 0}));
    for (size_t i = 0; i < c->log->events.n; i++) {
        const struct failure_event *e = &c->log->events.v[i];
        if (str_equal(intern_text(&c->log->components, e->component), f->name)) kinds.v[e->kind].n++;
    }
    array_sort(&kinds, by_number);
    while (kinds.n && array_last(&kinds).n == 0) kinds.n--;
    return kinds;
}

enum { KINDS_SHOWN = 12 };

static void kinds_line(const struct failure_calibration *c, const struct component_fit *f, struct str *s)
{
    kind_counts kinds = kinds_of(c, f);
    struct str text = {0};
    str_printf(&text, "%s:", f->name);
    for (size_t i = 0; i < kinds.n && i < KINDS_SHOWN; i++) {
        const char *name = intern_text(&c->log->kinds, kinds.v[i].kind);
        str_printf(&text, "%s %s %zu", i ? "," : "", *name ? name : "(no kind)", kinds.v[i].n);
    }
    if (kinds.n > KINDS_SHOWN) str_printf(&text, ", %zu others", kinds.n - KINDS_SHOWN);
    words_wrapped(s, str_text(&text), 4, 116);
    str_append(s, "\n");
    str_free(&text);
    array_free(&kinds);
}

void failure_calibration_text(const struct failure_calibration *c, struct str *s)
{
    struct estimate r = c->per_1000_node_days;
    str_printf(s, "%" PRIu32 " nodes, %.1f days: ", c->nodes, c->observed_s / 86400);
    words_number(s, r.value);
    str_append(s, " failures per 1,000 node-days (");
    words_number(s, r.low);
    str_append(s, " to ");
    words_number(s, r.high);
    str_printf(s, "; all intervals %.4g %%)\n\n", 100 * c->level);
    str_printf(s, "%-12s %18s %9s %28s %20s %14s %9s %6s %9s %7s\n", "component", "what fails", "failures", "mean time to failure, h", "shape",
               "repair, median", "mean, min", "sigma", "together", "chance");
    for (size_t i = 0; i < c->components.n; i++) component_line(c, &c->components.v[i], s);
    if (!c->components.n) str_append(s, "no failures\n");
    str_append(s, "\n");
    for (size_t i = 0; i < c->components.n; i++) {
        kinds_line(c, &c->components.v[i], s);
        lemon_line(c, &c->components.v[i], s);
        ageing_line(&c->components.v[i], s);
    }
}

/* ---- CSV ---- */

static void csv_estimate(struct str *s, struct estimate e)
{
    figure_csv_number(s, e.value, isfinite(e.value));
    figure_csv_number(s, e.low, isfinite(e.low));
    figure_csv_number(s, e.high, isfinite(e.high));
}

void failure_calibration_csv(const struct failure_calibration *c, struct str *s)
{
    str_append(s, "component,scope,per_node,nodes,failures,incidents,mtbf_s,mtbf_low_s,mtbf_high_s,shape,shape_low,shape_high,"
                  "repair_mean_s,repair_median_s,repair_median_low_s,repair_median_high_s,repair_sigma,lemons,lemon_times,"
                  "lemon_times_low,lemon_times_high,together,by_chance\n");
    for (size_t i = 0; i < c->components.n; i++) {
        const struct component_fit *f = &c->components.v[i];
        figure_csv_text(s, f->name);
        str_printf(s, "%s,%" PRIu32 ",%" PRIu32 ",%zu,%zu,", scopes[f->scope], f->per_node,
                   f->scope == FAULT_STORAGE ? c->nodes : f->span, f->events, f->incidents);
        csv_estimate(s, f->mtbf_s);
        csv_estimate(s, f->life.shape);
        figure_csv_number(s, f->repair_s.mean, isfinite(f->repair_s.mean));
        csv_estimate(s, f->repair_s.median);
        figure_csv_number(s, f->repair_s.sigma.value, isfinite(f->repair_s.sigma.value));
        str_printf(s, "%zu,", f->lemons.n);
        csv_estimate(s, f->lemon_times);
        str_printf(s, "%.6g,%.6g\n", f->together, f->by_chance);
    }
}

/* ---- JSON ---- */

static void json_estimate(struct json_writer *w, const char *key, struct estimate e)
{
    json_write_key(w, key);
    json_write_object_inline(w);
    figure_double(w, "value", e.value);
    figure_double(w, "low", e.low);
    figure_double(w, "high", e.high);
    json_write_end(w);
}

static void json_component(struct json_writer *w, const struct failure_calibration *c, const struct component_fit *f)
{
    json_write_object(w);
    figure_string(w, "component", f->name);
    figure_string(w, "scope", scopes[f->scope]);
    figure_count(w, "per_node", f->per_node);
    figure_count(w, "nodes", f->scope == FAULT_STORAGE ? c->nodes : f->span);
    figure_count(w, "failures", f->events);
    figure_count(w, "incidents", f->incidents);
    json_estimate(w, "mtbf_s", f->mtbf_s);
    if (f->life.known) json_estimate(w, "shape", f->life.shape);
    if (f->life.known) figure_double(w, "p_exponential", f->life.p_exponential);
    figure_double(w, "repair_mean_s", f->repair_s.mean);
    json_estimate(w, "repair_median_s", f->repair_s.median);
    json_estimate(w, "repair_sigma", f->repair_s.sigma);
    kind_counts kinds = kinds_of(c, f);
    json_write_key(w, "kinds");
    json_write_array_inline(w);
    for (size_t i = 0; i < kinds.n; i++) {
        json_write_object_inline(w);
        figure_string(w, "kind", intern_text(&c->log->kinds, kinds.v[i].kind));
        figure_count(w, "failures", kinds.v[i].n);
        json_write_end(w);
    }
    json_write_end(w);
    array_free(&kinds);
    json_write_key(w, "lemons");
    json_write_array_inline(w);
    for (size_t i = 0; i < f->lemons.n; i++) json_write_string(w, intern_text(&c->log->nodes, f->lemons.v[i]));
    json_write_end(w);
    if (f->lemons.n) json_estimate(w, "lemon_times", f->lemon_times);
    figure_double(w, "together", f->together);
    figure_double(w, "by_chance", f->by_chance);
    json_write_end(w);
}

void failure_calibration_json(const struct failure_calibration *c, struct str *s)
{
    struct json_writer w;
    json_write_begin(&w, s);
    json_write_object(&w);
    figure_count(&w, "nodes", c->nodes);
    figure_double(&w, "observed_s", c->observed_s);
    figure_double(&w, "level", c->level);
    json_estimate(&w, "failures_per_1000_node_days", c->per_1000_node_days);
    json_write_key(&w, "components");
    json_write_array(&w);
    for (size_t i = 0; i < c->components.n; i++) json_component(&w, c, &c->components.v[i]);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}

/* ---- profile ---- */

/* Durations of a profile in whole seconds and at least one; 292 years are the most that one can be. */
static void profile_duration(struct json_writer *w, const char *key, double s)
{
    json_write_key(w, key);
    json_write_int64(w, s < 1 ? 1 : s > 9.2e9 ? 9200000000 : (int64_t)llround(s));
}

static void profile_number(struct json_writer *w, const char *key, double x, double least, double most)
{
    json_write_key(w, key);
    json_write_double(w, round(fmin(fmax(x, least), most) * 1e4) / 1e4);
}

static void profile_component(struct json_writer *w, const struct failure_calibration *c, const struct component_fit *f)
{
    json_write_object(w);
    figure_string(w, "name", f->name);
    figure_string(w, "scope", scopes[f->scope]);
    profile_duration(w, "mtbf", f->mtbf_s.value);
    if (f->ages) profile_number(w, "shape", f->life.shape.value, 0.1, 20);
    profile_duration(w, "repair", isfinite(f->repair_s.mean) ? f->repair_s.mean : 1);
    if (f->repair_s.sigma.value > 0) profile_number(w, "repair_sigma", f->repair_s.sigma.value, 0, 10);
    if (f->span > 1 && f->scope != FAULT_STORAGE) figure_count(w, "nodes", f->span);
    if (f->per_node > 1) figure_count(w, "per_node", f->per_node);
    if (f->lemons.n && isfinite(f->lemon_times.value)) {
        json_write_key(w, "lemons");
        json_write_object_inline(w);
        profile_number(w, "share", (double)f->lemons.n / c->nodes, 0, 1);
        profile_number(w, "times", f->lemon_times.value, 1, 1e6);
        json_write_end(w);
    }
    json_write_end(w);
}

void failure_calibration_profile(const struct failure_calibration *c, const char *name, const char *source, struct str *s)
{
    struct json_writer w;
    struct str from = {0};
    size_t events = 0;
    for (size_t i = 0; i < c->components.n; i++) events += c->components.v[i].events;
    str_printf(&from, "trainyard calibrate failures %s: %zu failures of %" PRIu32 " nodes in %.4g days", source, events, c->nodes,
               c->observed_s / 86400);
    json_write_begin(&w, s);
    json_write_object(&w);
    figure_string(&w, "name", name);
    figure_string(&w, "source", str_text(&from));
    json_write_key(&w, "components");
    json_write_array(&w);
    for (size_t i = 0; i < c->components.n; i++) profile_component(&w, c, &c->components.v[i]);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
    str_free(&from);
}
