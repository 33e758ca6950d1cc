/* estimate.h - a mean from independent batches, with its 95 % interval.
 *
 *     struct estimate e = estimate_mean(y, n);
 *     struct estimate e = estimate_controlled(y, n, x, k);    // x[i * k + j]: control j of batch i, of known mean 0
 *
 * Controls are what went into a batch (arrivals, work) less its known expectation. The mean is the regression's intercept,
 * which is less variable by what the controls explain: Lavenberg and Welch, Management Science 27 (1981). Half width by
 * Student's t with n - k - 1 degrees of freedom.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_ESTIMATE_H
#define TRAINYARD_TESTS_SUPPORT_ESTIMATE_H

#include <stddef.h>

struct estimate { double mean, half; };

struct estimate estimate_mean(const double *y, size_t n);
struct estimate estimate_controlled(const double *y, size_t n, const double *x, size_t k);

#endif
