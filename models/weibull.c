/* weibull.c - see weibull.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/weibull.h"

#include "base/detmath.h"

static double gamma_stirling(double x)
{
    static const double half_ln_2pi = 0.91893853320467274178;
    double i = 1 / x, i2 = i * i;
    double series = i * (1.0 / 12 - i2 * (1.0 / 360 - i2 * (1.0 / 1260 - i2 * (1.0 / 1680 - i2 * (1.0 / 1188)))));
    return det_exp((x - 0.5) * det_log(x) - x + half_ln_2pi + series);
}

double weibull_mean_factor(double shape)
{
    double x = 1 + 1 / shape, down = 1;
    for (; x < 16; x += 1) down *= x;
    return gamma_stirling(x) / down;
}

double weibull_residual(double scale, double shape, double age, double e)
{
    double a = age / scale;
    return scale * (det_pow(det_pow(a, shape) + e, 1 / shape) - a);
}
