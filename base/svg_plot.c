/* svg_plot.c - see svg_plot.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/svg_plot.h"

#include <math.h>
#include <string.h>

#include "base/file.h"

/* The drawing, in its own pixels; a viewer scales it. */
#define WIDTH       760.0
#define HEIGHT      440.0
#define LEFT        78.0
#define TOP         44.0
#define BOTTOM      62.0
#define RIGHT       26.0
#define LETTER      7.0      /* mean width of a letter at 13 px */
#define LEGEND_LINE 34.0     /* length of the sample of a line, with the gap behind it */
#define LEGEND_ROW  20.0
#define TICKS       6        /* wanted on a linear axis */
#define TICKS_MAX   32
#define POWERS_MAX  9        /* labelled on a logarithmic axis */
#define MARK        3.5
#define HUGEST      1e100

static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
static const char *const dashes[] = {"", "7 3", "2 3"};
#define N_COLOURS (sizeof colours / sizeof *colours)
#define N_DASHES  (sizeof dashes / sizeof *dashes)
#define N_MARKS   4

struct scale {
    const struct plot_axis *axis;
    double from, to;     /* log10 of them on a logarithmic axis */
    double begin, end;   /* pixels */
    double tick[TICKS_MAX];
    size_t n_ticks;
    double step;         /* between ticks of a linear axis */
};

/* ---- text ---- */

static void text_escaped(struct str *out, const char *text)
{
    for (const char *p = text; *p;) {
        size_t n = str_utf8_bytes(p, strlen(p));
        if (n == 1 && *p == '&') str_append(out, "&amp;");
        else if (n == 1 && *p == '<') str_append(out, "&lt;");
        else if (n == 1 && *p == '>') str_append(out, "&gt;");
        else if (n == 1 && *p == '"') str_append(out, "&quot;");
        else if (n == 0 || (n == 1 && ((unsigned char)*p < 0x20 || *p == 0x7f))) str_append(out, "\xEF\xBF\xBD");
        else str_append_n(out, p, n);
        p += n ? n : 1;
    }
}

static void text_at(struct str *out, double x, double y, const char *attributes, const char *text)
{
    str_printf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
    text_escaped(out, text);
    str_append(out, "</text>\n");
}

