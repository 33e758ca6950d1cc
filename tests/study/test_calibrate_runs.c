/* test_calibrate_runs.c - runs of a simulator whose constants are known are calibrated: the constants come back, those that
 * cannot be told apart are named, and jobs that were held out are predicted.
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
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "input/scenario.h"
#include "sim/simulate.h"
#include "study/calibrate_runs.h"

static char top[] = "/tmp/trainyard-truth-XXXXXX";
static struct arena arena;

/* `n` PyTorchJobs of 1 to 4 pods on 8 nodes, one every 300 s, that save 4 or 8 GB every 60 s; the stack's constants as told. */
static const char *scenario_text(int n, const char *stack)
{
    struct str s = {0};
    str_printf(&s, "{\"trainyard\": 1, \"name\": \"truth\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 8, \"gpus\": 4}],\n"
                   " \"storage\": [{\"name\": \"fs\", \"kind\": \"object\", \"write\": \"2GB/s\", \"read\": \"2GB/s\"}]},\n"
                   " \"workload\": {\"jobs\": [\n");
    for (int i = 0; i < n; i++)
        str_printf(&s, "%s  {\"id\": \"j%d\", \"kind\": \"PyTorchJob\", \"replicas\": %d, \"gpus\": 4, \"submit\": %d, \"steps\": 200,\n"
                       "   \"step\": \"1s\", \"checkpoint\": {\"interval\": \"60s\", \"size\": \"%dGB\", \"storage\": \"fs\"}}",
                   i ? ",\n" : "", i, 1 + i % 4, 300 * i, 4 + i % 2 * 4);
    str_printf(&s, "]},\n \"approaches\": {\"operator\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"fifo\", \"stack\": {%s}}}}\n",
               stack);
    const char *copy = arena_strdup(&arena, str_text(&s));
    str_free(&s);
    return copy;
}

/* A run by the true constants, whose scenario has other ones: as if the machine were one. */
static const char *live_run_of(const char *name, const char *text, const char *plain)
{
    struct diag d = {0};
    struct sim_result r;
    const char *dir = path_join(&arena, top, name);
    struct scenario *sc = scenario_parse("truth.json", text, strlen(text), NULL, &d);
    if (!sc) diag_print(&d, stderr);
    assert_non_null(sc);
    assert_true(sim_run(sc, &(struct sim_options){.dir = dir, .record_level = RECORD_FULL, .force = true}, &r));
    sim_result_free(&r);
    scenario_free(sc);
    assert_true(file_write_atomic(path_join(&arena, dir, "scenario.json"), plain, strlen(plain), &d));
    return dir;
}

static const char *live_run(const char *name, int n, const char *truth)
{
    return live_run_of(name, scenario_text(n, truth), scenario_text(n, ""));
}

static struct runs_calibration calibrate(const char *const *dirs, size_t n, const char *const *only, size_t n_only)
{
    struct calibrate_runs_plan p = {.dirs = dirs, .n = n, .jitter_ns = 10000000, .level = 0.95, .only = only, .n_only = n_only};
    struct runs_calibration c;
    struct diag d = {0};
    char *err = NULL;
    bool ok = calibrate_runs(&p, &c, &d, &err);
    if (!ok) diag_print(&d, stderr);
    if (!ok) fail_msg("%s", err ? err : "bad input");
    return c;
}

static const struct fitted_constant *constant(const struct runs_calibration *c, const char *name)
{
    for (size_t i = 0; i < c->constants.n; i++)
        if ((int)c->constants.v[i].constant == stack_constant_find(name)) return &c->constants.v[i];
    return NULL;
}

static void must_be(const struct runs_calibration *c, const char *name, double truth_ns, double within)
{
    const struct fitted_constant *k = constant(c, name);
    if (!k) fail_msg("%s is not fitted", name);
    if (fabs((double)k->value / truth_ns - 1) > within) fail_msg("%s: %g, not %g", name, (double)k->value, truth_ns);
    if (!(k->low <= truth_ns && truth_ns <= k->high)) fail_msg("%s: %g to %g leaves out %g", name, k->low, k->high, truth_ns);
    if (!k->determined) fail_msg("%s should be determined", name);
}

