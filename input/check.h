/* check.h - what a scenario lacks, before it runs.
 *
 *     struct findings f = {0};
 *     scenario_check(s, &f);
 *     for (size_t i = 0; i < f.list.n; i++) printf("%s: %s\n", finding_severity_names[f.list.v[i].severity], ...);
 *     findings_free(&f);
 *
 * A scenario that loads is well formed; a finding says that it may not mean what its author meant: offered load against
 * capacity, jobs that can never fit, quota that no node can serve, keys that the chosen approach ignores, durations that
 * already contain failures. Pure: reads the scenario, changes nothing. Cost: O(jobs + groups x queues).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_CHECK_H
#define TRAINYARD_INPUT_CHECK_H

#include <stddef.h>

#include "base/arena.h"
#include "base/array.h"
#include "input/scenario.h"

enum finding_severity { FINDING_INFO, FINDING_WARNING, FINDING_PROBLEM, N_FINDING_SEVERITIES };
extern const char *const finding_severity_names[N_FINDING_SEVERITIES];

struct finding {
    enum finding_severity severity; /* PROBLEM: jobs will never run, or the answer is meaningless */
    const char *topic;              /* "load", "fit", "quota", "ignored", "data", "failures", "trace" */
    const char *text, *help;        /* help: what to do, or NULL */
};

struct findings {
    size_t n_jobs; /* of replication 0, those that classes generate included */
    ARRAY(struct finding) list;
    struct arena arena;
};

void scenario_check(const struct scenario *, struct findings *);
void findings_free(struct findings *);

#endif
