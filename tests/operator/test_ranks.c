/* test_ranks.c - when ranks meet, fail, notice and meet again: times by hand from torchrun's and NCCL's constants
 * (orchestration facts, section 6), with every control-plane constant at zero.
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
#include <string.h>

#include "base/str.h"
#include "tests/support/small_sim.h"

struct seen { double succeeded, failed; double first_exit, second_exit; int exits, ended_well; };

static double seconds(struct kube *k) { return (double)sim_now(kube_sim(k)) / 1e9; }

static void on_condition(void *ctx, struct kube *k, const struct job *j, const char *type, const char *status,
                         const char *reason, const char *message)
{
    struct seen *s = ctx;
    (void)j;
    (void)reason;
    (void)message;
    if (strcmp(status, "True") != 0) return;
    if (!strcmp(type, "Succeeded")) s->succeeded = seconds(k);
    if (!strcmp(type, "Failed")) s->failed = seconds(k);
}

static void on_pod(void *ctx, struct kube *k, const struct pod *p, enum pod_change what)
{
    struct seen *s = ctx;
    s->ended_well += what == POD_PHASE && p->phase == POD_SUCCEEDED;
    if (what != POD_EXITED || p->exit_code == 0) return;
    if (s->exits == 0) s->first_exit = seconds(k);
    if (s->exits == 1) s->second_exit = seconds(k);
    s->exits++;
}

static struct seen simulate(const char *job, const char *script, const char *stack)
{
    struct seen seen = {.succeeded = -1, .failed = -1, .first_exit = -1, .second_exit = -1};
    struct str text = {0};
    str_printf(&text,
               "{ \"trainyard\": 1, \"name\": \"ranks\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 5, \"gpus\": 8 } ] },"
               "\"workload\": { \"jobs\": [ { \"id\": \"j\", \"kind\": \"PyTorchJob\", \"gpus\": 8, \"duration\": \"1000s\","
               "\"checkpoint\": { \"interval\": \"100s\", \"save\": 0, \"load\": 0 }, %s } ] }, \"faults\": { \"script\": [ %s ] },"
               "\"run\": { \"horizon\": \"20000s\" }, \"approaches\": { \"a\": { \"lifecycle\": \"training-operator-v1\", \"elastic\": \"torchrun\","
               "\"stack\": { \"training-operator.api-call\": 0, \"training-operator.reconcile\": 0, \"kubelet.container-start\": 0,"
               "\"scheduler.cycle\": 0, \"torchrun.rendezvous\": 0, \"kubelet.pod-delete\": 0 %s } } } }",
               job, script, stack);
    struct small_sim s = {.text = str_text(&text), .pod = on_pod, .condition = on_condition, .ctx = &seen};
    small_sim_run(&s);
    small_sim_free(&s);
    str_free(&text);
    return seen;
}

static void near(double t, double expected)
{
    if (fabs(t - expected) > 1e-3) fail_msg("%.6f, expected %.6f", t, expected);
}

#define STATIC "\"roles\": { \"Worker\": { \"replicas\": 3 } }"
#define ELASTIC(n, min, max, restarts)                                                                                 \
    "\"roles\": { \"Worker\": { \"replicas\": " #n " } }, \"elastic\": { \"minReplicas\": " #min ", \"maxReplicas\": " #max ", \"maxRestarts\": " #restarts " }"
#define AT(t, target, action) "{ \"at\": \"" #t "s\", \"target\": \"" target "\", \"action\": \"" action "\" }"

static void undisturbed(void **state)
{
    (void)state;
    near(simulate(STATIC, "", "").succeeded, 1000);
}

/* A process dies at 550: its peers' collectives fail 1 s later (TCP reset), all restart at once, resume from 500. */
static void crash(void **state)
{
    struct seen s = simulate(STATIC, AT(550, "pod/j-worker-1", "container-exit"), "");
    (void)state;
    near(s.first_exit, 550);
    near(s.second_exit, 551);
    near(s.succeeded, 551 + 500);
}

