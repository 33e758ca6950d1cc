/* test_plan.c - what processes a job is on hosts, and that every key of "live" has its effect.
 *
 * Expected values: the environment by the rules of training-operator 1.9 (input/torch_env.h) with the addresses replaced; counts by
 * hand; every key of "live" is changed in turn and must change what is run (the keys of the simulator are those of
 * tests/sim/test_keys.c). Jobs without a process that trains: a Ray cluster's head runs no worker of Ray Train, and 0 replicas are no pods.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "real/host/host.h"
#include "real/host/line.h"
#include "real/host/plan.h"
#include "real/ray/ray.h"

static const char head[] =
    "{ \"trainyard\": 1, \"name\": \"plan\", \"cluster\": { \"nodes\": [{ \"group\": \"n\", \"count\": 4, \"gpus\": 8 }] },"
    "  \"workload\": { \"jobs\": [{ \"id\": \"j\", \"replicas\": 5, \"gpus\": 2, \"steps\": 40,"
    "    \"step\": { \"compute\": \"100ms\", \"communication\": \"10ms\" }, \"checkpoint\": { \"interval\": \"1s\" },"
    "    \"elastic\": { \"minReplicas\": 2, \"maxReplicas\": 7, \"maxRestarts\": 4 } }] },"
    "  \"approaches\": { \"static\": { \"lifecycle\": \"training-operator-v1\", \"stack\": { \"nccl.timeout\": \"60s\" } },"
    "    \"elastic\": { \"like\": \"static\", \"elastic\": \"torchrun\" }, \"actor\": { \"lifecycle\": \"ray-train-v2\", \"elastic\": \"ray\" } }";

static struct scenario *parse(const char *live, const char *approach)
{
    struct str text = {0};
    struct diag d = {0};
    str_printf(&text, "%s%s%s }", head, live ? ", \"live\": " : "", live ? live : "");
    struct scenario *s = scenario_parse("plan.json", text.s, text.n, approach, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    assert_non_null(s);
    return s;
}

static void words(struct str *out, const char *const *w)
{
    for (; *w; w++) str_printf(out, "%s\n", *w);
}

/* All that would be run, as text. */
static void plan_text(const struct scenario *s, struct str *out)
{
    struct arena a = {0};
    struct job_plan p;
    plan_make(&a, s, &s->jobs[0], &p);
    words(out, plan_command(&a, s, &s->jobs[0], &p, &(struct plan_files){"worker", "data", "saved"}));
    for (uint32_t i = 0; i < p.n; i++) {
        str_printf(out, "%s stands for %u\n", p.v[i].name, p.v[i].n);
        words(out, plan_environment(&a, &p, i, p.n, "10.0.0.1", 4711));
    }
    host_describe(s, out);
    for (size_t i = 0; i < s->live->n_hosts; i++)
        str_printf(out, "%u %s %s %s\n", s->live->hosts[i].group, s->live->hosts[i].addresses[0], s->live->hosts[i].worker,
                   s->live->hosts[i].directory);
    arena_free(&a);
}

static char *plan_of(const char *live, const char *approach)
{
    struct scenario *s = parse(live, approach);
    struct str text = {0};
    plan_text(s, &text);
    scenario_free(s);
    return str_take(&text);
}

static void has(const char *text, const char *line)
{
    const char *at = strstr(text, line);
    if (!at) fail_msg("no \"%s\" in\n%s", line, text);
    assert_true(at == text || at[-1] == '\n');
    assert_int_equal(at[strlen(line)], '\n');
}

static void pods_of_the_operator(void **state)
{
    (void)state;
    char *t = plan_of(NULL, "static");
    has(t, "j-master-0 stands for 1");
    has(t, "j-worker-3 stands for 1");
    assert_null(strstr(t, "j-worker-4"));
    has(t, "MASTER_ADDR=10.0.0.1");
    has(t, "MASTER_PORT=4711");
    has(t, "WORLD_SIZE=5");
    has(t, "RANK=4");
    has(t, "--steps=40");
    has(t, "--pace=100000000ns");
    has(t, "--every=9"); /* 1 s over 110 ms, rounded down */
    has(t, "--collective-timeout=60000000000ns");
    free(t);
    t = plan_of(NULL, "elastic");
    has(t, "PET_NNODES=2:7");
    has(t, "PET_RDZV_ENDPOINT=10.0.0.1:4711");
    has(t, "--restarts=4");
    assert_null(strstr(t, "PET_MAX_RESTARTS")); /* a process of the back end is no agent */
    has(t, "--pace-ranks=5");
    has(t, "j-worker-6 stands for 1");
    free(t);
    t = plan_of(NULL, "actor");
    has(t, "RANK=6");
    has(t, "WORLD_SIZE=7");
    has(t, "MASTER_ADDR=10.0.0.1");
    has(t, "RAY_ADDRESS=10.0.0.1:6379");
    free(t);
}

