/* vector_svg.c - a draw list as an <svg> element.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "base/hmap.h"
#include "viz/draw/pixels.h"
#include "viz/draw/raster_rects.h"
#include "viz/draw/strokes.h"
#include "viz/draw/vector.h"

#define SANS_FAMILY "DejaVu Sans,Verdana,sans-serif"
#define MONO_FAMILY "DejaVu Sans Mono,monospace"

struct svg {
    const struct draw_list *d;
    const char *prefix;
    struct str *out;
    struct hmap clips, patterns; /* those that are defined; a pattern's key: colour << 8 | pattern */
    uint32_t clip;               /* of the group that is open; 0: none */
};

/* Hundredths, without trailing zeros. */
static void put_number(struct str *out, long hundredths)
{
    if (hundredths < 0) str_append_char(out, '-');
    long x = labs(hundredths);
    str_append_i64(out, x / 100);
    if (x % 100 == 0) return;
    str_append_char(out, '.');
    str_append_char(out, (char)('0' + x % 100 / 10));
    if (x % 10) str_append_char(out, (char)('0' + x % 10));
}

static long hundredths(float x)
{
    const float far = 1e7f;
    return lroundf((x > far ? far : x < -far ? -far : x) * 100);
}

static void put_attribute(struct str *out, const char *name, float x)
{
    str_printf(out, " %s=\"", name);
    put_number(out, hundredths(x));
    str_append_char(out, '"');
}

/* fill="#0a5fb0" fill-opacity=".14" */
static void put_colour(struct str *out, const char *name, uint32_t argb)
{
    str_printf(out, " %s=\"#%06x\"", name, argb & 0xffffff);
    if (argb >> 24 != 255) str_printf(out, " %s-opacity=\"%.3g\"", name, (argb >> 24) / 255.0);
}

/* Escaped; what XML does not allow (control characters, bytes that are no UTF-8, surrogates) becomes U+FFFD. */
static void put_text(struct str *out, const char *text)
{
    for (const char *from = text; *from; from = text) {
        uint32_t c = text_next(&text);
        if (c == '&')
            str_append(out, "&amp;");
        else if (c == '<')
            str_append(out, "&lt;");
        else if (c == '>')
            str_append(out, "&gt;");
        else if (c < 0x20 || c == 0x7f || c == 0xfffd || c == 0xfffe || c == 0xffff)
            str_append(out, "\xef\xbf\xbd");
        else
            str_append_n(out, from, (size_t)(text - from));
    }
}

static void put_box(struct str *out, struct area a)
{
    str_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", a.x0, a.y0, a.x1 - a.x0, a.y1 - a.y0);
}

/* Opens or closes the group of a clip, and defines the clip. 0: none is needed. */
static void use_clip(struct svg *s, uint32_t clip)
{
    if (s->clip == clip) return;
    if (s->clip) str_append(s->out, "</g>\n");
    s->clip = clip;
    if (!clip) return;
    if (hmap_put_u64(&s->clips, clip, 1)) {
        str_printf(s->out, "<clipPath id=\"%sc%u\">", s->prefix, clip);
        put_box(s->out, s->d->clips.v[clip]);
        str_append(s->out, "/></clipPath>\n");
    }
    str_printf(s->out, "<g clip-path=\"url(#%sc%u)\">\n", s->prefix, clip);
}

/* The clip that something needs which lies within `a`. */
static void use_clip_around(struct svg *s, const struct item *i, struct area a)
{
    struct area c = s->d->clips.v[i->clip];
    bool inside = a.x0 >= c.x0 && a.y0 >= c.y0 && a.x1 <= c.x1 && a.y1 <= c.y1;
    use_clip(s, inside || i->clip == 0 ? 0 : i->clip);
}

/* Patterns are defined where they are first used, outside of all groups. */
static void define_pattern(struct svg *s, uint32_t argb, uint32_t pattern)
{
    uint64_t key = (uint64_t)argb << 8 | pattern;
    if (!hmap_put_u64(&s->patterns, key, 1)) return;
    const struct strokes *k = pattern_strokes((enum pattern)pattern);
    str_printf(s->out, "<pattern id=\"%sp%llx\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 0h8v8h-8z\"", s->prefix,
               (unsigned long long)key);
    put_colour(s->out, "fill", argb);
    str_append(s->out, "/><path d=\"");
    for (unsigned i = 0; i < k->n; i++)
        str_printf(s->out, "M%g %gL%g %g", (double)k->v[i].x0, (double)k->v[i].y0, (double)k->v[i].x1, (double)k->v[i].y1);
    str_append_char(s->out, '"');
    put_colour(s->out, "stroke", theme_pattern_tone(argb));
    str_printf(s->out, " stroke-width=\"%g\"/></pattern>\n", (double)k->width);
}

