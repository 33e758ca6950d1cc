/* test_job.c - the Job controller against its formulas: bring-up, back-off, completions, deadline, quota of the client.
 *
 * Bring-up (orchestration facts, section 10): one Job of N takes (N + e - 30) / 20 s, where e of its first 25 events went
 * between the pods. Recorded totals are compared in tests/recordings/test_recordings_rates.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "sim/kube/kube.h"
#include "tests/support/observed_sim.h"

struct seen {
    ARRAY(double) created;
    double complete, failed, success_criteria, failure_target, suspended;
    uint32_t restarts;
};

static double now_s(struct kube *k) { return (double)sim_now(kube_sim(k)) / 1e9; }

static void on_pod(void *ctx, struct kube *k, const struct pod *p, enum pod_change what)
{
    struct seen *s = ctx;
    if (what == POD_CREATED) array_push(&s->created, now_s(k));
    if (p->restarts > s->restarts) s->restarts = p->restarts;
}

static void on_condition(void *ctx, struct kube *k, const struct job *j, const char *type, const char *status,
                         const char *reason, const char *message)
{
    struct seen *s = ctx;
    (void)j;
    (void)reason;
    (void)message;
    if (strcmp(status, "True") != 0) return;
    if (!strcmp(type, "Complete")) s->complete = now_s(k);
    if (!strcmp(type, "Failed")) s->failed = now_s(k);
    if (!strcmp(type, "SuccessCriteriaMet")) s->success_criteria = now_s(k);
    if (!strcmp(type, "FailureTarget")) s->failure_target = now_s(k);
    if (!strcmp(type, "Suspended")) s->suspended = now_s(k);
}

/* Jobs ("j" with these keys, or several) on 1,000 free GPUs, with these constants, admission and script. */
static struct seen play_admitted(const char *job, const char *stack, const char *admission, const char *script)
{
    struct seen seen = {.complete = -1, .failed = -1, .success_criteria = -1, .failure_target = -1, .suspended = -1};
    struct kube_observer observer = {.pod = on_pod, .condition = on_condition, .keep_objects = true, .ctx = &seen};
    struct str text = {0};
    str_printf(&text, "{ \"trainyard\": 1, \"name\": \"job\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 125, \"gpus\": 8 } ] },"
                      "\"approaches\": { \"a\": { \"lifecycle\": \"batch-job\", \"admission\": \"%s\", \"stack\": { %s } } }, \"run\": { \"horizon\": \"1h\" },"
                      "\"faults\": { \"script\": [ %s ] }, \"workload\": { \"jobs\": [ { \"id\": \"j\", %s%s } ] } }",
               admission, stack, script, strstr(job, "\"kind\"") ? "" : "\"kind\": \"Job\", ", job);
    observed_sim(&text, &observer);
    return seen;
}

static struct seen play(const char *job, const char *stack, const char *script) { return play_admitted(job, stack, "none", script); }

static double last(const struct seen *s) { return s->created.v[s->created.n - 1]; }

static struct seen bring_up(unsigned n, const char *stack)
{
    char job[160];
    snprintf(job, sizeof job, "\"completionMode\": \"Indexed\", \"replicas\": %u, \"duration\": \"600s\"", n);
    struct seen s = play(job, stack, "");
    assert_int_equal(s.created.n, n);
    return s;
}

/* A single event goes before the bucket is empty: (N + 1 - 30) / 20, exact to the nanosecond. */
static void formula(void **state)
{
    static const unsigned sizes[] = {1, 50, 200, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct seen s = bring_up(sizes[i], "\"controller-manager.api-call\": 0, \"controller-manager.event-burst\": 1");
        double status = sizes[i] > 500; /* a sync creates 500 pods; the status is written before the next */
        double want = sizes[i] > 29 ? ((double)sizes[i] + 1 + status - 30) / 20 : 0;
        if (fabs(last(&s) - want) >= 1e-9) printf("%u pods: %.9f s, expected %.9f\n", sizes[i], last(&s), want);
        assert_true(fabs(last(&s) - want) < 1e-9);
        array_free(&s.created);
    }
}

/* With all events, a whole number of them lies between the pods. */
static void events_between(void **state)
{
    static const unsigned sizes[] = {50, 200, 500};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct seen s = bring_up(sizes[i], "\"controller-manager.api-call\": 0");
        double e = last(&s) * 20 + 30 - sizes[i];
        assert_true(fabs(e - round(e)) < 1e-6 && e >= 0 && e <= 25);
        array_free(&s.created);
    }
}

/* Replacements 10, 20, 40 s after the failure (whole seconds, then the next sync), Failed when the fourth has failed. */
static void back_off(void **state)
{
    (void)state;
    struct seen s = play("\"replicas\": 1, \"restartPolicy\": \"Never\", \"backoffLimit\": 3, \"duration\": \"600s\", \"completionMode\": \"Indexed\"",
                         "\"kubelet.container-start\": 0",
                         "{ \"at\": \"5s\", \"target\": \"pod/j-0\", \"action\": \"pod-failed\" },"
                         "{ \"at\": \"20s\", \"target\": \"pod/j-0\", \"action\": \"pod-failed\" },"
                         "{ \"at\": \"50s\", \"target\": \"pod/j-0\", \"action\": \"pod-failed\" },"
                         "{ \"at\": \"100s\", \"target\": \"pod/j-0\", \"action\": \"pod-failed\" }");
    static const double at[] = {0, 15, 40, 90};
    assert_int_equal(s.created.n, 4);
    for (int i = 0; i < 4; i++) assert_true(s.created.v[i] >= at[i] && s.created.v[i] < at[i] + 0.1);
    assert_true(s.failure_target > 100.9 && s.failure_target < 101.2 && s.failed >= s.failure_target && s.failed < 102.3);
    array_free(&s.created);
}

