/* test_decimal.c - exact decimals both ways.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "run/decimal.h"

/* 2^128 - 1 = 340282366920938463463374607431768211455 */
static const struct {
    uint64_t high, low;
    unsigned digits;
    const char *text;
} rows[] = {
    {0,          0,              12, "0"                                       },
    {0,          1,              12, "0.000000000001"                          },
    {0,          8000000000000,  12, "8"                                       },
    {0,          8500000000000,  12, "8.5"                                     },
    {0,          9516326000,     9,  "9.516326"                                },
    {0,          999999999999,   12, "0.999999999999"                          },
    {0,          10000000000000, 12, "10"                                      },
    {0,          500,            3,  "0.5"                                     },
    {0,          8000,           3,  "8"                                       },
    {0,          UINT64_MAX,     12, "18446744.073709551615"                   },
    {1,          0,              12, "18446744.073709551616"                   },
    {UINT64_MAX, UINT64_MAX,     12, "340282366920938463463374607.431768211455"},
    {UINT64_MAX, UINT64_MAX,     0,  "340282366920938463463374607431768211455" },
};

static void both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[DECIMAL_GPU_S_BYTES + 1];
        share_ns value = (share_ns)rows[i].high << 64 | rows[i].low, back = 7;
        size_t n = decimal_put(text, value, rows[i].digits);
        assert_true(n <= DECIMAL_GPU_S_BYTES);
        text[n] = 0;
        assert_string_equal(text, rows[i].text);
        assert_true(decimal_get(text, rows[i].digits, &back));
        assert_true(back == value);
    }
}

static void what_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        ".",
        ".5",
        "5.",
        "-1",
        "+1",
        "1e3",
        " 1",
        "1 ",
        "1.2.3",
        "0x1",
        "nan",
        "0.0000000000001",
        "1,5",
        "340282366920938463463374607.431768211456", /* 2^128 */
        "99999999999999999999999999999999999999999999999999",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        share_ns value = 7;
        assert_false(decimal_get(bad[i], 12, &value));
        assert_true(value == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_ways), cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
