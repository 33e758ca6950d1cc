/* test_traffic.c - bytes on the edges of a ring, by hand.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/traffic.h"

static void edges_carry_twice_all_but_one_part(void **state)
{
    static const struct { int64_t bytes; uint64_t ranks; int64_t edge; } rows[] = {
        {1000, 0, 0}, {1000, 1, 0}, {0, 8, 0},
        {1000, 2, 1000},                 /* 2 x 1/2 */
        {24000000000, 24, 46000000000},  /* 2 x 23/24 */
        {1000, 3, 1334},                 /* 1333.3, rounded up */
        {INT64_MAX, 1000, INT64_MAX},    /* beyond what counts */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(traffic_ring_edge_bytes(rows[i].bytes, rows[i].ranks) == rows[i].edge);
}

static void rates_move_their_bytes(void **state)
{
    (void)state;
    assert_int_equal(traffic_rate(46000000000, 1000000000), 46000000000);
    assert_int_equal(traffic_rate(10, 3000000000), 4); /* 3.3, rounded up */
    assert_int_equal(traffic_rate(10, 0), 0);
    assert_true(traffic_rate(INT64_MAX, 1) == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_carry_twice_all_but_one_part),
        cmocka_unit_test(rates_move_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
