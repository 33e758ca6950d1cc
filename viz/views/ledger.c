/* ledger.c - both ledgers: where the GPU time went, and what jobs waited for; sums at the left, over time at the right.
 *
 * The sums are those of ledger.csv and jobs.csv, exactly; those of two runs stand side by side on one scale, with their differences.
 * M tells them apart by state, team, queue, kind or node group; N shows each run's as parts of its own whole.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/words.h"
#include "viz/model/wait_series.h"
#include "viz/ui/memo.h"
#include "viz/ui/view.h"
#include "viz/views/ledger_sums.h"
#include "viz/views/plot.h"

extern const struct view_kind view_ledger;

struct tables {
    bool made;
    struct ledger_table gpu, wait;
    struct wait_series *series[UI_MAX_RUNS]; /* NULL: not known */
};

/* ---- what is shown ---- */

static void release(void *piece)
{
    struct tables *t = piece;
    ledger_table_free(&t->gpu);
    ledger_table_free(&t->wait);
    for (unsigned i = 0; i < UI_MAX_RUNS; i++) wait_series_destroy(t->series[i]);
}

static unsigned runs_shown(const struct ui *u, unsigned runs[UI_MAX_RUNS])
{
    unsigned n = 0;
    for (unsigned i = 0; i < u->n_runs; i++)
        if (u->show == UI_BOTH || u->show == (i ? UI_ONLY_B : UI_ONLY_A)) runs[n++] = i;
    return n;
}

/* Of all runs, in the order A, B. */
static const struct tables *tables_of(struct ui *u)
{
    struct ledger_source s[UI_MAX_RUNS] = {{0}};
    uint64_t state = u->ledger_by;
    for (unsigned i = 0; i < u->n_runs; i++) {
        s[i] = (struct ledger_source){u->runs[i].scene, u->runs[i].curves};
        state = state * 1000003 + u->runs[i].scene->version * 31 + (uint64_t)(uintptr_t)u->runs[i].scene;
    }
    struct tables *t = memo_get(&u->memos, "ledger", state, sizeof *t, release);
    if (!t->made) {
        ledger_gpu_table(&t->gpu, s, u->n_runs, u->ledger_by);
        ledger_wait_table(&t->wait, s, u->n_runs, u->ledger_by);
        for (unsigned i = 0; i < u->n_runs; i++)
            if (s[i].scene->has_timeline) t->series[i] = wait_series_create(s[i].scene);
        t->made = true;
    }
    return t;
}

/* ---- layout: two halves, each with its table and plots ---- */

struct half {
    const struct ledger_table *t;
    const char *title;
    struct box box;   /* all of it */
    unsigned rows, first; /* lines that fit; the first of them */
};

static float labels(const struct ui *u)
{
    unsigned runs[UI_MAX_RUNS];
    return roundf((runs_shown(u, runs) > 1 ? 43.5f : 40) * u->theme.font_size);
}

static float gutter(const struct ui *u)
{
    return roundf(4.6f * u->theme.font_size); /* of the ticks */
}

static unsigned rows_that_fit(const struct ui *u, float height)
{
    return (unsigned)fmaxf(0, floorf((height - 2.6f * u->theme.line) / u->theme.line));
}

static void lay_out(struct ui *u, struct box body, struct half half[2])
{
    const struct tables *t = tables_of(u);
    float a = (float)t->gpu.lines.n + 3, b = (float)t->wait.lines.n + 3, part = fmaxf(0.38f, fminf(0.62f, a / (a + b)));
    float h = floorf(body.h * part);
    half[0] = (struct half){&t->gpu, "GPU time", {body.x, body.y, body.w, h}, 0, 0};
    half[1] = (struct half){&t->wait, "What jobs waited for", {body.x, body.y + h, body.w, body.h - h}, 0, 0};
    unsigned scroll = (unsigned)fmaxf(0, u->scroll[u->view]);
    for (unsigned i = 0; i < 2; i++) {
        half[i].rows = rows_that_fit(u, half[i].box.h);
        unsigned n = (unsigned)half[i].t->lines.n, most = n > half[i].rows ? n - half[i].rows : 0;
        half[i].first = scroll < most ? scroll : most;
        scroll -= half[i].first;
    }
}

