/* draw.h - the draw list: what a picture consists of, before anybody paints it.
 *
 *     struct draw_list *d = draw_create(text);
 *     draw_begin(d, 1280, 800, theme);
 *     draw_rect(d, (struct box){0, 0, 1280, 24}, ROLE_BAR);
 *     draw_text(d, 8, 16, &(struct text_style){.role = ROLE_TEXT}, "demo - operator");
 *     pixels_paint(d, surface);           // viz/draw/pixels.h: ARGB of a window or a PNG
 *     vector_write(d, "out.svg", &err);   // viz/draw/vector.h: SVG or PDF by cairo
 *     draw_destroy(d);
 *
 * Views draw into this only; both back ends paint the same list. Coordinates are pixels, x to the right, y down, from the upper left;
 * text stands on its baseline. Items are painted in order. Colours are roles of the theme, or ARGB where data choose them (alpha 0: nothing).
 *
 * Edges are sharp: boxes, rasters, clips and frames are rounded to whole pixels, at least one where they have a size; lines along an axis take
 * whole pixels, those around their coordinates (at 10 or 10.7 and 1 wide: column 10); texts begin and stand on whole pixels. Other lines and polygons have smooth edges.
 * Clips nest. Nothing here allocates a call, once the arrays have grown: a frame costs what is painted.
 *
 * Rasters are for what has more parts than pixels: a block of ARGB that the view fills (one value a pixel); the vector back end merges
 * equal neighbours into rectangles. They belong to the list and live until the next draw_begin.
 *
 * draw_check finds what must not happen in a finished picture: text of which a part is cut off by the picture, or at its left or right by
 * its clip; text that lies outside of the picture; and texts that overlap. It looks at the ink, not at the height of the line, and lets
 * a pixel pass. No fault are rows at the upper and lower edge of a clip (it scrolls), what lies outside of it, and what is below a
 * box painted over it (a tooltip). Cost: texts squared.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_DRAW_H
#define TRAINYARD_VIZ_DRAW_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "viz/draw/text.h"
#include "viz/draw/theme.h"

struct box { float x, y, w, h; };
struct point { float x, y; };

enum align { ALIGN_LEFT, ALIGN_CENTRE, ALIGN_RIGHT };

struct text_style {
    enum face face;         /* FACE_SANS by default */
    float size;             /* px; 0: the theme's */
    enum role role;         /* colour; ROLE_TEXT by default */
    uint32_t argb;          /* colour when not 0 */
    enum align align;       /* of x */
    float max_width;        /* > 0: cut with an ellipsis */
};

struct draw_list;
struct draw_list *draw_create(const struct text_engine *);
void draw_destroy(struct draw_list *);

/* Empties the list and paints the background. The theme must live until the list was painted. */
void draw_begin(struct draw_list *, float w, float h, const struct theme *);
const struct theme *draw_theme(const struct draw_list *);
const struct text_engine *draw_text_engine(const struct draw_list *);

void draw_clip(struct draw_list *, struct box);   /* within the clip around it */
void draw_unclip(struct draw_list *);

void draw_rect(struct draw_list *, struct box, enum role);
void draw_fill(struct draw_list *, struct box, uint32_t argb, enum pattern);  /* pattern in a darker or lighter tone of argb */
void draw_frame(struct draw_list *, struct box, uint32_t argb, float width);
void draw_line(struct draw_list *, struct point, struct point, uint32_t argb, float width);
void draw_polyline(struct draw_list *, const struct point *, size_t n, uint32_t argb, float width);  /* copied */
void draw_polygon(struct draw_list *, const struct point *, size_t n, uint32_t argb, enum pattern);  /* copied; any simple polygon */
float draw_text(struct draw_list *, float x, float y, const struct text_style *, const char *text);   /* copied; gives its width */
uint32_t *draw_raster(struct draw_list *, struct box);  /* w x h pixels (rounded), row by row, to be filled by the caller; zeroed: nothing is painted */

/* How many items of the list; for state dumps. */
size_t draw_count(const struct draw_list *);

/* Lines on what is cut off or overlaps; true when there is nothing to tell. */
struct str;
bool draw_check(const struct draw_list *, struct str *);

#endif
