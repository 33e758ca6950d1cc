/* test_k8s_observe.c - what a run on Kubernetes makes of objects as the watches tell them: phases, states, holdings.
 *
 * Objects are shaped as Kueue 0.17, Kubernetes 1.35 and training-operator 1.9.3 write them; orders are those that were seen on a real
 * control plane, and ones that watches of different kinds allow.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "real/kubernetes/observe.h"
#include "tests/support/k8s_bench.h"

static void create_job(struct k8s_bench *b, size_t i, const char *uid)
{
    hmap_put_str(&b->r.by_uid, uid, i);
    k8s_observe_created(&b->r, &b->r.jobs[i]);
}

/* Of a text in which @NS and @ID are the run's. */
static void see(struct k8s_bench *b, int64_t at_s, void (*observe)(enum k8s_change, const cJSON *, void *), enum k8s_change change, const char *json)
{
    char *text = k8s_bench_text(b, json);
    cJSON *o = cJSON_Parse(text);
    if (!o) fail_msg("%s", text);
    live_at(b->r.live, at_s * 1000000000);
    observe(change, o, &b->r);
    cJSON_Delete(o);
    free(text);
}

#define POD(name, uid, job, node, status)                                                                               \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"@NS\",\"uid\":\"" uid "\",\"labels\":{\"trainyard/run\":\"@ID\",\"trainyard/job\":\"" job "\"}}," \
    "\"spec\":{\"nodeName\":\"" node "\",\"containers\":[{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"4\"}}}]},\"status\":{" status "}}"
#define RUNS(restarts) "\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"                 \
    "\"containerStatuses\":[{\"restartCount\":" restarts ",\"state\":{\"running\":{}}}]"
#define NODE(name) "{\"metadata\":{\"name\":\"" name "\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define WORKLOAD(name, job, conditions)                                                                                 \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"@NS\",\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"" job "\"}]},"  \
    "\"status\":{\"conditions\":[" conditions "]}}"
#define COND(type, status, reason, message) "{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason "\",\"message\":\"" message "\"}"
#define JOB(name, conditions) "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"@NS\"},\"status\":{\"conditions\":[" conditions "]}}"

static void phases(struct k8s_bench *b, const char *expected)
{
    fflush(b->r.phases);
    if (strcmp(b->text, expected) != 0) fail_msg("\n%sis not\n%s", b->text, expected);
}

