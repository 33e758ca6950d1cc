/* test_data.c - steps that wait for their data, against arithmetic by hand, under the operator life cycle with every constant
 * of the control plane at zero.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "tests/support/temp_run.h"

/* 100 steps of 8 s on 8 GPUs of one node, or on two nodes. */
static const char scenario_format[] =
    "{\"trainyard\": 1, \"name\": \"t\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 2, \"gpus\": 8, \"cpu\": 64}],"
    "\"network\": {\"intra\": \"100GB/s\", \"inter\": \"1GB/s\"},"
    "\"storage\": [{\"name\": \"s\", \"write\": \"1GB/s\", \"read\": \"500MB/s\"}, {\"name\": \"fast\", \"write\": \"1GB/s\", \"read\": \"100GB/s\"},"
    "{\"name\": \"disk\", \"kind\": \"local\", \"write\": \"1GB/s\", \"read\": \"500MB/s\"}]},"
    "\"workload\": {\"jobs\": [{\"id\": \"a\", \"kind\": \"train\", \"replicas\": %d, \"gpus\": 8, \"steps\": 100,"
    "\"step\": {\"compute\": \"8s\"}, \"data\": {\"samples\": 100, %s}}]},"
    "\"approaches\": {\"op\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"none\", \"scheduler\": \"kube\","
    "\"placement\": \"pack\", \"stack\": {\"training-operator.api-call\": \"0s\", \"training-operator.reconcile\": \"0s\","
    "\"kubelet.container-start\": \"0s\", \"scheduler.cycle\": \"0s\", \"torchrun.rendezvous\": \"0s\"}}}}";

struct outcome { int64_t finished_ns; share_ns waited; char fingerprint[33]; };

