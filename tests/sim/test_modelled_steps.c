/* test_modelled_steps.c - jobs that say model, parallelism and batch: how long their steps are, where the time goes, and what
 * placement and slow nodes do to them; against models/step.h and arithmetic by hand.
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
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "input/check.h"
#include "sim/simulate.h"
#include "sim/train/step_parts.h"
#include "tests/support/temp_run.h"

static const char scenario_format[] =
    "{\"trainyard\": 1, \"name\": \"t\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": %d, \"gpus\": 8, \"gpu\": \"h100\"}],"
    "\"network\": {\"intra\": \"450GB/s\", \"inter\": \"100Gbps\"}%s},"
    "\"workload\": {\"jobs\": [{\"id\": \"a\", \"kind\": \"train\", %s}]},"
    "\"approaches\": {\"op\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"none\", \"scheduler\": \"kube\","
    "\"placement\": \"%s\", \"stack\": {\"training-operator.api-call\": \"0s\", \"training-operator.reconcile\": \"0s\","
    "\"kubelet.container-start\": \"0s\", \"scheduler.cycle\": \"0s\", \"torchrun.rendezvous\": \"0s\"}}}, \"run\": {\"seed\": 2}}";

struct outcome { int64_t finished_ns, nominal_ns; share_ns sum[N_ACTIVITIES]; struct step_input in; char print[33]; };

static struct scenario *load(int nodes, const char *cluster, const char *job, const char *placement)
{
    struct diag d = {0};
    struct str text = {0};
    str_printf(&text, scenario_format, nodes, cluster, job, placement);
    struct scenario *s = scenario_parse("t.json", str_text(&text), text.n, NULL, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    assert_non_null(s);
    return s;
}

static struct outcome outcome_of(struct scenario *s)
{
    struct outcome o = {0};
    struct run *run = temp_run(s, RECORD_NONE);
    assert_non_null(run);
    assert_int_equal(run->n_jobs, 1);
    o.finished_ns = run->jobs[0].row.finished_ns;
    for (size_t i = 0; i < run->n_ledger; i++) o.sum[run->ledger[i].activity] += run->ledger[i].sum;
    if (s->details[0].step.model) o.in = *s->details[0].step.model;
    o.nominal_ns = s->details[0].step.modelled_ns;
    temp_run_close(run);
    return o;
}

static struct outcome simulate(int nodes, const char *cluster, const char *job, const char *placement)
{
    struct scenario *s = load(nodes, cluster, job, placement);
    struct outcome o = outcome_of(s);
    scenario_free(s);
    return o;
}

#define LLAMA(parallelism)                                                                                             \
    "\"steps\": 10, \"model\": \"llama2-7b\", \"parallelism\": {" parallelism "}, \"batch\": {\"global\": 64, \"recompute\": \"full\"}"

/* 10 steps of the nominal length on full nodes, part by part as the model says, and every nanosecond booked. */
static void parts_are_the_models(void **state)
{
    (void)state;
    struct outcome o = simulate(4, "", "\"replicas\": 4, \"gpus\": 8, " LLAMA("\"tensor\": 4, \"pipeline\": 2, \"zero\": 1"), "pack");
    struct step_time t = step_time(&o.in);
    assert_int_equal(o.finished_ns, 10 * o.nominal_ns);
    int64_t parts[N_STEP_PARTS];
    assert_int_equal(o.nominal_ns, step_whole_ns(&t, parts));
    static const enum activity of[] = {ACT_COMPUTE, ACT_COMMUNICATION, ACT_DATA_WAIT, ACT_BUBBLE, ACT_STRAGGLER};
    share_ns all = 0;
    for (int k = 0; k < N_STEP_PARTS; k++) {
        assert_true(o.sum[of[k]] == (share_ns)32000 * 10 * (share_ns)parts[k]);
        all += o.sum[of[k]];
    }
    assert_true(all == (share_ns)32000 * (share_ns)o.finished_ns);
    assert_true(t.part[STEP_BUBBLE] > 0 && t.part[STEP_COMMUNICATION] > 0);
}

/* Pods of 4 GPUs with 8 tensor-parallel ranks: two pods a node keep a group on its node, spread pods send each layer's
 * all-reduces over 100 Gbps. */
static void a_tensor_group_across_nodes_is_slow(void **state)
{
    static const char job[] = "\"replicas\": 4, \"gpus\": 4, " LLAMA("\"tensor\": 8, \"zero\": 1");
    (void)state;
    struct outcome packed = simulate(4, "", job, "pack"), spread = simulate(4, "", job, "spread");
    assert_int_equal(packed.finished_ns, 10 * packed.nominal_ns);
    spread.in.place.run = 4;
    struct step_time t = step_time(&spread.in);
    int64_t parts[N_STEP_PARTS];
    assert_int_equal(spread.finished_ns, 10 * step_whole_ns(&t, parts));
    assert_true(spread.finished_ns > 2 * packed.finished_ns);
    assert_true(spread.sum[ACT_COMPUTE] == packed.sum[ACT_COMPUTE]);
    assert_true(spread.sum[ACT_COMMUNICATION] > 5 * packed.sum[ACT_COMMUNICATION]);
}

