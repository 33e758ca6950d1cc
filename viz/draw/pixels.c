/* pixels.c - painting a draw list into memory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "viz/draw/blend.h"
#include "viz/draw/fonts.h"
#include "viz/draw/shapes.h"

struct pixels *pixels_create(unsigned w, unsigned h)
{
    struct pixels *p = xcalloc(1, sizeof *p);
    size_t n = (size_t)w * h;
    p->w = w;
    p->h = h;
    p->argb = xcalloc(n ? n : 1, sizeof *p->argb);
    for (size_t i = 0; i < n; i++) p->argb[i] = 0xff000000;
    p->shapes = shapes_create();
    return p;
}

void pixels_destroy(struct pixels *p)
{
    if (!p) return;
    shapes_destroy(p->shapes);
    free(p->argb);
    free(p);
}

/* What paints one item: where, and with which colours. */
struct brush {
    struct pixels *p;
    struct area clip;
    uint32_t argb;
    bool patterned;
    uint32_t tile[PATTERN_TILE * PATTERN_TILE];
};

static uint32_t *row_at(const struct pixels *p, int y)
{
    return p->argb + (size_t)y * p->w;
}

static void fill_row(uint32_t *restrict to, int n, uint32_t argb)
{
    uint32_t alpha = argb >> 24;
    if (alpha == 255)
        for (int i = 0; i < n; i++) to[i] = argb;
    else
        for (int i = 0; i < n; i++) to[i] = blend(to[i], argb, alpha);
}

/* `tile` is the row of the tile, x the first pixel's place in the picture. */
static void pattern_row(uint32_t *restrict to, int n, const uint32_t *tile, int x, uint32_t coverage)
{
    for (int i = 0; i < n; i++) {
        uint32_t c = tile[(x + i) & (PATTERN_TILE - 1)], alpha = (c >> 24) * coverage / 255;
        to[i] = alpha == 255 ? c : blend(to[i], c, alpha);
    }
}

static void set_brush(struct brush *b, uint32_t argb, enum pattern pattern)
{
    b->argb = argb;
    b->patterned = pattern != PATTERN_SOLID;
    if (b->patterned) theme_pattern(argb, pattern, b->tile);
}

static void fill(const struct brush *b, struct area a)
{
    a = area_within(a, b->clip);
    for (int y = a.y0; y < a.y1 && a.x0 < a.x1; y++) {
        uint32_t *to = row_at(b->p, y) + a.x0;
        if (b->patterned)
            pattern_row(to, a.x1 - a.x0, b->tile + (y & (PATTERN_TILE - 1)) * PATTERN_TILE, a.x0, 255);
        else
            fill_row(to, a.x1 - a.x0, b->argb);
    }
}

static void paint_frame(const struct brush *b, struct area a, int width)
{
    if (a.x1 - a.x0 <= 2 * width || a.y1 - a.y0 <= 2 * width) {
        fill(b, a);
        return;
    }
    fill(b, (struct area){a.x0, a.y0, a.x1, a.y0 + width});
    fill(b, (struct area){a.x0, a.y1 - width, a.x1, a.y1});
    fill(b, (struct area){a.x0, a.y0 + width, a.x0 + width, a.y1 - width});
    fill(b, (struct area){a.x1 - width, a.y0 + width, a.x1, a.y1 - width});
}

static void paint_span(void *arg, int x, int y, int n, unsigned coverage)
{
    const struct brush *b = arg;
    uint32_t *to = row_at(b->p, y) + x;
    if (b->patterned)
        pattern_row(to, n, b->tile + (y & (PATTERN_TILE - 1)) * PATTERN_TILE, x, coverage);
    else
        fill_row(to, n, (b->argb & 0xffffff) | (b->argb >> 24) * coverage / 255 << 24);
}