static size_t letters(const char *text)
{
    size_t n = 0;
    for (; text && *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

/* ---- axes ---- */

/* Beyond 1e100 a difference could overflow; on a logarithmic axis below 1e-100, a power vanish. */
static bool drawable(const struct plot_axis *a, double v)
{
    return isfinite(v) && fabs(v) <= HUGEST && (!a->log || v >= 1 / HUGEST);
}

static double on_axis(const struct plot_axis *a, double v) { return a->log ? log10(v) : v; }

/* The range of the data: positive values on a logarithmic axis, a little wider than a single value. */
static void fit(struct scale *s, const struct svg_plot *p, bool is_x)
{
    const struct plot_axis *a = s->axis;
    s->from = INFINITY;
    s->to = -INFINITY;
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t k = 0; k < p->series[i].n; k++) {
            double v = is_x ? p->series[i].x[k] : p->series[i].y[k];
            if (!drawable(&p->x, p->series[i].x[k]) || !drawable(&p->y, p->series[i].y[k])) continue;
            s->from = fmin(s->from, on_axis(a, v));
            s->to = fmax(s->to, on_axis(a, v));
        }
    if (a->from < a->to && drawable(a, a->from) && drawable(a, a->to)) {
        s->from = on_axis(a, a->from);
        s->to = on_axis(a, a->to);
    }
    if (s->from > s->to) s->from = 0, s->to = 1;
    if (s->to - s->from <= fabs(s->to) * 1e-12 || s->to - s->from < 1 / HUGEST) {
        double half = a->log ? 0.5 : fabs(s->to) > 1 / HUGEST ? fabs(s->to) / 2 : 0.5;
        s->from -= half;
        s->to += half;
    }
}

static double nice_step(double span)
{
    double rough = span / TICKS, decade = pow(10, floor(log10(rough))), m = rough / decade;
    return decade * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

static void tick_add(struct scale *s, double at, double slack)
{
    if (at >= s->from - slack && at <= s->to + slack && s->n_ticks < TICKS_MAX) s->tick[s->n_ticks++] = at;
}

/* A linear axis begins and ends on a tick, unless its range was given. */
static void ticks_linear(struct scale *s)
{
    s->step = nice_step(s->to - s->from);
    if (!(s->axis->from < s->axis->to)) {
        s->from = floor(s->from / s->step + 1e-9) * s->step;
        s->to = ceil(s->to / s->step - 1e-9) * s->step;
    }
    for (double k = ceil(s->from / s->step - 1e-9); s->n_ticks < TICKS_MAX && k * s->step <= s->to + s->step * 1e-9; k++)
        tick_add(s, k * s->step, s->step * 1e-9);
}

/* Every n-th power of the base, counted from its zeroth. */
static void ticks_powers(struct scale *s, double base)
{
    static const double every[] = {1, 2, 5, 10, 20, 50, 100};
    double one = log10(base), n = every[0];
    for (size_t i = 1; i < sizeof every / sizeof *every && (s->to - s->from) / one / n > POWERS_MAX; i++) n = every[i];
    for (double k = ceil(s->from / one / n - 1e-9); s->n_ticks < TICKS_MAX && k * n * one <= s->to + 1e-9; k++)
        tick_add(s, k * n * one, 1e-9);
}

/* Over few decades, 1, 2 and 5 of each; under a factor of about three, whatever a linear axis would show. */
static void ticks_log(struct scale *s)
{
    double decades = s->to - s->from;
    if (s->axis->unit == PLOT_BYTES && decades > 0.5) {
        ticks_powers(s, 2);
    } else if (decades > 3.1) {
        ticks_powers(s, 10);
    } else if (decades > 0.5) {
        static const double in_decade[] = {1, 2, 5};
        for (double d = floor(s->from); d <= s->to; d++)
            for (int k = 0; k < 3; k++) tick_add(s, d + log10(in_decade[k]), 1e-9);
    } else {
        double low = pow(10, s->from), high = pow(10, s->to), step = nice_step(high - low);
        for (double k = ceil(low / step - 1e-9); s->n_ticks < TICKS_MAX && k * step <= high * (1 + 1e-9); k++)
            if (k > 0) tick_add(s, log10(k * step), 1e-9);
    }
}

static struct scale scale_of(const struct svg_plot *p, bool is_x, double begin, double end)
{
    struct scale s = {.axis = is_x ? &p->x : &p->y, .begin = begin, .end = end};
    fit(&s, p, is_x);
    if (s.axis->log) ticks_log(&s);
    else ticks_linear(&s);
    return s;
}

static double pixel(const struct scale *s, double at)
{
    return s->begin + (at - s->from) / (s->to - s->from) * (s->end - s->begin);
}

struct prefix { double unit; const char *name; };

static void prefixed(struct str *label, double v, const struct prefix *table, size_t n)
{
    size_t k = 0;
    while (k + 1 < n && fabs(v) < table[k].unit * (1 - 1e-9)) k++;
    str_printf(label, "%.4g %s", v / table[k].unit, table[k].name);
}

static void label_number(struct str *label, double v, double step)
{
    if (v != 0 && (fabs(v) >= 1e6 || fabs(v) < 1e-4)) {
        str_printf(label, "%.4g", v);
        return;
    }
    int digits = step > 0 ? (int)ceil(-log10(step) - 1e-9) : 0;
    if (step > 0) str_printf(label, "%.*f", digits < 0 ? 0 : digits > 12 ? 12 : digits, v);
    else str_printf(label, "%.6g", v);
}

static void label_of(struct str *label, const struct scale *s, double at)
{
    static const struct prefix bytes[] = {
        {0x1p50, "PiB"}, {0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"},
    };
    static const struct prefix seconds[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "\xC2\xB5s"}, {1e-9, "ns"}};
    double v = s->axis->log ? pow(10, at) : at;
    if (!s->axis->log && fabs(v) < s->step * 1e-9) v = 0;
    str_clear(label);
    if (s->axis->unit == PLOT_BYTES) prefixed(label, v, bytes, sizeof bytes / sizeof *bytes);
    else if (s->axis->unit == PLOT_SECONDS && v != 0) prefixed(label, v, seconds, sizeof seconds / sizeof *seconds);
    else label_number(label, v, s->axis->log ? 0 : s->step);
}

/* ---- drawing ---- */

static void line(struct str *out, double x1, double y1, double x2, double y2, const char *class)
{
    str_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2, y2);
}

static void draw_axes(struct str *out, const struct scale *x, const struct scale *y)
{
    struct str label = {0};
    for (size_t i = 0; i < x->n_ticks; i++) {
        double at = pixel(x, x->tick[i]);
        line(out, at, y->begin, at, y->end, "grid");
        label_of(&label, x, x->tick[i]);
        text_at(out, at, y->begin + 18, " text-anchor=\"middle\"", str_text(&label));
    }
    for (size_t i = 0; i < y->n_ticks; i++) {
        double at = pixel(y, y->tick[i]);
        line(out, x->begin, at, x->end, at, "grid");
        label_of(&label, y, y->tick[i]);
        text_at(out, x->begin - 7, at + 4.5, " text-anchor=\"end\"", str_text(&label));
    }
    str_printf(out, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", x->begin, y->end,
               x->end - x->begin, y->begin - y->end);
    if (x->axis->title)
        text_at(out, (x->begin + x->end) / 2, y->begin + 44, " text-anchor=\"middle\"", x->axis->title);
    if (y->axis->title) {
        double middle = (y->begin + y->end) / 2;
        str_clear(&label);
        str_printf(&label, " text-anchor=\"middle\" transform=\"rotate(-90 18 %.1f)\"", middle);
        text_at(out, 18, middle, str_text(&label), y->axis->title);
    }
    str_free(&label);
}

static void mark(struct str *out, double x, double y, size_t index)
{
    const char *colour = colours[index % N_COLOURS];
    double r = MARK;
    switch (index % N_MARKS) {
    case 0:
        str_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, r, colour);
        return;
    case 1:
        str_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x - r, y - r, 2 * r,
                   2 * r, colour);
        return;
    case 2:
        str_printf(out, "<path d=\"M%.1f %.1fl%.1f %.1fh%.1fz\" fill=\"%s\"/>\n", x, y - 1.2 * r, 1.2 * r, 2.2 * r,
                   -2.4 * r, colour);
        return;
    default:
        str_printf(out, "<path d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\" fill=\"%s\"/>\n", x, y - 1.3 * r, 1.3 * r,
                   1.3 * r, -1.3 * r, 1.3 * r, -1.3 * r, -1.3 * r, colour);
    }
}

