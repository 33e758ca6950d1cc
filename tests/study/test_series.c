/* test_series.c - how far a job was when, and what its dashboard would have shown, against arithmetic by hand.
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

#include "base/units.h"
#include "input/learning.h"
#include "study/job_index.h"
#include "study/series.h"
#include "tests/support/any_scenario.h"
#include "tests/support/temp_run.h"

static void near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("%.10g, not %.10g", got, want);
}

/* ---- progress ---- */

/* 100 steps of 10 s on one or two nodes of 8 GPUs; a save of 5 s after each 10; a crash at 257 s falls back to step 20 (a load of
 * 3 s). Control-plane constants are zero. 32 samples of 1 MB a step and GPU, of which the store gives what is wanted. */
static const char format[] =
    "{\"trainyard\": 1, \"name\": \"t\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 2, \"gpus\": 8}],"
    "\"network\": {\"intra\": \"100GB/s\", \"inter\": \"10GB/s\"},"
    "\"storage\": [{\"name\": \"s\", \"write\": \"100GB/s\", \"read\": \"100GB/s\"}]},"
    "\"workload\": {\"jobs\": [{\"id\": \"a\", \"kind\": \"train\", \"replicas\": %d, \"gpus\": 8, \"steps\": 100,"
    "\"step\": {\"compute\": \"9s\", \"communication\": \"1s\", \"gradient\": \"16GB\"},"
    "\"data\": {\"samples\": 32, \"workers\": 8, \"size\": \"1MB\", \"storage\": \"s\"},"
    "\"learning\": {\"rate\": 0.1, \"warmup\": 20, \"final\": 0.2, \"loss_floor\": 2, \"loss_scale\": 10, \"loss_exponent\": 0.5},"
    "\"checkpoint\": {\"interval\": \"100s\", \"save\": \"5s\", \"load\": \"3s\"}}]},"
    "\"faults\": {\"script\": [{\"at\": \"257s\", \"target\": \"pod/a-master-0\", \"action\": \"container-exit\", \"code\": 1}]},"
    "\"approaches\": {\"op\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"none\", \"scheduler\": \"kube\","
    "\"placement\": \"pack\", \"stack\": {\"training-operator.api-call\": \"0s\", \"training-operator.reconcile\": \"0s\","
    "\"kubelet.container-start\": \"0s\", \"scheduler.cycle\": \"0s\", \"torchrun.rendezvous\": \"0s\"}}}}";

struct want { double from_s, to_s; int64_t first, last; bool redone; };

