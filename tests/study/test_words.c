/* test_words.c - amounts as people say them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "study/words.h"

static void test_amounts(void **state)
{
    static const struct {
        const char *unit;
        double x;
        const char *says;
    } rows[] = {
        {"s",     0,       "0 s"         },
        {"s",     0.0125,  "12.5 ms"     },
        {"s",     1.5,     "1.50 s"      },
        {"s",     89,      "89 s"        },
        {"s",     186,     "3.10 min"    },
        {"s",     5400,    "1.50 h"      },
        {"s",     -186,    "-3.10 min"   },
        {"s",     172800,  "2 d"         },
        {"s",     NAN,     "-"           },
        {"ratio", 0.7647,  "76.5 %"      },
        {"GPU-h", 12345.6, "12,346 GPU-h"},
        {"jobs",  999.4,   "999"         },
        {"jobs",  999.6,   "1,000"       },
        {"1",     0.024,   "0.024"       },
        {"1",     1234567, "1,234,567"   },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str s = {0};
        words_amount(&s, rows[i].unit, rows[i].x);
        assert_string_equal(str_text(&s), rows[i].says);
        str_free(&s);
    }
}

static void test_signed(void **state)
{
    struct str s = {0};
    (void)state;
    words_signed_number(&s, 3.1);
    words_signed_number(&s, -0.25);
    words_signed_number(&s, 0);
    assert_string_equal(str_text(&s), "+3.10-0.250");
    assert_string_equal(words_difference_scale("ratio", 0.1).unit, " points");
    str_free(&s);
}

static void test_wrapped(void **state)
{
    struct str s = {0};
    (void)state;
    str_append(&s, "* ");
    words_wrapped(&s, "p one two three", 2, 9);
    assert_string_equal(str_text(&s), "* p one\n  two\n  three");
    str_clear(&s);
    words_wrapped(&s, "p under", 2, 20);
    assert_string_equal(str_text(&s), "p under");
    str_clear(&s);
    words_wrapped(&s, "averyveryverylongword x", 1, 8);
    assert_string_equal(str_text(&s), "averyveryverylongword\n x");
    str_free(&s);
}

static void test_columns(void **state)
{
    struct str s = {0};
    (void)state;
    words_left(&s, "m\xc3\xbcller", 8);
    words_right(&s, "x", 3);
    words_name(&s, "image_pull");
    words_gpus(&s, 500);
    words_gpus(&s, 8000);
    assert_string_equal(str_text(&s), "m\xc3\xbcller    ximage pull0.58");
    str_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_amounts), cmocka_unit_test(test_signed),
                                       cmocka_unit_test(test_wrapped), cmocka_unit_test(test_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
