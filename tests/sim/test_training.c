/* test_training.c - steps, checkpoints, crashes and roll-backs against arithmetic by hand, under the operator life cycle
 * with every control-plane constant at zero.
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
    "{\"trainyard\": 1, \"name\": \"t\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 2, \"gpus\": 8}]},"
    "\"workload\": {\"jobs\": [{\"id\": \"a\", \"kind\": \"train\", \"replicas\": 1, \"gpus\": 8, %s}]},"
    "\"faults\": {%s},"
    "\"approaches\": {\"op\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"none\", \"scheduler\": \"kube\","
    "\"placement\": \"pack\", \"stack\": {\"training-operator.api-call\": \"0s\", \"training-operator.reconcile\": \"0s\","
    "\"kubelet.container-start\": \"0s\", \"scheduler.cycle\": \"0s\", \"torchrun.rendezvous\": \"0s\"}}}}";

struct outcome { int64_t finished_ns; share_ns work, redone, held, drained, stalled; int64_t load_ns; uint32_t restarts; };

static struct outcome simulate_faults(const char *job, const char *faults)
{
    struct diag d = {0};
    struct str text = {0};
    str_printf(&text, scenario_format, job, faults);
    struct scenario *s = scenario_parse("t.json", str_text(&text), text.n, NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    struct run *run = temp_run(s, RECORD_NONE);
    assert_non_null(run);
    assert_int_equal(run->n_jobs, 1);
    const struct job_row *row = &run->jobs[0].row;
    struct outcome o = {row->finished_ns, row->work, row->redone, row->held, 0, 0, row->wait_ns[WAIT_CHECKPOINT_LOAD],
                        row->restarts};
    for (size_t i = 0; i < run->n_ledger; i++)
        if (run->ledger[i].activity == ACT_DRAINED) o.drained += run->ledger[i].sum;
        else if (run->ledger[i].activity == ACT_STALLED) o.stalled += run->ledger[i].sum;
    temp_run_close(run);
    scenario_free(s);
    diag_free(&d);
    str_free(&text);
    return o;
}

static struct outcome simulate(const char *job, const char *script)
{
    char faults[400];
    snprintf(faults, sizeof faults, "\"script\": [%s]", script);
    return simulate_faults(job, faults);
}

static share_ns gpu_seconds(uint64_t s) { return (share_ns)s * 1000 * 1000000000u; }

#define STEPS "\"steps\": 100, \"step\": {\"compute\": \"8s\", \"communication\": \"1s\", \"data\": \"1s\"}"
#define SAVES "\"checkpoint\": {\"interval\": \"100s\", \"save\": \"5s\", \"load\": \"3s\"}"

/* 100 steps of 10 s; a save of 5 s after each 10 steps but the last: 1,000 + 9 x 5. */
static void saves_cost_their_time(void **state)
{
    (void)state;
    struct outcome o = simulate(STEPS "," SAVES, "");
    assert_int_equal(o.finished_ns, seconds(1045));
    assert_true(o.work == gpu_seconds(8 * 1045));
    assert_true(o.redone == 0);
}

/* At 257 s: 20 steps and two saves are 210 s, so 47 s lie behind the last save; they are done again after a load of 3 s. */
static void a_crash_falls_back_to_the_last_save(void **state)
{
    (void)state;
    struct outcome o = simulate(
        STEPS "," SAVES, "{\"at\": \"257s\", \"target\": \"pod/a-master-0\", \"action\": \"container-exit\", \"code\": 1}");
    assert_int_equal(o.finished_ns, seconds(1045 + 47 + 3));
    assert_int_equal(o.load_ns, seconds(3));
    assert_true(o.redone == gpu_seconds(8 * 47));
    assert_true(o.work == gpu_seconds(8 * 1045));
    assert_true(o.held == gpu_seconds(8 * 3));
    assert_int_equal(o.restarts, 1);
}

/* In the middle of a save (200 s of steps and 5 s of save are over at 205 s; the second save lasts to 210 s): what it was
 * saving is lost, 100 s are done again, the 2 s of the broken save are work that was spent. */
static void a_crash_during_a_save_loses_it(void **state)
{
    (void)state;
    struct outcome o = simulate(
        STEPS "," SAVES, "{\"at\": \"207s\", \"target\": \"pod/a-master-0\", \"action\": \"container-exit\", \"code\": 1}");
    assert_int_equal(o.finished_ns, seconds(1045 + 100 + 2 + 3));
    assert_true(o.redone == gpu_seconds(8 * 100));
}

