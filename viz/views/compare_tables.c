/* compare_tables.c - see compare_tables.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/compare_tables.h"

#include <math.h>
#include <string.h>

#include "study/words.h"
#include "viz/views/plot.h"
#include "viz/views/widgets.h"

/* Right-aligned cells; widths are in font sizes. Where a table has not the width for all of its columns, those that matter least are left out. */
static void cell(struct draw_list *d, float x, float y, enum role role, const struct str *text)
{
    plot_text(d, x, y, ALIGN_RIGHT, role, "%s", str_text(text));
}

static void amount(struct draw_list *d, float x, float y, const char *unit, double value, bool bound)
{
    struct str s = {0};
    if (bound && isfinite(value)) str_append(&s, "\xe2\x89\xa5 ");
    words_amount(&s, unit, value);
    cell(d, x, y, ROLE_TEXT, &s);
    str_free(&s);
}

static void head(struct draw_list *d, float x, float y, const char *text)
{
    plot_text(d, x, y, ALIGN_RIGHT, ROLE_TEXT_DIM, "%s", text);
}

static void rule(struct draw_list *d, float x, float w, float y)
{
    draw_line(d, (struct point){x, y}, (struct point){x + w, y}, draw_theme(d)->role[ROLE_BORDER], 1);
}

/* The name of an approach, or of a run's directory, at the head of a column. */
static void name_cell(struct draw_list *d, float right, float y, float width, const char *name)
{
    struct str end = {0};
    widget_end_of_name(draw_text_engine(d), draw_theme(d)->font_size, name, width, &end);
    head(d, right, y, str_text(&end));
    str_free(&end);
}

/* ---- plain words ---- */

static const char how_to[] = "trainyard view RUN RUN2 shows two runs side by side; trainyard compare SCENARIO -o DIR runs all approaches of a scenario, "
                             "replication by replication, and says what differs and how sure that is.";

typedef float paragraph_fn(void *, float y, enum role, const char *text);

/* Each paragraph once, to measure or to draw. */
static float each_paragraph(const struct compare_page *p, paragraph_fn *fn, void *arg, float y)
{
    const struct comparison *c = p->c;
    if (!c) {
        y = fn(arg, y, ROLE_TEXT, p->why ? p->why : "");
        return p->n < 2 ? fn(arg, y, ROLE_TEXT_DIM, how_to) : y;
    }
    for (size_t i = 0; i < c->n_words; i++) y = fn(arg, y, ROLE_TEXT, c->words[i]);
    for (const char *note = c->notes; *note;) {
        size_t n = strcspn(note, "\n");
        struct str s = {0};
        str_append(&s, "\xe2\x9a\xa0 ");
        str_append_n(&s, note, n);
        if (n) y = fn(arg, y, ROLE_TEXT_DIM, str_text(&s));
        str_free(&s);
        note += n + (note[n] == '\n');
    }
    struct str s = {0};
    if (c->replications == 1) str_printf(&s, "1 replication, from %s", c->source);
    else str_printf(&s, "%zu replications%s; 95 %% intervals; from %s", c->replications, c->paired ? ", paired" : "", c->source);
    y = fn(arg, y, ROLE_TEXT_DIM, str_text(&s));
    str_free(&s);
    return y;
}

struct measure { const struct ui *u; float width; };

static float paragraph_room(const struct ui *u)
{
    return 0.35f * u->theme.line;
}

static float measure(void *arg, float y, enum role role, const char *text)
{
    const struct measure *m = arg;
    (void)role;
    return y + (float)plot_lines(m->u->text, m->u->theme.font_size, text, m->width) * m->u->theme.line + paragraph_room(m->u);
}

float compare_words_height(const struct ui *u, const struct compare_page *p, float width)
{
    struct measure m = {u, width - 1.2f * u->theme.font_size};
    return each_paragraph(p, measure, &m, 0);
}

struct painter { const struct ui *u; struct draw_list *d; struct box box; };

static float paint(void *arg, float y, enum role role, const char *text)
{
    struct painter *p = arg;
    float in = 1.2f * p->u->theme.font_size;
    if (role == ROLE_TEXT) draw_rect(p->d, (struct box){p->box.x + 2, y - 0.45f * p->u->theme.font_size, 4, 4}, ROLE_ACCENT);
    return plot_paragraph(p->d, p->box.x + in, y, p->box.w - in, role, text) + paragraph_room(p->u);
}