/* A hang closes no connection: NCCL's time-out ends it. */
static void hang(void **state)
{
    (void)state;
    near(simulate(STATIC, AT(550, "job/j", "hang"), "").succeeded, 550 + 600 + 500);
    near(simulate(STATIC, AT(550, "job/j", "hang"), ", \"nccl.timeout\": \"1800s\"").succeeded, 550 + 1800 + 500);
}

/* Static ranks wait for the last one as long as the join time-out, then exit. */
static void join_timeout(void **state)
{
    struct seen s = simulate("\"roles\": { \"Worker\": { \"replicas\": 6 } }", "", "");
    (void)state;
    near(s.first_exit, 600);
    near(s.succeeded, -1);
}

/* Elastic: complete at once at max; between min and max 30 s after the last join, at 3/4 of the speed. */
static void elastic_start(void **state)
{
    (void)state;
    near(simulate(ELASTIC(4, 2, 4, 0), "", "").succeeded, 1000);
    near(simulate(ELASTIC(4, 2, 5, 0), "", "").succeeded, 30 + 1000);
    near(simulate(ELASTIC(4, 2, 5, 0), "", ", \"torchrun.last-call\": \"10s\"").succeeded, 10 + 1000);
}

/* Elastic agents outlive their processes: no container exits; all meet again after 1 s, at max at once. */
static void elastic_crash(void **state)
{
    struct seen s = simulate(ELASTIC(4, 2, 4, 3), AT(550, "job/j", "crash"), "");
    (void)state;
    assert_int_equal(s.exits, 0);
    near(s.succeeded, 551 + 500);
    s = simulate(ELASTIC(4, 2, 4, 0), AT(550, "job/j", "crash"), ""); /* no restart left: its container exits, then all */
    assert_int_equal(s.exits, 4);
    near(s.succeeded, 551 + 500);
}

/* So does a crash in a given pod; an exit of its container ends its agent too, and its peers' meet with the next. Containers that have
 * ended, with no restart left, have other agents with restarts of their own. */
static void elastic_crash_in_pod(void **state)
{
    struct seen s = simulate(ELASTIC(4, 2, 4, 3), AT(550, "pod/j-worker-2", "crash"), "");
    (void)state;
    assert_int_equal(s.exits, 0);
    near(s.succeeded, 551 + 500);
    s = simulate(ELASTIC(4, 2, 4, 3), AT(550, "pod/j-worker-2", "container-exit"), "");
    assert_int_equal(s.exits, 1);
    s = simulate(ELASTIC(4, 2, 4, 1), AT(250, "job/j", "crash") "," AT(450, "job/j", "crash") "," AT(650, "job/j", "crash"), "");
    assert_int_equal(s.exits, 4); /* at 450 alone */
}

/* A node vanishes at 550: noticed by NCCL at 1150; three of four meet after the last call and do the remaining 500 s at
 * 3/4 of the speed (steps of 1.333333334 s). */
static void elastic_node_loss(void **state)
{
    (void)state;
    struct seen s = simulate(ELASTIC(4, 2, 4, 3), AT(550, "node/n-0", "node-lost"), "");
    near(s.succeeded, 1150 + 30 + 500 * 4.0 / 3);
}

/* A fourth worker joins three at 550: the agents see it after 0.1 s, all restart from 500, now complete at once, 4/3 as fast
 * (steps of 0.75 s). The code does not count it as a restart. */
static void elastic_join(void **state)
{
    (void)state;
    struct seen s = simulate(ELASTIC(3, 2, 4, 0), "{ \"at\": \"580s\", \"target\": \"job/j\", \"action\": \"scale\", \"replicas\": 4 }", "");
    assert_int_equal(s.exits, 0);
    near(s.succeeded, 580 + 0.1 + 500 * 0.75); /* it began at 30 and had done 550 */
}

#define SLOW ", \"torchrun.worker-start\": \"20s\""
#define SCALE(t, n) "{ \"at\": \"" #t "s\", \"target\": \"job/j\", \"action\": \"scale\", \"replicas\": " #n " }"

/* What agents take to start processes anew comes after each meeting in which one takes part that has outlived its process, also where
 * it waited for another, and not after a meeting of new containers. A static group has no agents. */
