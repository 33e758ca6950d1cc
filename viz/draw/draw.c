/* draw.c - filling the draw list.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/draw.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "viz/draw/draw_list.h"

#define ELLIPSIS "\xe2\x80\xa6"

bool area_empty(struct area a)
{
    return a.x0 >= a.x1 || a.y0 >= a.y1;
}

struct area area_within(struct area a, struct area b)
{
    return (struct area){a.x0 > b.x0 ? a.x0 : b.x0, a.y0 > b.y0 ? a.y0 : b.y0, a.x1 < b.x1 ? a.x1 : b.x1,
                         a.y1 < b.y1 ? a.y1 : b.y1};
}

/* Far outside is as good as any other place outside; not a number is 0. */
static int whole(float x)
{
    const float far = 1e6f;
    return x > -far && x < far ? (int)floorf(x + 0.5f) : x > 0 ? (int)far : x < 0 ? -(int)far : 0;
}

/* From a to a + length, at least one pixel when the length is more than nothing. */
static void whole_span(float a, float length, int *from, int *to)
{
    *from = whole(a);
    *to = whole(a + length);
    if (length > 0 && *to <= *from) *to = *from + 1;
}

static struct area area_of(struct box b)
{
    struct area a;
    whole_span(b.x, b.w, &a.x0, &a.x1);
    whole_span(b.y, b.h, &a.y0, &a.y1);
    return a;
}

struct draw_list *draw_create(const struct text_engine *text)
{
    struct draw_list *d = xcalloc(1, sizeof *d);
    d->text = text;
    return d;
}

void draw_destroy(struct draw_list *d)
{
    if (!d) return;
    for (size_t i = 0; i < d->rasters.n; i++) free(d->rasters.v[i].argb);
    array_free(&d->rasters);
    array_free(&d->items);
    array_free(&d->points);
    array_free(&d->chars);
    array_free(&d->clips);
    array_free(&d->clip_stack);
    free(d);
}

void draw_begin(struct draw_list *d, float w, float h, const struct theme *theme)
{
    d->w = w;
    d->h = h;
    d->theme = theme;
    array_clear(&d->items);
    array_clear(&d->points);
    array_clear(&d->chars);
    array_clear(&d->clips);
    array_clear(&d->clip_stack);
    d->n_rasters = 0;
    array_push(&d->clips, (struct area){0, 0, whole(w), whole(h)});
    array_push(&d->clip_stack, 0);
    draw_rect(d, (struct box){0, 0, w, h}, ROLE_BACKGROUND);
}

/* clang-format off */
const struct theme *draw_theme(const struct draw_list *d) { return d->theme; }
const struct text_engine *draw_text_engine(const struct draw_list *d) { return d->text; }
size_t draw_count(const struct draw_list *d) { return d->items.n; }
/* clang-format on */

static uint32_t clip_now(const struct draw_list *d)
{
    return array_last(&d->clip_stack);
}

void draw_clip(struct draw_list *d, struct box b)
{
    struct area a = area_within(area_of(b), d->clips.v[clip_now(d)]);
    uint32_t clip = (uint32_t)d->clips.n;
    array_push(&d->clips, a);
    array_push(&d->clip_stack, clip);
}

void draw_unclip(struct draw_list *d)
{
    assert(d->clip_stack.n > 1);
    (void)array_pop(&d->clip_stack);
}

static struct item *add(struct draw_list *d, enum item_kind kind, uint32_t argb)
{
    struct item *i = array_add(&d->items);
    i->kind = kind;
    i->clip = clip_now(d);
    i->argb = argb;
    return i;
}

static void add_box(struct draw_list *d, enum item_kind kind, struct area a, uint32_t argb, uint32_t pattern,
                    float width)
{
    if (argb >> 24 == 0 || area_empty(area_within(a, d->clips.v[clip_now(d)]))) return;
    struct item *i = add(d, kind, argb);
    i->box.area = a;
    i->box.pattern = pattern;
    i->box.width = width > 1 ? (uint32_t)whole(width) : 1;
}

void draw_rect(struct draw_list *d, struct box b, enum role role)
{
    add_box(d, ITEM_FILL, area_of(b), d->theme->role[role], PATTERN_SOLID, 0);
}

void draw_fill(struct draw_list *d, struct box b, uint32_t argb, enum pattern pattern)
{
    add_box(d, ITEM_FILL, area_of(b), argb, pattern, 0);
}

void draw_frame(struct draw_list *d, struct box b, uint32_t argb, float width)
{
    add_box(d, ITEM_FRAME, area_of(b), argb, PATTERN_SOLID, width);
}

