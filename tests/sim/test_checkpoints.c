/* test_checkpoints.c - where checkpoints go and what they cost there, against arithmetic by hand: shared stores, rank 0 or
 * shards, asynchronous saves, local disks, the optimal interval. Operator life cycle, control-plane constants at zero.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "input/checkpoint_optimum.h"
#include "tests/support/temp_run.h"

static const char scenario_format[] =
    "{\"trainyard\": 1, \"name\": \"t\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": %d, \"gpus\": 8}],"
    "\"network\": {\"inter\": \"%s\", \"contention\": %s}, \"storage\": [{\"name\": \"s\", %s}]},"
    "\"workload\": {\"jobs\": [%s]}, \"faults\": {%s},"
    "\"approaches\": {\"op\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"none\", \"scheduler\": \"kube\","
    "\"placement\": \"pack\", \"stack\": {\"training-operator.api-call\": \"0s\", \"training-operator.reconcile\": \"0s\","
    "\"kubelet.container-start\": \"0s\", \"scheduler.cycle\": \"0s\", \"torchrun.rendezvous\": \"0s\"}},"
    "\"batch\": {\"lifecycle\": \"none\", \"admission\": \"fifo\", \"scheduler\": \"batch\"}}}";

struct setting { const char *approach; int nodes; const char *inter, *contention, *store, *jobs, *faults; };
#define OP(...)    (&(struct setting){"op", __VA_ARGS__})
#define BATCH(...) (&(struct setting){"batch", __VA_ARGS__})

static struct scenario *read_scenario(const struct setting *c, struct diag *d)
{
    struct str text = {0};
    str_printf(&text, scenario_format, c->nodes, c->inter, c->contention, c->store, c->jobs, c->faults);
    struct scenario *s = scenario_parse("t.json", str_text(&text), text.n, c->approach, d);
    str_free(&text);
    return s;
}

static struct run *play(const struct setting *c)
{
    struct diag d = {0};
    struct scenario *s = read_scenario(c, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    struct run *run = temp_run(s, RECORD_NONE);
    assert_non_null(run);
    scenario_free(s);
    diag_free(&d);
    return run;
}

static const struct job_row *job_a(const struct run *run)
{
    for (size_t i = 0; i < run->n_jobs; i++)
        if (run->jobs[i].row.id && strcmp(run->jobs[i].row.id, "a") == 0) return &run->jobs[i].row;
    fail_msg("no job a");
    return NULL;
}

/* Job a. Rates are whole bytes a second and lanes: ten microseconds are left for that. */
static void assert_ends(const struct setting *c, double first_s)
{
    struct run *run = play(c);
    double is = (double)job_a(run)->finished_ns / 1e9;
    if (!(is > first_s - 1e-5 && is < first_s + 1e-5)) fail_msg("ends at %.9f s, not %.9f", is, first_s);
    temp_run_close(run);
}

#define STEPS     "\"steps\": 20, \"step\": \"10s\", \"restartPolicy\": \"OnFailure\""
#define JOB(id, checkpoint) "{\"id\": \"" id "\", \"gpus\": 8, " STEPS ", \"checkpoint\": {\"interval\": 100, \"storage\": \"s\", " checkpoint "}}"
#define WIDE(checkpoint) "{\"id\": \"a\", \"replicas\": 2, \"gpus\": 8, " STEPS ", \"checkpoint\": {\"interval\": 100, \"storage\": \"s\", " checkpoint "}}"
#define STORE     "\"write\": \"10GB/s\", \"read\": \"20GB/s\""
#define CRASH(id, at) "{\"at\": \"" at "\", \"target\": \"pod/" id "-master-0\", \"action\": \"container-exit\", \"code\": 1}"

/* 500 GB at 10 GB/s are 50 s after 100 s of 200; two at once take 100 s. Read at 20 GB/s: 25 s, two at once 50 s. */
static void savers_share_a_store(void **state)
{
    (void)state;
#define A JOB("a", "\"size\": \"500GB\"")
#define B JOB("b", "\"size\": \"500GB\"")
    assert_ends(OP(2, "400GB/s", "true", STORE, A, ""), 250);
    assert_ends(OP(2, "400GB/s", "true", STORE, A ", " B, ""), 300);
    assert_ends(OP(2, "400GB/s", "false", STORE, A ", " B, ""), 250);
}

/* Saved from 100 s to 200 s; at 230 s 30 s are lost; loaded until 280 s; then the other half. */
static void loaders_share_a_store(void **state)
{
    (void)state;
    assert_ends(OP(2, "400GB/s", "true", STORE, A ", " B,
                                  "\"script\": [" CRASH("a", "230s") ", " CRASH("b", "230s") "]"), 380);
    assert_ends(OP(2, "400GB/s", "true", STORE, A ", " B, "\"script\": [" CRASH("a", "230s") "]"), 355);
}

/* A save that is broken off leaves the store to the others: b crashes at 150 s, when both have written 250 GB; a needs 25 s
 * more. b writes again from 250 s on, when a is gone. */
