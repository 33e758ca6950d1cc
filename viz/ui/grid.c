/* grid.c - all runs at once, small: the same view for each, on one window of time, one cursor and one scale.
 *
 * One of them has the focus; the viewer shows it as a single run would be: details, selection, steps and search are its. Keys and clicks move the focus. Two
 * bear the letters A and B: outside of the grid these lie one over the other. Views that show both runs at once (ledgers, comparison, job) show A and B.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <limits.h>
#include <math.h>

#include "base/str.h"
#include "viz/ui/private.h"
#include "viz/ui/time_axis.h"

static const float wide = 1.9f, empty_cell = 0.18f; /* width to height of a good picture; what a cell without one costs */

bool grid_shown(const struct ui *u)
{
    return u->grid && u->private->n_all > 1 && u->view < n_view_kinds && !view_kinds[u->view]->whole;
}

/* ---- where they are ---- */

static float head_height(const struct ui *u)
{
    return roundf(u->theme.line + u->theme.pad / 2);
}

unsigned grid_columns(const struct ui *u)
{
    struct box b = u->layout.body;
    unsigned n = u->private->n_all, best = 1;
    float least = INFINITY;
    if (u->grid_columns) return u->grid_columns;
    for (unsigned c = 1; c <= n; c++) {
        unsigned rows = (n + c - 1) / c;
        float w = b.w / (float)c, h = b.h / (float)rows - head_height(u);
        float cost = fabsf(logf(fmaxf(w, 1) / fmaxf(h, 1) / wide)) + empty_cell * (float)(c * rows - n);
        if (cost >= least) continue;
        least = cost;
        best = c;
    }
    return best;
}

static struct box cell(const struct ui *u, unsigned place)
{
    struct box b = u->layout.body;
    unsigned columns = grid_columns(u), rows = (u->private->n_all + columns - 1) / columns, c = place % columns, r = place / columns;
    float x0 = roundf(b.w * (float)c / (float)columns), x1 = roundf(b.w * (float)(c + 1) / (float)columns);
    float y0 = roundf(b.h * (float)r / (float)rows), y1 = roundf(b.h * (float)(r + 1) / (float)rows);
    float gap = c + 1 < columns ? roundf(u->theme.pad / 2) : 0;
    return (struct box){b.x + x0, b.y + y0, x1 - x0 - gap, y1 - y0};
}

struct box grid_tile(const struct ui *u, unsigned place)
{
    struct box b = cell(u, place);
    float head = head_height(u);
    return (struct box){b.x, b.y + head, b.w, fmaxf(0, b.h - head)};
}

int grid_at(const struct ui *u, float x, float y)
{
    for (unsigned i = 0; i < u->private->n_all; i++)
        if (box_has(cell(u, i), x, y)) return (int)i;
    return -1;
}

/* By the pointer, and below the tiles by its column; else the focus. */
static unsigned pointed(const struct ui *u)
{
    const struct pointer *p = &u->private->pointer;
    int at = p->drag == DRAG_NONE ? grid_at(u, p->x, p->y) : -1;
    if (at >= 0) return (unsigned)at;
    for (unsigned i = 0; i < u->private->n_all && box_has(u->layout.axis, p->x, p->y); i++)
        if (p->x >= cell(u, i).x && p->x < cell(u, i).x + cell(u, i).w) return i;
    return u->private->focus;
}

struct box grid_plot(const struct ui *u)
{
    return view_plot(u, view_kinds[u->view], grid_tile(u, pointed(u)));
}

/* ---- drawn ---- */

static void head_draw(struct ui *u, struct draw_list *d, unsigned place)
{
    const struct ui_private *p = u->private;
    const struct theme *t = &u->theme;
    struct box c = cell(u, place), b = {c.x, c.y, c.w, head_height(u)};
    struct str name = {0};
    bool paper = u->focus == UINT_MAX, focus = place == p->focus && !paper; /* nothing is chosen on paper */
    const char *letter = paper ? NULL : place == p->a ? "A" : place == p->b ? "B" : NULL;
    ui_run_name(u, place, &name);
    draw_rect(d, b, focus ? ROLE_BAR : ROLE_PANEL);
    float x = b.x + t->pad;
    if (letter) x += ui_label(u, d, (struct box){x, b.y, b.w, b.h}, (struct text_style){.face = FACE_BOLD, .role = ROLE_ACCENT}, letter) + t->pad;
    struct text_style style = {.face = focus ? FACE_BOLD : FACE_SANS, .max_width = b.x + b.w - x - t->pad};
    if (style.max_width > 0) ui_label(u, d, (struct box){x, b.y, b.w, b.h}, style, str_text(&name));
    if (focus) draw_rect(d, (struct box){b.x, b.y, b.w, 2}, ROLE_ACCENT);
    if (focus) draw_frame(d, c, t->role[ROLE_ACCENT], 1);
    str_free(&name);
}

