/* fit.h - a workload profile from a trace: what its jobs are like, as numbers.
 *
 *     struct import_result trace;  ...
 *     struct workload_profile *p = fit_profile("philly-like", source, &trace, d);
 *     struct str json = {0};
 *     workload_profile_write(p, &json);
 *
 * Fitted are: the mean rate over the trace's span; the weight of each hour of the week (jobs a covered hour, mean 1);
 * the share of each number of GPUs; for each of them FIT_QUANTILES quantiles of the duration, closer towards the
 * end, and the shares of the teams. Sizes with fewer than FIT_MIN_JOBS jobs are put to the next size below (to the next above for the lowest)
 * for their durations, since a quantile table of a few jobs would only repeat them; their own share stays.
 * An hour of the week that the trace never covers gets the mean. A trace without dates counts its weeks from time 0.
 *
 * A quantile is the order statistic at p (n - 1), linear between neighbours (Hyndman and Fan 1996, type 7).
 * Not fitted, and so absent from what is generated: bursts (see `dispersion`), a user's habits, trends over months,
 * correlation of size and hour.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_FIT_H
#define TRAINYARD_INPUT_FIT_H

#include "base/diag.h"
#include "base/str.h"
#include "input/generate.h"
#include "input/import.h"

enum { FIT_MIN_JOBS = 50, FIT_MAX_TEAMS = 1000, FIT_QUANTILES = 28 };

/* NULL after errors: no jobs, or all at one moment. */
struct workload_profile *fit_profile(const char *name, const char *source, const struct import_result *trace,
                                     struct diag *d);
void workload_profile_write(const struct workload_profile *, struct str *json);

#endif