static unsigned scroll_most(struct ui *u, struct box body)
{
    struct half half[2];
    unsigned most = 0;
    lay_out(u, body, half);
    for (unsigned i = 0; i < 2; i++)
        if (half[i].t->lines.n > half[i].rows) most += (unsigned)half[i].t->lines.n - half[i].rows;
    return most;
}

/* ---- the table ---- */

static double share_of(const struct ledger_table *t, unsigned run, share_ns sum)
{
    return t->whole[run] ? ledger_hours(t, sum) / ledger_hours(t, t->whole[run]) : 0;
}

/* What a bar is as long as: hours, or the part of the run's whole. */
static double size_of(const struct ui *u, const struct ledger_table *t, unsigned run, share_ns sum)
{
    return u->normalise ? share_of(t, run, sum) : ledger_hours(t, sum);
}

static double greatest(const struct ui *u, const struct ledger_table *t)
{
    double most = 0;
    for (size_t i = 0; i < t->lines.n; i++)
        for (unsigned run = 0; run < u->n_runs; run++) most = fmax(most, size_of(u, t, run, t->lines.v[i].sum[run]));
    return most > 0 ? most : 1;
}

static void draw_bar(struct ui *u, const struct ledger_table *t, const struct ledger_line *line, unsigned run, struct box bar, double most,
                     struct draw_list *d)
{
    float x = bar.x;
    if (line->show != SHOW_NOTHING) {
        struct look look = plot_look(u, line->show);
        bar.w = (float)(bar.w * size_of(u, t, run, line->sum[run]) / most);
        if (bar.w > 0) draw_fill(d, (struct box){bar.x, bar.y, fmaxf(bar.w, 1), bar.h}, look.argb, look.pattern);
        return;
    }
    for (unsigned p = 0; p < t->n_parts; p++) {
        struct look look = plot_look(u, ledger_part_show(t, p));
        float w = (float)(bar.w * size_of(u, t, run, line->part[run][p]) / most);
        if (w > 0) draw_fill(d, (struct box){x, bar.y, w, bar.h}, look.argb, look.pattern);
        x += w;
    }
}

static void value_text(const struct ui *u, const struct ledger_table *t, unsigned run, share_ns sum, struct str *s)
{
    if (u->normalise && u->n_runs > 1) str_printf(s, "%.2f %%", 100 * share_of(t, run, sum));
    else if (sum && ledger_hours(t, sum) < 0.001) str_append(s, "< 0.001");
    else words_number(s, ledger_hours(t, sum));
}

/* Of two runs their difference, of one the part of its whole. */
static void last_text(const struct ui *u, const struct ledger_table *t, const unsigned *runs, unsigned n, const share_ns *sum, struct str *s)
{
    if (n < 2) str_printf(s, "%.2f %%", 100 * share_of(t, runs[0], sum[runs[0]]));
    else if (u->normalise) str_printf(s, "%+.2f", 100 * (share_of(t, 1, sum[1]) - share_of(t, 0, sum[0])));
    else if (sum[1] != sum[0] && ledger_hours(t, sum[1] > sum[0] ? sum[1] - sum[0] : sum[0] - sum[1]) < 0.001) str_append(s, "\xe2\x89\x88 0");
    else words_signed_number(s, sum[1] >= sum[0] ? ledger_hours(t, sum[1] - sum[0]) : -ledger_hours(t, sum[0] - sum[1]));
}

static void value_head(const struct ui *u, const struct ledger_table *t, unsigned run, struct str *s)
{
    const char *unit = u->normalise && u->n_runs > 1 ? "" : t->waits ? " h" : " GPU-h", *name = u->n_runs > 1 ? run ? "B" : "A" : "";
    str_printf(s, "%s%s", name, *name ? unit : unit + 1);
}

static const char *last_head(unsigned n) { return n > 1 ? "B \xe2\x88\x92 A" : "of all"; }

/* Left edges of name and bar, right edges of the figures. What there is no room for has no width: first the bar, then the last column, then B, then A. */
struct columns {
    float name, name_width, bar, bar_width, value[UI_MAX_RUNS], last;
    unsigned n_values;
    bool has_last;
};

