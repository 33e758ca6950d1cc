/* test_progress.c - spans of steps from records, also from ones that no run writes.
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
#include <unistd.h>

#include "base/units.h"
#include "run/timeline.h"
#include "study/progress.h"

static void read_records(const struct record *v, size_t n, struct progress *p)
{
    char dir[] = "/tmp/trainyard-progress-XXXXXX", path[64], *err = NULL;
    struct timeline_written written;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/timeline.bin", dir);
    struct timeline_writer *w = timeline_begin(path, RECORD_FULL, NULL);
    for (size_t i = 0; i < n; i++) timeline_put(w, &v[i]);
    assert_true(timeline_end(w, &written, &err));
    assert_true(progress_read(&(struct run){.dir = dir}, (const int64_t[]){0}, 1, p, &err));
    unlink(path);
    rmdir(dir);
}

static void steps_become_spans(void **state)
{
    (void)state;
    const struct record v[] = {
        {.time_ns = seconds(5), .type = REC_JOB_STARTED},
        {.time_ns = seconds(15), .type = REC_STEPS, .a = 0, .b = 10},
        {.time_ns = seconds(40), .type = REC_STEPS, .a = 10, .b = 20},
    };
    struct progress p;
    read_records(v, 3, &p);
    assert_int_equal(p.spans.n, 2);
    assert_int_equal(p.spans.v[0].from_ns, seconds(5));
    assert_int_equal(p.spans.v[0].to_ns, seconds(15));
    assert_int_equal(p.spans.v[1].last, 20);
    progress_free(&p);
}

static void impossible_records_are_passed_over(void **state)
{
    (void)state;
    const struct record v[] = {
        {.time_ns = INT64_MIN, .type = REC_JOB_STARTED},
        {.time_ns = seconds(5), .type = REC_JOB_STARTED},
        {.time_ns = seconds(6), .type = REC_ROLLBACK, .a = 0, .b = INT64_MIN},
        {.time_ns = seconds(7), .type = REC_CHECKPOINT, .a = INT64_MAX},
        {.time_ns = seconds(4), .type = REC_STEPS, .a = 0, .b = 3},
        {.time_ns = seconds(15), .type = REC_STEPS, .a = 0, .b = 10},
        {.time_ns = INT64_MAX, .type = REC_STEPS, .a = 10, .b = 11},
    };
    struct progress p;
    read_records(v, 7, &p);
    assert_int_equal(p.spans.n, 1);
    assert_int_equal(p.spans.v[0].from_ns, seconds(5));
    assert_int_equal(p.spans.v[0].last, 10);
    progress_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_become_spans),
        cmocka_unit_test(impossible_records_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
