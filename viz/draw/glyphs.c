/* glyphs.c - the store of rendered glyphs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/fonts.h"

#include <string.h>

#include FT_OUTLINE_H

/* The coverage of what FreeType has just rendered. */
static struct glyph *copy_of(struct arena *memory, const FT_GlyphSlot slot)
{
    const FT_Bitmap *b = &slot->bitmap;
    struct glyph *g = arena_alloc(memory, sizeof *g + (size_t)b->width * b->rows);
    g->left = slot->bitmap_left;
    g->top = slot->bitmap_top;
    g->w = b->width;
    g->h = b->rows;
    for (unsigned y = 0; y < b->rows; y++)
        memcpy(g->coverage + (size_t)y * g->w, b->buffer + (ptrdiff_t)y * b->pitch, g->w);
    return g;
}

/* Hinted vertically, moved to the right, rendered; NULL where there is nothing to see, or the font is damaged. */
static struct glyph *render(struct arena *memory, FT_Face ft, uint32_t size_64, uint32_t index, unsigned shift)
{
    if (FT_Set_Char_Size(ft, 0, (FT_F26Dot6)size_64, 72, 72)) return NULL;
    if (FT_Load_Glyph(ft, index, FT_LOAD_TARGET_LIGHT | FT_LOAD_NO_BITMAP)) return NULL;
    if (ft->glyph->format != FT_GLYPH_FORMAT_OUTLINE) return NULL;
    FT_Outline_Translate(&ft->glyph->outline, (FT_Pos)(shift * 64 / GLYPH_SHIFTS), 0);
    if (FT_Render_Glyph(ft->glyph, FT_RENDER_MODE_NORMAL)) return NULL;
    return copy_of(memory, ft->glyph);
}

const struct glyph *font_glyph(const struct text_engine *t, enum face face, uint32_t size_64, uint32_t index,
                               unsigned shift)
{
    struct glyph_store *s = t->store;
    uint64_t key = (uint64_t)index << 32 | (uint64_t)size_64 << 8 | (uint64_t)face << 4 | shift;
    const struct glyph *g = hmap_get_u64_ptr(&s->glyphs, key);
    if (g) return g;
    if (s->memory.bytes > GLYPH_STORE_BYTES) {
        hmap_free(&s->glyphs);
        arena_free(&s->memory);
    }
    struct glyph *new = render(&s->memory, t->fonts[face].ft, size_64, index, shift);
    if (!new) new = arena_new(&s->memory, struct glyph);
    hmap_put_u64_ptr(&s->glyphs, key, new);
    return new;
}
