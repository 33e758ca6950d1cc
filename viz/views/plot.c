/* plot.c - see plot.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "study/words.h"

/* ---- scales ---- */

static bool is_count(const char *unit)
{
    return !strcmp(unit, "jobs") || !strcmp(unit, "GPUs");
}

struct plot_scale plot_scale_of(const char *unit, double most, unsigned ticks)
{
    struct plot_scale s = {unit, 1, 1};
    static const double steps[] = {1, 2, 5, 10};
    if (!ticks) ticks = 1;
    if (!strcmp(unit, "ratio") && most <= 1) return (struct plot_scale){unit, 1, ticks >= 4 ? 0.25 : ticks >= 2 ? 0.5 : 1};
    if (!(most > 0)) return s;
    double decade = pow(10, floor(log10(most / ticks)));
    s.top = most * 1.04;
    for (size_t i = 0; i < 4; i++) {
        if (steps[i] * decade > s.top) break;
        s.step = steps[i] * decade;
        if (s.top < s.step * (ticks + 1)) break;
    }
    if (is_count(unit)) s.step = fmax(s.step, 1);
    s.top = fmax(s.top, s.step);
    return s;
}

float plot_y(struct box plot, const struct plot_scale *s, double value)
{
    double part = value / s->top;
    return plot.y + plot.h * (float)(1 - (part < 0 ? 0 : part > 1 ? 1 : part));
}

/* ---- amounts ---- */

static void bytes_per_s(struct str *s, double value)
{
    units_format_bytes(s, (int64_t)llround(value));
    str_append(s, "/s");
}

void plot_amount(struct str *s, const char *unit, double value)
{
    if (!strcmp(unit, "bytes/s")) bytes_per_s(s, value);
    else if (is_count(unit)) {
        words_number(s, value);
        str_printf(s, " %s", value == 1 && !strcmp(unit, "jobs") ? "job" : value == 1 ? "GPU" : unit);
    } else words_amount(s, unit, value);
}

void plot_amount_short(struct str *s, const char *unit, double value)
{
    if (is_count(unit)) words_number(s, value);
    else plot_amount(s, unit, value);
}

void plot_name(struct str *s, const char *name)
{
    words_name(s, name);
}

/* ---- texts ---- */

float plot_text(struct draw_list *d, float x, float y, enum align align, enum role role, const char *fmt, ...)
{
    struct str s = {0};
    va_list args;
    va_start(args, fmt);
    str_vprintf(&s, fmt, args);
    va_end(args);
    float w = draw_text(d, x, y, &(struct text_style){.role = role, .align = align}, str_text(&s));
    str_free(&s);
    return w;
}

float plot_bold(struct draw_list *d, float x, float y, enum role role, const char *text)
{
    return draw_text(d, x, y, &(struct text_style){.face = FACE_BOLD, .role = role}, text);
}

void plot_text_within(struct draw_list *d, float x, float y, float width, enum role role, const char *text)
{
    draw_text(d, x, y, &(struct text_style){.role = role, .max_width = width > 1 ? width : 1}, text);
}

/* How many bytes of the text go on one line: as many words as fit, one at least. */
static size_t line_bytes(const struct text_engine *engine, float size, const char *text, float width)
{
    size_t n = strlen(text), fits = text_fits(engine, FACE_SANS, size, text, width);
    if (fits >= n) return n;
    size_t at = fits;
    while (at > 0 && text[at] != ' ') at--;
    return at > 0 ? at : fits > 0 ? fits : 1;
}

static const char *next_line(const char *text, size_t n)
{
    text += n;
    return text + strspn(text, " ");
}

unsigned plot_lines(const struct text_engine *engine, float size, const char *text, float width)
{
    unsigned lines = 0;
    for (; *text; lines++) text = next_line(text, line_bytes(engine, size, text, width));
    return lines;
}

float plot_paragraph(struct draw_list *d, float x, float y, float width, enum role role, const char *text)
{
    while (*text) {
        size_t n = line_bytes(draw_text_engine(d), draw_theme(d)->font_size, text, width);
        plot_text(d, x, y, ALIGN_LEFT, role, "%.*s", (int)n, text);
        y += draw_theme(d)->line;
        text = next_line(text, n);
    }
    return y;
}

/* ---- axes ---- */

void plot_axis(struct draw_list *d, struct box plot, const struct plot_scale *s)
{
    const struct theme *t = draw_theme(d);
    unsigned n = (unsigned)floor(s->top / s->step + 1e-9);
    for (unsigned i = 0; i <= n; i++) {
        float y = floorf(plot_y(plot, s, i * s->step)) + 0.5f;
        if (i == 0) y = plot.y + plot.h - 0.5f;
        draw_line(d, (struct point){plot.x, y}, (struct point){plot.x + plot.w, y}, t->role[ROLE_GRID], 1);
        if (plot.h < t->line * (float)(n + 1) * 0.8f && i > 0 && i < n) continue;
        if (plot.y + plot.h - y < t->line && i > 0) continue;
        if (plot.h < t->line * 1.6f && i == 0) continue;
        struct str text = {0};
        plot_amount_short(&text, s->unit, i * s->step);
        float top = plot.y + t->font_size * 0.8f, base = plot.y + plot.h - 1, at = y + t->font_size * 0.36f;
        plot_text(d, plot.x - t->pad * 0.75f, fminf(fmaxf(at, top), base), ALIGN_RIGHT, ROLE_TEXT_DIM, "%s", str_text(&text));
        str_free(&text);
    }
}

