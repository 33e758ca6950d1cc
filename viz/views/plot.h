/* plot.h - what curves, ledgers and comparisons draw alike: value axes, lines with bands, stacks, bars, texts in columns.
 *
 *     struct plot_scale s = plot_scale_of("jobs", 312, 3);         // 0 to 324 by 100
 *     plot_axis(d, plot, &s);                                     // grid, and ticks left of the plot
 *     float y = plot_y(plot, &s, 17);
 *
 * Values are in base units: seconds, GPUs, jobs, ratio, bytes/s. All boxes are in pixels, colours from the theme.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_PLOT_H
#define TRAINYARD_VIZ_VIEWS_PLOT_H

#include "viz/ui/view.h"

struct plot_scale {
    const char *unit;
    double top, step; /* the axis goes from 0 to top, a little above the greatest value */
};

/* An axis that holds `most`, with about `ticks` steps of 1, 2 or 5 times a power of ten; counts have whole steps. */
struct plot_scale plot_scale_of(const char *unit, double most, unsigned ticks);
float plot_y(struct box plot, const struct plot_scale *, double value);
/* Grid lines over the plot, and values right-aligned left of it; none where they would touch. */
void plot_axis(struct draw_list *, struct box plot, const struct plot_scale *);

/* "312 jobs", "45.2 %", "1.25 GB/s", "3.1 h"; short: without words that the axis has. */
void plot_amount(struct str *, const char *unit, double value);
void plot_amount_short(struct str *, const char *unit, double value);

/* A column of a curve is one pixel wide: the band from least to most, the mean as a line. */
void plot_line(struct draw_list *, struct box plot, const struct plot_scale *, const struct curve_column *, unsigned n, uint32_t argb);
/* One layer of a stack: from `below` to below + the means, which are added to `below`; false: nothing of it in sight. */
bool plot_layer(struct draw_list *, struct box plot, const struct plot_scale *, const struct curve_column *, unsigned n, double *below,
                double factor, uint32_t argb, enum pattern);

/* How a show looks, greyed when the legend isolates another. */
struct look plot_look(const struct ui *, unsigned show);
/* A swatch of that look, as wide as high. */
void plot_swatch(struct draw_list *, float x, float baseline, struct look);
/* The states of GPUs from the bottom of a stack to its top: work, redone, held, down, absent; idle is what is left. */
unsigned plot_stack_order(unsigned shows[N_SHOWS]);

/* Text on its baseline; printf-like. Gives its width. */
float plot_text(struct draw_list *, float x, float y, enum align, enum role, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
float plot_bold(struct draw_list *, float x, float y, enum role, const char *text);
/* The same cut to a width. */
void plot_text_within(struct draw_list *, float x, float y, float width, enum role, const char *text);
/* How many lines a text is when it is broken at blanks to a width. */
unsigned plot_lines(const struct text_engine *, float size, const char *text, float width);
/* The same, drawn one line below the other; gives the baseline behind the last one. */
float plot_paragraph(struct draw_list *, float x, float y, float width, enum role, const char *text);

/* A name of the files as words: "image_pull" -> "image pull". */
void plot_name(struct str *, const char *name);

#endif
