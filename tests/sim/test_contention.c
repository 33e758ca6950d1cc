/* test_contention.c - jobs that meet on the fabric: their steps against arithmetic by hand, and the same ledger in all.
 *
 * Control-plane constants are zero. A job of 24 GPUs on three nodes of two racks all-reduces 24 GB a step: an edge of its ring
 * carries 2 x 23/24 x 24 = 46 GB (models/traffic.h), in a step of one second, all of it communication. A node's link carries 46 GB/s.
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

#include "base/str.h"
#include "base/units.h"
#include "tests/support/temp_run.h"

static const char scenario_format[] =
    "{\"trainyard\": 1, \"name\": \"t\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 6, \"gpus\": 8}],"
    "\"topology\": {\"nodes_per_rack\": 2, \"racks_per_block\": 8}, \"network\": {\"inter\": \"46GB/s\", %s},"
    "\"storage\": [{\"name\": \"s\", \"write\": \"10GB/s\", \"read\": \"10GB/s\"}], \"images\": {\"size\": \"92GB\", %s}},"
    "\"workload\": {\"jobs\": [%s]},"
    "\"approaches\": {\"op\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"none\", \"scheduler\": \"kube\","
    "\"placement\": \"first\", \"stack\": {\"training-operator.api-call\": \"0s\", \"training-operator.reconcile\": \"0s\","
    "\"kubelet.container-start\": \"0s\", \"scheduler.cycle\": \"0s\", \"torchrun.rendezvous\": \"0s\"}}}}";

#define RING(id) "{\"id\": \"" id "\", \"kind\": \"train\", \"replicas\": 3, \"gpus\": 8, \"steps\": 100, "                  \
                 "\"step\": {\"compute\": \"0s\", \"communication\": \"1s\", \"gradient\": \"24GB\"}}"

struct outcome { int64_t started_ns, finished_ns, image_ns, peers_ns; share_ns compute, communication; };

static void simulate(const char *network, const char *images, const char *jobs, struct outcome out[], size_t n)
{
    struct diag d = {0};
    struct str text = {0};
    str_printf(&text, scenario_format, network, images, jobs);
    struct scenario *s = scenario_parse("t.json", str_text(&text), text.n, NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    struct run *run = temp_run(s, RECORD_NONE); /* fails when the ledger does not add up */
    assert_non_null(run);
    assert_int_equal(run->n_jobs, n);
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        const struct job_row *row = &run->jobs[i].row;
        out[i].started_ns = row->started_ns;
        out[i].finished_ns = row->finished_ns;
        out[i].image_ns = row->wait_ns[WAIT_IMAGE];
        out[i].peers_ns = row->wait_ns[WAIT_PEERS];
    }
    for (size_t i = 0; i < run->n_ledger; i++) {
        if (run->ledger[i].activity == ACT_COMPUTE) out->compute += run->ledger[i].sum;
        if (run->ledger[i].activity == ACT_COMMUNICATION) out->communication += run->ledger[i].sum;
    }
    temp_run_close(run);
    scenario_free(s);
    diag_free(&d);
    str_free(&text);
}

static share_ns gpu_seconds(uint64_t s) { return (share_ns)s * 1000 * 1000000000u; }

static const char warm[] = "\"cached\": 1";

/* Nodes 0-2 and 3-5 meet in the rack of 2 and 3, whose uplink carries one node's 46 GB/s: half each, 2 s a step. */
static void two_equal_jobs_on_one_uplink_take_twice_as_long(void **state)
{
    struct outcome o[2];
    (void)state;
    simulate("\"oversubscription\": {\"rack\": 2}", warm, RING("a") "," RING("b"), o, 2);
    assert_int_equal(o[0].started_ns, o[1].started_ns);
    for (int i = 0; i < 2; i++) assert_int_equal(o[i].finished_ns - o[i].started_ns, seconds(200));
    assert_true(o->communication == gpu_seconds(2 * 24 * 200));
    assert_true(o->compute == 0);
}