/* A job admitted by Kueue, preempted by another, its pods gone, admitted again. */
static void preempted(void **state)
{
    struct k8s_bench b;
    (void)state;
    k8s_bench_begin(&b, "{ \"id\": \"low\", \"kind\": \"Job\", \"replicas\": 2, \"gpus\": 4, \"duration\": 60, \"queue\": \"q\" },"
              "{ \"id\": \"high\", \"kind\": \"Job\", \"gpus\": 8, \"duration\": 60, \"queue\": \"q\", \"priority\": 9 }", "", true);
    see(&b, 0, k8s_observe_node, K8S_THERE, NODE("g-0"));
    see(&b, 0, k8s_observe_node, K8S_THERE, NODE("g-1"));
    create_job(&b, 0, "u-low");
    create_job(&b, 1, "u-high");
    see(&b, 1, k8s_observe_workload, K8S_THERE, WORKLOAD("w", "low", COND("QuotaReserved", "False", "Pending", "couldn't assign flavors: insufficient unused quota")));
    see(&b, 5, k8s_observe_workload, K8S_CHANGED, WORKLOAD("w", "low", COND("QuotaReserved", "True", "QuotaReserved", "") "," COND("Admitted", "True", "Admitted", "")));
    see(&b, 6, k8s_observe_pod, K8S_CHANGED, POD("low-a", "1", "low", "", "\"phase\":\"Pending\""));
    see(&b, 7, k8s_observe_pod, K8S_CHANGED, POD("low-a", "1", "low", "g-1", "\"phase\":\"Pending\""));
    see(&b, 7, k8s_observe_pod, K8S_CHANGED, POD("low-b", "2", "low", "g-1", "\"phase\":\"Pending\""));
    see(&b, 9, k8s_observe_pod, K8S_CHANGED, POD("low-a", "1", "low", "g-1", RUNS("0")));
    assert_int_equal(live_state(b.r.live, 0), JOB_ADMITTED);
    see(&b, 10, k8s_observe_pod, K8S_CHANGED, POD("low-b", "2", "low", "g-1", RUNS("0")));
    assert_true(live_steps_now(b.r.live, 0));
    see(&b, 20, k8s_observe_workload, K8S_CHANGED, WORKLOAD("w", "low", COND("QuotaReserved", "True", "QuotaReserved", "") "," COND("Admitted", "True", "Admitted", "") ","
        COND("Evicted", "True", "Preempted", "") "," COND("Preempted", "True", "InClusterQueue", "Preempted to accommodate a workload (UID: 1-2, JobUID: u-high) due to prioritization")));
    assert_false(live_steps_now(b.r.live, 0));
    assert_true(b.r.jobs[0].evicted);
    see(&b, 21, k8s_observe_pod, K8S_DELETED, POD("low-a", "1", "low", "g-1", RUNS("0")));
    assert_int_equal(live_state(b.r.live, 0), JOB_ADMITTED); /* until all it holds is free */
    see(&b, 22, k8s_observe_pod, K8S_DELETED, "{\"metadata\":{\"name\":\"low-b\",\"namespace\":\"@NS\"}}"); /* after a gap */
    assert_int_equal(live_state(b.r.live, 0), JOB_PENDING);
    see(&b, 30, k8s_observe_workload, K8S_CHANGED, WORKLOAD("w", "low", COND("QuotaReserved", "True", "QuotaReserved", "") "," COND("Admitted", "True", "Admitted", "") ","
        COND("Evicted", "False", "QuotaReserved", "")));
    assert_int_equal(live_state(b.r.live, 0), JOB_ADMITTED);
    assert_int_equal(live_refused(b.r.live), 2); /* nodes that are free as they were */
    phases(&b, "0,\"low\",created,Job,low,\"\"\n0,\"high\",created,Job,high,\"\"\n"
               "5,\"low\",quota-reserved,Workload,w,\"\"\n5,\"low\",admitted,Job,low,\"\"\n"
               "6,\"low\",pod-created,Pod,low-a,\"\"\n7,\"low\",scheduled,Pod,low-a,\"\"\n7,\"low\",pod-created,Pod,low-b,\"\"\n7,\"low\",scheduled,Pod,low-b,\"\"\n"
               "9,\"low\",ready,Pod,low-a,\"\"\n10,\"low\",ready,Pod,low-b,\"\"\n10,\"low\",running,Job,low,\"\"\n"
               "20,\"low\",evicted,Job,low,\"Preempted\"\n21,\"low\",deleted,Pod,low-a,\"\"\n22,\"low\",deleted,Pod,low-b,\"\"\n22,\"low\",requeued,Job,low,\"\"\n"
               "30,\"low\",quota-reserved,Workload,w,\"\"\n30,\"low\",admitted,Job,low,\"\"\n");
    k8s_bench_end(&b);
}

/* A container restarts; later its pod is replaced by one of the same name; the job succeeds. */
static void restarted(void **state)
{
    struct k8s_bench b;
    (void)state;
    k8s_bench_begin(&b, "{ \"id\": \"j\", \"kind\": \"Job\", \"gpus\": 4, \"duration\": 60 }", "", false);
    see(&b, 0, k8s_observe_node, K8S_THERE, NODE("g-0"));
    create_job(&b, 0, "u");
    assert_int_equal(live_state(b.r.live, 0), JOB_ADMITTED); /* nobody else admits */
    see(&b, 2, k8s_observe_pod, K8S_CHANGED, POD("p", "1", "j", "g-0", RUNS("0")));
    assert_true(live_steps_now(b.r.live, 0));
    see(&b, 10, k8s_observe_pod, K8S_CHANGED, POD("p", "1", "j", "g-0", "\"phase\":\"Running\",\"containerStatuses\":[{\"restartCount\":0,\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}}}]"));
    assert_false(live_steps_now(b.r.live, 0));
    see(&b, 20, k8s_observe_pod, K8S_CHANGED, POD("p", "1", "j", "g-0", RUNS("1")));
    assert_true(live_steps_now(b.r.live, 0));
    see(&b, 30, k8s_observe_pod, K8S_CHANGED, POD("p", "2", "j", "g-0", RUNS("0"))); /* the deletion was missed */
    assert_true(live_steps_now(b.r.live, 0));
    see(&b, 40, k8s_observe_pod, K8S_CHANGED, POD("p", "2", "j", "g-0", "\"phase\":\"Succeeded\""));
    see(&b, 41, k8s_observe_job, K8S_CHANGED, JOB("j", COND("SuccessCriteriaMet", "True", "CompletionsReached", "") "," COND("Complete", "True", "CompletionsReached", "")));
    assert_int_equal(live_state(b.r.live, 0), JOB_SUCCEEDED);
    phases(&b, "0,\"j\",created,Job,j,\"\"\n0,\"j\",admitted,Job,j,\"\"\n2,\"j\",pod-created,Pod,p,\"\"\n2,\"j\",scheduled,Pod,p,\"\"\n2,\"j\",ready,Pod,p,\"\"\n2,\"j\",running,Job,j,\"\"\n"
               "10,\"j\",backoff,Pod,p,\"\"\n10,\"j\",restarting,Job,j,\"\"\n20,\"j\",restarted,Pod,p,\"\"\n20,\"j\",ready,Pod,p,\"\"\n20,\"j\",running,Job,j,\"\"\n"
               "30,\"j\",deleted,Pod,p,\"\"\n30,\"j\",pod-created,Pod,p,\"\"\n30,\"j\",scheduled,Pod,p,\"\"\n30,\"j\",ready,Pod,p,\"\"\n40,\"j\",succeeded,Pod,p,\"\"\n"
               "41,\"j\",condition,Job,j,\"SuccessCriteriaMet=True CompletionsReached\"\n41,\"j\",condition,Job,j,\"Complete=True CompletionsReached\"\n"
               "41,\"j\",succeeded,Job,j,\"CompletionsReached\"\n");
    k8s_bench_end(&b);
}

