/* job_sections.c - the upper part of the job page: figures, life, waits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "study/words.h"
#include "viz/ui/time_axis.h"
#include "viz/views/job_page.h"
#include "viz/views/widgets.h"

/* ---- figures ---- */

static void title(struct job_column *c)
{
    const struct ui *u = c->page->ui;
    const struct scene_job *j = c->facts->job;
    float size = u->theme.font_size * 1.5f, h = u->theme.line * 1.5f;
    struct str text = {0};
    if (job_visible(c, h)) {
        struct text_style big = {.face = FACE_BOLD, .size = size, .max_width = c->w * 0.6f};
        draw_text(c->d, c->x, widget_baseline(u, (struct box){c->x, c->y, c->w, h}, size), &big, j->id);
        if (u->n_runs > 1) str_append(&text, c->run ? "B  " : "A  ");
        str_append(&text, c->facts->scene->run->approach);
        widget_text(u, c->d, (struct box){c->x + c->w * 0.6f, c->y, c->w * 0.4f, h}, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, str_text(&text));
    }
    c->y += h;
    str_clear(&text);
    words_name(&text, job_state_names[j->state]);
    str_append(&text, "  ·  ");
    widget_gpus(&text, j->gpu_shares);
    if (*j->team) str_printf(&text, "  ·  team %s", j->team);
    if (*j->queue && strcmp(j->queue, j->team) != 0) str_printf(&text, "  ·  queue %s", j->queue);
    if (*j->kind) str_printf(&text, "  ·  %s", j->kind);
    if (j->row) str_printf(&text, "  ·  priority %d", j->row->priority);
    job_note(c, j->state == JOB_FAILED ? ROLE_FAILURE : ROLE_TEXT_DIM, str_text(&text));
    c->y += u->theme.pad / 2;
    str_free(&text);
}

/* One of three in a row: -1 where there is nothing to compare. */
struct figure { const char *label; struct str value; int64_t ns, other_ns; };

enum { FIGURES_A_ROW = 3 };

static void difference(const struct job_column *c, const struct figure *f, struct str *out, enum role *role)
{
    if (!c->other || f->ns < 0 || f->other_ns < 0 || f->ns == f->other_ns) return;
    int64_t by = f->ns - f->other_ns;
    *role = by > 0 ? ROLE_LATER : ROLE_EARLIER;
    str_append(out, by > 0 ? "▼ +" : "▲ −");
    widget_length(out, by > 0 ? by : -by);
}

static void put_figure(struct job_column *c, unsigned place, const struct figure *f)
{
    const struct ui *u = c->page->ui;
    float w = c->table / FIGURES_A_ROW, x = (float)place * w;
    float value = text_width(u->text, FACE_SANS, u->theme.font_size, str_text(&f->value)) + 2, label = w - value - 2 * u->theme.pad;
    job_cell(c, x, label, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, f->label);
    job_cell(c, x + label, w - label - 1.5f * u->theme.pad, FACE_SANS, ROLE_TEXT, ALIGN_RIGHT, str_text(&f->value));
}

static bool put_difference(struct job_column *c, unsigned place, const struct figure *f)
{
    const struct ui *u = c->page->ui;
    float w = c->table / FIGURES_A_ROW;
    struct str delta = {0};
    enum role role = ROLE_TEXT;
    difference(c, f, &delta, &role);
    bool any = delta.n > 0;
    if (any) job_cell(c, (float)place * w, w - 1.5f * u->theme.pad, FACE_SANS, role, ALIGN_RIGHT, str_text(&delta));
    str_free(&delta);
    return any;
}

/* Below the figures, where there is one, how they differ from the other run's. */
static void row_of_figures(struct job_column *c, struct figure *f)
{
    bool differ = false;
    for (unsigned i = 0; i < FIGURES_A_ROW; i++) put_figure(c, i, &f[i]);
    job_next_line(c);
    for (unsigned i = 0; i < FIGURES_A_ROW; i++) {
        differ |= put_difference(c, i, &f[i]);
        str_free(&f[i].value);
    }
    if (differ) job_next_line(c);
}

