/* command.h - the commands of `trainyard`: one file each, one row each in the table of command.c.
 *
 * The parser, `--help`, the list of commands, the man page and the shell completion all read the row and its argp.
 *
 * Exit codes: EXIT_OK, EXIT_CHECK (a check failed), EXIT_USAGE, EXIT_INPUT (bad input), EXIT_IO (I/O or back end),
 * EXIT_INTERRUPTED. Results go to stdout, progress and messages to stderr.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_COMMAND_H
#define TRAINYARD_CLI_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/str.h"

enum { EXIT_OK = 0, EXIT_CHECK = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_IO = 4, EXIT_INTERRUPTED = 130 };

struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);   /* argv[0] is "trainyard NAME" */
    const struct argp *argp;             /* for completion and the manual */
};

extern const struct command commands[];
extern const size_t n_commands;

enum output_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };
/* Of "text", "json" or "csv"; ends the program with a usage error otherwise. */
enum output_format command_format(const char *text, struct argp_state *state);
/* A decimal integer in [min, max]; ends the program with a usage error otherwise. */
long command_number(const char *text, long min, long max, const char *what, struct argp_state *state);

/* A duration of at least so many ns (0 or 1); ends the program with a usage error otherwise. */
int64_t command_duration(const char *text, int64_t least_ns, const char *what, struct argp_state *state);
/* `text` when it is one of the names; else ends the program with a usage error that names the nearest, or says `otherwise`. */
const char *command_one_of(const char *text, const char *const *names, size_t n, const char *what, const char *otherwise,
                           struct argp_state *state);
/* The same for the models of models/flops.h. */
const char *command_model(const char *text, const char *otherwise, struct argp_state *state);

/* The argument of an option that may not be empty; of one that is repeated, and `given` already has n. End the program
 * with a usage error otherwise. */
const char *command_text(const char *text, const char *what, struct argp_state *state);
/* The file of --plot: "-" is refused, for standard output carries the result. */
const char *command_plot(const char *text, struct argp_state *state);
const char *command_once(const char *text, const char *const *given, size_t n, const char *what, struct argp_state *state);

/* Prints what is in d to stderr and frees it; EXIT_INPUT when there are errors, else EXIT_OK. */
int command_diag(struct diag *d);
/* Writes text to a file, or with "-" to stdout; says what went wrong. EXIT_IO or EXIT_OK. */
int command_write(const char *path, const struct str *text);
/* "trainyard: text" on stderr. */
int command_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Flushes stdout; EXIT_IO when what was printed could not be written. */
int command_end(int code);

/* Set by SIGINT and SIGTERM once command_catch_signals has been called. */
const volatile int *command_catch_signals(void);

#define COMMANDS(X)                                                                                                    \
    X(calibrate) X(check) X(checkpoint) X(collective) X(compare) X(explain) X(export) X(failures) X(import) X(profiles) X(report) X(run) X(step) X(validate) X(version) X(view)
#define X_DECLARE(name) int cmd_##name(int argc, char **argv); extern const struct argp argp_##name;
COMMANDS(X_DECLARE)
#undef X_DECLARE

#endif
