/* ledger_table.c - the sums of a ledger: names, bars and figures, of one run or two.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/ledger_page.h"

#include <math.h>

#include "study/words.h"
#include "viz/views/plot.h"

double ledger_share_of(const struct ledger_table *t, unsigned run, share_ns sum)
{
    return t->whole[run] ? ledger_hours(t, sum) / ledger_hours(t, t->whole[run]) : 0;
}

/* What a bar is as long as: hours, or the part of the run's whole. */
static double size_of(const struct ui *u, const struct ledger_table *t, unsigned run, share_ns sum)
{
    return u->normalise ? ledger_share_of(t, run, sum) : ledger_hours(t, sum);
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
    if (u->normalise && u->n_runs > 1) str_printf(s, "%.2f %%", 100 * ledger_share_of(t, run, sum));
    else if (sum && ledger_hours(t, sum) < 0.001) str_append(s, "< 0.001");
    else words_number(s, ledger_hours(t, sum));
}

/* Of two runs their difference, of one the part of its whole. */
static void last_text(const struct ui *u, const struct ledger_table *t, const unsigned *runs, unsigned n, const share_ns *sum, struct str *s)
{
    if (n < 2) str_printf(s, "%.2f %%", 100 * ledger_share_of(t, runs[0], sum[runs[0]]));
    else if (u->normalise) str_printf(s, "%+.2f", 100 * (ledger_share_of(t, 1, sum[1]) - ledger_share_of(t, 0, sum[0])));
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

static struct columns columns_of(const struct ui *u, const struct ledger_half *h, const unsigned *runs, unsigned n)
{
    float f = u->theme.font_size, gap = 1.2f * f, value[UI_MAX_RUNS];
    struct columns c = {.name = h->box.x + u->theme.pad, .name_width = 7 * f};
    float right = view_plot(u, &view_ledger, h->box).x - ledger_gutter(u), left = right - c.name - c.name_width;
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
    unsigned runs[UI_MAX_RUNS], n = ledger_runs_shown(u, runs);
    struct str s = {0};
    for (unsigned i = 0; i < c->n_values; i++) draw_value(u, t, runs[i], sum[runs[i]], c->value[i], y, d);
    last_text(u, t, runs, n, sum, &s);
    if (c->has_last) plot_text(d, c->last, y, ALIGN_RIGHT, ROLE_TEXT_DIM, "%s", str_text(&s));
    str_free(&s);
}

static void draw_line_of(struct ui *u, const struct ledger_half *h, const struct ledger_line *line, const struct columns *c, float y, double most,
                         struct draw_list *d)
{
    unsigned runs[UI_MAX_RUNS], n = ledger_runs_shown(u, runs);
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

static void draw_heads(struct ui *u, const struct ledger_half *h, const struct columns *c, float y, struct draw_list *d)
{
    unsigned runs[UI_MAX_RUNS], n = ledger_runs_shown(u, runs);
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

void ledger_draw_table(struct ui *u, const struct ledger_half *h, struct draw_list *d)
{
    unsigned runs[UI_MAX_RUNS], n = ledger_runs_shown(u, runs);
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