/* Along an axis: whole pixels, so that it is sharp. `across` is its place, which lies in the middle of the width. */
static void straight_line(struct draw_list *d, struct point a, struct point b, uint32_t argb, float width)
{
    bool upright = a.x == b.x;
    float across = upright ? a.x : a.y, w = width > 1 ? (float)whole(width) : 1;
    float from = upright ? fminf(a.y, b.y) : fminf(a.x, b.x), to = upright ? fmaxf(a.y, b.y) : fmaxf(a.x, b.x);
    int side = whole(floorf(across - (w - 1) / 2));
    struct area area;
    whole_span(from, to - from, upright ? &area.y0 : &area.x0, upright ? &area.y1 : &area.x1);
    *(upright ? &area.x0 : &area.y0) = side;
    *(upright ? &area.x1 : &area.y1) = side + (int)w;
    add_box(d, ITEM_FILL, area, argb, PATTERN_SOLID, 0);
}

void draw_line(struct draw_list *d, struct point a, struct point b, uint32_t argb, float width)
{
    if (a.x == b.x || a.y == b.y)
        straight_line(d, a, b, argb, width);
    else
        draw_polyline(d, (struct point[]){a, b}, 2, argb, width);
}

static void add_path(struct draw_list *d, enum item_kind kind, const struct point *p, size_t n, uint32_t argb,
                     enum pattern pattern, float width)
{
    if (argb >> 24 == 0 || area_empty(d->clips.v[clip_now(d)])) return;
    struct item *i = add(d, kind, argb);
    i->path.first = (uint32_t)d->points.n;
    i->path.n = (uint32_t)n;
    i->path.pattern = pattern;
    i->path.width = width;
    array_reserve(&d->points, d->points.n + n);
    memcpy(d->points.v + d->points.n, p, n * sizeof *p);
    d->points.n += n;
}

void draw_polyline(struct draw_list *d, const struct point *p, size_t n, uint32_t argb, float width)
{
    if (n > 1) add_path(d, ITEM_POLYLINE, p, n, argb, PATTERN_SOLID, width > 0 ? width : 1);
}

void draw_polygon(struct draw_list *d, const struct point *p, size_t n, uint32_t argb, enum pattern pattern)
{
    if (n > 2) add_path(d, ITEM_POLYGON, p, n, argb, pattern, 0);
}

/* Copies the text, cut with an ellipsis where it is wider than allowed, and gives its width; 0: not even the ellipsis fits. */
static float copy_text(struct draw_list *d, const struct text_style *style, float size, const char *text)
{
    float width = text_width(d->text, style->face, size, text);
    size_t n = strlen(text);
    bool cut = style->max_width > 0 && width > style->max_width;
    if (cut) {
        float room = style->max_width - text_width(d->text, style->face, size, ELLIPSIS);
        if (room < 0) return 0;
        n = text_fits(d->text, style->face, size, text, room);
        while (n > 0 && text[n - 1] == ' ') n--;
    }
    size_t first = d->chars.n;
    array_reserve(&d->chars, first + n + sizeof ELLIPSIS);
    memcpy(d->chars.v + first, text, n);
    memcpy(d->chars.v + first + n, cut ? ELLIPSIS : "", cut ? sizeof ELLIPSIS : 1);
    d->chars.n = first + n + (cut ? sizeof ELLIPSIS : 1);
    return cut ? text_width(d->text, style->face, size, d->chars.v + first) : width;
}

float draw_text(struct draw_list *d, float x, float y, const struct text_style *style, const char *text)
{
    float size = style->size > 0 ? style->size : d->theme->font_size;
    uint32_t first = (uint32_t)d->chars.n;
    float width = copy_text(d, style, size, text);
    if (width <= 0) return 0;
    struct item *i = add(d, ITEM_TEXT, style->argb ? style->argb : d->theme->role[style->role]);
    i->text.first = first;
    float shift = style->align == ALIGN_RIGHT ? width : style->align == ALIGN_CENTRE ? width / 2 : 0;
    i->text.x = whole(x - shift);
    i->text.y = whole(y);
    i->text.width = width;
    i->text.size = size;
    i->text.face = style->face;
    return width;
}

uint32_t *draw_raster(struct draw_list *d, struct box b)
{
    struct area a = area_of(b);
    unsigned w = a.x1 > a.x0 ? (unsigned)(a.x1 - a.x0) : 0, h = a.y1 > a.y0 ? (unsigned)(a.y1 - a.y0) : 0;
    size_t pixels = (size_t)w * h, room = pixels ? pixels : 1;
    if (d->n_rasters == d->rasters.n) (void)array_add(&d->rasters);
    struct raster *r = &d->rasters.v[d->n_rasters];
    if (r->cap < room) {
        free(r->argb);
        r->argb = xcalloc(room, sizeof *r->argb);
        r->cap = room;
    } else {
        memset(r->argb, 0, room * sizeof *r->argb);
    }
    r->w = w;
    r->h = h;
    struct item *i = add(d, ITEM_RASTER, 0);
    i->raster.raster = (uint32_t)d->n_rasters++;
    i->raster.x = a.x0;
    i->raster.y = a.y0;
    return r->argb;
}
