/* test_metrics.c - the metrics against sorting and against sums made by hand.
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

#include "run/metrics.h"

#define S(x) ((int64_t)(x)*1000000000)

static struct metric_value get(const struct metrics *m, const char *name)
{
    int i = metric_find(name);
    assert_true(i >= 0);
    return metrics_value(m, (size_t)i);
}

static void is(const struct metrics *m, const char *name, double value, bool bound)
{
    struct metric_value v = get(m, name);
    if (fabs(v.value - value) > 1e-12 * fabs(value) || v.bound != bound)
        fail_msg("%s is %.17g%s, must be %.17g%s", name, v.value, v.bound ? " bound" : "", value,
                 bound ? " bound" : "");
}

static struct job_row job(int64_t submit_s, int64_t wait_s, int64_t run_s)
{
    return (struct job_row){.state = JOB_SUCCEEDED,
                            .gpu_shares = 1000,
                            .submit_ns = S(submit_s),
                            .admitted_ns = S(submit_s),
                            .allocated_ns = S(submit_s + wait_s),
                            .started_ns = S(submit_s + wait_s),
                            .finished_ns = S(submit_s + wait_s + run_s),
                            .ideal_ns = S(run_s)};
}

/* numpy.percentile([1, 2, 3, 4], [50, 95, 99]) = 2.5, 3.85, 3.97 */
static void as_numpy_does(void **state)
{
    (void)state;
    struct metrics *m = metrics_create(0, -1);
    for (int w = 4; w >= 1; w--) {
        struct job_row r = job(0, w, 100);
        metrics_job(m, &r);
    }
    metrics_end(m, S(1000));
    is(m, "mean_wait", 2.5, false);
    is(m, "p50_wait", 2.5, false);
    is(m, "p95_wait", 3.85, false);
    is(m, "p99_wait", 3.97, false);
    is(m, "max_wait", 4, false);
    is(m, "max_jct", 104, false);
    is(m, "max_slowdown", 1.04, false);
    is(m, "mean_admission", 0, false);
    is(m, "makespan", 104, false);
    is(m, "finished", 4, false);
    metrics_destroy(m);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_quantile(const double *x, int n, int percent)
{
    double at = (n - 1) * percent / 100.0;
    int low = (int)floor(at + 1e-9);
    return low + 1 < n ? x[low] + (x[low + 1] - x[low]) * (at - low) : x[low];
}

static void quantiles_equal_those_of_a_sort(void **state)
{
    (void)state;
    uint64_t s = 12345;
    for (int n = 1; n <= 300; n++) {
        double x[300];
        struct metrics *m = metrics_create(0, -1);
        for (int i = 0; i < n; i++) {
            s = s * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
            int64_t wait = (int64_t)(s >> 33) % (n % 3 ? 1000000 : 4);
            struct job_row r = job(i, wait, 5);
            metrics_job(m, &r);
            x[i] = (double)wait;
        }
        metrics_end(m, S(10000000));
        qsort(x, (size_t)n, sizeof *x, by_value);
        assert_true(fabs(get(m, "p50_wait").value - sorted_quantile(x, n, 50)) < 1e-6);
        assert_true(fabs(get(m, "p95_wait").value - sorted_quantile(x, n, 95)) < 1e-6);
        assert_true(fabs(get(m, "p99_wait").value - sorted_quantile(x, n, 99)) < 1e-6);
        assert_true(get(m, "max_wait").value == x[n - 1]);
        metrics_destroy(m);
    }
}

/* Waits 1, 2, 3, 4 known and one job that waits since `submit` without an end; the run ends at 10 s. */
static void unfinished_jobs_are_lower_bounds(void **state)
{
    (void)state;
    static const struct {
        int64_t submit_s;
        double mean, p50, max;
        bool p50_bound;
    } rows[] = {
        {0, 4,   3, 10, false}, /* 1 2 3 4 10+: the median stands below the bound */
        {7, 2.6, 3, 4,  false}, /* 1 2 3 3+ 4: a tie stands behind */
        {8, 2.4, 2, 4,  true }, /* 1 2 2+ 3 4: the median is the bound, or more */
        {9, 2.2, 2, 4,  true }, /* 1 1+ 2 3 4: a bound below the median may lie above it */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct metrics *m = metrics_create(0, -1);
        for (int w = 1; w <= 4; w++) {
            struct job_row r = job(0, w, 1);
            metrics_job(m, &r);
        }
        struct job_row open = {.state = JOB_PENDING,
                               .submit_ns = S(rows[i].submit_s),
                               .admitted_ns = -1,
                               .allocated_ns = -1,
                               .started_ns = -1,
                               .finished_ns = -1,
                               .ideal_ns = S(1)};
        metrics_job(m, &open);
        metrics_end(m, S(10));
        is(m, "mean_wait", rows[i].mean, true);
        is(m, "p50_wait", rows[i].p50, rows[i].p50_bound);
        is(m, "max_wait", rows[i].max, true);
        is(m, "unfinished", 1, false);
        is(m, "makespan", 10, true);
        assert_true(get(m, "mean_jct").bound);
        assert_true(get(m, "mean_admission").bound);
        metrics_destroy(m);
    }
}

static void only_jobs_of_the_window_count(void **state)
{
    (void)state;
    struct metrics *m = metrics_create(S(10), S(20));
    static const int64_t submits[] = {9, 10, 15, 19, 20};
    for (int i = 0; i < 5; i++) {
        struct job_row r = job(submits[i], submits[i], 1);
        metrics_job(m, &r);
    }
    metrics_end(m, S(100));
    is(m, "jobs", 3, false);
    is(m, "max_wait", 19, false);
    is(m, "mean_wait", 44.0 / 3, false);
    metrics_destroy(m);
}

static void jobs_without_times(void **state)
{
    (void)state;
    struct metrics *m = metrics_create(0, -1);
    struct job_row rejected = {.state = JOB_REJECTED,
                               .submit_ns = 0,
                               .admitted_ns = -1,
                               .allocated_ns = -1,
                               .started_ns = -1,
                               .finished_ns = 0,
                               .ideal_ns = -1};
    struct job_row cancelled = rejected;
    cancelled.state = JOB_CANCELLED;
    cancelled.finished_ns = S(5);
    metrics_job(m, &rejected);
    metrics_end(m, S(10));
    assert_true(isnan(get(m, "mean_wait").value));
    is(m, "rejected", 1, false);
    assert_true(isnan(get(m, "utilisation").value));
    metrics_destroy(m);

    m = metrics_create(0, -1);
    metrics_job(m, &cancelled);
    metrics_end(m, S(10));
    is(m, "mean_wait", 5, true); /* not 10: it stopped waiting when it was cancelled */
    is(m, "mean_jct", 5, false);
    assert_true(isnan(get(m, "mean_slowdown").value));
    metrics_destroy(m);
}

/* 100 existing: 40 work, 10 redone, 20 held, 25 idle, 5 down; 15 of the work were of a job that failed. */
static void shares_of_the_ledger(void **state)
{
    (void)state;
    const share_ns gpu_hour = (share_ns)3600 * 1000000000000u;
    struct metrics *m = metrics_create(0, -1);
    struct job_row failed = job(0, 1, 1);
    failed.state = JOB_FAILED;
    failed.work = 15 * gpu_hour;
    metrics_job(m, &failed);
    metrics_cell(m, ACT_COMPUTE, false, 30 * gpu_hour);
    metrics_cell(m, ACT_CHECKPOINT, false, 10 * gpu_hour);
    metrics_cell(m, ACT_COMPUTE, true, 10 * gpu_hour);
    metrics_cell(m, ACT_RENDEZVOUS, false, 20 * gpu_hour);
    metrics_cell(m, ACT_FREE, false, 15 * gpu_hour);
    metrics_cell(m, ACT_FRAGMENTED, false, 10 * gpu_hour);
    metrics_cell(m, ACT_REPAIR, false, 5 * gpu_hour);
    metrics_cell(m, ACT_ABSENT, false, 1000 * gpu_hour);
    metrics_end(m, S(10));
    is(m, "utilisation", 0.5, false);
    is(m, "goodput", 0.25, false);
    is(m, "waste", 0.45, false);
    is(m, "gpu_hours_work", 40, false);
    is(m, "gpu_hours_redone", 10, false);
    is(m, "gpu_hours_held", 20, false);
    is(m, "gpu_hours_idle", 25, false);
    is(m, "gpu_hours_down", 5, false);
    metrics_destroy(m);
}

static void names_are_unique_and_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < metric_count(); i++) {
        assert_int_equal(metric_find(metric_at(i)->name), i);
        assert_true(strlen(metric_at(i)->help) > 3);
    }
    assert_int_equal(metric_find("p95_wai"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_numpy_does),
        cmocka_unit_test(quantiles_equal_those_of_a_sort),
        cmocka_unit_test(unfinished_jobs_are_lower_bounds),
        cmocka_unit_test(only_jobs_of_the_window_count),
        cmocka_unit_test(jobs_without_times),
        cmocka_unit_test(shares_of_the_ledger),
        cmocka_unit_test(names_are_unique_and_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
