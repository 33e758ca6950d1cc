/* test_import_bad.c - malformed traces: each is refused with its place and with what to do, and nothing is skipped.
 *
 * The traces lie in bad_traces/, what must be said about each in bad_traces/cases.txt.
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

#include "base/lines.h"
#include "input/fit.h"
#include "input/import.h"

#define FOLDER "tests/input/bad_traces"

/* All that is printed about a trace; "" when it was accepted. Freed by the caller. */
static char *complaint(const char *format, const char *file, const struct import_options *o)
{
    struct import_result r;
    struct diag d = {0};
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    bool ok = import_read(import_format_find(format), &file, 1, o, &r, &d);
    if (!ok && diag_errors(&d) == 0) fail_msg("%s: refused without a word", file);
    if (ok && diag_errors(&d) > 0) fail_msg("%s: accepted with errors", file);
    diag_print(&d, to);
    fclose(to);
    import_free(&r);
    diag_free(&d);
    return text;
}

static void each_is_refused_with_its_place(void **state)
{
    (void)state;
    struct diag d = {0};
    struct line_reader cases;
    char *line, *f[3];
    size_t n = 0, wrong = 0;
    assert_true(line_open(&cases, FOLDER "/cases.txt", &d));
    while (line_next(&cases, &line)) {
        if (*line == '#') continue;
        assert_int_equal(line_split(line, '\t', f, 3), 3);
        char path[512];
        snprintf(path, sizeof path, FOLDER "/%s", f[0]);
        char *said = complaint(f[1], path, NULL);
        if (strstr(said, f[2]) == NULL || strncmp(said, path, strlen(path)) != 0) {
            print_message("%s: expected: %s\n  said: %s\n", f[0], f[2], *said ? said : "(nothing)");
            wrong++;
        }
        free(said);
        n++;
    }
    assert_true(line_close(&cases));
    assert_int_equal(wrong, 0);
    assert_true(n >= 60);
    diag_free(&d);
}

/* "b,now,2,x" has two wrong fields: both are said, with what to do. */
static void all_errors_are_collected(void **state)
{
    (void)state;
    char *said = complaint("itp", FOLDER "/itp-two-errors.csv", NULL);
    assert_non_null(strstr(said, "submission_time: \"now\" is no number\n    give seconds"));
    assert_non_null(strstr(said, "num_gpu: \"x\" is no number\n    give a number of GPUs"));
    assert_non_null(strstr(said, "2 errors"));
    free(said);
}

static void a_map_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        const char *format, *file;
        enum import_field field;
        const char *column, *said;
    } rows[] = {
        {"philly", "philly-header-only.csv", FIELD_TEAM,     "clusterr",   "did you mean \"cluster\""         },
        {"swf",    "swf-comments-only.swf",  FIELD_TEAM,     "userr",      "did you mean \"user\""            },
        {"swf",    "swf-comments-only.swf",  FIELD_REPLICAS, "processors", "cannot be mapped"                 },
        {"sacct",  "sacct-all-pending.txt",  FIELD_TEAM,     "QOS",        "QOS: the header lacks this column"},
        {"batsim", "batsim-no-jobs.json",    FIELD_WORK,     "runtime",    "cannot be mapped"                 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct import_options o = {0};
        char path[512];
        o.column[rows[i].field] = rows[i].column;
        snprintf(path, sizeof path, FOLDER "/%s", rows[i].file);
        char *said = complaint(rows[i].format, path, &o);
        if (strstr(said, rows[i].said) == NULL) fail_msg("expected: %s\nsaid: %s", rows[i].said, said);
        free(said);
    }
}

static void a_missing_file(void **state)
{
    (void)state;
    char *said = complaint("swf", FOLDER "/no-such-file.swf", NULL);
    assert_non_null(strstr(said, "No such file"));
    free(said);
}

/* A trace of one moment cannot be fitted: there is no rate. */
static void nothing_to_fit(void **state)
{
    (void)state;
    struct job_spec jobs[2] = {
        {.replicas = 1, .gpu_shares = 1000},
        {.replicas = 1, .gpu_shares = 1000}
    };
    struct import_result r = {.format = import_format_find("jobs"), .jobs = jobs, .n_jobs = 2};
    struct diag d = {0};
    assert_null(fit_profile("x", "x", &r, &d));
    assert_int_equal(diag_errors(&d), 1);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_refused_with_its_place),
        cmocka_unit_test(all_errors_are_collected),
        cmocka_unit_test(a_map_that_cannot_be),
        cmocka_unit_test(a_missing_file),
        cmocka_unit_test(nothing_to_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
