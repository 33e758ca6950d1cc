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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_demo), cmocka_unit_test(test_jobs_only)};
    if (!mkdtemp(top)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_top(top);
    return failed;
}
