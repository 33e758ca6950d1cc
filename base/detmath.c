/* detmath.c - elementary functions with the same bits everywhere.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/detmath.h"

#include <string.h>

#ifdef __FAST_MATH__
#error "detmath needs IEEE arithmetic: build without -ffast-math"
#endif

#define INF  __builtin_inf()
#define NAN_ __builtin_nan("")

/* ln 2 in three parts; k times the first and k times the second are exact for |k| < 2^11. */
static const double LN2_HIGH = 0x1.62e42fefa3800p-1;    /* upper 42 bits */
static const double LN2_MIDDLE = 0x1.ef35793c76000p-45; /* the next 42 */
static const double LN2_TAIL = 0x1.cc01f97b57a08p-87;
static const double LN2_LOW = 0x1.ef35793c76730p-45; /* middle and tail in one */
static const double INVERSE_LN2 = 0x1.71547652b82fep+0;

/* A number as the unevaluated sum of two doubles, |low| <= ulp(high) / 2. */
struct pair {
    double high, low;
};

static inline uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline double double_of(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* a + b exactly (Knuth); a * b exactly (Dekker, with Veltkamp's split). */
static inline struct pair sum_of(double a, double b)
{
    double s = a + b, t = s - a;
    return (struct pair){s, (a - (s - t)) + (b - t)};
}

static inline struct pair split_of(double a)
{
    double t = 0x1.0000002p27 * a, high = t - (t - a);
    return (struct pair){high, a - high};
}

static inline struct pair product_of(double a, double b)
{
    struct pair x = split_of(a), y = split_of(b);
    double p = a * b;
    return (struct pair){p, ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

/* x = 2^k m with m in [sqrt(1/2), sqrt(2)), for finite x > 0. */
static inline double split_exponent(double x, double *k)
{
    int64_t shift = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        shift = -54;
    }
    int64_t b = (int64_t)bits_of(x), e = (b - INT64_C(0x3fe6a09e667f3bcd)) >> 52;
    *k = (double)(e + shift);
    return double_of((uint64_t)b - ((uint64_t)e << 52));
}

/* (2 artanh(s) - 2 s - 2 s^3 / 3) / s^5 as a polynomial in z = s^2 for 0 <= z <= 0.02944. Coefficients: a Chebyshev fit
 * with 60 digits (mpmath.chebyfit), absolute error 2^-69 / z^2; the first ones are near 2/5, 2/7, 2/9 … */
static inline double artanh_tail(double z)
{
    static const double c[] = {0x1.999999999999ap-2, 0x1.2492492492521p-2, 0x1.c71c71c6eaa10p-3, 0x1.745d177a96056p-3,
                               0x1.3b1395d2190c1p-3, 0x1.1118c7e4b0917p-3, 0x1.df7cc8e5fa539p-4, 0x1.e02e6fff27908p-4};
    double z2 = z * z, z4 = z2 * z2;
    return ((c[0] + c[1] * z) + (c[2] + c[3] * z) * z2) + ((c[4] + c[5] * z) + (c[6] + c[7] * z) * z2) * z4;
}

/* ln(1 + f) = 2 s + s R, s = f / (2 + f); written as f - (f^2/2 - s (f^2/2 + R)), since f is exact and 2 s is not. */
double det_log(double x)
{
    if (!(x > 0)) return x == 0 ? -INF : NAN_;
    if (x == INF) return INF;
    double k, f = split_exponent(x, &k) - 1;
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    double r = z * (0x1.5555555555555p-1 + z * artanh_tail(z));
    return k * LN2_HIGH - ((half - (s * (half + r) + k * LN2_LOW)) - f);
}

/* ln x to about 2^-64 of itself. */
static struct pair log_pair(double x)
{
    double k, f = split_exponent(x, &k) - 1;
    struct pair d = sum_of(2, f), s = {.high = f / d.high}, p = product_of(s.high, d.high);
    s.low = (((f - p.high) - p.low) - s.high * d.low) / d.high;
    struct pair z = product_of(s.high, s.high);
    z.low += 2 * s.high * s.low;
    struct pair w = product_of(z.high, 0x1.5555555555555p-1); /* 2/3 z, then the tail */
    w.low += z.high * 0x1.5555555555555p-55 + z.low * 0x1.5555555555555p-1;
    struct pair r = sum_of(w.high, z.high * z.high * artanh_tail(z.high));
    r.low += w.low;
    struct pair v = product_of(s.high, r.high);
    v.low += s.high * r.low + s.low * r.high;
    struct pair l = sum_of(2 * s.high, v.high), a = sum_of(k * LN2_HIGH, l.high), b = sum_of(a.high, k * LN2_MIDDLE);
    return sum_of(b.high, b.low + (a.low + (l.low + (2 * s.low + v.low) + k * LN2_TAIL)));
}

/* 2^k for |k| <= 1022. */
static inline double power_of_two(int64_t k)
{
    return double_of((uint64_t)(k + 1023) << 52);
}

/* (e^r - 1 - r) / r^2 by its Taylor series up to r^14; the rest is below 2^-63 for |r| <= ln(2) / 2. */
static inline double exp_tail(double r)
{
    static const double c[] = {0x1p-1,
                               0x1.5555555555555p-3,
                               0x1.5555555555555p-5,
                               0x1.1111111111111p-7,
                               0x1.6c16c16c16c17p-10,
                               0x1.a01a01a01a01ap-13,
                               0x1.a01a01a01a01ap-16,
                               0x1.71de3a556c734p-19,
                               0x1.27e4fb7789f5cp-22,
                               0x1.ae64567f544e4p-26,
                               0x1.1eed8eff8d898p-29,
                               0x1.6124613a86d09p-33,
                               0x1.93974a8c07c9dp-37}; /* 1/2! … 1/14! */
    double r2 = r * r, r4 = r2 * r2;
    double low = (c[0] + c[1] * r) + (c[2] + c[3] * r) * r2, middle = (c[4] + c[5] * r) + (c[6] + c[7] * r) * r2;
    double high = (c[8] + c[9] * r) + (c[10] + c[11] * r) * r2 + c[12] * r4;
    return low + (middle + high * r4) * r4;
}

/* e^(x.high + x.low). Beyond the limits the result is infinite or 0. */
static double exp_pair(struct pair x)
{
    if (x.high > 710) return INF;
    if (x.high < -746) return 0;
    double k = det_floor(x.high * INVERSE_LN2 + 0.5);
    struct pair r = sum_of(x.high - k * LN2_HIGH, -k * LN2_LOW);
    r = sum_of(r.high, r.low + x.low); /* x.low may be as large as 2^-43 */
    struct pair one = sum_of(1, r.high);
    double y = one.high + (one.low + (r.high * r.high * exp_tail(r.high) + (r.low + r.low * r.high)));
    int64_t half = (int64_t)k / 2; /* in two steps, so that 2^1024 and the subnormal numbers can be reached */
    return y * power_of_two(half) * power_of_two((int64_t)k - half);
}

double det_exp(double x)
{
    if (x != x) return x;
    return exp_pair((struct pair){x, 0});
}

double det_pow(double x, double y)
{
    if (y == 0 || x == 1) return 1;
    if (!(x >= 0) || y != y) return NAN_;
    if (x == 0 || x == INF) return (x == 0) == (y > 0) ? 0 : INF;
    struct pair l = log_pair(x);
    double high = l.high * y;
    if (high > 710 || high < -746) return exp_pair((struct pair){high, 0});
    struct pair p = product_of(l.high, y);
    p.low += l.low * y;
    return exp_pair(sum_of(p.high, p.low));
}

double det_sqrt(double x)
{
    return __builtin_sqrt(x);
}

double det_floor(double x)
{
    if (!(x > -0x1p52 && x < 0x1p52)) return x;
    double whole = (double)(int64_t)x;
    return whole > x ? whole - 1 : whole;
}

double det_ceil(double x)
{
    return -det_floor(-x);
}

int64_t det_round(double x)
{
    if (x != x) return 0;
    if (x >= 0x1p63) return INT64_MAX;
    if (x < -0x1p63) return INT64_MIN;
    int64_t whole = (int64_t)x;
    double rest = x - (double)whole;
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

/* Wichura's AS 241: a quotient of two polynomials of degree 7 for each of three ranges. Denominators begin with 1. */
struct quotient {
    double above[8], below[8];
};

static double quotient_at(const struct quotient *q, double r)
{
    double a = q->above[7], b = q->below[7];
    for (int i = 6; i >= 0; i--) {
        a = a * r + q->above[i];
        b = b * r + q->below[i];
    }
    return a / b;
}

static const struct quotient CENTRE = {
    {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4,                                                                                                     6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
    {1,                       4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
     3.9307895800092710610e4,                                                                                                                              2.8729085735721942674e4, 5.2264952788528545610e3},
};
static const struct quotient SHOULDER = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0,                                                                                                           2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1,                        2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2,                                                                                                                                     5.47593808499534494600e-4, 1.05075007164441684324e-9},
};
static const struct quotient TAIL = {
    {6.65790464350110377720e0, 5.46378491116411436990e0,  1.78482653991729133580e0,  2.96560571828504891230e-1,
     2.65321895265761230930e-2,                                                                                                            1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7 },
    {1,                        5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5,                                                                                                                                       1.42151175831644588870e-7, 2.04426310338993978564e-15},
};

double det_norm_inv(double p)
{
    if (!(p >= 0 && p <= 1)) return NAN_;
    if (p == 0 || p == 1) return p == 0 ? -INF : INF;
    double q = p - 0.5;
    if (q >= -0.425 && q <= 0.425) return q * quotient_at(&CENTRE, 0.180625 - q * q);
    double r = det_sqrt(-det_log(q < 0 ? p : 1 - p));
    double x = r <= 5 ? quotient_at(&SHOULDER, r - 1.6) : quotient_at(&TAIL, r - 5);
    return q < 0 ? -x : x;
}