/* Pods on nodes that the scenario has not hold nothing and are counted; nodes beyond the group's number are none of its. */
static void strangers(void **state)
{
    struct k8s_bench b;
    (void)state;
    k8s_bench_begin(&b, "{ \"id\": \"j\", \"kind\": \"Job\", \"gpus\": 4, \"duration\": 60 }", "", false);
    see(&b, 0, k8s_observe_node, K8S_THERE, NODE("g-1"));
    see(&b, 0, k8s_observe_node, K8S_THERE, NODE("blade"));
    see(&b, 0, k8s_observe_node, K8S_THERE, NODE("third"));
    assert_int_equal(k8s_node_number(&b.r, "g-1"), 1);
    assert_int_equal(k8s_node_number(&b.r, "blade"), 0);
    assert_int_equal(k8s_node_number(&b.r, "third"), LIVE_NONE);
    create_job(&b, 0, "u");
    see(&b, 1, k8s_observe_pod, K8S_CHANGED, POD("p", "1", "j", "third", RUNS("0")));
    assert_int_equal(b.r.strays, 1);
    see(&b, 2, k8s_observe_pod, K8S_CHANGED, POD("p", "1", "j", "third", RUNS("0"))); /* pods are counted, not what is told of them */
    assert_int_equal(b.r.strays, 1);
    see(&b, 3, k8s_observe_pod, K8S_CHANGED, POD("q", "2", "j", "third", RUNS("0")));
    assert_int_equal(b.r.strays, 2);
    k8s_bench_end(&b);
}

/* Of a pod without the run's label nothing is followed, whatever a server sends for the selector. */
static void unlabelled(void **state)
{
    struct k8s_bench b;
    (void)state;
    k8s_bench_begin(&b, "{ \"id\": \"j\", \"kind\": \"Job\", \"gpus\": 4, \"duration\": 60 }", "", false);
    see(&b, 0, k8s_observe_node, K8S_THERE, NODE("g-0"));
    create_job(&b, 0, "u");
    see(&b, 1, k8s_observe_pod, K8S_THERE, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"@NS\",\"uid\":\"1\",\"labels\":{\"trainyard/job\":\"j\"}}}");
    see(&b, 1, k8s_observe_pod, K8S_THERE, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"@NS\",\"uid\":\"1\",\"labels\":{\"trainyard/run\":\"other\",\"trainyard/job\":\"j\"}}}");
    assert_int_equal(b.r.n_pods, 0);
    k8s_bench_end(&b);
}

