/* timed_run.h - how long a run takes: CPU seconds from the first event to the closed run, the least of some rounds.
 *
 *     char dir[TIMED_DIR];
 *     double s = timed_least(scenario, rounds, dir);   // the last round's run lies in dir
 *     temp_run_remove(dir);
 *
 * Reading the scenario, set-up and the copy of the trace that a run keeps are left out. The run goes to memory (/dev/shm)
 * where there is some: a disk's speed is not the question. Exits the program with 1 when a run fails.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_TIMED_RUN_H
#define TRAINYARD_TESTS_SUPPORT_TIMED_RUN_H

#include "input/scenario.h"

enum { TIMED_DIR = 64 };

double timed_least(const struct scenario *, int rounds, char dir[TIMED_DIR]);

#endif