static void stroke(struct str *out, size_t index)
{
    const char *dash = dashes[index / N_COLOURS % N_DASHES];
    str_printf(out, "<path class=\"line\" stroke=\"%s\"", colours[index % N_COLOURS]);
    if (*dash) str_printf(out, " stroke-dasharray=\"%s\"", dash);
    str_append(out, " d=\"");
}

/* Whether point k stands in the picture, and where. */
static bool point(const struct scale *x, const struct scale *y, const struct plot_series *s, size_t k, double *px,
                  double *py)
{
    if (!drawable(x->axis, s->x[k]) || !drawable(y->axis, s->y[k])) return false;
    double at_x = on_axis(x->axis, s->x[k]), at_y = on_axis(y->axis, s->y[k]);
    double slack_x = (x->to - x->from) * 1e-9, slack_y = (y->to - y->from) * 1e-9;
    if (at_x < x->from - slack_x || at_x > x->to + slack_x) return false;
    if (at_y < y->from - slack_y || at_y > y->to + slack_y) return false;
    *px = pixel(x, at_x);
    *py = pixel(y, at_y);
    return true;
}

static size_t draw_series(struct str *out, const struct scale *x, const struct scale *y, const struct plot_series *s,
                          size_t index)
{
    double px, py;
    size_t drawn = 0;
    for (size_t k = 0; k < s->n; k++) drawn += point(x, y, s, k, &px, &py);
    if (!drawn) return 0;
    if (s->style != PLOT_MARKS) {
        bool pen = false;
        stroke(out, index);
        for (size_t k = 0; k < s->n; k++) {
            bool in = point(x, y, s, k, &px, &py);
            if (in) str_printf(out, "%c%.2f %.2f", pen ? 'L' : 'M', px, py);
            pen = in;
        }
        str_append(out, "\"/>\n");
    }
    for (size_t k = 0; s->style != PLOT_LINE && k < s->n; k++)
        if (point(x, y, s, k, &px, &py)) mark(out, px, py, index);
    return drawn;
}

