/* cmd_view.c - trainyard view: gives way to the viewer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/viewer.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    (void)state;
    return key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp argp_view = {
    NULL, parse, "RUN...",
    "Look at a run in a window, at two side by side, or at more in a grid: who held which GPU when, queues and ledgers over time, what differs. "
    "All arguments go to trainyard-view; `trainyard-view --help` lists its options, `?` in the window its keys.\v"
    "Example: trainyard run scenarios/demo.json -n 1 -r full -o out && trainyard view out/operator out/actor\n"
    "Exit: as trainyard-view; 4 when it is not installed.",
    NULL, NULL, NULL};

static bool asks_for_help(int argc, char **argv)
{
    return argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "--usage") || !strcmp(argv[1], "-?"));
}

int cmd_view(int argc, char **argv)
{
    if (asks_for_help(argc, argv)) argp_parse(&argp_view, argc, argv, 0, NULL, NULL);
    char *path = viewer_find();
    if (!path) return viewer_missing();
    char *name = argv[0];
    argv[0] = path;
    execv(path, argv);
    argv[0] = name;
    int code = command_fail(EXIT_IO, "%s: %s", path, strerror(errno));
    free(path);
    return code;
}
