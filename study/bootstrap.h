/* bootstrap.h - intervals of a mean over replications without the normal law, for what is skewed: quantiles of waits.
 *
 * The values of a quantile by replication, such as p95_wait, have a long tail and few of them, so the mean of their
 * differences is not yet normal. The paired bootstrap draws replications with replacement, both approaches together, and
 * takes the spread of the means that come out (B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993,
 * chapters 8 and 13).
 *
 * Interval: the expanded percentile interval (T. C. Hesterberg, "What Teachers Should Know About the Bootstrap", The
 * American Statistician 69, 2015). The plain percentile interval is too narrow by sqrt((n - 1) / n) and by
 * the normal's tail instead of Student's; so it is taken at the level Phi(-t(level, n - 1) sqrt(n / (n - 1))) a side,
 * which for values that are normal is Student's interval. Its ends are order statistics of 10,000 resamples (as many as
 * Hesterberg asks for; fewer, not under 2,000, when there are more than 400 replications), so the ratio's interval holds
 * 1 exactly when the difference's holds 0.
 *
 * Below BOOTSTRAP_LEAST replications it is not used. Up to n = 4 the level that it would need (0.00012 a side at n = 4) is
 * below the chance 1/n^n of the outermost resample, so no resampling can show such an end; at n = 7 the resamples have
 * only C(13, 7) = 1,716 different values, and its ends are set by two or three of the replications. Student's t then
 * stands, and the output says so.
 *
 * Random numbers: GSL's uniform integers from the stream (seed BOOTSTRAP_SEED, STREAM_STATISTICS): equal input gives equal
 * output, and all figures of a comparison see the same resamples.
 *
 *     if (n >= BOOTSTRAP_LEAST) i = bootstrap_difference(a, b, n, 0.95, &ratio);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_BOOTSTRAP_H
#define TRAINYARD_STUDY_BOOTSTRAP_H

#include <stddef.h>

#include "study/paired.h"

enum { BOOTSTRAP_LEAST = 8, BOOTSTRAP_DRAWS = 10000, BOOTSTRAP_SEED = 1 };

/* Of mean(b - a); *ratio (may be NULL) of mean(b) / mean(a), known when no resample's mean(a) is 0 or below. Values are
 * finite; n >= BOOTSTRAP_LEAST. */
struct interval bootstrap_difference(const double *a, const double *b, size_t n, double level, struct interval *ratio);

#endif
