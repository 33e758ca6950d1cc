/* bash_completion.h - completion files for bash, made from argp's tables of options, so that they cannot fall behind.
 *
 *     bash_completion_options(to, argp_x.options);      // " --size= --theme=" ...: the long ones that are not hidden
 *     bash_completion_reply(to, "_x", "x");             // closes the function _x: replies from $words where $current begins
 *                                                       // with -, else with files; and registers it for the program x
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_BASH_COMPLETION_H
#define TRAINYARD_BASE_BASH_COMPLETION_H

#include <argp.h>
#include <stdio.h>

void bash_completion_options(FILE *to, const struct argp_option *options); /* NULL: none */
void bash_completion_reply(FILE *to, const char *function, const char *program);

#endif
