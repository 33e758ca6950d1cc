/* vector_svg.c - a draw list as an <svg> element.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "base/hmap.h"
#include "base/mem.h"
#include "viz/draw/pixels.h"
#include "viz/draw/raster_rects.h"
#include "viz/draw/strokes.h"
#include "viz/draw/vector.h"

#define SANS_FAMILY "DejaVu Sans,Verdana,sans-serif"
#define MONO_FAMILY "DejaVu Sans Mono,monospace"

struct svg {
    const struct draw_list *d;
    struct inks *inks; /* NULL: colours are colours */
    const char *prefix;
    struct str *out;
    struct hmap clips, patterns; /* those that are defined; a pattern's key: colour << 8 | pattern */
    uint32_t clip;               /* of the group that is open; 0: none */
    struct item open;            /* the box or frame whose path is open, for others that look alike; width 0: none */
};

/* Ends the path that is open. */
static void end_path(struct svg *s)
{
    if (s->open.box.width) str_append(s->out, "\"/>\n");
    s->open.box.width = 0;
}

/* Tenths of a pixel, without trailing zeros. */
static void put_tenths(struct str *out, long tenths)
{
    long x = labs(tenths);
    if (tenths < 0) str_append_char(out, '-');
    if (x >= 10 || x == 0) str_append_i64(out, x / 10);
    if (x % 10 == 0) return;
    str_append_char(out, '.');
    str_append_char(out, (char)('0' + x % 10));
}

static long tenths(float x)
{
    const float far = 1e7f;
    return lroundf((x > far ? far : x < -far ? -far : x) * 10);
}

static void put_attribute(struct str *out, const char *name, float x)
{
    str_printf(out, " %s=\"", name);
    put_tenths(out, tenths(x));
    str_append_char(out, '"');
}

