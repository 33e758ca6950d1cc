/* fonts.h - inside of the text engine: fonts and rendered glyphs. For the back ends only.
 *
 * A glyph is rendered once for a face, a size and a quarter of a pixel, hinted vertically only: horizontal strokes are sharp, and the
 * spacing stays that of the design. It is kept as coverage, a byte a pixel, until the store holds GLYPH_STORE_BYTES; then
 * the store starts anew, so a pointer to a glyph is good until the next call.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_FONTS_H
#define TRAINYARD_VIZ_DRAW_FONTS_H

#include <ft2build.h>
#include FT_FREETYPE_H

#include "base/arena.h"
#include "base/hmap.h"
#include "viz/draw/text.h"

enum { GLYPH_STORE_BYTES = 8 << 20, GLYPH_SHIFTS = 4 };

struct letter { /* of one character */
    uint32_t index;   /* of the glyph; 0: the font lacks it */
    uint32_t advance; /* font units */
};

struct font {
    FT_Face ft;
    char *path;
    float units;              /* font units an em */
    struct letter ascii[128];
    struct hmap others;       /* character -> index << 32 | advance */
};

struct glyph {
    int left, top;            /* of the bitmap from the pen: to the right, and up to its first row */
    unsigned w, h;
    uint8_t coverage[];       /* w x h */
};

struct text_engine {
    FT_Library library;
    struct font *fonts;       /* N_FACES */
    struct glyph_store *store;
};

struct glyph_store {
    struct hmap glyphs;
    struct arena memory;
};

struct letter font_letter(struct font *, uint32_t character);
/* A size as the engine takes it, in 1/64 px. */
uint32_t font_size_64(float size);
/* `shift`: quarters of a pixel to the right. */
const struct glyph *font_glyph(const struct text_engine *, enum face, uint32_t size_64, uint32_t index, unsigned shift);

#endif
