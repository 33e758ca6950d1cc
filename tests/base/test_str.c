/* test_str.c - string builder and suggestions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void seconds_are_exact(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {
        {0,           "0"                    },
        {1,           "0.000000001"          },
        {9516326000,  "9.516326"             },
        {12000000000, "12"                   },
        {-1500000000, "-1.5"                 },
        {100,         "0.0000001"            },
        {1000000000,  "1"                    },
        {999999999,   "0.999999999"          },
        {-1,          "-0.000000001"         },
        {INT64_MAX,   "9223372036.854775807" },
        {INT64_MIN,   "-9223372036.854775808"},
    };
    struct str s = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        str_clear(&s);
        str_append_seconds(&s, rows[i].ns);
        assert_string_equal(str_text(&s), rows[i].text);
    }
    str_free(&s);
}

static void integers_as_printf(void **state)
{
    (void)state;
    static const int64_t rows[] = {0, 1, -1, 9, 10, 99, 100, 1234567890123, INT64_MAX, INT64_MIN};
    struct str s = {0};
    char want[32];
    for (size_t i = 0; i < COUNT(rows); i++) {
        str_clear(&s);
        str_append_i64(&s, rows[i]);
        snprintf(want, sizeof want, "%ld", rows[i]);
        assert_string_equal(str_text(&s), want);
        str_clear(&s);
        str_append_u64(&s, (uint64_t)rows[i]);
        snprintf(want, sizeof want, "%lu", (uint64_t)rows[i]);
        assert_string_equal(str_text(&s), want);
    }
    str_free(&s);
}

static void doubles_read_back_with_few_digits(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *text;
    } rows[] = {
        {0.1,       "0.1"                  },
        {1.0 / 3,   "0.3333333333333333"   },
        {0.1 + 0.2, "0.30000000000000004"  },
        {1e300,     "1e+300"               },
        {-2,        "-2"                   },
        {INFINITY,  "inf"                  },
        {-INFINITY, "-inf"                 },
        {NAN,       "nan"                  },
        {-NAN,      "nan"                  },
        {5e-324,    "4.94065645841247e-324"},
    };
    struct str s = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        str_clear(&s);
        str_append_double(&s, rows[i].x);
        assert_string_equal(str_text(&s), rows[i].text);
        if (rows[i].x == rows[i].x) assert_true(strtod(str_text(&s), NULL) == rows[i].x);
    }
    str_free(&s);
}

static void building(void **state)
{
    (void)state;
    struct str s = {0};
    assert_string_equal(str_text(&s), "");
    for (int i = 0; i < 300; i++) str_printf(&s, "%d,", i % 10);
    assert_int_equal(s.n, 600);
    str_printf(&s, "%0500d", 7);
    assert_int_equal(s.n, 1100);
    assert_int_equal(s.s[1099], '7');
    assert_int_equal(strlen(s.s), 1100);
    str_clear(&s);
    str_append_n(&s, "abcdef", 3);
    str_append_char(&s, '-');
    str_append_repeat(&s, '=', 3);
    char *p = str_take(&s);
    assert_string_equal(p, "abc-===");
    assert_null(s.s);
    free(p);
    assert_true(str_starts_with("abc", "ab"));
    assert_false(str_starts_with("a", "ab"));
    assert_true(str_ends_with("trace.swf.gz", ".gz"));
    assert_false(str_ends_with("gz", ".gz"));
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(str_distance("", ""), 0);
    assert_int_equal(str_distance("", "abc"), 3);
    assert_int_equal(str_distance("kitten", "sitting"), 3);
    assert_int_equal(str_distance("cuont", "count"), 1);
    assert_int_equal(str_distance("ca", "abc"), 3); /* optimal string alignment, not full Damerau (2) */
    assert_int_equal(str_distance("GPUs", "gpus"), 0);
}

static void suggestions(void **state)
{
    (void)state;
    static const char *const allowed[] = {"group", "count", "profile", "gpus", "labels", "id"};
    assert_string_equal(str_suggest("cuont", allowed, COUNT(allowed)), "count");
    assert_string_equal(str_suggest("gpu", allowed, COUNT(allowed)), "gpus");
    assert_string_equal(str_suggest("lables", allowed, COUNT(allowed)), "labels");
    assert_null(str_suggest("spot", allowed, COUNT(allowed)));
    assert_null(str_suggest("x", allowed, COUNT(allowed)));
    assert_null(str_suggest("", allowed, COUNT(allowed)));
    assert_null(str_suggest("cuont", NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_are_exact),
        cmocka_unit_test(integers_as_printf),
        cmocka_unit_test(doubles_read_back_with_few_digits),
        cmocka_unit_test(building),
        cmocka_unit_test(distances),
        cmocka_unit_test(suggestions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
