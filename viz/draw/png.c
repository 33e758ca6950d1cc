/* png.c - pixels as PNG, by libpng.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hmap.h"
#include "base/mem.h"
#include "viz/draw/picture_file.h"
#include "viz/draw/pixels.h"

static void on_bytes(png_structp png, png_bytep bytes, size_t n)
{
    str_append_n(png_get_io_ptr(png), (const char *)bytes, n);
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* Nothing can fail but memory and too large a picture, both the program's fault. */
static void on_error(png_structp png, png_const_charp text)
{
    (void)png;
    fprintf(stderr, "libpng: %s\n", text);
    abort();
}

/* The colours of a picture that has few: they take a byte a pixel and compress far better. */
struct palette {
    struct hmap index; /* ARGB -> place */
    png_color rgb[256];
    png_byte alpha[256];
    int n;
};

/* False: more than 256. */
static bool find_palette(struct palette *p, const uint32_t *argb, size_t pixels)
{
    for (size_t i = 0; i < pixels; i++) {
        if (i && argb[i] == argb[i - 1]) continue;
        if (!hmap_put_u64(&p->index, argb[i], 0)) continue;
        if (p->n == 256) return false;
        p->rgb[p->n] = (png_color){(png_byte)(argb[i] >> 16), (png_byte)(argb[i] >> 8), (png_byte)argb[i]};
        p->alpha[p->n++] = (png_byte)(argb[i] >> 24);
    }
    int place = 0;
    const struct hmap_entry *e;
    for (size_t i = 0; (e = hmap_next(&p->index, &i)) != NULL;) hmap_put_u64(&p->index, e->key, (uint64_t)place++);
    return true;
}

static void put_indices(const struct palette *p, const uint32_t *argb, unsigned w, png_bytep row)
{
    uint64_t place = 0;
    for (unsigned x = 0; x < w; x++) {
        if (x == 0 || argb[x] != argb[x - 1]) hmap_get_u64(&p->index, argb[x], &place);
        row[x] = (png_byte)place;
    }
}

static void put_colours(const uint32_t *argb, unsigned w, bool alpha, png_bytep row)
{
    for (unsigned x = 0; x < w; x++) {
        *row++ = (png_byte)(argb[x] >> 16);
        *row++ = (png_byte)(argb[x] >> 8);
        *row++ = (png_byte)argb[x];
        if (alpha) *row++ = (png_byte)(argb[x] >> 24);
    }
}

static void put_head(png_structp png, png_infop info, unsigned w, unsigned h, bool alpha, const struct palette *p)
{
    int type = p ? PNG_COLOR_TYPE_PALETTE : alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB;
    png_set_IHDR(png, info, w, h, 8, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_filter(png, 0, PNG_FILTER_NONE); /* even areas and sharp edges are smaller so, by a third */
    if (p) png_set_PLTE(png, info, p->rgb, p->n);
    if (p && alpha) png_set_tRNS(png, info, p->alpha, p->n, NULL);
    png_write_info(png, info);
}

void png_append(struct str *out, const uint32_t *argb, unsigned w, unsigned h, bool alpha)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) mem_exhausted(sizeof(void *));
    struct palette p = {0};
    bool few = find_palette(&p, argb, (size_t)w * h);
    png_bytep row = xcalloc(w, 4);
    png_set_write_fn(png, out, on_bytes, on_flush);
    put_head(png, info, w, h, alpha, few ? &p : NULL);
    for (unsigned y = 0; y < h; y++) {
        if (few)
            put_indices(&p, argb + (size_t)y * w, w, row);
        else
            put_colours(argb + (size_t)y * w, w, alpha, row);
        png_write_row(png, row);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    hmap_free(&p.index);
    free(row);
}

bool pixels_png(const struct pixels *p, const char *path, char **err)
{
    struct str bytes = {0};
    png_append(&bytes, p->argb, p->w, p->h, false);
    bool ok = picture_write(path, &bytes, err);
    str_free(&bytes);
    return ok;
}
