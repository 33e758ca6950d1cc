/* test_recordings_rates.c - how fast pods and services of a PyTorchJob and pods of a Job appear, and how fast pods are bound.
 *
 * The formulas are those of orchestration facts, section 10, which fit the recordings (recorded/rates): the last object
 * comes after (2N + 25 - 30) / 20 s at the default limits, the n-th pod is bound after (n - 100) / 50 s.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "tests/support/shared.h"
#include "tests/support/small_sim.h"

struct seen { int pods, services, bound; double last_pod, pod_30, last_service, bound_at[1001]; };

static double seconds(struct kube *k) { return (double)sim_now(kube_sim(k)) / 1e9; }

static void on_pod(void *ctx, struct kube *k, const struct pod *p, enum pod_change what)
{
    struct seen *s = ctx;
    (void)p;
    if (what == POD_CREATED) {
        s->last_pod = seconds(k);
        if (++s->pods == 30) s->pod_30 = s->last_pod;
    } else if (what == POD_BOUND && s->bound < 1001) {
        s->bound_at[s->bound++] = seconds(k);
    }
}

static void on_object(void *ctx, struct kube *k, const struct job *j, const char *kind, const char *name, bool added)
{
    struct seen *s = ctx;
    (void)j;
    (void)kind;
    (void)name;
    if (!added) return;
    s->services++;
    s->last_service = seconds(k);
}

/* One job of n pods; all but one find no node, so nothing but creation happens. */
static struct seen create_by(const char *lifecycle, const char *job, int n, const char *stack)
{
    struct seen seen = {0};
    struct str text = {0};
    str_printf(&text,
               "{ \"trainyard\": 1, \"name\": \"rates\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 1, \"gpus\": 8 } ] },"
               "\"workload\": { \"jobs\": [ { \"id\": \"j\", \"gpus\": 8, \"duration\": \"1d\", %s %d %s } ] },"
               "\"run\": { \"horizon\": \"200s\" },"
               "\"approaches\": { \"operator\": { \"lifecycle\": \"%s\", \"stack\": { %s } } } }",
               job, n, strchr(job, '{') ? "} }" : "", lifecycle, stack);
    struct small_sim s = {.text = str_text(&text), .pod = on_pod, .object = on_object, .ctx = &seen};
    small_sim_run(&s);
    small_sim_free(&s);
    str_free(&text);
    return seen;
}

/* Workers only, as recorded. */
static struct seen create(int n, const char *stack)
{
    return create_by("training-operator-v1", "\"kind\": \"PyTorchJob\", \"roles\": { \"Worker\": { \"replicas\":", n, stack);
}

static const char no_latency[] = "\"training-operator.api-call\": 0, \"training-operator.reconcile\": 0";

static void creation_formula(void **state)
{
    static const struct { int n; double seconds; } rows[] = {{1, 0}, {50, 4.75}, {200, 19.75}, {1000, 99.75}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct seen s = create(rows[i].n, no_latency);
        assert_int_equal(s.pods, rows[i].n);
        assert_int_equal(s.services, rows[i].n);
        assert_true(fabs(s.last_service - rows[i].seconds) < 1e-6);
    }
}

static cJSON *read_recording(const char *relative)
{
    char path[SHARED_PATH_MAX];
    struct diag d = {0};
    size_t n;
    shared_path(path, relative);
    char *text = file_read(path, 1 << 20, &n, &d);
    assert_non_null(text);
    cJSON *json = cJSON_ParseWithLength(text, n);
    assert_non_null(json);
    free(text);
    diag_free(&d);
    return json;
}

static double last_of(const cJSON *json, const char *kind)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, kind), "last")->valuedouble;
}

static void within_3_percent(double ours, double recorded)
{
    if (fabs(ours - recorded) > 0.03 * recorded) fail_msg("ours %.3f s, recorded %.3f s", ours, recorded);
}

/* In the recording of 50 the pods, not the total, are late: 2.53 s, where the tokens of 50 pods and of all 25 events are
 * there at (50 + 25 - 30) / 20 = 2.25 s. The services catch up with the tokens that were saved meanwhile. */
static void recorded_creation(void **state)
{
    (void)state;
    for (int n = 50; n <= 200; n += 150) {
        cJSON *json = read_recording(n == 50 ? "recorded/rates/pytorchjob-50.json" : "recorded/rates/pytorchjob-200.json");
        struct seen s = create(n, "");
        within_3_percent(s.last_service, last_of(json, "Service"));
        if (n == 200) within_3_percent(s.last_pod, last_of(json, "Pod"));
        cJSON_Delete(json);
    }
}