static void test_truth_comes_back(void **state)
{
    const char *truth = "\"kubelet.container-start\": \"2.5s\", \"torchrun.rendezvous\": \"300ms\", \"kubelet.pod-delete\": \"1s\"";
    const char *dir = live_run("a", 16, truth);
    struct runs_calibration c = calibrate(&dir, 1, NULL, 0);
    (void)state;
    must_be(&c, "kubelet.container-start", 2.5e9, 0.03);
    must_be(&c, "torchrun.rendezvous", 0.3e9, 0.06); /* 10 ms of jitter are 3 % of it */
    assert_null(constant(&c, "ray.start"));          /* no Ray here */
    assert_true(c.not_read > 3);
    assert_true(c.cost_after < c.cost_before / 20);
    for (size_t i = 0; i < c.errors.n; i++)
        if (c.errors.v[i].quantity == Q_START) {
            assert_true(fabs(c.errors.v[i].before - 0.8 / 2.8) < 0.03); /* 1 s and 1 s against 2.5 and 0.3 s */
            assert_true(c.errors.v[i].after < 0.03);
        }
    runs_calibration_free(&c);
}

/* Saves of 4 and 8 GB at 2 GB/s: 2 and 4 s, nothing besides. Steps of 1 s. */
static void test_direct(void **state)
{
    const char *dir = live_run("a", 8, "");
    struct runs_calibration c = calibrate(&dir, 1, NULL, 0);
    (void)state;
    assert_int_equal(c.steps.n, 8);
    for (size_t i = 0; i < c.steps.n; i++) {
        assert_true(fabs(c.steps.v[i].step_s - 1) < 1e-6);
        assert_int_equal(c.steps.v[i].steps, 200);
    }
    assert_int_equal(c.saves.n, 8 * 3);
    assert_true(fabs(c.saves.bytes_per_s / 2e9 - 1) < 1e-6);
    assert_true(fabs(c.saves.latency_s) < 1e-6);
    assert_int_equal(c.saves.n_all, 8 * 3);
    assert_true(fabs(c.saves.save_s - 3) < 1e-6); /* the median of as many of 2 s as of 4 */
    assert_int_equal(c.saves.n_loads, 0);         /* no job begins again */
    assert_int_equal(c.failures.n, 0);
    /* 95 %: -ln(0.025) = 3.689 over 8 jobs x 200 s x GPUs (4, 8, 12, 16 by turns: 80 GPUs and 16,000 GPU-s) */
    assert_true(fabs(c.failures.rank_hours * 3600 / (16000 + 768) - 1) < 1e-6); /* 3 saves: 6 s of 4 and 12, 12 s of 8 and 16 GPUs */
    assert_true(fabs(c.failures.high * c.failures.rank_hours - 3.6889) < 1e-3);
    runs_calibration_free(&c);
}

/* Constants that nothing in the run reads stay out: there is no Kueue, and no container crashes. */
static void test_not_read(void **state)
{
    const char *dir = live_run("a", 4, "\"kubelet.container-start\": \"2s\"");
    const char *only[] = {"kubelet.container-start", "kueue.admission", "kubelet.crash-backoff"};
    struct runs_calibration c = calibrate(&dir, 1, only, 3);
    (void)state;
    assert_int_equal(c.constants.n, 1);
    assert_int_equal(c.not_read, 2);
    must_be(&c, "kubelet.container-start", 2e9, 0.03);
    runs_calibration_free(&c);
}

static void test_profile_loads(void **state)
{
    const char *dirs[] = { /* the profile has what their stacks have in common besides */
        live_run_of("a", scenario_text(6, "\"kubelet.container-start\": \"4s\""), scenario_text(6, "\"kubelet.crash-backoff\": \"3s\", \"nccl.timeout\": \"9s\"")),
        live_run_of("b", scenario_text(5, "\"kubelet.container-start\": \"4s\""), scenario_text(5, "\"kubelet.crash-backoff\": \"3s\""))};
    struct runs_calibration c = calibrate(dirs, 2, NULL, 0);
    struct diag d = {0};
    struct str json = {0}, name = {0};
    (void)state;
    assert_int_equal(c.n_jobs, 11);
    runs_calibration_profile(&c, "mine", &json);
    const char *file = path_join(&arena, top, "mine.json");
    assert_true(file_write_atomic(file, str_text(&json), json.n, &d));
    const char *text = scenario_text(2, "");
    str_printf(&name, "/approaches/operator/stack=\"%s\"", file);
    const char *overrides[] = {str_text(&name), NULL};
    struct scenario *sc = scenario_read("t.json", text, strlen(text), NULL, overrides, &d);
    if (!sc) diag_print(&d, stderr);
    assert_non_null(sc);
    int64_t start = sc->approach.stack.pod_start;
    assert_true(fabs((double)start / 4e9 - 1) < 0.03);
    assert_true(sc->approach.stack.crash_backoff == 3000000000);
    assert_true(sc->approach.stack.nccl_timeout == 600000000000);
    scenario_free(sc);
    str_free(&json);
    str_free(&name);
    runs_calibration_free(&c);
}

