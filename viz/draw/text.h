/* text.h - fonts: how wide a text is; the same for every back end.
 *
 *     struct text_engine *t = text_create(&err);   // NULL and err (to free): no font found, which package has it
 *     float w = text_width(t, FACE_SANS, 12, "3.2 GPU-h");
 *     text_destroy(t);
 *
 * DejaVu Sans (it has arrows, check marks, triangles), found in the usual folders or in the folder TRAINYARD_FONTS. Read by FreeType
 * without fontconfig, so that a picture does not depend on the machine's settings. Advances are not hinted: a layout is the same on
 * screen and on paper. There is no kerning: the width of a text is the sum of its advances. All digits have one width, so columns
 * of figures need no face of their own.
 *
 * Texts are UTF-8. What the font lacks is shown as its box; a byte that is no UTF-8 counts as one U+FFFD.
 * Sizes are px an em, taken to 1/64 px. Cost: a lookup a character. An engine belongs to one thread at a time: what it works out it keeps.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_TEXT_H
#define TRAINYARD_VIZ_DRAW_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum face { FACE_SANS, FACE_BOLD, FACE_MONO, N_FACES };

struct text_engine;
struct text_engine *text_create(char **err);
void text_destroy(struct text_engine *);

float text_width(const struct text_engine *, enum face, float size, const char *text);
float text_ascent(const struct text_engine *, enum face, float size);   /* above the baseline */
float text_descent(const struct text_engine *, enum face, float size);  /* below, as a positive number */
/* How many bytes of the text fit into `width`; never within a character. */
size_t text_fits(const struct text_engine *, enum face, float size, const char *text, float width);

/* The next character, and *p behind it; 0 at the end, where *p stays. */
uint32_t text_next(const char **p);

#endif
