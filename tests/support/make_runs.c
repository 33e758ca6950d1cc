/* make_runs.c - see make_runs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/make_runs.h"

#include "study/runs.h"

bool make_runs(const char *scenario, const char *const *approaches, unsigned n, uint32_t replications, int record_level, const char *dir)
{
    struct diag d = {0};
    struct runs r;
    struct runs_plan plan = {.scenario = scenario, .approaches = approaches, .n_approaches = n, .replications = replications,
                             .out = dir, .threads = 1, .record_level = record_level, .force = true};
    bool ok = runs_execute(&plan, &r, &d);
    diag_print(&d, stderr);
    if (r.error) fprintf(stderr, "%s\n", r.error);
    runs_free(&r);
    diag_free(&d);
    return ok;
}
