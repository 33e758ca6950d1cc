/* input.c - events to actions: keys by the table, the wheel, and the pointer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "viz/ui/private.h"

enum { LEAST_WIDTH = 320, LEAST_HEIGHT = 240, MOST_SIZE = 16384 };
static const float click_px = 4, wheel_rows = 3;

/* ---- keys ---- */

static void pane_at(struct ui *u, float x, float y, const struct pane **out)
{
    *out = u->private->n_panes ? &u->private->pane[0] : NULL;
    for (unsigned i = 0; i < u->private->n_panes; i++)
        if (box_has(u->private->pane[i].box, x, y)) *out = &u->private->pane[i];
}

static bool view_takes(struct ui *u, int key, unsigned mods)
{
    const struct view_kind *k = ui_kind(u);
    const struct pane *pane;
    if (!k || !k->key || u->help || u->private->area != AREA_BODY) return false;
    pane_at(u, u->private->pointer.x, u->private->pointer.y, &pane);
    return pane && k->key(u, pane, key, mods);
}

static void on_key(struct ui *u, int key, unsigned mods)
{
    struct ui_private *p = u->private;
    u->message[0] = 0;
    u->dirty = true;
    if (menu_key(u, key, mods)) return;
    if (p->field.kind != FIELD_NONE) {
        if (key >= UI_ESC) field_key(u, key, mods); /* printable ones come as text */
        return;
    }
    int prefix = p->prefix;
    p->prefix = 0;
    if (!prefix && action_is_prefix(key, mods)) {
        p->prefix = key;
        return;
    }
    const struct action *a = action_of_key(prefix, key, mods);
    p->doing = a ? (int)(a - actions) : -1;
    if (!prefix && view_takes(u, key, mods)) return;
    if (a) a->run(u, a->arg);
}

/* Printable keys come as text, since where they are on the keyboard differs. */
static void on_text(struct ui *u, const char *text)
{
    if (u->private->field.kind != FIELD_NONE) {
        field_text(u, text);
        return;
    }
    for (; *text; text++)
        if ((unsigned char)*text < 0x7f) on_key(u, tolower((unsigned char)*text), isupper((unsigned char)*text) ? UI_SHIFT : 0);
}

/* ---- wheel ---- */

static void on_wheel(struct ui *u, const struct ui_event *e)
{
    struct box plot = ui_plot(u);
    const struct view_kind *k = ui_kind(u);
    const struct pane *pane;
    u->dirty = true;
    if (box_has(u->layout.details, e->x, e->y)) {
        u->private->details_scroll = fmaxf(0, u->private->details_scroll - e->wheel * wheel_rows * u->theme.line);
        return;
    }
    pane_at(u, e->x, e->y, &pane);
    bool zooms = k && k->axis == AXIS_TIME && e->x >= plot.x && !(e->mods & UI_SHIFT);
    if (zooms)
        ui_zoom(u, pow(e->mods & UI_CTRL ? 1.05 : 1.25, (double)e->wheel));
    else if (k && k->wheel && pane)
        k->wheel(u, pane, -e->wheel * wheel_rows);
}

/* ---- pointer ---- */

static const struct hit *hit_at(const struct ui *u, float x, float y)
{
    for (size_t i = u->private->hits.n; i-- > 0;)
        if (box_has(u->private->hits.v[i].box, x, y)) return &u->private->hits.v[i];
    return NULL;
}

static void hit_do(struct ui *u, const struct hit *h)
{
    switch (h->area) {
    case AREA_TABS: act_view(u, (int)h->index); break;
    case AREA_LEGEND: legend_isolate(u, h->index); break;
    case AREA_DETAILS: details_follow(u, h->index); break;
    case AREA_MENU: menu_click(u, h->index); break;
    default: break;
    }
}

static bool over_time(const struct ui *u, float x, float y, bool *axis)
{
    const struct view_kind *k = ui_kind(u);
    struct box plot = ui_plot(u), body = u->layout.body;
    *axis = box_has(u->layout.axis, x, y);
    return k && k->axis == AXIS_TIME && (*axis || box_has((struct box){plot.x, body.y, plot.w, body.h}, x, y));
}

static void on_press(struct ui *u, const struct ui_event *e)
{
    struct pointer *p = &u->private->pointer;
    bool axis, time;
    int tile = grid_shown(u) ? grid_at(u, e->x, e->y) : -1;
    u->message[0] = 0;
    u->dirty = true;
    p->x = e->x;
    p->y = e->y;
    if (tile >= 0 && !u->help) grid_focus(u, (unsigned)tile);
    time = over_time(u, e->x, e->y, &axis);
    if (u->help) {
        u->help = false;
        return;
    }
    const struct hit *h = hit_at(u, e->x, e->y);
    if (u->private->menu.kind != MENU_NONE && (!h || h->area != AREA_MENU)) {
        menu_close(u);
        field_close(u);
        return;
    }
    if (h && e->button == UI_BUTTON_LEFT) {
        struct hit copy = *h;
        hit_do(u, &copy);
        return;
    }
    bool pan = e->button != UI_BUTTON_LEFT || (e->mods & UI_SHIFT);
    *p = (struct pointer){e->x, e->y, DRAG_NONE, false, e->x, e->y, ui_time_of(u, ui_plot(u), e->x), u->from_ns, u->to_ns, 0};
    if (!box_has(u->layout.body, e->x, e->y) && !axis) return;
    p->drag = axis && time ? DRAG_SCRUB : pan ? DRAG_PAN : DRAG_RANGE;
    if (p->drag == DRAG_SCRUB) ui_cursor(u, p->from_ns);
}