void compare_words_draw(const struct ui *u, const struct compare_page *p, struct draw_list *d, struct box box)
{
    struct painter to = {u, d, box};
    each_paragraph(p, paint, &to, box.y + 0.8f * u->theme.line);
}

/* ---- metrics ---- */

static const char *const shown_metrics[] = {
    "mean_wait", "p50_wait",     "p95_wait",    "p99_wait", "mean_jct", "p50_jct",
    "p95_jct",   "p95_slowdown", "makespan",    "finished", "failed",   "unfinished",
    "restarts",  "preemptions",  "utilisation", "goodput",  "waste",
};

static bool is_listed(const struct compare_page *p, const char *name)
{
    if (p->c) {
        const struct comparison_figure *f = comparison_metric(p->c, name);
        return f && isfinite(f->base) && (f->base != 0 || f->other != 0);
    }
    double x = p->n ? metric_of(p->scenes[0]->run, (size_t)metric_find(name)).value : NAN;
    return isfinite(x) && x != 0;
}

unsigned compare_metrics(const struct compare_page *p, size_t metric[64])
{
    unsigned n = 0;
    for (size_t i = 0; i < sizeof shown_metrics / sizeof *shown_metrics; i++)
        if (is_listed(p, shown_metrics[i])) metric[n++] = (size_t)metric_find(shown_metrics[i]);
    return n;
}

float compare_metrics_height(const struct ui *u, const struct compare_page *p)
{
    size_t metric[64];
    return ((float)compare_metrics(p, metric) + 1.4f) * u->theme.line;
}

/* The greatest end of an interval in percent of the base, at most 100: the scale of the small plots. */
static double widest(const struct compare_page *p, const size_t *metric, unsigned n)
{
    double most = 1;
    for (unsigned i = 0; i < n; i++) {
        const struct comparison_figure *f = comparison_metric(p->c, metric_at(metric[i])->name);
        if (!f->interval || f->base == 0) continue;
        most = fmax(most, 100 * fmax(fabs(f->low / f->base), fabs(f->high / f->base)));
    }
    return fmin(most, 100);
}

/* The interval over zero, in percent of the base. */
static void forest(struct draw_list *d, struct box b, const struct comparison_figure *f, double most)
{
    const struct theme *t = draw_theme(d);
    float mid = floorf(b.x + b.w / 2) + 0.5f, y = roundf(b.y + b.h / 2);
    draw_line(d, (struct point){mid, b.y}, (struct point){mid, b.y + b.h}, t->role[ROLE_BORDER], 1);
    if (!isfinite(f->difference) || f->base == 0) return;
    uint32_t argb = t->role[compare_role(f)];
    double scale = b.w / 2 / most * 100 / f->base;
#define X_OF(value) fminf(fmaxf(b.x + b.w / 2 + (float)((value) * scale), b.x), b.x + b.w)
    if (f->interval) draw_line(d, (struct point){X_OF(f->low), y}, (struct point){X_OF(f->high), y}, argb, 2);
    float at = X_OF(f->difference);
#undef X_OF
    draw_fill(d, (struct box){at - 2.5f, y - 2.5f, 5, 5}, argb, PATTERN_SOLID);
}

/* Right edges; 0: left out. */
struct metric_columns { float f, name, name_width, a, b, change, percent, range, forest, forest_width, verdict; };

static float column(float *x, bool shown, float width)
{
    if (shown) *x += width;
    return shown ? *x : 0;
}

static struct metric_columns metric_columns_of(const struct ui *u, struct box box)
{
    float f = u->theme.font_size, w = box.w / f, x = box.x;
    bool all = w >= 69, values = w >= 31.5f, verdict = w >= 46, percent = w >= 52.5f;
    struct metric_columns c = {.f = f, .name = box.x};
    c.name_width = f * (all ? 10 : values ? 9.5f : fmaxf(w - 9, 4));
    x += c.name_width;
    c.a = column(&x, values, 6.5f * f);
    c.b = column(&x, values, (all ? 8 : 6.5f) * f);
    c.change = column(&x, true, (all ? 9 : 8.5f) * f);
    c.percent = column(&x, percent, 6.5f * f);
    c.range = column(&x, all, 15 * f);
    c.verdict = verdict ? box.x + box.w : 0;
    c.forest = c.range + 1.5f * f;
    c.forest_width = all ? c.verdict - 12.5f * f - c.forest : 0;
    return c;
}

