/* job_more.c - the lower part of the job page: GPU time, diagnosis, attempts, curves.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "run/decimal.h"
#include "study/explain.h"
#include "study/words.h"
#include "viz/views/job_page.h"
#include "viz/views/plot.h"
#include "viz/views/widgets.h"
#include "viz/views/measured.h"

/* ---- GPU time ---- */

static void use_row(struct job_column *c, const struct job_use *use, share_ns all)
{
    const struct ui *u = c->page->ui;
    struct look look = theme_look(&u->theme, use->show);
    float swatch = u->theme.font_size * 0.9f, part = (float)((double)use->sum / (double)all);
    struct str name = {0}, sum = {0}, percent = {0};
    words_name(&name, use->name);
    widget_gpu_time(&sum, use->sum);
    widget_part(&percent, (double)part);
    if (job_visible(c, u->theme.line)) {
        struct box bar = {c->x + c->table * 0.65f, c->y + u->theme.line * 0.2f, fmaxf(1, c->table * 0.35f * part), u->theme.line * 0.6f};
        draw_fill(c->d, (struct box){c->x, c->y + (u->theme.line - swatch) / 2, swatch, swatch}, look.argb, look.pattern);
        draw_fill(c->d, bar, look.argb, look.pattern);
    }
    job_cell(c, swatch * 1.6f, c->table * 0.3f, FACE_SANS, ROLE_TEXT, ALIGN_LEFT, str_text(&name));
    job_cell(c, c->table * 0.3f, c->table * 0.2f, FACE_SANS, ROLE_TEXT, ALIGN_RIGHT, str_text(&sum));
    job_cell(c, c->table * 0.5f, c->table * 0.12f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, str_text(&percent));
    job_next_line(c);
    str_free(&name);
    str_free(&sum);
    str_free(&percent);
}

void job_draw_gpu_time(struct job_column *c)
{
    struct job_use uses[JOB_MOST_USES];
    size_t n = job_uses(c->facts, uses);
    share_ns all = 0;
    for (size_t i = 0; i < n; i++) all += uses[i].sum;
    job_heading(c, "Where its GPU time went");
    if (n == 0) job_note(c, ROLE_TEXT_DIM, c->facts->job->row ? "It held no GPU." : "Told when it has ended.");
    for (size_t i = 0; i < n; i++) use_row(c, &uses[i], all);
}

/* ---- diagnosis ---- */

static void finding(struct job_column *c, const struct diagnosis *d, const struct finding *f)
{
    const struct health_cause_info *info = &health_causes[f->cause];
    struct str s = {0};
    str_printf(&s, "%s: ", info->title);
    words_amount(&s, "ratio", f->gpu_s / d->gpu_s);
    str_append(&s, " of its GPU time; without it ");
    if (f->at_most) str_append(&s, "at most ");
    words_number(&s, f->saved_gpu_s / 3600);
    str_append(&s, " GPU-h less");
    job_note(c, ROLE_TEXT, str_text(&s));
    str_clear(&s);
    if (*f->detail) str_printf(&s, "%s. ", f->detail);
    str_printf(&s, "Remedy: %s", *f->remedy ? f->remedy : info->advice);
    job_note(c, ROLE_TEXT_DIM, str_text(&s));
    str_free(&s);
}

void job_draw_diagnosis(struct job_column *c)
{
    const struct diagnosis *d = job_diagnosis(c->page->ui, c->run, c->facts);
    struct str s = {0};
    job_heading(c, "Is it healthy?");
    if (!d || isnan(diagnosis_utilisation(d))) {
        job_note(c, ROLE_TEXT_DIM, d ? "It held no GPU." : "Told when it has ended.");
        return;
    }
    str_append(&s, diagnosis_healthy(d) ? "Yes: " : "No: ");
    words_amount(&s, "ratio", diagnosis_utilisation(d));
    str_append(&s, " of its GPU time computed what was kept");
    if (!isnan(diagnosis_communication(d))) {
        str_append(&s, ", ");
        words_amount(&s, "ratio", diagnosis_communication(d));
        str_append(&s, " of its steps waited for collectives");
    }
    str_append(&s, ".");
    job_note(c, diagnosis_healthy(d) ? ROLE_TEXT : ROLE_WARNING, str_text(&s));
    for (size_t i = 0; i < d->n_found && i < 3; i++) finding(c, d, &d->found[i]);
    str_free(&s);
}

/* ---- attempts ---- */