/* (x, y): where the pen stands. */
static void paint_glyph(const struct brush *b, const struct glyph *g, int x, int y)
{
    int left = x + g->left, top = y - g->top;
    struct area a = area_within((struct area){left, top, left + (int)g->w, top + (int)g->h}, b->clip);
    uint32_t alpha = b->argb >> 24;
    for (int row = a.y0; row < a.y1; row++) {
        const uint8_t *from = g->coverage + (size_t)(row - top) * g->w + (a.x0 - left);
        uint32_t *to = row_at(b->p, row) + a.x0;
        for (int i = 0; i < a.x1 - a.x0; i++)
            if (from[i]) to[i] = blend(to[i], b->argb, alpha == 255 ? from[i] : from[i] * alpha / 255);
    }
}

static void paint_text(const struct brush *b, const struct draw_list *d, const struct item *item)
{
    struct font *font = &d->text->fonts[item->text.face];
    uint32_t size = font_size_64(item->text.size);
    float scale = (float)size / 64 / font->units, x = (float)item->text.x;
    uint64_t units = 0;
    const char *text = d->chars.v + item->text.first;
    for (uint32_t c; (c = text_next(&text)) != 0;) {
        struct letter l = font_letter(font, c);
        int quarters = (int)floorf((x + (float)units * scale) * GLYPH_SHIFTS + 0.5f);
        units += l.advance;
        if (c == ' ') continue;
        unsigned shift = (unsigned)quarters % GLYPH_SHIFTS;
        paint_glyph(b, font_glyph(d->text, item->text.face, size, l.index, shift),
                    (quarters - (int)shift) / GLYPH_SHIFTS, item->text.y);
    }
}

/* Mostly the pixels of a raster are opaque or empty; rows of such go without mixing. */
static void raster_row(uint32_t *restrict to, const uint32_t *restrict from, int n)
{
    uint32_t partly = 0;
    for (int i = 0; i < n; i++) partly |= ((from[i] >> 24) + 1) & 0xfe;
    if (partly)
        for (int i = 0; i < n; i++) to[i] = blend(to[i], from[i], from[i] >> 24);
    else
        for (int i = 0; i < n; i++) to[i] = from[i] >> 31 ? from[i] : to[i];
}

static void paint_raster(const struct brush *b, const struct raster *r, int x, int y)
{
    struct area a = area_within((struct area){x, y, x + (int)r->w, y + (int)r->h}, b->clip);
    for (int row = a.y0; row < a.y1 && a.x0 < a.x1; row++)
        raster_row(row_at(b->p, row) + a.x0, r->argb + (size_t)(row - y) * r->w + (a.x0 - x), a.x1 - a.x0);
}

static void paint_item(struct brush *b, const struct draw_list *d, const struct item *i)
{
    bool path = i->kind == ITEM_POLYGON || i->kind == ITEM_POLYLINE;
    const struct point *points = path ? &d->points.v[i->path.first] : NULL;
    switch (i->kind) {
    case ITEM_FILL:
        set_brush(b, i->argb, i->box.pattern);
        fill(b, i->box.area);
        break;
    case ITEM_FRAME:
        set_brush(b, i->argb, PATTERN_SOLID);
        paint_frame(b, i->box.area, (int)i->box.width);
        break;
    case ITEM_POLYGON:
        set_brush(b, i->argb, i->path.pattern);
        shapes_polygon(b->p->shapes, points, i->path.n, b->clip, paint_span, b);
        break;
    case ITEM_POLYLINE:
        set_brush(b, i->argb, PATTERN_SOLID);
        shapes_polyline(b->p->shapes, points, i->path.n, i->path.width, b->clip, paint_span, b);
        break;
    case ITEM_TEXT:
        set_brush(b, i->argb, PATTERN_SOLID);
        paint_text(b, d, i);
        break;
    case ITEM_RASTER: paint_raster(b, &d->rasters.v[i->raster.raster], i->raster.x, i->raster.y); break;
    }
}

void pixels_paint(struct pixels *p, const struct draw_list *d)
{
    struct area all = {0, 0, (int)p->w, (int)p->h};
    struct brush b = {.p = p};
    for (size_t i = 0; i < d->items.n; i++) {
        b.clip = area_within(all, d->clips.v[d->items.v[i].clip]);
        if (!area_empty(b.clip)) paint_item(&b, d, &d->items.v[i]);
    }
}
