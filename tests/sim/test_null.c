/* test_null.c - what makes no difference must make none: equal approaches give equal runs, and two schools whose control
 * planes cost nothing give equal times; one constant restored moves only its own term.
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

#include "base/units.h"
#include "sim/simulate.h"
#include "tests/support/any_scenario.h"
#include "tests/support/temp_run.h"

#define MS (NS_PER_S / 1000)

static struct scenario *parse(const struct str *json, const char *approach)
{
    struct diag d = {0};
    struct scenario *s = scenario_parse("null.json", json->s, json->n, approach, &d);
    if (!s) diag_print(&d, stderr);
    diag_free(&d);
    assert_non_null(s);
    return s;
}

/* ---- equal approaches ---- */

static void print_of(const struct str *json, const char *approach, char print[33])
{
    struct scenario *s = parse(json, approach);
    struct sim_result r;
    assert_true(sim_run(s, &(struct sim_options){0}, &r));
    memcpy(print, r.fingerprint, 33);
    sim_result_free(&r);
    scenario_free(s);
}

/* Any approach, and another one that is like it: the same fingerprint, whatever happens in the scenario. */
static void an_approach_like_another(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct str json = {0}, twins = {0};
        char one[33], twin[33];
        any_scenario(seed, &json);
        const char *at = strstr(json.s, "\"two\": {");
        assert_non_null(at);
        str_append_n(&twins, json.s, (size_t)(at - json.s));
        str_printf(&twins, "\"twin\": { \"like\": \"one\" }, %s", at);
        print_of(&twins, "one", one);
        print_of(&twins, "twin", twin);
        if (strcmp(one, twin) != 0) fail_msg("seed %d: %s, and its twin %s", (int)seed, one, twin);
        str_free(&json);
        str_free(&twins);
    }
}

/* ---- a control plane that costs nothing ---- */

/* Time-outs do not cost anything where nothing fails; without them a job may not even wait for its second pod. */
static bool is_timeout(const char *name)
{
    return strcmp(name, "torchrun.join-timeout") == 0 || strcmp(name, "ray-train.start-timeout") == 0;
}

struct term {
    const char *constant, *value;
    uint32_t operator_waits, actor_waits; /* bits of wait reasons that it may lengthen */
    int64_t operator_start[2], actor_start[2]; /* how much later the first step comes, with 1 and with 4 replicas; -1: not held here */
};
#define BIT(reason) (UINT32_C(1) << (reason))

/* Calls until the last pod is there: the operator creates the master's pod and service, then the workers' pods
 * (reconcile.c); KubeRay's three objects and the head's pod come before the workers (raycluster.c). One pod a scheduling
 * cycle, the first at once. Rates of creation are held to recordings in test_recordings_rates.c. */
static const struct term terms[] = {
    {"training-operator.api-call", "12ms", BIT(WAIT_CONTROL_PLANE), 0, {12 * MS, 5 * 12 * MS}, {0, 0}},
    {"training-operator.reconcile", "5ms", BIT(WAIT_CONTROL_PLANE), 0, {5 * MS, 5 * MS}, {0, 0}},
    {"scheduler.cycle", "1500us", BIT(WAIT_CONTROL_PLANE), BIT(WAIT_CONTROL_PLANE), {0, 3 * 1500000}, {-1, -1}},
    {"kubelet.container-start", "1s", BIT(WAIT_START), BIT(WAIT_START) | BIT(WAIT_CONTROL_PLANE), {NS_PER_S, NS_PER_S}, {2 * NS_PER_S, 2 * NS_PER_S}},
    {"torchrun.rendezvous", "1s", BIT(WAIT_RENDEZVOUS), BIT(WAIT_RENDEZVOUS), {NS_PER_S, NS_PER_S}, {NS_PER_S, NS_PER_S}},
    {"job.sync-batch", "1s", 0, BIT(WAIT_CONTROL_PLANE), {0, 0}, {0, 0}},
    {"kuberay.create", "28ms", 0, BIT(WAIT_CONTROL_PLANE), {0, 0}, {4 * 28 * MS, 7 * 28 * MS}},
    {"kuberay.readiness-initial", "10s", 0, BIT(WAIT_HEAD), {0, 0}, {10 * NS_PER_S, 10 * NS_PER_S}},
    {"ray.start", "3s", 0, BIT(WAIT_HEAD) | BIT(WAIT_PEERS) | BIT(WAIT_CONTROL_PLANE), {0, 0}, {-1, -1}},
    {"ray.placement-group", "55ms", 0, BIT(WAIT_PEERS), {0, 0}, {55 * MS, 55 * MS}},
    {"ray.actors", "500", 0, BIT(WAIT_RENDEZVOUS), {0, 0}, {2 * MS, 8 * MS}},
};

