/* picture_file.h - writes the bytes of a picture, whole or not at all.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_DRAW_PICTURE_FILE_H
#define TRAINYARD_VIZ_DRAW_PICTURE_FILE_H

#include <stdbool.h>

#include "base/str.h"

/* "-" is stdout. False and *err (to be freed): "out.png: cannot write: No space left on device". */
bool picture_write(const char *path, const struct str *bytes, char **err);

#endif
