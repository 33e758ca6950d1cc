/* temp_run.h - runs a scenario into a directory of its own and reads it back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_TEMP_RUN_H
#define TRAINYARD_TESTS_SUPPORT_TEMP_RUN_H

#include "input/scenario.h"
#include "run/run.h"

/* A new, empty directory; NULL: none is to be had. */
const char *temp_run_dir(char *dir, size_t n);
/* A run's files and then the directory. */
void temp_run_remove(const char *dir);
/* NULL and a message on stderr when the run fails or cannot be read whole. */
struct run *temp_run(const struct scenario *, int record_level);
/* Removes the directory too. */
void temp_run_close(struct run *);

#endif