static void widen(const struct ui *u, float *width, struct str *s)
{
    *width = fmaxf(*width, text_width(u->text, FACE_SANS, u->theme.font_size, str_text(s)));
    str_clear(s);
}

static float last_width(const struct ui *u, const struct ledger_table *t, const unsigned *runs, unsigned n)
{
    struct str s = {0};
    float w = 0;
    str_append(&s, last_head(n));
    widen(u, &w, &s);
    for (size_t i = 0; i <= t->lines.n; i++) {
        last_text(u, t, runs, n, i < t->lines.n ? t->lines.v[i].sum : t->whole, &s);
        widen(u, &w, &s);
    }
    str_free(&s);
    return w;
}

static float value_width(const struct ui *u, const struct ledger_table *t, unsigned run)
{
    struct str s = {0};
    float w = 0;
    value_head(u, t, run, &s);
    widen(u, &w, &s);
    for (size_t i = 0; i <= t->lines.n; i++) {
        value_text(u, t, run, i < t->lines.n ? t->lines.v[i].sum[run] : t->whole[run], &s);
        widen(u, &w, &s);
    }
    str_free(&s);
    return w;
}

static struct columns columns_of(const struct ui *u, const struct half *h, const unsigned *runs, unsigned n)
{
    float f = u->theme.font_size, gap = 1.2f * f, value[UI_MAX_RUNS];
    struct columns c = {.name = h->box.x + u->theme.pad, .name_width = 7 * f};
    float right = view_plot(u, &view_ledger, h->box).x - gutter(u), left = right - c.name - c.name_width;
    for (unsigned i = 0; i < n; i++) {
        value[i] = ceilf(value_width(u, h->t, runs[i]) + gap);
        if (c.n_values == i && value[i] <= left) left -= value[i], c.n_values++;
    }
    float last = ceilf(last_width(u, h->t, runs, n) + gap);
    c.has_last = c.n_values == n && last <= left;
    if (c.has_last) left -= last;
    float wide = fminf(left, 7.2f * f); /* names up to 14.2 of the type's size, the rest is the bar's */
    c.name_width += fmaxf(wide, 0);
    left -= wide;
    c.bar = c.name + c.name_width;
    c.bar_width = left >= 2 * f ? fminf(left, 6.5f * f) : 0;
    c.last = right;
    for (unsigned i = c.n_values; i-- > 0; right -= value[i]) c.value[i] = c.has_last ? right - last : right;
    return c;
}

static void draw_value(const struct ui *u, const struct ledger_table *t, unsigned run, share_ns sum, float x, float y, struct draw_list *d)
{
    struct str s = {0};
    value_text(u, t, run, sum, &s);
    plot_text(d, x, y, ALIGN_RIGHT, ROLE_TEXT, "%s", str_text(&s));
    str_free(&s);
}

/* The figures of a line at their columns. */
static void draw_figures(const struct ui *u, const struct ledger_table *t, const struct columns *c, const share_ns *sum, float y, struct draw_list *d)
{
    unsigned runs[UI_MAX_RUNS], n = runs_shown(u, runs);
    struct str s = {0};
    for (unsigned i = 0; i < c->n_values; i++) draw_value(u, t, runs[i], sum[runs[i]], c->value[i], y, d);
    last_text(u, t, runs, n, sum, &s);
    if (c->has_last) plot_text(d, c->last, y, ALIGN_RIGHT, ROLE_TEXT_DIM, "%s", str_text(&s));
    str_free(&s);
}

static void draw_line_of(struct ui *u, const struct half *h, const struct ledger_line *line, const struct columns *c, float y, double most,
                         struct draw_list *d)
{
    unsigned runs[UI_MAX_RUNS], n = runs_shown(u, runs);
    float f = u->theme.font_size, indent = line->depth ? 1.1f * f : 0;
    struct str name = {0};
    plot_name(&name, line->name);
    if (line->show != SHOW_NOTHING) plot_swatch(d, c->name + indent, y, plot_look(u, line->show));
    float x = c->name + indent + (line->show != SHOW_NOTHING ? 1.3f * f : 0);
    plot_text_within(d, x, y, c->name + c->name_width - x - 0.4f * f, ROLE_TEXT, str_text(&name));
    float height = floorf(u->theme.line * (n > 1 ? 0.34f : 0.55f));
    for (unsigned i = 0; i < n && c->bar_width > 0; i++) {
        float top = y - 0.72f * f + (n > 1 ? (float)i * (height + 1) - 0.06f * f : 0);
        draw_bar(u, h->t, line, runs[i], (struct box){c->bar, roundf(top), c->bar_width, height}, most, d);
    }
    draw_figures(u, h->t, c, line->sum, y, d);
    str_free(&name);
}

