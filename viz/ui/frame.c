/* frame.c - the window around the views: title, tabs, notes, legend, panes, time axis, cursor, details, status line.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/version.h"
#include "viz/ui/private.h"
#include "viz/ui/time_axis.h"

static const float labels_part = 0.3f; /* of a tile's width, at the most */

float ui_label(const struct ui *u, struct draw_list *d, struct box b, struct text_style style, const char *text)
{
    float size = style.size > 0 ? style.size : u->theme.font_size;
    float ascent = text_ascent(u->text, style.face, size), descent = text_descent(u->text, style.face, size);
    return draw_text(d, b.x, roundf(b.y + (b.h + ascent - descent) / 2), &style, text);
}

void ui_hit(struct ui *u, struct box b, enum area area, unsigned index)
{
    array_push(&u->private->hits, (struct hit){b, area, index});
}

/* ---- layout ---- */

static bool two_panes(const struct ui *u)
{
    const struct view_kind *k = ui_kind(u);
    return k && !k->whole && u->n_runs > 1 && u->show == UI_BOTH;
}

static bool has_ribbon(const struct ui *u)
{
    const struct view_kind *k = ui_kind(u);
    return k && u->n_runs > 1 && k->axis == AXIS_TIME;
}

static const char *first_note(const struct ui *u, unsigned *run)
{
    for (*run = 0; *run < u->n_runs; ++*run)
        if (u->runs[*run].scene->notes) return u->runs[*run].scene->notes;
    return u->private->differ ? u->private->differ : u->private->left_out;
}

static struct box take_top(struct box *rest, float h)
{
    h = fminf(h, rest->h);
    struct box b = {rest->x, rest->y, rest->w, h};
    rest->y += h;
    rest->h -= h;
    return b;
}

static struct box take_bottom(struct box *rest, float h)
{
    h = fminf(h, rest->h);
    rest->h -= h;
    return (struct box){rest->x, rest->y + rest->h, rest->w, h};
}

/* The body is shared by one pane or two, each below a line that names its run; the ribbon lies between or below. */
static void panes_make(struct ui *u)
{
    struct ui_private *p = u->private;
    struct ui_layout *l = &u->layout;
    float head = u->n_runs > 1 ? roundf(u->theme.line + u->theme.pad / 2) : 0;
    const struct view_kind *k = ui_kind(u);
    struct box rest = l->body;
    l->ribbon = (struct box){rest.x, rest.y + rest.h, rest.w, 0};
    p->n_panes = 0;
    if (!k) return;
    if (grid_shown(u)) {
        p->pane[p->n_panes++] = (struct pane){grid_tile(u, p->focus), 0};
        return;
    }
    if (two_panes(u)) {
        float ribbon = has_ribbon(u) ? roundf(u->theme.line * 1.25f) : u->theme.pad, half = floorf((rest.h - ribbon) / 2);
        struct box a = take_top(&rest, half);
        l->ribbon = take_top(&rest, ribbon);
        take_top(&a, head);
        take_top(&rest, head);
        p->pane[p->n_panes++] = (struct pane){a, 0};
        p->pane[p->n_panes++] = (struct pane){rest, 1};
        return;
    }
    if (has_ribbon(u)) l->ribbon = take_bottom(&rest, roundf(u->theme.line * 1.25f));
    if (!k->whole) take_top(&rest, head);
    p->pane[p->n_panes++] = (struct pane){rest, u->show == UI_ONLY_B && u->n_runs > 1};
}

void ui_layout_make(struct ui *u)
{
    runs_sync(u);
    struct ui_layout *l = &u->layout;
    const struct theme *t = &u->theme;
    const struct view_kind *k = ui_kind(u);
    struct box rest = {0, 0, u->w, u->h};
    unsigned run;
    *l = (struct ui_layout){.window = rest};
    l->title = take_top(&rest, roundf(t->line + t->pad));
    l->tabs = take_top(&rest, roundf(t->line + 1.5f * t->pad));
    l->status = take_bottom(&rest, roundf(t->line + t->pad));
    if (first_note(u, &run)) l->notes = take_top(&rest, roundf(t->line + t->pad / 2));
    if (u->details && u->n_runs) {
        float w = roundf(fminf(fmaxf(rest.w * 0.24f, 22 * t->font_size), 32 * t->font_size));
        if (w < rest.w * 0.42f) l->details = (struct box){rest.x + rest.w - w, rest.y, w, rest.h};
        rest.w -= l->details.w;
    }
    l->legend = take_top(&rest, roundf(legend_height(u, rest.w)));
    if (k && k->axis == AXIS_TIME) l->axis = take_bottom(&rest, roundf(t->line + t->pad));
    l->body = rest;
    panes_make(u);
}

