/* detmath.h - elementary functions with the same bits everywhere.
 *
 * The C library's log, exp and pow choose their code by CPU (with or without FMA) and change between versions: the last
 * bit differs, and one bit moves an event. What reaches the simulated clock uses these instead. They consist of IEEE
 * double +, -, *, / and square root (each exactly rounded by the standard), integer operations and constants; they hold
 * as long as the compiler keeps to IEEE: no -ffast-math, -ffp-contract=off, SSE2 or AArch64 registers, round to
 * nearest.
 *
 * Error bounds, in units in the last place of the result, held by the test against 40-digit values:
 *
 *     det_log       1.0     all x > 0, subnormal numbers included
 *     det_exp       1.0     results that are normal numbers
 *     det_pow       1.5     results that are normal numbers (0.7 where |y ln x| < 30)
 *     det_sqrt      0.5     exactly rounded
 *     det_norm_inv  8.0     p in [1e-300, 1 - 2^-53] (the method is good for about 1e-15)
 *
 * Special cases are IEEE's: log(0) = -inf, log(x < 0) = NaN, exp overflows to inf and underflows through the subnormal
 * numbers to 0, NaN in gives NaN out. errno and the floating-point flags mean nothing here.
 *
 * Methods: det_log: x = 2^k (1 + f), ln(1 + f) = 2 artanh(f / (2 + f)). det_exp: x = k ln 2 + r, Taylor series of e^r.
 * det_pow: e^(y ln x) with the logarithm in double-double (two doubles; sums and products by Dekker, Numerische
 * Mathematik 18, 1971). det_norm_inv: Wichura, algorithm AS 241 (PPND16), Applied Statistics 37, 1988.
 * Cost: about 10 ns; det_pow 60 ns.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_DETMATH_H
#define TRAINYARD_BASE_DETMATH_H

#include <stdint.h>

double det_log(double x);
double det_exp(double x);
double det_pow(double x, double y); /* x >= 0; NaN for x < 0. pow(x, 0) = 1 */
double det_sqrt(double x);
double det_norm_inv(double p); /* x with P(N <= x) = p for a standard normal N; -inf at 0, inf at 1, NaN outside */

double det_floor(double x);
double det_ceil(double x);

/* The nearest integer, halves away from zero; beyond the range of int64_t the nearest end; 0 for NaN. */
int64_t det_round(double x);

#endif