static struct series series_of(int replicas, int level, struct run **run)
{
    struct diag d = {0};
    struct str text = {0};
    struct series s;
    char *err = NULL;
    str_printf(&text, format, replicas);
    struct scenario *scenario = scenario_parse("t.json", str_text(&text), text.n, NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(scenario);
    *run = temp_run(scenario, level);
    scenario_free(scenario);
    diag_free(&d);
    str_free(&text);
    if (!series_read(*run, &s, &err)) fail_msg("%s", err);
    return s;
}

static void check_spans(const struct series *s, const struct want *want, size_t n)
{
    assert_int_equal(s->n_jobs, 1);
    assert_int_equal(s->jobs[0].total_steps, 100);
    assert_true(s->progress.spans.n >= n);
    for (size_t i = 0; i < n; i++) {
        const struct progress_span *p = &s->progress.spans.v[i];
        if (fabs((double)p->from_ns / 1e9 - want[i].from_s) > 1e-6 || fabs((double)p->to_ns / 1e9 - want[i].to_s) > 1e-6 ||
            p->first != want[i].first || p->last != want[i].last || p->redone != want[i].redone)
            fail_msg("span %zu: %g to %g s, steps %lld to %lld, redone %d", i, (double)p->from_ns / 1e9, (double)p->to_ns / 1e9,
                     (long long)p->first, (long long)p->last, p->redone);
    }
}

/* What is done again begins after the load, at 260 s. */
static void steps_and_when(void **state)
{
    static const struct want want[] = {
        {0, 100, 0, 10, false}, {105, 205, 10, 20, false}, {210, 257, 20, 24, false}, {260, 360, 20, 30, true},
        {365, 465, 30, 40, false},
    };
    (void)state;
    for (int level = RECORD_JOBS; level <= RECORD_FULL; level++) {
        struct run *run;
        struct series s = series_of(1, level, &run);
        check_spans(&s, want, sizeof want / sizeof *want);
        const struct progress_span *last = &s.progress.spans.v[s.progress.spans.n - 1];
        assert_int_equal(last->last, 100);
        assert_int_equal(last->to_ns, seconds(1045 + 47 + 3)); /* as in test_training.c */
        assert_int_equal(s.progress.spans.n, 11);
        series_free(&s);
        temp_run_close(run);
    }
}

/* ---- points ---- */

/* At step 15, in the middle of 105 to 205 s: 32 x 16 samples a step of 10 s; 0.1 x 15/20; 2 + 10 / sqrt(15 x 512);
 * the ring of 16 GPUs puts 2 x 15/16 x 16 GB on each of its two edges; 512 MB are read. */
static void a_point_by_hand(void **state)
{
    struct run *run;
    struct series s = series_of(2, RECORD_JOBS, &run);
    struct series_point p = series_at(&s, &s.progress.spans.v[1], 15);
    (void)state;
    assert_int_equal(p.time_ns, seconds(155));
    near(p.samples, 15 * 512, 1e-12);
    near(p.samples_per_s, 51.2, 1e-9);
    near(p.learning_rate, 0.075, 1e-12);
    near(p.loss, 2 + 10 / sqrt(15 * 512), 1e-12);
    near(p.gradient_norm, sqrt(0.5 * 10 * 512 / pow(15 * 512, 1.5) / 0.075), 1e-12);
    near(p.network_bytes_per_s, 2 * 30e9 / 10, 1e-9);
    near(p.read_bytes_per_s, 512e6 / 10, 1e-9);
    assert_true(isnan(p.tokens) && isnan(p.memory_bytes));
    series_free(&s);
    temp_run_close(run);
}

/* Hoffmann et al., equation 10: 70B parameters and 1.4T tokens 1.94, Gopher's 280B and 300B tokens 1.99. */
static void loss_of_published_models(void **state)
{
    struct series_job chinchilla = {.tokens = 1.4e12, .samples = NAN, .parameters = 70e9};
    struct series_job gopher = {.tokens = 300e9, .samples = NAN, .parameters = 280e9};
    (void)state;
    near(learning_loss(&chinchilla, 1), 1.94, 0.003);
    near(learning_loss(&gopher, 1), 1.99, 0.003);
    assert_true(isnan(learning_loss(&chinchilla, 0)));
    chinchilla.parameters = NAN;
    assert_true(isnan(learning_loss(&chinchilla, 1)));
}

/* 100 steps, of which 20 are warm-up; at step 60 half of the fall is done, by either schedule. */
static void rates_by_hand(void **state)
{
    struct learning_spec l = {.peak = 0.1, .final = 0.2, .warmup_steps = 20, .loss_floor = NAN};
    struct series_job j = {.learning = &l, .total_steps = 100};
    (void)state;
    for (l.schedule = LEARN_COSINE; l.schedule <= LEARN_LINEAR; l.schedule++) {
        near(learning_rate(&j, 10), 0.05, 1e-12);
        near(learning_rate(&j, 20), 0.1, 1e-12);
        near(learning_rate(&j, 60), 0.06, 1e-12);
        near(learning_rate(&j, 100), 0.02, 1e-12);
    }
    l.schedule = LEARN_COSINE;
    near(learning_rate(&j, 40), 0.1 * (0.2 + 0.8 * (1 + sqrt(0.5)) / 2), 1e-12); /* cos 45 degrees */
    l.schedule = LEARN_CONSTANT;
    near(learning_rate(&j, 100), 0.1, 1e-12);
}

/* The ends of a span, and each hundredth between. */
static void steps_shown(void **state)
{
    struct series_job job = {.total_steps = 1000};
    struct series s = {.jobs = &job, .n_jobs = 1};
    struct progress_span p = {.job = 0, .first = 95, .last = 118};
    static const int64_t want[] = {100, 110, 118, -1};
    int64_t step = p.first;
    (void)state;
    for (int i = 0; i < 4; i++) {
        step = series_next(&s, &p, step, 100);
        assert_int_equal(step, want[i]);
    }
}

/* ---- whatever happens ---- */

/* A job's spans follow one another; one that has succeeded did its last step in the last (`whole`: unless a script says that its
 * pods succeed). */
static void check_run(const struct run *run, const char *what, bool whole)
{
    struct series s;
    struct job_index index;
    char *err = NULL;
    if (!series_read(run, &s, &err) || !job_index_read(run, &index, &err)) fail_msg("%s: %s", what, err);
    int64_t *until = calloc(s.n_jobs + 1, sizeof *until), *step = calloc(s.n_jobs + 1, sizeof *step);
    for (size_t i = 0; i < s.progress.spans.n; i++) {
        const struct progress_span *p = &s.progress.spans.v[i];
        if (p->from_ns < until[p->job] || p->to_ns <= p->from_ns || p->last <= p->first || p->first > step[p->job])
            fail_msg("%s: job %d, a span of steps %lld to %lld", what, p->job, (long long)p->first, (long long)p->last);
        until[p->job] = p->to_ns;
        step[p->job] = p->last;
    }
    for (size_t i = 0; i < s.n_jobs; i++) {
        const struct job_row *row = job_index_row(&index, (int32_t)i);
        if (whole && row && row->state == JOB_SUCCEEDED && s.jobs[i].total_steps && step[i] < s.jobs[i].total_steps)
            fail_msg("%s: job %zu succeeded after %lld of %lld steps", what, i, (long long)step[i], (long long)s.jobs[i].total_steps);
    }
    free(until);
    free(step);
    job_index_free(&index);
    series_free(&s);
}

static void random_runs(void **state)
{
    static const char *const approaches[] = {"one", "two"};
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        for (int k = 0; k < 4; k++) {
            struct str json = {0};
            struct diag d = {0};
            char what[60];
            snprintf(what, sizeof what, "seed %llu, %s, level %d", (unsigned long long)seed, approaches[k / 2], 1 + k % 2);
            any_scenario_part(seed, seed % 2 ? ANY_ALL : ANY_ALL & ~ANY_SCRIPT, 100, &json);
            struct scenario *scenario = scenario_parse("any.json", json.s, json.n, approaches[k / 2], &d);
            struct run *run = scenario ? temp_run(scenario, k % 2 ? RECORD_FULL : RECORD_JOBS) : NULL;
            if (run) check_run(run, what, seed % 2 == 0);
            if (run) temp_run_close(run);
            if (scenario) scenario_free(scenario);
            diag_free(&d);
            str_free(&json);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_and_when), cmocka_unit_test(a_point_by_hand), cmocka_unit_test(loss_of_published_models),
        cmocka_unit_test(rates_by_hand),  cmocka_unit_test(steps_shown),
        cmocka_unit_test(random_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
