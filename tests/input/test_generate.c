/* test_generate.c - drawn jobs: paired, nested, and distributed as their classes say.
 *
 * Statistical bounds are at the level 10^-4 for a fixed seed, so the tests are deterministic: they say that this stream
 * of numbers is not an unlucky one.
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

#include "base/units.h"
#include "input/generate.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define LEVEL    1e-4
#define S        1e9 /* ns */

static const struct size_class one_gpu[] = {
    {.replicas = 1, .gpu_shares = 1000, .weight = 1, .work = {.kind = DIST_FIXED, .a = 60 * S}}
};
static const struct workload_mix plain = {.sizes = one_gpu, .n_sizes = 1};

static struct generate_class class_of(const char *name, enum arrivals arrivals, const struct workload_mix *mix)
{
    return (struct generate_class){.name = name, .arrivals = arrivals, .mix = mix, .limit_ns = TIME_NEVER};
}

static struct generate_jobs draw(const struct generate_class *c, size_t n, struct generate_span span)
{
    struct generate_jobs jobs = {0};
    assert_true(generate(c, n, &span, &jobs));
    for (size_t i = 1; i < jobs.n; i++) assert_true(jobs.v[i - 1].submit_ns <= jobs.v[i].submit_ns);
    return jobs;
}

static const struct job_spec *find_job(const struct generate_jobs *jobs, uint64_t id)
{
    for (size_t i = 0; i < jobs->n; i++)
        if (jobs->v[i].id == id) return &jobs->v[i];
    return NULL;
}

static void assert_nested(const struct generate_jobs *few, const struct generate_jobs *many)
{
    assert_true(few->n > 0 && few->n < many->n);
    for (size_t i = 0; i < few->n; i++) {
        const struct job_spec *j = find_job(many, few->v[i].id);
        assert_non_null(j);
        assert_memory_equal(j, &few->v[i], sizeof *j);
    }
}

static void higher_rates_and_longer_horizons_add_jobs(void **state)
{
    (void)state;
    struct size_class sizes[] = {
        {1, 1000, 3, {.kind = DIST_EXPONENTIAL, .a = 100 * S},          NULL},
        {2, 8000, 1, {.kind = DIST_LOGNORMAL, .a = 3600 * S, .b = 1.5}, NULL}
    };
    struct workload_mix mix = {.sizes = sizes, .n_sizes = 2};
    struct generate_span span = {.horizon_ns = 3 * NS_PER_DAY, .seed = 7, .replication = 2}, longer = span;
    longer.horizon_ns *= 2;
    struct generate_class c[] = {class_of("a", ARRIVE_RATE, &mix), class_of("b", ARRIVE_RATE, &mix)};
    static const double rates[] = {0.25, 0.75, 1.5, 2.75, 4};
    struct generate_jobs last = {0};
    for (size_t i = 0; i < COUNT(rates); i++) {
        c[0].rate_per_hour = c[1].rate_per_hour = rates[i];
        struct generate_jobs now = draw(c, 2, span), more = draw(c, 2, longer);
        assert_nested(&now, &more);
        if (i > 0) assert_nested(&last, &now);
        array_free(&last);
        array_free(&more);
        last = now;
    }
    array_free(&last);
    c[0] = class_of("n", ARRIVE_COUNT, &mix);
    c[0].count = 50;
    struct generate_jobs few = draw(c, 1, span);
    assert_int_equal(few.n, 50);
    c[0].count = 80;
    struct generate_jobs many = draw(c, 1, span);
    assert_nested(&few, &many);
    array_free(&few);
    array_free(&many);
}

