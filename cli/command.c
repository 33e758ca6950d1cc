/* command.c - the table of commands, and what they share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/command.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "base/units.h"
#include "models/flops.h"

const struct command commands[] = {
    {"calibrate", "fit a model to measurements, predict what was not measured", cmd_calibrate, &argp_calibrate},
    {"check", "say what is wrong with a scenario, or what it lacks", cmd_check, &argp_check},
    {"checkpoint", "how large a checkpoint is, how long it takes, and how often to save", cmd_checkpoint, &argp_checkpoint},
    {"collective", "how long collective operations take on given hardware", cmd_collective, &argp_collective},
    {"compare", "compare approaches on one scenario, paired, with intervals", cmd_compare, &argp_compare},
    {"explain", "why a job waited, where its GPU-seconds went, a pod's environment", cmd_explain, &argp_explain},
    {"export", "write a run in another format, a scenario as Kubernetes objects", cmd_export, &argp_export},
    {"failures", "how often jobs fail by their size, and how much of their time is useful", cmd_failures, &argp_failures},
    {"import", "turn a trace into a scenario or a workload profile", cmd_import, &argp_import},
    {"profiles", "list the shipped profiles and the constants of the stacks", cmd_profiles, &argp_profiles},
    {"report", "what the runs of each approach were: metrics, ledgers, waits, the busiest", cmd_report, &argp_report},
    {"run", "simulate a scenario under its approaches", cmd_run, &argp_run},
    {"step", "how long a training step is, what it consists of, and whether it fits", cmd_step, &argp_step},
    {"validate", "lay a simulated run beside a live one: errors, decisions that differ, a verdict", cmd_validate, &argp_validate},
    {"version", "print the version", cmd_version, &argp_version},
    {"view", "look at a run, or at two side by side, in a window", cmd_view, &argp_view},
};
const size_t n_commands = sizeof commands / sizeof *commands;

enum output_format command_format(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"text", "json", "csv"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) return (enum output_format)i;
    argp_error(state, "--format takes text, json or csv, not \"%s\"", text);
    return FORMAT_TEXT;
}

long command_number(const char *text, long min, long max, const char *what, struct argp_state *state)
{
    int64_t x;
    if (units_parse_int64(text, &x) || x < min || x > max)
        argp_error(state, "%s takes a whole number from %ld to %ld, not \"%s\"", what, min, max, text);
    return (long)x;
}

int64_t command_duration(const char *text, int64_t least_ns, const char *what, struct argp_state *state)
{
    int64_t ns = 0;
    const char *wrong = units_parse_duration(text, &ns);
    if (wrong) argp_error(state, "%s takes a duration such as 90s or 10m, not \"%s\"", what, text);
    if (ns < least_ns) argp_error(state, "%s takes %s, not \"%s\"", what, least_ns ? "more than 0" : "0 or more", text);
    return ns;
}

const char *command_one_of(const char *text, const char *const *names, size_t n, const char *what, const char *otherwise,
                           struct argp_state *state)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(text, names[i]) == 0) return text;
    const char *near = str_suggest(text, names, n);
    argp_error(state, "%s: \"%s\" is not known; %s%s%s", what, text, near ? "did you mean \"" : otherwise, near ? near : "",
               near ? "\"?" : "");
    return NULL;
}

const char *command_model(const char *text, const char *otherwise, struct argp_state *state)
{
    const char *names[128];
    size_t n = 0;
    for (; n < 128 && model_at(n); n++) names[n] = model_at(n)->name;
    return command_one_of(text, names, n, "--model", otherwise, state);
}

const char *command_text(const char *text, const char *what, struct argp_state *state)
{
    if (!*text) argp_error(state, "%s is empty", what);
    return text;
}

const char *command_plot(const char *text, struct argp_state *state)
{
    if (!strcmp(text, "-")) argp_error(state, "--plot: standard output carries the result; name a file, such as plot.svg");
    return command_text(text, "--plot", state);
}

const char *command_once(const char *text, const char *const *given, size_t n, const char *what, struct argp_state *state)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(given[i], text)) argp_error(state, "%s %s is given twice", what, text);
    return text;
}

int command_diag(struct diag *d)
{
    int code = diag_errors(d) ? EXIT_INPUT : EXIT_OK;
    diag_print(d, stderr);
    diag_free(d);
    return code;
}

int command_write(const char *path, const struct str *text)
{
    struct diag d = {0};
    if (!strcmp(path, "-")) fputs(str_text(text), stdout);
    else file_write_atomic(path, str_text(text), text->n, &d);
    return command_diag(&d) == EXIT_OK ? EXIT_OK : EXIT_IO;
}

int command_fail(int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("trainyard: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    return code;
}

int command_end(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    return code == EXIT_OK ? command_fail(EXIT_IO, "cannot write the result to standard output") : code;
}

/* The one thing that a signal handler may touch. */
static volatile int interrupted;

static void on_signal(int signal)
{
    (void)signal;
    interrupted = 1;
}

const volatile int *command_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &interrupted;
}
