/* axis_labels.c - what is named on the time axis: the cursor, the second cursor, the length between them, bookmarks.
 *
 * A bookmark is a flag at the upper edge, or a bar as long as its range, and its number where there is room.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "base/units.h"
#include "viz/ui/private.h"
#include "viz/ui/time_axis.h"

struct row {
    const struct ui *u;
    struct box axis, plot;
    struct axis_labels *to;
};

static bool covers(const struct box *a, const struct box *b, float pad)
{
    return a->x < b->x + b->w + pad && b->x < a->x + a->w + pad;
}

/* Centred at x, kept within the window; left out when it would cover an earlier one. */
static void add(struct row *r, float x, struct str *text, enum role role, enum role ink)
{
    const struct ui *u = r->u;
    float w = ceilf(text_width(u->text, FACE_SANS, u->theme.font_size, str_text(text)) + u->theme.pad);
    struct axis_label l = {.role = role, .ink = ink};
    x = fminf(fmaxf(x - w / 2, r->plot.x), r->axis.x + r->axis.w - w);
    l.box = (struct box){roundf(x), r->axis.y + 1, w, r->axis.h - 1};
    snprintf(l.text, sizeof l.text, "%s", str_text(text));
    str_free(text);
    for (unsigned i = 0; i < r->to->n; i++)
        if (covers(&r->to->v[i].box, &l.box, 1)) return;
    if (r->to->n < AXIS_LABELS && w <= r->plot.w) r->to->v[r->to->n++] = l;
}

static void moment(struct row *r, int64_t ns, enum role role, enum role ink)
{
    struct str s = {0};
    if (ns < r->u->from_ns || ns > r->u->to_ns) return;
    time_text_in(&s, ns, r->u->to_ns - r->u->from_ns);
    add(r, ui_x_of(r->u, r->plot, ns), &s, role, ink);
}

/* In the middle of what is in sight of the range. */
static void between(struct row *r)
{
    const struct ui *u = r->u;
    struct str s = {0};
    int64_t from = u->mark_from_ns > u->from_ns ? u->mark_from_ns : u->from_ns, to = u->mark_to_ns < u->to_ns ? u->mark_to_ns : u->to_ns;
    if (u->mark_from_ns < 0 || from >= to) return;
    str_append(&s, "Δ ");
    time_length(&s, u->mark_to_ns - u->mark_from_ns);
    add(r, ui_x_of(u, r->plot, from + (to - from) / 2), &s, ROLE_ACCENT, ROLE_TEXT_ON_ACCENT);
}

static void bookmarks(struct row *r)
{
    const bookmark_list *l = &r->u->private->bookmarks;
    for (size_t i = 0; i < l->n; i++) {
        struct str s = {0};
        if (l->v[i].from_ns < r->u->from_ns || l->v[i].from_ns > r->u->to_ns) continue;
        str_printf(&s, "%zu", i + 1);
        add(r, ui_x_of(r->u, r->plot, l->v[i].from_ns), &s, ROLE_BAR, ROLE_ACCENT);
    }
}

void axis_labels(const struct ui *u, struct box axis, struct box plot, struct axis_labels *to)
{
    struct row r = {u, axis, plot, to};
    to->n = 0;
    moment(&r, u->cursor_ns, ROLE_CURSOR, ROLE_TEXT_ON_ACCENT);
    if (u->anchor_ns >= 0) moment(&r, u->anchor_ns, ROLE_ACCENT, ROLE_TEXT_ON_ACCENT);
    between(&r);
    bookmarks(&r);
}

static void flag(const struct ui *u, struct draw_list *d, float x, float y)
{
    float h = roundf(u->theme.pad);
    struct point p[] = {{x - h / 2, y}, {x + h / 2, y}, {x, y + h}};
    draw_polygon(d, p, 3, u->theme.role[ROLE_ACCENT], PATTERN_SOLID);
}

void axis_flags_draw(const struct ui *u, struct draw_list *d, struct box axis, struct box plot)
{
    const bookmark_list *l = &u->private->bookmarks;
    for (size_t i = 0; i < l->n; i++) {
        float a = fmaxf(ui_x_of(u, plot, l->v[i].from_ns), plot.x), b = fminf(ui_x_of(u, plot, l->v[i].to_ns), plot.x + plot.w);
        if (l->v[i].to_ns > l->v[i].from_ns && b > a) draw_rect(d, (struct box){a, axis.y, b - a, 3}, ROLE_ACCENT);
        if (l->v[i].from_ns >= u->from_ns && l->v[i].from_ns <= u->to_ns) flag(u, d, a, axis.y);
    }
}

bool axis_labels_cover(const struct axis_labels *l, float x0, float x1, float pad)
{
    for (unsigned i = 0; i < l->n; i++)
        if (x1 > l->v[i].box.x - pad && x0 < l->v[i].box.x + l->v[i].box.w + pad) return true;
    return false;
}

void axis_labels_draw(const struct axis_labels *l, struct draw_list *d, float base)
{
    for (unsigned i = 0; i < l->n; i++) {
        const struct axis_label *a = &l->v[i];
        draw_rect(d, a->box, a->role);
        draw_text(d, a->box.x + a->box.w / 2, roundf(base), &(struct text_style){.role = a->ink, .align = ALIGN_CENTRE}, a->text);
    }
}
