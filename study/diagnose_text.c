/* diagnose_text.c - a diagnosis for people and for programs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "study/diagnose.h"
#include "study/figures.h"
#include "study/words.h"

enum { WIDTH = 100, TITLE = 34 };

static double percent(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

/* ---- for people ---- */

static void figure(struct str *out, const char *name, double value, const char *goal, bool met)
{
    str_append(out, "  ");
    words_left(out, name, TITLE);
    if (isnan(value))
        str_printf(out, "%9s", "-");
    else
        str_printf(out, "%7.2f %%", 100 * value);
    str_printf(out, "  %s  %s\n", goal, isnan(value) ? "" : met ? "met" : "not met");
}

static void cause_row(const struct diagnosis *d, const struct finding *f, struct str *out)
{
    const struct health_cause_info *c = &health_causes[f->cause];
    str_append(out, "  ");
    words_left(out, c->title, TITLE - 2);
    words_number_cell(out, f->gpu_s / 3600, 10);
    str_printf(out, " %7.2f %%  %2s", percent(f->gpu_s, d->gpu_s), f->at_most ? "<=" : "");
    words_number_cell(out, f->saved_gpu_s / 3600, 10);
    str_printf(out, " %11.2f %%\n      ", 100 * diagnosis_utilisation_after(d, f));
    struct str s = {0};
    str_printf(&s, "%s%s%s. Remedy: ", c->what, *f->detail ? "; " : "", f->detail);
    if (*f->remedy) str_printf(&s, "%s; in general ", f->remedy);
    str_printf(&s, "%s.", c->advice);
    words_wrapped(out, str_text(&s), 6, WIDTH);
    str_append(out, "\n");
    str_free(&s);
}

static void causes_text(const struct diagnosis *d, struct str *out)
{
    if (!d->n_found) return;
    str_append(out, "\n");
    words_left(out, d->job ? "What keeps its utilisation low" : "What keeps utilisation low", TITLE);
    str_append(out, "      GPU-h    share    without: GPU-h less  utilisation\n");
    if (d->runs > 1) str_append(out, "  GPU-h of a replication\n");
    for (size_t i = 0; i < d->n_found; i++) cause_row(d, &d->found[i], out);
}

static void rests_text(const struct diagnosis *d, struct str *out)
{
    for (int i = 0; i < N_HEALTH_RESTS; i++) {
        const struct health_rest *r = &d->rest[i];
        if (r->gpu_s < HEALTH_NAMED * d->gpu_s || r->gpu_s <= 0) continue;
        str_append(out, "  ");
        words_name_cell(out, r->name, TITLE - 2);
        words_number_cell(out, r->gpu_s / 3600, 10);
        str_printf(out, " %7.2f %%  ", percent(r->gpu_s, d->gpu_s));
        words_wrapped(out, r->what, TITLE + 24, WIDTH);
        str_append(out, "\n");
    }
}

static void verdict(const struct diagnosis *d, struct str *out)
{
    struct str s = {0};
    const struct finding *f = &d->next;
    if (d->n_found || !(d->gpu_s > 0)) return;
    str_append(&s, diagnosis_healthy(d) ? "Nothing is to blame." : "None of the known causes has a part in it.");
    if (f->gpu_s > 0 && diagnosis_healthy(d))
        str_printf(&s, " The most that is lost is %.2f %%: %s.", percent(f->gpu_s, d->gpu_s),
                   health_causes[f->cause].what);
    str_append(out, "  ");
    words_wrapped(out, str_text(&s), 2, WIDTH);
    str_append(out, "\n");
    str_free(&s);
}

void diagnosis_text(const struct diagnosis *d, struct str *out)
{
    double use = diagnosis_utilisation(d), communication = diagnosis_communication(d);
    str_append(out, "\nHealth\n");
    figure(out, "GPU utilisation (useful)", use, "goal >= 80 %", use >= HEALTHY_UTILISATION);
    figure(out, "exposed communication, of steps", communication, "goal <= 30 %",
           communication <= HEALTHY_COMMUNICATION);
    verdict(d, out);
    causes_text(d, out);
    if (!diagnosis_healthy(d)) rests_text(d, out);
    for (size_t i = 0; i < d->notes.n; i++) {
        str_append(out, "  ");
        words_wrapped(out, d->notes.v[i], 2, WIDTH);
        str_append(out, "\n");
    }
}

/* ---- for programs ---- */

static void cause_json(const struct diagnosis *d, const struct finding *f, struct json_writer *w)
{
    const struct health_cause_info *c = &health_causes[f->cause];
    json_write_object(w);
    figure_string(w, "cause", c->name);
    figure_double(w, "gpu_s", f->gpu_s);
    figure_double(w, "share", f->gpu_s / d->gpu_s);
    figure_double(w, "saved_gpu_s", f->saved_gpu_s);
    figure_bool(w, "at_most", f->at_most);
    figure_double(w, "utilisation_after", diagnosis_utilisation_after(d, f));
    figure_string(w, "what", c->what);
    figure_string(w, "detail", f->detail);
    figure_string(w, "remedy", f->remedy);
    figure_string(w, "advice", c->advice);
    json_write_end(w);
}

static void rests_json(const struct diagnosis *d, struct json_writer *w)
{
    json_write_key(w, "rest");
    json_write_array(w);
    for (int i = 0; i < N_HEALTH_RESTS; i++) {
        json_write_object_inline(w);
        figure_string(w, "name", d->rest[i].name);
        figure_double(w, "gpu_s", d->rest[i].gpu_s);
        figure_double(w, "share", d->rest[i].gpu_s / d->gpu_s);
        json_write_end(w);
    }
    json_write_end(w);
}

void diagnosis_json(const struct diagnosis *d, struct json_writer *w)
{
    json_write_object(w);
    figure_string(w, "approach", d->approach);
    json_write_key(w, "replication");
    if (d->runs > 1)
        json_write_null(w);
    else
        json_write_int64(w, d->replication);
    figure_string(w, "job", d->job);
    figure_double(w, "gpu_s", d->gpu_s);
    figure_double(w, "utilisation", diagnosis_utilisation(d));
    figure_double(w, "utilisation_goal", HEALTHY_UTILISATION);
    figure_double(w, "communication", diagnosis_communication(d));
    figure_double(w, "communication_goal", HEALTHY_COMMUNICATION);
    figure_bool(w, "healthy", diagnosis_healthy(d));
    json_write_key(w, "causes");
    json_write_array(w);
    for (size_t i = 0; i < d->n_found; i++) cause_json(d, &d->found[i], w);
    json_write_end(w);
    rests_json(d, w);
    json_write_key(w, "notes");
    json_write_array(w);
    for (size_t i = 0; i < d->notes.n; i++) json_write_string(w, d->notes.v[i]);
    json_write_end(w);
    json_write_end(w);
}
