/* make_runs.h - runs of a scenario in a folder of their own, for tests that look at runs and know no simulator.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_MAKE_RUNS_H
#define TRAINYARD_TESTS_SUPPORT_MAKE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

/* So many replications of the named approaches below `dir`; says on stderr what is wrong. */
bool make_runs(const char *scenario, const char *const *approaches, unsigned n, uint32_t replications, int record_level, const char *dir);

#endif