static void alone_or_on_a_full_fabric_nothing_is_slower(void **state)
{
    struct outcome o[2];
    (void)state;
    simulate("\"oversubscription\": {\"rack\": 2}", warm, RING("a"), o, 1);
    assert_int_equal(o[0].finished_ns - o[0].started_ns, seconds(100));
    simulate("\"oversubscription\": {\"rack\": 1}", warm, RING("a") "," RING("b"), o, 2);
    for (int i = 0; i < 2; i++) assert_int_equal(o[i].finished_ns - o[i].started_ns, seconds(100));
    simulate("\"contention\": false, \"oversubscription\": {\"rack\": 2}", warm, RING("a") "," RING("b"), o, 2);
    for (int i = 0; i < 2; i++) assert_int_equal(o[i].finished_ns - o[i].started_ns, seconds(100));
}

/* The second comes 30.5 s after the first has begun: the first has 69.5 s of work left, which take twice as long; then the
 * second, which has done as much, does its last 30.5 s alone. */
static void the_current_step_is_rescaled(void **state)
{
    struct outcome o[2];
    (void)state;
    simulate("\"oversubscription\": {\"rack\": 2}", warm,
             RING("a") ", {\"id\": \"b\", \"kind\": \"train\", \"replicas\": 3, \"gpus\": 8, \"steps\": 100, \"submit\": \"30.5s\","
                       "\"step\": {\"compute\": \"0s\", \"communication\": \"1s\", \"gradient\": \"24GB\"}}", o, 2);
    int64_t later = o[1].started_ns - o[0].started_ns, left = seconds(100) - later;
    assert_true(later > seconds(30));
    assert_int_equal(o[0].finished_ns, o[1].started_ns + 2 * left);
    assert_int_equal(o[1].finished_ns, o[0].finished_ns + later);
}

/* What a job wants is bytes a step over its whole step: with three seconds of computing beside the second of communication
 * an edge carries 11.5 GB/s, and both fit twice. */
static void a_job_slows_only_beyond_its_share(void **state)
{
    struct outcome o[2];
    (void)state;
    simulate("\"oversubscription\": {\"rack\": 2}", warm,
             "{\"id\": \"a\", \"kind\": \"train\", \"count\": 2, \"replicas\": 3, \"gpus\": 8, \"steps\": 100, \"submit\": 0,"
             "\"step\": {\"compute\": \"3s\", \"communication\": \"1s\", \"gradient\": \"24GB\"}}", o, 2);
    for (int i = 0; i < 2; i++) assert_int_equal(o[i].finished_ns - o[i].started_ns, seconds(400));
    /* an eighth of the uplink's 46 GB/s is left of it: 2.875 each, a quarter of what they want */
    simulate("\"oversubscription\": {\"rack\": 16}", warm,
             "{\"id\": \"a\", \"kind\": \"train\", \"count\": 2, \"replicas\": 3, \"gpus\": 8, \"steps\": 100, \"submit\": 0,"
             "\"step\": {\"compute\": \"3s\", \"communication\": \"1s\", \"gradient\": \"24GB\"}}", o, 2);
    for (int i = 0; i < 2; i++) assert_int_equal(o[i].finished_ns - o[i].started_ns, seconds(1600));
    assert_true(o->compute == gpu_seconds(2 * 24 * 300));          /* computing takes what it took */
    assert_true(o->communication == gpu_seconds(2 * 24 * 1300));   /* the rest is communication */
}

/* 92 GB at 46 GB/s are 2 s; the two nodes of a rack pull through an uplink of 46 GB/s, so both take 4 s. */
static void nodes_of_a_rack_pull_through_its_uplink(void **state)
{
    struct outcome o[1];
    (void)state;
    simulate("\"oversubscription\": {\"rack\": 1}", "\"cached\": 0, \"pull\": \"46GB/s\"", RING("a"), o, 1);
    assert_int_equal(o->started_ns, seconds(2));
    simulate("\"oversubscription\": {\"rack\": 2}", "\"cached\": 0, \"pull\": \"46GB/s\"", RING("a"), o, 1);
    assert_int_equal(o->started_ns, seconds(4));
    assert_int_equal(o->finished_ns - o->started_ns, seconds(100));
}