static void a_broken_save_frees_the_store(void **state)
{
    (void)state;
    assert_ends(OP(2, "400GB/s", "true", STORE, A ", " B, "\"script\": [" CRASH("b", "150s") "]"), 275);
}

/* 500 GB from two nodes of 10 GB/s each to a store of 100: 25 s in two parts, 50 s by rank 0; by 16 processes of 1 GB/s
 * 31.25 s; whether the network is shared or not. */
static void shards_and_rank_0(void **state)
{
    (void)state;
    static const char *const contention[] = {"true", "false"};
    const char *fast = "\"write\": \"100GB/s\", \"read\": \"100GB/s\"";
    for (int i = 0; i < 2; i++) {
        assert_ends(OP(2, "10GB/s", contention[i], fast, WIDE("\"size\": \"500GB\", \"sharded\": true"), ""), 225);
        assert_ends(OP(2, "10GB/s", contention[i], fast, WIDE("\"size\": \"500GB\", \"sharded\": false"), ""), 250);
        assert_ends(OP(2, "10GB/s", contention[i], STORE, WIDE("\"size\": \"500GB\", \"sharded\": false"), ""), 250);
        assert_ends(OP(2, "100GB/s", contention[i], fast, WIDE("\"size\": \"500GB\", \"process\": \"1GB/s\""), ""),
                    231.25);
    }
}

/* 400 GB: 5 s to copy 50 GB a GPU at 10 GB/s, durable 40 s later. A crash before that loses all, one after it 45 s. */
static void asynchronous_saves(void **state)
{
    (void)state;
#define ASYNC JOB("a", "\"size\": \"400GB\", \"async\": true, \"copy\": \"10GB/s\"")
    static const char *const contention[] = {"true", "false"};
    for (int i = 0; i < 2; i++) {
        assert_ends(OP(2, "400GB/s", contention[i], STORE, ASYNC, ""), 205);
        assert_ends(OP(2, "400GB/s", contention[i], STORE, ASYNC, "\"script\": [" CRASH("a", "130s") "]"),
                    130 + 205);
        assert_ends(OP(2, "400GB/s", contention[i], STORE, ASYNC, "\"script\": [" CRASH("a", "150s") "]"),
                    150 + 20 + 100);
    }
}

/* Saves at 20 s and after 20 s more, at 45 s; but the first is durable at 65 s only, so the second waits, and ends at 70 s. */
static void one_save_at_a_time(void **state)
{
    (void)state;
    static const char *const contention[] = {"true", "false"};
    const char *job = "{\"id\": \"a\", \"gpus\": 8, \"steps\": 6, \"step\": \"10s\", \"checkpoint\": {\"interval\": 20, \"storage\": \"s\","
                      " \"size\": \"400GB\", \"async\": true, \"copy\": \"10GB/s\"}}";
    for (int i = 0; i < 2; i++) assert_ends(OP(1, "400GB/s", contention[i], STORE, job, ""), 90);
}

static share_ns redone(const struct setting *c)
{
    struct run *run = play(c);
    share_ns sum = job_a(run)->redone;
    temp_run_close(run);
    return sum;
}

/* Saved from 100 s to 150 s; at 230 s 180 s of work are done. A process that dies finds its node's disk again; a node that
 * is lost has taken it along: all is done again, the save, too. */
static void local_disks_go_with_their_node(void **state)
{
    (void)state;
    const char *local = "\"kind\": \"local\", " STORE, *lost =
        "\"script\": [{\"at\": \"230s\", \"target\": \"node/n-0\", \"action\": \"node-lost\"},"
        " {\"at\": \"1000s\", \"target\": \"node/n-0\", \"action\": \"node-back\"}]";
    assert_ends(OP(2, "400GB/s", "true", local, A, ""), 250);
    assert_ends(OP(2, "400GB/s", "true", local, A, "\"script\": [" CRASH("a", "230s") "]"), 230 + 25 + 100);
    assert_true(redone(OP(2, "400GB/s", "true", local, A, lost)) == (share_ns)8000 * (share_ns)seconds(180 + 50));
    assert_true(redone(OP(2, "400GB/s", "true", STORE, A, lost)) == (share_ns)8000 * (share_ns)seconds(80));
}

/* Two nodes of disks: each writes its half. */
static void each_node_has_its_own_disks(void **state)
{
    (void)state;
    assert_ends(OP(2, "400GB/s", "true", "\"kind\": \"local\", " STORE, WIDE("\"size\": \"500GB\""), ""), 225);
}

