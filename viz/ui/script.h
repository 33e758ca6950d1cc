/* script.h - a session as a text: what a person would do in the window, and pictures of it.
 *
 *     struct diag d = {0};
 *     bool io, ok = script_run(ui, "keys.txt", &io, &d);  // "-": stdin; false: see d, with file and line; io: a file could not be written
 *
 * One step a line; empty lines and lines that begin with # are left out. Places are pixels from the upper left.
 *
 *   key w | ctrl+z | shift+tab | N | esc     press a key by its character or its name (actions.h)
 *   text queue:a                             type the rest of the line
 *   wheel 3 at 400 300 [shift] [ctrl]        turn the wheel, away from the user when positive
 *   press 400 300 [middle|right] [shift]     press a button (left), move, release
 *   move 500 300
 *   release 500 300
 *   resize 1600 900
 *   tick 2.5                                 let so many seconds pass
 *   poll                                     read what was added to the runs
 *   screenshot out.png                       .png, .svg, .pdf
 *   dump out.json                            the state; -: stdout
 *   export out.json                          the range, or the time in sight (export.h)
 *
 * It stops at the first line that is wrong or cannot be done, and after a key that quits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_SCRIPT_H
#define TRAINYARD_VIZ_UI_SCRIPT_H

#include "base/diag.h"
#include "viz/ui/ui.h"

bool script_run(struct ui *, const char *file, bool *io, struct diag *);

#endif
