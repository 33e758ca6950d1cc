/* test_ray_nodes.c - groups on a shared Ray cluster that lose a worker, the Ray of a node, a node; elastic ones, and what they count.
 *
 * When the controller changes its state follows by arithmetic from the constants below. That the states come in this order and for these
 * reasons is as Ray 2.60 was seen to do (tests/live/ray.sh): its controller sees at its poll what has happened, counts from the moment the
 * group has begun; the scaling policy counts nodes as they were at the coordinator's last look.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/str.h"
#include "sim/kube/kube.h"
#include "tests/support/observed_sim.h"

static void on_condition(void *ctx, struct kube *k, const struct job *j, const char *type, const char *status, const char *reason,
                         const char *message)
{
    (void)j, (void)reason, (void)message;
    if (!strcmp(type, "RayTrain")) str_printf(ctx, "%s %.2f; ", status, (double)sim_now(kube_sim(k)) / 1e9);
}

/* Two nodes of two GPUs, a job of four; submitted at 15, its driver takes 10 s, a group 8, Ray on a node 5. */
static const char form[] =
    "{ \"trainyard\": 1, \"name\": \"nodes\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 2, \"gpus\": 2 } ] },"
    "\"workload\": { \"jobs\": [ { \"id\": \"j\", \"submit\": \"15s\", \"duration\": \"%s\", \"replicas\": 4, \"gpus\": 1, \"maxFailures\": 9, %s } ] },"
    "\"faults\": { \"script\": [ %s ] },"
    "\"approaches\": { \"a\": { \"lifecycle\": \"ray-train-v2\", \"ray_cluster\": \"shared\", \"shared_cluster\": { \"min\": 2, \"max\": 2 },"
    "\"admission\": \"none\", \"elastic\": \"ray\", \"stack\": { \"name\": \"ray-2.60\", \"ray.driver-start\": 10, \"ray-train.worker-start\": 8,"
    "\"ray.start\": 5, \"torchrun.rendezvous\": 1, \"ray.placement-group\": 0, \"ray.actors\": 1000000, \"ray.health-detect-dropped\": 64, \"ray-train.start-timeout\": 25,"
    "\"ray-train.resize-check\": 20, \"ray-train.poll\": %d, \"ray-train.node-look\": %d } } }, \"run\": { \"horizon\": \"250s\" } }";

static void play(struct str *told, const char *duration, const char *job, const char *faults, int poll, int look)
{
    struct kube_observer observer = {.condition = on_condition, .ctx = told};
    struct str text = {0};
    str_printf(&text, form, duration, job, faults, poll, look);
    observed_sim(&text, &observer);
}

static void must_be(const char *duration, const char *job, const char *faults, int poll, int look, const char *expected)
{
    struct str told = {0};
    play(&told, duration, job, faults, poll, look);
    assert_string_equal(str_text(&told), expected);
    str_free(&told);
}

/* Steps from 34 on, polls from then each 20 s; the crash of 46 is seen at 54 (that of a rank which is not there is none). Ray on a node ends at
 * 75 and is back at 80; its peers notice 1 s later, the poll at 94: polls go on from that of 54. Steps from 103 on, all 100 s, since
 * without checkpoints nothing was kept: until 203, seen at 214. */
static void losses(void **state)
{
    (void)state;
    must_be("100s", "\"priority\": 0",
            "{ \"at\": 46, \"target\": \"pod/j-worker-1\", \"action\": \"crash\" }, { \"at\": 47, \"target\": \"pod/j-worker-4\", \"action\": \"crash\" },"
            "{ \"at\": 75, \"target\": \"pod/ray-shared-worker-0\", \"action\": \"container-exit\" }",
            20, 20,
            "Scheduling 25.00; Running 33.00; Restarting 54.00; Scheduling 54.00; Running 62.00; Restarting 94.00; Scheduling 94.00; Running 102.00; Finished 214.00; ");
}

/* Steps from 34 to 64, which the poll of 74 would see. The Ray of a node ends before, with workers that nobody has asked yet: what they have done is
 * lost but for checkpoints (Ray 2.60 did so, tests/live/ray.sh). Without any: steps from 83 to 113, seen at 114. With all of it kept: at 94. */
static void lost_after_the_end(void **state)
{
    (void)state;
    static const char exits[] = "{ \"at\": 65, \"target\": \"pod/ray-shared-worker-0\", \"action\": \"container-exit\" }";
    must_be("30s", "\"priority\": 0", exits, 20, 20,
            "Scheduling 25.00; Running 33.00; Restarting 74.00; Scheduling 74.00; Running 82.00; Finished 114.00; ");
    must_be("30s", "\"checkpoint\": { \"interval\": \"10s\", \"save\": 0, \"load\": 0 }", exits, 20, 20,
            "Scheduling 25.00; Running 33.00; Restarting 74.00; Scheduling 74.00; Running 82.00; Finished 94.00; ");
}

static const char lost[] = "{ \"at\": 52, \"target\": \"node/n-1\", \"action\": \"node-lost\" }, { \"at\": 161, \"target\": \"node/n-1\", \"action\": \"node-back\" }";

/* Given up at 116, a poll. The last look was at 105 (they are at 25 + 20 k): four workers are asked for, in vain until 141; then two, there
 * at 149. The node's Ray is there at 166, seen by the look of 185: not at the check of 170 (a poll, 20 s after 149), but of 190. */
static void counts_late(void **state)
{
    (void)state;
    must_be("1h", "\"elastic\": { \"minReplicas\": 2, \"maxReplicas\": 4 }", lost, 2, 20,
            "Scheduling 25.00; Running 33.00; Restarting 116.00; Scheduling 116.00; Rescheduling 141.00; Running 149.00; "
            "Resizing 190.00; Scheduling 190.00; Running 198.00; ");
}

/* When each look is fresh, two are asked for at once, there at 124; checks at 145, 165 and 185, which is the first that finds the node. */
static void counts_at_once(void **state)
{
    (void)state;
    must_be("1h", "\"elastic\": { \"minReplicas\": 2, \"maxReplicas\": 4 }", lost, 2, 0,
            "Scheduling 25.00; Running 33.00; Restarting 116.00; Scheduling 116.00; Running 124.00; Resizing 185.00; Scheduling 185.00; Running 193.00; ");
}

/* Two are too few: looked at again at 145, 165 and 185, which counts the node that is there since 166. */
static void waits_for_a_look(void **state)
{
    (void)state;
    must_be("1h", "\"elastic\": { \"minReplicas\": 3, \"maxReplicas\": 4 }", lost, 2, 20,
            "Scheduling 25.00; Running 33.00; Restarting 116.00; Scheduling 116.00; Rescheduling 141.00; Running 193.00; ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(losses), cmocka_unit_test(lost_after_the_end), cmocka_unit_test(counts_late), cmocka_unit_test(counts_at_once),
                                       cmocka_unit_test(waits_for_a_look)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
