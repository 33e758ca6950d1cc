/* failure_fit.h - estimates with intervals from counts, lives and repairs.
 *
 *     struct estimate rate = fit_rate(17, 3465, 0.95);                  // 17 events in 3,465 node-days: 4.9e-3, 2.9e-3 .. 7.9e-3
 *     struct weibull_fit w = fit_weibull(lives, n, 0.95);               // complete and censored lives
 *
 * Rate: events are Poisson; exact interval chi2(a/2, 2n)/2 .. chi2(1 - a/2, 2n + 2)/2 over the exposure (Garwood, Biometrika
 * 28, 1936). Ratio of two rates: given the sum the first count is binomial; Clopper and Pearson, Biometrika 26, 1934.
 * Weibull: maximum likelihood with censored lives; the shape k solves
 *     sum t^k ln t / sum t^k - 1/k - mean(ln t of those that ended) = 0      (sums over all lives)
 * (Cohen, Technometrics 7, 1965); its interval is where the profile likelihood falls by chi2(level, 1)/2; the mean's from the
 * observed information of (ln scale, ln k). `p_exponential` is the likelihood-ratio test of k = 1.
 * Lognormal: mean and deviation of the logarithms; interval of the median by Student's t, of sigma by chi-square.
 * Statistics: GSL. Values are in the unit given; n is small enough to sort. Pure.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_FAILURE_FIT_H
#define TRAINYARD_STUDY_FAILURE_FIT_H

#include <stdbool.h>
#include <stddef.h>

struct estimate { double value, low, high; }; /* NaN: not known */

/* `events` may be 0: value 0, low 0. exposure > 0. */
struct estimate fit_rate(size_t events, double exposure, double level);
/* (a / exposure_a) / (b / exposure_b); a + b > 0. */
struct estimate fit_rate_ratio(size_t a, double exposure_a, size_t b, double exposure_b, double level);

struct life { double length; double weight; bool ended; }; /* weight: so many such lives */

struct weibull_fit {
    bool known; /* at least three lives ended, not all alike */
    size_t ended;
    double scale, p_exponential;
    struct estimate shape, mean;
};
struct weibull_fit fit_weibull(const struct life *, size_t n, double level);

struct lognormal_fit { size_t n; double mean; struct estimate median, sigma; }; /* sigma known from n = 2 on */
struct lognormal_fit fit_lognormal(const double *x, size_t n, double level);

#endif
