/* commands.h - the commands of trainyard: one function and one file each.
 *
 * argv[0] is the command's name as it is shown in its help. The result is the exit status: 0 ok, 1 a check failed,
 * 2 usage, 3 bad input, 4 I/O or back end, 130 interrupted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_COMMANDS_H
#define TRAINYARD_CLI_COMMANDS_H

int cmd_import(int argc, char **argv);

#endif