static struct figure moment_figure(const char *label, int64_t ns, int64_t other)
{
    struct figure f = {label, {0}, ns, other};
    widget_moment(&f.value, ns);
    return f;
}

static struct figure length_figure(const char *label, int64_t ns, int64_t other)
{
    struct figure f = {label, {0}, ns, other};
    widget_length(&f.value, ns);
    return f;
}

static struct figure count_figure(const char *label, uint32_t n)
{
    struct figure f = {label, {0}, -1, -1};
    units_format_count(&f.value, n);
    return f;
}

static struct figure time_figure(const char *label, const struct job_row *r, share_ns sum)
{
    struct figure f = {label, {0}, -1, -1};
    if (r) widget_gpu_time(&f.value, sum);
    else str_append(&f.value, "-");
    return f;
}

void job_draw_figures(struct job_column *c)
{
    const struct scene *s = c->facts->scene, *t = c->other ? c->other->scene : NULL;
    const struct scene_job *j = c->facts->job, *o = c->other ? c->other->job : NULL;
    const struct job_row *r = j->row;
    title(c);
    struct figure all[] = {
        moment_figure("submitted", j->submit_ns, -1),
        moment_figure("admitted", j->admitted_ns, -1),
        moment_figure("allocated", j->allocated_ns, -1),
        moment_figure("started", j->started_ns, o ? o->started_ns : -1),
        moment_figure("finished", j->finished_ns, o ? o->finished_ns : -1),
        length_figure("waited", job_waited_ns(s, j), o ? job_waited_ns(t, o) : -1),
        length_figure("ran", job_ran_ns(s, j), o ? job_ran_ns(t, o) : -1),
        count_figure("restarts", j->restarts),
        count_figure("preemptions", j->preemptions),
        count_figure("failures", j->failures),
        count_figure("checkpoints", j->checkpoints),
        count_figure("roll-backs", j->rollbacks),
        time_figure("work", r, r ? r->work : 0),
        time_figure("redone", r, r ? r->redone : 0),
        time_figure("held", r, r ? r->held : 0),
    };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i += FIGURES_A_ROW) row_of_figures(c, &all[i]);
}

/* ---- life ---- */

float job_x_of(const struct job_column *c, int64_t ns)
{
    const struct job_page *p = c->page;
    return c->x + c->w * (float)((double)(ns - p->from_ns) / (double)(p->to_ns - p->from_ns));
}

static void strip_span(struct job_column *c, float y, float h, int64_t from, int64_t to, unsigned show, int32_t job)
{
    const struct ui *u = c->page->ui;
    float x0 = floorf(job_x_of(c, from)), x1 = floorf(job_x_of(c, to));
    struct box b = {x0, y, fmaxf(1, x1 - x0), h};
    uint32_t argb = ui_colour(u, c->run, show, job);
    draw_fill(c->d, b, argb, b.w >= 4 ? theme_look(&u->theme, show).pattern : PATTERN_SOLID);
    struct str name = {0};
    words_name(&name, show_name(show));
    struct text_style style = {.argb = theme_text_on(argb)};
    if (h >= u->theme.font_size + 2 && text_width(u->text, FACE_SANS, u->theme.font_size, str_text(&name)) + 8 < b.w)
        draw_text(c->d, x0 + 4, widget_baseline(u, b, u->theme.font_size), &style, str_text(&name));
    str_free(&name);
}

static void strip(struct job_column *c, const struct scene_track *t, float h)
{
    if (!job_visible(c, h)) return;
    draw_rect(c->d, (struct box){c->x, c->y, c->w, h}, ROLE_PANEL);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i].job == c->facts->number) strip_span(c, c->y, h, t->v[i].from_ns, scene_to(c->facts->scene, &t->v[i]), t->v[i].show, t->v[i].job);
}

