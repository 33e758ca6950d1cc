/* axis_labels.c - the moments that are named on the time axis: the cursor, the second cursor, the length between them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>

#include "base/str.h"
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

void axis_labels(const struct ui *u, struct box axis, struct box plot, struct axis_labels *to)
{
    struct row r = {u, axis, plot, to};
    to->n = 0;
    moment(&r, u->cursor_ns, ROLE_CURSOR, ROLE_TEXT_ON_ACCENT);
    if (u->anchor_ns >= 0) moment(&r, u->anchor_ns, ROLE_ACCENT, ROLE_TEXT_ON_ACCENT);
    between(&r);
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
