/* failure_fit.c - see failure_fit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/failure_fit.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_psi.h>
#include <math.h>

static const struct estimate unknown = {NAN, NAN, NAN};

/* ---- counts ---- */

struct estimate fit_rate(size_t events, double exposure, double level)
{
    double a = (1 - level) / 2, n = (double)events;
    return (struct estimate){n / exposure, events ? gsl_cdf_chisq_Pinv(a, 2 * n) / 2 / exposure : 0,
                             gsl_cdf_chisq_Pinv(1 - a, 2 * n + 2) / 2 / exposure};
}

struct estimate fit_rate_ratio(size_t a, double exposure_a, size_t b, double exposure_b, double level)
{
    double tail = (1 - level) / 2, x = (double)a, y = (double)b, unit = exposure_b / exposure_a;
    double low = a ? gsl_cdf_beta_Pinv(tail, x, y + 1) : 0, high = b ? gsl_cdf_beta_Pinv(1 - tail, x + 1, y) : 1;
    return (struct estimate){b ? x / y * unit : INFINITY, low / (1 - low) * unit, high < 1 ? high / (1 - high) * unit : INFINITY};
}

/* ---- a root, by Brent's method ---- */

static double solve(double (*f)(double, void *), void *arg, double low, double high)
{
    gsl_function fn = {f, arg};
    gsl_root_fsolver *s = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    double x = NAN;
    if (gsl_root_fsolver_set(s, &fn, low, high) == GSL_SUCCESS) {
        for (int i = 0; i < 200 && gsl_root_fsolver_iterate(s) == GSL_SUCCESS; i++)
            if (gsl_root_test_interval(gsl_root_fsolver_x_lower(s), gsl_root_fsolver_x_upper(s), 0, 1e-10) == GSL_SUCCESS) break;
        x = gsl_root_fsolver_root(s);
    }
    gsl_set_error_handler(before);
    gsl_root_fsolver_free(s);
    return x;
}

/* ---- Weibull ---- */

struct weibull_data {
    const struct life *lives;
    size_t n;
    double ended, log_mean; /* lives that ended: how many, mean of ln t */
    double unit;            /* lengths are divided by it: powers stay in range */
    double target;          /* of the profile likelihood */
};

struct power_sums { double s0, s1, s2; }; /* sums of t^k, t^k ln t, t^k (ln t)^2 */

static struct power_sums power_sums(const struct weibull_data *d, double k)
{
    struct power_sums p = {0};
    for (size_t i = 0; i < d->n; i++) {
        if (!(d->lives[i].length > 0)) continue;
        double l = log(d->lives[i].length / d->unit), w = d->lives[i].weight * exp(k * l);
        p.s0 += w;
        p.s1 += w * l;
        p.s2 += w * l * l;
    }
    return p;
}

static double score(double k, void *arg)
{
    const struct weibull_data *d = arg;
    struct power_sums p = power_sums(d, k);
    return p.s1 / p.s0 - 1 / k - d->log_mean;
}

/* The likelihood at the best scale for this shape. */
static double profile(const struct weibull_data *d, double k)
{
    struct power_sums p = power_sums(d, k);
    return d->ended * (log(k) - log(p.s0 / d->ended) + (k - 1) * d->log_mean - 1);
}

static double profile_above(double k, void *arg)
{
    const struct weibull_data *d = arg;
    return profile(d, k) - d->target;
}

/* Lives of length 0 (a failure at the moment of a repair) carry no logarithm and are left out. */
static struct weibull_data weibull_data(const struct life *lives, size_t n)
{
    struct weibull_data d = {.lives = lives, .n = n, .unit = 1};
    double sum = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < n; i++) {
        if (lives[i].length > most) most = lives[i].length;
        if (!lives[i].ended || !(lives[i].length > 0)) continue;
        d.ended += lives[i].weight;
        sum += lives[i].weight * log(lives[i].length);
        if (lives[i].length < least) least = lives[i].length;
    }
    if (most > 0) d.unit = most;
    d.log_mean = d.ended > 0 ? sum / d.ended - log(d.unit) : 0;
    if (!(least < most)) d.ended = 0; /* all alike: any shape fits better than the last one */
    return d;
}

