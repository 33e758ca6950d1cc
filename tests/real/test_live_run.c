/* test_live_run.c - a live run told step by step: ledger and waits by hand, odd observations refused, files readable.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "real/live_run.h"

static const int64_t S = 1000000000;
static char top[] = "/tmp/trainyard-live-XXXXXX";

/* Two nodes of 4 GPUs; a job of 2 pods with 4 GPUs each, one of 1 pod with 2, both of one queue. */
static const char text[] =
    "{\"trainyard\": 1, \"name\": \"live\",\n"
    " \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 2, \"gpus\": 4}]},\n"
    " \"workload\": {\"jobs\": [\n"
    "   {\"id\": \"a\", \"kind\": \"PyTorchJob\", \"replicas\": 2, \"gpus\": 4, \"duration\": 60, \"submit\": 0},\n"
    "   {\"id\": \"b\", \"kind\": \"PyTorchJob\", \"replicas\": 1, \"gpus\": 2, \"duration\": 60, \"submit\": 5}]},\n"
    " \"approaches\": {\"operator\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"fifo\"}}}\n";

static struct scenario *load(void)
{
    struct diag d = {0};
    struct scenario *s = scenario_parse("live.json", text, sizeof text - 1, NULL, &d);
    if (!s) {
        diag_print(&d, stderr);
        fail();
    }
    diag_free(&d);
    return s;
}

static struct live_run *begin(const struct scenario *sc, const char *dir)
{
    char *err = NULL;
    struct live_run *l = live_create(
        sc, &(struct live_options){.dir = dir, .back_end = "host", .record_level = RECORD_FULL, .force = true}, &err);
    if (!l) fail_msg("%s", err);
    return l;
}

/* GPU-seconds of the cells of an activity. */
static double cell(const struct run *r, enum activity activity, bool redone)
{
    double sum = 0;
    for (size_t i = 0; i < r->n_ledger; i++)
        if (r->ledger[i].activity == activity && r->ledger[i].redone == redone) sum += (double)r->ledger[i].sum / 1e12;
    return sum;
}

static bool near(double x, double expected) { return x > expected - 1e-9 && x < expected + 1e-9; }

static double waited(const struct run *r, size_t job, enum wait_reason reason) { return (double)r->jobs[job].waits[reason] / 1e9; }

static struct run *end(struct live_run *l, enum run_state state, const char *dir)
{
    char *err = NULL, *warnings = NULL;
    if (!live_finish(l, state, &err)) fail_msg("%s", err);
    struct run *r = run_open(dir, &warnings, &err);
    if (!r) fail_msg("%s", err);
    if ((warnings != NULL) != (state != RUN_COMPLETE)) fail_msg("%s", warnings ? warnings : "not told");
    free(warnings);
    return r;
}

/* Job a: 0 submitted, 2 admitted, pods at 3 (8 GPUs), 10 it steps; 10 steps of 3 s (2 compute, 1 communication) until 40;
 * at 45 a rank is gone (5 s of the step that did not end), until 50 stalled, at 50 back-off; back to step 6; from 60 on it
 * steps: 4 steps redone in 12 s, 6 new ones in 18 s: done at 90, seen at 91; its pods go at 92. Job b asks at 5 and waits for capacity
 * until 92, holds 2 GPUs until the end at 100. */
