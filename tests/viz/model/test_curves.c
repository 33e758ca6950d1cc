/* test_curves.c - curves integrate to what the run's tables say, and their columns to the curve.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "tests/viz/model/runs.h"
#include "viz/model/curves.h"

static char top[] = "/tmp/trainyard-curves-XXXXXX";

static share_ns told_by_ledger(const struct scene *s, enum activity_class class, int activity)
{
    share_ns sum = 0;
    for (size_t i = 0; i < s->run->n_ledger; i++) {
        const struct run_ledger_row *r = &s->run->ledger[i];
        if (activity_table[r->activity].class == class && (activity < 0 || (int)r->activity == activity)) sum += r->sum;
    }
    return sum;
}

static void assert_integrals(const struct scene *s, const struct curves *c)
{
    share_ns work = curve_integral(c, CURVE_SHOW + SHOW_WORK, 0, s->end_ns) + curve_integral(c, CURVE_SHOW + SHOW_REDONE, 0, s->end_ns);
    assert_true(work == told_by_ledger(s, CLASS_WORK, -1));
    for (unsigned a = 0; a < N_ACTIVITIES; a++)
        if (activity_table[a].class == CLASS_HELD || activity_table[a].class == CLASS_DOWN)
            assert_true(curve_integral(c, CURVE_SHOW + a, 0, s->end_ns) == told_by_ledger(s, activity_table[a].class, (int)a));
    assert_true(curve_integral(c, CURVE_IDLE_SHARES, 0, s->end_ns) == told_by_ledger(s, CLASS_IDLE, -1));
}

/* GPUs that are waited for: sum over jobs of their waits, by jobs.csv. */
static void assert_waits(const struct scene *s, const struct curves *c)
{
    share_ns jobs = 0, shares = 0;
    for (size_t i = 0; i < s->run->n_jobs; i++)
        for (int w = 0; w < N_WAIT_REASONS; w++) {
            share_ns ns = (uint64_t)s->run->jobs[i].waits[w];
            jobs += ns;
            shares += ns * (uint64_t)s->run->jobs[i].row.gpu_shares;
        }
    assert_true(curve_integral(c, CURVE_QUEUED_JOBS, 0, s->end_ns) == jobs);
    assert_true(curve_integral(c, CURVE_QUEUED_SHARES, 0, s->end_ns) == shares);
}

static void assert_columns(const struct scene *s, const struct curves *c, unsigned id)
{
    enum { COLUMNS = 37 };
    struct curve_column col[COLUMNS];
    int64_t from = s->end_ns / 5, to = s->end_ns - s->end_ns / 7;
    double sum = 0, most = 0, whole = (double)curve_integral(c, id, from, to);
    curve_columns(c, id, from, to, COLUMNS, col);
    for (int i = 0; i < COLUMNS; i++) {
        int64_t at = from + (int64_t)(((double)to - (double)from) / COLUMNS * (i + 0.5));
        assert_true(col[i].least <= curve_at(c, id, at) && curve_at(c, id, at) <= col[i].most);
        assert_true(col[i].least <= col[i].mean + 1e-6 * fabs(col[i].mean) && col[i].mean <= col[i].most + 1e-6 * fabs(col[i].mean));
        sum += col[i].mean * ((double)to - (double)from) / COLUMNS;
        most = fmax(most, col[i].most);
    }
    assert_true(fabs(sum - whole) <= 1e-6 * whole + 1e3 * curve_most(c, id));
    assert_true(most <= curve_most(c, id));
    if (most > 0) {
        int64_t at = curve_above(c, id, most - 0.5, from);
        assert_true(at >= from && at < to && curve_at(c, id, at) > most - 0.5);
        assert_true(at == from || curve_at(c, id, at - 1) <= most - 0.5);
    }
    assert_int_equal(curve_above(c, id, curve_most(c, id), 0), -1);
}

static void check_dir(const char *dir)
{
    struct scene *s = scene_open(dir, NULL);
    assert_non_null(s);
    struct curves *c = curves_create(s);
    assert_integrals(s, c);
    assert_waits(s, c);
    for (unsigned id = 0; id < N_CURVES; id++)
        if (curve_known(c, id) && id != CURVE_GOODPUT) assert_columns(s, c, id);
    double work = s->total_shares ? curve_at(c, CURVE_SHOW + SHOW_WORK, s->end_ns / 2) / (double)s->total_shares : 0;
    assert_true(fabs(curve_at(c, CURVE_GOODPUT, s->end_ns / 2) - work) < 1e-12);
    curves_update(c);
    assert_integrals(s, c);
    curves_destroy(c);
    scene_close(s);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        if (run_any(seed, ANY_ALL, "one", below(top, "any"), RECORD_FULL)) check_dir(below(top, "any"));
        remove_top(below(top, "any"));
    }
}

static void test_demo(void **state)
{
    (void)state;
    assert_true(run_file("scenarios/demo.json", "operator", below(top, "demo"), RECORD_FULL));
    check_dir(below(top, "demo"));
    struct scene *s = scene_open(below(top, "demo"), NULL);
    struct curves *c = curves_create(s);
    assert_true(curve_known(c, CURVE_GOODPUT));
    curves_destroy(c);
    scene_close(s);
    remove_top(below(top, "demo"));
}

