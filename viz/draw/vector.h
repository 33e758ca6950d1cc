/* vector.h - the vector back end: a draw list as SVG or PDF, or as SVG text for a page of HTML.
 *
 *     if (!vector_write(list, "out.svg", &err)) ...     // by the ending: .svg, .pdf; err (to free): I/O, another ending
 *     vector_svg(list, NULL, "p1-", &html);              // appends an <svg> element; its ids begin with the prefix
 *
 * With inks (inks.h) the list holds these, and a page has one style for all of its pictures; in place of one image there are two then, of the classes
 * "only-light" and "only-dark".
 *
 * PDF is cairo's. SVG is written from the list itself, since cairo's SVG turns texts into outlines of glyphs, ten times the size, which nobody can
 * search or copy. Here a text is a <text> with its family, size and the width that the layout counted on (textLength), so that it fits
 * with another font too. In PDF texts stay texts as well; the fonts' used parts are embedded.
 *
 * Patterns are lines, with the same spacing and phase as in pixels. A raster's equal neighbours become rectangles, up to RASTER_RECTS_MAX; one with
 * more is embedded as PNG (in PDF: as image), which is smaller and shows the same. Clips are worked out where a box or a
 * text lies within or across them, so that few are left in the file.
 *
 * No date is written: the same list gives the same bytes with one version of cairo. Cost: SVG about 0.2 us an item of a short text; PDF 5 ms for
 * the fonts and 1 us a glyph.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_VECTOR_H
#define TRAINYARD_VIZ_DRAW_VECTOR_H

#include "base/str.h"
#include "viz/draw/draw.h"
#include "viz/draw/inks.h"

enum { RASTER_RECTS_MAX = 4000 };

bool vector_write(const struct draw_list *, const char *path, char **err);
void vector_svg(const struct draw_list *, struct inks *, const char *prefix, struct str *);
/* The bytes of a PDF file of one page. */
void vector_pdf(const struct draw_list *, struct str *);

#endif