static void draw_heads(struct ui *u, const struct half *h, const struct columns *c, float y, struct draw_list *d)
{
    unsigned runs[UI_MAX_RUNS], n = runs_shown(u, runs);
    struct text_style bold = {.face = FACE_BOLD, .max_width = c->name_width + c->bar_width};
    draw_text(d, c->name, y, &bold, h->title);
    for (unsigned i = 0; i < c->n_values; i++) {
        struct str s = {0};
        value_head(u, h->t, runs[i], &s);
        plot_text(d, c->value[i], y, ALIGN_RIGHT, ROLE_TEXT_DIM, "%s", str_text(&s));
        str_free(&s);
    }
    if (c->has_last) plot_text(d, c->last, y, ALIGN_RIGHT, ROLE_TEXT_DIM, "%s", last_head(n));
}

static void draw_rule(const struct ui *u, const struct columns *c, float y, struct draw_list *d)
{
    draw_line(d, (struct point){c->name, y}, (struct point){c->last, y}, u->theme.role[ROLE_BORDER], 1);
}

static void draw_table(struct ui *u, const struct half *h, struct draw_list *d)
{
    unsigned runs[UI_MAX_RUNS], n = runs_shown(u, runs);
    struct columns c = columns_of(u, h, runs, n);
    double most = greatest(u, h->t);
    float y = h->box.y + 1.1f * u->theme.line;
    draw_heads(u, h, &c, y, d);
    draw_rule(u, &c, y + 0.4f * u->theme.line, d);
    for (unsigned i = h->first; i < h->t->lines.n && i < h->first + h->rows; i++) {
        y += u->theme.line;
        draw_line_of(u, h, &h->t->lines.v[i], &c, y + 0.25f * u->theme.line, most, d);
    }
    if (!h->t->lines.n) {
        plot_text_within(d, c.name, y + 1.3f * u->theme.line, c.last - c.name, ROLE_TEXT_DIM, h->t->waits ? "no job has waited, or none has ended yet" : "ledger.csv is written at the end of a run");
        return;
    }
    y += 1.35f * u->theme.line;
    draw_rule(u, &c, y - 0.95f * u->theme.font_size, d);
    unsigned hidden = (unsigned)h->t->lines.n > h->rows ? (unsigned)h->t->lines.n - h->rows : 0;
    struct str all = {0};
    str_append(&all, "all");
    if (hidden) str_printf(&all, "; scroll for %u more", hidden);
    bool fits = text_width(u->text, FACE_SANS, u->theme.font_size, str_text(&all)) <= c.name_width + c.bar_width;
    plot_text_within(d, c.name, y, c.name_width + c.bar_width, hidden ? ROLE_TEXT_DIM : ROLE_TEXT, fits ? str_text(&all) : "all");
    str_free(&all);
    draw_figures(u, h->t, &c, h->t->whole, y, d);
}

/* ---- over time ---- */

static unsigned layers_of(const struct ledger_table *t, unsigned shows[N_SHOWS])
{
    if (!t->waits) return plot_stack_order(shows);
    for (unsigned r = 0; r < N_WAIT_REASONS; r++) shows[r] = SHOW_WAIT + r;
    return N_WAIT_REASONS;
}

static const char queue_note[] = "over time, all of a job's waiting in its queue shows the reason that took most of it";

/* GPUs in a state, or jobs that wait for a reason. */
static double value_at(struct ui *u, const struct ledger_table *t, unsigned run, unsigned show, int64_t ns)
{
    if (t->waits) return wait_series_at(tables_of(u)->series[run], show - SHOW_WAIT, ns);
    return curve_at(u->runs[run].curves, CURVE_SHOW + show, ns) / 1000;
}