static void pan_to(struct ui *u, float x, float y)
{
    struct pointer *p = &u->private->pointer;
    struct box plot = ui_plot(u);
    const struct view_kind *k = ui_kind(u);
    const struct pane *pane;
    if (k && k->axis == AXIS_TIME && plot.w > 0) {
        int64_t by = (int64_t)((double)(p->from_x - x) / (double)plot.w * (double)(p->window_to_ns - p->window_from_ns));
        ui_window(u, p->window_from_ns + by, p->window_to_ns + by);
    }
    pane_at(u, p->from_x, p->from_y, &pane);
    float rows = truncf((p->from_y - y) / u->theme.line);
    if (k && k->wheel && pane && rows != p->rows) k->wheel(u, pane, rows - p->rows);
    p->rows = rows;
}

static void mark(struct ui *u, int64_t a, int64_t b)
{
    u->anchor_ns = -1;
    range_set(u, a, b);
}

static void on_move(struct ui *u, const struct ui_event *e)
{
    struct pointer *p = &u->private->pointer;
    bool axis, was_axis;
    p->x = e->x;
    p->y = e->y;
    u->dirty = true;
    if (p->drag == DRAG_NONE) return;
    if (fabsf(e->x - p->from_x) > click_px || fabsf(e->y - p->from_y) > click_px) p->moved = true;
    if (!p->moved) return;
    int64_t ns = ui_time_of(u, ui_plot(u), e->x);
    if (p->drag == DRAG_PAN) pan_to(u, e->x, e->y);
    if (p->drag == DRAG_SCRUB) ui_cursor(u, ns);
    if (p->drag == DRAG_RANGE && over_time(u, p->from_x, p->from_y, &was_axis) && over_time(u, p->from_x, e->y, &axis)) mark(u, p->from_ns, ns);
}

static void click(struct ui *u, float x, float y, unsigned mods)
{
    const struct view_kind *k = ui_kind(u);
    const struct pane *pane;
    struct str text = {0};
    struct hover h = {.text = &text, .selection = {.job = -1, .at_ns = -1}};
    bool axis;
    u->private->area = AREA_BODY;
    pane_at(u, x, y, &pane);
    if (k && k->click && pane && k->click(u, pane, x, y, mods)) return;
    if (over_time(u, x, y, &axis)) ui_cursor(u, ui_time_of(u, ui_plot(u), x));
    if (k && k->hover && pane && k->hover(u, pane, x, y, &h)) ui_select(u, &h.selection);
    if (u->anchor_ns < 0) range_clear(u); /* else the click has moved the cursor to measure */
    str_free(&text);
}

static void on_release(struct ui *u, const struct ui_event *e)
{
    struct pointer *p = &u->private->pointer;
    bool clicked = p->drag == DRAG_RANGE && !p->moved;
    p->drag = DRAG_NONE;
    if (clicked) click(u, e->x, e->y, e->mods);
    u->dirty = true;
}

/* ---- all ---- */

static void on_resize(struct ui *u, const struct ui_event *e)
{
    u->w = fminf(fmaxf(e->x, LEAST_WIDTH), MOST_SIZE);
    u->h = fminf(fmaxf(e->y, LEAST_HEIGHT), MOST_SIZE);
    u->dirty = true;
}

void ui_event(struct ui *u, const struct ui_event *e)
{
    ui_layout_make(u); /* boxes may be asked before the first draw */
    u->private->doing = e->kind == UI_WHEEL || e->kind == UI_MOVE ? N_ACTIONS + (int)e->kind : -1;
    if (e->kind == UI_PRESS || e->kind == UI_RELEASE) u->private->did = -1;
    switch (e->kind) {
    case UI_KEY: on_key(u, e->key, e->mods); break;
    case UI_TEXT: on_text(u, e->text); break;
    case UI_WHEEL: on_wheel(u, e); break;
    case UI_PRESS: on_press(u, e); break;
    case UI_RELEASE: on_release(u, e); break;
    case UI_MOVE: on_move(u, e); break;
    case UI_RESIZE: on_resize(u, e); break;
    case UI_QUIT: u->quit = true; break;
    }
    runs_sync(u);
}
