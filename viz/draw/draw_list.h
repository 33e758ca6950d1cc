/* draw_list.h - inside of the draw list, for the back ends and draw_check: items in order of painting.
 *
 * Coordinates are final: boxes are whole pixels, texts are cut to their width and stand where they begin, on whole pixels.
 * An item's clip is absolute, whole pixels, never beyond the picture. Items of which nothing can be seen are left out when they are added,
 * but not texts, which draw_check looks at.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_DRAW_LIST_H
#define TRAINYARD_VIZ_DRAW_DRAW_LIST_H

#include "base/array.h"
#include "viz/draw/draw.h"

struct area { int x0, y0, x1, y1; }; /* x0 <= x < x1; empty when x0 >= x1 or y0 >= y1 */

enum item_kind { ITEM_FILL, ITEM_FRAME, ITEM_POLYLINE, ITEM_POLYGON, ITEM_TEXT, ITEM_RASTER };

struct item {
    enum item_kind kind;
    uint32_t clip;          /* of `clips` */
    uint32_t argb;
    union {
        struct { struct area area; uint32_t pattern, width; } box;              /* fill; frame with the width of its border, which lies within */
        struct { uint32_t first, n, pattern; float width; } path;               /* of `points`; polygon, polyline */
        struct { uint32_t first; float width, size; int x, y; enum face face; } text; /* NUL-terminated in `chars` */
        struct { uint32_t raster; int x, y; } raster;                           /* of `rasters` */
    };
};

struct raster {
    uint32_t *argb;
    unsigned w, h;
    size_t cap;
};

struct draw_list {
    const struct text_engine *text;
    const struct theme *theme;
    float w, h;
    ARRAY(struct item) items;
    ARRAY(struct point) points;
    ARRAY(char) chars;
    ARRAY(struct area) clips;       /* all that were ever set; 0: the picture */
    ARRAY(uint32_t) clip_stack;
    ARRAY(struct raster) rasters;   /* the first n_rasters are in use */
    size_t n_rasters;
};

bool area_empty(struct area);
struct area area_within(struct area, struct area);

#endif