/* 5 pods in 2 processes: 3 and 2; the world is of 2; time 10 times as fast. */
static void scaled(void **state)
{
    (void)state;
    char *t = plan_of("{ \"processes\": 2, \"time_scale\": 10 }", "static");
    has(t, "j-master-0 stands for 3");
    has(t, "j-worker-2 stands for 2");
    has(t, "WORLD_SIZE=2");
    has(t, "--pace=10000000ns");
    has(t, "--collective-timeout=6000000000ns");
    has(t, "--every=9");
    free(t);
}

static void every_key_of_live(void **state)
{
    static const char *const others[] = {
        "{ \"time_scale\": 3 }", "{ \"processes\": 3 }", "{ \"pace\": false }", "{ \"hidden\": 7 }", "{ \"features\": 9 }",
        "{ \"classes\": 9 }", "{ \"samples\": 99 }", "{ \"batch\": 9 }",
        "{ \"hosts\": [{ \"group\": \"n\", \"addresses\": [\"a\"], \"directory\": \"/d\" }] }",
    };
    static const char *const hosts[] = {
        "{ \"hosts\": [{ \"group\": \"n\", \"addresses\": [\"b\"], \"directory\": \"/d\" }] }",
        "{ \"hosts\": [{ \"group\": \"n\", \"addresses\": [\"a\"], \"directory\": \"/e\" }] }",
        "{ \"hosts\": [{ \"group\": \"n\", \"addresses\": [\"a\"], \"directory\": \"/d\", \"worker\": \"w\" }] }",
    };
    size_t n = sizeof others / sizeof *others;
    (void)state;
    char *plain = plan_of("{ }", "static"), *at = plan_of(others[n - 1], "static");
    for (size_t i = 0; i < n; i++) {
        char *t = plan_of(others[i], "static");
        if (!strcmp(t, plain)) fail_msg("%s changes nothing", others[i]);
        free(t);
    }
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char *t = plan_of(hosts[i], "static");
        if (!strcmp(t, at)) fail_msg("%s changes nothing", hosts[i]);
        free(t);
    }
    free(plain);
    free(at);
}

/* real/worker/steplog.h's lines, and what is none. */
static void lines(void **state)
{
    static const char *const none[] = {"", "{", "[]", "7", "{\"event\": 3}", "{\"event\": \"stop\"}", "{\"event\": \"step\", \"step\": \"x\"}",
                                       "{\"event\": \"step\", \"step\": 1e300}", "{\"event\": \"step\", \"compute_s\": -1}",
                                       "{\"event\": \"end\", \"reason\": \"none\"}"};
    static const char step[] = "{\"event\": \"step\", \"time_s\": 12.5, \"rank\": 3, \"step\": 7, \"loss\": 0.25, \"data_s\": 0.001, "
                               "\"compute_s\": 0.5, \"communication_s\": 0.25, \"checkpoint_s\": 0, \"step_s\": 0.75}";
    static const char end[] = "{\"event\": \"end\", \"reason\": \"resize\"}";
    struct worker_line w;
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_false(worker_line_read(none[i], strlen(none[i]), &w));
    assert_true(worker_line_read(step, sizeof step - 1, &w));
    assert_int_equal(w.event, WORKER_STEP);
    assert_int_equal(w.rank, 3);
    assert_int_equal(w.step, 7);
    assert_int_equal(w.time_ns, 12500000000);
    assert_int_equal(w.compute_ns, 500000000);
    assert_int_equal(w.communication_ns, 250000000);
    assert_int_equal(w.data_ns, 1000000);
    assert_true(worker_line_read(end, sizeof end - 1, &w));
    assert_int_equal(w.end, END_RESIZE);
    assert_int_equal(w.step, -1); /* not said */
    assert_string_equal(w.weights, "");
}

