/* svg_plot.h - a line chart as an SVG file.
 *
 * One picture for the calculators: some named series of points over two axes, each linear or logarithmic.
 *
 *     double x[] = {60, 600, 6000}, y[] = {0.7, 0.9, 0.8};
 *     struct plot_series one = {.name = "goodput", .x = x, .y = y, .n = 3, .style = PLOT_LINE};
 *     struct svg_plot p = {.title = "Goodput by checkpoint interval",
 *                          .x = {.title = "interval (s)", .log = true}, .y = {.title = "goodput"},
 *                          .series = &one, .n_series = 1};
 *     if (!svg_plot_write(&p, "goodput.svg", d)) ...
 *
 * Axes fit the data unless `from` < `to` is given; ticks are 1-2-5 steps, decades on logarithmic axes, powers of two for
 * bytes. A point that cannot be drawn (not finite or beyond 1e100, not positive on a logarithmic axis, outside a given
 * range) interrupts its line. Series are told apart by colour, mark and dash: the colours are those of Okabe and Ito ("Color universal
 * design", 2008), which people with any common colour blindness tell apart, without the yellow, which is weak on white.
 * Texts are escaped; the file is plain SVG 1.1 without scripts, links or fonts of its own, and the same data give the
 * same bytes.
 *
 * Nothing to draw (no series, no points) gives the axes with "no data" between them.
 * Cost: O(points). Ownership: nothing is kept; out is appended to.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_SVG_PLOT_H
#define TRAINYARD_BASE_SVG_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/str.h"

enum plot_style { PLOT_LINE, PLOT_MARKS, PLOT_LINE_AND_MARKS };

/* How ticks are named: a bare number; bytes as 64 KiB; seconds as 20 µs, 5 ms, 3 s. */
enum plot_unit { PLOT_NUMBER, PLOT_BYTES, PLOT_SECONDS };

struct plot_axis {
    const char *title; /* with the unit, as in "time (s)"; NULL: none */
    bool log;
    enum plot_unit unit;
    double from, to;   /* from < to: this range; else the data's */
};

struct plot_series {
    const char *name; /* in the legend; NULL: not in it */
    const double *x, *y;
    size_t n;
    enum plot_style style;
};

struct svg_plot {
    const char *title; /* NULL: none */
    struct plot_axis x, y;
    const struct plot_series *series;
    size_t n_series;
};

void svg_plot(const struct svg_plot *p, struct str *out);

/* The same to a file; readers see all of it or nothing. False and an error in d when it cannot be written. */
bool svg_plot_write(const struct svg_plot *p, const char *path, struct diag *d);

#endif
