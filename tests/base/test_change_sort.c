/* test_change_sort.c - changes in order of time, those of one moment as they were.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/change_sort.h"

/* All kinds of moments: before 0, next to the ends of the type, many alike. `by` is the place before. */
static void fill(struct change *v, size_t n, uint32_t kind)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, 255, 256, INT64_MAX - 1, INT64_MAX};
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (i + 1) * (UINT64_C(0x9e3779b97f4a7c15) + kind);
        x ^= x >> 29;
        int64_t ns = kind == 0 ? (int64_t)x : kind == 1 ? ends[x % 9] : (int64_t)(x % 1000) * 1000000007;
        v[i] = (struct change){ns, (int64_t)i};
    }
}

static void test_rises_and_keeps_the_order_of_a_moment(void **state)
{
    static struct change v[5000];
    static char seen[5000];
    (void)state;
    for (uint32_t kind = 0; kind < 3; kind++)
        for (size_t n = 0; n <= 5000; n = 3 * n + 1) {
            fill(v, n, kind);
            change_sort(v, n);
            for (size_t i = 0; i < n; i++) seen[i] = 0;
            for (size_t i = 0; i < n; i++) {
                seen[v[i].by]++;
                if (i) assert_true(v[i - 1].ns < v[i].ns || (v[i - 1].ns == v[i].ns && v[i - 1].by < v[i].by));
            }
            for (size_t i = 0; i < n; i++) assert_int_equal(seen[i], 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rises_and_keeps_the_order_of_a_moment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