static void put_fill(struct svg *s, uint32_t argb, uint32_t pattern)
{
    if (pattern == PATTERN_SOLID)
        put_colour(s->out, "fill", argb);
    else
        str_printf(s->out, " fill=\"url(#%sp%llx)\"", s->prefix, (unsigned long long)((uint64_t)argb << 8 | pattern));
    str_append(s->out, "/>\n");
}

static void put_filled_box(struct svg *s, const struct item *i, struct area a)
{
    a = area_within(a, s->d->clips.v[i->clip]);
    if (area_empty(a)) return;
    use_clip(s, 0);
    if (i->box.pattern != PATTERN_SOLID) define_pattern(s, i->argb, i->box.pattern);
    put_box(s->out, a);
    put_fill(s, i->argb, i->box.pattern);
}

static void put_frame(struct svg *s, const struct item *i)
{
    struct area a = i->box.area;
    int w = (int)i->box.width;
    if (a.x1 - a.x0 <= 2 * w || a.y1 - a.y0 <= 2 * w) {
        put_filled_box(s, i, a);
        return;
    }
    use_clip_around(s, i, a);
    str_append(s->out, "<rect fill=\"none\"");
    put_attribute(s->out, "x", (float)a.x0 + (float)w / 2);
    put_attribute(s->out, "y", (float)a.y0 + (float)w / 2);
    str_printf(s->out, " width=\"%d\" height=\"%d\"", a.x1 - a.x0 - w, a.y1 - a.y0 - w);
    put_colour(s->out, "stroke", i->argb);
    str_printf(s->out, " stroke-width=\"%d\"/>\n", w);
}

/* The whole pixels that hold a path. */
static struct area around(const struct point *p, size_t n, float width)
{
    float x0 = p[0].x, x1 = x0, y0 = p[0].y, y1 = y0, far = 1e6f;
    for (size_t i = 1; i < n; i++) {
        x0 = fminf(x0, p[i].x), x1 = fmaxf(x1, p[i].x);
        y0 = fminf(y0, p[i].y), y1 = fmaxf(y1, p[i].y);
    }
    return (struct area){(int)floorf(fmaxf(x0 - width, -far)), (int)floorf(fmaxf(y0 - width, -far)), (int)ceilf(fminf(x1 + width, far)),
                         (int)ceilf(fminf(y1 + width, far))};
}

/* Steps from point to point, of rounded places, so that errors do not add up. */
static void put_points(struct str *out, const struct point *p, size_t n)
{
    long x = 0, y = 0;
    for (size_t i = 0; i < n; i++) {
        long to_x = hundredths(p[i].x), to_y = hundredths(p[i].y);
        if (i && to_x == x && to_y == y) continue;
        str_append_char(out, i == 0 ? 'M' : 'l');
        put_number(out, to_x - x);
        if (to_y >= y) str_append_char(out, ' '); /* a minus parts numbers too */
        put_number(out, to_y - y);
        x = to_x, y = to_y;
    }
}

static void put_path(struct svg *s, const struct item *i)
{
    const struct point *p = s->d->points.v + i->path.first;
    bool closed = i->kind == ITEM_POLYGON;
    if (closed && i->path.pattern != PATTERN_SOLID) {
        use_clip(s, 0);
        define_pattern(s, i->argb, i->path.pattern);
    }
    use_clip_around(s, i, around(p, i->path.n, i->path.width));
    str_append(s->out, "<path d=\"");
    put_points(s->out, p, i->path.n);
    str_append(s->out, closed ? "z\"" : "\" fill=\"none\"");
    if (closed) {
        put_fill(s, i->argb, i->path.pattern);
        return;
    }
    put_colour(s->out, "stroke", i->argb);
    put_attribute(s->out, "stroke-width", i->path.width);
    str_append(s->out, " stroke-linejoin=\"round\"/>\n");
}

