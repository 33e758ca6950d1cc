/* text.c - finding fonts, measuring texts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "viz/draw/fonts.h"

#define REPLACEMENT 0xFFFDu

static const char *const font_files[N_FACES] = {
    [FACE_SANS] = "DejaVuSans.ttf",
    [FACE_BOLD] = "DejaVuSans-Bold.ttf",
    [FACE_MONO] = "DejaVuSansMono.ttf",
};
static const char *const font_folders[] = {"/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu",
                                           "/usr/share/fonts/dejavu-sans-fonts", "/usr/share/fonts/TTF",
                                           "/usr/local/share/fonts/dejavu"};
enum { N_FOLDERS = sizeof font_folders / sizeof font_folders[0] };

/* The file in `folder`, to be freed, or NULL. */
static char *font_in(const char *folder, const char *name)
{
    struct str path = {0};
    str_printf(&path, "%s/%s", folder, name);
    if (file_exists(str_text(&path))) return str_take(&path);
    str_free(&path);
    return NULL;
}

static char *font_path(const char *name)
{
    const char *own = getenv("TRAINYARD_FONTS");
    if (own && *own) return font_in(own, name);
    char *path = NULL;
    for (unsigned i = 0; i < N_FOLDERS && !path; i++) path = font_in(font_folders[i], name);
    return path;
}

static char *not_found(const char *name)
{
    const char *own = getenv("TRAINYARD_FONTS");
    struct str s = {0};
    str_printf(&s, "no font %s in ", name);
    if (own && *own) {
        str_printf(&s, "%s (TRAINYARD_FONTS)", own);
    } else {
        for (unsigned i = 0; i < N_FOLDERS; i++) str_printf(&s, "%s%s", i ? ", " : "", font_folders[i]);
    }
    str_append(&s, "\n    install fonts-dejavu-core, or set TRAINYARD_FONTS to the folder that has it");
    return str_take(&s);
}

static char *not_read(const char *path, FT_Error error)
{
    struct str s = {0};
    str_printf(&s, "%s: not a font that FreeType can read (its error %d)", path, error);
    return str_take(&s);
}

static struct letter letter_of(const struct font *f, uint32_t character)
{
    struct letter l = {.index = FT_Get_Char_Index(f->ft, character)};
    if (FT_Load_Glyph(f->ft, l.index, FT_LOAD_NO_SCALE) == 0) l.advance = (uint32_t)f->ft->glyph->metrics.horiAdvance;
    return l;
}

static char *font_open(FT_Library library, struct font *f, const char *name)
{
    f->path = font_path(name);
    if (!f->path) return not_found(name);
    FT_Error error = FT_New_Face(library, f->path, 0, &f->ft);
    if (!error && !FT_IS_SCALABLE(f->ft)) error = FT_Err_Unknown_File_Format;
    if (error) return not_read(f->path, error);
    f->units = (float)f->ft->units_per_EM;
    for (uint32_t c = 0; c < 128; c++) f->ascii[c] = letter_of(f, c);
    return NULL;
}

struct text_engine *text_create(char **err)
{
    struct text_engine *t = xcalloc(1, sizeof *t);
    t->fonts = xcalloc(N_FACES, sizeof *t->fonts);
    t->store = xcalloc(1, sizeof *t->store);
    char *wrong = FT_Init_FreeType(&t->library) == 0 ? NULL : strdup("FreeType does not start");
    for (unsigned i = 0; i < N_FACES && !wrong; i++) wrong = font_open(t->library, &t->fonts[i], font_files[i]);
    if (!wrong) return t;
    *err = wrong;
    text_destroy(t);
    return NULL;
}

void text_destroy(struct text_engine *t)
{
    if (!t) return;
    for (unsigned i = 0; i < N_FACES; i++) {
        if (t->fonts[i].ft) FT_Done_Face(t->fonts[i].ft);
        hmap_free(&t->fonts[i].others);
        free(t->fonts[i].path);
    }
    if (t->library) FT_Done_FreeType(t->library);
    hmap_free(&t->store->glyphs);
    arena_free(&t->store->memory);
    free(t->store);
    free(t->fonts);
    free(t);
}

struct letter font_letter(struct font *f, uint32_t character)
{
    if (character < 128) return f->ascii[character];
    uint64_t known;
    if (hmap_get_u64(&f->others, character, &known)) return (struct letter){(uint32_t)(known >> 32), (uint32_t)known};
    struct letter l = letter_of(f, character);
    hmap_put_u64(&f->others, character, (uint64_t)l.index << 32 | l.advance);
    return l;
}

uint32_t font_size_64(float size)
{
    float s = roundf(size * 64);
    return s < 64 ? 64 : s > 64 * 512 ? 64 * 512 : (uint32_t)s;
}

/* px a font unit */
static float scale_of(const struct font *f, float size)
{
    return (float)font_size_64(size) / 64 / f->units;
}

uint32_t text_next(const char **p)
{
    const unsigned char *s = (const unsigned char *)*p;
    if (*s < 0x80) {
        if (*s) ++*p;
        return *s;
    }
    size_t n = str_utf8_bytes(*p, strnlen(*p, 4));
    *p += n ? n : 1;
    switch (n) {
    case 2: return (uint32_t)(s[0] & 31) << 6 | (s[1] & 63);
    case 3: return (uint32_t)(s[0] & 15) << 12 | (uint32_t)(s[1] & 63) << 6 | (s[2] & 63);
    case 4: return (uint32_t)(s[0] & 7) << 18 | (uint32_t)(s[1] & 63) << 12 | (uint32_t)(s[2] & 63) << 6 | (s[3] & 63);
    default: return REPLACEMENT;
    }
}

float text_width(const struct text_engine *t, enum face face, float size, const char *text)
{
    struct font *f = &t->fonts[face];
    uint64_t units = 0;
    for (uint32_t c; (c = text_next(&text)) != 0;) units += font_letter(f, c).advance;
    return (float)units * scale_of(f, size);
}

size_t text_fits(const struct text_engine *t, enum face face, float size, const char *text, float width)
{
    struct font *f = &t->fonts[face];
    float room = width / scale_of(f, size) + 0.01f;
    const char *p = text, *fits = text;
    uint64_t units = 0;
    for (uint32_t c; (c = text_next(&p)) != 0; fits = p) {
        units += font_letter(f, c).advance;
        if ((float)units > room) break;
    }
    return (size_t)(fits - text);
}

float text_ascent(const struct text_engine *t, enum face face, float size)
{
    return (float)t->fonts[face].ft->ascender * scale_of(&t->fonts[face], size);
}

float text_descent(const struct text_engine *t, enum face face, float size)
{
    return -(float)t->fonts[face].ft->descender * scale_of(&t->fonts[face], size);
}