/* ---- an Indexed Job ---- */

/* How the recorder's summary has it: some of the first 25 events go between the pods. */
static double job_least(int n) { return (n - 30) / 20.0; }
static double job_most(int n) { return (n + 25 - 30) / 20.0; }

static double pod_30_of(const cJSON *json)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "Pod"), "t_30th")->valuedouble;
}

/* The first 30 pods and their events need no token that is not there, so their time tells how busy the host of a recording
 * was: a recording in which they took more than twice that of the quietest is contended, marked or not. That of 50 is one
 * (1.68 s against 0.44 s), and its total (2.33 s) is beyond what any order of the calls allows. */
static void recorded_jobs(void **state)
{
    static const struct { int n; const char *file; } rows[] = {
        {50, "recorded/rates/job-50.json"}, {200, "recorded/rates/job-200.json"}, {500, "recorded/rates/job-500.json"}};
    cJSON *json[3];
    double quiet = INFINITY;
    int compared = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        json[i] = read_recording(rows[i].file);
        quiet = fmin(quiet, pod_30_of(json[i]));
    }
    for (int i = 0; i < 3; i++) {
        struct seen s = create_by("batch-job", "\"kind\": \"Job\", \"completionMode\": \"Indexed\", \"replicas\":", rows[i].n, "");
        bool contended = pod_30_of(json[i]) > 2 * quiet;
        printf("Job of %d: %.3f s, recorded %.3f s%s\n", rows[i].n, s.last_pod, last_of(json[i], "Pod"), contended ? " (contended)" : "");
        assert_int_equal(s.pods, rows[i].n);
        assert_true(s.last_pod >= job_least(rows[i].n) && s.last_pod <= job_most(rows[i].n));
        assert_true(s.pod_30 <= pod_30_of(json[i]));
        if (!contended) {
            within_3_percent(s.last_pod, last_of(json[i], "Pod"));
            compared++;
        } else {
            assert_true(last_of(json[i], "Pod") > job_most(rows[i].n));
        }
        cJSON_Delete(json[i]);
    }
    assert_int_equal(compared, 2);
}

static struct seen bind_1000(void)
{
    struct seen seen = {0};
    struct small_sim s = {
        .text = "{ \"trainyard\": 1, \"name\": \"binds\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 20, \"gpus\": 64 } ] },"
                "\"workload\": { \"jobs\": [ { \"id\": \"j\", \"kind\": \"PyTorchJob\", \"gpus\": 1, \"duration\": \"1d\","
                "\"roles\": { \"Worker\": { \"replicas\": 1000 } } } ] }, \"run\": { \"horizon\": \"60s\" },"
                "\"approaches\": { \"operator\": { \"lifecycle\": \"training-operator-v1\", \"stack\": {"
                "\"training-operator.qps\": 1000000, \"training-operator.burst\": 1000000,"
                "\"training-operator.api-call\": 0, \"training-operator.reconcile\": 0 } } } }",
        .pod = on_pod, .ctx = &seen};
    small_sim_run(&s);
    small_sim_free(&s);
    return seen;
}

static void binding_formula(void **state)
{
    struct seen s = bind_1000();
    (void)state;
    assert_int_equal(s.bound, 1000);
    for (int n = 250; n <= 1000; n++) assert_true(fabs(s.bound_at[n - 1] - (n - 100) / 50.0) < 1e-6);
}

/* Counts a second of the real scheduler; its first second is part of one. */
static void recorded_binding(void **state)
{
    cJSON *json = read_recording("recorded/rates/scheduler-bind-1000.json");
    struct seen s = bind_1000();
    const cJSON *per_second = cJSON_GetObjectItemCaseSensitive(json, "bound_per_second"), *c;
    int bound = 0, second = 0;
    (void)state;
    within_3_percent(s.bound_at[999], cJSON_GetObjectItemCaseSensitive(json, "t_last_s")->valuedouble);
    cJSON_ArrayForEach(c, per_second)
    {
        bound += c->valueint;
        second++;
        if (second < 3 || bound > 999) continue; /* all bound up to then: ours is at this time within a second's 50 */
        assert_true(fabs(s.bound_at[bound - 1] - (second - 1)) <= 1.0);
    }
    assert_int_equal(bound, 1000);
    cJSON_Delete(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creation_formula),
        cmocka_unit_test(recorded_creation),
        cmocka_unit_test(recorded_jobs),
        cmocka_unit_test(binding_formula),
        cmocka_unit_test(recorded_binding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