void grid_draw(struct ui *u, struct draw_list *d)
{
    for (unsigned i = 0; i < u->private->n_all; i++) {
        struct lent_run l;
        struct pane pane = {grid_tile(u, i), 0};
        runs_lend(u, i, &l);
        pane_draw(u, d, &pane);
        runs_return(u, &l);
        head_draw(u, d, i);
    }
}

void grid_axes_draw(struct ui *u, struct draw_list *d)
{
    struct box all = u->layout.axis;
    const struct view_kind *k = view_kinds[u->view];
    for (unsigned i = 0; i < grid_columns(u); i++) {
        struct box tile = grid_tile(u, i), axis = {tile.x, all.y, tile.w, all.h};
        time_axis_draw(u, d, axis, view_plot(u, k, axis));
    }
}

void grid_picture(struct ui *u, struct draw_list *d, struct box body, struct box axis)
{
    u->layout.body = body;
    u->layout.axis = axis;
    runs_sync(u);
    grid_draw(u, d);
    if (view_kinds[u->view]->axis == AXIS_TIME) grid_axes_draw(u, d);
}

bool grid_hover(struct ui *u, float x, float y, struct hover *h)
{
    int at = grid_at(u, x, y);
    const struct view_kind *k = view_kinds[u->view];
    struct lent_run l;
    if (at < 0 || !k->hover) return false;
    struct pane pane = {grid_tile(u, (unsigned)at), 0};
    if (!box_has(pane.box, x, y)) return false;
    runs_lend(u, (unsigned)at, &l);
    bool found = k->hover(u, &pane, x, y, h);
    runs_return(u, &l);
    return found;
}

void grid_dump(struct ui *u, struct json_writer *w)
{
    const struct view_kind *k = view_kinds[u->view];
    json_write_key(w, "grid");
    json_write_array(w);
    for (unsigned i = 0; i < u->private->n_all && grid_shown(u); i++) {
        struct str name = {0};
        struct lent_run l;
        struct pane pane = {grid_tile(u, i), 0};
        const float v[] = {pane.box.x, pane.box.y, pane.box.w, pane.box.h};
        ui_run_name(u, i, &name);
        json_write_object(w);
        json_write_key(w, "name");
        json_write_string(w, str_text(&name));
        json_write_key(w, "letter");
        json_write_string(w, i == u->private->a ? "A" : i == u->private->b ? "B" : NULL);
        json_write_key(w, "focused");
        json_write_bool(w, i == u->private->focus);
        json_write_key(w, "box");
        json_write_array_inline(w);
        for (unsigned n = 0; n < 4; n++) json_write_double(w, (double)v[n]);
        json_write_end(w);
        runs_lend(u, i, &l);
        if (k->dump) k->dump(u, &pane, w);
        runs_return(u, &l);
        json_write_end(w);
        str_free(&name);
    }
    json_write_end(w);
}

/* ---- keys ---- */

void grid_focus(struct ui *u, unsigned place)
{
    struct ui_private *p = u->private;
    if (place >= p->n_all || place == p->focus) return;
    p->focus = place;
    runs_sync(u);
    ui_layout_make(u);
    u->dirty = true;
}

static bool in_grid(struct ui *u)
{
    if (u->private->n_all < 2) ui_say(u, "there is one run only: give several, or a tree of runs, to see them side by side");
    else if (!grid_shown(u)) ui_say(u, "O shows all runs in a grid; there you can choose which are A and B");
    return grid_shown(u);
}

void act_grid(struct ui *u, int unused)
{
    (void)unused;
    struct ui_private *p = u->private;
    if (p->n_all < 2) {
        in_grid(u);
        return;
    }
    history_note(u);
    u->grid = !grid_shown(u);
    if (u->grid && view_kinds[u->view]->whole) ui_view(u, "gantt");
    if (u->grid) ui_say(u, "all %u runs: Ctrl+arrows choose one, Shift+A and Shift+B make it A or B, O again shows A over B", p->n_all);
    runs_sync(u);
    u->dirty = true;
}

/* direction: -1, 1 within the row, -2, 2 from row to row; no further than the edge. */
void act_run(struct ui *u, int direction)
{
    if (!in_grid(u)) return;
    int columns = (int)grid_columns(u), at = (int)u->private->focus, n = (int)u->private->n_all;
    int to = direction == -1 || direction == 1 ? at + direction : at + direction / 2 * columns;
    if (to >= 0 && to < n) grid_focus(u, (unsigned)to);
}

void act_choose(struct ui *u, int b)
{
    struct ui_private *p = u->private;
    struct str name[2] = {{0}, {0}};
    if (!in_grid(u)) return;
    runs_choose(u, b, p->focus);
    ui_run_name(u, p->a, &name[0]);
    ui_run_name(u, p->b, &name[1]);
    ui_say(u, "A: %s  B: %s  O shows A over B, 6 compares them", str_text(&name[0]), str_text(&name[1]));
    str_free(&name[0]);
    str_free(&name[1]);
}