/* ---- lines and stacks ---- */

/* Points of an outline; what lies within a quarter of a pixel of the last one's height goes on at that height. */
struct outline {
    struct point *v;
    size_t n;
};

static void go_on(struct outline *o, float x, float y)
{
    bool level = o->n >= 2 && fabsf(o->v[o->n - 1].y - y) < 0.25f && fabsf(o->v[o->n - 2].y - o->v[o->n - 1].y) < 0.25f;
    if (level) o->v[o->n - 1].x = x;
    else o->v[o->n++] = (struct point){x, y};
}

void plot_line(struct draw_list *d, struct box plot, const struct plot_scale *s, const struct curve_column *col, unsigned n, uint32_t argb)
{
    struct outline band = {xcalloc(2 * (size_t)n + 2, sizeof(struct point)), 0}, line = {xcalloc((size_t)n + 1, sizeof(struct point)), 0};
    uint32_t panel = draw_theme(d)->role[ROLE_PANEL];
    for (unsigned i = 0; i < n; i++) go_on(&band, plot.x + (float)i + 0.5f, plot_y(plot, s, col[i].most));
    struct outline back = {band.v + band.n, 0};
    for (unsigned i = n; i-- > 0;) go_on(&back, plot.x + (float)i + 0.5f, plot_y(plot, s, col[i].least));
    for (unsigned i = 0; i < n; i++) go_on(&line, plot.x + (float)i + 0.5f, plot_y(plot, s, col[i].mean));
    draw_polygon(d, band.v, band.n + back.n, theme_mix(panel, argb, 0.4f), PATTERN_SOLID);
    draw_polyline(d, line.v, line.n, argb, 1.5f);
    free(band.v);
    free(line.v);
}

/* Columns [from, to) of a layer, one point a column, with upright ends. */
static void layer_part(struct draw_list *d, struct box plot, const struct plot_scale *s, const double *below, const double *above, unsigned from,
                       unsigned to, uint32_t argb, enum pattern pattern)
{
    struct outline o = {xcalloc(2 * ((size_t)(to - from) + 2), sizeof(struct point)), 0};
    go_on(&o, plot.x + (float)from, plot_y(plot, s, above[from]));
    for (unsigned i = from; i < to; i++) go_on(&o, plot.x + (float)i + 0.5f, plot_y(plot, s, above[i]));
    go_on(&o, plot.x + (float)to, plot_y(plot, s, above[to - 1]));
    struct outline back = {o.v + o.n, 0};
    go_on(&back, plot.x + (float)to, plot_y(plot, s, below[to - 1]));
    for (unsigned i = to; i-- > from;) go_on(&back, plot.x + (float)i + 0.5f, plot_y(plot, s, below[i]));
    go_on(&back, plot.x + (float)from, plot_y(plot, s, below[from]));
    draw_polygon(d, o.v, o.n + back.n, argb, pattern);
    free(o.v);
}

bool plot_layer(struct draw_list *d, struct box plot, const struct plot_scale *s, const struct curve_column *col, unsigned n, double *below,
                double factor, uint32_t argb, enum pattern pattern)
{
    double *above = xcalloc(n, sizeof *above), thin = s->top / plot.h * 0.05; /* a twentieth of a pixel cannot be seen */
    bool any = false;
    for (unsigned i = 0; i < n; i++) above[i] = below[i] + col[i].mean * factor;
    for (unsigned from = 0, to; from < n; from = to + 1) {
        for (to = from; to < n && above[to] - below[to] > thin; to++) continue;
        if (to > from) layer_part(d, plot, s, below, above, from, to, argb, pattern);
        any |= to > from;
    }
    memcpy(below, above, n * sizeof *below);
    free(above);
    return any;
}

/* ---- states ---- */

struct look plot_look(const struct ui *u, unsigned show)
{
    struct look look = theme_look(&u->theme, show);
    if (u->colour_by == COLOUR_STATE && u->isolated && u->isolated - 1 != show) look.argb = u->theme.role[ROLE_GREYED];
    return look;
}

void plot_swatch(struct draw_list *d, float x, float baseline, struct look look)
{
    float size = roundf(draw_theme(d)->font_size * 0.85f);
    draw_fill(d, (struct box){roundf(x), roundf(baseline - size + 1), size, size}, look.argb, look.pattern);
}

static void add_class(unsigned *n, unsigned shows[N_SHOWS], enum activity_class class)
{
    for (unsigned show = 0; show < N_ACTIVITIES; show++)
        if (show_class(show) == class) shows[(*n)++] = show;
}

unsigned plot_stack_order(unsigned shows[N_SHOWS])
{
    unsigned n = 0;
    shows[n++] = SHOW_WORK;
    add_class(&n, shows, CLASS_WORK);
    shows[n++] = SHOW_REDONE;
    add_class(&n, shows, CLASS_HELD);
    add_class(&n, shows, CLASS_DOWN);
    add_class(&n, shows, CLASS_ABSENT);
    return n;
}
