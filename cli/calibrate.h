/* calibrate.h - what `trainyard calibrate` can calibrate: one file and one row of cmd_calibrate.c a subject.
 *
 * A subject's row is a `struct command` whose name is "calibrate SUBJECT": its argp makes --help, manual and completion.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_CALIBRATE_H
#define TRAINYARD_CLI_CALIBRATE_H

#include "cli/command.h"

extern const struct command calibrate_subjects[];
extern const size_t n_calibrate_subjects;

#define CALIBRATE_SUBJECTS(X) X(collective) X(failures) X(gpu) X(step) X(placements) X(runs)
#define X_DECLARE_SUBJECT(name) int cmd_calibrate_##name(int argc, char **argv); extern const struct argp argp_calibrate_##name;
CALIBRATE_SUBJECTS(X_DECLARE_SUBJECT)
#undef X_DECLARE_SUBJECT

/* Subjects that learn from one table and predict the rows of another take these; each tells in its own options what the
 * tables hold. */
struct calibrate_tables {
    const char *train, *predict, *out; /* NULL: not given; of predict and out at least one is */
    enum output_format format;
};
error_t calibrate_tables_parse(int key, char *arg, struct argp_state *state); /* state->input: the struct, zeroed */

#endif
