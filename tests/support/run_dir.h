/* run_dir.h - a scenario simulated into a directory of the test's, for what reads run directories only.
 *
 *     char dir[64];
 *     run_dir_simulate("scenarios/demo.json", "operator", dir, sizeof dir);    // full records; fails the test when it cannot
 *     run_dir_remove(dir);
 *
 * It includes nothing of the scenario's types, whose names of roles those of the themes would meet.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_RUN_DIR_H
#define TRAINYARD_TESTS_SUPPORT_RUN_DIR_H

#include <stddef.h>

void run_dir_simulate(const char *scenario, const char *approach, char *dir, size_t n);
void run_dir_remove(const char *dir);

#endif