static void tell_story(struct live_run *l)
{
    uint32_t g[2], b;
    struct live_steps steps = {.first = 0, .next = 10, .compute_ns = 20 * S, .communication_ns = 10 * S};
    assert_true(live_submitted(l, 0));
    live_at(l, 2 * S);
    assert_true(live_admitted(l, 0));
    live_at(l, 3 * S);
    for (uint32_t i = 0; i < 2; i++) g[i] = live_take(l, 0, i, 4000, ACT_CONTAINER_START);
    assert_true(g[0] == 0 && g[1] == 1);
    assert_true(live_allocated(l, 0));
    assert_true(live_waits(l, 0, WAIT_START));
    live_at(l, 5 * S);
    assert_true(live_submitted(l, 1));
    assert_true(live_waits(l, 1, WAIT_CAPACITY));
    live_at(l, 10 * S);
    assert_true(live_started(l, 0));
    live_at(l, 40 * S);
    assert_true(live_stepped(l, 0, &steps));
    live_at(l, 45 * S);
    assert_true(live_stopped(l, 0, ACT_STALLED, WAIT_DETECTION, CAUSE_FAILURE));
    live_at(l, 50 * S);
    assert_true(live_rolled_back(l, 0, 10, 6));
    for (uint32_t i = 0; i < 2; i++) assert_true(live_enter(l, 0, g[i], ACT_BACKOFF));
    assert_true(live_waits(l, 0, WAIT_CONTAINER_BACKOFF));
    live_at(l, 60 * S);
    assert_true(live_started(l, 0));
    live_at(l, 90 * S);
    assert_true(live_stepped(l, 0, &(struct live_steps){.first = 6, .next = 16, .compute_ns = 30 * S}));
    assert_true(live_paused(l, 0, ACT_IDLE_POD, WAIT_CONTROL_PLANE));
    live_at(l, 91 * S);
    assert_true(live_ended(l, 0, JOB_SUCCEEDED));
    live_at(l, 92 * S);
    for (uint32_t i = 0; i < 2; i++) assert_true(live_free(l, 0, g[i]));
    assert_true(live_admitted(l, 1));
    b = live_take(l, 1, 1, 2000, ACT_CONTAINER_START);
    assert_true(live_started(l, 1));
    live_at(l, 100 * S);
    assert_true(live_ended(l, 1, JOB_FAILED));
    assert_true(live_free(l, 1, b));
}

static void check_ledger(const struct run *r)
{
    assert_true(near(cell(r, ACT_CONTAINER_START, false), 8 * 7));
    assert_true(near(cell(r, ACT_COMPUTE, false), 8 * (20 + 5 + 18)));
    assert_true(near(cell(r, ACT_COMMUNICATION, false), 8 * 10));
    assert_true(near(cell(r, ACT_COMPUTE, true), 8 * 12));
    assert_true(near(cell(r, ACT_STALLED, false), 8 * 5));
    assert_true(near(cell(r, ACT_BACKOFF, false), 8 * 10));
    assert_true(near(cell(r, ACT_IDLE_POD, false), 8 * 1));
    assert_true(near(cell(r, ACT_AFTER_END, false), 8 * 1));
    assert_true(near(cell(r, ACT_OTHER_LOAD, false), 2 * 8));
    assert_true(near(cell(r, ACT_BLOCKED, false), 8 * 2)); /* until it is admitted */
    assert_true(near(cell(r, ACT_FREE, false), 8 * 1 + 6 * 8));
}

static void test_story(void **state)
{
    struct scenario *sc = load();
    (void)state;
    struct live_run *l = begin(sc, top);
    tell_story(l);
    assert_int_equal(live_refused(l), 0);
    struct run *r = end(l, RUN_COMPLETE, top);
    assert_string_equal(r->back_end, "host");
    assert_string_equal(r->fingerprint, "");
    assert_int_equal(r->state, RUN_COMPLETE);
    assert_int_equal(r->n_jobs, 2);
    check_ledger(r);
    const struct job_row *a = &r->jobs[0].row, *b = &r->jobs[1].row;
    assert_int_equal(a->started_ns, 10 * S);
    assert_int_equal(a->finished_ns, 91 * S);
    assert_int_equal(a->restarts, 1);
    assert_int_equal(a->n_nodes, 1);
    assert_int_equal(a->nodes[0].last, 1);
    assert_int_equal(b->state, JOB_FAILED);
    assert_true(near(waited(r, 0, WAIT_CONTROL_PLANE), 1 + 1));
    assert_true(near(waited(r, 0, WAIT_START), 7));
    assert_true(near(waited(r, 0, WAIT_DETECTION), 5));
    assert_true(near(waited(r, 0, WAIT_CONTAINER_BACKOFF), 10));
    assert_true(near(waited(r, 1, WAIT_CAPACITY), 87));
    run_close(r);
    scenario_free(sc);
}

