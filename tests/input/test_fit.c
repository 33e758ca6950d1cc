/* test_fit.c - what is fitted to Philly and drawn again has Philly's marginals; all figures recomputed from the trace.
 *
 * Bounds. Drawn against profile: the two-sided Kolmogorov-Smirnov statistic sqrt(n) D <= 2.23 and chi-squares at the
 * level 10^-4. Trace against profile: no sampling is between them, only the table; between two of its probabilities p and
 * q the two distribution functions can differ by q - p at most, 0.05 here, so D <= 0.05. Refitted against trace: their
 * sum.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/str.h"
#include "base/units.h"
#include "input/fit.h"
#include "tests/support/shared.h"

#define LEVEL      1e-4
#define KS_LEVEL   2.23 /* 2 exp(-2 z^2) = 10^-4 */
#define TABLE_STEP 0.05

struct sample {
    double *x;
    size_t n;
};

static uint32_t gpus_of(const struct job_spec *j)
{
    return j->replicas * j->gpu_shares / SHARES_PER_GPU;
}

static struct sample durations(const struct job_spec *jobs, size_t n, uint32_t gpus)
{
    struct sample s = {calloc(n, sizeof(double)), 0};
    for (size_t i = 0; i < n; i++)
        if (gpus_of(&jobs[i]) == gpus) s.x[s.n++] = (double)jobs[i].work_ns;
    gsl_sort(s.x, 1, s.n);
    return s;
}

/* sup |F_n - F|, with ties taken together: durations are whole seconds. */
static double distance(const struct sample *s, const struct distribution *d)
{
    double worst = 0;
    for (size_t i = 0, end; i < s->n; i = end) {
        for (end = i; end < s->n && !(s->x[end] > s->x[i]);) end++;
        worst = fmax(worst, fabs(distribution_cdf(d, s->x[i]) - (double)end / (double)s->n));
    }
    return worst;
}

static double distance_of_two(const struct sample *a, const struct sample *b)
{
    double worst = 0;
    size_t i = 0, j = 0;
    while (i < a->n && j < b->n) {
        double x = fmin(a->x[i], b->x[j]);
        while (i < a->n && !(a->x[i] > x)) i++;
        while (j < b->n && !(b->x[j] > x)) j++;
        worst = fmax(worst, fabs((double)i / (double)a->n - (double)j / (double)b->n));
    }
    return worst;
}

static const struct size_class *size_of(const struct workload_profile *p, uint32_t gpus)
{
    for (uint32_t i = 0; i < p->mix.n_sizes; i++)
        if (p->mix.sizes[i].replicas * p->mix.sizes[i].gpu_shares == gpus * SHARES_PER_GPU) return &p->mix.sizes[i];
    fail_msg("no size of %u GPUs", gpus);
    return NULL;
}

static struct workload_profile *written_and_read(struct workload_profile *p)
{
    struct str json = {0};
    struct diag d = {0};
    workload_profile_write(p, &json);
    struct workload_profile *again = workload_profile_parse("fit.json", json.s, json.n, 8, &d);
    diag_print(&d, stderr);
    assert_non_null(again);
    workload_profile_free(p);
    str_free(&json);
    diag_free(&d);
    return again;
}

static struct import_result read_philly(const char *path)
{
    struct import_result r;
    struct diag d = {0};
    assert_true(import_read(import_format_find("philly"), &path, 1, NULL, &r, &d));
    diag_free(&d);
    return r;
}

static struct workload_profile *fit(const struct import_result *r)
{
    struct diag d = {0};
    struct workload_profile *p = fit_profile("philly-like", "test", r, &d);
    assert_non_null(p);
    diag_free(&d);
    return p;
}