static void put_text_item(struct svg *s, const struct item *i)
{
    const struct text_engine *t = s->d->text;
    const char *text = s->d->chars.v + i->text.first;
    struct area ink = {i->text.x, i->text.y - (int)text_ascent(t, i->text.face, i->text.size),
                       i->text.x + (int)ceilf(i->text.width), i->text.y + (int)text_descent(t, i->text.face, i->text.size)};
    if (area_empty(area_within(ink, s->d->clips.v[i->clip]))) return;
    use_clip_around(s, i, ink);
    str_printf(s->out, "<text x=\"%d\" y=\"%d\"", i->text.x, i->text.y);
    put_colour(s->out, "fill", i->argb);
    if (i->text.size != s->d->theme->font_size) put_attribute(s->out, "font-size", i->text.size);
    if (i->text.face == FACE_BOLD) str_append(s->out, " font-weight=\"bold\"");
    if (i->text.face == FACE_MONO) str_append(s->out, " font-family=\"" MONO_FAMILY "\"");
    if (text[0] && text[1]) put_attribute(s->out, "textLength", i->text.width);
    str_append_char(s->out, '>');
    put_text(s->out, text);
    str_append(s->out, "</text>\n");
}

static void put_base64(struct str *out, const unsigned char *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
        for (int k = 0; k < 4; k++)
            str_append_char(out, i + (size_t)k > n ? '=' : digits[three >> (18 - 6 * k) & 63]);
    }
}

/* One path a colour. */
static void put_rects(struct svg *s, const struct raster_rects *r)
{
    use_clip(s, 0);
    for (size_t i = 0, to; i < r->all.n; i = to) {
        str_append(s->out, "<path shape-rendering=\"crispEdges\" d=\"");
        for (to = i; to < r->all.n && r->all.v[to].argb == r->all.v[i].argb; to++) {
            struct area a = r->all.v[to].area;
            str_printf(s->out, "M%d %dh%dv%dh-%dz", a.x0, a.y0, a.x1 - a.x0, a.y1 - a.y0, a.x1 - a.x0);
        }
        str_append_char(s->out, '"');
        put_fill(s, r->all.v[i].argb, PATTERN_SOLID);
    }
}

static void put_image(struct svg *s, const struct item *i, const struct raster *r)
{
    struct str png = {0};
    png_append(&png, r->argb, r->w, r->h, true);
    use_clip_around(s, i, (struct area){i->raster.x, i->raster.y, i->raster.x + (int)r->w, i->raster.y + (int)r->h});
    str_printf(s->out, "<image x=\"%d\" y=\"%d\" width=\"%u\" height=\"%u\" image-rendering=\"pixelated\" preserveAspectRatio=\"none\" "
                       "xlink:href=\"data:image/png;base64,", i->raster.x, i->raster.y, r->w, r->h);
    put_base64(s->out, (const unsigned char *)png.s, png.n);
    str_append(s->out, "\"/>\n");
    str_free(&png);
}

static void put_raster(struct svg *s, const struct item *i)
{
    const struct raster *r = &s->d->rasters.v[i->raster.raster];
    struct raster_rects rects = {0};
    if (raster_rects(r, i->raster.x, i->raster.y, s->d->clips.v[i->clip], RASTER_RECTS_MAX, &rects))
        put_rects(s, &rects);
    else
        put_image(s, i, r);
    array_free(&rects.all);
}

static void put_item(struct svg *s, const struct item *i)
{
    switch (i->kind) {
    case ITEM_FILL: put_filled_box(s, i, i->box.area); break;
    case ITEM_FRAME: put_frame(s, i); break;
    case ITEM_POLYGON:
    case ITEM_POLYLINE: put_path(s, i); break;
    case ITEM_TEXT: put_text_item(s, i); break;
    case ITEM_RASTER: put_raster(s, i); break;
    }
}

void vector_svg(const struct draw_list *d, const char *prefix, struct str *out)
{
    struct svg s = {.d = d, .prefix = prefix, .out = out};
    str_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"%g\" height=\"%g\" "
                    "viewBox=\"0 0 %g %g\" font-family=\"" SANS_FAMILY "\" font-size=\"%g\" xml:space=\"preserve\">\n",
               (double)d->w, (double)d->h, (double)d->w, (double)d->h, (double)d->theme->font_size);
    for (size_t i = 0; i < d->items.n; i++)
        if (!area_empty(d->clips.v[d->items.v[i].clip])) put_item(&s, &d->items.v[i]);
    use_clip(&s, 0);
    str_append(out, "</svg>\n");
    hmap_free(&s.clips);
    hmap_free(&s.patterns);
}