static bool is_known(struct ui *u, const struct ledger_table *t, unsigned run)
{
    if (t->waits) return tables_of(u)->series[run] != NULL;
    return u->runs[run].curves && curve_known(u->runs[run].curves, CURVE_IDLE_SHARES);
}

static double top_of(struct ui *u, const struct ledger_table *t, unsigned run)
{
    if (!is_known(u, t, run)) return 0;
    return t->waits ? wait_series_most(tables_of(u)->series[run]) : curve_most(u->runs[run].curves, CURVE_EXISTING_SHARES) / 1000;
}

static struct plot_scale scale_of(struct ui *u, const struct ledger_table *t, unsigned run, float height)
{
    double most = top_of(u, t, run);
    for (unsigned i = 0; i < u->n_runs && !u->normalise; i++) most = fmax(most, top_of(u, t, i));
    return plot_scale_of(t->waits ? "jobs" : "GPUs", most, (unsigned)fmaxf(1, fminf(8, floorf(height / (2.4f * u->theme.line)))));
}

static void draw_over_time(struct ui *u, const struct ledger_table *t, unsigned run, struct box plot, struct draw_list *d)
{
    struct plot_scale s = scale_of(u, t, run, plot.h);
    unsigned n = (unsigned)fmaxf(plot.w, 1), shows[N_SHOWS], n_shows = layers_of(t, shows);
    struct curve_column *col = xcalloc(n, sizeof *col);
    double *below = xcalloc(n, sizeof *below);
    draw_rect(d, plot, ROLE_PANEL);
    plot_axis(d, plot, &s);
    draw_clip(d, plot);
    for (unsigned i = 0; i < n_shows; i++) {
        struct look look = plot_look(u, shows[i]);
        if (t->waits) wait_series_columns(tables_of(u)->series[run], shows[i] - SHOW_WAIT, u->from_ns, u->to_ns, n, col);
        else curve_columns(u->runs[run].curves, CURVE_SHOW + shows[i], u->from_ns, u->to_ns, n, col);
        plot_layer(d, plot, &s, col, n, below, t->waits ? 1 : 1e-3, look.argb, look.pattern);
    }
    draw_unclip(d);
    free(below);
    free(col);
}

/* The plot of one run in a half. */
static struct box plot_in(const struct ui *u, const struct half *h, unsigned i, unsigned n)
{
    struct box p = view_plot(u, &view_ledger, h->box);
    float head = 1.45f * u->theme.line, each = floorf(h->box.h / (float)n);
    return (struct box){p.x, h->box.y + each * (float)i + head, p.w, each - head - 0.5f * u->theme.pad};
}

static void draw_half(struct ui *u, const struct half *h, struct draw_list *d)
{
    unsigned runs[UI_MAX_RUNS], n = runs_shown(u, runs);
    draw_table(u, h, d);
    for (unsigned i = 0; i < n; i++) {
        struct box plot = plot_in(u, h, i, n);
        const char *what = h->t->waits ? "Jobs that wait, by reason" : "GPUs by state";
        struct str head = {0};
        str_printf(&head, "%s%s", u->n_runs < 2 ? "" : runs[i] ? "B: " : "A: ", what);
        plot_text_within(d, plot.x + u->theme.pad, plot.y - 0.4f * u->theme.line, plot.w - u->theme.pad, ROLE_TEXT_DIM, str_text(&head));
        str_free(&head);
        if (is_known(u, h->t, runs[i])) draw_over_time(u, h->t, runs[i], plot, d);
        else view_empty(u, d, plot, "Nothing is recorded over time.", "trainyard run --record full -o DIR records it.");
    }
}

static bool has_nothing(struct ui *u)
{
    const struct tables *t = tables_of(u);
    for (unsigned i = 0; i < u->n_runs; i++)
        if (is_known(u, &t->gpu, i) || is_known(u, &t->wait, i)) return false;
    return !t->gpu.lines.n && !t->wait.lines.n;
}

static void draw(struct ui *u, const struct pane *pane, struct draw_list *d)
{
    struct half half[2];
    if (has_nothing(u)) {
        view_empty(u, d, pane->box, "There is no ledger yet.", "ledger.csv is written when the run ends; with --record full its states show while it runs");
        return;
    }
    lay_out(u, pane->box, half);
    draw_clip(d, pane->box);
    for (unsigned i = 0; i < 2; i++) draw_half(u, &half[i], d);
    draw_unclip(d);
}

