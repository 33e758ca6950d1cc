/* test_validate.c - two runs that were told by hand: errors, distances, order, victims and verdict against arithmetic.
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
#include "real/live_run.h"
#include "study/validate.h"

static char top[] = "/tmp/trainyard-validate-XXXXXX";
static struct arena arena;

enum { JOBS = 4, MS = 1000000 };

/* Four jobs of one GPU on four nodes. */
static const char text[] =
    "{\"trainyard\": 1, \"name\": \"four\",\n"
    " \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 4, \"gpus\": 1}]},\n"
    " \"workload\": {\"jobs\": [\n"
    "   {\"id\": \"a\", \"kind\": \"PyTorchJob\", \"replicas\": 1, \"gpus\": 1, \"duration\": 60, \"submit\": 0},\n"
    "   {\"id\": \"b\", \"kind\": \"PyTorchJob\", \"replicas\": 1, \"gpus\": 1, \"duration\": 60, \"submit\": 0},\n"
    "   {\"id\": \"c\", \"kind\": \"PyTorchJob\", \"replicas\": 1, \"gpus\": 1, \"duration\": 60, \"submit\": 0},\n"
    "   {\"id\": \"d\", \"kind\": \"PyTorchJob\", \"replicas\": 1, \"gpus\": 1, \"duration\": 60, \"submit\": 0}]},\n"
    " \"approaches\": {\"operator\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"fifo\"}}}\n";

/* When each job is admitted and how long it takes to start, in ms; who evicts job d (NO_JOB: nobody); ms of a step; how much
 * of its start each job waits with the reason detection (0: none), in ms. */
struct story {
    const char *name;
    int64_t admitted[JOBS], start[JOBS];
    int32_t evicts_d;
    int64_t step;
    enum job_state end_of_c;
    int64_t detection[JOBS];
};

static void play_job(struct live_run *l, const struct story *s, uint32_t j)
{
    int64_t at = s->admitted[j] + s->start[j];
    live_allocated(l, j);
    if (s->detection[j]) live_waits(l, j, WAIT_DETECTION);
    live_at(l, (s->admitted[j] + s->detection[j]) * MS);
    live_waits(l, j, WAIT_START);
    live_at(l, at * MS);
    live_started(l, j);
    live_at(l, (at + 10 * s->step) * MS);
    live_stepped(l, j, &(struct live_steps){.first = 0, .next = 10, .compute_ns = 10 * s->step * MS});
    if (j == 3 && s->evicts_d != NO_JOB) live_evicted(l, j, STOP_PREEMPTED, s->evicts_d);
    else live_ended(l, j, j == 2 ? s->end_of_c : JOB_SUCCEEDED);
}

/* Jobs one after another, each with all its moments: admissions are 100 s apart, in the order of `admitted`. */
static const char *play(const struct story *s)
{
    struct diag d = {0};
    char *err = NULL;
    const char *dir = path_join(&arena, top, s->name);
    struct scenario *sc = scenario_parse("four.json", text, sizeof text - 1, NULL, &d);
    assert_non_null(sc);
    struct live_run *l = live_create(
        sc, &(struct live_options){.dir = dir, .back_end = "host", .record_level = RECORD_FULL, .force = true}, &err);
    assert_non_null(l);
    for (uint32_t j = 0; j < JOBS; j++) live_submitted(l, j);
    for (int turn = 0; turn < JOBS; turn++) {
        uint32_t next = 0;
        for (uint32_t j = 0; j < JOBS; j++)
            if (live_state(l, j) == JOB_PENDING && (live_state(l, next) != JOB_PENDING || s->admitted[j] < s->admitted[next]))
                next = j;
        live_at(l, s->admitted[next] * MS);
        live_admitted(l, next);
        uint32_t g = live_take(l, next, next, 1000, ACT_CONTAINER_START);
        play_job(l, s, next);
        live_free(l, next, g);
    }
    if (!live_finish(l, RUN_COMPLETE, &err)) fail_msg("%s", err);
    scenario_free(sc);
    diag_free(&d);
    return dir;
}

static const struct story live_story = {
    "live", {1000, 101000, 201000, 301000}, {2000, 3000, 4000, 5000}, NO_JOB, 500, JOB_SUCCEEDED, {0}};

static void validate_by(const struct story *sim, const struct story *live, int64_t jitter, bool events_only, struct validation *v)
{
    char *err = NULL;
    struct validate_plan plan = {.sim = play(sim), .live = play(live), .jitter_ns = jitter, .events_only = events_only};
    if (!validate_runs(&plan, v, &err)) fail_msg("%s", err);
}

static void validate(const struct story *sim, const struct story *live, int64_t jitter, struct validation *v)
{
    validate_by(sim, live, jitter, false, v);
}

