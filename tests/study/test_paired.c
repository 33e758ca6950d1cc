/* test_paired.c - intervals against published ones, and against what defines them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "study/paired.h"

#define assert_near(x, y, eps) assert_true(fabs((x) - (y)) <= (eps))

/* Student, "The probable error of a mean", Biometrika 6, 1908: extra hours of sleep with two drugs, ten patients. */
enum { PATIENTS = 10 };
static const double drug_1[PATIENTS] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double drug_2[PATIENTS] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

/* Two-sided 95 % points of Student's t: Fisher and Yates, Statistical Tables, table III. */
static void test_t_table(void **state)
{
    static const struct {
        size_t n;
        double t;
    } rows[] = {
        {2,  12.706},
        {3,  4.303 },
        {5,  2.776 },
        {10, 2.262 },
        {20, 2.093 },
        {31, 2.042 }
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_near(student_t(rows[i].n, 0.95), rows[i].t, 0.0005);
    assert_near(student_t(10, 0.99), 3.250, 0.0005);
}

/* R's t.test(extra ~ group, paired = TRUE) of the same data (R documentation, datasets::sleep): mean of the differences
 * -1.58, 95 percent confidence interval -2.4598858 to -0.7001142. */
static void test_sleep(void **state)
{
    (void)state;
    struct paired p = paired_of(drug_1, drug_2, PATIENTS, 0.95);
    assert_int_equal(p.n, PATIENTS);
    assert_true(p.difference.known);
    assert_near(p.mean, 1.58, 1e-12);
    assert_near(p.difference.low, 0.7001142, 5e-8);
    assert_near(p.difference.high, 2.4598858, 5e-8);
    assert_near(p.mean_a, 0.75, 1e-12);
    assert_near(p.mean_b, 2.33, 1e-12);
    assert_int_equal(p.verdict, VERDICT_MORE);
    struct paired back = paired_of(drug_2, drug_1, PATIENTS, 0.95);
    assert_near(back.difference.low, -p.difference.high, 1e-12);
    assert_int_equal(back.verdict, VERDICT_LESS);
}

/* By hand: differences 1, 2, 3: mean 2, s = 1, half = 4.302653 / sqrt(3) = 2.484138 (t of 2 degrees of freedom at 0.975
 * is 4.302653; t = (2p - 1) sqrt(2 / (4 p (1 - p))), p = 0.975: 0.95 sqrt(2 / 0.0975) = 4.3026527). */
static void test_three(void **state)
{
    static const double a[] = {10, 10, 10}, b[] = {11, 12, 13};
    (void)state;
    struct paired p = paired_of(a, b, 3, 0.95);
    assert_near(p.sd, 1, 1e-12);
    assert_near(p.difference.low, 2 - 2.484138, 1e-6);
    assert_near(p.difference.high, 2 + 2.484138, 1e-6);
    assert_int_equal(p.verdict, VERDICT_NONE);
    assert_near(p.ratio_mean, 1.2, 1e-12);
    /* a does not vary, so the ratio's interval is the difference's over 10, about 1. */
    assert_near(p.ratio.low, 1 + p.difference.low / 10, 1e-12);
    assert_near(p.ratio.high, 1 + p.difference.high / 10, 1e-12);
}

/* Fieller: at each end r, the interval of mean(b - r a) just touches 0; and 1 lies within exactly when 0 does. */
static void test_fieller(void **state)
{
    static const double a[] = {10, 14, 9, 12, 20, 11}, shift[] = {-3, -1, 0, 0.5, 1, 2, 4, 8};
    static const double noise[] = {1, -0.5, 0.2, 0.7, -1.1, 0.4};
    (void)state;
    for (size_t s = 0; s < sizeof shift / sizeof *shift; s++) {
        double b[6], d[6];
        for (int i = 0; i < 6; i++) b[i] = a[i] * 1.02 + shift[s] + noise[i];
        struct paired p = paired_of(a, b, 6, 0.95);
        assert_true(p.ratio.known);
        assert_true(p.ratio.low < p.ratio_mean && p.ratio_mean < p.ratio.high);
        const double ends[2] = {p.ratio.low, p.ratio.high};
        for (int e = 0; e < 2; e++) {
            for (int i = 0; i < 6; i++) d[i] = b[i] - ends[e] * a[i];
            struct interval touch = interval_of_mean(d, 6, 0.95);
            assert_near(e ? touch.high : touch.low, 0, 1e-9);
        }
        bool zero_in = p.difference.low <= 0 && p.difference.high >= 0;
        bool one_in = p.ratio.low <= 1 && p.ratio.high >= 1;
        assert_int_equal(zero_in, one_in);
        assert_int_equal(p.verdict == VERDICT_NONE, zero_in);
    }
}

/* A base whose mean may be 0 has no ratio with two ends. */
static void test_no_ratio(void **state)
{
    static const double a[] = {-1, 1, -2, 2}, b[] = {3, 4, 3, 4};
    (void)state;
    struct paired p = paired_of(a, b, 4, 0.95);
    assert_true(p.difference.known);
    assert_false(p.ratio.known);
    assert_true(isnan(p.ratio_mean));
}

static void test_few(void **state)
{
    static const double a[] = {1, NAN, 5}, b[] = {2, 7, NAN};
    (void)state;
    struct paired one = paired_of(a, b, 3, 0.95);
    assert_int_equal(one.n, 1);
    assert_false(one.difference.known);
    assert_near(one.mean, 1, 0);
    assert_int_equal(one.verdict, VERDICT_UNKNOWN);
    struct paired none = paired_of(a, b, 0, 0.95);
    assert_int_equal(none.n, 0);
    assert_true(isnan(none.mean));
    assert_int_equal(none.verdict, VERDICT_UNKNOWN);
}

static void test_same(void **state)
{
    (void)state;
    struct paired p = paired_of(drug_1, drug_1, PATIENTS, 0.95);
    assert_int_equal(p.verdict, VERDICT_SAME);
    assert_true(p.difference.low == 0 && p.difference.high == 0);
    static const double a[] = {1, 2, 3}, b[] = {2, 3, 4}; /* always 1 more: sure, though nothing varies */
    p = paired_of(a, b, 3, 0.95);
    assert_int_equal(p.verdict, VERDICT_MORE);
    assert_true(p.difference.low == 1 && p.difference.high == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t_table), cmocka_unit_test(test_sleep),    cmocka_unit_test(test_three),
        cmocka_unit_test(test_fieller), cmocka_unit_test(test_no_ratio), cmocka_unit_test(test_few),
        cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
