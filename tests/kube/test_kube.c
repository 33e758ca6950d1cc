/* test_kube.c - kubelet, scheduler, gangs and nodes, each against its rule (kube.h names the sources).
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
#include "tests/support/small_sim.h"

/* ---- what a test watches ---- */

struct change { char name[32]; enum pod_change what; double t; };
struct changes {
    struct change v[4096];
    int n;
    struct sim *sim;
    const struct exits { const char *pod; const double *after; int n; } *exits; /* seconds after each start */
    int starts;
    double held_at[8]; /* GPUs in use, by pool */
};

static double seconds(struct kube *k) { return (double)sim_now(kube_sim(k)) / 1e9; }

static void on_exit_due(void *ctx, void *arg)
{
    struct pod *p = arg;
    kube_pod_exit(((struct sim *)ctx)->kube, p, 1);
}

static void on_pod(void *ctx, struct kube *k, const struct pod *p, enum pod_change what)
{
    struct changes *l = ctx;
    struct change *c = &l->v[l->n++];
    assert_true(l->n < 4096);
    kube_pod_name(k, p, c->name, sizeof c->name);
    c->what = what;
    c->t = seconds(k);
    bool starts = what == POD_STARTED || what == POD_RESTARTED;
    if (l->exits && starts && !strcmp(c->name, l->exits->pod) && l->starts < l->exits->n)
        event_after(kube_sim(k)->events, (int64_t)(l->exits->after[l->starts++] * 1e9), EVENT_FAULT, on_exit_due, (void *)p);
}

/* Time of the n-th such change (from 0), -1: never. */
static double when(const struct changes *l, const char *name, enum pod_change what, int n)
{
    for (int i = 0; i < l->n; i++)
        if (l->v[i].what == what && strcmp(l->v[i].name, name) == 0 && n-- == 0) return l->v[i].t;
    return -1;
}

static int count(const struct changes *l, enum pod_change what, double until)
{
    int n = 0;
    for (int i = 0; i < l->n; i++) n += l->v[i].what == what && l->v[i].t <= until;
    return n;
}

static void endless(void *ctx, struct sim *sim, struct scenario *s)
{
    ((struct changes *)ctx)->sim = sim;
    for (size_t i = 0; i < s->n_jobs; i++) s->jobs[i].work_ns = TIME_NEVER;
}

static void look(void *ctx, void *arg)
{
    const struct sim *s = ctx;
    *(double *)arg = (double)(pool_total_shares(s->pool) - pool_free_shares(s->pool)) / 1e3;
}

static void run(struct changes *l, const char *text, void (*ready)(void *, struct sim *, struct scenario *))
{
    struct small_sim s = {.text = text, .pod = on_pod, .ready = ready, .ctx = l, .keep_objects = true};
    small_sim_run(&s);
    small_sim_free(&s);
}

static void near(double t, double expected, double within)
{
    if (fabs(t - expected) > within) fail_msg("%.4f, expected %.4f", t, expected);
}

#define HEAD(nodes, gpus) "{ \"trainyard\": 1, \"name\": \"k\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": " #nodes ", \"gpus\": " #gpus " } ]"
#define APPROACH(more)                                                                                                 \
    "\"approaches\": { \"a\": { \"lifecycle\": \"training-operator-v1\", \"stack\": { \"kubelet.container-start\": 0," more " } } } }"

/* ---- kubelet ---- */

/* Kubelet: the first restart at once, then 10, 20, 40 s ... 300 s; after 10 min of running it starts afresh. */
static void crash_backoff(void **state)
{
    static const double after[] = {5, 5, 5, 5, 5, 5, 5, 5, 601, 5};
    static const double delays[] = {0, 10, 20, 40, 80, 160, 300, 300, 0, 10};
    const struct exits exits = {"j-worker-0", after, 10};
    struct changes l = {.exits = &exits};
    (void)state;
    run(&l, HEAD(1, 8) " }, \"workload\": { \"jobs\": [ { \"id\": \"j\", \"kind\": \"PyTorchJob\", \"duration\": \"1s\" } ] },"
        "\"run\": { \"horizon\": \"1h\" }," APPROACH("\"kubelet.pod-delete\": 0"), endless);
    for (int i = 0; i < 10; i++)
        near(when(&l, "j-worker-0", POD_RESTARTED, i) - when(&l, "j-worker-0", POD_EXITED, i), delays[i], 1e-9);
}