/* Two jobs of 4 GPUs a pod, one node of 8: what is told of the second job's pod comes before what the first has let go. */
static void gpus_that_are_free_later(void **state)
{
    struct k8s_bench b;
    (void)state;
    k8s_bench_begin(&b, "{ \"id\": \"a\", \"kind\": \"Job\", \"replicas\": 2, \"gpus\": 4, \"duration\": 60 },"
                        "{ \"id\": \"b\", \"kind\": \"Job\", \"gpus\": 4, \"duration\": 60 }", "", false);
    see(&b, 0, k8s_observe_node, K8S_THERE, NODE("g-0"));
    create_job(&b, 0, "u-a");
    create_job(&b, 1, "u-b");
    see(&b, 1, k8s_observe_pod, K8S_CHANGED, POD("a-0", "1", "a", "g-0", RUNS("0")));
    see(&b, 1, k8s_observe_pod, K8S_CHANGED, POD("a-1", "2", "a", "g-0", RUNS("0")));
    see(&b, 2, k8s_observe_pod, K8S_CHANGED, POD("b-0", "3", "b", "g-0", RUNS("0")));
    assert_int_equal(b.r.jobs[1].pods[0]->group, LIVE_NONE);
    assert_int_equal(b.r.wanting, 1);
    see(&b, 3, k8s_observe_pod, K8S_CHANGED, POD("a-1", "2", "a", "g-0", "\"phase\":\"Succeeded\""));
    assert_int_not_equal(b.r.jobs[1].pods[0]->group, LIVE_NONE);
    assert_int_equal(b.r.wanting, 0);
    assert_true(live_steps_now(b.r.live, 1));
    assert_int_equal(b.r.strays, 0);
    k8s_bench_end(&b);
}

/* What comes after a job that has failed is submitted in its time, cancelled, and never made. */
static void in_vain(void **state)
{
    struct k8s_bench b;
    (void)state;
    k8s_bench_begin(&b, "{ \"id\": \"j\", \"kind\": \"Job\", \"gpus\": 4, \"duration\": 60 }", "", false);
    live_at(b.r.live, 5000000000);
    k8s_observe_dependent(&b.r, &b.r.jobs[0], false);
    assert_int_equal(live_state(b.r.live, 0), JOB_PENDING);
    live_at(b.r.live, 7000000000);
    k8s_observe_dependent(&b.r, &b.r.jobs[0], true);
    assert_int_equal(live_state(b.r.live, 0), JOB_CANCELLED);
    assert_false(b.r.jobs[0].created);
    phases(&b, "7,\"j\",cancelled,Job,j,\"a job that it comes after has not succeeded\"\n");
    k8s_bench_end(&b);
}

/* Whatever comes over a watch, nothing of it is believed to have members, kinds or lengths. */
static void malformed(void **state)
{
    static const char *const objects[] = {
        "{}", "{\"metadata\":7}", "{\"metadata\":{\"name\":1,\"namespace\":[]}}", "{\"metadata\":{\"name\":\"j\",\"namespace\":\"@NS\"},\"status\":[]}",
        "{\"metadata\":{\"name\":\"j\",\"namespace\":\"@NS\"},\"status\":{\"conditions\":{\"a\":1}}}",
        "{\"metadata\":{\"name\":\"j\",\"namespace\":\"@NS\"},\"status\":{\"conditions\":[1,\"x\",{\"type\":[]}]}}",
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"@NS\",\"labels\":{\"trainyard/run\":\"@ID\",\"trainyard/job\":\"j\"}},\"spec\":{\"containers\":[7,{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"99999999999999999999\"}}}]}}",
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"@NS\",\"labels\":{\"trainyard/run\":\"@ID\",\"trainyard/job\":\"j\"}},\"spec\":{\"nodeName\":{}},\"status\":{\"containerStatuses\":[{\"restartCount\":\"x\",\"state\":3}]}}",
        "{\"metadata\":{\"name\":\"w\",\"namespace\":\"@NS\",\"ownerReferences\":[]}}", "{\"metadata\":{\"name\":\"w\",\"namespace\":\"@NS\",\"ownerReferences\":[3]}}",
        "{\"involvedObject\":{\"kind\":\"Pod\"},\"reason\":\"Pulled\"}",
    };
    static void (*const observers[])(enum k8s_change, const cJSON *, void *) = { k8s_observe_job, k8s_observe_pod, k8s_observe_workload, k8s_observe_event, k8s_observe_node };
    struct k8s_bench b;
    (void)state;
    k8s_bench_begin(&b, "{ \"id\": \"j\", \"kind\": \"Job\", \"gpus\": 4, \"duration\": 60 }", "", true);
    create_job(&b, 0, "u");
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        for (size_t k = 0; k < sizeof observers / sizeof *observers; k++)
            for (int change = K8S_THERE; change <= K8S_DELETED; change++) see(&b, 1, observers[k], (enum k8s_change)change, objects[i]);
    k8s_bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(preempted), cmocka_unit_test(restarted), cmocka_unit_test(strangers), cmocka_unit_test(unlabelled),
                                        cmocka_unit_test(gpus_that_are_free_later), cmocka_unit_test(in_vain), cmocka_unit_test(malformed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
