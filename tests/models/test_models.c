/* test_models.c - the pure models against their closed forms.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gsl/gsl_sf_gamma.h>
#include <math.h>

#include "models/ring.h"
#include "models/weibull.h"

/* GSL's gamma function is the oracle. */
static void weibull_mean_is_gamma(void **state)
{
    (void)state;
    for (double shape = 0.1; shape < 20; shape *= 1.07) {
        double want = gsl_sf_gamma(1 + 1 / shape), got = weibull_mean_factor(shape);
        assert_true(fabs(got - want) <= 1e-12 * want);
    }
    assert_true(fabs(weibull_mean_factor(1) - 1) < 1e-13);
}

/* 2 (n - 1) alpha + 2 (n - 1) / n x S / B by hand: 4 ranks, 1 GB, 10 us, 100 GB/s: 60 us + 15 ms. */
static void ring_by_hand(void **state)
{
    (void)state;
    assert_int_equal(ring_all_reduce_ns(1000000000, 4, 10000, 100e9), 15060000);
    assert_int_equal(ring_all_reduce_ns(1000000000, 1, 10000, 100e9), 0);
    assert_int_equal(ring_all_reduce_ns(0, 2, 10000, 100e9), 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weibull_mean_is_gamma),
        cmocka_unit_test(ring_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