static void how_it_ended(const struct job_column *c, const struct job_attempt *a, struct str *out)
{
    if (a->ended == REC_JOB_FINISHED) words_name(out, a->code < N_JOB_STATES ? job_state_names[a->code] : "?");
    else if (a->ended == REC_JOB_EVICTED) {
        str_append(out, explain_stop_reason(a->code));
        if (a->by >= 0) str_printf(out, " by %s", c->facts->scene->jobs[a->by].id);
    } else if (a->ended == REC_JOB_STOPPED) {
        static const char *const why[N_CAUSES] = {[CAUSE_FAILURE] = "failed", [CAUSE_PREEMPTION] = "taken off", [CAUSE_RESIZE] = "resized"};
        str_append(out, a->code < N_CAUSES && why[a->code] ? why[a->code] : "stopped");
    } else
        str_append(out, "goes on");
}

static void attempt_row(struct job_column *c, size_t k)
{
    const struct job_attempt *a = &c->facts->attempts.v[k];
    struct str n = {0}, started = {0}, ran = {0}, steps = {0}, end = {0};
    str_printf(&n, "%zu", k + 1);
    widget_moment(&started, a->started_ns);
    widget_length(&ran, a->started_ns < 0 ? -1 : (a->stopped_ns >= 0 ? a->stopped_ns : c->facts->to_ns) - a->started_ns);
    if (a->to_step >= 0) {
        units_format_count(&steps, a->from_step > 0 ? a->from_step : 0);
        str_append(&steps, " to ");
        units_format_count(&steps, a->to_step);
        if (a->kept_step >= 0 && a->kept_step < a->to_step) {
            str_append(&steps, ", kept ");
            units_format_count(&steps, a->kept_step);
        }
    }
    how_it_ended(c, a, &end);
    job_cell(c, 0, c->table * 0.05f, FACE_SANS, ROLE_TEXT, ALIGN_RIGHT, str_text(&n));
    job_cell(c, c->table * 0.06f, c->table * 0.19f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, str_text(&started));
    job_cell(c, c->table * 0.26f, c->table * 0.14f, FACE_SANS, ROLE_TEXT, ALIGN_RIGHT, str_text(&ran));
    job_cell(c, c->table * 0.42f, c->table * 0.3f, FACE_SANS, ROLE_TEXT, ALIGN_LEFT, str_text(&steps));
    job_cell(c, c->table * 0.73f, c->table * 0.27f, FACE_SANS, a->ended == REC_JOB_FINISHED ? ROLE_TEXT : ROLE_WARNING, ALIGN_LEFT, str_text(&end));
    job_next_line(c);
    str_free(&n);
    str_free(&started);
    str_free(&ran);
    str_free(&steps);
    str_free(&end);
}

void job_draw_attempts(struct job_column *c)
{
    size_t n = c->facts->attempts.n;
    if (n == 0) return;
    job_heading(c, "Attempts");
    job_cell(c, c->table * 0.06f, c->table * 0.19f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, "started");
    job_cell(c, c->table * 0.26f, c->table * 0.14f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, "ran");
    job_cell(c, c->table * 0.42f, c->table * 0.3f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, "steps");
    job_cell(c, c->table * 0.73f, c->table * 0.27f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, "end");
    job_next_line(c);
    for (size_t i = 0; i < n && i < JOB_ATTEMPTS_SHOWN; i++) attempt_row(c, i);
    if (n > JOB_ATTEMPTS_SHOWN) {
        struct str s = {0};
        str_printf(&s, "and %zu more; the event log has them", n - JOB_ATTEMPTS_SHOWN);
        job_note(c, ROLE_TEXT_DIM, str_text(&s));
        str_free(&s);
    }
}

/* ---- curves ---- */

struct quantity { const char *title, *unit; double (*of)(const struct job_point *); bool from_zero; };
static double of_loss(const struct job_point *p) { return p->loss; }
static double of_samples(const struct job_point *p) { return p->samples_per_s; }
static double of_tokens(const struct job_point *p) { return p->tokens_per_s; }
static double of_step(const struct job_point *p) { return p->step_s; }
static const struct quantity quantities[] = {
    {"loss",       "",          of_loss,    false},
    {"tokens a second",  "tokens/s",  of_tokens,  true },
    {"samples a second", "samples/s", of_samples, true },
    {"time of a step",   "s",         of_step,    true }, /* of the records alone */
};
enum { N_QUANTITIES = sizeof quantities / sizeof *quantities };

