/* distribution.c - what durations are drawn from, by inversion.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_cdf.h>

#include "base/detmath.h"
#include "base/units.h"
#include "input/generate.h"

#define X_NAME(e, name) name,
const char *const distribution_names[N_DISTRIBUTIONS] = {DISTRIBUTIONS(X_NAME)};
#undef X_NAME

/* Durations are interpolated in ln(1 s + x): in the logarithm, since they spread over decades; shifted, since some are
 * zero. */
#define SHIFT_NS 1e9
#define LARGEST  ((double)(INT64_C(1) << 62))

static double probability(const struct distribution *d, uint32_t i)
{
    return d->p ? d->p[i] : (double)i / (double)(d->n - 1);
}

/* The interval [i, i + 1] of the table that holds probability u. */
static uint32_t interval_of(const struct distribution *d, double u)
{
    uint32_t low = 0, high = d->n - 1;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (probability(d, middle) <= u)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double table_value(const struct distribution *d, double u)
{
    uint32_t i = interval_of(d, u);
    double p0 = probability(d, i), p1 = probability(d, i + 1), x0 = d->x[i], x1 = d->x[i + 1];
    if (!(p1 > p0) || !(x1 > x0)) return x0;
    double t = (u - p0) / (p1 - p0), l0 = det_log(x0 + SHIFT_NS), l1 = det_log(x1 + SHIFT_NS);
    return det_exp(l0 + t * (l1 - l0)) - SHIFT_NS;
}

static double value(const struct distribution *d, double u)
{
    switch (d->kind) {
    case DIST_UNIFORM: return d->a + (d->b - d->a) * u;
    case DIST_EXPONENTIAL: return -d->a * det_log(1 - u);
    case DIST_LOGNORMAL: return d->a * det_exp(d->b * det_norm_inv(u));
    case DIST_QUANTILES: return table_value(d, u);
    default: return d->a;
    }
}

int64_t distribution_ns(const struct distribution *d, double u)
{
    double x = value(d, u);
    if (x < d->min_ns) x = d->min_ns;
    if (d->max_ns > 0 && x > d->max_ns) x = d->max_ns;
    if (!(x > 0)) return 0;
    return x < LARGEST ? det_round(x) : INT64_C(1) << 62;
}

/* Of one interval: the integral of exp(l) over l from l0 to l1, divided by l1 - l0. */
static double interval_mean(double x0, double x1)
{
    double l0 = det_log(x0 + SHIFT_NS), l1 = det_log(x1 + SHIFT_NS);
    return l1 > l0 ? (x1 - x0) / (l1 - l0) - SHIFT_NS : x0;
}

double distribution_mean_ns(const struct distribution *d)
{
    double sum = 0;
    switch (d->kind) {
    case DIST_UNIFORM: return (d->a + d->b) / 2;
    case DIST_LOGNORMAL: return d->a * det_exp(d->b * d->b / 2);
    case DIST_QUANTILES:
        for (uint32_t i = 0; i + 1 < d->n; i++)
            sum += (probability(d, i + 1) - probability(d, i)) * interval_mean(d->x[i], d->x[i + 1]);
        return sum;
    default: return d->a;
    }
}

static double table_cdf(const struct distribution *d, double x)
{
    if (x < d->x[0]) return 0;
    uint32_t i = d->n - 1;
    while (d->x[i] > x) i--;
    if (i == d->n - 1) return 1;
    double l0 = det_log(d->x[i] + SHIFT_NS), l1 = det_log(d->x[i + 1] + SHIFT_NS);
    double t = (det_log(x + SHIFT_NS) - l0) / (l1 - l0);
    return probability(d, i) + t * (probability(d, i + 1) - probability(d, i));
}

double distribution_cdf(const struct distribution *d, double x)
{
    switch (d->kind) {
    case DIST_UNIFORM: return d->b > d->a ? gsl_cdf_flat_P(x, d->a, d->b) : x >= d->a;
    case DIST_EXPONENTIAL: return gsl_cdf_exponential_P(x, d->a);
    case DIST_LOGNORMAL: return d->b > 0 ? gsl_cdf_lognormal_P(x, det_log(d->a), d->b) : x >= d->a;
    case DIST_QUANTILES: return table_cdf(d, x);
    default: return x >= d->a;
    }
}
