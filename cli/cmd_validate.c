/* cmd_validate.c - trainyard validate: a simulated run beside a live one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/command.h"
#include "study/validate.h"

struct options {
    struct validate_plan plan;
    enum output_format format;
};

static const struct argp_option options[] = {
    {"jitter", 'j', "DURATION", 0,
     "What repeats of the live run differ by (default: 10ms): events closer than three times this have no order, and "
     "medians closer than this are equal", 0},
    {"tolerance", 't', "QUANTITY=PERCENT", 0,
     "How far the median of a quantity may be off (default: 10 %, of step 5 %); several times. QUANTITY: admission, "
     "readmission, allocation, start, run, restart, step, save, wait_REASON, or all", 0},
    {"events-only", 'e', 0, 0, "Medians are told and decide nothing: order, victims and ends do, where the machine's times are not its own", 0},
    {"format", 'f', "text|json|csv", 0, "Of the result (default: text)", 0},
    {0},
};

static void set_tolerance(struct options *o, const char *text, struct argp_state *state)
{
    const char *equals = strchr(text, '=');
    char *end = NULL;
    double percent = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || end == equals + 1 || (*end && strcmp(end, "%")) || !(percent > 0 && percent <= 1000))
        argp_error(state, "--tolerance takes QUANTITY=PERCENT such as start=15, not \"%s\"", text);
    char *name = strndup(text, (size_t)(equals - text));
    int quantity = quantity_find(name);
    bool all = strcmp(name, "all") == 0;
    if (quantity < 0 && !all) argp_error(state, "--tolerance: there is no quantity \"%s\"", name);
    for (int q = 0; q < N_QUANTITIES; q++)
        if (all || q == quantity) o->plan.tolerance[q] = percent / 100;
    free(name);
}

static void add_run(struct options *o, const char *arg, struct argp_state *state)
{
    if (!o->plan.sim) o->plan.sim = command_text(arg, "SIM", state);
    else if (!o->plan.live) o->plan.live = command_text(arg, "LIVE", state);
    else argp_error(state, "two runs are compared; \"%s\" is too much", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'j': o->plan.jitter_ns = command_duration(arg, 0, "--jitter", state); return 0;
    case 't': set_tolerance(o, arg, state); return 0;
    case 'e': o->plan.events_only = true; return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case ARGP_KEY_ARG: add_run(o, arg, state); return 0;
    case ARGP_KEY_END:
        if (!o->plan.live) argp_error(state, "two runs are needed: SIM LIVE");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_validate = {
    options, parse, "SIM LIVE",
    "Lay a simulated run beside a live one of the same scenario: error by quantity, decisions that differ by name, a verdict.\v"
    "Each is the directory of one run. Step times need both recorded in full (trainyard run -r full).\n"
    "Example: trainyard validate out/sim out/live --jitter 50ms --tolerance restart=15\n"
    "Look at both: trainyard view out/sim out/live\n"
    "Exit: 0 passed, 1 failed, 2 usage, 4 a run cannot be read.",
    NULL, NULL, NULL};

int cmd_validate(int argc, char **argv)
{
    struct options o = {.plan.jitter_ns = 10000000};
    struct validation v;
    struct str out = {0};
    char *err = NULL;
    argp_parse(&argp_validate, argc, argv, 0, NULL, &o);
    if (!validate_runs(&o.plan, &v, &err)) {
        int code = command_fail(EXIT_IO, "%s", err);
        free(err);
        return code;
    }
    if (v.sim.warnings) fputs(v.sim.warnings, stderr);
    if (v.live.warnings) fputs(v.live.warnings, stderr);
    if (o.format == FORMAT_JSON) validate_json(&v, &out);
    else if (o.format == FORMAT_CSV) validate_csv(&v, &out);
    else validate_text(&v, &out);
    fputs(str_text(&out), stdout);
    str_free(&out);
    bool passed = v.passed;
    validate_free(&v);
    return command_end(passed ? EXIT_OK : EXIT_CHECK);
}
