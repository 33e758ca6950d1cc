/* test_dependents.c - jobs that come after others: these must have succeeded; who comes after one that has not is cancelled.
 *
 * By hand: on one node of 8 GPUs all that may run does at once. `good` works for 100 s, `bad` is killed by its limit after 50. What
 * comes after `bad` is cancelled at 50 s, or when it is submitted or resumed if that is later, and so is, at once, what comes after that.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/str.h"
#include "tests/support/run_check.h"
#include "tests/support/temp_run.h"

static const char jobs[] =
    "{\"id\": \"chain\", \"gpus\": 1, \"duration\": 10, \"after\": [\"spoiled\"]},"
    "{\"id\": \"good\", \"gpus\": 1, \"duration\": 100},"
    "{\"id\": \"bad\", \"gpus\": 1, \"duration\": 100, \"limit\": 50},"
    "{\"id\": \"second\", \"gpus\": 1, \"duration\": 10, \"after\": [\"good\"]},"
    "{\"id\": \"third\", \"gpus\": 1, \"duration\": 10, \"after\": [\"second\", \"good\"]},"
    "{\"id\": \"spoiled\", \"gpus\": 1, \"duration\": 10, \"after\": [\"bad\"]},"
    "{\"id\": \"both\", \"gpus\": 1, \"duration\": 10, \"after\": [\"good\", \"bad\"]},"
    "{\"id\": \"kept\", \"gpus\": 1, \"duration\": 10, \"after\": [\"bad\"]},"
    "{\"id\": \"late\", \"submit\": 70, \"gpus\": 1, \"duration\": 10, \"after\": [\"bad\"]},"
    "{\"id\": \"later\", \"submit\": 80, \"gpus\": 1, \"duration\": 10, \"after\": [\"late\"]}";
static const char script[] = "{\"at\": 20, \"target\": \"job/kept\", \"action\": \"suspend\"}, {\"at\": 60, \"target\": \"job/kept\", \"action\": \"resume\"}";

static const struct { const char *id; enum job_state state; int64_t ended_s, depends_s, suspended_s; } expected[] = {
    {"chain", JOB_CANCELLED, 50, 50, 0},   {"good", JOB_SUCCEEDED, 100, 0, 0},    {"bad", JOB_FAILED, 50, 0, 0},
    {"second", JOB_SUCCEEDED, 110, 100, 0}, {"third", JOB_SUCCEEDED, 120, 110, 0}, {"spoiled", JOB_CANCELLED, 50, 50, 0},
    {"both", JOB_CANCELLED, 50, 50, 0},    {"kept", JOB_CANCELLED, 60, 20, 40},   {"late", JOB_CANCELLED, 70, 0, 0},
    {"later", JOB_CANCELLED, 80, 0, 0},
};
enum { N = sizeof expected / sizeof *expected };

static const struct job_row *row_of(const struct run *r, const char *id)
{
    for (size_t i = 0; i < r->n_jobs; i++)
        if (strcmp(r->jobs[i].row.id, id) == 0) return &r->jobs[i].row;
    fail_msg("%s has no row", id);
    return NULL;
}

static void check(const char *admission, const struct scenario *s)
{
    char why[RUN_WHY];
    struct run *r = temp_run(s, RECORD_FULL);
    assert_non_null(r);
    for (size_t i = 0; i < N; i++) {
        const struct job_row *row = row_of(r, expected[i].id);
        if (row->state != expected[i].state) fail_msg("%s: %s has %s", admission, row->id, job_state_names[row->state]);
        assert_int_equal(row->finished_ns, expected[i].ended_s * 1000000000);
        assert_int_equal(row->wait_ns[WAIT_DEPENDENCY], expected[i].depends_s * 1000000000);
        assert_int_equal(row->wait_ns[WAIT_SUSPENDED], expected[i].suspended_s * 1000000000);
        if (row->state == JOB_CANCELLED) assert_int_equal(row->admitted_ns, -1);
    }
    assert_int_equal(r->n_jobs, N);
    if (!run_check(r->dir, s, why)) fail_msg("%s: %s", admission, why);
    temp_run_close(r);
}

static void who_comes_after(void **state)
{
    static const char *const admissions[] = {"fifo", "fifo-skip", "fewest-gpus", "srpt", "las"};
    (void)state;
    for (size_t i = 0; i < sizeof admissions / sizeof *admissions; i++) {
        struct str text = {0};
        struct diag d = {0};
        str_printf(&text,
                   "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"g\", \"gpus\": 8}]}, \"workload\": {\"jobs\": [%s]},"
                   "\"faults\": {\"script\": [%s]}, \"approaches\": {\"x\": {\"lifecycle\": \"none\", \"admission\": \"%s\"}}}",
                   jobs, script, admissions[i]);
        struct scenario *s = scenario_parse("t.json", text.s, text.n, NULL, &d);
        if (!s) diag_print(&d, stderr);
        assert_non_null(s);
        check(admissions[i], s);
        scenario_free(s);
        diag_free(&d);
        str_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_comes_after)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