/* A queue for one job: each "high" evicts a "low" that would never end, and takes 4 s; none of the low ones sees its end. */
static const char *preempting_text(int n, const char *stack)
{
    struct str s = {0};
    str_printf(&s, "{\"trainyard\": 1, \"name\": \"truth\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": %d, \"gpus\": 8}]},\n"
                   " \"queues\": [\n", n);
    for (int i = 0; i < n; i++)
        str_printf(&s, "%s  {\"name\": \"q%d\", \"quota\": 8, \"preemption\": {\"withinClusterQueue\": \"LowerPriority\"}}", i ? ",\n" : "", i);
    str_append(&s, "],\n \"workload\": {\"jobs\": [\n");
    for (int i = 0; i < n; i++)
        str_printf(&s, "%s  {\"id\": \"low%d\", \"kind\": \"Job\", \"queue\": \"q%d\", \"replicas\": 1, \"gpus\": 8, \"submit\": %d, \"duration\": 1000},\n"
                       "  {\"id\": \"high%d\", \"kind\": \"Job\", \"queue\": \"q%d\", \"replicas\": 1, \"gpus\": 8, \"submit\": %d, \"duration\": 4, \"priority\": 9}",
                   i ? ",\n" : "", i, i, 20 * i, i, i, 20 * i + 5);
    str_printf(&s, "]},\n \"approaches\": {\"a\": {\"lifecycle\": \"batch-job\", \"admission\": \"kueue\", \"stack\": {%s}}},\n"
                   " \"run\": {\"horizon\": %d}}\n", stack, 20 * n + 10);
    const char *copy = arena_strdup(&arena, str_text(&s));
    str_free(&s);
    return copy;
}

/* Jobs that the horizon cuts off tell what they have come to: the low ones, their second admission, counted from the eviction. */
static void test_not_ended(void **state)
{
    enum { N = 6 };
    const char *truth = "\"kueue.workload-create\": \"200ms\", \"kueue.release\": \"700ms\"";
    const char *dir = live_run_of("c", preempting_text(N, truth), preempting_text(N, ""));
    const char *only[] = {"kueue.workload-create", "kueue.release"};
    struct measures m;
    char *err = NULL;
    (void)state;
    assert_true(measures_read(dir, &m, &err));
    size_t again = 0;
    for (size_t i = 0; i < m.n; i++) {
        if (m.samples[i].quantity != Q_READMISSION) continue;
        again++;
        assert_true(m.samples[i].ns > INT64_C(5000000000) && m.samples[i].ns < INT64_C(9000000000)); /* the high one's 4 s, its start, end, and a batch, of a second each */
    }
    assert_int_equal(again, N);
    measures_free(&m);
    struct runs_calibration c = calibrate(&dir, 1, only, 2);
    assert_int_equal(c.n_jobs, 2 * N);
    must_be(&c, "kueue.workload-create", 0.2e9, 0.05);
    must_be(&c, "kueue.release", 0.7e9, 0.05);
    runs_calibration_free(&c);
}

/* The machine spends nothing on a call of the API, nor have the runs' stacks anything for it: so it stays. */
static void test_zero_stays(void **state)
{
    const char *truth = "\"training-operator.api-call\": \"0s\", \"kubelet.container-start\": \"2.5s\"", *plain = "\"training-operator.api-call\": \"0s\"";
    const char *dir = live_run_of("z", scenario_text(8, truth), scenario_text(8, plain));
    const char *only[] = {"training-operator.api-call", "kubelet.container-start"};
    struct runs_calibration c = calibrate(&dir, 1, NULL, 0);
    (void)state;
    assert_null(constant(&c, "training-operator.api-call"));
    assert_true(c.left_zero >= 1);
    assert_true(c.cost_after <= c.cost_before);
    assert_true(stack_get(&c.stack, (size_t)stack_constant_find("training-operator.api-call")) == 0);
    must_be(&c, "kubelet.container-start", 2.5e9, 0.03);
    runs_calibration_free(&c);
    c = calibrate(&dir, 1, only, 2);
    const struct fitted_constant *k = constant(&c, only[0]);
    assert_non_null(k);
    assert_true(k->kept && k->base == 0 && k->value == 0);
    assert_true(c.cost_after <= c.cost_before);
    must_be(&c, "kubelet.container-start", 2.5e9, 0.03);
    struct str text = {0};
    runs_calibration_json(&c, &text);
    assert_non_null(strstr(str_text(&text), "\"was\": 0,"));
    str_clear(&text);
    runs_calibration_text(&c, &text);
    assert_non_null(strstr(str_text(&text), "kept: no other value fits better"));
    str_free(&text);
    runs_calibration_free(&c);
}