/* All nodes are slow by a fifth: a declared step takes its computation 1.2 times as long, the wait is a straggler's. */
static void slow_nodes_hold_all_up(void **state)
{
    static const char job[] = "\"replicas\": 2, \"gpus\": 8, \"steps\": 100, \"step\": {\"compute\": \"8s\", \"communication\": \"1s\", "
                              "\"data\": \"1s\"}";
    (void)state;
    struct outcome o = simulate(2, ", \"stragglers\": {\"share\": 1, \"slowness\": 0.2}", job, "pack");
    assert_int_equal(o.finished_ns, INT64_C(1160000000000));
    assert_true(o.sum[ACT_STRAGGLER] == (share_ns)16000 * 160 * 1000000000u);
    assert_true(o.sum[ACT_COMPUTE] == (share_ns)16000 * 800 * 1000000000u);
    struct outcome none = simulate(2, ", \"stragglers\": {\"share\": 0, \"slowness\": 0.2}", job, "pack");
    assert_int_equal(none.finished_ns, INT64_C(1000000000000));
}

/* With a quarter of 12 nodes slow, jobs on more and more of the nodes are slow from some size on, and by the same tenth. */
static void some_nodes_are_slow(void **state)
{
    (void)state;
    int64_t slow = 0;
    for (int n = 1; n <= 12; n++) {
        char job[200];
        snprintf(job, sizeof job, "\"replicas\": %d, \"gpus\": 8, \"steps\": 10, \"step\": \"1s\"", n);
        struct outcome o = simulate(12, ", \"stragglers\": 0.25", job, "first");
        bool now = o.sum[ACT_STRAGGLER] > 0;
        assert_true(!slow || now); /* a job that has the nodes of a slow one is slow */
        assert_true(o.sum[ACT_STRAGGLER] == (now ? o.sum[ACT_COMPUTE] / 10 : 0));
        slow += now;
    }
    assert_in_range(slow, 1, 11);
}

/* Which nodes are slow depends on seed, group and index alone: not on the approach, not on nodes that are added. */
static void slow_nodes_are_paired(void **state)
{
    enum { FEW = 200, MANY = 400 };
    static const struct { int nodes; const char *placement; } worlds[] = {{FEW, "pack"}, {FEW, "spread"}, {MANY, "pack"}};
    static double slow[3][MANY];
    int n = 0;
    (void)state;
    for (size_t w = 0; w < 3; w++) {
        struct scenario *s = load(worlds[w].nodes, ", \"stragglers\": 0.2", "\"gpus\": 8, \"duration\": 1", worlds[w].placement);
        struct sim_result r = {0};
        struct sim *sim = sim_create(s, &(struct sim_options){0}, &r.error);
        assert_non_null(sim);
        for (int i = 0; i < worlds[w].nodes; i++) slow[w][i] = node_slowness(sim, (uint32_t)i);
        sim_close(sim, &r);
        sim_result_free(&r);
        scenario_free(s);
    }
    assert_memory_equal(slow[0], slow[1], sizeof slow[0]);
    assert_memory_equal(slow[0], slow[2], FEW * sizeof slow[0][0]);
    for (int i = 0; i < MANY; i++) n += slow[2][i] == 1.1;
    assert_in_range(n, 80 - 24, 80 + 24); /* 400 x 0.2, within 3 deviations of 8 */
}

/* Jitter of 1 %: the slowest of 16 ranks is 1.766 deviations late (Harter's table has 1.76599 for n = 16). */
static void jitter_is_the_slowest_of_n(void **state)
{
    (void)state;
    struct outcome o = simulate(2, ", \"stragglers\": {\"jitter\": 0.01}", "\"replicas\": 2, \"gpus\": 8, \"steps\": 100, \"step\": \"1s\"",
                                "pack");
    double late = (double)o.finished_ns / 1e11 - 1;
    assert_true(fabs(late - 0.0176599) < 1e-6);
}

/* Half the pods of an elastic job have twice the micro-batches to do. */
static void fewer_ranks_do_more_micro_batches(void **state)
{
    (void)state;
    struct outcome whole = simulate(4, "", "\"replicas\": 4, \"gpus\": 8, " LLAMA("\"zero\": 3"), "pack");
    struct step_input half = whole.in;
    half.split.data /= 2;
    assert_true(step_time(&half).micro_batches == 2 * step_time(&whole.in).micro_batches);
}