/* ---- keys and pointer ---- */

static void scroll_by(struct ui *u, struct box body, float rows)
{
    u->scroll[u->view] = fmaxf(0, fminf(roundf(u->scroll[u->view] + rows), (float)scroll_most(u, body)));
    u->dirty = true;
}

static bool key(struct ui *u, const struct pane *pane, int key, unsigned mods)
{
    if (key == 'n' && mods == UI_SHIFT && u->n_runs > 1) {
        u->normalise = !u->normalise;
        ui_say(u, u->normalise ? "Each run as parts of its own whole" : "Both runs on one scale");
    } else if (mods) return false;
    else if (key == 'm') {
        u->ledger_by = (u->ledger_by + 1) % N_LEDGER_BY;
        u->scroll[u->view] = 0;
        ui_say(u, "Sums by %s", ledger_by_names[u->ledger_by]);
    } else if (key == UI_UP) scroll_by(u, pane->box, -1);
    else if (key == UI_DOWN) scroll_by(u, pane->box, 1);
    else return false;
    u->dirty = true;
    return true;
}

static void wheel(struct ui *u, const struct pane *pane, float rows)
{
    scroll_by(u, pane->box, rows);
}

/* The line of a table below the pointer; NULL. */
static const struct ledger_line *line_under(const struct ui *u, const struct half *h, float y)
{
    float row = (y - h->box.y - 1.6f * u->theme.line) / u->theme.line;
    if (row < 0 || row >= (float)h->rows) return NULL;
    size_t i = h->first + (size_t)row;
    return i < h->t->lines.n ? &h->t->lines.v[i] : NULL;
}

static void line_text(const struct ui *u, const struct ledger_table *t, const struct ledger_line *line, struct str *s)
{
    plot_name(s, line->name);
    if (line->show != SHOW_NOTHING && line->depth + t->waits) str_printf(s, ": %s", show_help(line->show));
    for (unsigned run = 0; run < u->n_runs; run++) {
        str_printf(s, "\n%s", u->n_runs < 2 ? "" : run ? "B: " : "A: ");
        ledger_exact(t, line->sum[run], s);
        str_printf(s, t->waits ? " s (%.2f %%)" : " GPU-s (%.2f %%)", 100 * share_of(t, run, line->sum[run]));
    }
}

static bool hover_table(struct ui *u, const struct half *h, float y, struct hover *hover)
{
    const struct ledger_line *line = line_under(u, h, y);
    if (line) line_text(u, h->t, line, hover->text);
    return line != NULL;
}

static bool hover_plot(struct ui *u, const struct half *h, float x, float y, struct hover *hover)
{
    unsigned runs[UI_MAX_RUNS], n = runs_shown(u, runs), shows[N_SHOWS], n_shows = layers_of(h->t, shows);
    for (unsigned i = 0; i < n; i++) {
        struct box plot = plot_in(u, h, i, n);
        if (y < plot.y || y > plot.y + plot.h || !is_known(u, h->t, runs[i])) continue;
        int64_t ns = ui_time_of(u, plot, x);
        for (unsigned k = n_shows; k-- > 0;) {
            double value = value_at(u, h->t, runs[i], shows[k], ns);
            if (value <= 0) continue;
            if (hover->text->n) str_append_char(hover->text, '\n');
            plot_name(hover->text, show_name(shows[k]));
            str_append(hover->text, ": ");
            plot_amount(hover->text, h->t->waits ? "jobs" : "GPUs", value);
        }
    }
    if (hover->text->n && h->t->waits) str_printf(hover->text, "\n(%s)", queue_note);
    return hover->text->n > 0;
}

static bool hover(struct ui *u, const struct pane *pane, float x, float y, struct hover *h)
{
    struct half half[2];
    lay_out(u, pane->box, half);
    const struct half *at = &half[y >= half[1].box.y];
    return x < view_plot(u, &view_ledger, pane->box).x - gutter(u) ? hover_table(u, at, y, h) : hover_plot(u, at, x, y, h);
}

