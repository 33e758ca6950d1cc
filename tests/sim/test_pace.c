/* test_pace.c - watching a run slows it down and changes nothing else.
 *
 * In tests/study/tiny.json the last job of `strict` ends at 170 s, of `skip` at 150 s (worked out in its head).
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
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/units.h"
#include "study/runs.h"

struct seen {
    unsigned calls, n;
    bool open[RUNS_MAX_WATCHED]; /* run.json of the directory was there */
};

static void on_begun(void *arg, char **dirs, unsigned n)
{
    struct seen *seen = arg;
    seen->calls++;
    seen->n = n;
    for (unsigned i = 0; i < n; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/run.json", dirs[i]);
        seen->open[i] = file_exists(path);
    }
}

static double wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double execute(struct runs_plan *plan, struct runs *r)
{
    struct diag d = {0};
    static const char *const both[] = {"strict", "skip"};
    plan->scenario = "tests/study/tiny.json";
    plan->approaches = both;
    plan->n_approaches = 2;
    plan->replications = 2;
    plan->record_level = RECORD_FULL;
    double begin = wall_s();
    if (!runs_execute(plan, r, &d)) fail_msg("%s", r->error ? r->error : "the scenario");
    diag_free(&d);
    return wall_s() - begin;
}

static void test_watched_or_not_is_the_same(void **state)
{
    struct seen seen = {0};
    struct runs fast, slow;
    struct diag d = {0};
    char dir[] = "/tmp/trainyard-pace-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(dir));
    struct runs_plan plain = {.threads = 1};
    struct runs_plan watched = {.threads = 1, .out = dir, .force = true, .n_watched = 2, .speed = 60, .begun = on_begun, .arg = &seen};
    execute(&plain, &fast);
    double took = execute(&watched, &slow);
    for (int i = 0; i < 4; i++) assert_string_equal(fast.cells[i].result.fingerprint, slow.cells[i].result.fingerprint);
    assert_true(took >= 170. / 60);                      /* as slow as was asked for, and more than a flush long */
    assert_true(took < 2 * 170. / 60);                   /* the watched ones at once, the others at full speed */
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.n, 2);
    assert_true(seen.open[0] && seen.open[1]);
    runs_free(&fast);
    runs_free(&slow);
    assert_true(file_remove_tree(dir, &d));
    diag_free(&d);
}

static volatile int interrupt;

static void interrupt_it(void *arg, char **dirs, unsigned n)
{
    (void)arg;
    (void)dirs;
    (void)n;
    interrupt = 1;
}

static void test_an_interrupt_ends_the_wait(void **state)
{
    struct runs r;
    struct runs_plan plan = {/* without end, if it were waited for */
                             .n_watched = 2, .speed = 1e-300, .interrupt = &interrupt, .begun = interrupt_it};
    (void)state;
    assert_true(execute(&plan, &r) < 5);
    assert_true(r.interrupted && r.cells[0].result.interrupted);
    runs_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watched_or_not_is_the_same),
        cmocka_unit_test(test_an_interrupt_ends_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
