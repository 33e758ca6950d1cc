/* view.h - what a view is: one file below viz/views and one row of view_kinds.
 *
 * A view draws one run into a pane, or all runs into the body (`whole`). The frame around (title, tabs, time axis, legend, details, status,
 * comparison A over B, delta ribbon) is drawn by ui_draw. A view keeps no state of its own beside what struct ui has; where it needs rows, it makes them
 * anew from the state each time, at the cost of what is in sight.
 *
 * Every view says, when it has nothing to show, why, and which command or option would give it (view_empty).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_VIEW_H
#define TRAINYARD_VIZ_UI_VIEW_H

#include "viz/ui/ui.h"

struct pane {
    struct box box;   /* where to draw, labels included */
    unsigned run;     /* which run */
};

enum view_axis { AXIS_NONE, AXIS_TIME };  /* with AXIS_TIME the frame draws the shared time axis below and the cursor over it */

/* Which states the legend lists: of GPU rows, of job rows, or of what the Gantt's rows are now. */
enum view_legend { LEGEND_NONE = 0, LEGEND_GPUS = 1, LEGEND_JOBS = 2, LEGEND_ROWS = 4 };

/* What is below the pointer: a line or more of text, and what a click selects. */
struct hover {
    struct str *text;
    struct ui_selection selection;
};

/* A key of this view alone, for help and manual page. */
struct view_key { const char *key, *help; };

struct view_kind {
    const char *name, *title;  /* "gantt", "Gantt"; the key is its place: 1 ... */
    bool whole;                /* draws all runs at once: called once with the body's box */
    enum view_axis axis;
    float (*labels)(const struct ui *);                                        /* width of the labels left of the plot; NULL: 0 */
    void (*draw)(struct ui *, const struct pane *, struct draw_list *);
    bool (*key)(struct ui *, const struct pane *, int key, unsigned mods);     /* true: taken. Asked before the common table */
    bool (*hover)(struct ui *, const struct pane *, float x, float y, struct hover *); /* false: nothing there */
    bool (*click)(struct ui *, const struct pane *, float x, float y, unsigned mods);  /* left button; true: taken (a triangle, a link). Else what hover tells is selected */
    void (*wheel)(struct ui *, const struct pane *, float rows);               /* scroll; NULL: none */
    void (*dump)(struct ui *, const struct pane *, struct json_writer *);      /* members of an open object: all that the picture tells */
    unsigned legend;           /* enum view_legend, ored */
    const struct view_key *keys; /* what `key` takes, up to one with key NULL; NULL: nothing */
};

/* Of view_kinds.c: to add a view, define `const struct view_kind view_NAME` and add its name there. */
extern const struct view_kind *const view_kinds[]; /* n_view_kinds, then NULL */
extern const unsigned n_view_kinds;

/* The plot within a pane: without the labels. */
struct box view_plot(const struct ui *, const struct view_kind *, struct box pane);
/* A tile of the grid is too narrow for the view's labels: they get VIEW_NARROW_EM widths of a character, numbers and short names fit. */
bool view_narrow(const struct ui *, const struct view_kind *, float pane_width);
#define VIEW_NARROW_EM 5.2f
/* "Nothing to show here": why, and what to do. */
void view_empty(const struct ui *, struct draw_list *, struct box, const char *why, const char *what_to_do);

#endif
