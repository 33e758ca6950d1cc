/* test_detmath.c - the stated error bounds of base/detmath.h, and values with one right answer.
 *
 * The scans measure against the C library's long double functions (64-bit mantissa or more); where long double is no
 * wider than double the tables alone speak.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/detmath.h"
#include "tests/base/detmath_values.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))
#define WIDE      (LDBL_MANT_DIG >= 64)

enum { SCAN = 300000 };

/* SplitMix64 (Steele, Lea, Flood 2014): the test must not lean on the streams, which lean on detmath. */
static uint64_t bits(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(bits(state) >> 11) * 0x1p-53);
}

/* Error of `got` in units in the last place. */
static double error_ulp(double got, long double wanted)
{
    double size = fabs(got);
    return (double)(fabsl((long double)got - wanted) / (long double)(nextafter(size, INFINITY) - size));
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void tables_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(LOG); i++) assert_true(det_log(LOG[i][0]) == LOG[i][1]);
    for (size_t i = 0; i < LENGTH(EXP); i++) assert_true(det_exp(EXP[i][0]) == EXP[i][1]);
    for (size_t i = 0; i < LENGTH(POW); i++) assert_true(det_pow(POW[i][0], POW[i][1]) == POW[i][2]);
}

static void quantile_bound(void **state)
{
    (void)state;
    double worst = 0;
    for (size_t i = 0; i < LENGTH(QUANTILE); i++) {
        long double wanted = (long double)QUANTILE[i][1] + (long double)QUANTILE[i][2];
        worst = larger(worst, error_ulp(det_norm_inv(QUANTILE[i][0]), wanted));
    }
    printf("det_norm_inv: at most %.2f ulp\n", worst);
    assert_true(worst <= 8.0);
    assert_true(det_norm_inv(0.5) == 0);
    for (double p = 0x1p-20; p < 0.5; p *= 1.5) assert_true(det_norm_inv(1 - p) == -det_norm_inv(1 - (1 - p)));
}

/* One Newton step from the result with long double's normal distribution gives the distance to the true value. */
static double quantile_error(double p)
{
    const long double root_half = 0.70710678118654752440L,
                      root_2pi = 2.50662827463100050242L; /* sqrt(1/2), sqrt(2 pi) */
    double x = det_norm_inv(p);
    bool central = p > 0.25 && p < 0.75;
    long double missing =
        central ? (long double)(p - 0.5) - erfl(x * root_half) / 2 : (long double)p - erfcl(-x * root_half) / 2;
    return error_ulp(x, x + missing * root_2pi * expl((long double)x * x / 2));
}

static void quantile_scan(void **state)
{
    (void)state;
    if (!WIDE) skip();
    double worst = 0;
    uint64_t seed = 4;
    for (int i = 0; i < SCAN; i++) {
        double p = uniform(&seed, 0, 0.5), low = ldexp(uniform(&seed, 0.5, 1), -(int)(bits(&seed) % 990));
        if (p > 0) worst = larger(worst, quantile_error(p));
        worst = larger(worst, quantile_error(low * 0.5));
    }
    printf("det_norm_inv: at most %.2f ulp over %d points\n", worst, 2 * SCAN);
    assert_true(worst <= 8.0);
}

/* Over all magnitudes, around 1, and through the subnormal numbers. */
static void log_bound(void **state)
{
    (void)state;
    if (!WIDE) skip();
    double worst = 0;
    uint64_t seed = 1;
    for (int i = 0; i < SCAN; i++) {
        double wide = ldexp(uniform(&seed, 0.5, 1), (int)(bits(&seed) % 2098) - 1074), near = uniform(&seed, 0.5, 2);
        double close = 1 + uniform(&seed, -1, 1) * ldexp(1, -(int)(bits(&seed) % 53));
        worst = larger(worst, error_ulp(det_log(near), logl(near)));
        worst = larger(worst, error_ulp(det_log(wide), logl(wide)));
        if (close > 0 && close != 1) worst = larger(worst, error_ulp(det_log(close), logl(close)));
    }
    printf("det_log: at most %.3f ulp\n", worst);
    assert_true(worst <= 1.0);
}

static void exp_bound(void **state)
{
    (void)state;
    if (!WIDE) skip();
    double worst = 0;
    uint64_t seed = 2;
    for (int i = 0; i < SCAN; i++) {
        double wide = uniform(&seed, -708, 709), near = uniform(&seed, -1, 1);
        worst = larger(worst, error_ulp(det_exp(wide), expl(wide)));
        worst = larger(worst, error_ulp(det_exp(near), expl(near)));
    }
    printf("det_exp: at most %.3f ulp\n", worst);
    assert_true(worst <= 1.0);
}

