/* run_live.h - what the live back ends of `trainyard run` share: one approach, once, into one run directory.
 *
 *     int code = run_live_load(&plan, check, &runs);     // runs: one cell of the approach; runs_free in any case
 *
 * EXIT_OK, EXIT_USAGE (several approaches), EXIT_INPUT (bad scenario, or what `check` says the back end cannot play); all but
 * the summary has been printed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_RUN_LIVE_H
#define TRAINYARD_CLI_RUN_LIVE_H

#include "study/runs.h"

int run_live_load(const struct runs_plan *, bool (*check)(const struct scenario *, struct diag *), struct runs *);
/* The worker that was built or installed beside this program, else the one of PATH. */
const char *run_live_worker(struct arena *);

#endif
