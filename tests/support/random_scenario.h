/* random_scenario.h - small scenarios drawn at random, for properties that must hold in all of them.
 *
 *     struct random_spec spec = { .seed = 17, .admission = "las", .placement = "none" };
 *     struct str json = {0};
 *     random_scenario(&spec, &json);                      // print it when a property fails
 *     struct scenario *s = random_scenario_load(&json);   // fails the test on any error
 *
 * Equal specs give equal texts. Times are whole seconds unless `odd`; loads are around one, so that lines form; many
 * jobs are alike, so that ties occur.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_RANDOM_SCENARIO_H
#define TRAINYARD_TESTS_SUPPORT_RANDOM_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "input/scenario.h"

struct random_spec {
    uint64_t seed;
    const char *admission, *placement;
    unsigned nodes, gpus;  /* 0: drawn */
    unsigned jobs;         /* 0: drawn, up to 40 */
    bool limits;           /* every job has a time limit, some too short */
    bool odd;              /* replicas, fractions, two node groups, checkpoints, fractional times, horizons */
    bool faults;           /* scripted node losses and returns */
    bool interventions;    /* suspend and resume, jobs that come after others */
};

/* A number in [0, n): splitmix64. */
uint64_t random_below(uint64_t *state, uint64_t n);
void random_scenario(const struct random_spec *, struct str *json);
struct scenario *random_scenario_load(const struct str *json);

#endif