static void another_class_moves_nothing(void **state)
{
    (void)state;
    struct generate_class c[] = {class_of("a", ARRIVE_RATE, &plain), class_of("b", ARRIVE_RATE, &plain)};
    c[0].rate_per_hour = c[1].rate_per_hour = 3;
    struct generate_span span = {.horizon_ns = 2 * NS_PER_DAY, .seed = 1};
    struct generate_jobs alone = draw(c, 1, span), both = draw(c, 2, span);
    assert_nested(&alone, &both);
    struct generate_span other = span;
    other.replication = 1;
    struct generate_jobs again = draw(c, 1, span), replicated = draw(c, 1, other);
    assert_memory_equal(again.v, alone.v, alone.n * sizeof *alone.v);
    assert_true(replicated.v[0].submit_ns != alone.v[0].submit_ns);
    array_free(&alone);
    array_free(&both);
    array_free(&again);
    array_free(&replicated);
}

static void even_arrivals(void **state)
{
    (void)state;
    struct generate_class c = class_of("e", ARRIVE_EVERY, &plain);
    c.every_ns = 90 * NS_PER_S;
    c.start_ns = 10 * NS_PER_S;
    c.end_ns = 281 * NS_PER_S;
    c.limit_factor = 1.5;
    struct generate_jobs jobs = draw(&c, 1, (struct generate_span){.horizon_ns = NS_PER_DAY});
    assert_int_equal(jobs.n, 4); /* 10, 100, 190, 280 */
    assert_int_equal(jobs.v[3].submit_ns, 280 * NS_PER_S);
    assert_int_equal(jobs.v[3].work_ns, 60 * NS_PER_S);
    assert_int_equal(jobs.v[3].limit_ns, 90 * NS_PER_S);
    array_free(&jobs);
    c.every_ns = 0;
    c.count = 3;
    jobs = draw(&c, 1, (struct generate_span){.horizon_ns = NS_PER_DAY});
    assert_int_equal(jobs.n, 3);
    assert_int_equal(jobs.v[2].submit_ns, 10 * NS_PER_S);
    array_free(&jobs);
}

/* A Poisson process: counts of disjoint hours have the mean and the variance of the rate. 10,000 hours of rate 5.5:
 * the mean within 4 sigma, sum (n - rate)^2 / rate a chi-square of 10,000 degrees. */
static void arrivals_are_poisson(void **state)
{
    (void)state;
    enum { HOURS = 10000 };
    const double rate = 5.5;
    struct generate_class c = class_of("p", ARRIVE_RATE, &plain);
    c.rate_per_hour = rate;
    struct generate_jobs jobs = draw(&c, 1, (struct generate_span){.horizon_ns = HOURS * NS_PER_HOUR, .seed = 3});
    double expected = rate * HOURS, chi = 0;
    assert_true(fabs((double)jobs.n - expected) < 4 * sqrt(expected));
    unsigned *count = calloc(HOURS, sizeof *count);
    for (size_t i = 0; i < jobs.n; i++) count[jobs.v[i].submit_ns / NS_PER_HOUR]++;
    for (int h = 0; h < HOURS; h++) chi += (count[h] - rate) * (count[h] - rate) / rate;
    assert_true(gsl_cdf_chisq_Q(chi, HOURS) > LEVEL);
    assert_true(gsl_cdf_chisq_P(chi, HOURS) > LEVEL);
    free(count);
    array_free(&jobs);
}

/* Weights 1 to 168 from Monday; a run that begins on Wednesday 06:30 falls into the right hours. */
static void hours_of_the_week(void **state)
{
    (void)state;
    double hours[HOURS_PER_WEEK], chi = 0;
    for (int h = 0; h < HOURS_PER_WEEK; h++) hours[h] = h + 1;
    struct workload_mix mix = plain;
    mix.hours = hours;
    struct generate_class c = class_of("w", ARRIVE_RATE, &mix);
    c.rate_per_hour = 40;
    const int64_t offset = 2 * NS_PER_DAY + 6 * NS_PER_HOUR + 30 * NS_PER_MINUTE;
    static const enum arrivals kinds[] = {ARRIVE_RATE, ARRIVE_COUNT};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        c.arrivals = kinds[k];
        c.count = 40 * 10 * HOURS_PER_WEEK;
        struct generate_jobs jobs =
            draw(&c, 1, (struct generate_span){.horizon_ns = 70 * NS_PER_DAY, .week_offset_ns = offset, .seed = 5});
        double count[HOURS_PER_WEEK] = {0};
        for (size_t i = 0; i < jobs.n; i++) count[(jobs.v[i].submit_ns + offset) / NS_PER_HOUR % HOURS_PER_WEEK]++;
        chi = 0;
        for (int h = 0; h < HOURS_PER_WEEK; h++) {
            double expected = (double)jobs.n * hours[h] / (HOURS_PER_WEEK * (HOURS_PER_WEEK + 1) / 2.0);
            chi += (count[h] - expected) * (count[h] - expected) / expected;
        }
        assert_true(gsl_cdf_chisq_Q(chi, HOURS_PER_WEEK - 1) > LEVEL);
        array_free(&jobs);
    }
}

