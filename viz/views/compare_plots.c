/* compare_plots.c - the waterfall of a difference, and the distribution of waits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/words.h"
#include "viz/ui/time_axis.h"
#include "viz/views/compare_page.h"
#include "viz/views/plot.h"

uint32_t compare_colour(const struct theme *t, unsigned run)
{
    return t->role[run ? ROLE_LATER : ROLE_EARLIER];
}

/* ---- waterfall: what each part adds to the difference, one below the other ---- */

float compare_waterfall_height(const struct waterfall *w, const struct theme *t)
{
    return ((float)w->rows.n + (w->left_out ? 4 : 3)) * t->line;
}

struct falls { /* right edges of the numbers; the plot. In a narrow box A and B are left out (0), then the plot */
    float name, name_width, a, b, change;
    struct box plot;
    double low, high;
};

static struct falls falls_of(const struct waterfall *w, const struct theme *t, struct box box)
{
    float f = t->font_size, wide = box.w / f;
    bool values = wide >= 50, plot = wide >= 30.5f;
    struct falls x = {.name = box.x, .name_width = f * fminf(11.2f, fmaxf(wide - 11, 3)), .change = box.x + f * (values ? 36.5f : fminf(22, wide))};
    if (values) x.a = box.x + 20 * f, x.b = box.x + 28 * f;
    x.plot = (struct box){x.change + 1.2f * f, box.y + 1.4f * t->line, plot ? box.x + box.w - x.change - 1.5f * f : 0, ((float)w->rows.n + 1) * t->line};
    double span = w->high - w->low;
    x.low = w->low - 0.04 * span;
    x.high = w->high + 0.04 * span;
    if (!(span > 0)) x.low = -1, x.high = 1;
    return x;
}

static float fall_x(const struct falls *x, double value)
{
    return x->plot.x + x->plot.w * (float)((value - x->low) / (x->high - x->low));
}

static void fall_numbers(const struct falls *x, const struct comparison_figure *f, float y, enum role role, struct draw_list *d)
{
    struct str s = {0};
    const char *unit = !strcmp(f->unit, "GPU-h") ? "" : f->unit; /* stands behind the difference */
    words_amount(&s, unit, f->base);
    if (x->a > 0) plot_text(d, x->a, y, ALIGN_RIGHT, ROLE_TEXT, "%s", str_text(&s));
    str_clear(&s);
    words_amount(&s, unit, f->other);
    if (x->b > 0) plot_text(d, x->b, y, ALIGN_RIGHT, ROLE_TEXT, "%s", str_text(&s));
    str_clear(&s);
    compare_difference(&s, f);
    plot_text(d, x->change, y, ALIGN_RIGHT, role, "%s", str_text(&s));
    str_free(&s);
}

static void fall_row(const struct falls *x, const struct waterfall_row *r, float y, struct draw_list *d)
{
    const struct theme *t = draw_theme(d);
    bool shown = r->f->verdict == VERDICT_MORE || r->f->verdict == VERDICT_LESS || r->f->verdict == VERDICT_UNKNOWN;
    struct look look = theme_look(t, r->show);
    struct str name = {0};
    float a = fall_x(x, r->begin), b = fall_x(x, r->begin + r->f->difference), h = roundf(t->line * 0.6f);
    plot_name(&name, r->name);
    if (r->show == SHOW_REDONE && strcmp(r->name, "redone") != 0) str_append(&name, " again");
    plot_swatch(d, x->name, y, look);
    plot_text_within(d, x->name + 1.3f * t->font_size, y, x->name_width, shown ? ROLE_TEXT : ROLE_TEXT_DIM, str_text(&name));
    fall_numbers(x, r->f, y, shown ? ROLE_TEXT : ROLE_TEXT_DIM, d);
    str_free(&name);
    if (x->plot.w <= 0) return;
    struct box bar = {fminf(a, b), roundf(y - t->font_size * 0.75f), fmaxf(fabsf(b - a), 1), h};
    draw_fill(d, bar, shown ? look.argb : t->role[ROLE_GREYED], look.pattern);
    if (!shown) draw_frame(d, bar, t->role[ROLE_TEXT_DIM], 1);
    draw_line(d, (struct point){b, bar.y + h}, (struct point){b, bar.y + t->line}, t->role[ROLE_TEXT_DIM], 1);
}

/* Seconds have the steps of clocks. */
static double fall_step(const struct falls *x, const char *unit)
{
    double span = x->high - x->low;
    if (!strcmp(unit, "s") && span < 1e9) return (double)time_step((int64_t)(span * 1e9), 4) / 1e9;
    return plot_scale_of(unit, fmax(fabs(x->low), fabs(x->high)), 3).step;
}