static void mark(struct job_column *c, const struct job_mark *m, float h)
{
    const struct theme *t = &c->page->ui->theme;
    float x = floorf(job_x_of(c, m->at_ns)), y = c->y + h;
    struct point down[] = {{x - 4, y - 9}, {x + 4, y - 9}, {x, y - 1}};
    struct point back[] = {{x + 3, y - 9}, {x + 3, y - 1}, {x - 4, y - 5}};
    switch (m->kind) {
    case MARK_FAILURE: draw_polygon(c->d, down, 3, t->role[ROLE_FAILURE], PATTERN_SOLID); break;
    case MARK_EVICTED: draw_polygon(c->d, down, 3, t->role[ROLE_WARNING], PATTERN_SOLID); break;
    case MARK_ROLLBACK: draw_polygon(c->d, back, 3, t->role[ROLE_FAILURE], PATTERN_SOLID); break;
    default: draw_line(c->d, (struct point){x + 0.5f, y - 5}, (struct point){x + 0.5f, y}, t->role[ROLE_TEXT_DIM], 1); break;
    }
}

static void count_marks(const struct job_facts *f, size_t n[N_JOB_MARKS])
{
    memset(n, 0, N_JOB_MARKS * sizeof *n);
    for (size_t i = 0; i < f->marks.n; i++) n[f->marks.v[i].kind]++;
}

static void marks(struct job_column *c)
{
    float h = 12;
    for (int rare = 0; rare < 2 && job_visible(c, h); rare++) /* checkpoints are many: below the others */
        for (size_t i = 0; i < c->facts->marks.n; i++)
            if ((c->facts->marks.v[i].kind != MARK_CHECKPOINT) == (rare == 1)) mark(c, &c->facts->marks.v[i], h);
    c->y += h;
}

static void mark_legend(struct job_column *c)
{
    static const char *const signs[N_JOB_MARKS] = {"▼ failures", "▼ taken off", "❘ checkpoints", "◀ roll-backs"};
    static const enum role roles[N_JOB_MARKS] = {ROLE_FAILURE, ROLE_WARNING, ROLE_TEXT_DIM, ROLE_FAILURE};
    size_t n[N_JOB_MARKS];
    float x = 0;
    const struct ui *u = c->page->ui;
    struct str s = {0};
    count_marks(c->facts, n);
    for (int k = 0; k < N_JOB_MARKS; k++) {
        if (n[k] == 0) continue;
        str_clear(&s);
        str_printf(&s, "%s ", signs[k]);
        units_format_count(&s, (int64_t)n[k]);
        float w = text_width(u->text, FACE_SANS, u->theme.font_size, str_text(&s));
        job_cell(c, x, c->w - x, FACE_SANS, roles[k], ALIGN_LEFT, str_text(&s));
        x += w + 2 * u->theme.font_size;
    }
    if (x > 0) job_next_line(c);
    str_free(&s);
}

static void ticks(struct job_column *c)
{
    const struct job_page *p = c->page;
    const struct ui *u = p->ui;
    int64_t step = time_step(p->to_ns - p->from_ns, (unsigned)fmaxf(2, c->w / (8 * u->theme.font_size)));
    struct str s = {0};
    for (int64_t t = time_first(p->from_ns, step); t <= p->to_ns && job_visible(c, u->theme.line); t += step) {
        float x = floorf(job_x_of(c, t));
        str_clear(&s);
        time_text(&s, t, step);
        float half = text_width(u->text, FACE_SANS, u->theme.font_size, str_text(&s)) / 2;
        if (x - half < c->x || x + half > c->x + c->w) continue;
        draw_line(c->d, (struct point){x + 0.5f, c->y}, (struct point){x + 0.5f, c->y + 3}, u->theme.role[ROLE_BORDER], 1);
        widget_text(u, c->d, (struct box){x - half - 2, c->y + 2, 2 * half + 4, u->theme.line}, FACE_SANS, ROLE_TEXT_DIM, ALIGN_CENTRE, str_text(&s));
    }
    str_free(&s);
    c->y += u->theme.line + 2;
}

