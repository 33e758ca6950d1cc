/* raster_rects.h - a raster's equal neighbours as rectangles. Inside of the vector back end.
 *
 * Rows are cut into runs of one colour; a run that the row above has too makes that one's rectangle longer. The rectangles do not overlap and
 * cover all pixels that are not empty (alpha 0), within `area` of the picture. They come sorted by colour, then by rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_RASTER_RECTS_H
#define TRAINYARD_VIZ_DRAW_RASTER_RECTS_H

#include "viz/draw/draw_list.h"

struct raster_rect { struct area area; uint32_t argb; };
struct raster_rects { ARRAY(struct raster_rect) all; };

/* False when there are more than `max`; the list is of no use then. (x, y): where the raster lies. To be freed with array_free(&r->all). */
bool raster_rects(const struct raster *, int x, int y, struct area, size_t max, struct raster_rects *);

#endif
