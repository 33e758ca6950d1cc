/* weibull.h - lives with a hazard that falls (shape < 1) or rises (shape > 1) with age.
 *
 * Mean of Weibull(scale, shape) = scale x Gamma(1 + 1/shape). Gamma by Stirling's series at x >= 16 and the recurrence down
 * (Abramowitz and Stegun 6.1.41, 6.1.15); relative error below 1e-12 for shapes from 0.1 up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_WEIBULL_H
#define TRAINYARD_MODELS_WEIBULL_H

/* Gamma(1 + 1/shape), shape > 0: the mean in units of the scale. */
double weibull_mean_factor(double shape);

/* How much longer something of this age lives: P(T > t) = S(age + t) / S(age), S(x) = exp(-(x/scale)^shape). `e` is a
 * standard exponential number; with age 0 this is scale x e^(1/shape). Unit: that of scale and age. */
double weibull_residual(double scale, double shape, double age, double e);

#endif