/* 10 GB at 1 GB/s: pods of one job on a node share a pull, those of two jobs wait for each other (serial pulls). */
static void image_pulls(void **state)
{
    struct changes l = {.n = 0};
    (void)state;
    run(&l, HEAD(1, 8) ", \"images\": { \"size\": \"10GB\", \"cached\": 0, \"pull\": \"1GB/s\" } }, \"workload\": { \"jobs\": ["
        "{ \"id\": \"a\", \"kind\": \"PyTorchJob\", \"duration\": \"1s\", \"roles\": { \"Worker\": { \"replicas\": 2 } } },"
        "{ \"id\": \"b\", \"kind\": \"PyTorchJob\", \"duration\": \"1s\", \"roles\": { \"Worker\": { \"replicas\": 1 } } } ] },"
        "\"run\": { \"horizon\": \"60s\" }," APPROACH("\"kubelet.pod-delete\": 0"), endless);
    near(when(&l, "a-worker-0", POD_STARTED, 0) - when(&l, "a-worker-0", POD_BOUND, 0), 10, 1e-6);
    near(when(&l, "a-worker-1", POD_STARTED, 0), when(&l, "a-worker-0", POD_STARTED, 0), 1e-6);
    near(when(&l, "b-worker-0", POD_STARTED, 0) - when(&l, "a-worker-0", POD_STARTED, 0), 10, 1e-6);
}

/* The master is deleted before its worker is made and comes back `delete` later. Returns the worker's log. */
static void run_without_master(struct changes *l, const char *delete)
{
    struct str text = {0};
    str_printf(&text, HEAD(2, 8) " }, \"workload\": { \"jobs\": ["
               "{ \"id\": \"j\", \"kind\": \"PyTorchJob\", \"gpus\": 8, \"submit\": \"1s\", \"duration\": \"10s\", \"roles\": {"
               "\"Master\": { \"replicas\": 1 }, \"Worker\": { \"replicas\": 1 } } } ] },"
               "\"faults\": { \"script\": [ { \"at\": \"1.02s\", \"target\": \"pod/j-master-0\", \"action\": \"pod-deleted\" } ] },"
               APPROACH("\"torchrun.rendezvous\": 0, \"kubelet.pod-delete\": \"%s\""), delete);
    run(l, str_text(&text), NULL);
    str_free(&text);
}

/* A worker looks for its master's name when its init container starts and each 2 s after. */
static void init_polls(void **state)
{
    struct changes l = {.n = 0};
    (void)state;
    run_without_master(&l, "5s");
    double init = when(&l, "j-worker-0", POD_INIT, 0), ready = when(&l, "j-master-0", POD_READY, 1);
    assert_true(init > 0 && ready > init);
    near(when(&l, "j-worker-0", POD_STARTED, 0), init + 2 * ceil((ready - init) / 2), 1e-9);
}

/* After 100 looks (200 s) it exits with 1 and is restarted. */
static void init_gives_up(void **state)
{
    struct changes l = {.n = 0};
    (void)state;
    run_without_master(&l, "300s");
    double init = when(&l, "j-worker-0", POD_INIT, 0), again = when(&l, "j-worker-0", POD_INIT, 1);
    near(again, init + 200, 1e-9);
    near(when(&l, "j-worker-0", POD_STARTED, 0), again + 2 * ceil((when(&l, "j-master-0", POD_READY, 1) - again) / 2), 1e-9);
}

/* ---- scheduler ---- */

/* Three 8-GPU jobs on one node: the higher priority goes first although it came last. */
static void priority_first(void **state)
{
    struct changes l = {.n = 0};
    (void)state;
    run(&l, HEAD(1, 8) " }, \"workload\": { \"jobs\": ["
        "{ \"id\": \"a\", \"kind\": \"PyTorchJob\", \"gpus\": 8, \"duration\": \"50s\" },"
        "{ \"id\": \"b\", \"kind\": \"PyTorchJob\", \"gpus\": 8, \"submit\": \"1s\", \"duration\": \"50s\" },"
        "{ \"id\": \"c\", \"kind\": \"PyTorchJob\", \"gpus\": 8, \"submit\": \"2s\", \"duration\": \"50s\", \"priority\": 5 } ] }, "
        APPROACH("\"torchrun.rendezvous\": 0"), NULL);
    double a = when(&l, "a-worker-0", POD_PHASE, 0), c = when(&l, "c-worker-0", POD_BOUND, 0), b = when(&l, "b-worker-0", POD_BOUND, 0);
    near(c, a, 0.01);
    near(b, when(&l, "c-worker-0", POD_PHASE, 0), 0.01);
}

