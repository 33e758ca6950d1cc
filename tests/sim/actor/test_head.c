/* test_head.c - what RayClusters show of a head that ends, and RayJobs of a suspension that is not allowed.
 *
 * Expected: KubeRay 1.6.0 on played nodes (tests/live/kuberay/head-ends.json, rayjob.json). A head that has failed or was evicted goes at
 * once when it is deleted, so the status of that reconcile finds none; one that is deleted while it runs takes its time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/kube/kube.h"
#include "tests/support/observed_sim.h"

static void on_condition(void *ctx, struct kube *k, const struct job *j, const char *type, const char *status, const char *reason,
                         const char *message)
{
    (void)k, (void)j, (void)message;
    bool told = !strcmp(type, "HeadPodReady") || !strcmp(type, "JobDeploymentStatus");
    if (sim_now(kube_sim(k)) >= 5000000000 && told) str_printf(ctx, "%s %s; ", status, reason);
}

/* HeadPodReady or JobDeploymentStatus of a job of this kind from 5 s on, when something is done to it. */
static void play(const char *kind, const char *target, const char *action, struct str *told)
{
    struct kube_observer observer = {.condition = on_condition, .ctx = told};
    struct str text = {0};
    str_printf(&text, "{ \"trainyard\": 1, \"name\": \"head\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 3, \"gpus\": 8 } ] },"
                      "\"workload\": { \"jobs\": [ { \"id\": \"j\", \"kind\": \"%s\", \"duration\": \"1h\", \"replicas\": 2, \"gpus\": 8 } ] },"
                      "\"faults\": { \"script\": [ { \"at\": \"5s\", \"target\": \"%s\", \"action\": \"%s\" } ] },"
                      "\"approaches\": { \"a\": { \"lifecycle\": \"ray-train-v2\", \"stack\": { \"kubelet.container-start\": \"120ms\","
                      "\"kubelet.pod-delete\": \"320ms\", \"kuberay.readiness-initial\": 0, \"kuberay.wait-gcs-poll\": 0, \"ray.start\": 0,"
                      "\"kuberay.dashboard-reachable\": false } } }, \"run\": { \"horizon\": \"20s\" } }", kind, target, action);
    observed_sim(&text, &observer);
}

static void head(void **state)
{
    static const char at_once[] = "False HeadPodNotFound; False Unknown; True HeadPodRunningAndReady; ";
    static const char slowly[] = "False Unknown; True HeadPodRunningAndReady; ";
    static const struct { const char *action, *told; } rows[] = {{"pod-failed", at_once}, {"pod-evicted", at_once}, {"pod-deleted", slowly}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str told = {0};
        play("RayCluster", "pod/j-head-0", rows[i].action, &told);
        assert_string_equal(str_text(&told), rows[i].told);
        str_free(&told);
    }
}

/* Its cluster would stay: the object is refused, and nothing is suspended. */
static void suspension(void **state)
{
    struct str told = {0};
    (void)state;
    play("RayJob", "job/j", "suspend", &told);
    assert_string_equal(str_text(&told), "ValidationFailed ValidationFailed; ");
    str_free(&told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(head), cmocka_unit_test(suspension)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