enum { SHAPE_LEAST = 1, SHAPE_MOST = 5000 }; /* in hundredths: 0.01 .. 50 */

static struct estimate shape_of(struct weibull_data *d, double level)
{
    const double least = SHAPE_LEAST / 100.0, most = SHAPE_MOST / 100.0;
    double k = solve(score, d, least, most);
    if (isnan(k)) return unknown;
    d->target = profile(d, k) - gsl_cdf_chisq_Pinv(level, 1) / 2;
    double low = profile_above(least, d) < 0 ? solve(profile_above, d, least, k) : least;
    double high = profile_above(most, d) < 0 ? solve(profile_above, d, k, most) : most;
    return (struct estimate){k, low, high};
}

/* ln mean = ln scale + ln Gamma(1 + 1/k) by the delta method; information of (ln scale, ln k), z = (t / scale)^k. */
static struct estimate mean_of(const struct weibull_data *d, double scale, double k, double level)
{
    struct power_sums p = power_sums(d, k);
    double c = log(scale / d->unit), z0 = 1 / exp(k * c);
    double z1 = (p.s1 - c * p.s0) * z0, z2 = (p.s2 - 2 * c * p.s1 + c * c * p.s0) * z0;
    double aa = k * k * d->ended, bb = d->ended + k * k * z2, ab = -k * k * z1;
    double det = aa * bb - ab * ab, g = -gsl_sf_psi(1 + 1 / k) / k;
    double variance = (bb + 2 * g * -ab + g * g * aa) / det;
    double ln = log(scale) + gsl_sf_lngamma(1 + 1 / k), half = gsl_cdf_ugaussian_Pinv((1 + level) / 2) * sqrt(variance);
    return (struct estimate){exp(ln), exp(ln - half), exp(ln + half)};
}

struct weibull_fit fit_weibull(const struct life *lives, size_t n, double level)
{
    struct weibull_data d = weibull_data(lives, n);
    struct weibull_fit f = {.ended = (size_t)d.ended, .shape = unknown, .mean = unknown, .p_exponential = NAN};
    if (d.ended < 3) return f;
    f.shape = shape_of(&d, level);
    if (isnan(f.shape.value)) return f;
    double k = f.shape.value;
    f.known = true;
    f.scale = d.unit * pow(power_sums(&d, k).s0 / d.ended, 1 / k);
    f.mean = mean_of(&d, f.scale, k, level);
    f.p_exponential = gsl_cdf_chisq_Q(fmax(0, 2 * (profile(&d, k) - profile(&d, 1))), 1);
    return f;
}

/* ---- lognormal ---- */

struct lognormal_fit fit_lognormal(const double *x, size_t n, double level)
{
    struct lognormal_fit f = {.mean = NAN, .median = unknown, .sigma = unknown};
    double sum = 0, squares = 0, tail = (1 - level) / 2;
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0) f.n++, sum += log(x[i]);
    if (f.n == 0) return f;
    double mu = sum / (double)f.n, free = (double)f.n - 1;
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0) squares += (log(x[i]) - mu) * (log(x[i]) - mu);
    f.median.value = f.mean = exp(mu);
    if (f.n < 2) return f;
    double s = sqrt(squares / free), half = gsl_cdf_tdist_Pinv(1 - tail, free) * s / sqrt((double)f.n);
    f.median = (struct estimate){exp(mu), exp(mu - half), exp(mu + half)};
    f.sigma = (struct estimate){s, s * sqrt(free / gsl_cdf_chisq_Pinv(1 - tail, free)), s * sqrt(free / gsl_cdf_chisq_Pinv(tail, free))};
    f.mean = exp(mu + s * s / 2);
    return f;
}
