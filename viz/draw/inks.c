/* inks.c - see inks.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/inks.h"

#include <string.h>

#include "viz/draw/draw_list.h"

static bool opaque(uint32_t argb)
{
    return argb >> 24 == 255;
}

uint32_t inks_code(struct inks *k, uint32_t light, uint32_t dark)
{
    uint64_t key = (uint64_t)light << 32 | dark, number;
    if (!(light >> 24) && !(dark >> 24)) return 0;
    if (!hmap_get_u64(&k->known, key, &number)) {
        array_push(&k->v, (struct ink){light, dark, false});
        number = k->v.n;
        hmap_put_u64(&k->known, key, number);
    }
    return (opaque(light) && opaque(dark) ? 0xff000000 : 0xfe000000) | (uint32_t)number;
}

static unsigned number_of(uint32_t code)
{
    return code & 0xffffff;
}

struct ink inks_of(const struct inks *k, uint32_t code)
{
    return code ? k->v.v[number_of(code) - 1] : (struct ink){0};
}

unsigned inks_name(struct inks *k, uint32_t code)
{
    unsigned number = number_of(code);
    if (number) k->v.v[number - 1].named = true;
    return number;
}

uint32_t inks_tone(struct inks *k, uint32_t code)
{
    struct ink ink = inks_of(k, code);
    return inks_code(k, theme_pattern_tone(ink.light), theme_pattern_tone(ink.dark));
}

/* ---- two lists ---- */

static bool same_path(const struct draw_list *a, const struct item *x, const struct draw_list *b, const struct item *y)
{
    return x->path.n == y->path.n && x->path.pattern == y->path.pattern && x->path.width == y->path.width &&
           memcmp(a->points.v + x->path.first, b->points.v + y->path.first, x->path.n * sizeof *a->points.v) == 0;
}

static bool same_raster(const struct draw_list *a, const struct item *x, const struct draw_list *b, const struct item *y)
{
    const struct raster *r = &a->rasters.v[x->raster.raster], *s = &b->rasters.v[y->raster.raster];
    return x->raster.x == y->raster.x && x->raster.y == y->raster.y && r->w == s->w && r->h == s->h;
}

static bool same_text(const struct draw_list *a, const struct item *x, const struct draw_list *b, const struct item *y)
{
    return x->text.x == y->text.x && x->text.y == y->text.y && x->text.size == y->text.size && x->text.face == y->text.face &&
           strcmp(a->chars.v + x->text.first, b->chars.v + y->text.first) == 0;
}

static bool same_item(const struct draw_list *a, const struct item *x, const struct draw_list *b, const struct item *y)
{
    if (x->kind != y->kind || memcmp(&a->clips.v[x->clip], &b->clips.v[y->clip], sizeof *a->clips.v) != 0) return false;
    switch (x->kind) {
    case ITEM_FILL:
    case ITEM_FRAME: return memcmp(&x->box, &y->box, sizeof x->box) == 0;
    case ITEM_POLYGON:
    case ITEM_POLYLINE: return same_path(a, x, b, y);
    case ITEM_TEXT: return same_text(a, x, b, y);
    case ITEM_RASTER: return same_raster(a, x, b, y);
    }
    return false;
}

static bool same_but_for_colours(const struct draw_list *a, const struct draw_list *b)
{
    if (a->items.n != b->items.n || a->w != b->w || a->h != b->h) return false;
    for (size_t i = 0; i < a->items.n; i++)
        if (!same_item(a, &a->items.v[i], b, &b->items.v[i])) return false;
    return true;
}

static void take_raster(struct inks *k, const struct raster *to, const struct raster *dark)
{
    uint32_t light_was = 0, dark_was = 0, code = 0; /* neighbours are mostly alike */
    for (size_t i = 0; i < (size_t)to->w * to->h; i++) {
        if (to->argb[i] != light_was || dark->argb[i] != dark_was) code = inks_code(k, light_was = to->argb[i], dark_was = dark->argb[i]);
        to->argb[i] = code;
    }
}

bool inks_take(struct inks *k, struct draw_list *light, const struct draw_list *dark)
{
    if (!same_but_for_colours(light, dark)) return false;
    for (size_t i = 0; i < light->items.n; i++) {
        struct item *x = &light->items.v[i];
        const struct item *y = &dark->items.v[i];
        if (x->kind == ITEM_RASTER) take_raster(k, &light->rasters.v[x->raster.raster], &dark->rasters.v[y->raster.raster]);
        else x->argb = inks_code(k, x->argb, y->argb);
    }
    return true;
}

/* ---- style ---- */

static void put_theme(const struct inks *k, bool dark, struct str *out)
{
    bool any = false;
    str_append(out, ":root{");
    for (size_t i = 0; i < k->v.n; i++) {
        if (!k->v.v[i].named) continue;
        uint32_t argb = dark ? k->v.v[i].dark : k->v.v[i].light;
        str_printf(out, "%s--k%zu:#%06x", any ? ";" : "", i + 1, argb & 0xffffff);
        any = true;
        if (!opaque(argb)) str_printf(out, "%02x", argb >> 24);
    }
    str_append(out, "}");
}

void inks_css(const struct inks *k, struct str *out)
{
    put_theme(k, false, out);
    str_append(out, "\n@media screen and (prefers-color-scheme:dark){");
    put_theme(k, true, out);
    str_append(out, "}\n");
}

void inks_free(struct inks *k)
{
    array_free(&k->v);
    hmap_free(&k->known);
}
