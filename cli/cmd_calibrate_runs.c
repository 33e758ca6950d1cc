/* cmd_calibrate_runs.c - trainyard calibrate runs: from live runs to a stack profile.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/calibrate.h"
#include "input/stack.h"
#include "study/calibrate_runs.h"

struct options {
    ARRAY(const char *) dirs;
    ARRAY(const char *) only;
    const char *out, *name;
    int64_t jitter_ns;
    double level;
    enum output_format format;
    bool quiet;
};

enum { KEY_LEVEL = 256, KEY_NAME };

static const struct argp_option options[] = {
    {"jitter", 'j', "DURATION", 0, "What repeats of a run differ by: durations closer than this are equal (default: 10ms)", 0},
    {"constant", 'c', "NAME", 0, "Fit this constant; several times (default: all service times; settings such as time-outs stay)", 0},
    {"level", KEY_LEVEL, "PERCENT", 0, "Of the intervals (default: 95)", 0},
    {"name", KEY_NAME, "NAME", 0, "Of the profile (default: its file name)", 0},
    {"output", 'o', "FILE", 0, "Write a stack profile (JSON), as an approach's \"stack\" takes it", 0},
    {"format", 'f', "text|json|csv", 0, "Of what is printed (default: text)", 0},
    {"quiet", 'q', 0, 0, "No progress on stderr", 0},
    {0},
};

static double percent(const char *arg, struct argp_state *state)
{
    double x;
    if (units_parse_double(arg, &x) || !(x >= 50 && x <= 99.99)) argp_error(state, "--level takes 50 to 99.99, not \"%s\"", arg);
    return x / 100;
}

static const char *constant_name(const char *arg, struct argp_state *state)
{
    const char *names[256];
    size_t n = stack_constant_count();
    for (size_t i = 0; i < n && i < 256; i++) names[i] = stack_constant_at(i)->name;
    return command_one_of(arg, names, n < 256 ? n : 256, "--constant", "`trainyard profiles` lists them", state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'j': o->jitter_ns = command_duration(arg, 1, "--jitter", state); return 0;
    case 'c': array_push(&o->only, constant_name(command_once(arg, o->only.v, o->only.n, "--constant", state), state)); return 0;
    case KEY_LEVEL: o->level = percent(arg, state); return 0;
    case KEY_NAME: o->name = command_text(arg, "--name", state); return 0;
    case 'o': o->out = command_text(arg, "--output", state); return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case 'q': o->quiet = true; return 0;
    case ARGP_KEY_ARG: array_push(&o->dirs, command_once(arg, o->dirs.v, o->dirs.n, "RUN", state)); return 0;
    case ARGP_KEY_END:
        if (!o->dirs.n) argp_error(state, "a RUN is missing: the directory of a live run");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_calibrate_runs = {
    options,
    parse,
    "RUN [RUN...]",
    "Fit the service times of the stacks to live runs: the scenario of each is simulated until its durations are the measured "
    "ones. Tells the error on jobs that were held out, and which constants the runs cannot determine; step times, "
    "checkpoints and failures straight from the runs beside it."
    "\v"
    "All fitted constants go into the profile, for they were fitted together; its source names those that are not determined.\n"
    "Example: trainyard calibrate live/a live/b -o mine.json, then \"stack\": \"./mine.json\" in an approach, and\n"
    "         trainyard validate out/sim live/c\n"
    "Exit: 0 ok, 2 usage, 3 bad input (a damaged run, one without durations), 4 a run cannot be read, 130 interrupted.",
    NULL,
    NULL,
    NULL};

static int write_profile(const struct options *o, const struct runs_calibration *c)
{
    struct str json = {0}, name = {0};
    const char *base = strcmp(o->out, "-") ? path_base(o->out) : "calibrated", *dot = strrchr(base, '.');
    if (o->name) str_append(&name, o->name);
    else str_append_n(&name, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
    runs_calibration_profile(c, str_text(&name), &json);
    int code = command_write(o->out, &json);
    str_free(&json);
    str_free(&name);
    return code;
}

static int print(const struct options *o, const struct runs_calibration *c)
{
    static void (*const how[])(const struct runs_calibration *, struct str *) = {
        [FORMAT_TEXT] = runs_calibration_text, [FORMAT_JSON] = runs_calibration_json, [FORMAT_CSV] = runs_calibration_csv};
    struct str text = {0};
    int code = o->out ? write_profile(o, c) : EXIT_OK;
    if (!o->out || strcmp(o->out, "-")) {
        how[o->format](c, &text);
        fputs(str_text(&text), stdout);
    }
    str_free(&text);
    return code;
}

int cmd_calibrate_runs(int argc, char **argv)
{
    struct options o = {.jitter_ns = 10 * NS_PER_MS, .level = 0.95};
    struct runs_calibration c;
    struct diag d = {0};
    char *err = NULL;
    argp_parse(&argp_calibrate_runs, argc, argv, 0, NULL, &o);
    struct progress_sink progress = progress_sink(o.quiet ? NULL : stderr);
    struct calibrate_runs_plan plan = {.dirs = o.dirs.v, .n = o.dirs.n, .jitter_ns = o.jitter_ns, .level = o.level,
                                       .only = o.only.v, .n_only = o.only.n, .progress = &progress,
                                       .interrupt = command_catch_signals()};
    bool ok = calibrate_runs(&plan, &c, &d, &err);
    fputs(str_text(&c.warnings), stderr);
    int code = command_diag(&d);
    if (ok) code = print(&o, &c);
    else if (err) code = command_fail(EXIT_IO, "%s", err);
    else if (*plan.interrupt) code = EXIT_INTERRUPTED;
    free(err);
    runs_calibration_free(&c);
    array_free(&o.dirs);
    array_free(&o.only);
    return command_end(code);
}
