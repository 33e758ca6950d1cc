/* test_fail_if.c - conditions read, refused, and judged by whole intervals.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/metrics.h"
#include "study/fail_if.h"

static void test_read(void **state)
{
    static const struct {
        const char *text, *metric;
        enum fail_op op;
        enum fail_against against;
        double number;
    } rows[] = {
        {"p95_wait>1.1x",          "p95_wait",       OP_MORE,       AGAINST_RATIO,      1.1   },
        {"p95_wait>10%",           "p95_wait",       OP_MORE,       AGAINST_RATIO,      1.1   },
        {"p95_wait>+10%",          "p95_wait",       OP_MORE,       AGAINST_RATIO,      1.1   },
        {"mean_jct<-5%",           "mean_jct",       OP_LESS,       AGAINST_RATIO,      0.95  },
        {"p95_wait>1800",          "p95_wait",       OP_MORE,       AGAINST_NUMBER,     1800  },
        {"p95_wait>=30m",          "p95_wait",       OP_MORE_EQUAL, AGAINST_NUMBER,     1800  },
        {"p95_wait > 30 m ",       "p95_wait",       OP_MORE,       AGAINST_NUMBER,     1800  },
        {"p50_wait>+5m",           "p50_wait",       OP_MORE,       AGAINST_DIFFERENCE, 300   },
        {"p50_wait<-250ms",        "p50_wait",       OP_LESS,       AGAINST_DIFFERENCE, -0.25 },
        {"makespan<=2d",           "makespan",       OP_LESS_EQUAL, AGAINST_NUMBER,     172800},
        {"goodput<90%",            "goodput",        OP_LESS,       AGAINST_NUMBER,     0.9   },
        {"goodput<0.9",            "goodput",        OP_LESS,       AGAINST_NUMBER,     0.9   },
        {"goodput<-2%",            "goodput",        OP_LESS,       AGAINST_RATIO,      0.98  },
        {"goodput<-0.02",          "goodput",        OP_LESS,       AGAINST_DIFFERENCE, -0.02 },
        {"gpu_hours_held>12.5h",   "gpu_hours_held", OP_MORE,       AGAINST_NUMBER,     12.5  },
        {"gpu_hours_held>+1GPU-h", "gpu_hours_held", OP_MORE,       AGAINST_DIFFERENCE, 1     },
        {"failed>0",               "failed",         OP_MORE,       AGAINST_NUMBER,     0     },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fail_rule r;
        char *wrong = fail_rule_parse(rows[i].text, &r);
        if (wrong) fail_msg("%s: %s", rows[i].text, wrong);
        assert_string_equal(metric_at(r.metric)->name, rows[i].metric);
        assert_int_equal(r.op, rows[i].op);
        assert_int_equal(r.against, rows[i].against);
        assert_true(fabs(r.number - rows[i].number) < 1e-12 * (1 + fabs(rows[i].number)));
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"",                                                            "a metric is missing"                                                  },
        {">1.1x",                                                       "a metric is missing"                                                  },
        {"p96_wait>1.1x",                                               "did you mean \"p95_wait\""                                            },
        {"nonsense>1",                                                  "there are: mean_wait"                                                 },
        {"p95_wait",                                                    "one of > >= < <="                                                     },
        {"p95_wait=1",                                                  "one of > >= < <="                                                     },
        {"p95_wait==1x",                                                "one of > >= < <="                                                     },
        {"p95_wait>",                                                   "comes a number"                                                       },
        {"p95_wait>x",                                                  "comes a number"                                                       },
        {"p95_wait>1.1.1x",                                             "comes a number"                                                       },
        {"p95_wait>nan",                                                "comes a number"                                                       },
        {"p95_wait>1e3",                                                "is no unit"                                                           },
        {"p95_wait>5q",                                                 "\"q\" is no unit for p95_wait; allowed here: x (times the base), %, s"},
        {"failed>3m",                                                   "is no unit for failed"                                                },
        {"goodput<3m",                                                  "is no unit for goodput"                                               },
        {"p95_wait>+1.1x",                                              "has no sign"                                                          },
        {"p95_wait>1.1x 2",                                             "is no unit"                                                           },
        {"a_metric_whose_name_is_much_longer_than_any_that_there_is>1", "is no metric"                                                         },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fail_rule r;
        char *wrong = fail_rule_parse(rows[i].text, &r);
        if (!wrong) fail_msg("%s was taken", rows[i].text);
        if (!strstr(wrong, rows[i].says)) fail_msg("%s: %s", rows[i].text, wrong);
        free(wrong);
    }
}

/* Base 100, 100, 100; other 111, 112, 113: mean 112, half = 4.302653 / sqrt(3) = 2.484: the difference is 9.516 to
 * 14.484, the value 109.516 to 114.484, the ratio 1.09516 to 1.14484. */
static void test_judged(void **state)
{
    static const struct {
        const char *text;
        enum fail_result is;
    } rows[] = {
        {"p95_wait>1.09x", FAIL_YES},
        {"p95_wait>1.1x",  FAIL_NO },
        {"p95_wait>9%",    FAIL_YES},
        {"p95_wait>10%",   FAIL_NO },
        {"p95_wait>109.5", FAIL_YES},
        {"p95_wait>109.6", FAIL_NO },
        {"p95_wait>+9.5s", FAIL_YES},
        {"p95_wait>+9.6s", FAIL_NO },
        {"p95_wait<115",   FAIL_YES},
        {"p95_wait<114",   FAIL_NO },
        {"p95_wait<1.15x", FAIL_YES},
        {"p95_wait<1.14x", FAIL_NO },
    };
    static const double base[] = {100, 100, 100}, other[] = {111, 112, 113};
    struct fail_sample s = {base, other, 3, false, false};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fail_rule r;
        assert_null(fail_rule_parse(rows[i].text, &r));
        if (fail_rule_judge(&r, &s, NULL) != rows[i].is) fail_msg("%s", rows[i].text);
    }
}

static void test_undecided(void **state)
{
    static const double base[] = {100, 100, 100}, other[] = {211, 212, 213}, zero[] = {0, 0, 0};
    struct fail_rule more, less, value;
    const char *why;
    (void)state;
    assert_null(fail_rule_parse("p95_wait>1.1x", &more));
    assert_null(fail_rule_parse("p95_wait<3x", &less));
    assert_null(fail_rule_parse("p95_wait>150", &value));
    struct fail_sample one = {base, other, 1, false, false};
    assert_int_equal(fail_rule_judge(&more, &one, &why), FAIL_UNDECIDED);
    assert_non_null(strstr(why, "--replications"));
    struct fail_sample no_base = {zero, other, 3, false, false};
    assert_int_equal(fail_rule_judge(&more, &no_base, &why), FAIL_UNDECIDED);
    /* Lower bounds: more of the other confirms "more"; more of the base may undo it; and the other way round. */
    struct fail_sample other_bound = {base, other, 3, false, true}, base_bound = {base, other, 3, true, false};
    assert_int_equal(fail_rule_judge(&more, &other_bound, NULL), FAIL_YES);
    assert_int_equal(fail_rule_judge(&more, &base_bound, NULL), FAIL_UNDECIDED);
    assert_int_equal(fail_rule_judge(&less, &other_bound, NULL), FAIL_UNDECIDED);
    assert_int_equal(fail_rule_judge(&less, &base_bound, NULL), FAIL_YES);
    assert_int_equal(fail_rule_judge(&value, &base_bound, NULL), FAIL_YES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_judged),
        cmocka_unit_test(test_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
