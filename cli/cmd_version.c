/* cmd_version.c - trainyard version.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_version.h>
#include <zlib.h>
#include <cjson/cJSON.h>

#include "base/version.h"
#include "cli/command.h"

const struct argp argp_version = {NULL, NULL, "", "Print the version of trainyard and of its libraries.", NULL, NULL, NULL};

int cmd_version(int argc, char **argv)
{
    argp_parse(&argp_version, argc, argv, 0, NULL, NULL);
    printf("trainyard %s\nrun format 1, scenario format 1\nGSL %s, cJSON %s, zlib %s\n", TRAINYARD_VERSION, gsl_version,
           cJSON_Version(), zlibVersion());
    return command_end(EXIT_OK);
}
