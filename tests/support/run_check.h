/* run_check.h - what must hold in every run, checked from its files alone.
 *
 *     char why[RUN_WHY];
 *     if (!run_check("out", scenario, why)) puts(why);        // a run recorded at level full
 *     if (!run_check_paired("out/one", "out/two", why)) ...
 *
 * From the records, replayed: no device and no share is held twice, nothing is taken on a node that is down, what is freed
 * was held; the integral of held shares equals the held and work cells of ledger.csv. From jobs.csv: each wait equals what the
 * records tell of it, by reason, also of what classes of waiting jobs wait for; submitted <= admitted
 * <= allocated <= started <= finished; a job's waits and the time in which the records say that it stepped add up to its
 * time from submission to its end (or the run's), to the ns; the jobs' work, redone and held sums equal the cells of the
 * ledger that are a job's. The cells of each group add up to its existing shares.
 * Paired: equal submissions (job, GPUs, kind, queue, team, time) and equal states of nodes, up to the earlier end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_RUN_CHECK_H
#define TRAINYARD_TESTS_SUPPORT_RUN_CHECK_H

#include <stdbool.h>

#include "input/scenario.h"

enum { RUN_WHY = 512 };

bool run_check(const char *dir, const struct scenario *s, char why[RUN_WHY]);
bool run_check_paired(const char *one, const char *two, char why[RUN_WHY]);

#endif