/* Life cycle none: 200 s of work, a save of 50 s; a node that fails at 230 s is back at 250 s, and 25 s are read. */
static void batch_jobs_pay_too(void **state)
{
    (void)state;
    assert_ends(BATCH(1, "400GB/s", "true", STORE, A, ""), 250);
    assert_ends(BATCH(1, "400GB/s", "true", STORE, A,
                                  "\"script\": [{\"at\": \"230s\", \"target\": \"node/n-0\", \"action\": \"node-lost\"},"
                                  " {\"at\": \"250s\", \"target\": \"node/n-0\", \"action\": \"node-back\"}]"),
                250 + 25 + 100);
    assert_ends(BATCH(1, "400GB/s", "true", STORE, A, /* while it saves: all is lost, and nothing is read */
                                  "\"script\": [{\"at\": \"130s\", \"target\": \"node/n-0\", \"action\": \"node-lost\"},"
                                  " {\"at\": \"140s\", \"target\": \"node/n-0\", \"action\": \"node-back\"}]"),
                140 + 250);
}

/* ---- the optimal interval ---- */

#define OPTIMAL(more) "{\"id\": \"a\", \"replicas\": 4, \"gpus\": 8, \"duration\": \"9d\", \"checkpoint\": {\"interval\": \"optimal\"" more "}}"
#define NODES_FAIL "\"components\": [{\"name\": \"m\", \"scope\": \"node\", \"mtbf\": \"40h\", \"repair\": \"1h\"}," \
                   "{\"name\": \"g\", \"scope\": \"gpu\", \"mtbf\": \"640h\", \"repair\": \"1h\"}]"

/* 4 nodes of 40 h are 10 h, 32 GPUs of 640 h are 20 h, 4 processes of 80 h are 20 h: together 5 h. */
static void optimal_interval_of_its_failures(void **state)
{
    (void)state;
    struct diag d = {0};
    struct setting c = {"op", 8, "400GB/s", "true", STORE,
                        "{\"id\": \"a\", \"replicas\": 4, \"gpus\": 8, \"duration\": \"9d\", \"crash_mtbf\": \"80h\","
                        " \"checkpoint\": {\"interval\": \"optimal\", \"size\": \"600GB\", \"storage\": \"s\"}}", NODES_FAIL};
    struct scenario *s = read_scenario(&c, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    assert_int_equal(s->details[0].checkpoint.interval_ns, checkpoint_optimum_ns(60, 0, 5 * 3600));
    struct str text = {0};
    scenario_resolved(s, &text, NULL);
    assert_null(strstr(str_text(&text), "optimal\""));
    struct scenario *again = scenario_parse("again.json", str_text(&text), text.n, "op", &d);
    assert_non_null(again);
    assert_string_equal(again->hash, s->hash);
    scenario_free(again);
    scenario_free(s);
    str_free(&text);
    diag_free(&d);
}

static void optimal_needs_reasons(void **state)
{
    (void)state;
    static const struct { const char *job, *faults, *says; } rows[] = {
        {OPTIMAL(", \"save\": 60"), "", "nothing stops this job"},
        {OPTIMAL(""), NODES_FAIL, "a save costs nothing"},
        {"{\"id\": \"a\", \"duration\": 9, \"checkpoint\": {\"interval\": \"optimum\"}}", "", "optimum"},
        {OPTIMAL(", \"sharded\": true"), NODES_FAIL, "needs \"size\" and \"storage\""},
        {OPTIMAL(", \"async\": true"), NODES_FAIL, "needs \"background\""},
        {OPTIMAL(", \"size\": 5, \"parameters\": 7, \"storage\": \"s\""), NODES_FAIL, "either \"size\" or \"parameters\""},
        {OPTIMAL(", \"parameters\": 1e30, \"storage\": \"s\""), NODES_FAIL, "10^16 parameters"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diag d = {0};
        struct setting c = {"op", 8, "400GB/s", "true", STORE, rows[i].job, rows[i].faults};
        assert_null(read_scenario(&c, &d));
        bool said = false;
        for (size_t k = 0; k < d.entries.n; k++) said |= strstr(d.entries.v[k].text, rows[i].says) != NULL;
        if (!said) fail_msg("row %zu: \"%s\", not \"%s\"", i, d.entries.n ? d.entries.v[0].text : "", rows[i].says);
        diag_free(&d);
    }
}

/* 2 x 10^9 parameters at 12 bytes: 24 GB at 10 GB/s. */
static void size_from_parameters(void **state)
{
    (void)state;
    assert_ends(OP(1, "400GB/s", "true", STORE, JOB("a", "\"parameters\": 2e9, \"optimizer\": \"adam-fp32\""), ""), 202.4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(savers_share_a_store),
        cmocka_unit_test(loaders_share_a_store),
        cmocka_unit_test(a_broken_save_frees_the_store),
        cmocka_unit_test(shards_and_rank_0),
        cmocka_unit_test(asynchronous_saves),
        cmocka_unit_test(one_save_at_a_time),
        cmocka_unit_test(local_disks_go_with_their_node),
        cmocka_unit_test(each_node_has_its_own_disks),
        cmocka_unit_test(batch_jobs_pay_too),
        cmocka_unit_test(optimal_interval_of_its_failures),
        cmocka_unit_test(optimal_needs_reasons),
        cmocka_unit_test(size_from_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
