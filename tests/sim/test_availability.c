/* test_availability.c - how often a simulated job fails and how much of its time is useful, against models/availability.h and
 * models/checkpoint.h: the sizes of Kokolis et al. (HPCA 2025), RSC-1's 6.50 failures a 1,000 node-days, hourly checkpoints.
 *
 * Nodes are back after the 10 min that a restart takes there; what the control plane takes besides is measured and given to
 * the formula as downtime, after it was held to be short. Failures are counted by the training time between them. Bounds are
 * four standard errors: of a Poisson count n, 1 / sqrt(n); of the loss, the same and 1 / sqrt(3 n) for where in its interval a
 * failure falls.
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

#include "base/str.h"
#include "models/availability.h"
#include "models/checkpoint.h"
#include "tests/support/temp_run.h"

static const double node_rate_per_s = 6.5e-3 / 86400;

struct measured { double failures, train_s, useful_s, elapsed_s; };

static struct measured simulate(unsigned nodes, unsigned days, const char *faults, const char *checkpoint)
{
    struct str text = {0};
    struct diag d = {0};
    str_printf(&text,
               "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"a\", \"count\": %u, \"gpus\": 8}]},"
               "\"workload\": {\"jobs\": [{\"id\": \"j\", \"replicas\": %u, \"gpus\": 8, \"duration\": \"30000d\", \"backoffLimit\": 1000000,"
               "\"checkpoint\": {%s}}]}, \"faults\": {%s}, \"run\": {\"horizon\": \"%ud\", \"seed\": 1},"
               "\"approaches\": {\"op\": {\"lifecycle\": \"training-operator-v1\", \"scheduler\": \"kube\", \"placement\": \"pack\"}}}",
               nodes, nodes, checkpoint, faults, days);
    struct scenario *s = scenario_parse("availability.json", text.s, text.n, NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    struct run *run = temp_run(s, RECORD_NONE);
    assert_non_null(run);
    const struct job_row *row = &run->jobs[0].row;
    double ns = 8e3 * nodes * 1e9; /* share-ns of the job a second */
    struct measured m = {.failures = row->restarts, .train_s = (double)(row->work + row->redone) / ns,
                         .elapsed_s = days * 86400.0 - (double)row->started_ns / 1e9};
    for (size_t i = 0; i < run->n_ledger; i++)
        if (run->ledger[i].activity == ACT_COMPUTE && !run->ledger[i].redone) m.useful_s += (double)run->ledger[i].sum / ns;
    temp_run_close(run);
    scenario_free(s);
    diag_free(&d);
    str_free(&text);
    return m;
}

#define NODES "\"components\": [{\"name\": \"node\", \"scope\": \"node\", \"mtbf\": \"3692.3h\", \"repair\": \"10m\"}]"

static void sizes_of_rsc1(void **state)
{
    (void)state;
    static const struct { unsigned nodes, days; const char *checkpoint; double save_s; } cases[] = {
        {128, 3000, "\"interval\": \"1h\", \"save\": \"5m\"", 300},
        {256, 1500, "\"interval\": \"1h\", \"save\": \"0s\"", 0},
        {512, 800, "\"interval\": \"1h\", \"save\": \"0s\"", 0},
        {512, 800, "\"interval\": \"15m\", \"save\": \"30s\"", 30},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct measured m = simulate(cases[i].nodes, cases[i].days, NODES, cases[i].checkpoint);
        double n = m.failures, rate = cases[i].nodes * node_rate_per_s, interval = i == 3 ? 900 : 3600;
        double down = (m.elapsed_s - m.train_s) / n;
        struct checkpoint_risk risk = {1 / rate, down, 0};
        double useful = m.useful_s / m.elapsed_s, expected = checkpoint_goodput(interval, (struct checkpoint_cost){cases[i].save_s, 0}, &risk);
        double save_share = cases[i].save_s / (interval + cases[i].save_s), error = (1 - expected - save_share) * sqrt(1 / n + 1 / (3 * n));
        print_message("%4u nodes: MTTF %.2f h simulated, %.2f h by the model (%.0f failures, %.0f s down each); useful %.4f, %.4f\n",
                      cases[i].nodes, m.train_s / n / 3600, 1 / rate / 3600, n, down, useful, expected);
        assert_true(n > 1500);
        assert_true(fabs(m.train_s / n * rate - 1) < 4 / sqrt(n));
        assert_true(down >= 600 && down < 660);
        assert_true(fabs(useful - expected) < 4 * error);
    }
}

/* Rates of nodes, of ranks and of the job as a whole add: 64 nodes of 3,692.3 h, 64 ranks of 1,659 h, a job of 30 h. Saves are
 * short, so that processes are at risk all the time. */
static void rates_add(void **state)
{
    (void)state;
    struct measured m = simulate(64, 2000, NODES ", \"jobs\": {\"crash_mtbf\": \"1659h\", \"job_crash_mtbf\": \"30h\"}", "\"interval\": \"1h\", \"save\": \"1s\"");
    struct failure_hazard h = {1 / (30 * 3600.0), node_rate_per_s + 1 / (1659 * 3600.0)};
    print_message("  64 nodes: MTTF %.2f h simulated, %.2f h by the model (%.0f failures)\n", m.train_s / m.failures / 3600,
                  failure_mttf_s(&h, 64) / 3600, m.failures);
    assert_true(m.failures > 1500);
    assert_true(fabs(m.train_s / m.failures / failure_mttf_s(&h, 64) - 1) < 4 / sqrt(m.failures));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_of_rsc1), cmocka_unit_test(rates_add)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