/* fill="#0a5fb0" fill-opacity=".14"; fill="var(--k7)" */
static void put_colour(struct svg *s, const char *name, uint32_t argb)
{
    struct str *out = s->out;
    if (s->inks) {
        str_printf(out, " %s=\"var(--k%u)\"", name, inks_name(s->inks, argb));
        return;
    }
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

/* A rectangle of a path, its corner and sides in halves of a pixel. */
static void put_halves(struct str *out, int x, int y, int w, int h)
{
    str_append_char(out, 'M');
    put_tenths(out, 5L * x);
    if (y >= 0) str_append_char(out, ' ');
    put_tenths(out, 5L * y);
    str_append_char(out, 'h');
    put_tenths(out, 5L * w);
    str_append_char(out, 'v');
    put_tenths(out, 5L * h);
    str_append_char(out, 'h');
    put_tenths(out, -5L * w);
    str_append_char(out, 'z');
}

static void put_box(struct str *out, struct area a)
{
    put_halves(out, 2 * a.x0, 2 * a.y0, 2 * (a.x1 - a.x0), 2 * (a.y1 - a.y0));
}

/* Opens or closes the group of a clip, and defines the clip. 0: none is needed. */
static void use_clip(struct svg *s, uint32_t clip)
{
    if (s->clip == clip) return;
    end_path(s);
    if (s->clip) str_append(s->out, "</g>\n");
    s->clip = clip;
    if (!clip) return;
    if (hmap_put_u64(&s->clips, clip, 1)) {
        str_printf(s->out, "<clipPath id=\"%sc%u\"><path d=\"", s->prefix, clip);
        put_box(s->out, s->d->clips.v[clip]);
        str_append(s->out, "\"/></clipPath>\n");
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
    end_path(s);
    const struct strokes *k = pattern_strokes((enum pattern)pattern);
    str_printf(
        s->out,
        "<pattern id=\"%sp%llx\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 0h8v8h-8z\"",
        s->prefix, (unsigned long long)key);
    put_colour(s, "fill", argb);
    str_append(s->out, "/><path d=\"");
    for (unsigned i = 0; i < k->n; i++)
        str_printf(s->out, "M%g %gL%g %g", (double)k->v[i].x0, (double)k->v[i].y0, (double)k->v[i].x1,
                   (double)k->v[i].y1);
    str_append_char(s->out, '"');
    put_colour(s, "stroke", s->inks ? inks_tone(s->inks, argb) : theme_pattern_tone(argb));
    str_printf(s->out, " stroke-width=\"%g\"/></pattern>\n", (double)k->width);
}

static void put_fill(struct svg *s, uint32_t argb, uint32_t pattern)
{
    if (pattern == PATTERN_SOLID)
        put_colour(s, "fill", argb);
    else
        str_printf(s->out, " fill=\"url(#%sp%llx)\"", s->prefix, (unsigned long long)((uint64_t)argb << 8 | pattern));
}

/* Whether the path that is open can take this box or frame. Translucent ones would not add up within one path. */
static bool joins(const struct svg *s, const struct item *i)
{
    const struct item *o = &s->open;
    return o->box.width == i->box.width && o->kind == i->kind && o->argb == i->argb &&
           o->box.pattern == i->box.pattern && i->argb >> 24 == 255;
}

static void put_filled_box(struct svg *s, const struct item *i, struct area a)
{
    a = area_within(a, s->d->clips.v[i->clip]);
    if (area_empty(a)) return;
    use_clip(s, 0);
    if (i->box.pattern != PATTERN_SOLID) define_pattern(s, i->argb, i->box.pattern);
    if (!joins(s, i)) {
        end_path(s);
        str_append(s->out, "<path");
        put_fill(s, i->argb, i->box.pattern);
        str_append(s->out, " d=\"");
        s->open = *i;
    }
    put_box(s->out, a);
}

static void put_frame(struct svg *s, const struct item *i)
{
    struct area a = i->box.area;
    int w = (int)i->box.width;
    if (a.x1 - a.x0 <= 2 * w || a.y1 - a.y0 <= 2 * w) {
        struct item whole = *i;
        whole.kind = ITEM_FILL;
        put_filled_box(s, &whole, a);
        return;
    }
    use_clip_around(s, i, a);
    if (!joins(s, i)) {
        end_path(s);
        str_append(s->out, "<path fill=\"none\"");
        put_colour(s, "stroke", i->argb);
        if (w > 1) str_printf(s->out, " stroke-width=\"%d\"", w);
        str_append(s->out, " d=\"");
        s->open = *i;
    }
    put_halves(s->out, 2 * a.x0 + w, 2 * a.y0 + w, 2 * (a.x1 - a.x0 - w), 2 * (a.y1 - a.y0 - w));
}

/* The whole pixels that hold a path. */
static struct area around(const struct point *p, size_t n, float width)
{
    float x0 = p[0].x, x1 = x0, y0 = p[0].y, y1 = y0, far = 1e6f;
    for (size_t i = 1; i < n; i++) {
        x0 = fminf(x0, p[i].x), x1 = fmaxf(x1, p[i].x);
        y0 = fminf(y0, p[i].y), y1 = fmaxf(y1, p[i].y);
    }
    return (struct area){(int)floorf(fmaxf(x0 - width, -far)), (int)floorf(fmaxf(y0 - width, -far)),
                         (int)ceilf(fminf(x1 + width, far)), (int)ceilf(fminf(y1 + width, far))};
}

/* One step of a path; along an axis it takes one number. */
static void put_step(struct str *out, long dx, long dy)
{
    if (dx == 0 && dy == 0) return;
    str_append_char(out, dy == 0 ? 'h' : dx == 0 ? 'v' : 'l');
    if (dx) put_tenths(out, dx);
    if (dx && dy > 0) str_append_char(out, ' '); /* a minus parts numbers too */
    if (dy) put_tenths(out, dy);
}

static bool same_way(long ax, long ay, long bx, long by)
{
    return (ax == 0 && bx == 0 && (ay > 0) == (by > 0)) || (ay == 0 && by == 0 && (ax > 0) == (bx > 0));
}

/* Steps between rounded places, so that errors do not add up; those that go on along an axis become one. */
static void put_points(struct str *out, const struct point *p, size_t n)
{
    long x = tenths(p[0].x), y = tenths(p[0].y), dx = 0, dy = 0;
    str_append_char(out, 'M');
    put_tenths(out, x);
    str_append_char(out, ' ');
    put_tenths(out, y);
    for (size_t i = 1; i < n; i++) {
        long to_x = tenths(p[i].x), to_y = tenths(p[i].y), step_x = to_x - x, step_y = to_y - y;
        x = to_x, y = to_y;
        if (step_x == 0 && step_y == 0) continue;
        if (!same_way(dx, dy, step_x, step_y)) {
            put_step(out, dx, dy);
            dx = dy = 0;
        }
        dx += step_x, dy += step_y;
    }
    put_step(out, dx, dy);
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
    end_path(s);
    str_append(s->out, "<path d=\"");
    put_points(s->out, p, i->path.n);
    str_append(s->out, closed ? "z\"" : "\" fill=\"none\"");
    if (closed) {
        put_fill(s, i->argb, i->path.pattern);
        str_append(s->out, "/>\n");
        return;
    }
    put_colour(s, "stroke", i->argb);
    put_attribute(s->out, "stroke-width", i->path.width);
    str_append(s->out, " stroke-linejoin=\"round\"/>\n");
}

static void put_text_item(struct svg *s, const struct item *i)
{
    const struct text_engine *t = s->d->text;
    const char *text = s->d->chars.v + i->text.first;
    struct area ink = {i->text.x, i->text.y - (int)text_ascent(t, i->text.face, i->text.size),
                       i->text.x + (int)ceilf(i->text.width),
                       i->text.y + (int)text_descent(t, i->text.face, i->text.size)};
    if (area_empty(area_within(ink, s->d->clips.v[i->clip]))) return;
    use_clip_around(s, i, ink);
    end_path(s);
    str_printf(s->out, "<text x=\"%d\" y=\"%d\"", i->text.x, i->text.y);
    put_colour(s, "fill", i->argb);
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
        for (int k = 0; k < 4; k++) str_append_char(out, i + (size_t)k > n ? '=' : digits[three >> (18 - 6 * k) & 63]);
    }
}

/* One path a colour. */
static void put_rects(struct svg *s, const struct raster_rects *r)
{
    use_clip(s, 0);
    end_path(s);
    for (size_t i = 0, to; i < r->all.n; i = to) {
        str_append(s->out, "<path shape-rendering=\"crispEdges\" d=\"");
        for (to = i; to < r->all.n && r->all.v[to].argb == r->all.v[i].argb; to++) put_box(s->out, r->all.v[to].area);
        str_append_char(s->out, '"');
        put_fill(s, r->all.v[i].argb, PATTERN_SOLID);
        str_append(s->out, "/>\n");
    }
}

static void put_image(struct svg *s, const struct item *i, unsigned w, unsigned h, const uint32_t *argb, const char *class)
{
    struct str png = {0};
    png_append(&png, argb, w, h, true);
    use_clip_around(s, i, (struct area){i->raster.x, i->raster.y, i->raster.x + (int)w, i->raster.y + (int)h});
    end_path(s);
    str_append(s->out, "<image");
    if (class) str_printf(s->out, " class=\"%s\"", class);
    str_printf(s->out,
               " x=\"%d\" y=\"%d\" width=\"%u\" height=\"%u\" image-rendering=\"pixelated\" "
               "preserveAspectRatio=\"none\" "
               "xlink:href=\"data:image/png;base64,",
               i->raster.x, i->raster.y, w, h);
    put_base64(s->out, (const unsigned char *)png.s, png.n);
    str_append(s->out, "\"/>\n");
    str_free(&png);
}

/* One image, or one a theme. */
static void put_images(struct svg *s, const struct item *i, const struct raster *r)
{
    if (!s->inks) {
        put_image(s, i, r->w, r->h, r->argb, NULL);
        return;
    }
    size_t n = (size_t)r->w * r->h;
    uint32_t *light = xcalloc(2 * n, sizeof *light), *dark = light + n;
    for (size_t k = 0; k < n; k++) {
        struct ink ink = inks_of(s->inks, r->argb[k]);
        light[k] = ink.light;
        dark[k] = ink.dark;
    }
    put_image(s, i, r->w, r->h, light, "only-light");
    put_image(s, i, r->w, r->h, dark, "only-dark");
    free(light);
}

static void put_raster(struct svg *s, const struct item *i)
{
    const struct raster *r = &s->d->rasters.v[i->raster.raster];
    struct raster_rects rects = {0};
    if (raster_rects(r, i->raster.x, i->raster.y, s->d->clips.v[i->clip], RASTER_RECTS_MAX, &rects))
        put_rects(s, &rects);
    else
        put_images(s, i, r);
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

void vector_svg(const struct draw_list *d, struct inks *inks, const char *prefix, struct str *out)
{
    struct svg s = {.d = d, .inks = inks, .prefix = prefix, .out = out};
    str_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"%g\" "
               "height=\"%g\" "
               "viewBox=\"0 0 %g %g\" font-family=\"" SANS_FAMILY "\" font-size=\"%g\" xml:space=\"preserve\">\n",
               (double)d->w, (double)d->h, (double)d->w, (double)d->h, (double)d->theme->font_size);
    for (size_t i = 0; i < d->items.n; i++)
        if (!area_empty(d->clips.v[d->items.v[i].clip])) put_item(&s, &d->items.v[i]);
    use_clip(&s, 0);
    end_path(&s);
    str_append(out, "</svg>\n");
    hmap_free(&s.clips);
    hmap_free(&s.patterns);
}
