/* details_draw.c - the lines of details.c as a column: labels left, values right; links in the accent's colour.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "viz/ui/private.h"

struct column {
    struct ui *u;
    struct draw_list *d;
    struct box box;
    float y;
    unsigned link;
    float value; /* width of a value where there are two */
};

static bool in_sight(const struct column *c, float h)
{
    return c->y + h > c->box.y && c->y < c->box.y + c->box.h;
}

/* Breaks at blanks; a word that is too long is cut where the width ends. */
static void wrapped(struct column *c, const char *text, struct text_style style)
{
    const struct theme *t = &c->u->theme;
    float width = c->box.w - 2 * t->pad;
    char part[256];
    while (*text) {
        size_t n = text_fits(c->u->text, style.face, t->font_size, text, width), all = strlen(text);
        if (n == 0) n = all; /* narrower than a letter */
        if (n < all) {
            size_t blank = n;
            while (blank > 0 && text[blank] != ' ') blank--;
            if (blank > 0) n = blank;
        }
        if (n >= sizeof part) n = sizeof part - 1;
        memcpy(part, text, n);
        part[n] = 0;
        if (in_sight(c, t->line)) ui_label(c->u, c->d, (struct box){c->box.x + t->pad, c->y, width, t->line}, style, part);
        c->y += t->line;
        text += n + strspn(text + n, " ");
    }
}

static void value_draw(struct column *c, float right, float width, const char *text, enum role role)
{
    struct text_style style = {.role = role, .align = ALIGN_RIGHT, .max_width = width};
    ui_label(c->u, c->d, (struct box){right, c->y, 0, c->u->theme.line}, style, text);
}

static void row_draw(struct column *c, const struct detail *l)
{
    const struct theme *t = &c->u->theme;
    float pad = t->pad, right = c->box.x + c->box.w - pad, left = c->box.x + pad, wide = c->box.w - 2 * pad;
    bool link = l->link_job >= 0, focused = link && c->u->private->area == AREA_DETAILS && c->u->private->item == c->link;
    float value = l->other ? c->value : fminf(wide * 0.6f, text_width(c->u->text, FACE_SANS, t->font_size, l->value));
    float label = wide - pad - (l->other ? 2 * value : value);
    if (l->argb) {
        draw_fill(c->d, (struct box){left, roundf(c->y + t->line * 0.25f), roundf(t->line / 2), roundf(t->line / 2)}, l->argb, l->pattern);
        left += roundf(t->line * 0.75f);
        label -= roundf(t->line * 0.75f);
    }
    ui_label(c->u, c->d, (struct box){left, c->y, label, t->line}, (struct text_style){.role = ROLE_TEXT_DIM, .max_width = label}, l->label);
    if (l->other) value_draw(c, right, value - pad / 2, l->other, ROLE_TEXT);
    value_draw(c, l->other ? right - value : right, value + 1 - (l->other ? pad / 2 : 0), l->value, link ? ROLE_ACCENT : ROLE_TEXT);
    if (!link) return;
    struct box at = {c->box.x, c->y, c->box.w, t->line};
    if (focused) draw_frame(c->d, at, t->role[ROLE_ACCENT], 2);
    ui_hit(c->u, at, AREA_DETAILS, c->link++);
}

static void line_draw(struct column *c, const struct detail *l)
{
    const struct theme *t = &c->u->theme;
    switch (l->kind) {
    case DETAIL_TITLE:
        c->y += c->y > c->box.y + t->pad ? t->pad : 0;
        wrapped(c, l->label, (struct text_style){.face = FACE_BOLD});
        c->y += t->pad / 2;
        return;
    case DETAIL_HEADING:
        c->y += t->pad;
        if (in_sight(c, t->line)) draw_rect(c->d, (struct box){c->box.x + t->pad, c->y, c->box.w - 2 * t->pad, 1}, ROLE_GRID);
        c->y += t->pad / 2;
        wrapped(c, l->label, (struct text_style){.face = FACE_BOLD});
        return;
    case DETAIL_TEXT: wrapped(c, l->label, (struct text_style){.argb = l->argb}); return;
    default:
        if (in_sight(c, t->line))
            row_draw(c, l);
        else
            c->link += l->link_job >= 0;
        c->y += t->line;
    }
}

/* As wide as the widest, so that they stand in columns; a third at most. */
static float value_width(const struct ui *u, const struct details *d, float wide)
{
    float most = 0;
    for (size_t i = 0; i < d->lines.n; i++) {
        const struct detail *l = &d->lines.v[i];
        if (!l->other) continue;
        most = fmaxf(most, text_width(u->text, FACE_SANS, u->theme.font_size, l->value));
        most = fmaxf(most, text_width(u->text, FACE_SANS, u->theme.font_size, l->other));
    }
    return fminf(ceilf(most) + u->theme.pad, wide * 0.31f);
}

void details_draw(struct ui *u, struct draw_list *d, struct box b)
{
    struct details lines = {0};
    struct ui_private *p = u->private;
    details_build(u, &lines);
    draw_rect(d, b, ROLE_PANEL);
    draw_rect(d, (struct box){b.x, b.y, 1, b.h}, ROLE_BORDER);
    draw_clip(d, b);
    struct column c = {.u = u, .d = d, .box = b, .y = b.y + u->theme.pad - p->details_scroll};
    c.value = value_width(u, &lines, b.w - 2 * u->theme.pad);
    for (size_t i = 0; i < lines.lines.n; i++) line_draw(&c, &lines.lines.v[i]);
    float over = c.y + p->details_scroll + u->theme.pad - (b.y + b.h);
    if (p->details_scroll > fmaxf(over, 0)) p->details_scroll = fmaxf(over, 0);
    draw_unclip(d);
    details_free(&lines);
}
