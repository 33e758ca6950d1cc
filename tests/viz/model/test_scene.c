/* test_scene.c - what a scene shows equals what the run's own tables say, exactly, for any run.
 *
 * Expected values are the run's ledger.csv and jobs.csv, which the simulator books apart from the records that the tracks are made of.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "tests/viz/model/runs.h"
#include "viz/model/scene.h"

static char top[] = "/tmp/trainyard-scene-XXXXXX";

static struct scene *opened(const char *dir)
{
    char *err = NULL;
    struct scene *s = scene_open(dir, &err);
    if (!s) fail_msg("%s", err);
    return s;
}

static void assert_adds_up(const struct scene *s, const char *what)
{
    struct str out = {0};
    if (!scene_check(s, &out)) fail_msg("%s:\n%s", what, str_text(&out));
    if (s->notes) fail_msg("%s: %s", what, s->notes);
    str_free(&out);
}

/* ---- what must hold of any scene ---- */

static void assert_ordered(const struct scene *s, enum scene_set set, uint32_t t)
{
    const struct scene_track *k = &s->tracks[set][t];
    for (uint32_t i = 0; i < k->n; i++) {
        const struct scene_span *v = &k->v[i];
        assert_true(v->from_ns < scene_to(s, v) && scene_to(s, v) <= s->end_ns && v->show < N_SHOWS && v->cause < N_CAUSES);
        assert_true(v->job == NO_JOB || (uint32_t)v->job < s->n_jobs);
        if (!i) continue;
        assert_true(k->v[i - 1].from_ns <= v->from_ns);
        if (v->shares == 1000 || set == SCENE_JOBS) assert_true(scene_to(s, &k->v[i - 1]) <= v->from_ns);
    }
}

/* From submission to end without a gap. */
static void assert_whole_life(const struct scene *s, uint32_t j)
{
    const struct scene_track *k = &s->tracks[SCENE_JOBS][j];
    const struct scene_job *job = &s->jobs[j];
    int64_t end = job->finished_ns >= 0 ? job->finished_ns : s->end_ns;
    if (job->submit_ns == end) return;
    assert_true(k->n > 0 && k->v[0].from_ns == job->submit_ns && scene_to(s, &k->v[k->n - 1]) == end);
    for (uint32_t i = 1; i < k->n; i++) assert_true(scene_to(s, &k->v[i - 1]) == k->v[i].from_ns);
}

static void assert_in_order(const struct scene *s)
{
    for (uint32_t i = 1; i < s->n_events; i++) assert_true(s->events[i - 1].time_ns <= s->events[i].time_ns);
    for (uint32_t j = 0; j < s->n_jobs; j++) {
        const struct scene_job *job = &s->jobs[j];
        for (uint32_t i = 0; i < job->n_events; i++)
            assert_int_equal(s->events[s->by_job[job->first_event + i]].job, j);
        if (s->has_timeline) assert_whole_life(s, j);
        assert_non_null(job->row);
        assert_int_equal(scene_find_job(s, job->id), j);
    }
    for (enum scene_set set = 0; set < N_SCENE_SETS; set++)
        for (uint32_t t = 0; t < s->n_tracks[set]; t++) assert_ordered(s, set, t);
    for (uint32_t t = 0; t < s->n_tracks[SCENE_GPUS]; t++) {
        const struct scene_node *n = &s->nodes[scene_node_of(s, t)];
        assert_true(t >= n->first_gpu && t < n->first_gpu + n->n_gpus);
    }
}

static void check_dir(const char *dir, const char *what)
{
    struct scene *s = opened(dir);
    assert_adds_up(s, what);
    assert_in_order(s);
    scene_close(s);
}

/* ---- runs ---- */

static void test_random(void **state)
{
    enum { SEEDS = 150 };
    static const char *const approaches[] = {"one", "two"};
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (int a = 0; a < 2; a++) {
            char what[64];
            snprintf(what, sizeof what, "seed %llu, approach %s", (unsigned long long)seed, approaches[a]);
            if (run_any(seed, ANY_ALL, approaches[a], below(top, "any"), RECORD_FULL)) check_dir(below(top, "any"), what);
            remove_top(below(top, "any"));
        }
}

static void test_shipped(void **state)
{
    static const char *const files[] = {"scenarios/demo.json", "scenarios/fifo-or-skip.json", "scenarios/llm-training.json",
                                        "scenarios/quotas.json", "scenarios/two-teams.json"};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        struct diag d = {0};
        struct scenario *s = scenario_load(files[f], NULL, NULL, &d);
        assert_non_null(s);
        for (uint32_t a = 0; a < s->n_approaches; a++)
            for (int level = RECORD_NONE; level <= RECORD_FULL; level++) {
                assert_true(run_file(files[f], s->approach_names[a], below(top, "shipped"), level));
                check_dir(below(top, "shipped"), files[f]);
                remove_top(below(top, "shipped"));
            }
        scenario_free(s);
        diag_free(&d);
    }
}

static const char scenario_of_one[] =
    "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 1, \"gpus\": 1 } ] },"
    "  \"workload\": { \"jobs\": [ { \"kind\": \"train\", \"replicas\": 1, \"gpus\": 1, \"submit\": 0, \"duration\": 20 } ] },"
    "  \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\" } } }";

/* A run whose row says nothing of the 10 s that its job waited by the records: said when it is opened, unless it has not ended well. */
static void test_sums_that_differ(void **state)
{
    (void)state;
    for (int complete = 0; complete < 2; complete++) {
        struct run_meta meta = {.scenario_name = "s", .scenario_hash = "", .approach = "a", .back_end = "sim", .record_level = RECORD_JOBS, .horizon_ns = -1};
        struct run_writer *w = run_create(below(top, "differ"), &meta, NULL);
        struct recorder *r = run_recorder(w);
        recorder_put(r, &(struct record){.type = REC_JOB_SUBMITTED, .subject = 1000});
        recorder_put(r, &(struct record){.time_ns = seconds(10), .type = REC_JOB_STARTED, .subject = 1});
        recorder_put(r, &(struct record){.time_ns = seconds(30), .type = REC_JOB_FINISHED, .code = JOB_SUCCEEDED});
        run_job(w, &(struct job_row){.number = 1, .state = JOB_SUCCEEDED, .gpu_shares = 1000, .admitted_ns = -1, .allocated_ns = -1,
                                     .started_ns = seconds(10), .finished_ns = seconds(30), .team = "", .queue = "", .kind = "train"});
        struct ledger *l = ledger_create(0);
        ledger_close(l, seconds(30));
        run_finish(w, complete ? RUN_COMPLETE : RUN_INTERRUPTED, l, seconds(30), NULL);
        ledger_destroy(l);
        file_write_atomic(below(below(top, "differ"), "scenario.json"), scenario_of_one, sizeof scenario_of_one - 1, &(struct diag){0});
        struct scene *s = scene_open(below(top, "differ"), NULL);
        assert_non_null(s);
        bool said = s->notes && strstr(s->notes, "waits, in queues: the tracks show 10.000000000 s, jobs.csv says 0.000000000 s");
        if (said != complete) fail_msg("complete %d, notes: %s", complete, s->notes ? s->notes : "none");
        scene_close(s);
        remove_top(below(top, "differ"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_shipped), cmocka_unit_test(test_sums_that_differ)};
    if (!mkdtemp(top)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_top(top);
    return failed;
}