static const double table_p[] = {0, 0.5, 0.9, 1}, table_x[] = {0, 10 * S, 1000 * S, 1000 * S};
static const struct distribution distributions[] = {
    {.kind = DIST_UNIFORM, .a = 10 * S, .b = 30 * S           },
    {                                     .kind = DIST_EXPONENTIAL,        .a = 600 * S           },
    {       .kind = DIST_LOGNORMAL,                    .a = 300 * S,          .b = 0.8 },
    { .kind = DIST_QUANTILES,                    .p = table_p,                        .x = table_x,.n = 4},
};

/* Kolmogorov and Smirnov: sqrt(n) D exceeds z with probability near 2 exp(-2 z^2); z = 2.23 for 10^-4. The table's last
 * step (a tenth of all jobs at 1000 s) is left out of D: the test is for continuous parts. */
static void works_are_distributed_as_said(void **state)
{
    (void)state;
    enum { N = 20000 };
    for (size_t k = 0; k < COUNT(distributions); k++) {
        const struct distribution *d = &distributions[k];
        double *x = calloc(N, sizeof *x), worst = 0, sum = 0, squares = 0;
        struct size_class size = {1, 1000, 1, *d, NULL};
        struct workload_mix mix = {.sizes = &size, .n_sizes = 1};
        struct generate_class c = class_of("k", ARRIVE_COUNT, &mix);
        c.count = N;
        struct generate_jobs jobs = draw(&c, 1, (struct generate_span){.horizon_ns = NS_PER_DAY, .seed = 11});
        for (size_t i = 0; i < N; i++) {
            x[i] = (double)jobs.v[i].work_ns;
            sum += x[i];
            squares += x[i] * x[i];
        }
        gsl_sort(x, 1, N);
        for (size_t i = 0; i < N && x[i] < 999 * S; i++)
            worst = fmax(worst, fabs(distribution_cdf(d, x[i]) - ((double)i + 0.5) / N) + 0.5 / N);
        assert_true(worst < 2.23 / sqrt(N));
        double mean = sum / N, error = sqrt((squares / N - mean * mean) / N);
        assert_true(fabs(mean - distribution_mean_ns(d)) < 4 * error);
        free(x);
        array_free(&jobs);
    }
}

/* By hand: the table at u = 0.25 is exp(ln(11 s) / 2) - 1 s = 2.316624790 s; 1 s shift, values in s. */
static void quantiles_at_points(void **state)
{
    (void)state;
    const struct distribution *d = &distributions[3];
    assert_true(llabs(distribution_ns(d, 0.5) - 10000000000) <= 4); /* a rounding of the logarithm */
    assert_true(llabs(distribution_ns(d, 0.25) - 2316624790) <= 4);
    assert_int_equal(distribution_ns(d, 0.95), 1000000000000);
    assert_int_equal(distribution_ns(&(struct distribution){.kind = DIST_FIXED, .a = 5 * S, .max_ns = 2 * S}, 0.5),
                     2000000000);
    assert_int_equal(distribution_ns(&(struct distribution){.kind = DIST_FIXED, .a = 1e300}, 0.5), INT64_C(1) << 62);
    assert_int_equal(distribution_ns(&distributions[0], 0.25), 15000000000);
}

