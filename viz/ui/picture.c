/* picture.c - see picture.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/ui/picture.h"

#include "base/mem.h"
#include "base/str.h"
#include "viz/draw/picture_file.h"
#include "viz/draw/pixels.h"
#include "viz/draw/vector.h"

const char *picture_ending_wrong(const char *path)
{
    if (str_ends_with(path, ".png") || str_ends_with(path, ".svg") || str_ends_with(path, ".pdf")) return NULL;
    return "the name must end in .png, .svg or .pdf";
}

static bool png_write(const struct ui *u, const struct draw_list *d, const char *path, char **err)
{
    struct pixels *p = pixels_create((unsigned)u->w, (unsigned)u->h);
    pixels_paint(p, d);
    bool ok = pixels_png(p, path, err);
    pixels_destroy(p);
    return ok;
}

bool ui_picture_write(struct ui *u, const char *path, char **err)
{
    const char *wrong = picture_ending_wrong(path);
    if (wrong) {
        struct str s = {0};
        str_printf(&s, "%s: %s", path, wrong);
        *err = str_take(&s);
        return false;
    }
    struct draw_list *d = draw_create(u->text);
    ui_draw(u, d);
    bool ok = str_ends_with(path, ".png") ? png_write(u, d, path, err) : vector_write(d, path, err);
    draw_destroy(d);
    return ok;
}

bool ui_dump_write(struct ui *u, const char *path, char **err)
{
    struct str out = {0};
    struct json_writer w;
    json_write_begin(&w, &out);
    ui_dump(u, &w);
    json_write_finish(&w);
    bool ok = picture_write(path, &out, err);
    str_free(&out);
    return ok;
}