/* The resolved scenario has the whole model and the figures of the GPUs, and runs alike. */
static void the_resolved_scenario_runs_alike(void **state)
{
    static const char job[] = "\"replicas\": 4, \"gpus\": 8, " LLAMA("\"tensor\": 2, \"zero\": 1");
    (void)state;
    struct scenario *s = load(4, ", \"stragglers\": {\"share\": 0.3, \"jitter\": 0.02}", job, "pack");
    struct str text = {0};
    struct diag d = {0};
    scenario_resolved(s, &text, NULL);
    assert_null(strstr(str_text(&text), "llama2-7b"));
    assert_non_null(strstr(str_text(&text), "\"peak_tflops\": 989"));
    struct scenario *again = scenario_parse("t.json", str_text(&text), text.n, NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(again);
    struct outcome a = outcome_of(s), b = outcome_of(again);
    assert_true(a.finished_ns == b.finished_ns && a.nominal_ns == b.nominal_ns);
    assert_memory_equal(a.sum, b.sum, sizeof a.sum);
    assert_string_equal(s->hash, again->hash);
    scenario_free(s);
    scenario_free(again);
    str_free(&text);
}

/* 7B on 8 GPUs without sharding: 13.5 + 13.5 + 80.9 GB. */
static void check_names_what_overflows(void **state)
{
    (void)state;
    struct scenario *s = load(1, "", "\"gpus\": 8, " LLAMA("\"zero\": 0"), "pack");
    struct findings f = {0};
    bool said = false;
    scenario_check(s, &f);
    for (size_t i = 0; i < f.list.n; i++)
        said |= !strcmp(f.list.v[i].topic, "memory") && strstr(f.list.v[i].text, "the optimizer overflows by");
    assert_true(said);
    findings_free(&f);
    scenario_free(s);
}

/* Samples for 8 data-parallel ranks: 7 are too few, 12 make the step as long as 16 do. */
static void check_names_a_batch_that_does_not_divide(void **state)
{
    (void)state;
    static const struct { const char *batch, *says; } rows[] = {
        {"7", "has 7 samples a step for 8"}, {"8", NULL}, {"16", NULL}, {"12", "its step is as long as with 16"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char job[256];
        snprintf(job, sizeof job, "\"gpus\": 8, \"steps\": 1, \"model\": \"llama2-7b\", \"parallelism\": {\"zero\": 3}, \"batch\": %s",
                 rows[k].batch);
        struct scenario *s = load(1, "", job, "pack");
        struct findings f = {0};
        bool said = false;
        scenario_check(s, &f);
        for (size_t i = 0; i < f.list.n; i++) {
            if (strcmp(f.list.v[i].topic, "batch")) continue;
            said = true;
            assert_true(rows[k].says && strstr(f.list.v[i].text, rows[k].says));
        }
        assert_int_equal(said, rows[k].says != NULL);
        findings_free(&f);
        scenario_free(s);
    }
}

/* What does not go together is an error with its place. */
static void contradictions_are_errors(void **state)
{
    static const struct { const char *job, *says; } rows[] = {
        {"\"model\": \"llama2-7b\", \"steps\": 1", "needs \"batch\""},
        {"\"batch\": 8, \"steps\": 1", "needs \"model\""},
        {"\"model\": \"llama9\", \"batch\": 8, \"steps\": 1", "no model \"llama9\""},
        {"\"model\": \"mpt-7b\", \"batch\": 8, \"steps\": 1, \"step\": 1", "either \"step\" or \"model\""},
        {"\"model\": \"mpt-7b\", \"batch\": 8, \"steps\": 1, \"gpus\": 8, \"parallelism\": {\"tensor\": 3}", "does not make 8 GPUs"},
        {"\"model\": {\"layers\": 3}, \"batch\": 8, \"steps\": 1", "has no \"parameters\""},
        {"\"model\": {\"parameters\": 1e9, \"layers\": 3}, \"batch\": 8, \"steps\": 1", "a transformer needs"},
        {"\"model\": \"resnet-50\", \"batch\": 8, \"steps\": 1, \"gpus\": 8, \"parallelism\": {\"tensor\": 2}", "only a transformer"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diag d = {0};
        struct str text = {0};
        bool said = false;
        str_printf(&text, scenario_format, 1, "", rows[i].job, "pack");
        assert_null(scenario_parse("t.json", str_text(&text), text.n, NULL, &d));
        for (size_t k = 0; k < d.entries.n; k++) said |= strstr(d.entries.v[k].text, rows[i].says) != NULL;
        if (!said) fail_msg("%s", rows[i].says);
        diag_free(&d);
        str_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_models),
        cmocka_unit_test(a_tensor_group_across_nodes_is_slow),
        cmocka_unit_test(slow_nodes_hold_all_up),
        cmocka_unit_test(some_nodes_are_slow),
        cmocka_unit_test(slow_nodes_are_paired),
        cmocka_unit_test(jitter_is_the_slowest_of_n),
        cmocka_unit_test(fewer_ranks_do_more_micro_batches),
        cmocka_unit_test(the_resolved_scenario_runs_alike),
        cmocka_unit_test(check_names_what_overflows),
        cmocka_unit_test(check_names_a_batch_that_does_not_divide),
        cmocka_unit_test(contradictions_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
