/* cmd_calibrate_failures.c - trainyard calibrate failures: from a log of failures to a failure profile.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "cli/calibrate.h"
#include "input/scenario.h"
#include "study/calibrate_failures.h"

struct options {
    const char *log, *out, *name;
    enum output_format format;
    struct failure_options fit;
};

enum { KEY_FROM = 256, KEY_UNTIL, KEY_NODES, KEY_GPUS, KEY_NEW, KEY_BURST, KEY_LEVEL, KEY_NAME };

static const struct argp_option options[] = {
    {"from",   KEY_FROM,  "TIME",          0, "The observation begins here, in the log's seconds", 0},
    {"until",  KEY_UNTIL, "TIME",          0, "... and ends here", 0},
    {"nodes",  KEY_NODES, "N",             0, "Nodes observed, those that never failed as well", 0},
    {"gpus",   KEY_GPUS,  "N",             0, "GPUs of a node", 0},
    {"new",    KEY_NEW,   NULL,            0, "All was new when the observation began: first lives count for the shape", 0},
    {"burst",  KEY_BURST, "DURATION",      0, "Failures of several nodes within this time are one incident (default: 60s)", 0},
    {"level",  KEY_LEVEL, "PERCENT",       0, "Of the intervals (default: 95)", 0},
    {"name",   KEY_NAME,  "NAME",          0, "Of the profile (default: the log's file name)", 0},
    {"output", 'o',       "FILE",          0, "Write a failure profile (JSON), as a scenario's /faults/profile takes it", 0},
    {"format", 'f',       "text|json|csv", 0, "Of what is printed (default: text)", 0},
    {0},
};

static double percent(const char *arg, struct argp_state *state)
{
    double x;
    if (units_parse_double(arg, &x) || !(x >= 50 && x <= 99.99)) argp_error(state, "--level takes 50 to 99.99, not \"%s\"", arg);
    return x / 100;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case KEY_FROM: o->fit.begin_ns = command_duration(arg, 0, "--from", state); return 0;
    case KEY_UNTIL: o->fit.end_ns = command_duration(arg, 0, "--until", state); return 0;
    case KEY_NODES: o->fit.nodes = (uint32_t)command_number(arg, 1, 4000000, "--nodes", state); return 0;
    case KEY_GPUS: o->fit.gpus = (uint32_t)command_number(arg, 1, MAX_GPUS_PER_NODE, "--gpus", state); return 0;
    case KEY_NEW: o->fit.fresh = true; return 0;
    case KEY_BURST: o->fit.burst_ns = command_duration(arg, 0, "--burst", state); return 0;
    case KEY_LEVEL: o->fit.level = percent(arg, state); return 0;
    case KEY_NAME: o->name = command_text(arg, "--name", state); return 0;
    case 'o': o->out = command_text(arg, "--output", state); return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case ARGP_KEY_ARG:
        if (o->log) argp_error(state, "one LOG only");
        o->log = command_text(arg, "LOG", state);
        return 0;
    case ARGP_KEY_END:
        if (!o->log) argp_error(state, "the LOG is missing");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_calibrate_failures = {
    options,
    parse,
    "LOG",
    "Rates, ageing, repairs, lemon nodes and common failures from a log of hardware failures, with intervals."
    "\v"
    "LOG: CSV with the columns time, node, component, kind and, if known, repaired and unit. Component gpu, link, nic, rack, power, "
    "switch and storage mean what they say; any other is something of a node. Rows with component observed say what was "
    "observed: kind begin and end (their time), nodes and gpus (their number in the column node).\n"
    "Example: trainyard calibrate failures events.csv --from 0 --until 55d --nodes 63 --gpus 8 -o mine.json",
    NULL,
    NULL,
    NULL};

static const char *profile_name(struct arena *arena, const struct options *o)
{
    if (o->name) return o->name;
    const char *base = strcmp(o->log, "-") ? path_base(o->log) : "failures", *dot = strrchr(base, '.');
    return arena_strndup(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static int write_profile(const struct options *o, const struct failure_calibration *c)
{
    struct arena arena = {0};
    struct str json = {0};
    failure_calibration_profile(c, profile_name(&arena, o), o->log, &json);
    int code = command_write(o->out, &json);
    str_free(&json);
    arena_free(&arena);
    return code;
}

int cmd_calibrate_failures(int argc, char **argv)
{
    static void (*const print[])(const struct failure_calibration *, struct str *) = {
        [FORMAT_TEXT] = failure_calibration_text, [FORMAT_JSON] = failure_calibration_json, [FORMAT_CSV] = failure_calibration_csv};
    struct options o = {.fit = {.begin_ns = -1, .end_ns = -1, .level = 0.95, .burst_ns = 60 * NS_PER_S}};
    struct failure_log log = {0};
    struct failure_calibration c = {0};
    struct diag d = {0};
    struct str text = {0};
    argp_parse(&argp_calibrate_failures, argc, argv, 0, NULL, &o);
    bool ok = failure_log_read(o.log, &log, &d) && calibrate_failures(&log, &o.fit, &c, &d);
    int code = command_diag(&d);
    if (ok) {
        if (o.out) code = write_profile(&o, &c);
        if (!o.out || strcmp(o.out, "-")) {
            print[o.format](&c, &text);
            fputs(str_text(&text), stdout);
        }
    }
    failure_calibration_free(&c);
    failure_log_free(&log);
    str_free(&text);
    return command_end(code);
}