static struct outcome run_text(const char *text, size_t n, struct str *resolved)
{
    struct diag d = {0};
    struct scenario *s = scenario_parse("t.json", text, n, NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    struct run *run = temp_run(s, RECORD_NONE);
    struct outcome o = {.finished_ns = run->jobs[0].row.finished_ns - run->jobs[0].row.started_ns};
    strcpy(o.fingerprint, run->fingerprint);
    for (size_t i = 0; i < run->n_ledger; i++)
        if (run->ledger[i].activity == ACT_DATA_WAIT) o.waited += run->ledger[i].sum;
    if (resolved) scenario_resolved(s, resolved, NULL);
    temp_run_close(run);
    scenario_free(s);
    diag_free(&d);
    return o;
}

static struct outcome simulate(int replicas, const char *data)
{
    struct str text = {0}, resolved = {0};
    str_printf(&text, scenario_format, replicas, data);
    struct outcome o = run_text(str_text(&text), text.n, &resolved), again = run_text(str_text(&resolved), resolved.n, NULL);
    assert_string_equal(o.fingerprint, again.fingerprint); /* the resolved scenario says all */
    str_free(&text);
    str_free(&resolved);
    return o;
}

static void waits_by_hand(void **state)
{
    static const struct { const char *data; int replicas; double wait_s; } cases[] = { /* of each step of 8 s */
        {"\"workers\": 4, \"cpu\": \"400ms\"", 1, 2},                             /* 100 x 0.4 / 4 - 8 */
        {"\"workers\": 4, \"cpu\": \"300ms\"", 1, 0},                             /* 7.5 s hide behind 8 */
        {"\"cpu\": \"100ms\"", 1, 10},                                            /* nobody loads ahead */
        {"\"workers\": 4, \"prefetch\": 0, \"cpu\": \"400ms\"", 1, 10},
        {"\"workers\": 4, \"cpu\": \"400ms\", \"mode\": \"threads\"", 1, 32},       /* one at a time: 100 x 0.4 - 8 */
        {"\"workers\": 4, \"cpu\": \"400ms\", \"mode\": \"threads\", \"locked\": 0.25", 1, 2}, /* the lock would give 10 a second */
        {"\"workers\": 100, \"cpu\": \"1s\"", 1, 4.5},                            /* 64 cores over 8 GPUs: 100 / 8 - 8 */
        {"\"workers\": 100, \"cpu\": \"1s\", \"cores\": 5", 1, 12},
        {"\"workers\": 16, \"size\": \"10MB\", \"storage\": \"s\"", 1, 8},           /* 8 x 100 x 10 MB at 500 MB/s - 8 */
        {"\"workers\": 16, \"size\": \"10MB\", \"storage\": \"s\"", 2, 24},          /* both nodes share it */
        {"\"workers\": 16, \"size\": \"10MB\", \"storage\": \"disk\"", 2, 8},        /* each has its own */
        {"\"workers\": 16, \"size\": \"15MB\", \"storage\": \"fast\"", 2, 4},        /* the node's 1 GB/s: 12 s - 8 */
        {"\"workers\": 1, \"size\": \"1kB\", \"storage\": \"fast\", \"latency\": \"100ms\"", 1, 2.0008}, /* 100 x (0.1 + 8e-6) s */
        /* 800 GB in all, of 80 GB of data: 10 epochs; 8 GB are kept: 1 - 0.1 x 0.9 of 16 s - 8 */
        {"\"workers\": 16, \"size\": \"10MB\", \"storage\": \"s\", \"dataset\": \"80GB\", \"cache\": \"8GB\", \"cache_rule\": \"keep\"", 1, 6.56},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome o = simulate(cases[i].replicas, cases[i].data);
        double want = 100 * (8 + cases[i].wait_s), got = (double)o.finished_ns / 1e9, gpus = 8.0 * cases[i].replicas;
        if (fabs(got - want) > 1e-4) fail_msg("%s: %g s, not %g", cases[i].data, got, want);
        double waited = (double)o.waited / 1e12;
        if (fabs(waited - gpus * 100 * cases[i].wait_s) > 1e-3) fail_msg("%s: %g GPU-s waited", cases[i].data, waited);
    }
}

/* Two jobs, a node each, read 4 GB a step of 8 s from a store of 500 MB/s: alone it is just enough, together a step takes 16 s,
 * of which 8 are waiting. With half the samples both have enough; a job that reads only on demand waits for its part alone. */
static const char two_format[] =
    "{\"trainyard\": 1, \"name\": \"t\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 2, \"gpus\": 8}],"
    "\"network\": {\"intra\": \"100GB/s\", \"inter\": \"10GB/s\", \"contention\": %s},"
    "\"storage\": [{\"name\": \"s\", \"write\": \"1GB/s\", \"read\": \"500MB/s\"}]},"
    "\"workload\": {\"jobs\": [{\"id\": \"a\", \"kind\": \"train\", \"gpus\": 8, \"count\": 2, \"steps\": 100,"
    "\"step\": {\"compute\": \"8s\"}, \"data\": {\"samples\": %d, \"workers\": %d, \"size\": \"5MB\", \"storage\": \"s\"}}]},"
    "\"approaches\": {\"op\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"none\", \"scheduler\": \"kube\","
    "\"placement\": \"first\", \"stack\": {\"training-operator.api-call\": \"0s\", \"training-operator.reconcile\": \"0s\","
    "\"kubelet.container-start\": \"0s\", \"scheduler.cycle\": \"0s\", \"torchrun.rendezvous\": \"0s\"}}}}";

static void readers_share_their_store(void **state)
{
    static const struct { const char *contention; int samples, workers; double step_s; } cases[] = {
        {"true", 100, 16, 16}, {"false", 100, 16, 8}, {"true", 50, 16, 8},
        /* on demand: 8 s of computing, 8 of reading; the two want 4 GB in 16 s each, which is just enough */
        {"true", 100, 0, 16},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text = {0};
        str_printf(&text, two_format, cases[i].contention, cases[i].samples, cases[i].workers);
        struct outcome o = run_text(str_text(&text), text.n, NULL);
        double got = (double)o.finished_ns / 1e9, waited = (double)o.waited / 1e12, want = 100 * cases[i].step_s;
        if (fabs(got - want) > 0.01) fail_msg("case %zu: %g s, not %g", i, got, want);
        if (fabs(waited - 16 * (want - 800)) > 1) fail_msg("case %zu: %g GPU-s waited", i, waited);
        str_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_by_hand), cmocka_unit_test(readers_share_their_store)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
