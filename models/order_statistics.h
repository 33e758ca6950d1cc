/* order_statistics.h - the slowest of n: who steps together waits for the maximum, not for the mean.
 *
 *   exponential   H_n = 1 + 1/2 + ... + 1/n, in units of the mean (the sum to 256, then Euler's series
 *                 ln n + 0.5772... + 1/(2n) - 1/(12 n^2), error below 1e-11)
 *   normal        E max of n standard normals, by integrating the quantile of u^(1/n) over u (tanh-sinh, 64 nodes,
 *                 deterministic arithmetic); error below 1e-6 against Harter's table (Biometrika 48, 1961)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_ORDER_STATISTICS_H
#define TRAINYARD_MODELS_ORDER_STATISTICS_H

/* n >= 1; fewer are taken as 1. */
double max_of_exponentials(double n);
double max_of_normals(double n);

#endif
