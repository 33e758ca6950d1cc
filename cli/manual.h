/* manual.h - the manual page and the shell completion, made from the table of commands, so that they cannot fall behind.
 *
 *     manual_man(stdout);       // trainyard(1), roff
 *     manual_bash(stdout);      // a completion file for bash
 *
 * `make install` writes both: trainyard --print-man, trainyard --print-bash-completion.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_MANUAL_H
#define TRAINYARD_CLI_MANUAL_H

#include <stdio.h>

void manual_man(FILE *);
void manual_bash(FILE *);

#endif