static void fall_axis(const struct falls *x, const char *unit, struct draw_list *d)
{
    const struct theme *t = draw_theme(d);
    double step = fall_step(x, unit);
    float free_from = x->plot.x;
    for (double v = ceil(x->low / step) * step; v <= x->high; v += step) {
        float at = floorf(fall_x(x, v)) + 0.5f;
        bool zero = fabs(v) < step / 2;
        struct str text = {0};
        draw_line(d, (struct point){at, x->plot.y}, (struct point){at, x->plot.y + x->plot.h}, t->role[zero ? ROLE_TEXT_DIM : ROLE_GRID], 1);
        if (zero) str_append(&text, "0");
        else {
            str_append(&text, v > 0 ? "+" : "\xe2\x88\x92");
            words_amount(&text, unit, fabs(v));
        }
        float half = text_width(draw_text_engine(d), FACE_SANS, t->font_size, str_text(&text)) / 2;
        float mid = fminf(fmaxf(at, x->plot.x + half), x->plot.x + x->plot.w - half);
        bool fits = fabsf(mid - at) < half * 0.6f && mid - half >= free_from;
        if (fits) plot_text(d, mid, x->plot.y - 0.4f * t->line, ALIGN_CENTRE, ROLE_TEXT_DIM, "%s", str_text(&text));
        if (fits) free_from = mid + half + t->pad;
        str_free(&text);
    }
}

/* A name over a column, cut where it would touch the one before. */
static void name_head(struct draw_list *d, float right, float y, const char *name)
{
    draw_text(d, right, y, &(struct text_style){.role = ROLE_TEXT_DIM, .align = ALIGN_RIGHT, .max_width = 7.5f * draw_theme(d)->font_size}, name);
}

void compare_waterfall_draw(const struct waterfall *w, const char *a, const char *b, struct draw_list *d, struct box box)
{
    const struct theme *t = draw_theme(d);
    struct falls x = falls_of(w, t, box);
    float y = box.y + t->line;
    if (x.a > 0) name_head(d, x.a, y, a);
    if (x.b > 0) name_head(d, x.b, y, b);
    plot_text(d, x.change, y, ALIGN_RIGHT, ROLE_TEXT_DIM, "difference");
    if (x.plot.w > 0) fall_axis(&x, w->unit, d);
    for (size_t i = 0; i < w->rows.n; i++) fall_row(&x, &w->rows.v[i], y += t->line, d);
    y += t->line;
    draw_line(d, (struct point){x.name, y - t->font_size * 0.95f}, (struct point){x.change, y - t->font_size * 0.95f}, t->role[ROLE_BORDER], 1);
    plot_bold(d, x.name, y, ROLE_TEXT, "all");
    fall_numbers(&x, w->whole, y, compare_role(w->whole), d);
    float from = fall_x(&x, 0), to = fall_x(&x, w->whole->difference);
    if (x.plot.w > 0) draw_fill(d, (struct box){fminf(from, to), roundf(y - t->font_size * 0.75f), fmaxf(fabsf(to - from), 2), roundf(t->line * 0.6f)}, t->role[ROLE_TEXT], PATTERN_SOLID);
    if (!w->left_out) return;
    struct str rest = {0};
    str_printf(&rest, "%zu %s equal in both; grey: no difference shown", w->left_out, w->left_out == 1 ? "part is" : "parts are");
    plot_text_within(d, x.name, y + t->line, box.w, ROLE_TEXT_DIM, str_text(&rest));
    str_free(&rest);
}

/* ---- waits: which part of the jobs waited no longer than so ---- */

struct wait_axis {
    struct box plot;
    double least, most; /* seconds, on a logarithmic axis */
};

static float wait_x(const struct wait_axis *a, double seconds)
{
    double part = seconds <= a->least ? 0 : log(seconds / a->least) / log(a->most / a->least);
    return a->plot.x + a->plot.w * (float)(part > 1 ? 1 : part);
}

static float wait_y(const struct wait_axis *a, double part)
{
    return a->plot.y + a->plot.h * (float)(1 - part);
}

static struct wait_axis wait_axis_of(const struct compare_page *p, struct box plot)
{
    struct wait_axis a = {plot, 1, 10};
    for (unsigned i = 0; i < p->n; i++)
        if (p->waits[i].n) a.most = fmax(a.most, p->waits[i].seconds[p->waits[i].n - 1] * 1.05);
    return a;
}

