/* test_random.c - random PyTorchJobs on failing hardware: the books balance, nothing is held twice, equal runs are equal.
 *
 * Each scenario is drawn from its number: jobs of all policies, sizes, elastic bounds and gangs, process faults, nodes that
 * fail and come back, scripted incidents on pods and jobs. Asserts in pools, ledger and kube hold the invariants; sim_close
 * says whether every share-nanosecond is booked.
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
#include "tests/support/small_sim.h"

enum { SCENARIOS = 300 };

static uint32_t pick(struct stream *s, uint32_t n) { return (uint32_t)stream_uniform_int(s, n); }

static const char *one_of(struct stream *s, const char *const *v, uint32_t n) { return v[pick(s, n)]; }

static void write_job(struct str *out, struct stream *s, uint32_t i)
{
    static const char *const policies[] = {"Always", "OnFailure", "Never", "ExitCode"};
    static const char *const cleans[] = {"None", "Running", "All"};
    uint32_t workers = 1 + pick(s, 6), gpus = pick(s, 4) ? 1 + pick(s, 8) : 0;
    bool elastic = pick(s, 4) == 0, master = !elastic || pick(s, 2);
    str_printf(out, "%s{ \"id\": \"j%u\", \"kind\": \"PyTorchJob\", \"submit\": \"%us\", \"gpus\": %u, \"duration\": \"%us\","
                    "\"restartPolicy\": \"%s\", \"cleanPodPolicy\": \"%s\", \"priority\": %u,"
                    "\"checkpoint\": { \"interval\": \"%us\", \"save\": \"%us\", \"load\": \"%us\" },"
                    "\"crash_mtbf\": \"%uh\", \"hang_mtbf\": \"%uh\", \"roles\": { %s \"Worker\": { \"replicas\": %u } }",
               i ? ", " : "", i, pick(s, 2000), gpus, 1 + pick(s, 5000), one_of(s, policies, 4), one_of(s, cleans, 3), pick(s, 3),
               10 + pick(s, 500), pick(s, 5), pick(s, 20), pick(s, 6), pick(s, 12),
               master ? "\"Master\": { \"replicas\": 1 }," : "", workers);
    if (elastic) str_printf(out, ", \"elastic\": { \"minReplicas\": 1, \"maxReplicas\": %u, \"maxRestarts\": %u }", workers + pick(s, 3), pick(s, 5));
    if (pick(s, 3) == 0) str_printf(out, ", \"backoffLimit\": %u", pick(s, 8));
    if (pick(s, 5) == 0) str_printf(out, ", \"activeDeadlineSeconds\": %u", 1 + pick(s, 3000));
    if (pick(s, 5) == 0) str_printf(out, ", \"ttlSecondsAfterFinished\": %u", pick(s, 300));
    if (pick(s, 8) == 0) str_append(out, ", \"suspend\": true");
    str_append(out, " }");
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void write_script(struct str *out, struct stream *s, uint32_t jobs, uint32_t nodes)
{
    static const char *const on_pod[] = {"container-exit", "pod-failed", "pod-evicted", "pod-deleted", "pod-succeeded",
                                         "force-delete", "crash"};
    static const char *const on_job[] = {"suspend", "resume", "hang", "scale", "touch", "crash"};
    uint32_t at[40], n = pick(s, 40);
    for (uint32_t i = 0; i < n; i++) at[i] = pick(s, 8000);
    qsort(at, n, sizeof *at, by_number);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t job = pick(s, jobs), what = pick(s, 3);
        str_printf(out, "%s{ \"at\": \"%us\", ", i ? ", " : "", at[i]);
        if (what == 0) {
            const char *action = one_of(s, on_pod, 7);
            str_printf(out, "\"target\": \"pod/j%u-%s-%u\", \"action\": \"%s\"%s }", job, pick(s, 3) ? "worker" : "master",
                       pick(s, 3), action, strcmp(action, "container-exit") ? "" : pick(s, 2) ? ", \"code\": 137" : ", \"code\": 0");
        } else if (what == 1) {
            const char *action = one_of(s, on_job, 6);
            bool scale = strcmp(action, "scale") == 0;
            str_printf(out, "\"target\": \"job/j%u\", \"action\": \"%s\"", job, action);
            if (scale) str_printf(out, ", \"replicas\": %u", 1 + pick(s, 6));
            str_append(out, " }");
        } else {
            str_printf(out, "\"target\": \"node/n-%u\", \"action\": \"%s\" }", pick(s, nodes), pick(s, 2) ? "node-lost" : "node-back");
        }
    }
}

static void write_scenario(struct str *out, uint64_t number)
{
    struct stream s = stream_make(number, 0, STREAM_TEST, 1);
    uint32_t nodes = 1 + pick(&s, 8), jobs = 1 + pick(&s, 8);
    str_printf(out, "{ \"trainyard\": 1, \"name\": \"random\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": %u, \"gpus\": 8 },"
                    "{ \"group\": \"m\", \"count\": 1, \"gpus\": 4 } ],"
                    "\"images\": { \"size\": \"%uGB\", \"cached\": 0.5 } }, \"workload\": { \"jobs\": [", nodes, pick(&s, 20));
    for (uint32_t i = 0; i < jobs; i++) write_job(out, &s, i);
    str_append(out, "] }, \"faults\": { \"components\": [ { \"name\": \"node\", \"scope\": \"node\", \"mtbf\": \"3h\", \"repair\": \"10m\","
                    "\"repair_sigma\": 1 } ], \"script\": [");
    write_script(out, &s, jobs, nodes);
    str_printf(out, "] }, \"run\": { \"horizon\": \"%us\", \"seed\": %u }, \"approaches\": { \"a\": { \"lifecycle\": \"training-operator-v1\","
                    "\"gang\": \"%s\", \"stack\": { \"training-operator.workers\": %u } } } }",
               6000 + pick(&s, 6000), pick(&s, 1000), pick(&s, 2) ? "none" : "coscheduling", 1 + pick(&s, 3));
}

static void run(uint64_t number, bool watched, char fingerprint[33], uint64_t *events)
{
    struct str text = {0};
    write_scenario(&text, number);
    struct small_sim s = {.text = str_text(&text), .keep_objects = watched};
    small_sim_run(&s);
    memcpy(fingerprint, s.result.fingerprint, 33);
    *events += s.result.events;
    small_sim_free(&s);
    str_free(&text);
}

static void books_balance(void **state)
{
    uint64_t events = 0;
    (void)state;
    for (uint64_t i = 0; i < SCENARIOS; i++) {
        char first[33], again[33];
        run(i, false, first, &events);
        if (i % 10) continue;
        run(i, false, again, &events);
        assert_string_equal(first, again);
    }
    printf("%d random scenarios, %llu events\n", SCENARIOS, (unsigned long long)events);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        char fingerprint[33];
        uint64_t events = 0;
        if (argc > 2) {
            struct str text = {0};
            write_scenario(&text, strtoull(argv[1], NULL, 10));
            puts(str_text(&text));
            str_free(&text);
            return 0;
        }
        run(strtoull(argv[1], NULL, 10), false, fingerprint, &events);
        return 0;
    }
    return cmocka_run_group_tests(((const struct CMUnitTest[]){cmocka_unit_test(books_balance)}), NULL, NULL);
}
