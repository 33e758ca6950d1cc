/* cmd_calibrate_collective.c - trainyard calibrate collective: from measured tables to other sizes and scales.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/calibrate.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key == ARGP_KEY_END) argp_error(state, "not built yet");
    return ARGP_ERR_UNKNOWN;
}

const struct argp argp_calibrate_collective = {
    NULL, parse, "", "Fit at most four numbers to a measured table of a collective operation.", NULL, NULL, NULL};

int cmd_calibrate_collective(int argc, char **argv)
{
    argp_parse(&argp_calibrate_collective, argc, argv, 0, NULL, NULL);
    return EXIT_OK;
}
