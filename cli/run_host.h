/* run_host.h - trainyard run --on host and --on gpu: one approach, once, as real processes.
 *
 *     int code = run_on_host(&plan, work, on_gpu, quiet, &runs);    // runs: one cell, for the summary; runs_free
 *
 * Gives EXIT_OK, EXIT_CHECK (nothing can progress), EXIT_USAGE (several approaches), EXIT_INPUT (what it cannot play, told), EXIT_IO (also
 * without a GPU, where one is asked for) or EXIT_INTERRUPTED; all but the summary has been printed. Of the plan it reads scenario, approaches, overrides, out,
 * record_level and force.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_RUN_HOST_H
#define TRAINYARD_CLI_RUN_HOST_H

#include <stdbool.h>

#include "study/runs.h"

int run_on_host(const struct runs_plan *, const char *work, bool on_gpu, bool quiet, struct runs *);

#endif
