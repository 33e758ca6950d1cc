/* measured.h - what was measured, as dots over the lines of what was simulated.
 *
 * A live run (any back end but "sim") lies over each simulated run of the same scenario that is shown with it: beside it as A or B, or in the grid.
 * Time counts from the begin of each.
 *
 *     const struct ui_run *m = measured_over(ui, pane->run);            // NULL: nothing to lay over
 *     measured_points(ui, m, id, factor, n, points);                    // means over n equal parts of the window
 *     for (...) if (points[i].known) measured_dot(d, x, y, argb);
 *     measured_legend(ui, d, plot, m);
 *
 * Cost: O(n log steps) a curve.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_MEASURED_H
#define TRAINYARD_VIZ_VIEWS_MEASURED_H

#include "viz/ui/view.h"

enum { MEASURED_APART = 12, MEASURED_MOST = 400 }; /* px between dots; dots of a curve */

struct measured_point {
    int64_t ns;   /* middle of its part */
    double value;
    bool known;   /* the measured run reaches so far */
};

const struct ui_run *measured_over(const struct ui *, unsigned run);
/* How many dots a plot of this width has. */
unsigned measured_count(float width);
/* false: the measured run does not know this curve. */
bool measured_points(const struct ui *, const struct ui_run *measured, unsigned id, double factor, unsigned n, struct measured_point *);
/* Filled, with a ring that parts it from what lies below. */
void measured_dot(struct draw_list *, float x, float y, uint32_t argb);
uint32_t measured_colour(const struct ui *);
/* "line: simulated, dots: measured" in the upper right corner of a plot. */
void measured_legend(const struct ui *, struct draw_list *, struct box plot);

#endif