/* An eviction: the second attempt's time counts as one after a preemption; a lost node is down once its pod is gone. */
static void test_eviction_and_node(void **state)
{
    struct scenario *sc = load();
    (void)state;
    struct live_run *l = begin(sc, top);
    live_submitted(l, 1);
    live_admitted(l, 1);
    uint32_t g = live_take(l, 1, 0, 2000, ACT_IMAGE_PULL);
    live_at(l, 10 * S);
    assert_true(live_evicted(l, 1, STOP_PREEMPTED, 0));
    assert_true(live_node(l, 0, ACT_FAILED));
    live_at(l, 20 * S);
    live_enter(l, 1, g, ACT_TERMINATING);
    live_at(l, 24 * S);
    assert_true(live_free(l, 1, g));
    assert_true(live_requeued(l, 1, WAIT_QUOTA));
    assert_int_equal(live_take(l, 1, 0, 2000, ACT_IMAGE_PULL), LIVE_NONE); /* the node is down */
    live_at(l, 30 * S);
    assert_true(live_node(l, 0, ACT_FREE));
    assert_true(live_admitted(l, 1));
    live_take(l, 1, 0, 2000, ACT_IMAGE_PULL);
    live_at(l, 40 * S);
    assert_int_equal(live_refused(l), 1);
    struct run *r = end(l, RUN_INTERRUPTED, top);
    assert_true(near(cell(r, ACT_IMAGE_PULL, false), 2 * 20 + 2 * 10));
    assert_true(near(cell(r, ACT_TERMINATING, false), 2 * 4));
    assert_true(near(cell(r, ACT_FAILED, false), 2 * 20 + 2 * 6));
    assert_true(near(waited(r, 0, WAIT_PREEMPTED), 14));
    assert_true(near(waited(r, 0, WAIT_QUOTA), 6));
    for (size_t i = 0; i < r->n_ledger; i++)
        if (r->ledger[i].activity == ACT_IMAGE_PULL && r->ledger[i].cause == CAUSE_PREEMPTION)
            assert_true(near((double)r->ledger[i].sum / 1e12, 20));
    assert_int_equal(r->jobs[0].row.state, JOB_ADMITTED);
    run_close(r);
    scenario_free(sc);
}

/* Nothing that is told, in whatever order, breaks the ledger. */
static void tell_anything(struct live_run *l, unsigned *seed)
{
    uint32_t job = (uint32_t)rand_r(seed) % 3, node = (uint32_t)rand_r(seed) % 3, group = (uint32_t)rand_r(seed) % 6;
    enum activity activity = (enum activity)((unsigned)rand_r(seed) % N_ACTIVITIES);
    enum wait_reason reason = (enum wait_reason)((unsigned)rand_r(seed) % N_WAIT_REASONS);
    live_at(l, live_now(l) + rand_r(seed) % 1000 - 100);
    switch (rand_r(seed) % 15) {
    case 0: live_submitted(l, job); break;
    case 1: live_waits(l, job, reason); break;
    case 2: live_admitted(l, job); break;
    case 3: live_take(l, job, node, rand_r(seed) % 2 ? 300 : 1000 * (rand_r(seed) % 5), activity); break;
    case 4: live_enter(l, job, group, activity); break;
    case 5: live_free(l, job, group); break;
    case 6: live_started(l, job); break;
    case 7: live_stepped(l, job, &(struct live_steps){.first = rand_r(seed) % 20, .next = rand_r(seed) % 30, .compute_ns = rand_r(seed) % 999}); break;
    case 8: live_stopped(l, job, activity, reason, (enum cause)((unsigned)rand_r(seed) % N_CAUSES)); break;
    case 9: live_evicted(l, job, STOP_EVICTED, NO_JOB); break;
    case 10: live_requeued(l, job, reason); break;
    case 11: if (rand_r(seed) % 9 == 0) live_ended(l, job, JOB_FAILED); break;
    case 12: live_node(l, node, activity); break;
    case 13: live_paused(l, job, activity, reason); break;
    default: live_rolled_back(l, job, rand_r(seed) % 20, rand_r(seed) % 20); break;
    }
}

static void test_anything(void **state)
{
    struct scenario *sc = load();
    uint64_t told = 0, refused = 0;
    (void)state;
    for (unsigned run = 0; run < 300; run++) {
        unsigned seed = run;
        char *err = NULL;
        struct live_run *l = begin(sc, NULL);
        for (int i = 0; i < 400; i++, told++) tell_anything(l, &seed);
        refused += live_refused(l);
        if (!live_finish(l, RUN_COMPLETE, &err)) fail_msg("run %u: %s", run, err);
    }
    assert_true(refused > told / 10 && refused < told * 9 / 10); /* both kinds were there */
    scenario_free(sc);
}

static int make_top(void **state)
{
    (void)state;
    return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
    struct diag d = {0};
    (void)state;
    bool ok = file_remove_tree(top, &d);
    diag_free(&d);
    return ok ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_story),
        cmocka_unit_test(test_eviction_and_node),
        cmocka_unit_test(test_anything),
    };
    return cmocka_run_group_tests(tests, make_top, remove_top);
}
