/* paired.c - see paired.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/paired.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "run/metrics.h"
#include "study/bootstrap.h"

const char *const verdict_names[N_VERDICTS] = {"unknown", "same", "none_shown", "less", "more"};
const char *const interval_method_names[] = {"student", "bootstrap"};

/* Sums of a sample of pairs about their means. */
struct moments {
    size_t n;
    double mean_a, mean_b, var_a, var_b, cov;
};

double student_t(size_t n, double level)
{
    assert(n >= 2 && level > 0 && level < 1);
    return gsl_cdf_tdist_Pinv(1 - (1 - level) / 2, (double)(n - 1));
}

static bool usable(double a, double b)
{
    return isfinite(a) && isfinite(b);
}

static struct moments moments_of(const double *a, const double *b, size_t n)
{
    struct moments m = {.mean_a = 0};
    for (size_t i = 0; i < n; i++) {
        if (!usable(a[i], b[i])) continue;
        m.n++;
        m.mean_a += (a[i] - m.mean_a) / (double)m.n;
        m.mean_b += (b[i] - m.mean_b) / (double)m.n;
    }
    for (size_t i = 0; i < n && m.n > 1; i++) {
        if (!usable(a[i], b[i])) continue;
        double da = a[i] - m.mean_a, db = b[i] - m.mean_b, w = 1 / (double)(m.n - 1);
        m.var_a += w * da * da;
        m.var_b += w * db * db;
        m.cov += w * da * db;
    }
    return m;
}

/* The roots of (A^2 - g a) r^2 - 2 (A B - g c) r + (B^2 - g b) = 0 with g = t^2 / n; two ends when the first factor is
 * above 0. */
static struct interval fieller(const struct moments *m, double level)
{
    struct interval r = {NAN, NAN, false};
    if (m->n < 2) return r;
    double t = student_t(m->n, level), g = t * t / (double)m->n;
    double p = m->mean_a * m->mean_a - g * m->var_a, q = m->mean_a * m->mean_b - g * m->cov;
    double s = m->mean_b * m->mean_b - g * m->var_b, root = q * q - p * s;
    if (!(p > 0)) return r;
    root = root > 0 ? sqrt(root) : 0;
    return (struct interval){(q - root) / p, (q + root) / p, true};
}

static enum verdict verdict_of(const struct interval *d, bool same)
{
    if (!d->known) return VERDICT_UNKNOWN;
    if (same) return VERDICT_SAME;
    return d->low > 0 ? VERDICT_MORE : d->high < 0 ? VERDICT_LESS : VERDICT_NONE;
}

/* The differences one by one: their spread from their own mean, since var_a + var_b - 2 cov would cancel. */
static void differences(const double *a, const double *b, size_t n, double level, struct paired *p)
{
    double mean = 0, squares = 0;
    size_t k = 0;
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        if (!usable(a[i], b[i])) continue;
        double d = b[i] - a[i], before = d - mean;
        mean += before / (double)++k;
        squares += before * (d - mean);
        same &= d == 0;
    }
    p->mean = k ? mean : NAN;
    p->sd = k > 1 ? sqrt(squares / (double)(k - 1)) : NAN;
    p->difference = (struct interval){NAN, NAN, k > 1};
    if (k > 1) {
        double half = student_t(k, level) * p->sd / sqrt((double)k);
        p->difference.low = mean - half;
        p->difference.high = mean + half;
    }
    p->verdict = verdict_of(&p->difference, same);
}

struct paired paired_of(const double *a, const double *b, size_t n, double level)
{
    struct moments m = moments_of(a, b, n);
    struct paired p = {.n = m.n, .mean_a = m.n ? m.mean_a : NAN, .mean_b = m.n ? m.mean_b : NAN};
    differences(a, b, n, level, &p);
    p.ratio = fieller(&m, level);
    p.ratio_mean = m.n && m.mean_a != 0 ? m.mean_b / m.mean_a : NAN;
    return p;
}

struct interval interval_of_mean(const double *x, size_t n, double level)
{
    struct moments m = moments_of(x, x, n);
    struct interval r = {NAN, NAN, false};
    if (m.n < 2) return r;
    double half = student_t(m.n, level) * sqrt(m.var_a / (double)m.n);
    return (struct interval){m.mean_a - half, m.mean_a + half, true};
}

/* ---- metrics ---- */

enum interval_method interval_method_of(size_t metric, size_t n)
{
    return metric_is_quantile(metric) && n >= BOOTSTRAP_LEAST ? METHOD_BOOTSTRAP : METHOD_STUDENT;
}

/* The usable pairs, in 2 * n values to free. */
static size_t usable_pairs(const double *a, const double *b, size_t n, double **x, double **y)
{
    size_t k = 0;
    *x = xcalloc(2 * n + 1, sizeof **x);
    *y = *x + n;
    for (size_t i = 0; i < n; i++) {
        if (!usable(a[i], b[i])) continue;
        (*x)[k] = a[i];
        (*y)[k++] = b[i];
    }
    return k;
}

struct paired paired_metric(size_t metric, const double *a, const double *b, size_t n, double level)
{
    struct paired p = paired_of(a, b, n, level);
    p.method = interval_method_of(metric, p.n);
    if (p.method == METHOD_STUDENT) return p;
    double *x, *y;
    usable_pairs(a, b, n, &x, &y);
    p.difference = bootstrap_difference(x, y, p.n, level, &p.ratio);
    p.verdict = verdict_of(&p.difference, p.verdict == VERDICT_SAME);
    free(x);
    return p;
}

struct interval interval_of_metric(size_t metric, const double *x, size_t n, double level)
{
    double *values, *zero;
    size_t k = usable_pairs(x, x, n, &values, &zero);
    struct interval r = interval_of_mean(x, n, level);
    if (interval_method_of(metric, k) == METHOD_BOOTSTRAP) {
        for (size_t i = 0; i < k; i++) zero[i] = 0;
        r = bootstrap_difference(zero, values, k, level, NULL);
    }
    free(values);
    return r;
}