static void metric_row(struct draw_list *d, const struct metric_columns *c, const struct comparison_figure *f, float y, double most)
{
    const struct theme *t = draw_theme(d);
    struct str s = {0};
    enum role role = compare_role(f);
    plot_name(&s, f->name);
    plot_text_within(d, c->name, y, c->name_width, ROLE_TEXT, str_text(&s));
    str_clear(&s);
    if (c->a > 0) amount(d, c->a, y, f->unit, f->base, f->base_bound);
    if (c->b > 0) amount(d, c->b, y, f->unit, f->other, f->other_bound);
    compare_difference(&s, f);
    cell(d, c->change, y, role, &s);
    str_clear(&s);
    compare_change(&s, f);
    if (c->percent > 0) cell(d, c->percent, y, role, &s);
    str_clear(&s);
    compare_interval(&s, f);
    if (c->range > 0) cell(d, c->range, y, role, &s);
    if (c->forest_width > 4 * c->f) forest(d, (struct box){c->forest, y - 0.85f * t->line + 0.15f * t->line, c->forest_width, t->line}, f, most);
    if (c->verdict > 0) head(d, c->verdict, y, compare_verdict(f));
    str_free(&s);
}

static void one_run_metrics(const struct ui *u, const struct compare_page *p, struct draw_list *d, struct box box)
{
    size_t metric[64];
    unsigned n = compare_metrics(p, metric);
    float f = u->theme.font_size, y = box.y + u->theme.line;
    for (unsigned i = 0; i < n; i++, y += u->theme.line) {
        struct metric_value v = metric_of(p->scenes[0]->run, metric[i]);
        struct str name = {0};
        plot_name(&name, metric_at(metric[i])->name);
        plot_text_within(d, box.x, y, 10 * f, ROLE_TEXT, str_text(&name));
        amount(d, box.x + 18 * f, y, metric_at(metric[i])->unit, v.value, v.bound);
        if (box.w > 30 * f) plot_text_within(d, box.x + 20 * f, y, box.w - 20 * f, ROLE_TEXT_DIM, metric_at(metric[i])->help);
        str_free(&name);
    }
}

void compare_metrics_draw(const struct ui *u, const struct compare_page *p, struct draw_list *d, struct box box)
{
    size_t metric[64];
    unsigned n = compare_metrics(p, metric);
    if (!p->c) {
        one_run_metrics(u, p, d, box);
        return;
    }
    struct metric_columns c = metric_columns_of(u, box);
    if (p->c->replications < 2) c.forest_width = 0; /* no intervals to show */
    double most = widest(p, metric, n);
    float y = box.y + 0.8f * u->theme.line;
    if (c.a > 0) name_cell(d, c.a, y, 6.25f * c.f, p->c->base);
    if (c.b > 0) name_cell(d, c.b, y, 6.25f * c.f, p->c->other);
    head(d, c.change, y, "difference");
    if (c.percent > 0) head(d, c.percent, y, "change");
    if (c.range > 0) head(d, c.range, y, "95 % interval");
    if (c.forest_width > 8 * c.f) plot_text(d, c.forest + c.forest_width / 2, y, ALIGN_CENTRE, ROLE_TEXT_DIM, "\xc2\xb1%.3g %%", most);
    rule(d, box.x, box.w, y + 0.4f * u->theme.line);
    y += 0.25f * u->theme.line;
    for (unsigned i = 0; i < n; i++) metric_row(d, &c, comparison_metric(p->c, metric_at(metric[i])->name), y += u->theme.line, most);
}

/* ---- jobs ---- */

static unsigned shown_jobs(const struct compare_page *p, int direction)
{
    size_t n = compare_page_jobs(p, direction);
    return n < COMPARE_JOBS_SHOWN ? (unsigned)n : COMPARE_JOBS_SHOWN;
}

