/* shapes.c - outlines for FreeType's rasteriser.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/shapes.h"

#include <math.h>
#include <stdlib.h>

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include "base/mem.h"

/* An outline counts its points in a short. */
enum { MAX_POINTS = 32000 };

/* A segment of a line takes 4 points, its corner 8. The rasteriser's cost grows with how often a row of pixels is crossed, squared; so lines go
 * piece by piece, and where two pieces meet, a smooth edge is painted twice. */
enum { CORNER = 8, SEGMENT_POINTS = 4 + CORNER, PIECE = 32 };

struct shapes {
    FT_Library library;
    ARRAY(FT_Vector) points;
    ARRAY(char) tags;
    ARRAY(short) ends;
    ARRAY(struct point) cut[2]; /* a polygon while it is cut, side by side */
    shape_span *span;
    void *arg;
};

struct shapes *shapes_create(void)
{
    struct shapes *s = xcalloc(1, sizeof *s);
    if (FT_Init_FreeType(&s->library)) mem_exhausted(sizeof *s);
    return s;
}

void shapes_destroy(struct shapes *s)
{
    if (!s) return;
    FT_Done_FreeType(s->library);
    array_free(&s->points);
    array_free(&s->tags);
    array_free(&s->ends);
    array_free(&s->cut[0]);
    array_free(&s->cut[1]);
    free(s);
}

static void on_spans(int y, int n, const FT_Span *spans, void *arg)
{
    struct shapes *s = arg;
    for (int i = 0; i < n; i++) s->span(s->arg, spans[i].x, y, spans[i].len, spans[i].coverage);
}

/* Rasterises what was put together, and empties it. FreeType's y is given ours: it only counts rows. */
static void rasterise(struct shapes *s, struct area a)
{
    if (s->points.n) {
        FT_Outline outline = {.n_contours = (short)s->ends.n,
                              .n_points = (short)s->points.n,
                              .points = s->points.v,
                              .tags = s->tags.v,
                              .contours = s->ends.v};
        FT_Raster_Params params = {
            .source = &outline,
            .gray_spans = on_spans,
            .user = s,
            .flags = FT_RASTER_FLAG_AA | FT_RASTER_FLAG_DIRECT | FT_RASTER_FLAG_CLIP,
            .clip_box = {a.x0, a.y0, a.x1, a.y1}
        };
        FT_Outline_Render(s->library, &outline, &params);
    }
    array_clear(&s->points);
    array_clear(&s->tags);
    array_clear(&s->ends);
}

static void add_point(struct shapes *s, float x, float y)
{
    array_push(&s->points, (FT_Vector){lrintf(x * 64), lrintf(y * 64)});
    array_push(&s->tags, FT_CURVE_TAG_ON);
}

static void end_contour(struct shapes *s)
{
    array_push(&s->ends, (short)(s->points.n - 1));
}

/* One side of a cutting box: what lies at coordinate >= limit (sign 1) or <= limit (sign -1) stays. */
struct side {
    bool across;
    float limit, sign;
};

static float beyond(struct side side, struct point p)
{
    return ((side.across ? p.x : p.y) - side.limit) * side.sign;
}

/* Sutherland and Hodgman's step. */
static void cut_side(struct shapes *s, struct side side)
{
    array_clear(&s->cut[1]);
    for (size_t i = 0, n = s->cut[0].n; i < n; i++) {
        struct point a = s->cut[0].v[i], b = s->cut[0].v[i + 1 < n ? i + 1 : 0];
        float ina = beyond(side, a), inb = beyond(side, b);
        if (ina >= 0) array_push(&s->cut[1], a);
        if ((ina >= 0) != (inb >= 0)) {
            float t = ina / (ina - inb);
            array_push(&s->cut[1], (struct point){a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t});
        }
    }
    array_clear(&s->cut[0]);
    for (size_t i = 0; i < s->cut[1].n; i++) array_push(&s->cut[0], s->cut[1].v[i]);
}