bool view_narrow(const struct ui *u, const struct view_kind *k, float pane_width)
{
    return grid_shown(u) && k->labels && k->labels(u) > pane_width * labels_part;
}

struct box view_plot(const struct ui *u, const struct view_kind *k, struct box pane)
{
    float want = view_narrow(u, k, pane.w) ? ceilf(VIEW_NARROW_EM * u->theme.font_size) : k->labels ? k->labels(u) : 0;
    float labels = fminf(want, floorf(pane.w / 2));
    return (struct box){pane.x + labels, pane.y, pane.w - labels, pane.h};
}

struct box ui_plot(const struct ui *u)
{
    const struct view_kind *k = ui_kind(u);
    if (grid_shown(u)) return grid_plot(u);
    return k ? view_plot(u, k, u->layout.body) : u->layout.body;
}

/* ---- title, tabs, notes ---- */

static void run_title(const struct scene *s, struct str *to)
{
    str_append(to, s->title);
    if (strcmp(s->run->back_end, "sim") != 0) str_printf(to, ", measured on %s", s->run->back_end);
}

static void title_text(const struct ui *u, struct str *to)
{
    if (!u->n_runs) return;
    if (grid_shown(u)) str_printf(to, "%u runs   ·   ", ui_n_runs(u));
    for (unsigned i = 0; i < u->n_runs; i++) {
        if (i) str_append(to, "   ·   ");
        run_title(u->runs[i].scene, to);
    }
    if (u->n_runs > 1 && ui_n_runs(u) > 2) str_printf(to, "   ·   2 of %u runs, O shows all", ui_n_runs(u));
}

static void title_draw(struct ui *u, struct draw_list *d, struct box b)
{
    struct str left = {0}, right = {0};
    const struct theme *t = &u->theme;
    title_text(u, &left);
    if (u->n_runs) {
        const struct run *r = u->runs[0].scene->run;
        str_printf(&right, "%s time   ·   seed %llu   ·   ", strcmp(r->back_end, "sim") == 0 ? "simulated" : "wall-clock", (unsigned long long)r->seed);
    }
    str_append(&right, "Trainyard " TRAINYARD_VERSION);
    draw_rect(d, b, ROLE_BAR);
    float taken = ui_label(u, d, (struct box){b.x + b.w - t->pad, b.y, 0, b.h}, (struct text_style){.role = ROLE_TEXT_DIM, .align = ALIGN_RIGHT, .max_width = b.w - 2 * t->pad}, str_text(&right));
    struct text_style bold = {.face = FACE_BOLD, .max_width = b.w - taken - 4 * t->pad};
    if (bold.max_width > 0) ui_label(u, d, (struct box){b.x + t->pad, b.y, b.w, b.h}, bold, str_text(&left));
    str_free(&left);
    str_free(&right);
}

/* Where tabs are too many for the width, all but the present one are their numbers only. */
static float tab_width(const struct ui *u, unsigned i, bool title)
{
    char number[16];
    const struct theme *t = &u->theme;
    snprintf(number, sizeof number, "%u", i + 1);
    float key = text_width(u->text, FACE_SANS, t->font_size, number);
    return ceilf(key + 2 * t->pad + (title ? t->pad / 2 + text_width(u->text, FACE_BOLD, t->font_size, view_kinds[i]->title) : 0));
}

static bool tabs_fit(const struct ui *u, float width)
{
    float all = u->theme.pad / 2;
    for (unsigned i = 0; i < n_view_kinds; i++) all += tab_width(u, i, true);
    return all <= width;
}

