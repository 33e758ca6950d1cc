/* bench_operator.c - Philly's jobs through Kueue, training operator, scheduler and kubelets with faults: pods per CPU-second.
 *
 *     bench_operator philly.csv.gz STACK GANG [ROUNDS]      one line: PODS_PER_S PODS
 *
 * 52 nodes of 8 GPUs in one queue; nodes fail as the profile `philly` says, processes crash every 1,000 h of training. All
 * pods that were created count; what is timed: timed_run.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "run/run.h"
#include "sim/kube/kube.h"
#include "sim/simulate.h"
#include "tests/support/temp_run.h"
#include "tests/support/timed_run.h"

static struct scenario *load(const char *trace, const char *stack, const char *gang)
{
    struct diag d = {0};
    struct str text = {0};
    str_printf(&text,
               "{ \"trainyard\": 1, \"name\": \"philly\","
               " \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 52, \"gpus\": 8 } ] },"
               " \"queues\": [ { \"name\": \"all\", \"quota\": { \"n\": 416 } } ],"
               " \"workload\": { \"trace\": { \"file\": \"%s\", \"format\": \"philly\", \"gpus_per_node\": 8,"
               " \"defaults\": { \"kind\": \"train\", \"queue\": \"all\", \"crash_mtbf\": \"1000h\","
               " \"checkpoint\": { \"interval\": \"2h\", \"save\": \"5s\", \"load\": \"20s\" } } } },"
               " \"faults\": { \"profile\": \"philly\" },"
               " \"approaches\": { \"x\": { \"lifecycle\": \"training-operator-v1\", \"admission\": \"kueue\", \"gang\": \"%s\","
               " \"stack\": \"%s\" } } }",
               trace, gang, stack);
    struct scenario *s = scenario_parse("philly.json", text.s, text.n, NULL, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    if (!s) exit(3);
    return s;
}

static void count(void *ctx, struct kube *k, const struct pod *p, enum pod_change what)
{
    (void)k;
    (void)p;
    if (what == POD_CREATED) ++*(long *)ctx;
}

static long pods_of(const struct scenario *s)
{
    long pods = 0;
    char *error = NULL;
    struct sim_result r = {.jobs = 0};
    struct kube_observer observer = {.pod = count, .ctx = &pods};
    struct sim *sim = sim_create(s, &(struct sim_options){.dir = NULL}, &error);
    if (!sim) exit(1);
    kube_observe(sim->kube, &observer);
    while (sim_step(sim)) {}
    if (!sim_close(sim, &r)) exit(1);
    sim_result_free(&r);
    return pods;
}

int main(int argc, char **argv)
{
    char dir[TIMED_DIR];
    if (argc < 4) return 2;
    struct scenario *s = load(argv[1], argv[2], argv[3]);
    long pods = pods_of(s);
    printf("%.0f %ld\n", (double)pods / timed_least(s, argc > 4 ? atoi(argv[4]) : 5, dir), pods);
    temp_run_remove(dir);
    scenario_free(s);
    return 0;
}
