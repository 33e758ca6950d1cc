/* viewer.h - the viewer, trainyard-view: a program of its own, since it alone needs a display.
 *
 *     char *path = viewer_find();                    // beside this program, else in PATH; to free
 *     if (!path) return viewer_missing();            // says what to do; EXIT_IO
 *     viewer_start(path, dirs, 2);                   // --follow; it goes on when this program has ended
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_VIEWER_H
#define TRAINYARD_CLI_VIEWER_H

char *viewer_find(void);
int viewer_missing(void);
/* Says on stderr when it cannot be started; a run goes on without it. */
void viewer_start(const char *path, char *const *dirs, unsigned n);

#endif