static bool range_of(const struct quantity *q, const job_points *p, double *least, double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t i = 0; i < p->n; i++) {
        double v = q->of(&p->v[i]);
        if (isnan(v)) continue;
        *least = fmin(*least, v);
        *most = fmax(*most, v);
    }
    if (*least > *most) return false;
    if (q->from_zero) *least = 0;
    return true;
}

static float time_x(const struct job_column *c, struct box plot, int64_t ns)
{
    return plot.x + plot.w * (float)((double)(ns - c->page->from_ns) / (double)(c->page->to_ns - c->page->from_ns));
}

static void plot_quantity(struct job_column *c, const struct quantity *q, const job_points *p, const job_points *measured, double least, double most, struct box plot)
{
    const struct theme *t = &c->page->ui->theme;
    ARRAY(struct point) line = {0};
    double room = most > least ? (most - least) * 0.1 : fmax(fabs(most), 1) * 0.1; /* above and below */
    draw_rect(c->d, plot, ROLE_PANEL);
    most += room;
    if (!q->from_zero) least -= room;
    for (size_t i = 0; i < p->n; i++) {
        double v = q->of(&p->v[i]);
        if (!isnan(v)) array_push(&line, (struct point){time_x(c, plot, p->v[i].time_ns), plot.y + plot.h - plot.h * (float)((v - least) / (most - least))});
    }
    if (line.n > 1) draw_polyline(c->d, line.v, line.n, t->role[ROLE_ACCENT], 1.5f);
    float from = -INFINITY; /* dots stand apart */
    for (size_t i = 0; measured && i < measured->n; i++) {
        double v = q->of(&measured->v[i]);
        float x = time_x(c, plot, measured->v[i].time_ns);
        if (isnan(v) || x < from) continue;
        measured_dot(c->d, x, plot.y + plot.h - plot.h * (float)((v - least) / (most - least)), measured_colour(c->page->ui));
        from = x + MEASURED_APART;
    }
    if (measured) measured_legend(c->page->ui, c->d, plot);
    array_free(&line);
}

static void quantity(struct job_column *c, const struct quantity *q, const job_points *p, const job_points *measured)
{
    const struct ui *u = c->page->ui;
    double least, most, low, high;
    float h = 4 * u->theme.line;
    struct str range = {0};
    if (!range_of(q, p, &least, &most)) return;
    if (measured && range_of(q, measured, &low, &high)) {
        least = fmin(least, low);
        most = fmax(most, high);
    }
    job_cell(c, 0, c->w * 0.5f, FACE_SANS, ROLE_TEXT, ALIGN_LEFT, q->title);
    words_number(&range, least);
    str_append(&range, " to ");
    words_number(&range, most);
    if (*q->unit) str_printf(&range, " %s", q->unit);
    job_cell(c, c->w * 0.5f, c->w * 0.5f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, str_text(&range));
    job_next_line(c);
    if (job_visible(c, h)) plot_quantity(c, q, p, measured, least, most, (struct box){c->x, c->y, c->w, h});
    c->y += h + u->theme.pad;
    str_free(&range);
}

static bool any_known(const job_points *p)
{
    double least, most;
    for (unsigned i = 0; i < N_QUANTITIES; i++)
        if (quantities[i].of != of_step && range_of(&quantities[i], p, &least, &most)) return true;
    return false;
}

const job_points *job_measured(const struct job_page *page, unsigned run, const struct job_facts *f)
{
    struct ui *u = page->ui;
    const struct ui_run *m = measured_over(u, run);
    int32_t job = m ? scene_find_job(m->scene, f->job->id) : -1;
    return job >= 0 && u->n_runs > 1 ? job_series_points(&u->memos, 1 - run, m->scene, job) : NULL;
}

void job_draw_series(struct job_column *c)
{
    const struct job_series *series = job_series(&c->page->ui->memos, c->run, c->facts->scene);
    const job_points *p = job_series_points(&c->page->ui->memos, c->run, c->facts->scene, c->facts->number);
    job_heading(c, "Training");
    if (!any_known(p))
        job_note(c, ROLE_TEXT_DIM, !series ? "Curves need a run with --record jobs or full."
                                   : job_series_error(series) ? job_series_error(series)
                                                   : "The scenario tells neither the loss nor the samples of this job (see \"learning\", \"batch\" and \"model\" in scenario(5)).");
    for (unsigned i = 0; i < N_QUANTITIES; i++) quantity(c, &quantities[i], p, job_measured(c->page, c->run, c->facts));
}