/* Without GPU tracks nothing is said of GPUs; queues are told all the same. */
static void test_jobs_only(void **state)
{
    (void)state;
    assert_true(run_file("scenarios/quotas.json", NULL, below(top, "jobs"), RECORD_JOBS));
    struct scene *s = scene_open(below(top, "jobs"), NULL);
    struct curves *c = curves_create(s);
    assert_false(curve_known(c, CURVE_GOODPUT));
    assert_false(curve_known(c, CURVE_SHOW + SHOW_WORK));
    assert_true(curve_known(c, CURVE_QUEUED_JOBS));
    assert_waits(s, c);
    curves_destroy(c);
    scene_close(s);
}

/* ---- what checkpoints write: a store of 10 GB/s, links that do not limit it ---- */

static const char saver[] =
    "{\"trainyard\": 1, \"name\": \"t\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 2, \"gpus\": 8}],"
    "\"network\": {\"inter\": \"400GB/s\", \"contention\": %s}, \"storage\": [{\"name\": \"s\", \"write\": \"10GB/s\", \"read\": \"20GB/s\"}]},"
    "\"workload\": {\"jobs\": [%s]}, \"faults\": {%s},"
    "\"approaches\": {\"op\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"none\", \"scheduler\": \"kube\","
    "\"placement\": \"pack\", \"stack\": {\"training-operator.api-call\": \"0s\", \"training-operator.reconcile\": \"0s\","
    "\"kubelet.container-start\": \"0s\", \"scheduler.cycle\": \"0s\", \"torchrun.rendezvous\": \"0s\"}}}}";
#define SAVES(id, steps, interval, how) "{\"id\": \"" id "\", \"gpus\": 8, \"steps\": " steps ", \"step\": \"10s\", \"checkpoint\": " \
    "{\"interval\": " interval ", \"storage\": \"s\", " how "}}"
#define BLOCKS      "\"size\": \"500GB\""
#define BACKGROUND  "\"size\": \"400GB\", \"async\": true, \"copy\": \"10GB/s\"" /* 5 s to copy 50 GB a GPU */
#define CRASH(at)   "\"script\": [{\"at\": \"" at "\", \"target\": \"pod/a-master-0\", \"action\": \"container-exit\", \"code\": 1}]"

static const struct {
    const char *jobs, *faults;
    double bytes;
    struct { double s, pace; } at[6]; /* the curve from that second on */
} saves[] = {
    {SAVES("a", "20", "100", BLOCKS), "", 500e9, {{99, 0}, {101, 10e9}, {149, 10e9}, {151, 0}}},
    {SAVES("a", "20", "100", BLOCKS) ", " SAVES("b", "20", "100", BLOCKS), "", 1000e9, {{99, 0}, {101, 10e9}, {199, 10e9}, {201, 0}}},
    {SAVES("a", "20", "100", BACKGROUND), "", 400e9, {{104, 0}, {106, 10e9}, {144, 10e9}, {146, 0}}},
    /* lost before it is durable, and made again: what was written of the first is not told */
    {SAVES("a", "20", "100", BACKGROUND), CRASH("130s"), 400e9, {{106, 0}, {234, 0}, {236, 10e9}, {274, 10e9}, {276, 0}}},
    /* saved at 20 s and, since the first is through at 65 s only, from 65 s on; the job ends at 90 s, before the second is */
    {SAVES("a", "6", "20", BACKGROUND), "", 400e9, {{24, 0}, {26, 10e9}, {64, 10e9}, {66, 0}}},
};

static void check_saves(size_t k, const char *contention)
{
    struct str text = {0};
    struct diag d = {0};
    str_printf(&text, saver, contention, saves[k].jobs, saves[k].faults);
    struct scenario *sc = scenario_parse("t.json", str_text(&text), text.n, "op", &d);
    if (!sc) diag_print(&d, stderr);
    assert_non_null(sc);
    assert_true(run_scenario(sc, below(top, "saves"), RECORD_JOBS));
    struct scene *s = scene_open(below(top, "saves"), NULL);
    struct curves *c = curves_create(s);
    double told = 0;
    for (uint32_t i = 0; i < s->n_events; i++) told += s->events[i].type == REC_CHECKPOINT ? (double)s->events[i].b : 0;
    if (told != saves[k].bytes) fail_msg("row %zu, contention %s: the records tell %.0f bytes", k, contention, told);
    assert_true(curve_known(c, CURVE_STORE_BYTES));
    double shown = (double)curve_integral(c, CURVE_STORE_BYTES, 0, s->end_ns) / 1e9;
    assert_true(fabs(shown - told) <= 0.5 * (double)s->end_ns / 1e9); /* the pace is whole bytes/s */
    for (int i = 0; i < 6 && saves[k].at[i].s > 0; i++) {
        double pace = curve_at(c, CURVE_STORE_BYTES, (int64_t)(saves[k].at[i].s * 1e9));
        if (pace != saves[k].at[i].pace) fail_msg("row %zu, contention %s: %.0f bytes/s at %g s", k, contention, pace, saves[k].at[i].s);
    }
    curves_destroy(c);
    scene_close(s);
    remove_top(below(top, "saves"));
    scenario_free(sc);
    diag_free(&d);
    str_free(&text);
}

static void test_saves(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof saves / sizeof *saves; k++) {
        check_saves(k, "true");
        if (k != 1) check_saves(k, "false"); /* without, two do not share the store */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_demo), cmocka_unit_test(test_jobs_only),
                                       cmocka_unit_test(test_saves)};
    if (!mkdtemp(top)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_top(top);
    return failed;
}
