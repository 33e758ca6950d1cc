/* vector.h - the cairo back end: paints a draw list as SVG or PDF, or as SVG text for a page of HTML.
 *
 *     if (!vector_write(list, "out.svg", &err)) ...     // by the ending: .svg, .pdf; err (to free): I/O
 *     vector_svg(list, &html);                           // appends an <svg> element; its ids begin with `prefix`
 *
 * Texts stay text in PDF; in SVG they are <text> with the font's family, so that they can be searched and copied. No date and no version is written:
 * the same list gives the same bytes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_VECTOR_H
#define TRAINYARD_VIZ_DRAW_VECTOR_H

#include "base/str.h"
#include "viz/draw/draw.h"

bool vector_write(const struct draw_list *, const char *path, char **err);
void vector_svg(const struct draw_list *, const char *prefix, struct str *);

#endif