/* Marks of human lengths, those that do not touch. */
static void wait_grid(const struct wait_axis *a, struct draw_list *d)
{
    static const struct { double s; const char *text; } marks[] = {
        {1, "1 s"}, {10, "10 s"}, {60, "1 min"}, {600, "10 min"}, {3600, "1 h"}, {6 * 3600, "6 h"}, {86400, "1 d"}, {7 * 86400, "7 d"}, {30 * 86400, "30 d"}, {365 * 86400., "1 y"}};
    static const double parts[] = {0, 0.25, 0.5, 0.75, 0.95, 1};
    const struct theme *t = draw_theme(d);
    float last = -1e9f;
    for (size_t i = 0; i < sizeof marks / sizeof *marks && marks[i].s <= a->most; i++) {
        float x = floorf(wait_x(a, marks[i].s)) + 0.5f, half = text_width(draw_text_engine(d), FACE_SANS, t->font_size, marks[i].text) / 2;
        draw_line(d, (struct point){x, a->plot.y}, (struct point){x, a->plot.y + a->plot.h}, t->role[ROLE_GRID], 1);
        if (x - half < last + t->pad || x + half > a->plot.x + a->plot.w + 2 * t->font_size) continue;
        plot_text(d, x, a->plot.y + a->plot.h + 1.1f * t->line, ALIGN_CENTRE, ROLE_TEXT_DIM, "%s", marks[i].text);
        last = x + half;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        float y = floorf(wait_y(a, parts[i])) + 0.5f;
        draw_line(d, (struct point){a->plot.x, y}, (struct point){a->plot.x + a->plot.w, y}, t->role[ROLE_GRID], 1);
        bool fits = parts[i] != 0.95 || a->plot.h * 0.05f > t->line;
        if (fits) plot_text(d, a->plot.x - 0.5f * t->font_size, y + 0.36f * t->font_size, ALIGN_RIGHT, ROLE_TEXT_DIM, "%.0f %%", parts[i] * 100);
    }
}

static void wait_line(const struct wait_axis *a, const struct wait_curve *w, unsigned run, struct draw_list *d)
{
    unsigned n = (unsigned)fmaxf(a->plot.w, 2);
    struct point *p = xcalloc(2 * (size_t)n, sizeof *p);
    double before = wait_curve_at(w, a->least);
    for (unsigned i = 0; i < n; i++) { /* steps: the value of a column's right edge */
        double s = a->least * pow(a->most / a->least, (double)(i + 1) / n), part = wait_curve_at(w, s);
        float x = a->plot.x + (float)i;
        p[2 * i] = (struct point){x, wait_y(a, before)};
        p[2 * i + 1] = (struct point){x, wait_y(a, part)};
        before = part;
    }
    draw_polyline(d, p, 2 * (size_t)n, compare_colour(draw_theme(d), run), run ? 2.5f : 1.75f);
    free(p);
}

static void wait_marks(const struct wait_axis *a, const struct compare_page *p, unsigned run, float x, struct draw_list *d)
{
    static const struct { const char *metric, *name; double part; } marks[] = {{"p50_wait", "p50", 0.5}, {"p95_wait", "p95", 0.95}, {"p99_wait", "p99", 0.99}};
    const struct theme *t = draw_theme(d);
    const struct run *r = p->scenes[run]->run;
    uint32_t argb = compare_colour(t, run);
    float y = a->plot.y + t->line * (1 + 5.2f * (float)run);
    draw_fill(d, (struct box){x, y - 0.5f * t->font_size, 1.4f * t->font_size, run ? 3 : 2}, argb, PATTERN_SOLID);
    plot_text_within(d, x + 1.9f * t->font_size, y, 9.5f * t->font_size, ROLE_TEXT, r->approach);
    for (size_t i = 0; i < 3; i++) {
        struct metric_value v = metric_of(r, (size_t)metric_find(marks[i].metric));
        struct str s = {0};
        if (!isfinite(v.value)) continue;
        str_append(&s, v.bound ? "\xe2\x89\xa5 " : "");
        words_amount(&s, "s", v.value);
        float at = wait_x(a, v.value), level = wait_y(a, marks[i].part);
        draw_fill(d, (struct box){at - 3, level - 3, 6, 6}, argb, PATTERN_SOLID);
        draw_frame(d, (struct box){at - 3, level - 3, 6, 6}, t->role[ROLE_PANEL], 1);
        y += t->line;
        plot_text(d, x + 1.9f * t->font_size, y, ALIGN_LEFT, ROLE_TEXT_DIM, "%s", marks[i].name);
        plot_text(d, x + 11 * t->font_size, y, ALIGN_RIGHT, ROLE_TEXT, "%s", str_text(&s));
        str_free(&s);
    }
    if (p->waits[run].n < p->waits[run].jobs)
        plot_text(d, x + 1.9f * t->font_size, y + t->line, ALIGN_LEFT, ROLE_TEXT_DIM, "%zu never started", p->waits[run].jobs - p->waits[run].n);
}

void compare_waits_draw(const struct compare_page *p, struct draw_list *d, struct box box)
{
    const struct theme *t = draw_theme(d);
    float left = 3.8f * t->font_size, right = 13 * t->font_size, foot = 1.6f * t->line;
    struct box plot = {box.x + left, box.y + 0.5f * t->line, box.w - left - right, box.h - foot - 0.5f * t->line};
    struct wait_axis a = wait_axis_of(p, plot);
    draw_rect(d, plot, ROLE_PANEL);
    wait_grid(&a, d);
    for (unsigned i = 0; i < p->n; i++) {
        draw_clip(d, (struct box){plot.x, plot.y - 2, plot.w, plot.h + 4});
        wait_line(&a, &p->waits[i], i, d);
        draw_unclip(d);
    }
    for (unsigned i = 0; i < p->n; i++) wait_marks(&a, p, i, plot.x + plot.w + 1.2f * t->font_size, d);
}
