/* draw_check.c - texts that are cut off or overlap.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <limits.h>

#include "base/str.h"
#include "viz/draw/draw_list.h"
#include "viz/draw/fonts.h"

struct seen { /* a text that is to be seen */
    size_t item;
    struct area ink, visible;
};
struct seen_texts {
    ARRAY(struct seen) all;
};

/* The pixels that a text's glyphs reach. Empty when it has none. */
static struct area ink_of(const struct draw_list *d, const struct item *i)
{
    struct font *font = &d->text->fonts[i->text.face];
    uint32_t size = font_size_64(i->text.size);
    float scale = (float)size / 64 / font->units, units = 0;
    struct area ink = {INT_MAX, INT_MAX, INT_MIN, INT_MIN};
    const char *text = d->chars.v + i->text.first;
    for (uint32_t c; (c = text_next(&text)) != 0;) {
        struct letter l = font_letter(font, c);
        const struct glyph *g = font_glyph(d->text, i->text.face, size, l.index, 0);
        int x = i->text.x + (int)(units * scale) + g->left, y = i->text.y - g->top;
        units += (float)l.advance;
        if (g->w == 0) continue;
        if (x < ink.x0) ink.x0 = x;
        if (y < ink.y0) ink.y0 = y;
        if (x + (int)g->w > ink.x1) ink.x1 = x + (int)g->w;
        if (y + (int)g->h > ink.y1) ink.y1 = y + (int)g->h;
    }
    return ink;
}

static void name_text(struct str *out, const struct draw_list *d, const struct item *i)
{
    str_printf(out, "\"%s\" at %d,%d", d->chars.v + i->text.first, i->text.x, i->text.y);
}

/* How much of the ink is taken away, each way; a pixel may. Above and below, a pane's clip may take more: it scrolls. */
static bool tell_cut(struct str *out, const struct draw_list *d, const struct item *i, struct area ink)
{
    struct area clip = d->clips.v[i->clip], picture = d->clips.v[0];
    const struct {
        const char *where;
        int px;
    } cuts[] = {
        {"left",   clip.x0 - ink.x0   },
        {"right",  ink.x1 - clip.x1   },
        {"top",    picture.y0 - ink.y0},
        {"bottom", ink.y1 - picture.y1}
    };
    bool told = false;
    for (unsigned k = 0; k < sizeof cuts / sizeof cuts[0]; k++) {
        if (cuts[k].px <= 1) continue;
        name_text(out, d, i);
        str_printf(out, ": %d px cut off at the %s\n", cuts[k].px, cuts[k].where);
        told = true;
    }
    return told;
}

static bool check_cut(const struct draw_list *d, size_t item, struct seen_texts *texts, struct str *out)
{
    const struct item *i = &d->items.v[item];
    struct area ink = ink_of(d, i), clip = d->clips.v[i->clip], visible = area_within(ink, clip);
    if (area_empty(ink)) return true;
    if (!area_empty(visible)) {
        array_push(&texts->all, (struct seen){item, ink, visible});
        return !tell_cut(out, d, i, ink);
    }
    if (i->clip) return true;
    name_text(out, d, i);
    str_append(out, " lies outside of the picture\n");
    return false;
}

/* Whether something opaque was painted over this area between two items. */
static bool hidden(const struct draw_list *d, struct area a, size_t after, size_t before)
{
    for (size_t k = after + 1; k < before; k++) {
        const struct item *i = &d->items.v[k];
        if (i->kind != ITEM_FILL || i->argb >> 24 != 255) continue;
        struct area c = area_within(i->box.area, d->clips.v[i->clip]);
        if (c.x0 <= a.x0 && c.y0 <= a.y0 && c.x1 >= a.x1 && c.y1 >= a.y1) return true;
    }
    return false;
}

static bool overlap(const struct draw_list *d, const struct seen *a, const struct seen *b)
{
    struct area both = area_within(a->visible, b->visible);
    return both.x1 - both.x0 > 1 && both.y1 - both.y0 > 1 && !hidden(d, both, a->item, b->item);
}

bool draw_check(const struct draw_list *d, struct str *out)
{
    struct seen_texts texts = {0};
    bool well = true;
    for (size_t i = 0; i < d->items.n; i++)
        if (d->items.v[i].kind == ITEM_TEXT) well &= check_cut(d, i, &texts, out);
    for (size_t b = 0; b < texts.all.n; b++)
        for (size_t a = 0; a < b; a++) {
            if (!overlap(d, &texts.all.v[a], &texts.all.v[b])) continue;
            name_text(out, d, &d->items.v[texts.all.v[a].item]);
            str_append(out, " overlaps ");
            name_text(out, d, &d->items.v[texts.all.v[b].item]);
            str_append_char(out, '\n');
            well = false;
        }
    array_free(&texts.all);
    return well;
}
