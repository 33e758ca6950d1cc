/* test_preemption_time.c - how long a preemptor waits in Kueue until its victims' quota is free.
 *
 * Kueue gives the quota back when the victim's object shows nothing active (IsActive of its job integrations). The Job controller
 * shows that after it has patched and deleted each pod: two calls a pod of a client that may send 20 a second and 30 at once
 * (SetDefaults_KubeControllerManagerConfiguration). Whether the pods are gone by then does not matter. (backoffLimit: ranks whose
 * peers are deleted first fail until it is their turn.)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/units.h"
#include "tests/support/small_sim.h"

struct play { const char *life, *kind, *stack; int victims, pods; };

static void note_wait(void *ctx, struct sim *s)
{
    int64_t *wait_ns = ctx;
    for (size_t i = 0; i < s->n_live; i++) {
        const struct job *j = s->by_index[i];
        if (j->spec->priority == 9) *wait_ns = j->live->admitted_ns - j->spec->submit_ns;
    }
}

/* Seconds from the submission of a job that needs all of the quota, which `victims` jobs of `pods` pods each have, to its admission. */
static double wait_of(const struct play *p)
{
    struct str text = {0};
    int64_t wait_ns = -1;
    int gpus = p->victims * p->pods;
    str_printf(&text, "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"g\", \"gpus\": 8, \"count\": %d}]}, \"queues\": [{\"name\": \"q\", "
               "\"quota\": %d, \"preemption\": {\"withinClusterQueue\": \"LowerPriority\"}}], \"workload\": {\"jobs\": [", (gpus + 7) / 8, gpus);
    for (int v = 0; v < p->victims; v++)
        str_printf(&text, "{\"id\": \"low%d\", \"kind\": \"%s\", \"queue\": \"q\", \"replicas\": %d, \"gpus\": 1, \"duration\": \"2h\", \"backoffLimit\": 1000},", v, p->kind, p->pods);
    str_printf(&text, "{\"id\": \"high\", \"kind\": \"%s\", \"queue\": \"q\", \"replicas\": %d, \"gpus\": 1, \"duration\": \"2h\", \"priority\": 9, "
               "\"submit\": \"300s\"}]}, \"approaches\": {\"x\": {\"lifecycle\": \"%s\", \"admission\": \"kueue\", \"stack\": {%s}}}, "
               "\"run\": {\"horizon\": \"600s\"}}", p->kind, gpus, p->life, p->stack);
    struct small_sim s = {.text = str_text(&text), .done = note_wait, .ctx = &wait_ns};
    small_sim_run(&s);
    small_sim_free(&s);
    str_free(&text);
    assert_true(wait_ns > 0);
    return (double)wait_ns / NS_PER_S;
}

static double jobs_wait(int victims, int pods) { return wait_of(&(struct play){"batch-job", "Job", "", victims, pods}); }

static void is_within(double a, double b, double off)
{
    if (a < b - off || a > b + off) fail_msg("%.6f s, not %.6f", a, b);
}

/* Beyond the burst two calls a pod, 20 of them a second. The object's events are held back by then (25 at once, one in 5 minutes). */
static void pods_are_deleted_as_fast_as_the_client_may(void **state)
{
    (void)state;
    is_within(jobs_wait(1, 96) - jobs_wait(1, 64), 32 * 2 / 20.0, 0.012);
    is_within(jobs_wait(1, 128) - jobs_wait(1, 64), 64 * 2 / 20.0, 0.012);
}

/* Five workers stop five Jobs at the same time (ConcurrentJobSyncs), within the client's burst. */
static void victims_are_stopped_side_by_side(void **state)
{
    (void)state;
    is_within(jobs_wait(5, 1), jobs_wait(1, 1), 1e-6);
}

static void pods_that_take_long_to_go_do_not_hold_the_quota(void **state)
{
    static const struct { const char *life, *kind; } rows[] = {{"batch-job", "Job"}, {"training-operator-v1", "PyTorchJob"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double quick = wait_of(&(struct play){rows[i].life, rows[i].kind, "\"kubelet.pod-delete\": \"10ms\"", 1, 4});
        double slow = wait_of(&(struct play){rows[i].life, rows[i].kind, "\"kubelet.pod-delete\": \"25s\"", 1, 4});
        is_within(quick, slow, 1e-6);
        assert_true(slow < 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pods_are_deleted_as_fast_as_the_client_may), cmocka_unit_test(victims_are_stopped_side_by_side),
                                       cmocka_unit_test(pods_that_take_long_to_go_do_not_hold_the_quota)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