static void worker_start(void **state)
{
    (void)state;
    near(simulate(ELASTIC(4, 2, 4, 0), "", SLOW).succeeded, 1000);
    near(simulate(ELASTIC(4, 2, 4, 3), AT(550, "job/j", "crash"), SLOW).succeeded, 551 + 20 + 500);
    near(simulate(ELASTIC(3, 2, 4, 0), SCALE(580, 4), SLOW).succeeded, 580 + 0.1 + 20 + 500 * 0.75);
    near(simulate(ELASTIC(3, 2, 4, 3), AT(580, "job/j", "crash") "," SCALE(590, 4), SLOW).succeeded, 590 + 20 + 500 * 0.75);
    near(simulate(ELASTIC(4, 2, 4, 3), AT(550, "node/n-0", "node-lost"), SLOW).succeeded, 1150 + 30 + 20 + 500 * 4.0 / 3);
    near(simulate(ELASTIC(4, 2, 4, 0), AT(550, "job/j", "crash"), SLOW).succeeded, 551 + 500); /* no restart left: containers do */
    near(simulate(STATIC, AT(550, "job/j", "crash"), SLOW).succeeded, 551 + 500);
}

/* A process or a container that ends while processes start is another failure, noticed after 1 s; who comes meanwhile waits until the
 * group trains. All gone, the next meeting is of new containers. */
static void worker_start_disturbed(void **state)
{
    (void)state;
    near(simulate(ELASTIC(4, 2, 4, 3), AT(550, "job/j", "crash") "," AT(560, "job/j", "crash"), SLOW).succeeded, 561 + 20 + 500);
    near(simulate(ELASTIC(4, 2, 4, 3), AT(550, "job/j", "crash") "," AT(560, "pod/j-worker-3", "container-exit"), SLOW).succeeded,
         561 + 20 + 500);
    near(simulate(ELASTIC(3, 2, 4, 3), AT(580, "job/j", "crash") "," SCALE(615, 4), SLOW).succeeded, 581 + 30 + 20 + 0.1 + 20 + 500 * 0.75);
    near(simulate(ELASTIC(4, 2, 4, 1), AT(550, "job/j", "crash") "," AT(560, "job/j", "crash"), SLOW).succeeded, 561 + 500);
    /* so it is where they start because one has come, which itself is none */
    near(simulate(ELASTIC(3, 2, 4, 0), SCALE(580, 4) "," AT(590, "job/j", "crash"), SLOW).succeeded, 591 + 500 * 0.75);
    near(simulate(ELASTIC(3, 2, 4, 1), SCALE(580, 4) "," AT(590, "job/j", "crash"), SLOW).succeeded, 591 + 20 + 500 * 0.75);
}

/* torchrun takes no more than max, 4 of 5 that the work is for, and all end with it. When a node vanishes at 550, after 400 durable steps of
 * 1.25 s, the fifth takes its place once NCCL has noticed: no last call, no other speed. */
static void elastic_too_many(void **state)
{
    struct seen s = simulate(ELASTIC(5, 2, 4, 3), "", "");
    (void)state;
    near(s.succeeded, 1250);
    assert_int_equal(s.ended_well, 5);
    near(simulate(ELASTIC(5, 2, 4, 3), AT(550, "node/n-1", "node-lost"), "").succeeded, 1150 + 600 * 1.25);
    near(simulate(ELASTIC(5, 2, 4, 3), AT(550, "job/j", "crash"), "").succeeded, 551 + 600 * 1.25); /* the fifth waits on */
    /* the group that the agents were to look at is no more at 630 */
    near(simulate(ELASTIC(3, 2, 4, 3), SCALE(580, 5) "," AT(590, "job/j", "crash"), ", \"torchrun.monitor\": \"100s\"").succeeded,
         591 + 500 * 0.75);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undisturbed),   cmocka_unit_test(crash),         cmocka_unit_test(hang),
        cmocka_unit_test(join_timeout),  cmocka_unit_test(elastic_start), cmocka_unit_test(elastic_crash),
        cmocka_unit_test(elastic_crash_in_pod), cmocka_unit_test(elastic_node_loss), cmocka_unit_test(elastic_join),
        cmocka_unit_test(worker_start),  cmocka_unit_test(worker_start_disturbed),
        cmocka_unit_test(elastic_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
