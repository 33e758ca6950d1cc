/* test_intervals.c - checkpoint intervals side by side.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "study/intervals.h"

/* models.md section 7: C 60, M 10800, D 120, R 300; goodput 0.864053 of 1271.654 s at 1098.776 s. */
static void shares_are_all_of_the_time(void **state)
{
    (void)state;
    struct checkpoint_risk risk = {10800, 120, 300};
    struct checkpoint_cost cost = {60, 0};
    struct interval_row rules[N_INTERVAL_RULES], spread[9];
    interval_rules(cost, &risk, rules);
    assert_true(fabs(rules[0].interval_s - 1098.776) < 1e-3 && fabs(rules[0].segment_s - 1271.6545) < 1e-3);
    assert_true(fabs(rules[1].interval_s - 1098.771) < 1e-3 && fabs(rules[2].interval_s - 1138.42) < 1e-3);
    assert_true(fabs(rules[0].goodput - 0.864053) < 1e-6);
    assert_int_equal(interval_spread(1000, 2, 4, cost, &risk, spread), 9);
    for (int i = 0; i < 9; i++) {
        const struct interval_row *r = &spread[i];
        assert_true(fabs(r->goodput + r->saving + r->downtime + r->redone - 1) < 1e-12);
        assert_true(r->goodput < rules[0].goodput);
        assert_true(fabs(r->downtime - 120.0 / 10920) < 1e-12);
    }
}

static void none_is_shorter_than_a_save_takes(void **state)
{
    (void)state;
    struct checkpoint_risk risk = {10800, 0, 0};
    struct checkpoint_cost cost = {0.1, 500.1};
    struct interval_row rules[N_INTERVAL_RULES], spread[9];
    interval_rules(cost, &risk, rules);
    for (int i = 0; i < N_INTERVAL_RULES; i++) assert_true(rules[i].interval_s == 500);
    assert_int_equal(interval_spread(1000, 2, 4, cost, &risk, spread), 6); /* 500, 1000 ... 16000 */
    assert_true(spread[0].interval_s == 500 && spread[5].interval_s == 16000);
}

static void nothing_fails(void **state)
{
    (void)state;
    struct interval_row r = interval_row("", 90, (struct checkpoint_cost){10, 0}, &(struct checkpoint_risk){0, 60, 60});
    assert_true(fabs(r.goodput - 0.9) < 1e-15 && fabs(r.saving - 0.1) < 1e-15 && r.redone < 1e-15 && r.downtime == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_all_of_the_time),
        cmocka_unit_test(none_is_shorter_than_a_save_takes),
        cmocka_unit_test(nothing_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