unsigned compare_job_rows(const struct compare_page *p)
{
    return shown_jobs(p, -1) + shown_jobs(p, 1);
}

const struct job_pair *compare_row_job(const struct compare_page *p, unsigned row)
{
    unsigned sooner = shown_jobs(p, -1);
    if (row < sooner) return compare_page_job(p, -1, row);
    return row < compare_job_rows(p) ? compare_page_job(p, 1, row - sooner) : NULL;
}

float compare_row_y(const struct ui *u, const struct compare_page *p, unsigned row)
{
    unsigned sooner = shown_jobs(p, -1), gap = row >= sooner ? 2 : 0;
    return (2.05f + (float)(row + gap)) * u->theme.line;
}

float compare_jobs_height(const struct ui *u, const struct compare_page *p)
{
    return ((float)compare_job_rows(p) + 4.6f) * u->theme.line;
}

/* Left edges of texts, right edges of numbers; 0: left out. */
struct job_columns { float f, id, id_width, team, gpus, a, b, change, most; };

static struct job_columns job_columns_of(const struct ui *u, struct box box)
{
    float f = u->theme.font_size, w = box.w / f, x = box.x;
    bool team = w >= 63, gpus = w >= 50, values = w >= 36.5f, most = w >= 50 || (w >= 31 && !values);
    struct job_columns c = {.f = f, .id = box.x + 0.6f * f, .id_width = f * fminf(10.4f, fmaxf(w - 10, 4))};
    x += c.id_width + 1.6f * f;
    if (team) c.team = x;
    if (team) x += 6 * f;
    c.gpus = column(&x, gpus, 7 * f);
    c.a = column(&x, values, 7.5f * f);
    c.b = column(&x, values, 7.5f * f);
    c.change = column(&x, true, 8.5f * f);
    c.most = most ? x + 1.5f * f : 0;
    return c;
}

static void job_row(struct draw_list *d, const struct compare_page *p, const struct job_columns *c, const struct job_pair *j, float y, float right)
{
    const struct scene_job *job = &p->scenes[0]->jobs[j->a];
    struct str s = {0};
    enum role role = j->other_ns < j->base_ns ? ROLE_EARLIER : ROLE_LATER;
    plot_text_within(d, c->id, y, c->id_width, ROLE_ACCENT, job->id);
    if (c->team > 0) plot_text_within(d, c->team, y, 9 * c->f, ROLE_TEXT, job->team);
    words_gpus(&s, job->gpu_shares);
    if (c->gpus > 0) cell(d, c->gpus, y, ROLE_TEXT, &s);
    if (c->a > 0) amount(d, c->a, y, "s", (double)j->base_ns / 1e9, false);
    if (c->b > 0) amount(d, c->b, y, "s", (double)j->other_ns / 1e9, false);
    double change = (double)(j->other_ns - j->base_ns) / 1e9;
    struct scale u = words_scale("s", change);
    str_clear(&s);
    words_signed_number(&s, change * u.factor);
    str_append(&s, u.unit);
    cell(d, c->change, y, role, &s);
    str_clear(&s);
    plot_name(&s, jct_part_name(j->part));
    if (c->most > 0) plot_text_within(d, c->most, y, right - c->most, ROLE_TEXT_DIM, str_text(&s));
    str_free(&s);
}

/* Where the title reaches into a column, that has no head. */
static void job_heads(struct draw_list *d, const struct job_columns *c, float y, const char *title, size_t all)
{
    const struct {
        float x;
        const char *name;
        float width;
    } heads[] = {{c->gpus, "GPUs", 3}, {c->a, "A", 1}, {c->b, "B", 1}, {c->change, "difference", 6}};
    struct str s = {0};
    words_number(&s, (double)all);
    float end = c->id + plot_text(d, c->id, y, ALIGN_LEFT, ROLE_TEXT, "%s %s", str_text(&s), title) + c->f;
    str_free(&s);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (heads[i].x - heads[i].width * c->f > end) head(d, heads[i].x, y, heads[i].name);
    if (c->most > end) plot_text(d, c->most, y, ALIGN_LEFT, ROLE_TEXT_DIM, "most of it");
}