static void tab_draw(struct ui *u, struct draw_list *d, struct box tab, unsigned i, bool title)
{
    char number[16];
    const struct theme *t = &u->theme;
    bool here = u->view == i;
    snprintf(number, sizeof number, "%u", i + 1);
    if (here) draw_rect(d, tab, ROLE_BACKGROUND);
    if (here) draw_rect(d, (struct box){tab.x, tab.y, tab.w, 2}, ROLE_ACCENT);
    float x = tab.x + t->pad;
    x += ui_label(u, d, (struct box){x, tab.y, tab.w, tab.h}, (struct text_style){.role = ROLE_TEXT_DIM}, number) + t->pad / 2;
    struct text_style style = {.face = here ? FACE_BOLD : FACE_SANS, .max_width = u->w - x - t->pad};
    if (title && style.max_width > 0) ui_label(u, d, (struct box){x, tab.y, tab.w, tab.h}, style, view_kinds[i]->title);
    if (u->private->area == AREA_TABS && u->private->item == i) draw_frame(d, tab, t->role[ROLE_ACCENT], 2);
    ui_hit(u, tab, AREA_TABS, i);
}

static void tabs_draw(struct ui *u, struct draw_list *d, struct box b)
{
    const struct theme *t = &u->theme;
    float x = b.x + t->pad / 2;
    bool titles = tabs_fit(u, b.w);
    draw_rect(d, b, ROLE_BAR);
    draw_rect(d, (struct box){b.x, b.y + b.h - 1, b.w, 1}, ROLE_BORDER);
    for (unsigned i = 0; i < n_view_kinds; i++) {
        bool title = titles || u->view == i;
        struct box tab = {x, b.y, tab_width(u, i, title), b.h};
        if (tab.x + tab.w <= b.x + b.w || u->view == i) tab_draw(u, d, tab, i, title);
        x += tab.w;
    }
    static const char hint[] = "? keys    / search    : commands";
    struct text_style style = {.role = ROLE_TEXT_DIM, .align = ALIGN_RIGHT};
    float room = b.x + b.w - 2 * t->pad - x;
    if (text_width(u->text, FACE_SANS, t->font_size, hint) < room) ui_label(u, d, (struct box){b.x + b.w - t->pad, b.y, 0, b.h}, style, hint);
}

/* The first line of the notes; all of them are in the details when nothing is selected. */
static void notes_draw(struct ui *u, struct draw_list *d, struct box b)
{
    unsigned run;
    const char *note = first_note(u, &run);
    if (!note || b.h <= 0) return;
    struct str s = {0};
    str_append(&s, "⚠ ");
    if (u->n_runs > 1 && run < u->n_runs) str_printf(&s, "%c: ", 'A' + run);
    str_append_n(&s, note, strcspn(note, "\n"));
    draw_rect(d, b, ROLE_PANEL);
    draw_rect(d, (struct box){b.x, b.y, 3, b.h}, ROLE_WARNING);
    ui_label(u, d, (struct box){b.x + u->theme.pad, b.y, b.w, b.h}, (struct text_style){.max_width = b.w - 2 * u->theme.pad}, str_text(&s));
    str_free(&s);
}

/* ---- panes ---- */

static void pane_head(struct ui *u, struct draw_list *d, const struct pane *p)
{
    float h = roundf(u->theme.line + u->theme.pad / 2);
    struct box b = {p->box.x, p->box.y - h, p->box.w, h};
    char name[2] = {(char)('A' + p->run), 0};
    draw_rect(d, b, ROLE_PANEL);
    float w = ui_label(u, d, (struct box){b.x + u->theme.pad, b.y, b.w, b.h}, (struct text_style){.face = FACE_BOLD, .role = ROLE_ACCENT}, name);
    struct text_style style = {.max_width = b.w - w - 3 * u->theme.pad};
    struct str title = {0};
    run_title(u->runs[p->run].scene, &title);
    ui_label(u, d, (struct box){b.x + w + 2 * u->theme.pad, b.y, b.w, b.h}, style, str_text(&title));
    str_free(&title);
}

