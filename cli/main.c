/* main.c - trainyard: finds the command and calls it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/command.h"
#include "cli/manual.h"

static void print_usage(FILE *to)
{
    fprintf(to, "Usage: trainyard COMMAND [OPTION...]\n"
                "Simulate GPU training clusters under the operator and the actor way, and compare them.\n\n");
    for (size_t i = 0; i < n_commands; i++) fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\nTry: trainyard compare scenarios/demo.json     trainyard COMMAND --help\n");
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < n_commands; i++)
        if (!strcmp(commands[i].name, name)) return &commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    const char *names[32];
    for (size_t i = 0; i < n_commands; i++) names[i] = commands[i].name;
    const char *near = str_suggest(name, names, n_commands);
    command_fail(EXIT_USAGE, "\"%s\" is no command%s%s%s", name, near ? "; did you mean \"" : "", near ? near : "",
                 near ? "\"?" : "");
    fprintf(stderr, "    commands:");
    for (size_t i = 0; i < n_commands; i++) fprintf(stderr, " %s", names[i]);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *option;
        void (*print)(FILE *);
    } pages[] = {{"--print-man", manual_man},
                 {"--print-man-scenario", manual_scenario},
                 {"--print-bash-completion", manual_bash}};
    char called[64];
    setlocale(LC_NUMERIC, "C");
    argp_err_exit_status = EXIT_USAGE;
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_usage(stdout);
        return command_end(EXIT_OK);
    }
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (!strcmp(argv[1], pages[i].option)) {
            pages[i].print(stdout);
            return command_end(EXIT_OK);
        }
    const struct command *c = find(!strcmp(argv[1], "--version") ? "version" : argv[1]);
    if (!c) return unknown(argv[1]);
    snprintf(called, sizeof called, "trainyard %s", c->name);
    argv[1] = called;
    return c->run(argc - 1, argv + 1);
}
