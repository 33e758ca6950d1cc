/* test_time_axis.c - steps of clocks, moments in words, moments that people type.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/units.h"
#include "viz/ui/time_axis.h"

static void test_steps(void **state)
{
    (void)state;
    static const struct {
        int64_t span;
        unsigned most;
        int64_t step;
    } rows[] = {
        {5 * NS_PER_DAY, 10, 12 * NS_PER_HOUR}, {5 * NS_PER_DAY, 5, NS_PER_DAY},      {6 * NS_PER_DAY, 5, 2 * NS_PER_DAY}, {NS_PER_DAY, 8, 3 * NS_PER_HOUR},
        {NS_PER_HOUR, 10, 10 * NS_PER_MINUTE},  {NS_PER_HOUR, 4, 15 * NS_PER_MINUTE}, {NS_PER_MINUTE, 10, 10 * NS_PER_S},  {NS_PER_S, 10, 100 * NS_PER_MS},
        {1000, 10, 100},                        {7, 10, 1},                           {3000 * NS_PER_DAY, 10, 500 * NS_PER_DAY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_int_equal(time_step(rows[i].span, rows[i].most), rows[i].step);
    for (int64_t span = 1; span < INT64_MAX / 20; span = span * 13 / 4 + 1)
        for (unsigned most = 1; most < 30; most++) assert_true(span / time_step(span, most) <= most);
    assert_int_equal(time_first(7 * NS_PER_HOUR, 6 * NS_PER_HOUR), 12 * NS_PER_HOUR);
    assert_int_equal(time_first(12 * NS_PER_HOUR, 6 * NS_PER_HOUR), 12 * NS_PER_HOUR);
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        int64_t ns, step;
        const char *text;
    } rows[] = {
        {2 * NS_PER_DAY + 3 * NS_PER_HOUR + 15 * NS_PER_MINUTE, NS_PER_MINUTE, "2d 03:15"},
        {4 * NS_PER_DAY, NS_PER_DAY, "4d"},
        {0, NS_PER_DAY, "0d"},
        {3 * NS_PER_HOUR, NS_PER_HOUR, "03:00"},
        {NS_PER_HOUR + 30 * NS_PER_MINUTE + 5 * NS_PER_S, NS_PER_S, "01:30:05"},
        {NS_PER_S + 250 * NS_PER_MS, 50 * NS_PER_MS, "00:00:01.25"},
        {7, 1, "00:00:00.000000007"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str s = {0};
        time_text(&s, rows[i].ns, rows[i].step);
        assert_string_equal(str_text(&s), rows[i].text);
        str_free(&s);
    }
}

static void test_typed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns; /* -1: refused */
    } rows[] = {
        {"2d 03:15", 2 * NS_PER_DAY + 3 * NS_PER_HOUR + 15 * NS_PER_MINUTE},
        {"2d03:15:30", 2 * NS_PER_DAY + 3 * NS_PER_HOUR + 15 * NS_PER_MINUTE + 30 * NS_PER_S},
        {"26:00", 26 * NS_PER_HOUR},
        {"00:00:01.25", NS_PER_S + 250 * NS_PER_MS},
        {"90m", 90 * NS_PER_MINUTE},
        {"5", 5 * NS_PER_S},
        {"", -1}, {"3:61", -1}, {"x:15", -1}, {"-1:15", -1}, {"2d", 2 * NS_PER_DAY}, {"2d 3", -1}, {"1:00:60", -1}, {"1:00x", -1}, {"soon", -1},
        {"99999999999999999999d 00:00", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t ns = -1;
        const char *wrong = time_parse(rows[i].text, &ns);
        if (rows[i].ns >= 0) {
            assert_null(wrong);
            assert_int_equal(ns, rows[i].ns);
        } else if (!wrong) {
            fail_msg("\"%s\" was taken as %lld", rows[i].text, (long long)ns);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_texts), cmocka_unit_test(test_typed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
