/* navigate.c - the time window and the cursor: zoom, pan, fit, and the parts that Tab visits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/units.h"
#include "viz/ui/private.h"

enum { LEAST_WINDOW_NS = 1000 };
static const double zoom_step = 1.5, pan_part = 0.15;

/* ---- the window ---- */

void ui_window_quietly(struct ui *u, int64_t from_ns, int64_t to_ns)
{
    int64_t begin = ui_begin(u), end = ui_end(u), width = to_ns - from_ns;
    if (width < LEAST_WINDOW_NS) width = LEAST_WINDOW_NS;
    if (width > end - begin) width = end - begin;
    if (from_ns < begin) from_ns = begin;
    if (from_ns > end - width) from_ns = end - width;
    u->from_ns = from_ns;
    u->to_ns = from_ns + width;
    u->dirty = true;
}

void ui_window(struct ui *u, int64_t from_ns, int64_t to_ns)
{
    history_note(u);
    ui_window_quietly(u, from_ns, to_ns);
}

void ui_cursor(struct ui *u, int64_t ns)
{
    int64_t begin = ui_begin(u), end = ui_end(u), width = u->to_ns - u->from_ns;
    u->cursor_ns = ns < begin ? begin : ns > end ? end : ns;
    if (u->cursor_ns < u->from_ns) ui_window_quietly(u, u->cursor_ns - width / 10, u->cursor_ns - width / 10 + width);
    if (u->cursor_ns > u->to_ns) ui_window_quietly(u, u->cursor_ns + width / 10 - width, u->cursor_ns + width / 10);
    range_follow(u);
    u->dirty = true;
}

/* The moment below the pointer when it is over the plot, else the cursor when it is in sight, else the middle. */
static int64_t zoom_centre(const struct ui *u)
{
    struct box plot = ui_plot(u);
    const struct pointer *p = &u->private->pointer;
    if (box_has((struct box){plot.x, u->layout.body.y, plot.w, u->layout.body.h}, p->x, p->y)) return ui_time_of(u, plot, p->x);
    if (u->cursor_ns >= u->from_ns && u->cursor_ns <= u->to_ns) return u->cursor_ns;
    return u->from_ns + (u->to_ns - u->from_ns) / 2;
}

void ui_zoom(struct ui *u, double factor)
{
    int64_t centre = zoom_centre(u), width = u->to_ns - u->from_ns;
    double part = (double)(centre - u->from_ns) / (double)width, wide = (double)width / factor;
    if (wide > (double)(ui_end(u) - ui_begin(u))) wide = (double)(ui_end(u) - ui_begin(u));
    if (wide < LEAST_WINDOW_NS) wide = LEAST_WINDOW_NS;
    int64_t from = centre - (int64_t)(part * wide);
    ui_window(u, from, from + (int64_t)wide);
}

void act_zoom(struct ui *u, int direction)
{
    ui_zoom(u, direction > 0 ? zoom_step : 1 / zoom_step);
}

void act_pan(struct ui *u, int direction)
{
    int64_t by = (int64_t)(pan_part * (double)(u->to_ns - u->from_ns)) * direction;
    ui_window(u, u->from_ns + by, u->to_ns + by);
}

void act_all(struct ui *u, int unused)
{
    (void)unused;
    ui_window(u, ui_begin(u), ui_end(u));
}

/* ---- fit ---- */

static int64_t or_end(int64_t ns, int64_t end)
{
    return ns >= 0 ? ns : end;
}

static bool fit_job(const struct ui *u, int64_t *from, int64_t *to)
{
    bool any = false;
    for (unsigned i = 0; i < u->n_runs; i++) {
        int32_t n = ui_selected_job(u, i);
        if (n < 0) continue;
        const struct scene_job *j = &u->runs[i].scene->jobs[n];
        int64_t end = or_end(j->finished_ns, u->runs[i].scene->end_ns);
        *from = any && *from < j->submit_ns ? *from : j->submit_ns;
        *to = any && *to > end ? *to : end;
        any = true;
    }
    return any;
}