static void places(struct job_column *c)
{
    const struct scene *s = c->facts->scene;
    const struct ui *u = c->page->ui;
    struct str name = {0};
    for (size_t i = 0; i < c->facts->places.n && i < JOB_PLACES_SHOWN; i++) {
        const struct job_place *p = &c->facts->places.v[i];
        str_clear(&name);
        str_printf(&name, "%s, %u GPU%s", s->nodes[p->node].name, p->gpus, p->gpus == 1 ? "" : "s");
        job_cell(c, 0, c->w, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, str_text(&name));
        job_next_line(c);
        strip(c, &s->tracks[SCENE_GPUS][p->gpu], 8);
        c->y += 8 + u->theme.pad / 2;
    }
    if (c->facts->places.n > JOB_PLACES_SHOWN) {
        str_clear(&name);
        str_printf(&name, "and %zu more nodes", c->facts->places.n - JOB_PLACES_SHOWN);
        job_note(c, ROLE_TEXT_DIM, str_text(&name));
    }
    if (!s->has_gpus) job_note(c, ROLE_TEXT_DIM, "Where it ran is told by runs with --record full.");
    str_free(&name);
}

/* Pods and actors say where it ran, below. */
static bool has_members(const struct job_column *c)
{
    struct ui *u = c->page->ui;
    return job_crew(u, c->run, c->facts, false)->members.n || job_crew(u, c->run, c->facts, true)->members.n;
}

void job_draw_life(struct job_column *c)
{
    const struct scene *s = c->facts->scene;
    float h = c->page->ui->theme.line + 2;
    job_heading(c, "Its life");
    if ((uint32_t)c->facts->number >= s->n_tracks[SCENE_JOBS]) {
        job_note(c, ROLE_TEXT_DIM, "This run keeps no moments: run again with --record jobs or full.");
        return;
    }
    marks(c);
    strip(c, &s->tracks[SCENE_JOBS][c->facts->number], h);
    c->y += h;
    ticks(c);
    mark_legend(c);
    if (!has_members(c)) places(c);
}

/* ---- waits ---- */

static void wait_sums(struct job_column *c)
{
    const struct ui *u = c->page->ui;
    int64_t all = 0;
    for (unsigned r = 0; r < N_WAIT_REASONS; r++) all += c->facts->wait_ns[r];
    if (all == 0) return;
    float x = c->x, h = u->theme.line * 0.8f;
    for (unsigned r = 0; r < N_WAIT_REASONS; r++) {
        float w = c->w * (float)((double)c->facts->wait_ns[r] / (double)all);
        if (c->facts->wait_ns[r] && job_visible(c, h))
            draw_fill(c->d, (struct box){x, c->y, fmaxf(w, 1), h}, theme_look(&u->theme, SHOW_WAIT + r).argb, theme_look(&u->theme, SHOW_WAIT + r).pattern);
        x += w;
    }
    c->y += h + u->theme.pad / 2;
    for (bool done[N_WAIT_REASONS] = {false};;) { /* longest first */
        unsigned best = N_WAIT_REASONS;
        for (unsigned r = 0; r < N_WAIT_REASONS; r++)
            if (!done[r] && c->facts->wait_ns[r] && (best == N_WAIT_REASONS || c->facts->wait_ns[r] > c->facts->wait_ns[best])) best = r;
        if (best == N_WAIT_REASONS) break;
        done[best] = true;
        struct str name = {0}, length = {0}, part = {0};
        words_name(&name, wait_table[best].name);
        widget_length(&length, c->facts->wait_ns[best]);
        widget_part(&part, (double)c->facts->wait_ns[best] / (double)all);
        float swatch = u->theme.font_size * 0.9f;
        if (job_visible(c, u->theme.line)) {
            struct look look = theme_look(&u->theme, SHOW_WAIT + best);
            draw_fill(c->d, (struct box){c->x, c->y + (u->theme.line - swatch) / 2, swatch, swatch}, look.argb, look.pattern);
        }
        job_cell(c, swatch * 1.6f, c->table * 0.3f, FACE_SANS, ROLE_TEXT, ALIGN_LEFT, str_text(&name));
        job_cell(c, c->table * 0.32f, c->table * 0.18f, FACE_SANS, ROLE_TEXT, ALIGN_RIGHT, str_text(&length));
        job_cell(c, c->table * 0.5f, c->table * 0.12f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, str_text(&part));
        job_cell(c, c->table * 0.65f, c->table * 0.35f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, wait_table[best].help);
        job_next_line(c);
        str_free(&name);
        str_free(&length);
        str_free(&part);
    }
}

