/* test_random_faults.c - random jobs on Ray under random faults and scripted actions: whatever happens, the ledger is exact
 * (sim_close checks it), every job's times add up, nothing is held at the end that nobody holds, and a second run of the
 * same scenario has the same fingerprint. What its files say of each other holds (run_check.h).
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
#include "sim/engine/stream.h"
#include "sim/simulate.h"
#include "tests/support/run_check.h"
#include "tests/support/temp_run.h"

enum { JOBS = 40, ACTIONS = 60, SEEDS = 12 };

static const char *const approaches[] = {"none", "fifo", "elastic", "shared", "scaled", "gang"};

static uint64_t pick(struct stream *r, uint64_t n) { return stream_uniform_int(r, n); }

static void write_job(struct str *s, struct stream *r, int i)
{
    static const char *const gpus[] = {"1", "2", "4", "8", "8", "0.5"};
    bool rayjob = pick(r, 3) == 0, elastic = pick(r, 3) == 0;
    str_printf(s, "%s{\"id\": \"j%d\", \"kind\": \"%s\", \"gpus\": %s, \"submit\": %d, \"duration\": %d, \"maxFailures\": %d",
               i ? "," : "", i, rayjob ? "RayJob" : "train", gpus[pick(r, 6)], (int)pick(r, 15000), 60 + (int)pick(r, 6000),
               (int)pick(r, 5));
    str_printf(s, ", \"replicas\": %d", elastic ? 4 : 1 + (int)pick(r, 4));
    if (elastic) str_append(s, ", \"elastic\": {\"minReplicas\": 1, \"maxReplicas\": 4}");
    if (pick(r, 3)) str_append(s, ", \"checkpoint\": {\"interval\": \"10m\", \"save\": \"10s\", \"load\": \"20s\"}");
    if (pick(r, 2)) str_append(s, ", \"crash_mtbf\": \"3h\"");
    if (pick(r, 3) == 0) str_append(s, ", \"hang_mtbf\": \"10h\"");
    if (pick(r, 8) == 0) str_append(s, ", \"activeDeadlineSeconds\": 1500");
    if (rayjob)
        str_printf(s, ", \"backoffLimit\": %d, \"gcsFaultTolerance\": %s, \"shutdownAfterJobFinishes\": true", (int)pick(r, 3),
                   pick(r, 2) ? "true" : "false");
    str_append_char(s, '}');
}

static void write_action(struct str *s, struct stream *r, int i)
{
    static const char *const on_pods[] = {"container-exit", "pod-deleted", "pod-evicted", "pod-failed", "pod-succeeded",
                                          "force-delete"};
    static const char *const on_jobs[] = {"head-crash", "hang", "crash", "suspend", "delete-job", "touch"};
    static const char *const pods[] = {"head-0", "worker-0", "worker-1", "submitter-0"};
    int at = 100 + (int)pick(r, 20000), job = (int)pick(r, JOBS), node = (int)pick(r, 6);
    const char *what;
    str_printf(s, "%s{\"at\": %d, \"target\": ", i ? "," : "", at);
    switch (pick(r, 3)) {
    case 0:
        str_printf(s, "\"node/a-%d\", \"action\": \"node-lost\"}, {\"at\": %d, \"target\": \"node/a-%d\", \"action\": \"node-back\"}",
                   node, at + 30 + (int)pick(r, 2000), node);
        break;
    case 1:
        what = on_pods[pick(r, 6)];
        str_printf(s, "\"pod/j%d-%s\", \"action\": \"%s\"%s}", job, pods[pick(r, 4)], what,
                   strcmp(what, "container-exit") ? "" : ", \"code\": 1");
        break;
    default:
        what = on_jobs[pick(r, 6)];
        str_printf(s, "\"job/j%d\", \"action\": \"%s\"}", job, what);
        if (strcmp(what, "suspend") == 0)
            str_printf(s, ", {\"at\": %d, \"target\": \"job/j%d\", \"action\": \"resume\"}", at + 400, job);
    }
}

static struct scenario *make(uint64_t seed, const char *approach)
{
    struct stream r = stream_make(seed, 0, STREAM_TEST, 77);
    struct str s = {0};
    struct diag d = {0};
    str_append(&s, "{\"trainyard\": 1, \"name\": \"random\", \"cluster\": {\"nodes\": [{\"group\": \"a\", \"count\": 6, \"gpus\": 8}]},"
                   "\"run\": {\"horizon\": \"1d\", \"seed\": 3}, \"workload\": {\"jobs\": [");
    for (int i = 0; i < JOBS; i++) write_job(&s, &r, i);
    str_append(&s, "]}, \"faults\": {\"script\": [");
    for (int i = 0; i < ACTIONS; i++) write_action(&s, &r, i);
    str_append(&s, "]}, \"approaches\": {"
                   "\"none\": {\"lifecycle\": \"ray-train-v2\", \"admission\": \"none\"},"
                   "\"fifo\": {\"lifecycle\": \"ray-train-v2\", \"admission\": \"fifo\"},"
                   "\"elastic\": {\"lifecycle\": \"ray-train-v2\", \"admission\": \"fifo-skip\", \"elastic\": \"ray\"},"
                   "\"gang\": {\"lifecycle\": \"ray-train-v2\", \"admission\": \"fifo\", \"gang\": \"coscheduling\"},"
                   "\"shared\": {\"lifecycle\": \"ray-train-v2\", \"admission\": \"none\", \"ray_cluster\": \"shared\","
                   " \"shared_cluster\": {\"min\": 6, \"max\": 6}},"
                   "\"scaled\": {\"lifecycle\": \"ray-train-v2\", \"admission\": \"fifo\", \"ray_cluster\": \"shared\", \"elastic\": \"ray\","
                   " \"shared_cluster\": {\"min\": 1, \"max\": 6}}}}");
    struct scenario *sc = scenario_parse("random", str_text(&s), s.n, approach, &d);
    if (!sc) diag_print(&d, stderr);
    diag_free(&d);
    str_free(&s);
    return sc;
}

static void run_once(const struct scenario *s, struct sim_result *r)
{
    const struct sim_options options = {0};
    if (!sim_run(s, &options, r)) fail_msg("%s", r->error ? r->error : "the run cannot be closed");
    assert_int_equal(r->jobs, JOBS);
    assert_true(r->succeeded + r->failed + r->unfinished <= JOBS); /* the rest was deleted */
}

static void check_files(const struct scenario *s, uint64_t seed, const char *approach)
{
    char why[RUN_WHY];
    struct run *r = temp_run(s, RECORD_FULL);
    assert_non_null(r);
    if (!run_check(r->dir, s, why)) fail_msg("seed %d, %s: %s", (int)seed, approach, why);
    temp_run_close(r);
}

static void sums_are_exact_and_runs_repeat(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (size_t a = 0; a < sizeof approaches / sizeof *approaches; a++) {
            struct sim_result first, second;
            struct scenario *s = make(seed, approaches[a]);
            assert_non_null(s);
            run_once(s, &first);
            run_once(s, &second);
            assert_string_equal(first.fingerprint, second.fingerprint);
            sim_result_free(&first);
            sim_result_free(&second);
            check_files(s, seed, approaches[a]);
            scenario_free(s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_exact_and_runs_repeat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