static struct generate_jobs draw(const struct workload_profile *p, int64_t horizon_ns, int64_t offset_ns)
{
    static const uint16_t ids[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    struct generate_class c = {.name = "philly",
                               .arrivals = ARRIVE_RATE,
                               .rate_per_hour = p->rate_per_hour,
                               .mix = &p->mix,
                               .limit_ns = TIME_NEVER,
                               .team_ids = ids};
    struct generate_span span = {.horizon_ns = horizon_ns, .week_offset_ns = offset_ns, .seed = 1};
    struct generate_jobs jobs = {0};
    assert_true(generate(&c, 1, &span, &jobs));
    return jobs;
}

/* The rate is jobs over covered hours, both hours at the ends in whole: 82,247 over 2,615 h (Monday 10:00 to the Friday
 * of the 16th week 09:00, i.e. 2017-09-04 10:00 to 2017-12-22 09:00: 108 d 23 h). Shares are awk's counts over all. */
static void the_profile_has_the_counts_of_the_trace(void **state)
{
    (void)state;
    static const struct {
        uint32_t gpus;
        double jobs;
    } sizes[] = {
        {1,   76627},
        {2,   1818 },
        {8,   1643 },
        {128, 3    }
    };
    char path[SHARED_PATH_MAX];
    shared_path(path, "traces/philly/philly.csv.gz");
    struct import_result r = read_philly(path);
    struct workload_profile *p = fit(&r);
    assert_int_equal(p->jobs, 82247);
    assert_true(fabs(p->rate_per_hour - 82247.0 / (108 * 24 + 23)) < 1e-9);
    assert_int_equal(p->mix.n_sizes, 10);
    assert_int_equal(p->mix.n_teams, 15);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_true(fabs(size_of(p, sizes[i].gpus)->weight - sizes[i].jobs / 82247) < 1e-12);
    assert_ptr_equal(size_of(p, 128)->work.x, size_of(p, 32)->work.x); /* 64: 6 jobs, 128: 3: too few for a table */
    assert_true(p->dispersion > 2);                                    /* far from Poisson, as header and docs say */
    workload_profile_free(p);
    import_free(&r);
}

static void durations_are_within_the_table(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 4, 8, 16, 32};
    char path[SHARED_PATH_MAX];
    shared_path(path, "traces/philly/philly.csv.gz");
    struct import_result r = read_philly(path);
    struct workload_profile *p = written_and_read(fit(&r));
    struct generate_jobs jobs = draw(p, 109 * NS_PER_DAY, r.week_offset_ns);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct distribution *d = &size_of(p, sizes[i])->work;
        struct sample trace = durations(r.jobs, r.n_jobs, sizes[i]), drawn = durations(jobs.v, jobs.n, sizes[i]);
        double sampling = KS_LEVEL / sqrt((double)drawn.n);
        double to_table = distance(&trace, d), to_drawn = distance(&drawn, d), both = distance_of_two(&trace, &drawn);
        print_message(
            "%2u GPUs: %5zu jobs, trace to table %.4f; %5zu drawn, to table %.4f (bound %.4f), to trace %.4f\n",
            sizes[i], trace.n, to_table, drawn.n, to_drawn, sampling, both);
        assert_true(to_table <= TABLE_STEP);
        assert_true(to_drawn <= sampling + 1.0 / (double)drawn.n);
        assert_true(both <= TABLE_STEP + sampling);
        free(trace.x);
        free(drawn.x);
    }
    array_free(&jobs);
    workload_profile_free(p);
    import_free(&r);
}