void compare_jobs_draw(const struct ui *u, const struct compare_page *p, struct draw_list *d, struct box box, unsigned focus_row)
{
    struct job_columns c = job_columns_of(u, box);
    unsigned sooner = shown_jobs(p, -1);
    int32_t selected = ui_selected_job(u, 0);
    for (int group = 0; group < 2; group++) {
        float y = box.y + (group ? compare_row_y(u, p, sooner) : compare_row_y(u, p, 0)) - 1.25f * u->theme.line;
        if (group && !sooner) y = box.y + compare_row_y(u, p, 0) + 0.75f * u->theme.line;
        size_t all = compare_page_jobs(p, group ? 1 : -1);
        job_heads(d, &c, y, group ? "jobs end later under B" : "jobs end sooner under B", all);
        rule(d, box.x, box.w, y + 0.4f * u->theme.line);
    }
    for (unsigned row = 0; row < compare_job_rows(p); row++) {
        const struct job_pair *j = compare_row_job(p, row);
        float y = box.y + compare_row_y(u, p, row);
        struct box at = {box.x, roundf(y - 0.8f * u->theme.line), box.w, u->theme.line};
        if (j->a == selected) draw_frame(d, at, u->theme.role[ROLE_ACCENT], 1.5f);
        if (row == focus_row) draw_rect(d, at, ROLE_HOVER);
        job_row(d, p, &c, j, y, box.x + box.w);
    }
}

/* ---- teams ---- */

static unsigned shown_teams(const struct compare_page *p)
{
    return p->c->n_teams < COMPARE_TEAMS_SHOWN ? (unsigned)p->c->n_teams : COMPARE_TEAMS_SHOWN;
}

float compare_teams_height(const struct ui *u, const struct compare_page *p)
{
    return ((float)shown_teams(p) + (p->c->n_teams > COMPARE_TEAMS_SHOWN ? 2.4f : 1.4f)) * u->theme.line;
}

static void team_figure(struct draw_list *d, float x, float range, float y, const struct comparison_figure *f)
{
    struct str s = {0};
    compare_difference(&s, f);
    cell(d, x, y, compare_role(f), &s);
    str_clear(&s);
    compare_interval(&s, f);
    if (range > 0) cell(d, range, y, compare_role(f), &s);
    str_free(&s);
}

void compare_teams_draw(const struct ui *u, const struct compare_page *p, struct draw_list *d, struct box box)
{
    float f = u->theme.font_size, w = box.w / f, y = box.y + 0.8f * u->theme.line, x = box.x + fminf(12, fmaxf(w - 19, 4)) * f, name = x - box.x - f;
    bool all = w >= 66;
    float jobs = column(&x, w >= 36.5f, 5 * f), wait = column(&x, true, 9 * f), wait_range = column(&x, all, 14.5f * f);
    float jct = column(&x, w >= 23, 9.5f * f), jct_range = column(&x, all, 15 * f);
    if (jobs > 0) head(d, jobs, y, "jobs");
    head(d, wait, y, "wait");
    if (all) head(d, wait_range, y, "95 % interval");
    if (jct > 0) head(d, jct, y, "to the end");
    if (all) head(d, jct_range, y, "95 % interval");
    rule(d, box.x, box.w, y + 0.4f * u->theme.line);
    y += 0.25f * u->theme.line;
    for (unsigned i = 0; i < shown_teams(p); i++) {
        const struct comparison_team *t = &p->c->teams[i];
        struct str s = {0};
        y += u->theme.line;
        plot_text_within(d, box.x, y, name, ROLE_TEXT, *t->team ? t->team : "(no team)");
        words_number(&s, (double)t->jobs);
        if (jobs > 0) cell(d, jobs, y, ROLE_TEXT, &s);
        team_figure(d, wait, wait_range, y, &t->wait);
        if (jct > 0) team_figure(d, jct, jct_range, y, &t->jct);
        str_free(&s);
    }
    if (p->c->n_teams > COMPARE_TEAMS_SHOWN) plot_text(d, box.x, y + u->theme.line, ALIGN_LEFT, ROLE_TEXT_DIM, "and %zu more teams", p->c->n_teams - COMPARE_TEAMS_SHOWN);
}
