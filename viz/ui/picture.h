/* picture.h - what the viewer shows, into a file; no window is needed.
 *
 *     char *err = NULL;
 *     if (!ui_picture_write(ui, "out.png", &err)) ...       // by the ending: .png, .svg, .pdf; err to free: I/O or an unknown ending
 *     ui_dump_write(ui, "out.json", &err);                  // ui_dump as a file; "-": stdout
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_PICTURE_H
#define TRAINYARD_VIZ_UI_PICTURE_H

#include "viz/ui/ui.h"

bool ui_picture_write(struct ui *, const char *path, char **err);
bool ui_dump_write(struct ui *, const char *path, char **err);
/* Whether the ending is one that can be written; else which are. */
const char *picture_ending_wrong(const char *path);

#endif
