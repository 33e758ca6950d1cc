/* test_order.c - who goes first where several wait: by priority, then by age, in kube-scheduler (PrioritySort) and in a
 * queue of Kueue (priority, then creation); and which failed pods of a PyTorchJob come back (ExitCode: 128 and above).
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
#include "tests/support/temp_run.h"

#define ONE_NODE "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"g\", \"count\": 1, \"gpus\": 8 } ] }, "

static struct run *run_of(const char *text)
{
    struct diag d = {0};
    struct scenario *s = scenario_parse("order.json", text, strlen(text), NULL, &d);
    if (!s) diag_print(&d, stderr);
    assert_non_null(s);
    struct run *r = temp_run(s, RECORD_NONE);
    assert_non_null(r);
    scenario_free(s);
    diag_free(&d);
    return r;
}

static const struct job_row *row_of(const struct run *r, const char *id)
{
    for (size_t i = 0; i < r->n_jobs; i++)
        if (strcmp(r->jobs[i].row.id, id) == 0) return &r->jobs[i].row;
    fail_msg("no job %s", id);
    return NULL;
}

/* `rest`: queues and the approach. The node is busy until 100 s; then high, old, young, in this order. */
static void expect_order(const char *rest, const char *queue)
{
    struct str text = {0};
    str_printf(&text, ONE_NODE "\"workload\": { \"jobs\": [ { \"id\": \"busy\", \"gpus\": 8, \"duration\": 100%s },"
               " { \"id\": \"old\", \"submit\": 10, \"gpus\": 8, \"duration\": 100%s }, { \"id\": \"young\", \"submit\": 20, \"gpus\": 8, \"duration\": 100%s },"
               " { \"id\": \"high\", \"submit\": 30, \"gpus\": 8, \"duration\": 100, \"priority\": 7%s } ] }, %s }", queue, queue, queue, queue, rest);
    struct run *r = run_of(text.s);
    int64_t high = row_of(r, "high")->started_ns, old = row_of(r, "old")->started_ns, young = row_of(r, "young")->started_ns;
    assert_true(row_of(r, "busy")->finished_ns < high);
    assert_true(high < old);
    assert_true(old < young);
    temp_run_close(r);
    str_free(&text);
}

static void pods_by_priority_then_age(void **state)
{
    (void)state;
    expect_order("\"approaches\": { \"x\": { \"lifecycle\": \"training-operator-v1\" } }", "");
    expect_order("\"approaches\": { \"x\": { \"lifecycle\": \"training-operator-v1\", \"gang\": \"coscheduling\" } }", "");
}

static void workloads_by_priority_then_age(void **state)
{
    (void)state;
    expect_order("\"queues\": [ { \"name\": \"q\", \"quota\": { \"g\": 8 } } ],"
                 " \"approaches\": { \"x\": { \"lifecycle\": \"training-operator-v1\", \"admission\": \"kueue\" } }", ", \"queue\": \"q\"");
    expect_order("\"queues\": [ { \"name\": \"q\", \"quota\": { \"g\": 8 }, \"strategy\": \"StrictFIFO\" } ],"
                 " \"approaches\": { \"x\": { \"lifecycle\": \"training-operator-v1\", \"admission\": \"kueue\" } }", ", \"queue\": \"q\"");
}

static enum job_state state_after_exit(int code)
{
    struct str text = {0};
    str_printf(&text, ONE_NODE "\"workload\": { \"jobs\": [ { \"id\": \"a\", \"kind\": \"PyTorchJob\", \"gpus\": 8, \"duration\": 600, \"restartPolicy\": \"ExitCode\" } ] },"
               " \"faults\": { \"script\": [ { \"at\": 100, \"target\": \"pod/a-worker-0\", \"action\": \"container-exit\", \"code\": %d } ] },"
               " \"approaches\": { \"x\": { \"lifecycle\": \"training-operator-v1\" } }, \"run\": { \"horizon\": 7200 } }", code);
    struct run *r = run_of(text.s);
    enum job_state s = row_of(r, "a")->state;
    temp_run_close(r);
    str_free(&text);
    return s;
}

static void exit_codes_from_128_are_retried(void **state)
{
    (void)state;
    assert_int_equal(state_after_exit(1), JOB_FAILED);
    assert_int_equal(state_after_exit(127), JOB_FAILED);
    assert_int_equal(state_after_exit(128), JOB_SUCCEEDED);
    assert_int_equal(state_after_exit(137), JOB_SUCCEEDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_by_priority_then_age),
        cmocka_unit_test(workloads_by_priority_then_age),
        cmocka_unit_test(exit_codes_from_128_are_retried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