static bool click(struct ui *u, const struct pane *pane, float x, float y, unsigned mods)
{
    struct half half[2];
    lay_out(u, pane->box, half);
    if (mods || x >= view_plot(u, &view_ledger, pane->box).x) return false;
    const struct ledger_line *line = line_under(u, &half[y >= half[1].box.y], y);
    if (!line || line->show == SHOW_NOTHING || u->colour_by != COLOUR_STATE) return false;
    u->isolated = u->isolated == line->show + 1 ? 0 : line->show + 1;
    u->dirty = true;
    return true;
}

/* ---- as text ---- */

static void dump_sums(struct json_writer *w, const struct ui *u, const struct ledger_table *t, const share_ns *sum)
{
    struct str s = {0};
    json_write_key(w, t->waits ? "s" : "gpu_s");
    json_write_array_inline(w);
    for (unsigned run = 0; run < u->n_runs; run++) {
        str_clear(&s);
        ledger_exact(t, sum[run], &s);
        json_write_raw(w, str_text(&s));
    }
    json_write_end(w);
    if (u->n_runs > 1) {
        bool less = sum[1] < sum[0];
        str_clear(&s);
        if (less) str_append(&s, "-");
        ledger_exact(t, less ? sum[0] - sum[1] : sum[1] - sum[0], &s);
        json_write_key(w, "difference");
        json_write_raw(w, str_text(&s));
    }
    str_free(&s);
}

static void dump_table(struct json_writer *w, const struct ui *u, const struct half *h, const char *name)
{
    json_write_key(w, name);
    json_write_object(w);
    json_write_key(w, "lines");
    json_write_array(w);
    for (size_t i = 0; i < h->t->lines.n; i++) {
        const struct ledger_line *line = &h->t->lines.v[i];
        json_write_object_inline(w);
        json_write_key(w, "name");
        json_write_string(w, line->name);
        json_write_key(w, "depth");
        json_write_uint64(w, line->depth);
        json_write_key(w, "in_sight");
        json_write_bool(w, i >= h->first && i < h->first + h->rows);
        dump_sums(w, u, h->t, line->sum);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_key(w, "all");
    json_write_object_inline(w);
    dump_sums(w, u, h->t, h->t->whole);
    json_write_end(w);
    json_write_end(w);
}

static void dump_moment(struct json_writer *w, struct ui *u, const struct ledger_table *t, unsigned run)
{
    unsigned shows[N_SHOWS], n = layers_of(t, shows);
    json_write_key(w, t->waits ? "waiting_jobs" : "gpus");
    json_write_object_inline(w);
    for (unsigned i = 0; i < n && is_known(u, t, run); i++) {
        double x = value_at(u, t, run, shows[i], u->cursor_ns);
        if (x <= 0) continue;
        json_write_key(w, show_name(shows[i]));
        json_write_double(w, x);
    }
    json_write_end(w);
}

static void dump(struct ui *u, const struct pane *pane, struct json_writer *w)
{
    struct half half[2];
    lay_out(u, pane->box, half);
    json_write_key(w, "by");
    json_write_string(w, ledger_by_names[u->ledger_by]);
    json_write_key(w, "parts_of_own_whole");
    json_write_bool(w, u->normalise);
    dump_table(w, u, &half[0], "gpu_time");
    dump_table(w, u, &half[1], "waits");
    json_write_key(w, "of_waits_over_time");
    json_write_string(w, queue_note);
    json_write_key(w, "at_cursor");
    json_write_array(w);
    for (unsigned run = 0; run < u->n_runs; run++) {
        json_write_object(w);
        dump_moment(w, u, half[0].t, run);
        dump_moment(w, u, half[1].t, run);
        json_write_end(w);
    }
    json_write_end(w);
}

static const struct view_key keys[] = {
    {"M", "sums by state, team, queue, kind, node group"},
    {"Shift+N", "A and B on one scale, or as parts of their wholes"},
    {"Up, Down", "scroll the sums"},
    {NULL, NULL},
};

const struct view_kind view_ledger = {
    .name = "ledger",
    .title = "Ledgers",
    .whole = true,
    .axis = AXIS_TIME,
    .labels = labels,
    .draw = draw,
    .key = key,
    .hover = hover,
    .click = click,
    .wheel = wheel,
    .keys = keys,
    .dump = dump,
};