static void sizes_and_teams_have_their_shares(void **state)
{
    (void)state;
    static const double size_weights[] = {6, 3, 1}, odd[] = {0, 1, 0}, even[] = {1, 1, 2};
    static const char *const teams[] = {"x", "y", "z"};
    static const uint16_t ids[] = {4, 5, 6}, queues[] = {7, 8, 9};
    struct size_class sizes[3];
    for (uint32_t i = 0; i < 3; i++)
        sizes[i] = (struct size_class){
            i + 1, 1000, size_weights[i], {.kind = DIST_FIXED, .a = S},
                 i == 2 ? odd : NULL
        };
    struct workload_mix mix = {.sizes = sizes, .n_sizes = 3, .teams = teams, .team_weights = even, .n_teams = 3};
    struct generate_class c = class_of("t", ARRIVE_COUNT, &mix);
    c.count = 40000;
    c.team_ids = ids;
    c.queue_ids = queues;
    struct generate_jobs jobs = draw(&c, 1, (struct generate_span){.horizon_ns = NS_PER_DAY, .seed = 2});
    double size[3] = {0}, team[3] = {0};
    for (size_t i = 0; i < jobs.n; i++) {
        const struct job_spec *j = &jobs.v[i];
        size[j->replicas - 1]++;
        if (j->replicas == 3)
            assert_int_equal(j->team, 5);
        else
            team[j->team - 4]++;
        assert_int_equal(j->queue, j->team + 3);
    }
    for (int i = 0; i < 3; i++) {
        double p = size_weights[i] / 10, q = even[i] / 4, n = (double)jobs.n, m = n - size[2];
        assert_true(fabs(size[i] - p * n) < 4 * sqrt(n * p * (1 - p)));
        assert_true(fabs(team[i] - q * m) < 4 * sqrt(m * q * (1 - q)));
    }
    array_free(&jobs);
}

/* A mix of 60 s on 1 GPU (3 of 4 jobs) and 100 s on 8 (1 of 4): 245 GPU-s a job. 80 % of 100 GPUs: 80 x 3600 / 245 jobs
 * an hour. */
static void load_gives_the_rate(void **state)
{
    (void)state;
    struct size_class sizes[] = {
        {1, 1000, 3, {.kind = DIST_FIXED, .a = 60 * S},  NULL},
        {2, 4000, 1, {.kind = DIST_FIXED, .a = 100 * S}, NULL}
    };
    struct workload_mix mix = {.sizes = sizes, .n_sizes = 2};
    assert_true(fabs(mix_gpu_seconds(&mix) - 245) < 1e-9);
    assert_true(fabs(mix_rate_for_load(&mix, 0.8, 100) - 80 * 3600 / 245.0) < 1e-9);
    sizes[0].weight = sizes[1].weight = 0;
    assert_true(mix_rate_for_load(&mix, 0.8, 100) == 0);
}

static void beyond_reason_is_refused(void **state)
{
    (void)state;
    struct generate_jobs jobs = {0};
    struct generate_span span = {.horizon_ns = NS_PER_HOUR};
    struct generate_class c = class_of("r", ARRIVE_RATE, &plain);
    c.rate_per_hour = 2e6;
    assert_false(generate(&c, 1, &span, &jobs));
    c.rate_per_hour = -1;
    assert_false(generate(&c, 1, &span, &jobs));
    c.rate_per_hour = NAN;
    assert_false(generate(&c, 1, &span, &jobs));
    assert_int_equal(jobs.n, 0);
    array_free(&jobs);
}

/* ---- profiles ---- */

#define HEAD  "{\"profile\":\"workload\",\"probabilities\":[0,0.5,1],"
#define SIZES "\"sizes\":[{\"gpus\":16,\"share\":1,\"duration_s\":[1,2,3]}]"

