/* shapes.h - lines and polygons with smooth edges: rows of pixels and how much of each is covered. Inside of the pixel back end.
 *
 *     struct shapes *s = shapes_create();
 *     shapes_polyline(s, points, n, 1.5f, area, paint_span, &painter);
 *     shapes_destroy(s);
 *
 * FreeType's rasteriser does the work (exact coverage, 1/64 px). Paths are cut to the area first, so their coordinates may lie anywhere.
 * A polygon is filled by the non-zero rule. A polyline has flat ends and round corners; where it crosses itself nearby, it is painted once.
 * Cost: about 15 ns for a pixel of an edge; a segment of a curve that steps by a few pixels takes 0.5 us.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_SHAPES_H
#define TRAINYARD_VIZ_DRAW_SHAPES_H

#include "viz/draw/draw_list.h"

/* n pixels from x on in row y are covered by `coverage` of 255. */
typedef void shape_span(void *arg, int x, int y, int n, unsigned coverage);

struct shapes;
struct shapes *shapes_create(void);
void shapes_destroy(struct shapes *);
void shapes_polygon(struct shapes *, const struct point *, size_t n, struct area, shape_span *, void *arg);
void shapes_polyline(struct shapes *, const struct point *, size_t n, float width, struct area, shape_span *, void *arg);

#endif