/* Where the machine does take time for it, one that is named is fitted from 0. */
static void test_zero_is_fitted(void **state)
{
    const char *zero = "\"training-operator.api-call\": \"0s\", \"kubelet.container-start\": \"0s\"",
               *truth = "\"training-operator.api-call\": \"0s\", \"kubelet.container-start\": \"2.5s\"";
    const char *dir = live_run_of("y", scenario_text(8, truth), scenario_text(8, zero));
    const char *only[] = {"training-operator.api-call", "kubelet.container-start"};
    struct runs_calibration c = calibrate(&dir, 1, only, 2);
    (void)state;
    assert_true(constant(&c, only[0])->kept);
    assert_true(constant(&c, only[1])->base == 0);
    must_be(&c, only[1], 2.5e9, 0.03);
    assert_true(c.cost_after < c.cost_before / 20);
    runs_calibration_free(&c);
    dir = live_run_of("y", scenario_text(8, zero), scenario_text(8, zero)); /* the scenario is the machine: nothing is better */
    c = calibrate(&dir, 1, only, 2);
    assert_true(constant(&c, only[0])->kept && constant(&c, only[1])->kept);
    assert_true(c.cost_after <= c.cost_before);
    runs_calibration_free(&c);
}

/* One byte in the middle of a timeline is another one: what was fitted to the blocks before it would not be the run. */
static void test_damaged(void **state)
{
    const char *dir = live_run("d", 8, "");
    const char *file = path_join(&arena, dir, "timeline.bin");
    struct calibrate_runs_plan p = {.dirs = &dir, .n = 1, .jitter_ns = 10000000, .level = 0.95};
    struct runs_calibration c;
    struct diag d = {0};
    char *err = NULL;
    FILE *f = fopen(file, "r+b");
    (void)state;
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long middle = ftell(f) / 2;
    assert_int_equal(fseek(f, middle, SEEK_SET), 0);
    int byte = fgetc(f);
    assert_int_equal(fseek(f, middle, SEEK_SET), 0);
    fputc(byte ^ 1, f);
    fclose(f);
    assert_false(calibrate_runs(&p, &c, &d, &err));
    assert_null(err);
    assert_int_equal(d.errors, 1);
    assert_non_null(strstr(str_text(&c.warnings), file));
    assert_non_null(strstr(str_text(&c.warnings), "checksum"));
    runs_calibration_free(&c);
    diag_free(&d);
}

/* No job: nothing is admitted, nothing lasts. */
static void test_nothing_to_fit(void **state)
{
    const char *text = "{\"trainyard\": 1, \"name\": \"none\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 1, \"gpus\": 4}]},\n"
                       " \"workload\": {\"jobs\": []},\n"
                       " \"approaches\": {\"operator\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"fifo\"}}}\n";
    const char *dir = live_run_of("n", text, text);
    struct calibrate_runs_plan p = {.dirs = &dir, .n = 1, .jitter_ns = 10000000, .level = 0.95};
    struct runs_calibration c;
    struct diag d = {0};
    char *err = NULL;
    (void)state;
    assert_false(calibrate_runs(&p, &c, &d, &err));
    assert_null(err);
    assert_int_equal(d.errors, 1);
    runs_calibration_free(&c);
    diag_free(&d);
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
    arena_free(&arena);
    return ok ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truth_comes_back),
        cmocka_unit_test(test_direct),
        cmocka_unit_test(test_not_read),
        cmocka_unit_test(test_profile_loads),
        cmocka_unit_test(test_not_ended),
        cmocka_unit_test(test_zero_stays),
        cmocka_unit_test(test_zero_is_fitted),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_nothing_to_fit),
    };
    return cmocka_run_group_tests(tests, make_top, remove_top);
}
