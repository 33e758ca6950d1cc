/* manual.h - the manual pages and the shell completion, made from the tables of commands and of the scenario, so that they
 * cannot fall behind.
 *
 *     manual_man(stdout);       // trainyard(1), roff
 *     manual_scenario(stdout);  // trainyard-scenario(5), roff
 *     manual_bash(stdout);      // a completion file for bash
 *
 * `make install` writes all three: trainyard --print-man, --print-man-scenario, --print-bash-completion.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_MANUAL_H
#define TRAINYARD_CLI_MANUAL_H

#include <stdio.h>

void manual_man(FILE *);
void manual_scenario(FILE *);
void manual_bash(FILE *);

#endif