static void mark_draw(struct ui *u, struct draw_list *d, struct box plot)
{
    if (u->mark_from_ns < 0) return;
    float a = fmaxf(ui_x_of(u, plot, u->mark_from_ns), plot.x), b = fminf(ui_x_of(u, plot, u->mark_to_ns), plot.x + plot.w);
    if (b <= a) return;
    uint32_t argb = u->theme.role[ROLE_ACCENT];
    draw_rect(d, (struct box){a, plot.y, b - a, plot.h}, ROLE_SELECTION);
    draw_line(d, (struct point){a, plot.y}, (struct point){a, plot.y + plot.h}, argb, 2);
    draw_line(d, (struct point){b, plot.y}, (struct point){b, plot.y + plot.h}, argb, 2);
    draw_rect(d, (struct box){a, plot.y, b - a, 3}, ROLE_ACCENT);
}

static void moment_draw(struct ui *u, struct draw_list *d, struct box plot, int64_t ns, enum role role)
{
    float x = roundf(ui_x_of(u, plot, ns));
    if (ns < u->from_ns || ns > u->to_ns) return;
    draw_rect(d, (struct box){fminf(x, plot.x + plot.w - 1), plot.y, 1, plot.h}, role);
}

void pane_draw(struct ui *u, struct draw_list *d, const struct pane *p)
{
    const struct view_kind *k = ui_kind(u);
    struct box plot = view_plot(u, k, p->box);
    if (u->n_runs > 1 && !k->whole) pane_head(u, d, p);
    if (p->box.h < 1 || p->box.w < 1) return;
    draw_clip(d, p->box);
    if (k->axis == AXIS_TIME) time_axis_grid(u, d, plot);
    k->draw(u, p, d);
    if (k->axis == AXIS_TIME) {
        mark_draw(u, d, plot);
        if (u->anchor_ns >= 0) moment_draw(u, d, plot, u->anchor_ns, ROLE_ACCENT);
        moment_draw(u, d, plot, u->cursor_ns, ROLE_CURSOR);
    }
    draw_unclip(d);
}

static void axis_draw(struct ui *u, struct draw_list *d)
{
    struct box axis = u->layout.axis, plot = ui_plot(u);
    if (axis.h <= 0) return;
    draw_rect(d, axis, ROLE_PANEL);
    if (grid_shown(u)) grid_axes_draw(u, d);
    else time_axis_draw(u, d, axis, plot);
}

void view_empty(const struct ui *u, struct draw_list *d, struct box b, const char *why, const char *what_to_do)
{
    const struct theme *t = &u->theme;
    float y = b.y + b.h / 2 - t->line, width = b.w - 4 * t->pad;
    struct text_style head = {.face = FACE_BOLD, .size = t->font_size * 1.25f, .align = ALIGN_CENTRE, .max_width = width};
    struct text_style body = {.role = ROLE_TEXT_DIM, .align = ALIGN_CENTRE, .max_width = width};
    ui_label(u, d, (struct box){b.x + b.w / 2, y, 0, t->line}, head, why);
    ui_label(u, d, (struct box){b.x + b.w / 2, y + 1.75f * t->line, 0, t->line}, body, what_to_do);
}

static void body_draw(struct ui *u, struct draw_list *d)
{
    if (!u->n_runs) {
        view_empty(u, d, u->layout.body, u->private->error ? u->private->error : "No run is open", "trainyard run SCENARIO.json -o DIR makes runs; trainyard-view DIR shows them");
        return;
    }
    if (grid_shown(u)) grid_draw(u, d);
    else for (unsigned i = 0; i < u->private->n_panes; i++) pane_draw(u, d, &u->private->pane[i]);
    if (u->layout.ribbon.h > 1 && has_ribbon(u)) ribbon_draw(u, d, u->layout.ribbon, ui_plot(u));
    axis_draw(u, d);
}

/* ---- all ---- */

void ui_draw(struct ui *u, struct draw_list *d)
{
    ui_layout_make(u);
    const struct ui_layout *l = &u->layout;
    array_clear(&u->private->hits);
    draw_begin(d, u->w, u->h, &u->theme);
    body_draw(u, d);
    title_draw(u, d, l->title);
    tabs_draw(u, d, l->tabs);
    notes_draw(u, d, l->notes);
    if (l->legend.h > 0) legend_draw(u, d, l->legend);
    if (l->details.w > 0) details_draw(u, d, l->details);
    status_draw(u, d, l->status);
    if (u->help)
        overlay_help(u, d);
    else if (u->private->menu.kind != MENU_NONE)
        menu_draw(u, d);
    else
        overlay_tooltip(u, d);
    u->dirty = false;
}