static void wait_link(struct job_column *c, const struct job_wait *w, float x, float width)
{
    const struct ui *u = c->page->ui;
    struct box b = {c->x + x, c->y, width, u->theme.line};
    struct str s = {0};
    bool focused = job_link_focused(c);
    str_printf(&s, "%s →", c->facts->scene->jobs[w->blocker].id);
    if (focused && job_visible(c, b.h)) {
        draw_rect(c->d, b, ROLE_HOVER);
        draw_frame(c->d, b, u->theme.role[ROLE_ACCENT], 1);
    }
    job_cell(c, x + 2, width - 4, FACE_SANS, ROLE_ACCENT, ALIGN_LEFT, str_text(&s));
    job_add_link(c, b, w->blocker, w->to_ns);
    str_free(&s);
}

static void wait_row(struct job_column *c, const struct job_wait *w)
{
    struct str reason = {0}, from = {0}, length = {0};
    words_name(&reason, wait_table[w->reason].name);
    widget_moment(&from, w->from_ns);
    widget_length(&length, w->to_ns - w->from_ns);
    job_cell(c, 0, c->table * 0.24f, FACE_SANS, ROLE_TEXT, ALIGN_LEFT, str_text(&reason));
    job_cell(c, c->table * 0.24f, c->table * 0.2f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, str_text(&from));
    job_cell(c, c->table * 0.44f, c->table * 0.18f, FACE_SANS, ROLE_TEXT, ALIGN_RIGHT, str_text(&length));
    if (w->blocker >= 0) wait_link(c, w, c->table * 0.65f, c->table * 0.35f);
    job_next_line(c);
    str_free(&reason);
    str_free(&from);
    str_free(&length);
}

void job_draw_waits(struct job_column *c)
{
    const struct job_wait *longest[JOB_WAITS_SHOWN];
    size_t n = job_longest_waits(c->facts, longest);
    bool blocked = false;
    for (size_t i = 0; i < n; i++) blocked |= longest[i]->blocker >= 0;
    job_heading(c, "Why it waited");
    wait_sums(c);
    if (n == 0) {
        job_note(c, ROLE_TEXT_DIM, c->facts->scene->has_timeline ? "It never waited." : "Moments and blockers are told by runs with --record jobs or full.");
        return;
    }
    c->y += c->page->ui->theme.pad / 2;
    job_cell(c, 0, c->table * 0.24f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, "longest waits");
    job_cell(c, c->table * 0.24f, c->table * 0.2f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, "from");
    job_cell(c, c->table * 0.44f, c->table * 0.18f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_RIGHT, "for");
    if (blocked) job_cell(c, c->table * 0.65f, c->table * 0.35f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, "ended when it let go");
    job_next_line(c);
    for (size_t i = 0; i < n; i++) wait_row(c, longest[i]);
    if (c->facts->waits.n > n) {
        struct str more = {0};
        str_printf(&more, "and %zu shorter ones", c->facts->waits.n - n);
        job_note(c, ROLE_TEXT_DIM, str_text(&more));
        str_free(&more);
    }
}