/* What F shows: the marked range, else the selected job in all runs, else an hour around the picked moment. */
static bool fit_target(const struct ui *u, int64_t *from, int64_t *to)
{
    if (u->mark_from_ns >= 0) {
        *from = u->mark_from_ns;
        *to = u->mark_to_ns;
        return true;
    }
    if (u->selection.kind == SELECTED_JOB && fit_job(u, from, to)) {
        int64_t edge = (*to - *from) / 20;
        *from -= edge;
        *to += edge;
        return true;
    }
    if (u->selection.kind == SELECTED_NOTHING) return false;
    int64_t at = u->selection.kind == SELECTED_EVENT ? u->runs[u->selection.run].scene->events[u->selection.event].time_ns
                 : u->selection.at_ns >= 0           ? u->selection.at_ns
                                                     : u->cursor_ns;
    *from = at - NS_PER_HOUR / 2;
    *to = at + NS_PER_HOUR / 2;
    return true;
}

void act_fit(struct ui *u, int unused)
{
    (void)unused;
    struct ui_private *p = u->private;
    int64_t from, to, width = u->to_ns - u->from_ns;
    if (!fit_target(u, &from, &to)) {
        ui_say(u, "nothing is selected to fit: click a job, or drag a range of time");
        return;
    }
    p->did = -1;
    if (u->from_ns == p->fit_from_ns && u->to_ns == p->fit_to_ns && p->unfit_ns > 0) { /* again: centre it in the width it had */
        int64_t middle = from + (to - from) / 2;
        ui_window(u, middle - p->unfit_ns / 2, middle - p->unfit_ns / 2 + p->unfit_ns);
        p->unfit_ns = 0;
        return;
    }
    p->unfit_ns = width;
    ui_window(u, from, to);
    p->fit_from_ns = u->from_ns;
    p->fit_to_ns = u->to_ns;
}

/* ---- parts, rows and lines ---- */

static unsigned area_items(struct ui *u, enum area a)
{
    switch (a) {
    case AREA_DETAILS: return u->details ? details_links(u) : 0;
    case AREA_LEGEND: return legend_count(u);
    case AREA_TABS: return n_view_kinds;
    default: return 1;
    }
}

void act_area(struct ui *u, int direction)
{
    struct ui_private *p = u->private;
    do p->area = (p->area + (unsigned)(direction + N_AREAS)) % N_AREAS;
    while (area_items(u, p->area) == 0);
    p->item = p->area == AREA_TABS ? u->view : 0;
    u->dirty = true;
}

static void move_item(struct ui *u, int direction)
{
    struct ui_private *p = u->private;
    unsigned n = area_items(u, p->area);
    if (n == 0) return;
    p->item = (p->item + n + (unsigned)direction) % n;
    u->dirty = true;
}

static void scroll_view(struct ui *u, float rows)
{
    const struct view_kind *k = ui_kind(u);
    if (k && k->wheel && u->private->n_panes) k->wheel(u, &u->private->pane[0], rows);
    u->dirty = true;
}

void act_vertical(struct ui *u, int direction)
{
    if (u->private->area != AREA_BODY)
        move_item(u, direction);
    else
        scroll_view(u, (float)direction);
}

void act_page(struct ui *u, int direction)
{
    if (u->help) {
        if (direction > 0 || u->private->help_page > 0) u->private->help_page += (unsigned)direction;
        u->dirty = true;
        return;
    }
    scroll_view(u, (float)direction * 20);
}

/* A hundredth of the window, so that the cursor reaches any pixel after a zoom. */
void act_horizontal(struct ui *u, int direction)
{
    if (u->private->area != AREA_BODY) {
        move_item(u, direction);
        return;
    }
    int64_t by = (u->to_ns - u->from_ns) / 100;
    ui_cursor(u, u->cursor_ns + direction * (by > 0 ? by : 1));
}
