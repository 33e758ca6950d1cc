/* png.c - pixels as PNG, by libpng.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

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

static void put_row(png_structp png, const uint32_t *argb, unsigned w, bool alpha, png_bytep row)
{
    png_bytep to = row;
    for (unsigned x = 0; x < w; x++) {
        *to++ = (png_byte)(argb[x] >> 16);
        *to++ = (png_byte)(argb[x] >> 8);
        *to++ = (png_byte)argb[x];
        if (alpha) *to++ = (png_byte)(argb[x] >> 24);
    }
    png_write_row(png, row);
}

void png_append(struct str *out, const uint32_t *argb, unsigned w, unsigned h, bool alpha)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) mem_exhausted(sizeof(void *));
    png_bytep row = xcalloc(w, 4);
    png_set_write_fn(png, out, on_bytes, on_flush);
    png_set_IHDR(png, info, w, h, 8, alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_filter(png, 0, PNG_FILTER_NONE | PNG_FILTER_SUB | PNG_FILTER_UP);
    png_write_info(png, info);
    for (unsigned y = 0; y < h; y++) put_row(png, argb + (size_t)y * w, w, alpha, row);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
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