static void pow_bound(void **state)
{
    (void)state;
    if (!WIDE) skip();
    double worst = 0, worst_small = 0;
    uint64_t seed = 3;
    for (int i = 0; i < SCAN; i++) {
        double x = ldexp(uniform(&seed, 0.5, 1), (int)(bits(&seed) % 2000) - 1000), near = uniform(&seed, 0.5, 2);
        double y = uniform(&seed, -700, 700) / log(x), z = uniform(&seed, -700, 700) / log(near);
        double small = uniform(&seed, -30, 30) / log(near);
        worst = larger(worst, error_ulp(det_pow(x, y), powl(x, y)));
        worst = larger(worst, error_ulp(det_pow(near, z), powl(near, z)));
        worst_small = larger(worst_small, error_ulp(det_pow(near, small), powl(near, small)));
    }
    printf("det_pow: at most %.3f ulp, %.3f where |y ln x| < 30\n", worst, worst_small);
    assert_true(worst <= 1.5);
    assert_true(worst_small <= 0.7);
}

static void special_cases(void **state)
{
    (void)state;
    assert_true(det_log(0) == -INFINITY && det_log(-0.0) == -INFINITY && det_log(INFINITY) == INFINITY);
    assert_true(isnan(det_log(-1)) && isnan(det_log(NAN)) && det_log(1) == 0);
    assert_true(det_exp(0) == 1 && det_exp(-INFINITY) == 0 && det_exp(INFINITY) == INFINITY && isnan(det_exp(NAN)));
    assert_true(det_exp(0x1.62e42fefa39efp+9) < INFINITY);         /* ln(2^1024), rounded down */
    assert_true(det_exp(0x1.62e42fefa39f0p+9) == INFINITY);        /* the next double */
    assert_true(det_exp(-745) == 0x1p-1074 && det_exp(-746) == 0); /* e^-745 = 1.011 * 2^-1074 */
    assert_true(det_pow(0, 2) == 0 && det_pow(0, -2) == INFINITY && det_pow(0, 0) == 1 && det_pow(7, 0) == 1);
    assert_true(det_pow(INFINITY, 0.5) == INFINITY && det_pow(INFINITY, -1) == 0 && isnan(det_pow(-2, 2)));
    assert_true(det_pow(2, INFINITY) == INFINITY && det_pow(0.5, INFINITY) == 0 && det_pow(1, INFINITY) == 1);
    assert_true(isnan(det_pow(NAN, 1)) && isnan(det_pow(2, NAN)) && det_pow(2, 10) == 1024 && det_pow(9, 0.5) == 3);
    assert_true(det_pow(2, 1023) == 0x1p1023 && det_pow(2, 1024) == INFINITY && det_pow(2, -1074) == 0x1p-1074);
    assert_true(det_norm_inv(0) == -INFINITY && det_norm_inv(1) == INFINITY && isnan(det_norm_inv(1.5)));
    assert_true(det_sqrt(2) == 0x1.6a09e667f3bcdp+0); /* sqrt(2) = 1.41421356237309504880, rounded to nearest */
}

static void rounding(void **state)
{
    (void)state;
    static const struct {
        double x, floor, ceil;
        int64_t round;
    } rows[] = {
        {0.0,                 0,          0,      0               },
        {0.5,                 0,          1,      1               },
        {-0.5,                -1,         0,      -1              },
        {1.25,                1,          2,      1               },
        {-1.25,               -2,         -1,     -1              },
        {0.49999999999999994, 0,          1,      0               },
        {2.5,                 2,          3,      3               },
        {-2.5,                -3,         -2,     -3              },
        {0x1p52 - 0.5,        0x1p52 - 1, 0x1p52, INT64_C(1) << 52},
        {1e300,               1e300,      1e300,  INT64_MAX       },
        {-1e300,              -1e300,     -1e300, INT64_MIN       },
        {0x1p62,              0x1p62,     0x1p62, INT64_C(1) << 62},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_true(det_floor(rows[i].x) == rows[i].floor);
        assert_true(det_ceil(rows[i].x) == rows[i].ceil);
        assert_true(det_round(rows[i].x) == rows[i].round);
    }
    assert_int_equal(det_round(NAN), 0);
    assert_int_equal(det_round(INFINITY), INT64_MAX);
    assert_true(isnan(det_floor(NAN)) && det_floor(-INFINITY) == -INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_exact),  cmocka_unit_test(quantile_bound), cmocka_unit_test(quantile_scan),
        cmocka_unit_test(log_bound),     cmocka_unit_test(exp_bound),      cmocka_unit_test(pow_bound),
        cmocka_unit_test(special_cases), cmocka_unit_test(rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