/* A pod that was refused is not tried again within its back-off: 1 s after the first refusal, doubling (K8S scheduler). */
static void retry_backoff(void **state)
{
    struct changes l = {.n = 0};
    (void)state;
    run(&l, HEAD(1, 8) " }, \"workload\": { \"jobs\": ["
        "{ \"id\": \"a\", \"kind\": \"PyTorchJob\", \"gpus\": 8, \"duration\": \"10s\" },"
        "{ \"id\": \"b\", \"kind\": \"PyTorchJob\", \"gpus\": 8, \"submit\": \"9.9s\", \"duration\": \"10s\" } ] },"
        APPROACH("\"torchrun.rendezvous\": 0"), NULL);
    double refused = when(&l, "b-worker-0", POD_UNSCHEDULABLE, 0);
    assert_true(refused > 0 && refused < when(&l, "a-worker-0", POD_PHASE, 0));
    near(when(&l, "b-worker-0", POD_BOUND, 0), refused + 1, 0.01);
}

/* ---- gangs: scheduler-plugins' coscheduling_test.go:766-801 ---- */

static void at_5_30_70(void *ctx, struct sim *sim, struct scenario *s)
{
    struct changes *l = ctx;
    endless(ctx, sim, s);
    event_at(sim->events, 5 * EVENT_SECOND, EVENT_OBSERVE, look, &l->held_at[0]);
    event_at(sim->events, 30 * EVENT_SECOND, EVENT_OBSERVE, look, &l->held_at[1]);
    event_at(sim->events, 70 * EVENT_SECOND, EVENT_OBSERVE, look, &l->held_at[2]);
}

static void reject_threshold(void **state)
{
    static const struct { int nodes, percent; double held; } rows[] = {
        {9, 10, 9},  /* 1 of 10 is missing: the 9 wait, for 60 s */
        {8, 10, 0},  /* 2 of 10: rejected at once */
        {9, 0, 0},   {5, 50, 5}, {4, 50, 0}, {1, 100, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct changes l = {.n = 0};
        struct str text = {0};
        str_printf(&text, "{ \"trainyard\": 1, \"name\": \"k\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": %d, \"gpus\": 1 } ] },"
                          "\"workload\": { \"jobs\": [ { \"id\": \"j\", \"kind\": \"PyTorchJob\", \"duration\": \"1s\", \"roles\": {"
                          "\"Worker\": { \"replicas\": 10 } } } ] }, \"run\": { \"horizon\": \"100s\" }, \"approaches\": { \"a\": {"
                          "\"lifecycle\": \"training-operator-v1\", \"gang\": \"coscheduling\", \"stack\": { \"coscheduling.reject-percent\": %d } } } }",
                   rows[i].nodes, rows[i].percent);
        run(&l, str_text(&text), at_5_30_70);
        assert_int_equal(count(&l, POD_BOUND, 100), 0);
        near(l.held_at[0], rows[i].held, 0);
        near(l.held_at[1], rows[i].held, 0);
        near(l.held_at[2], 0, 0); /* one time-out rejects all */
        str_free(&text);
    }
}

/* ---- nodes ---- */

/* Grace 50 s from the renewal that was last seen at a 5 s look; taints 10 s apart; toleration 300 s; back: gone, replaced. */
static void lost_nodes(void **state)
{
    struct changes l = {.n = 0};
    (void)state;
    run(&l, HEAD(3, 8) " }, \"workload\": { \"jobs\": [ { \"id\": \"j\", \"kind\": \"PyTorchJob\", \"gpus\": 8, \"duration\": \"1s\","
        "\"roles\": { \"Worker\": { \"replicas\": 3 } } } ] }, \"run\": { \"horizon\": \"600s\" }, \"faults\": { \"script\": ["
        "{ \"at\": \"103s\", \"target\": \"node/n-0\", \"action\": \"node-lost\" }, { \"at\": \"103s\", \"target\": \"node/n-1\", \"action\": \"node-lost\" },"
        "{ \"at\": \"103s\", \"target\": \"node/n-2\", \"action\": \"node-lost\" }, { \"at\": \"500s\", \"target\": \"node/n-0\", \"action\": \"node-back\" } ] },"
        APPROACH("\"kubelet.pod-delete\": \"2s\""), endless);
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "j-worker-%d", i);
        near(when(&l, name, POD_NOT_READY, 0), 150, 1e-9);
        near(when(&l, name, POD_TERMINATING, 0), 450 + 10 * i, 1e-9);
    }
    near(when(&l, "j-worker-0", POD_GONE, 0), 502, 1e-9);
    near(when(&l, "j-worker-0", POD_CREATED, 1), 502, 0.1);
    assert_true(when(&l, "j-worker-1", POD_GONE, 0) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crash_backoff), cmocka_unit_test(image_pulls),      cmocka_unit_test(init_polls), cmocka_unit_test(init_gives_up),
        cmocka_unit_test(priority_first), cmocka_unit_test(retry_backoff),   cmocka_unit_test(reject_threshold),
        cmocka_unit_test(lost_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