/* NULL: nothing to compare. */
static const struct validated *maybe_row(const struct validation *v, unsigned quantity)
{
    for (size_t i = 0; i < v->n_rows; i++)
        if (v->rows[i].quantity == quantity) return &v->rows[i];
    return NULL;
}

static const struct validated *row(const struct validation *v, unsigned quantity)
{
    const struct validated *r = maybe_row(v, quantity);
    if (!r) fail_msg("no %s", quantity_name(quantity));
    return r;
}

#define assert_near(x, y) assert_true(fabs((double)(x) - (double)(y)) <= 1e-9 * (1 + fabs((double)(y))))

static void test_equal(void **state)
{
    struct story sim = live_story;
    struct validation v;
    (void)state;
    sim.name = "sim";
    validate(&sim, &live_story, 10 * MS, &v);
    assert_true(v.passed);
    assert_int_equal(v.differences.n, 0);
    assert_int_equal(v.n_events, 3 * JOBS); /* admitted, started, finished */
    assert_near(row(&v, Q_START)->live_p50_s, 3.5);
    assert_near(row(&v, Q_START)->distance, 0);
    assert_near(row(&v, Q_STEP)->live_p50_s, 0.5);
    validate_free(&v);
}

/* Start-ups of 2, 3, 4, 5 s simulated as 2.1, 3.3, 4.1, 5.5: bias 0.25 s, relative errors 5, 10, 2.5, 10 %. Of these and
 * the live ones the distribution functions are at most one sample of four apart. Steps 4 % off. */
static void test_errors(void **state)
{
    struct story sim = live_story;
    const int64_t start[JOBS] = {2100, 3300, 4100, 5500};
    struct validation v;
    (void)state;
    sim.name = "sim";
    sim.step = 520;
    memcpy(sim.start, start, sizeof start);
    validate(&sim, &live_story, 10 * MS, &v);
    const struct validated *r = row(&v, Q_START);
    assert_int_equal(r->n_pairs, JOBS);
    assert_near(r->sim_p50_s, 3.7);
    assert_near(r->live_p95_s, 4.85); /* type 7: 4 + 0.85 (5 - 4) */
    assert_near(r->bias_s, 0.25);
    assert_near(r->error, 0.075);
    assert_near(r->distance, 0.25);
    assert_true(r->passed); /* 3.7 against 3.5: 5.7 % */
    assert_near(row(&v, Q_STEP)->error, 0.04);
    assert_true(v.passed);
    validate_free(&v);
    sim.step = 530; /* 6 % */
    validate(&sim, &live_story, 10 * MS, &v);
    assert_false(row(&v, Q_STEP)->passed);
    assert_false(v.passed);
    validate_free(&v);
    validate_by(&sim, &live_story, 10 * MS, true, &v); /* told, not judged */
    assert_false(row(&v, Q_STEP)->passed);
    assert_true(v.passed);
    validate_free(&v);
}

/* In the live run each of c's three events is about 100 s after b's, in the simulated one before. */
static void test_order(void **state)
{
    struct story sim = live_story;
    struct validation v;
    (void)state;
    sim.name = "sim";
    sim.admitted[1] = 201000;
    sim.admitted[2] = 101000;
    validate(&sim, &live_story, 10 * MS, &v);
    assert_int_equal(v.counts[DIFF_ORDER], 3);
    for (size_t i = 0; i < v.differences.n; i++) {
        assert_string_equal(v.differences.v[i].event->job->id, "c");
        assert_string_equal(v.differences.v[i].other->job->id, "b");
    }
    assert_false(v.passed);
    validate_free(&v);
    validate_by(&sim, &live_story, 10 * MS, true, &v);
    assert_false(v.passed); /* order is judged */
    validate_free(&v);
    validate(&sim, &live_story, 100000 * (int64_t)MS, &v); /* 300 s: nothing of these runs has an order then */
    assert_int_equal(v.counts[DIFF_ORDER], 0);
    validate_free(&v);
}

static void test_decisions(void **state)
{
    struct story sim = live_story, live = live_story;
    struct validation v;
    (void)state;
    sim.name = "sim";
    sim.evicts_d = 0;
    live.evicts_d = 1;
    sim.end_of_c = JOB_FAILED;
    validate(&sim, &live, 10 * MS, &v);
    assert_int_equal(v.counts[DIFF_VICTIM], 1);
    assert_int_equal(v.counts[DIFF_END], 1);
    assert_int_equal(v.counts[DIFF_ORDER], 0);
    assert_false(v.passed);
    validate_free(&v);
    sim = live_story;
    sim.name = "sim";
    validate(&sim, &live, 10 * MS, &v); /* evicted live only; simulated it finished instead */
    assert_int_equal(v.counts[DIFF_ONLY_LIVE], 1);
    assert_int_equal(v.counts[DIFF_ONLY_SIM], 1);
    assert_false(v.passed);
    validate_free(&v);
}