static const struct term *term_of(const char *constant)
{
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        if (strcmp(terms[i].constant, constant) == 0) return &terms[i];
    return NULL;
}

/* One job on an empty cluster; all that costs time is 0, except `restored`. */
static void idle_cluster(struct str *json, const char *lifecycle, unsigned replicas, const char *restored, const char *value)
{
    str_printf(json,
               "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"g\", \"count\": 4, \"gpus\": 8 } ] },\n"
               "  \"workload\": { \"jobs\": [ { \"id\": \"a\", \"submit\": 10, \"replicas\": %u, \"gpus\": 8, \"duration\": 600 } ] },\n"
               "  \"approaches\": { \"x\": { \"lifecycle\": \"%s\", \"stack\": { \"label\": \"zero\"", replicas, lifecycle);
    for (size_t i = 0; i < stack_constant_count(); i++) {
        const struct stack_constant *c = stack_constant_at(i);
        if (restored && strcmp(c->name, restored) == 0) str_printf(json, ", \"%s\": \"%s\"", c->name, value);
        else if (c->type == CONST_TIME && !is_timeout(c->name)) str_printf(json, ", \"%s\": 0", c->name);
        else if (c->type == CONST_RATE) str_printf(json, ", \"%s\": 1000000000000", c->name);
    }
    str_append(json, " } } } }\n");
}

struct times { int64_t started, finished, waits[N_WAIT_REASONS]; };

static struct times times_of(const char *lifecycle, unsigned replicas, const char *restored, const char *value)
{
    struct str json = {0};
    struct times t = {0};
    idle_cluster(&json, lifecycle, replicas, restored, value);
    struct scenario *s = parse(&json, NULL);
    struct run *r = temp_run(s, RECORD_NONE);
    assert_non_null(r);
    assert_int_equal(r->n_jobs, 1);
    const struct job_row *row = &r->jobs[0].row;
    if (row->state != JOB_SUCCEEDED) fail_msg("%s with %s: the job is %s", lifecycle, restored ? restored : "nothing", job_state_names[row->state]);
    t.started = row->started_ns;
    t.finished = row->finished_ns;
    memcpy(t.waits, row->wait_ns, sizeof t.waits);
    temp_run_close(r);
    scenario_free(s);
    str_free(&json);
    return t;
}

static const char *const schools[2] = {"training-operator-v1", "ray-train-v2"};
static const unsigned sizes[2] = {1, 4};

static void without_costs_both_schools_are_equal(void **state)
{
    (void)state;
    for (int size = 0; size < 2; size++)
        for (int school = 0; school < 2; school++) {
            struct times t = times_of(schools[school], sizes[size], NULL, NULL);
            assert_int_equal(t.started, 10 * NS_PER_S); /* at its submission */
            assert_int_equal(t.finished, 610 * NS_PER_S);
            for (int w = 0; w < N_WAIT_REASONS; w++) assert_int_equal(t.waits[w], 0);
        }
}

static void check_term(int school, int size, const struct stack_constant *c)
{
    const struct term *term = term_of(c->name);
    const char *value = term ? term->value : c->fallback;
    uint32_t may = !term ? 0 : school ? term->actor_waits : term->operator_waits;
    int64_t want = !term ? 0 : school ? term->actor_start[size] : term->operator_start[size];
    struct times t = times_of(schools[school], sizes[size], c->name, value);
    int64_t waits = 0;
    for (int w = 0; w < N_WAIT_REASONS; w++) {
        waits += t.waits[w];
        if (t.waits[w] && !(may & BIT(w)))
            fail_msg("%s: %s = %s lengthens \"%s\" by %lld ns", schools[school], c->name, value, wait_table[w].name, (long long)t.waits[w]);
    }
    if (want >= 0 && t.started - 10 * NS_PER_S != want)
        fail_msg("%s, %u replicas: %s = %s delays the start by %lld ns, not %lld", schools[school], sizes[size], c->name, value,
                 (long long)(t.started - 10 * NS_PER_S), (long long)want);
    if (may && waits == 0 && sizes[size] > 1) fail_msg("%s: %s = %s has no effect", schools[school], c->name, value);
    assert_int_equal(t.finished - 610 * NS_PER_S, waits); /* the work itself takes as long as before */
}

static void one_constant_moves_its_own_term(void **state)
{
    (void)state;
    for (int school = 0; school < 2; school++)
        for (int size = 0; size < 2; size++)
            for (size_t i = 0; i < stack_constant_count(); i++) {
                const struct stack_constant *c = stack_constant_at(i);
                bool costs = (c->type == CONST_TIME && !is_timeout(c->name)) || c->type == CONST_RATE;
                if (costs) check_term(school, size, c);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_approach_like_another),
        cmocka_unit_test(without_costs_both_schools_are_equal),
        cmocka_unit_test(one_constant_moves_its_own_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
