/* validate_text.c - a validation for people and for programs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "study/figures.h"
#include "study/job_index.h"
#include "study/validate.h"
#include "study/words.h"

enum { NAME = 22, CELL = 10, SMALL = 7, VALIDATE_FORMAT = 1, SHOWN = 20 };

static const char *const kind_names[N_DIFFERENCE_KINDS] = {"order",  "only_simulated", "only_live",
                                                           "victim", "end",            "places"};
static const char *const kind_words[N_DIFFERENCE_KINDS] = {
    "in another order", "happened in the simulated run only", "happened in the live run only",
    "evicted by another", "ended otherwise",  "on other nodes (told, not judged)",
};

/* ---- text ---- */

static void seconds_cell(struct str *out, double s)
{
    words_amount_cell(out, "s", fabs(s) < 1e-6 ? 0 : s, CELL); /* below a microsecond it is rounding */
}

static void percent_cell(struct str *out, double share)
{
    struct str t = {0};
    if (isfinite(share)) str_printf(&t, "%.1f %%", 100 * share);
    else str_append(&t, "-"); /* of nothing: the medians and the bias say it */
    words_cell(out, &t, CELL);
    str_free(&t);
}

static void row_text(const struct validated *r, struct str *out)
{
    struct str t = {0};
    words_left(out, quantity_name(r->quantity), NAME);
    str_printf(&t, "%zu", r->n_pairs);
    words_cell(out, &t, SMALL);
    seconds_cell(out, r->sim_p50_s);
    seconds_cell(out, r->live_p50_s);
    seconds_cell(out, r->sim_p95_s);
    seconds_cell(out, r->live_p95_s);
    seconds_cell(out, r->bias_s);
    percent_cell(out, r->error);
    if (isfinite(r->distance)) str_printf(&t, "%.2f", r->distance);
    else str_append(&t, "-");
    words_cell(out, &t, SMALL);
    str_append(out, r->passed ? "  ok" : r->n_sim && r->n_live ? "  OFF" : r->n_sim ? "  SIM ONLY" : "  LIVE ONLY");
    str_append(out, "\n");
    str_free(&t);
}

static void table_text(const struct validation *v, struct str *out)
{
    static const char *const heads[] = {"sim p50", "live p50", "sim p95", "live p95", "bias", "error p50"};
    struct str t = {0};
    words_left(out, "quantity", NAME);
    str_append(&t, "pairs");
    words_cell(out, &t, SMALL);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        str_append(&t, heads[i]);
        words_cell(out, &t, CELL);
    }
    str_append(&t, "KS");
    words_cell(out, &t, SMALL);
    str_append(out, "\n");
    for (size_t i = 0; i < v->n_rows; i++) row_text(&v->rows[i], out);
    str_free(&t);
}

static void moment(struct str *out, int64_t ns)
{
    units_format_duration(out, ns);
}

static void event_words(struct str *out, const struct happened *e)
{
    char buf[24];
    str_printf(out, "%s %s", job_row_id(e->job, buf), happening_names[e->what]);
    if (e->k) str_printf(out, " (%u)", e->k + 1);
}

static void nodes_words(struct str *out, const struct job_row *j)
{
    if (!j->n_nodes) str_append(out, "none");
    for (unsigned i = 0; i < j->n_nodes; i++) {
        str_printf(out, i ? " %u" : "%u", j->nodes[i].first);
        if (j->nodes[i].last != j->nodes[i].first) str_printf(out, "-%u", j->nodes[i].last);
    }
}

static void event_difference(const struct difference *d, struct str *out)
{
    char buf[24];
    event_words(out, d->event);
    str_append(out, " at ");
    moment(out, d->event->at_ns);
    if (d->kind == DIFF_ORDER) {
        str_append(out, "; the simulated run has it before ");
        event_words(out, d->other);
        str_append(out, ", which came ");
        words_amount(out, "s", (double)(d->event->at_ns - d->other->at_ns) / 1e9);
        str_append(out, " earlier live");
    } else if (d->kind == DIFF_VICTIM) {
        str_printf(out, " by %s", job_row_id(d->event->by, buf));
        str_printf(out, ", simulated by %s", job_row_id(d->other->by, buf));
    }
}

static void difference_words(const struct difference *d, struct str *out)
{
    char buf[24];
    if (d->event) {
        event_difference(d, out);
        return;
    }
    str_printf(out, "%s: live ", job_row_id(d->live, buf));
    if (d->kind == DIFF_END) {
        str_printf(out, "%s, simulated %s", job_state_names[d->live->state], job_state_names[d->sim->state]);
        return;
    }
    nodes_words(out, d->live);
    str_append(out, ", simulated ");
    nodes_words(out, d->sim);
}

static void differences_text(const struct validation *v, struct str *out)
{
    size_t of_kind = 0;
    for (size_t i = 0; i < v->differences.n; i++) {
        const struct difference *d = &v->differences.v[i];
        bool first = i == 0 || d->kind != d[-1].kind;
        if (first) {
            of_kind = 0;
            str_printf(out, "\n%zu %s:\n", v->counts[d->kind], kind_words[d->kind]);
        }
        if (of_kind++ == SHOWN) str_printf(out, "  ... and %zu more (--format json has all)\n", v->counts[d->kind] - SHOWN);
        if (of_kind > SHOWN) continue;
        str_append(out, "  ");
        difference_words(d, out);
        str_append(out, "\n");
    }
}