/* Two jobs on one node: the second image comes after the first, each through 23 GB/s of uplink. */
static void pulls_of_a_node_stay_in_turn(void **state)
{
    struct outcome o[2];
    (void)state;
    static const char jobs[] = "{\"id\": \"a\", \"kind\": \"train\", \"count\": 2, \"gpus\": 4, \"duration\": \"10s\"}";
    simulate("\"oversubscription\": {\"rack\": 4}", "\"cached\": 0, \"pull\": \"46GB/s\"", jobs, o, 2);
    assert_int_equal(o[0].started_ns, seconds(4));
    assert_int_equal(o[1].started_ns, seconds(8));
    simulate("\"contention\": false", "\"cached\": 0, \"pull\": \"46GB/s\"", jobs, o, 2);
    assert_int_equal(o[1].started_ns, seconds(4));
}

/* Five pods of four GPUs on nodes 0 to 2: an edge carries 2 x 19/20 x 24 = 45.6 GB/s. A job that comes to node 2 pulls 92 GB, at
 * no more than 23 GB/s, of a link of 46: half each for 4 s, in which the ring does 4 x 23 / 45.6 s of work. */
static void a_pull_slows_the_steps_on_its_node(void **state)
{
    struct outcome o[2];
    (void)state;
    simulate("\"oversubscription\": {\"rack\": 1}", "\"cached\": 0, \"pull\": \"23GB/s\"",
             "{\"id\": \"a\", \"kind\": \"train\", \"replicas\": 5, \"gpus\": 4, \"steps\": 100,"
             "\"step\": {\"compute\": \"0s\", \"communication\": \"1s\", \"gradient\": \"24GB\"}},"
             "{\"id\": \"b\", \"kind\": \"train\", \"gpus\": 4, \"submit\": \"20.25s\", \"duration\": \"1s\"}", o, 2);
    int64_t late = o[1].finished_ns - o[1].started_ns - seconds(100);
    assert_int_equal(o[0].started_ns, 24250 * NS_PER_MS); /* rows are in order of ends */
    assert_true(late >= 1982456140 && late < 1982456140 + 5); /* 4 - 4 x 23 / 45.6 s; a step's length is rounded up */
}

/* The job's own words, then the script: both stand in lists that end alike. */
#define SCRIPT(jobs, actions) jobs "]}, \"faults\": {\"script\": [" actions
#define SET_LINK(at, share) "{\"at\": \"" at "\", \"target\": \"node/n-1\", \"action\": \"set-link\", \"value\": " share "}"

/* Node 1 has half of its cards from 40 s to 80 s: a ring that needs them all does half as much then, 20 s of work less. Where
 * three quarters of the step are computing it wants a quarter of the link and does not notice. */
static void a_node_with_half_its_cards_slows_its_ring(void **state)
{
    struct outcome o[1];
    (void)state;
    simulate("\"oversubscription\": {\"rack\": 1}", warm, SCRIPT(RING("a"), SET_LINK("40s", "0.5") "," SET_LINK("80s", "1")), o, 1);
    assert_int_equal(o->finished_ns - o->started_ns, seconds(120));
    simulate("\"oversubscription\": {\"rack\": 1}", warm,
             SCRIPT("{\"id\": \"a\", \"kind\": \"train\", \"replicas\": 3, \"gpus\": 8, \"steps\": 100,"
                    "\"step\": {\"compute\": \"3s\", \"communication\": \"1s\", \"gradient\": \"24GB\"}}",
                    SET_LINK("40s", "0.5") "," SET_LINK("80s", "1")), o, 1);
    assert_int_equal(o->finished_ns - o->started_ns, seconds(400));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_equal_jobs_on_one_uplink_take_twice_as_long),
        cmocka_unit_test(alone_or_on_a_full_fabric_nothing_is_slower),
        cmocka_unit_test(the_current_step_is_rescaled),
        cmocka_unit_test(a_job_slows_only_beyond_its_share),
        cmocka_unit_test(nodes_of_a_rack_pull_through_its_uplink),
        cmocka_unit_test(pulls_of_a_node_stay_in_turn),
        cmocka_unit_test(a_pull_slows_the_steps_on_its_node),
        cmocka_unit_test(a_node_with_half_its_cards_slows_its_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
