/* pixels.h - the pixel back end: paints a draw list into ARGB32, and writes PNG.
 *
 *     struct pixels *p = pixels_create(1280, 800);
 *     pixels_paint(p, list);
 *     pixels_png(p, "out.png", &err);          // false and err (to free): I/O
 *     pixels_destroy(p);
 *
 * The same list gives the same bytes on the same machine. Fills go by rows of memory, lines and polygons are anti-aliased, glyphs come from
 * the text engine's store. Cost: about what writing the painted pixels costs; 1920 x 1080 of rasters and 500 texts within 5 ms on one core.
 * What the list does not cover keeps its colour from before; a list begins with its background, so that is what lies beyond its size.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_PIXELS_H
#define TRAINYARD_VIZ_DRAW_PIXELS_H

#include "base/str.h"
#include "viz/draw/draw.h"

struct pixels {
    uint32_t *argb; /* row by row; opaque */
    unsigned w, h;
    struct shapes *shapes;
};

struct pixels *pixels_create(unsigned w, unsigned h);
void pixels_destroy(struct pixels *);
void pixels_paint(struct pixels *, const struct draw_list *);
bool pixels_png(const struct pixels *, const char *path, char **err); /* "-": stdout; written whole or not at all */

/* ARGB as the bytes of a PNG, appended; `alpha`: with transparency. Up to 256 colours make a palette. The same pixels give the same bytes. */
void png_append(struct str *, const uint32_t *argb, unsigned w, unsigned h, bool alpha);

#endif