void shapes_polygon(struct shapes *s, const struct point *p, size_t n, struct area a, shape_span *span, void *arg)
{
    s->span = span;
    s->arg = arg;
    array_clear(&s->cut[0]);
    for (size_t i = 0; i < n; i++) array_push(&s->cut[0], p[i]);
    cut_side(s, (struct side){true, (float)a.x0 - 1, 1});
    cut_side(s, (struct side){true, (float)a.x1 + 1, -1});
    cut_side(s, (struct side){false, (float)a.y0 - 1, 1});
    cut_side(s, (struct side){false, (float)a.y1 + 1, -1});
    size_t step = s->cut[0].n / MAX_POINTS + 1; /* more points than a picture has columns: some will do */
    for (size_t i = 0; i < s->cut[0].n; i += step) add_point(s, s->cut[0].v[i].x, s->cut[0].v[i].y);
    if (s->points.n) end_contour(s);
    rasterise(s, a);
}

/* Moves `*t` up (entering) or down (leaving) to where the line passes one side; false: it misses. Liang and Barsky's step. */
static bool pass(float speed, float distance, float *enter, float *leave)
{
    if (speed == 0) return distance <= 0;
    float t = distance / speed;
    if (speed > 0 && t > *enter) *enter = t;
    if (speed < 0 && t < *leave) *leave = t;
    return *enter <= *leave;
}

/* The part of a line within the area and `around` it. */
static bool cut_line(struct point *a, struct point *b, struct area area, float around)
{
    struct point d = {b->x - a->x, b->y - a->y}, from = *a;
    float enter = 0, leave = 1;
    if (!pass(d.x, (float)area.x0 - around - a->x, &enter, &leave)) return false;
    if (!pass(-d.x, a->x - (float)area.x1 - around, &enter, &leave)) return false;
    if (!pass(d.y, (float)area.y0 - around - a->y, &enter, &leave)) return false;
    if (!pass(-d.y, a->y - (float)area.y1 - around, &enter, &leave)) return false;
    *a = (struct point){from.x + d.x * enter, from.y + d.y * enter};
    *b = (struct point){from.x + d.x * leave, from.y + d.y * leave};
    return true;
}

static void add_segment(struct shapes *s, struct point a, struct point b, float half)
{
    float dx = b.x - a.x, dy = b.y - a.y, length = hypotf(dx, dy);
    if (length == 0) return;
    float nx = -dy / length * half, ny = dx / length * half;
    add_point(s, a.x + nx, a.y + ny);
    add_point(s, b.x + nx, b.y + ny);
    add_point(s, b.x - nx, b.y - ny);
    add_point(s, a.x - nx, a.y - ny);
    end_contour(s);
}

/* A round corner; it turns as segments do, so that they join. */
static void add_corner(struct shapes *s, struct point p, float half)
{
    const float d = 0.70710678f;
    /* clang-format off */
    static const signed char turn[CORNER][2] = {{2, 0}, {1, -1}, {0, -2}, {-1, -1}, {-2, 0}, {-1, 1}, {0, 2}, {1, 1}};
    /* clang-format on */
    for (int i = 0; i < CORNER; i++) {
        float r = i % 2 ? half * d : half / 2;
        add_point(s, p.x + (float)turn[i][0] * r, p.y + (float)turn[i][1] * r);
    }
    end_contour(s);
}

/* By 30 degrees or more; less leaves a notch of a fifth of the half width. */
static bool turns(struct point a, struct point b, struct point c)
{
    float ux = b.x - a.x, uy = b.y - a.y, vx = c.x - b.x, vy = c.y - b.y;
    float along = ux * vx + uy * vy;
    return along <= 0 || along * along < 0.75f * (ux * ux + uy * uy) * (vx * vx + vy * vy);
}

static bool within(struct point p, struct area a, float around)
{
    return p.x >= (float)a.x0 - around && p.x <= (float)a.x1 + around && p.y >= (float)a.y0 - around &&
           p.y <= (float)a.y1 + around;
}

void shapes_polyline(struct shapes *s, const struct point *p, size_t n, float width, struct area area, shape_span *span,
                     void *arg)
{
    float half = width / 2, around = width + 1;
    s->span = span;
    s->arg = arg;
    for (size_t i = 0; i + 1 < n; i++) {
        struct point a = p[i], b = p[i + 1];
        if (cut_line(&a, &b, area, around)) add_segment(s, a, b, half);
        if (i > 0 && width > 1 && turns(p[i - 1], p[i], p[i + 1]) && within(p[i], area, around))
            add_corner(s, p[i], half);
        if (s->points.n > PIECE * SEGMENT_POINTS) rasterise(s, area);
    }
    rasterise(s, area);
}
