/* paired.h - differences of two approaches over the same replications, with intervals.
 *
 * Replication k of both approaches has the same arrivals, work and hardware failures, so the differences d_k = b_k - a_k
 * are one sample of independent values, and what both share cancels.
 *
 *     struct paired p = paired_of(a, b, n, PAIRED_LEVEL);
 *     if (p.difference.known) printf("%g (%g to %g)\n", p.mean, p.difference.low, p.difference.high);
 *     switch (p.verdict) { case VERDICT_MORE: ... }
 *
 * Difference: mean(d) +- t(1 - (1 - level) / 2, n - 1) s / sqrt(n), s with n - 1 (Student; gsl_cdf_tdist_Pinv).
 * Ratio mean(b) / mean(a): Fieller's interval (E. C. Fieller, "Some problems in interval estimation", J. Royal
 * Statistical Society B 16, 1954): all r for which the interval of mean(b - r a) holds 0. So 1 lies in it exactly when 0
 * lies in the interval of the difference. It has two ends only when mean(a) itself is shown to differ from 0; else it is
 * not known, and nothing is claimed.
 * Metrics that are quantiles (a median, a 95th percentile, a maximum a replication) have the bootstrap's intervals of both
 * from BOOTSTRAP_LEAST pairs on: bootstrap.h. `method` says which was used.
 * A pair with a NaN is left out; n counts what is left. With n = 1 there is no interval.
 * Equal values in all pairs give the interval [0, 0]: nothing random differs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_PAIRED_H
#define TRAINYARD_STUDY_PAIRED_H

#include <stdbool.h>
#include <stddef.h>

#define PAIRED_LEVEL 0.95

struct interval {
    double low, high;
    bool known;
};

enum interval_method { METHOD_STUDENT, METHOD_BOOTSTRAP };
extern const char *const interval_method_names[]; /* in files: "student", "bootstrap" */

/* SAME: equal in each pair. NONE: the interval holds 0. UNKNOWN: there is no interval. */
enum verdict { VERDICT_UNKNOWN, VERDICT_SAME, VERDICT_NONE, VERDICT_LESS, VERDICT_MORE, N_VERDICTS };
extern const char *const verdict_names[N_VERDICTS]; /* in files: "unknown", "same", "none_shown", "less", "more" */

struct paired {
    size_t n;              /* pairs */
    double mean_a, mean_b; /* NaN when n is 0 */
    double mean, sd;       /* of the differences; sd NaN when n < 2 */
    struct interval difference, ratio;
    double ratio_mean;    /* mean_b / mean_a; NaN when mean_a is 0 */
    enum interval_method method;
    enum verdict verdict; /* of b against a */
};

struct paired paired_of(const double *a, const double *b, size_t n, double level);
/* The same for values of a metric (metrics.h), by the method that it calls for. */
struct paired paired_metric(size_t metric, const double *a, const double *b, size_t n, double level);

/* Interval of the mean of one sample; of values of a metric, by its method. */
struct interval interval_of_mean(const double *x, size_t n, double level);
struct interval interval_of_metric(size_t metric, const double *x, size_t n, double level);
enum interval_method interval_method_of(size_t metric, size_t n);

/* The factor t(1 - (1 - level) / 2, n - 1); n >= 2. */
double student_t(size_t n, double level);

#endif
