/* test_watch.c - standstill is found and told: restarts in vain, work without an end, two half-placed gangs.
 *
 * What must be found follows from the numbers beside each scenario, not from a run of it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/units.h"
#include "tests/support/small_sim.h"

static void run(struct small_sim *s, const char *job, const char *approach)
{
    struct str text = {0};
    str_printf(&text,
               "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"g\", \"count\": 2, \"gpus\": 8}]}, \"workload\": "
               "{\"jobs\": [%s]}, \"approaches\": {\"x\": %s}}",
               job, approach);
    *s = (struct small_sim){.text = str_text(&text)};
    small_sim_run(s);
    str_free(&text);
}

static void must_tell(const char *job, const char *approach, const char *what)
{
    struct small_sim s;
    run(&s, job, approach);
    assert_true(s.result.no_progress);
    if (!strstr(s.result.no_progress_text, what)) print_error("%s\n", s.result.no_progress_text);
    assert_non_null(strstr(s.result.no_progress_text, what));
    small_sim_free(&s);
}

#define OPERATOR "{\"lifecycle\": \"training-operator-v1\"}"
#define RAY "{\"lifecycle\": \"ray-train-v2\"}"

/* Two ranks fail every 10 s on average and save every 10 min: an attempt gets there with probability e^-120. */
static void restarts_in_vain(void **state)
{
    (void)state;
    static const char job[] = "{\"id\": \"j\", \"replicas\": 2, \"gpus\": 8, \"steps\": 100000, \"step\": \"1s\", \"crash_mtbf\": "
                              "\"10s\", \"checkpoint\": \"10m\", \"maxFailures\": -1, \"backoffLimit\": 1000000}";
    must_tell(job, RAY, "job j holds 16 of 16 GPUs: it has restarted ");
    must_tell(job, OPERATOR, "comes to no step that is new");
}

/* The same, saving every 10 s: an attempt keeps something with probability e^-2, so 1,000 in vain have (1 - e^-2)^1000. */
static void restarts_that_get_on(void **state)
{
    (void)state;
    struct small_sim s;
    run(&s, "{\"id\": \"j\", \"replicas\": 2, \"gpus\": 8, \"steps\": 2000, \"step\": \"1s\", \"crash_mtbf\": \"10s\", "
            "\"checkpoint\": \"10s\", \"maxFailures\": -1}", RAY);
    assert_false(s.result.no_progress);
    assert_int_equal(s.result.succeeded, 1);
    small_sim_free(&s);
}

/* 64 GPUs that fail every minute and take 5 h each: that all of them are up at once, as j needs, has probability
 * (1/301)^64. */
static void nodes_that_are_always_down(void **state)
{
    (void)state;
    struct small_sim s = {
        .text = "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"g\", \"count\": 8, \"gpus\": 8}]}, "
                "\"workload\": {\"jobs\": [{\"id\": \"j\", \"submit\": \"1d\", \"replicas\": 8, \"gpus\": 8, "
                "\"duration\": \"1h\"}]}, \"faults\": {\"components\": [{\"name\": \"x\", \"scope\": \"gpu\", "
                "\"mtbf\": \"1m\", \"repair\": \"5h\"}]}, \"approaches\": {\"x\": {\"lifecycle\": \"none\", "
                "\"placement\": \"first\"}}}"};
    small_sim_run(&s);
    assert_true(s.result.no_progress);
    assert_true(s.result.end_ns > INT64_C(365) * 86400 * NS_PER_S);
    assert_true(s.result.end_ns < INT64_C(368) * 86400 * NS_PER_S);
    small_sim_free(&s);
}

#define LOST "\"faults\": {\"script\": [{\"at\": \"10m\", \"target\": \"node/g-0\", \"action\": \"node-lost\"}]}"

/* A pod on a lost node stays Terminating, and training-operator replaces none whose object is there. A job that has ended
 * and leaves such a pod behind is no standstill, and not unfinished. */
static void a_node_that_does_not_come_back(void **state)
{
    (void)state;
    for (int ray = 0; ray < 2; ray++) {
        struct str text = {0};
        str_printf(&text,
                   "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"g\", \"count\": 2, \"gpus\": 8}]}, "
                   "\"workload\": {\"jobs\": [{\"id\": \"j\", \"replicas\": 2, \"gpus\": 8, \"duration\": \"30m\", "
                   "\"maxFailures\": 0}]}, " LOST ", \"approaches\": {\"x\": %s}}",
                   ray ? RAY : OPERATOR);
        struct small_sim s = {.text = str_text(&text)};
        small_sim_run(&s);
        assert_int_equal(s.result.failed, ray);
        assert_int_equal(s.result.unfinished, !ray);
        assert_int_equal(s.result.no_progress, !ray);
        if (!ray) assert_non_null(strstr(s.result.no_progress_text, "nodes that are down: g-0"));
        small_sim_free(&s);
        str_free(&text);
    }
}

/* The node is back 20 s before one of the checks, each half an hour; the job needs longer than that to step again. */
static void a_node_that_comes_back_late(void **state)
{
    (void)state;
    struct small_sim s = {
        .text = "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"g\", \"count\": 2, \"gpus\": 8}]}, "
                "\"workload\": {\"jobs\": [{\"id\": \"j\", \"replicas\": 2, \"gpus\": 8, \"duration\": \"30m\", \"checkpoint\": "
                "{\"interval\": \"5m\", \"load\": \"10m\"}}]}, \"faults\": {\"script\": [{\"at\": \"12m\", \"target\": \"node/g-0\", \"action\": "
                "\"node-lost\"}, {\"at\": 17980, \"target\": \"node/g-0\", \"action\": \"node-back\"}]}, \"approaches\": {\"x\": " OPERATOR "}}"};
    small_sim_run(&s);
    assert_false(s.result.no_progress);
    assert_int_equal(s.result.succeeded, 1);
    small_sim_free(&s);
}

static void work_without_an_end(void **state)
{
    (void)state;
    must_tell("{\"id\": \"c\", \"kind\": \"RayCluster\", \"roles\": {\"Worker\": {\"replicas\": 1}}}", RAY,
              "job c holds 1 of 1 GPUs: its work has no end");
}

/* Two workers of the controller create two PyTorchJobs of 2 x 8 GPUs side by side on 2 x 8 GPUs: each gets one node. */
static void half_placed_gangs(void **state)
{
    (void)state;
    static const char jobs[] = "{\"id\": \"a\", \"kind\": \"PyTorchJob\", \"replicas\": 2, \"gpus\": 8, \"duration\": \"1h\"}, "
                               "{\"id\": \"b\", \"kind\": \"PyTorchJob\", \"replicas\": 2, \"gpus\": 8, \"duration\": \"1h\"}";
    static const char two[] = "{\"lifecycle\": \"training-operator-v1\", \"stack\": {\"training-operator.workers\": 2}}";
    must_tell(jobs, two, "job a holds 8 of 16 GPUs");
    must_tell(jobs, two, "GPUs are held by b (8)");
    must_tell(jobs, two, "GPUs are held by a (8)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(restarts_in_vain), cmocka_unit_test(restarts_that_get_on),
                                       cmocka_unit_test(work_without_an_end),
                                       cmocka_unit_test(a_node_that_does_not_come_back),
                                       cmocka_unit_test(nodes_that_are_always_down), cmocka_unit_test(a_node_that_comes_back_late), cmocka_unit_test(half_placed_gangs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
