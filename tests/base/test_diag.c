/* test_diag.c - the printed form of errors.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

static char *printed(const struct diag *d)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    diag_print(d, f);
    fclose(f);
    return text;
}

static void check(const struct diag *d, const char *want)
{
    char *text = printed(d);
    assert_string_equal(text, want);
    free(text);
}

/* The sample of the style guide, word by word. */
static void the_sample(void **state)
{
    (void)state;
    static const char *const keys[] = {"group",  "count",  "profile",        "gpus",
                                       "labels", "taints", "price_per_hour", "spot"};
    struct diag d = {0};
    diag_error(&d, "scenarios/lab.json", 14, "/cluster/nodes/0/cuont", "unknown key");
    diag_help_allowed(&d, "cuont", keys, 8);
    check(
        &d,
        "scenarios/lab.json:14: /cluster/nodes/0/cuont: unknown key\n"
        "    did you mean \"count\"?  allowed here: group, count, profile, gpus, labels, taints, price_per_hour, spot\n"
        "1 error in scenarios/lab.json\n");
    diag_free(&d);
}

static void warn(struct diag *d, const char *file, int line, const char *pointer, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
static void warn(struct diag *d, const char *file, int line, const char *pointer, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    diag_add(d, DIAG_WARNING, file, line, pointer, fmt, args);
    va_end(args);
}

static void sorted_by_file_and_line(void **state)
{
    (void)state;
    struct diag d = {0};
    check(&d, "");
    diag_error(&d, "b", 9, NULL, "nine");
    diag_error(&d, "a", 0, "", "whole");
    warn(&d, "b", 2, "/x", "two %d", 2);
    diag_help(&d, "first");
    diag_help(&d, "second");
    diag_error(&d, "b", 9, NULL, "nine again\x1b[31m\n");
    assert_int_equal(diag_errors(&d), 3);
    assert_int_equal(d.warnings, 1);
    check(&d, "b:2: /x: warning: two 2\n    first\n    second\nb:9: nine\nb:9: nine again\\x1b[31m\\x0a\n2 errors in "
              "b\n1 warning in b\n"
              "a: whole\n1 error in a\n");
    diag_free(&d);
}

static void many(void **state)
{
    (void)state;
    struct diag d = {0};
    for (int i = 0; i < DIAG_KEEP_MAX + 5; i++) {
        diag_error(&d, "f", i + 1, NULL, "bad");
        diag_help(&d, "do better");
    }
    char *text = printed(&d);
    assert_int_equal(diag_errors(&d), DIAG_KEEP_MAX + 5);
    assert_non_null(strstr(text, "\nf:100: bad\n"));
    assert_null(strstr(text, "\nf:101: bad\n"));
    assert_non_null(strstr(text, "\n... and 9900 more\n10000 errors in f\n... and 5 more that were not kept\n"));
    free(text);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_sample), cmocka_unit_test(sorted_by_file_and_line),
                                       cmocka_unit_test(many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
