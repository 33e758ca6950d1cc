/* test_cases.c - the acceptance cases: every row of every file in tests/cases comes out right.
 *
 * Run from the root of the checkout; files may be given as arguments.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/case_run.h"

static int is_case(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 5 && strcmp(d->d_name + n - 5, ".json") == 0;
}

static void cases(void **state)
{
    struct dirent **files;
    int failures = 0, rows = 0, n = scandir("tests/cases", &files, is_case, alphasort);
    char path[512];
    (void)state;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "tests/cases/%s", files[i]->d_name);
        failures += case_run_file(path, &rows);
        free(files[i]);
    }
    free(files);
    printf("%d of %d rows are right\n", rows - failures, rows);
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv)
{
    int failures = 0, rows = 0;
    if (argc < 2) return cmocka_run_group_tests(((const struct CMUnitTest[]){cmocka_unit_test(cases)}), NULL, NULL);
    for (int i = 1; i < argc; i++) failures += case_run_file(argv[i], &rows);
    return failures != 0;
}