/* Over whole weeks, so that each hour of the week is covered equally. */
static void arrivals_and_shares_are_the_profiles(void **state)
{
    (void)state;
    char path[SHARED_PATH_MAX];
    shared_path(path, "traces/philly/philly.csv.gz");
    struct import_result r = read_philly(path);
    struct workload_profile *p = written_and_read(fit(&r));
    struct generate_jobs jobs = draw(p, 20 * 7 * NS_PER_DAY, 0);
    double hour[HOURS_PER_WEEK] = {0}, weights = 0, chi = 0, n = (double)jobs.n;
    for (size_t i = 0; i < jobs.n; i++) hour[jobs.v[i].submit_ns / NS_PER_HOUR % HOURS_PER_WEEK]++;
    for (int h = 0; h < HOURS_PER_WEEK; h++) weights += p->mix.hours[h];
    for (int h = 0; h < HOURS_PER_WEEK; h++) {
        double expected = n * p->mix.hours[h] / weights;
        chi += (hour[h] - expected) * (hour[h] - expected) / expected;
    }
    assert_true(gsl_cdf_chisq_Q(chi, HOURS_PER_WEEK - 1) > LEVEL);
    for (uint32_t s = 0; s < p->mix.n_sizes; s++) {
        const struct size_class *size = &p->mix.sizes[s];
        double drawn = 0, teams[16] = {0};
        for (size_t i = 0; i < jobs.n; i++) {
            if (jobs.v[i].replicas != size->replicas || jobs.v[i].gpu_shares != size->gpu_shares) continue;
            drawn++;
            teams[jobs.v[i].team]++;
        }
        assert_true(fabs(drawn - n * size->weight) <= 4 * sqrt(n * size->weight) + 1);
        for (uint32_t t = 0; t < p->mix.n_teams; t++)
            assert_true(fabs(teams[t] - drawn * size->team_weights[t]) <=
                        4.5 * sqrt(drawn * size->team_weights[t]) + 2);
    }
    array_free(&jobs);
    workload_profile_free(p);
    import_free(&r);
}

/* A trace of which every figure is known: 100 jobs an hour apart from Monday 00:00, 1 GPU and 1..100 s for team a. */
static void a_trace_of_known_figures(void **state)
{
    (void)state;
    struct job_spec jobs[100];
    struct import_result r = {.format = import_format_find("jobs"), .jobs = jobs, .n_jobs = 100, .week_offset_ns = 0};
    for (int i = 0; i < 100; i++)
        jobs[i] = (struct job_spec){
            .submit_ns = i * NS_PER_HOUR, .work_ns = (i + 1) * NS_PER_S, .replicas = 1, .gpu_shares = 1000, .team = 1};
    intern_id(&r.teams, "");
    intern_id(&r.teams, "a");
    struct workload_profile *p = fit(&r);
    assert_true(fabs(p->rate_per_hour - 1) < 1e-12);
    assert_true(fabs(p->dispersion) < 1e-12); /* a clock, not a Poisson process */
    assert_true(fabs(p->mix.hours[50] - 1) < 1e-12);
    assert_true(fabs(p->mix.hours[150] - 1) < 1e-12); /* never covered: the mean */
    assert_int_equal(p->mix.n_teams, 1);
    const struct distribution *d = &p->mix.sizes[0].work;
    for (uint32_t i = 0; i < d->n; i++) assert_true(fabs(d->x[i] - (1 + 99 * d->p[i]) * 1e9) < 1); /* type 7 */
    workload_profile_free(p);
    intern_free(&r.teams);
}

/* The shipped profiles are what --fit gives: share of one-GPU jobs 76627 / 82247, and (awk over all ITP files, $4 == 1)
 * 42069 / 51577. */
static void shipped_profiles(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint64_t jobs;
        double one_gpu;
    } rows[] = {
        {"scenarios/profiles/workloads/philly-like.json", 82247, 76627.0 / 82247},
        {"scenarios/profiles/workloads/itp-like.json",    51577, 42069.0 / 51577},
    };
    for (size_t i = 0; i < 2; i++) {
        struct diag d = {0};
        size_t n;
        char *text = file_read(rows[i].file, FILE_READ_MAX, &n, &d);
        assert_non_null(text);
        struct workload_profile *p = workload_profile_parse(rows[i].file, text, n, 8, &d);
        free(text);
        diag_print(&d, stderr);
        assert_non_null(p);
        assert_int_equal(p->jobs, rows[i].jobs);
        assert_true(fabs(size_of(p, 1)->weight - rows[i].one_gpu) < 1e-6);
        workload_profile_free(p);
        diag_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_profile_has_the_counts_of_the_trace),
        cmocka_unit_test(durations_are_within_the_table),
        cmocka_unit_test(arrivals_and_shares_are_the_profiles),
        cmocka_unit_test(a_trace_of_known_figures),
        cmocka_unit_test(shipped_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
