/* order_statistics.c - see order_statistics.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/order_statistics.h"

#include "base/detmath.h"

#define EULER_GAMMA 0.57721566490153286061
#define HALF_PI     1.57079632679489661923

double max_of_exponentials(double n)
{
    if (!(n > 1)) return 1;
    if (n <= 256) {
        double sum = 0;
        for (double k = n; k >= 1; k -= 1) sum += 1 / k; /* the small ones first */
        return sum;
    }
    return det_log(n) + EULER_GAMMA + 1 / (2 * n) - 1 / (12 * n * n);
}

/* The normal quantile of u^(1/n) where u = 1 - w; near u = 1 the quantile is taken from the other side, which keeps the
 * digits of w: u^(1/n) = 1 - (1 - e^(ln(1 - w)/n)), and for small x 1 - e^-x = x - x^2/2 + x^3/6. */
static double quantile(double u, double w, double n)
{
    double x = (w < 1e-3 ? w + w * w / 2 + w * w * w / 3 : -det_log(u)) / n; /* -ln(u)/n */
    double upper = x < 1e-3 ? x * (1 - x / 2 + x * x / 6) : 1 - det_exp(-x);
    return upper < 0.5 ? -det_norm_inv(upper) : det_norm_inv(det_exp(-x));
}

/* Integral over u in (0, 1) with u = 1/(1 + e^(-pi sinh t)) (Takahasi and Mori 1974). */
double max_of_normals(double n)
{
    enum { NODES = 64 };
    double sum = 0, h = 3.4 / NODES * 2;
    if (!(n > 1)) return 0;
    for (int k = -NODES / 2; k <= NODES / 2; k++) {
        double t = h * k, e = det_exp(t), sinh = (e - 1 / e) / 2, cosh = (e + 1 / e) / 2;
        double q = det_exp(-2 * HALF_PI * sinh); /* w / u */
        double u = 1 / (1 + q), w = q / (1 + q);
        sum += quantile(u, w, n) * u * w * 2 * HALF_PI * cosh;
    }
    return sum * h;
}