static void head_text(const struct validation *v, struct str *out)
{
    str_printf(out, "%s: simulated %s, %s; live %s on %s; %zu jobs in both", v->live.run->scenario_name, v->sim.run->dir,
               v->sim.run->approach, v->live.run->dir, v->live.run->back_end, v->n_jobs);
    if (v->unmatched_jobs) str_printf(out, ", %zu in one only", v->unmatched_jobs);
    if (strcmp(v->live.run->back_end, "sim") == 0) str_append(out, "; NOTE: the second run is a simulation too");
    if (strcmp(v->sim.run->approach, v->live.run->approach) != 0)
        str_printf(out, "; NOTE: the live run is of approach %s", v->live.run->approach);
    str_append(out, "\n\n");
}

static void verdict_text(const struct validation *v, struct str *out)
{
    size_t good = 0;
    for (size_t i = 0; i < v->n_rows; i++) good += v->rows[i].passed;
    str_printf(out, "\n%s: %zu of %zu medians within their tolerance (or ", v->passed ? "PASSED" : "FAILED", good, v->n_rows);
    words_amount(out, "s", (double)v->jitter_ns / 1e9);
    str_printf(out, ")%s; of %zu events %zu out of order (closer than ", v->events_only ? ", told, not judged" : "", v->n_events, v->counts[DIFF_ORDER]);
    words_amount(out, "s", 3 * (double)v->jitter_ns / 1e9);
    str_printf(out, " there is none), %zu in one run only, %zu evicted by another; %zu of %zu jobs ended otherwise\n",
               v->counts[DIFF_ONLY_SIM] + v->counts[DIFF_ONLY_LIVE], v->counts[DIFF_VICTIM], v->counts[DIFF_END], v->n_jobs);
}

void validate_text(const struct validation *v, struct str *out)
{
    head_text(v, out);
    table_text(v, out);
    if (!v->sim.has_timeline || !v->live.has_timeline) str_append(out, "\nNo order of events: a run has no timeline.\n");
    else if (!v->sim.has_steps || !v->live.has_steps) str_append(out, "\nNo step times: they need runs that keep all records (run --record full).\n");
    differences_text(v, out);
    verdict_text(v, out);
}

/* ---- JSON ---- */

static void row_json(struct json_writer *w, const struct validated *r)
{
    json_write_object(w);
    figure_string(w, "quantity", quantity_name(r->quantity));
    figure_count(w, "n_sim", r->n_sim);
    figure_count(w, "n_live", r->n_live);
    figure_count(w, "pairs", r->n_pairs);
    figure_double(w, "sim_p50_s", r->sim_p50_s);
    figure_double(w, "live_p50_s", r->live_p50_s);
    figure_double(w, "sim_p95_s", r->sim_p95_s);
    figure_double(w, "live_p95_s", r->live_p95_s);
    figure_double(w, "bias_s", r->bias_s);
    figure_double(w, "error_p50", r->error);
    figure_double(w, "ks_distance", r->distance);
    figure_double(w, "tolerance", r->tolerance);
    figure_bool(w, "passed", r->passed);
    json_write_end(w);
}

static void difference_json(struct json_writer *w, const struct difference *d)
{
    struct str words = {0};
    char buf[24];
    difference_words(d, &words);
    json_write_object(w);
    figure_string(w, "kind", kind_names[d->kind]);
    figure_string(w, "job", job_row_id(d->event ? d->event->job : d->live, buf));
    if (d->event) {
        figure_string(w, "event", happening_names[d->event->what]);
        figure_double(w, "at_s", (double)d->event->at_ns / 1e9);
    }
    figure_string(w, "text", str_text(&words));
    json_write_end(w);
    str_free(&words);
}

void validate_json(const struct validation *v, struct str *out)
{
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    figure_count(&w, "trainyard_validation", VALIDATE_FORMAT);
    figure_string(&w, "sim", v->sim.run->dir);
    figure_string(&w, "live", v->live.run->dir);
    figure_string(&w, "back_end", v->live.run->back_end);
    figure_bool(&w, "passed", v->passed);
    figure_bool(&w, "events_only", v->events_only);
    figure_double(&w, "jitter_s", (double)v->jitter_ns / 1e9);
    figure_count(&w, "jobs", v->n_jobs);
    figure_count(&w, "unmatched_jobs", v->unmatched_jobs);
    figure_count(&w, "events", v->n_events);
    json_write_key(&w, "quantities");
    json_write_array(&w);
    for (size_t i = 0; i < v->n_rows; i++) row_json(&w, &v->rows[i]);
    json_write_end(&w);
    json_write_key(&w, "differences");
    json_write_array(&w);
    for (size_t i = 0; i < v->differences.n; i++) difference_json(&w, &v->differences.v[i]);
    json_write_end(&w);
    json_write_end(&w);
    str_append(out, "\n");
}

/* ---- CSV ---- */

void validate_csv(const struct validation *v, struct str *out)
{
    str_append(out, "quantity,n_sim,n_live,pairs,sim_p50_s,live_p50_s,sim_p95_s,live_p95_s,bias_s,error_p50,ks_distance,"
                    "tolerance,passed\n");
    for (size_t i = 0; i < v->n_rows; i++) {
        const struct validated *r = &v->rows[i];
        const double numbers[] = {r->sim_p50_s, r->live_p50_s, r->sim_p95_s, r->live_p95_s,
                                  r->bias_s,    r->error,      r->distance,  r->tolerance};
        figure_csv_text(out, quantity_name(r->quantity));
        str_printf(out, "%zu,%zu,%zu,", r->n_sim, r->n_live, r->n_pairs);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) figure_csv_number(out, numbers[k], isfinite(numbers[k]));
        str_append(out, r->passed ? "yes\n" : "no\n");
    }
}
