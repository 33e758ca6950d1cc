/* any_scenario.h - small scenarios drawn at random over everything that a scenario can say.
 *
 *     struct str json = {0};
 *     any_scenario(17, &json);                                       // equal seeds give equal texts
 *     struct scenario *s = scenario_parse("any.json", json.s, json.n, "two", diag);
 *
 * Each text has two approaches, "one" and "two", drawn from all life cycles, admissions, gangs, placements and ways to
 * resize; node groups, racks, CPU and memory, taints, quotas with cohorts, borrowing, lending and preemption; jobs with
 * fractions of GPUs, priorities, dependencies, time limits, data loading, checkpoints, elastic bounds, crashes and hangs; failing
 * hardware and scripted actions; a horizon or an open end. Sizes are small and numbers few, so that ties, queues and
 * races at one instant are frequent.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_ANY_SCENARIO_H
#define TRAINYARD_TESTS_SUPPORT_ANY_SCENARIO_H

#include <stdint.h>

#include "base/str.h"

/* Parts that may be left out, to find out which of them a failure needs. */
enum any_part {
    ANY_SCRIPT = 1, ANY_HARDWARE = 2, ANY_PROCESS_FAULTS = 4, ANY_QUEUES = 8, ANY_ELASTIC = 16, ANY_DEPENDENCIES = 32,
    ANY_CHECKPOINTS = 64, ANY_GROUPS = 128, ANY_CONSTANTS = 256, ANY_ALL = 511,
};

void any_scenario(uint64_t seed, struct str *json);
/* The same draw with only some of its parts, and only the first `jobs` jobs. */
void any_scenario_part(uint64_t seed, unsigned parts, unsigned jobs, struct str *json);

#endif
