/* cmd_profiles.c - trainyard profiles: the shipped profiles with their sources, and the constants of a stack.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/command.h"
#include "input/profiles.h"
#include "input/stack.h"
#include "study/words.h"

enum { WIDTH = 100, NAME = 26 };

/* One row a kind: the folder below profiles/, and where a scenario names one. */
static const struct kind {
    const char *name, *where;
} kinds[] = {
    {"hardware",  "/cluster/nodes/N/profile"    },
    {"network",   "/cluster/network/profile"    },
    {"kernels",   "/cluster/kernels"            },
    {"failures",  "/faults/profile"             },
    {"stacks",    "/approaches/NAME/stack"      },
    {"workloads", "/workload/generate/N/profile"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };
static const char constants[] = "constants";

struct options {
    const char *kind;
};

static bool is_kind(const char *name)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (!strcmp(kinds[i].name, name)) return true;
    return !strcmp(name, constants);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    if (key != ARGP_KEY_ARG) return ARGP_ERR_UNKNOWN;
    if (o->kind) argp_error(state, "one KIND only");
    if (!is_kind(arg))
        argp_error(state,
                   "\"%s\" is no kind of profile; there is: hardware, network, kernels, failures, stacks, workloads, constants",
                   arg);
    o->kind = arg;
    return 0;
}

const struct argp argp_profiles = {
    NULL,
    parse,
    "[KIND]",
    "List the shipped and installed profiles with their sources: hardware, network, kernels, failures, stacks, workloads. KIND "
    "\"constants\" lists every constant of a stack with its default and source.",
    NULL,
    NULL,
    NULL};

static void print_wrapped(const char *name, const char *text)
{
    struct str line = {0};
    str_append(&line, "  ");
    words_left(&line, name, NAME - 4);
    str_append(&line, "  ");
    words_wrapped(&line, text, NAME, WIDTH);
    puts(str_text(&line));
    str_free(&line);
}

static void print_profile(struct arena *arena, const char *folder, const char *name)
{
    struct diag d = {0};
    const char *source = "(no source)";
    struct json_doc *doc = json_load(profile_path(arena, folder, name), &d);
    if (doc) json_get_string(doc, doc->root, "source", &source);
    print_wrapped(name, doc ? source : "(cannot be read)");
    if (doc) json_free(doc);
    diag_free(&d);
}

static void print_kind(const struct kind *k)
{
    struct arena arena = {0};
    struct profile_names *names = xcalloc(1, sizeof *names);
    profile_list(&arena, k->name, names);
    printf("%s (%s)\n", k->name, k->where);
    for (size_t i = 0; i < names->n; i++) print_profile(&arena, k->name, names->v[i]);
    free(names);
    arena_free(&arena);
}

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
    for (size_t i = 0; i < N_KINDS; i++)
        if (!o.kind || !strcmp(o.kind, kinds[i].name)) print_kind(&kinds[i]);
    if (o.kind && !strcmp(o.kind, constants)) print_constants();
    if (!o.kind) puts("trainyard profiles constants: every constant of a stack, with its default and source");
    return command_end(EXIT_OK);
}
