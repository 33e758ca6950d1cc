/* cmd_profiles.c - trainyard profiles: the shipped profiles, and the constants of a stack with their sources.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "cli/command.h"
#include "input/stack.h"

struct options { const char *kind; };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    if (key != ARGP_KEY_ARG) return ARGP_ERR_UNKNOWN;
    if (o->kind) argp_error(state, "one KIND only");
    o->kind = arg;
    return 0;
}

const struct argp argp_profiles = {
    NULL, parse, "[KIND]",
    "List the shipped profiles: hardware, networks, failures, stacks, workloads. KIND \"constants\" lists every constant "
    "of a stack with its default and source.",
    NULL, NULL, NULL};

static void print_constants(void)
{
    printf("%-42s %-10s %s\n", "constant", "default", "source");
    for (size_t i = 0; i < stack_constant_count(); i++) {
        const struct stack_constant *c = stack_constant_at(i);
        printf("%-42s %-10s %s\n", c->name, c->fallback, c->source);
    }
}

int cmd_profiles(int argc, char **argv)
{
    struct options o = {0};
    argp_parse(&argp_profiles, argc, argv, 0, NULL, &o);
    if (o.kind && strcmp(o.kind, "constants")) return command_fail(EXIT_USAGE, "\"%s\" is no kind of profile; there is: constants", o.kind);
    print_constants();
    return command_end(EXIT_OK);
}