static void profiles_are_read(void **state)
{
    (void)state;
    struct diag d = {0};
    const char *text = HEAD "\"name\":\"n\",\"jobs\":7,\"rate_per_hour\":2.5," SIZES "}";
    struct workload_profile *p = workload_profile_parse("p.json", text, strlen(text), 8, &d);
    assert_non_null(p);
    assert_string_equal(p->name, "n");
    assert_int_equal(p->jobs, 7);
    assert_int_equal(p->mix.sizes[0].replicas, 2);
    assert_int_equal(p->mix.sizes[0].gpu_shares, 8000);
    assert_int_equal(distribution_ns(&p->mix.sizes[0].work, 0.5), 2000000000);
    workload_profile_free(p);
    diag_free(&d);
}

static void bad_profiles_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"[]",                                                                                                "p.json:1: "                         },
        {"{}",                                                                                                "profile"                            },
        {"{\"profile\":\"hardware\"}",                                                                        "/profile"                           },
        {HEAD SIZES ",\"hourz\":[]}",                                                                         "did you mean \"hours\""             },
        {HEAD SIZES ",\"hours\":[1,2]}",                                                                      "/hours: 2 numbers instead of 168"   },
        {HEAD "\"sizes\":[]}",                                                                                "/sizes: no size has a share above 0"},
        {HEAD "\"sizes\":[{\"gpus\":0,\"share\":1,\"duration_s\":[1,2,3]}]}",                                 "/sizes/0/gpus"                      },
        {HEAD "\"sizes\":[{\"gpus\":1,\"share\":-1,\"duration_s\":[1,2,3]}]}",                                "/sizes/0/share: is negative"        },
        {HEAD "\"sizes\":[{\"gpus\":1,\"share\":1,\"duration_s\":[1,3,2]}]}",                                 "/sizes/0/duration_s: must ascend"   },
        {HEAD "\"sizes\":[{\"gpus\":1,\"share\":1,\"duration_s\":[1,-2,3]}]}",                                "/sizes/0/duration_s/1: is negative" },
        {HEAD "\"sizes\":[{\"gpus\":1,\"share\":1,\"duration_s\":[1,2]}]}",
         "/sizes/0/duration_s: 2 numbers instead of 3"                                                                                             },
        {HEAD "\"sizes\":[{\"gpus\":1,\"share\":1}]}",                                                        "duration_s"                         },
        {HEAD "\"teams\":[\"a\",\"b\"]," SIZES "}",                                                           "/sizes/0"                           },
        {HEAD "\"teams\":[\"a\"],\"sizes\":[{\"gpus\":1,\"share\":1,\"duration_s\":[1,2,3],\"teams\":[0]}]}",
         "/sizes/0/teams: all weights are zero"                                                                                                    },
        {"{\"profile\":\"workload\",\"probabilities\":[0,0.5]," SIZES "}",                                    "/probabilities: must go from 0 to 1"},
        {"{\"profile\":\"workload\",\"probabilities\":[0,0,1]," SIZES "}",                                    "/probabilities: must ascend"        },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct diag d = {0};
        char *said = NULL;
        size_t n = 0;
        FILE *to = open_memstream(&said, &n);
        assert_null(workload_profile_parse("p.json", rows[i].text, strlen(rows[i].text), 0, &d));
        diag_print(&d, to);
        fclose(to);
        if (strstr(said, rows[i].said) == NULL)
            fail_msg("%s\nexpected: %s\nsaid: %s", rows[i].text, rows[i].said, said);
        free(said);
        diag_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(higher_rates_and_longer_horizons_add_jobs),
        cmocka_unit_test(another_class_moves_nothing),
        cmocka_unit_test(even_arrivals),
        cmocka_unit_test(arrivals_are_poisson),
        cmocka_unit_test(hours_of_the_week),
        cmocka_unit_test(works_are_distributed_as_said),
        cmocka_unit_test(quantiles_at_points),
        cmocka_unit_test(sizes_and_teams_have_their_shares),
        cmocka_unit_test(load_gives_the_rate),
        cmocka_unit_test(beyond_reason_is_refused),
        cmocka_unit_test(profiles_are_read),
        cmocka_unit_test(bad_profiles_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