/* Each job on a line of its own, from line 4 on; "trains" is the only one that may be played. */
static const char idle[] =
    "{ \"trainyard\": 1, \"name\": \"idle\",\n"
    "  \"cluster\": { \"nodes\": [{ \"group\": \"n\", \"count\": 2, \"gpus\": 8 }] },\n"
    "  \"objects\": [\n"
    "    { \"apiVersion\": \"ray.io/v1\", \"kind\": \"RayJob\", \"metadata\": { \"name\": \"head\", \"annotations\": { \"trainyard/duration\": \"60\" } }, \"spec\": { \"rayClusterSpec\": { \"headGroupSpec\": { \"template\": { \"spec\": { \"containers\": [{ \"name\": \"c\", \"image\": \"i\" }] } } } } } },\n"
    "    { \"apiVersion\": \"ray.io/v1\", \"kind\": \"RayJob\", \"metadata\": { \"name\": \"group\", \"annotations\": { \"trainyard/duration\": \"60\", \"trainyard/elastic\": \"{ \\\"minReplicas\\\": 1, \\\"maxReplicas\\\": 2 }\" } }, \"spec\": { \"rayClusterSpec\": { \"headGroupSpec\": { \"template\": { \"spec\": { \"containers\": [{ \"name\": \"c\", \"image\": \"i\" }] } } },"
    "      \"workerGroupSpecs\": [{ \"groupName\": \"w\", \"replicas\": 0, \"minReplicas\": 0, \"maxReplicas\": 0, \"template\": { \"spec\": { \"containers\": [{ \"name\": \"c\", \"image\": \"i\" }] } } }] } } },\n"
    "    { \"apiVersion\": \"kubeflow.org/v1\", \"kind\": \"PyTorchJob\", \"metadata\": { \"name\": \"torch\", \"annotations\": { \"trainyard/duration\": \"60\" } }, \"spec\": { \"pytorchReplicaSpecs\": { \"Worker\": { \"replicas\": 0, \"template\": { \"spec\": { \"containers\": [{ \"name\": \"pytorch\", \"image\": \"i\" }] } } } } } }\n"
    "  ], \"workload\": { \"jobs\": [\n"
    "    { \"id\": \"roles\", \"kind\": \"PyTorchJob\", \"duration\": 60, \"roles\": { \"Worker\": { \"replicas\": 0 } }, \"elastic\": { \"minReplicas\": 1, \"maxReplicas\": 3 } },\n"
    "    { \"id\": \"trains\", \"replicas\": 2, \"gpus\": 1, \"duration\": 60 }] },\n"
    "  \"approaches\": { \"both\": { \"lifecycle\": { \"all\": \"training-operator-v1\", \"RayJob\": \"ray-train-v2\" }, \"admission\": \"none\" },\n"
    "    \"ray\": { \"lifecycle\": \"ray-train-v2\", \"admission\": \"none\", \"ray_cluster\": \"shared\", \"shared_cluster\": { \"min\": 1, \"max\": 2 } } } }\n";

static void refuses_idle(const char *approach, bool (*check)(const struct scenario *, struct diag *))
{
    static const struct { const char *job; int line; } jobs[] = {{"head", 4}, {"group", 5}, {"torch", 6}, {"roles", 8}};
    struct diag d = {0};
    struct scenario *s = scenario_parse("idle.json", idle, sizeof idle - 1, approach, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    diag_free(&d);
    d = (struct diag){0};
    assert_false(check(s, &d));
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct str text = {0};
        size_t at = 0;
        str_printf(&text, "job %s has no process that trains", jobs[i].job);
        while (at < d.entries.n && strcmp(d.entries.v[at].text, str_text(&text)) != 0) at++;
        if (at == d.entries.n) fail_msg("nobody says \"%s\"", str_text(&text));
        assert_string_equal(d.entries.v[at].file, "idle.json");
        assert_int_equal(d.entries.v[at].line, jobs[i].line);
        assert_non_null(d.entries.v[at].help);
        str_free(&text);
    }
    for (size_t i = 0; i < d.entries.n; i++) assert_null(strstr(d.entries.v[i].text, "job trains has no"));
    scenario_free(s);
    diag_free(&d);
}

static void nothing_trains(void **state)
{
    (void)state;
    refuses_idle("both", host_check);
    refuses_idle("ray", ray_check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pods_of_the_operator), cmocka_unit_test(scaled),
                                       cmocka_unit_test(every_key_of_live), cmocka_unit_test(nothing_trains),
                                       cmocka_unit_test(lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