/* Restarts in place are summed over the pods: at once, after 10 s, after 20 s. */
static void restarts(void **state)
{
    (void)state;
    struct seen s = play("\"replicas\": 1, \"restartPolicy\": \"OnFailure\", \"backoffLimit\": 2, \"duration\": \"600s\", \"completionMode\": \"Indexed\"",
                         "\"kubelet.container-start\": 0",
                         "{ \"at\": \"5s\", \"target\": \"pod/j-0\", \"action\": \"container-exit\", \"code\": 1 },"
                         "{ \"at\": \"6s\", \"target\": \"pod/j-0\", \"action\": \"container-exit\", \"code\": 1 }");
    assert_int_equal(s.restarts, 2); /* the second at 16 s */
    assert_true(s.failure_target > 16 && s.failure_target < 17.1);
    array_free(&s.created);
}

/* Ten completions two at a time, each by a pod of its own: five rounds of 60 s, and up to 1 s of sync each. */
static void completions(void **state)
{
    (void)state;
    struct seen s = play("\"replicas\": 2, \"completions\": 10, \"duration\": \"60s\"", "\"kubelet.container-start\": 0", "");
    assert_int_equal(s.created.n, 10);
    assert_true(s.complete > 300 && s.complete < 306);
    array_free(&s.created);
}

/* The deadline counts from the start in whole seconds and is looked at on time. */
static void deadline(void **state)
{
    (void)state;
    struct seen s = play("\"replicas\": 2, \"activeDeadlineSeconds\": 30, \"submit\": \"2.5s\", \"duration\": \"600s\"", "", "");
    assert_true(s.failure_target >= 32 && s.failure_target < 32.1);
    assert_true(s.failed > 33 && s.failed < 34.2);
    array_free(&s.created);
}

/* Suspended: pods go and are not counted as failed; resumed: they come again and the work is done. */
static void suspend(void **state)
{
    (void)state;
    struct seen s = play("\"replicas\": 2, \"backoffLimit\": 0, \"restartPolicy\": \"Never\", \"duration\": \"60s\"", "\"kubelet.container-start\": 0",
                         "{ \"at\": \"10s\", \"target\": \"job/j\", \"action\": \"suspend\" },"
                         "{ \"at\": \"100s\", \"target\": \"job/j\", \"action\": \"resume\" }");
    assert_int_equal(s.created.n, 4);
    assert_true(s.failed < 0 && s.complete > 160 && s.complete < 163.2);
    array_free(&s.created);
}

/* Real (kueue 0.17, tests/live/kueue): a Job that its queue has not let go shows Suspended from the moment it is created; without
 * a policy it never does. The second job waits here for the GPUs of the first. */
static void held(void **state)
{
    static const char jobs[] = "\"replicas\": 1000, \"duration\": \"60s\" }, { \"id\": \"k\", \"kind\": \"Job\", \"submit\": \"5s\", \"duration\": \"60s\"";
    (void)state;
    struct seen s = play_admitted(jobs, "", "fifo", "");
    assert_true(s.suspended == 5);
    array_free(&s.created);
    s = play(jobs, "", "");
    assert_true(s.suspended < 0);
    array_free(&s.created);
}

/* Each counted pod costs a patch of its finalizer: 200 of them end in (200 - 30) / 20 s, not at once. */
static void finalizers(void **state)
{
    (void)state;
    struct seen s = play("\"replicas\": 200, \"duration\": \"600s\"", "\"controller-manager.api-call\": 0, \"kubelet.container-start\": 0", "");
    assert_true(s.complete - s.success_criteria > 8.4 && s.complete - s.success_criteria < 8.7);
    array_free(&s.created);
}

/* A load of another kind has the defaults of batch/v1: it is run, and six failures are forgiven. */
static void other_kinds(void **state)
{
    static const char load[] = "\"kind\": \"train\", \"replicas\": 2, \"restartPolicy\": \"Never\", \"duration\": \"60s\"";
    (void)state;
    struct seen s = play(load, "\"kubelet.container-start\": 0", "");
    assert_int_equal(s.created.n, 2);
    assert_true(s.failed < 0 && s.complete > 60 && s.complete < 64);
    array_free(&s.created);
    s = play(load, "\"kubelet.container-start\": 0", "{ \"at\": \"10s\", \"target\": \"pod/j-0\", \"action\": \"pod-failed\" }");
    assert_true(s.failed < 0 && s.complete > 70);
    array_free(&s.created);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(formula),     cmocka_unit_test(events_between),
                                       cmocka_unit_test(back_off),    cmocka_unit_test(restarts),       cmocka_unit_test(completions),
                                       cmocka_unit_test(deadline),    cmocka_unit_test(suspend),        cmocka_unit_test(finalizers),
                                       cmocka_unit_test(other_kinds), cmocka_unit_test(held)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