static double legend_width(const struct svg_plot *p)
{
    size_t most = 0;
    for (size_t i = 0; i < p->n_series; i++)
        if (letters(p->series[i].name) > most) most = letters(p->series[i].name);
    return most ? LEGEND_LINE + LETTER * (double)most + 14 : 0;
}

static void draw_legend(struct str *out, const struct svg_plot *p, double left)
{
    double y = TOP + 8;
    for (size_t i = 0; i < p->n_series; i++) {
        const struct plot_series *s = &p->series[i];
        if (!s->name) continue;
        if (s->style != PLOT_MARKS) {
            stroke(out, i);
            str_printf(out, "M%.1f %.1fh26\"/>\n", left, y);
        }
        if (s->style != PLOT_LINE) mark(out, left + 13, y, i);
        text_at(out, left + LEGEND_LINE, y + 4.5, "", s->name);
        y += LEGEND_ROW;
    }
}

static size_t legend_rows(const struct svg_plot *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_series; i++) n += p->series[i].name != NULL;
    return n;
}

void svg_plot(const struct svg_plot *p, struct str *out)
{
    double legend = legend_width(p), width = WIDTH + legend;
    double rows = TOP + LEGEND_ROW * (double)legend_rows(p) + 8, height = rows > HEIGHT ? rows : HEIGHT;
    struct scale x = scale_of(p, true, LEFT, WIDTH - RIGHT), y = scale_of(p, false, height - BOTTOM, TOP);
    str_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
               "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n",
               width, height, width, height);
    str_append(out, "<style>.grid{stroke:#ddd}.frame{fill:none;stroke:#666}.line{fill:none;stroke-width:2;"
                    "stroke-linejoin:round}</style>\n");
    str_printf(out, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", width, height);
    if (p->title) text_at(out, LEFT, 27, " font-size=\"16\"", p->title);
    draw_axes(out, &x, &y);
    size_t drawn = 0;
    for (size_t i = 0; i < p->n_series; i++) drawn += draw_series(out, &x, &y, &p->series[i], i);
    if (!drawn)
        text_at(out, (x.begin + x.end) / 2, (y.begin + y.end) / 2, " text-anchor=\"middle\"", "no data");
    if (legend > 0) draw_legend(out, p, WIDTH - RIGHT + 14);
    str_append(out, "</svg>\n");
}

bool svg_plot_write(const struct svg_plot *p, const char *path, struct diag *d)
{
    struct str out = {0};
    svg_plot(p, &out);
    bool ok = file_write_atomic(path, str_text(&out), out.n, d);
    str_free(&out);
    return ok;
}
