/* cmd_calibrate.c - trainyard calibrate: the table of subjects; each is a file cmd_calibrate_SUBJECT.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/calibrate.h"

const struct command calibrate_subjects[] = {
    {"calibrate collective", "a table of nccl-tests, rccl-tests or OSU: predict other sizes and scales",
     cmd_calibrate_collective, &argp_calibrate_collective},
    {"calibrate failures", "a log of hardware failures: rates, ageing, repairs, lemon nodes, a failure profile",
     cmd_calibrate_failures, &argp_calibrate_failures},
    {"calibrate gpu", "this machine's GPUs: matrix products, memory, copies, NCCL, power; hardware and kernel profiles",
     cmd_calibrate_gpu, &argp_calibrate_gpu},
    {"calibrate step", "measured training steps: predict other models, batches, GPUs and scales", cmd_calibrate_step,
     &argp_calibrate_step},
    {"calibrate placements", "steps measured in placements of GPUs: predict other placements and batches",
     cmd_calibrate_placements, &argp_calibrate_placements},
};
const size_t n_calibrate_subjects = sizeof calibrate_subjects / sizeof *calibrate_subjects;

const struct argp argp_calibrate = {
    NULL, NULL, "SUBJECT\nRUN [RUN...]",
    "Fit the few numbers of a model to measurements, predict what was not measured, write a profile. Each SUBJECT has "
    "options of its own: trainyard calibrate SUBJECT --help.",
    NULL, NULL, NULL};

static void once(const char **to, const char *arg, const char *option, struct argp_state *state)
{
    if (*to) argp_error(state, "%s takes one table; join \"%s\" and \"%s\" first", option, *to, arg);
    *to = command_text(arg, option, state);
}

error_t calibrate_tables_parse(int key, char *arg, struct argp_state *state)
{
    struct calibrate_tables *o = state->input;
    switch (key) {
    case 't': once(&o->train, arg, "--train", state); return 0;
    case 'p': once(&o->predict, arg, "--predict", state); return 0;
    case 'o': o->out = command_text(arg, "--output", state); return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case ARGP_KEY_ARG: argp_error(state, "\"%s\" is too much; tables are given by --train and --predict", arg); return 0;
    case ARGP_KEY_END:
        if (!o->train) argp_error(state, "--train CSV is missing");
        if (!o->predict && !o->out) argp_error(state, "--predict CSV or -o FILE is missing");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char *subject_of(const struct command *c)
{
    return c->name + strlen("calibrate ");
}

static int usage(FILE *to, int code)
{
    fprintf(to, "Usage: trainyard calibrate SUBJECT [OPTION...]\n\n");
    for (size_t i = 0; i < n_calibrate_subjects; i++)
        fprintf(to, "  %-11s %s\n", subject_of(&calibrate_subjects[i]), calibrate_subjects[i].summary);
    fprintf(to, "\nTry: trainyard calibrate SUBJECT --help\n");
    return code;
}

static int unknown(const char *name)
{
    const char *names[16];
    for (size_t i = 0; i < n_calibrate_subjects; i++) names[i] = subject_of(&calibrate_subjects[i]);
    const char *near = str_suggest(name, names, n_calibrate_subjects);
    command_fail(EXIT_USAGE, "\"%s\" is nothing to calibrate%s%s%s", name, near ? "; did you mean \"" : "",
                 near ? near : "", near ? "\"?" : "");
    return usage(stderr, EXIT_USAGE);
}

int cmd_calibrate(int argc, char **argv)
{
    char called[64];
    if (argc < 2) return usage(stderr, EXIT_USAGE);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "--usage"))
        return command_end(usage(stdout, EXIT_OK));
    for (size_t i = 0; i < n_calibrate_subjects; i++)
        if (!strcmp(argv[1], subject_of(&calibrate_subjects[i]))) {
            snprintf(called, sizeof called, "trainyard %s", calibrate_subjects[i].name);
            argv[1] = called;
            return calibrate_subjects[i].run(argc - 1, argv + 1);
        }
    if (!file_is_dir(argv[1])) return unknown(argv[1]);
    snprintf(called, sizeof called, "trainyard calibrate runs");
    argv[0] = called;
    return cmd_calibrate_runs(argc, argv);
}