/* A save that is durable only 60 s after its blocking 5 s: a crash 47 s after it falls back to the one before. */
static void a_save_in_the_background_is_not_durable_at_once(void **state)
{
    (void)state;
    struct outcome o = simulate(
        STEPS ", \"checkpoint\": {\"interval\": \"100s\", \"save\": \"5s\", \"load\": \"3s\", \"background\": \"60s\"}",
        "{\"at\": \"257s\", \"target\": \"pod/a-master-0\", \"action\": \"container-exit\", \"code\": 1}");
    assert_int_equal(o.finished_ns, seconds(1045 + 147 + 5 + 3)); /* the save at step 20 is made again, too */
    assert_true(o.redone == gpu_seconds(8 * (147 + 5)));
}

/* Without checkpoints everything is done again, and nothing is loaded. */
static void without_saves_all_is_lost(void **state)
{
    (void)state;
    struct outcome o = simulate(
        STEPS, "{\"at\": \"257s\", \"target\": \"pod/a-master-0\", \"action\": \"container-exit\", \"code\": 1}");
    assert_int_equal(o.finished_ns, seconds(1000 + 257));
    assert_true(o.redone == gpu_seconds(8 * 257));
    assert_true(o.held == 0);
}

/* A drain asks the pod to leave (1 s); its replacement starts on the other node, and the drained one gives nothing until the
 * end of the run: 8 GPUs from 258 s on. */
static void a_drained_node_is_left(void **state)
{
    (void)state;
    struct outcome o = simulate(STEPS "," SAVES, "{\"at\": \"257s\", \"target\": \"node/n-0\", \"action\": \"node-drain\"}");
    assert_true(o.redone == gpu_seconds(8 * 47));
    assert_int_equal(o.restarts, 1);
    assert_true(o.finished_ns >= seconds(1045 + 47 + 3 + 1));
    assert_true(o.drained == (share_ns)8000 * (share_ns)(o.finished_ns - seconds(258)));
}

/* Flaps of 7 s: the ranks wait, nothing is lost or done again, and the job ends later by what it waited. Both nodes have a
 * flap each 200 s on average, and the job is on one of them. Overlaps with saves cost nothing. */
static void flaps_stall(void **state)
{
    (void)state;
#define FLAP "\"components\": [{\"name\": \"l\", \"scope\": \"link\", \"mtbf\": \"200s\", \"repair\": "
    struct outcome o = simulate_faults(STEPS "," SAVES, FLAP "7}]");
    assert_true(o.stalled > gpu_seconds(8 * 7));
    assert_true(o.stalled < gpu_seconds(8 * 7 * 20));
    assert_true((share_ns)(o.finished_ns - seconds(1045)) * 8000 == o.stalled);
    assert_true(o.held == o.stalled);
    assert_true(o.work == gpu_seconds(8 * 1045));
    assert_true(o.redone == 0);
    assert_int_equal(o.restarts, 0);
}

/* A job that crashes as a whole each 400 s of its training on average does so whatever its ranks. */
static void jobs_crash_as_a_whole(void **state)
{
    (void)state;
    struct outcome one = simulate_faults(STEPS "," SAVES, "\"jobs\": {\"job_crash_mtbf\": 400}");
    struct outcome own = simulate_faults(STEPS "," SAVES ", \"job_crash_mtbf\": 400", "\"jobs\": {\"job_crash_mtbf\": 9999999}");
    struct outcome none = simulate_faults(STEPS "," SAVES ", \"job_crash_mtbf\": 0", "\"jobs\": {\"job_crash_mtbf\": 400}");
    assert_true(one.restarts > 0);
    assert_int_equal(own.restarts, one.restarts);
    assert_int_equal(own.finished_ns, one.finished_ns);
    assert_int_equal(none.restarts, 0);
    assert_int_equal(none.finished_ns, seconds(1045));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saves_cost_their_time),
        cmocka_unit_test(a_crash_falls_back_to_the_last_save),
        cmocka_unit_test(a_crash_during_a_save_loses_it),
        cmocka_unit_test(a_save_in_the_background_is_not_durable_at_once),
        cmocka_unit_test(without_saves_all_is_lost),
        cmocka_unit_test(a_drained_node_is_left),
        cmocka_unit_test(flaps_stall),
        cmocka_unit_test(jobs_crash_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
