/* vector.c - writes a list as the file that its name's ending asks for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/draw/vector.h"

#include "viz/draw/picture_file.h"

bool vector_write(const struct draw_list *d, const char *path, char **err)
{
    struct str out = {0};
    bool svg = str_ends_with(path, ".svg");
    if (!svg && !str_ends_with(path, ".pdf")) {
        str_printf(&out, "%s: a picture's name ends in .png, .svg or .pdf", path);
        *err = str_take(&out);
        return false;
    }
    if (svg) {
        str_append(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        vector_svg(d, NULL, "", &out);
    } else {
        vector_pdf(d, &out);
    }
    bool ok = picture_write(path, &out, err);
    str_free(&out);
    return ok;
}