/* Waits of four jobs in both runs, in ms, with a jitter of 40 ms: how many jobs count, and the verdict. */
static void test_waits(void **state)
{
    static const struct { const char *why; int64_t sim[JOBS], live[JOBS]; size_t pairs, n_sim, n_live; bool passes; } rows[] = {
        {"equal", {3000, 50}, {3000, 50}, 2, 2, 2, true},
        {"both medians are over the same jobs: 41 and 39 are one pair", {3000, 41}, {3000, 39}, 2, 2, 2, true},
        {"... whichever is the longer one", {3000, 39}, {3000, 41}, 2, 2, 2, true},
        {"neither can be told from none", {3000, 40, 7}, {3000, 2, 40}, 1, 1, 1, true},
        {"nothing at all can", {40, 12}, {3, 30}, 0, 0, 0, true},
        {"none, and one within the jitter of none", {40}, {0}, 0, 0, 0, true},
        {"none, and one that is longer", {41}, {0}, 1, 1, 0, false},
        {"... the other way round", {3000}, {3000, 300, 300}, 3, 1, 3, false},
        {"of one sample, 12 % off", {3360}, {3000}, 1, 1, 1, false},
        {"of two, both", {3400, 3400}, {3000, 3000}, 2, 2, 2, false},
        {"of two, the medians 2 s and 1.5", {1000, 3000}, {50, 2950}, 2, 2, 2, false},
        {"of two, one hidden behind the other: medians 1.65 and 1.525", {300, 3000}, {50, 3000}, 2, 2, 2, false},
        {"of two, both by less than the jitter", {80, 3100}, {50, 3000}, 2, 2, 2, true},
        {"of three, one", {300, 3000, 3010}, {50, 3000, 3010}, 3, 3, 3, true},
        {"of four, two", {300, 300, 3000, 3010}, {50, 50, 3000, 3010}, 4, 4, 4, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct story sim = live_story, live = live_story;
        struct validation v;
        sim.name = "sim";
        for (int j = 0; j < JOBS; j++) sim.start[j] = live.start[j] = 5000;
        memcpy(sim.detection, rows[i].sim, sizeof sim.detection);
        memcpy(live.detection, rows[i].live, sizeof live.detection);
        for (int j = 0; j < JOBS; j++) { /* what is left of the start is alike */
            sim.start[j] += sim.detection[j];
            live.start[j] += live.detection[j];
        }
        validate(&sim, &live, 40 * MS, &v);
        const struct validated *r = maybe_row(&v, Q_WAITS + WAIT_DETECTION);
        if ((r ? r->n_pairs : 0) != rows[i].pairs || (r && (r->n_sim != rows[i].n_sim || r->n_live != rows[i].n_live)))
            fail_msg("%s: another number of jobs counts", rows[i].why);
        if ((r ? r->passed : true) != rows[i].passes) fail_msg("%s: %s", rows[i].why, rows[i].passes ? "fails" : "passes");
        assert_true(row(&v, Q_WAITS + WAIT_START)->passed);
        validate_free(&v);
    }
}

/* A timeline whose last block lacks its end: damage in a run that is over; one that is still written, or was killed, is only told of. */
static void test_damaged(void **state)
{
    const char *dir = play(&live_story), *timeline = path_join(&arena, dir, "timeline.bin"), *manifest = path_join(&arena, dir, "run.json");
    struct measures m;
    char *err = NULL, text_of[8192];
    FILE *f = fopen(timeline, "r+b");
    (void)state;
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    assert_int_equal(ftruncate(fileno(f), ftell(f) - 1), 0);
    fclose(f);
    assert_true(measures_read(dir, &m, &err));
    assert_true(m.damaged);
    assert_non_null(strstr(m.warnings, timeline));
    assert_non_null(strstr(m.warnings, "not whole"));
    measures_free(&m);
    f = fopen(manifest, "r+b");
    assert_non_null(f);
    text_of[fread(text_of, 1, sizeof text_of - 1, f)] = '\0';
    char *state_of = strstr(text_of, "\"complete\"");
    assert_non_null(state_of);
    assert_int_equal(fseek(f, state_of - text_of, SEEK_SET), 0);
    fputs("\"running\" ", f);
    fclose(f);
    assert_true(measures_read(dir, &m, &err));
    assert_false(m.damaged);
    assert_non_null(strstr(m.warnings, "not whole"));
    measures_free(&m);
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
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, make_top, remove_top);
}
