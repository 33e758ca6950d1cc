/* test_events_job.c - the event log and the page of a job.
 *
 * Expected values are the records of the run and its jobs.csv.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/viz/views/views.h"
#include "viz/views/event_list.h"
#include "viz/views/job_facts.h"

static struct scene *open_run(const char *file, const char *approach, const char *name)
{
    char *err = NULL;
    assert_true(run_file(file, approach, below(top, name), RECORD_FULL));
    struct scene *s = scene_open(below(top, name), &err);
    if (!s) fail_msg("%s", err);
    return s;
}

/* ---- the log ---- */

static void a_walk_meets_each_shown_event_once(void **state)
{
    (void)state;
    struct scene *s = open_run("scenarios/two-teams.json", "operator", "walk");
    bool *passes = calloc(s->n_jobs, sizeof *passes);
    for (uint32_t j = 0; j < s->n_jobs; j += 3) passes[j] = true;
    for (int kinds = 0; kinds < 2 * N_EVENT_KINDS; kinds++) {
        struct event_pick p = {s, (enum event_kinds)(kinds % N_EVENT_KINDS), kinds < N_EVENT_KINDS ? NULL : passes};
        uint32_t want = 0, forward = 0, backward = 0, before;
        for (uint32_t i = 0; i < s->n_events; i++) want += event_pick_shown(&p, i);
        for (uint32_t i = event_pick_shown(&p, 0) ? 0 : event_pick_next(&p, 0, true); i < s->n_events; i = event_pick_next(&p, i, true)) forward++;
        for (uint32_t i = event_pick_next(&p, s->n_events, false); i < s->n_events; i = event_pick_next(&p, i, false)) backward++;
        assert_int_equal(forward, want);
        assert_int_equal(backward, want);
        assert_int_equal(event_pick_count(&p, s->n_events, &before), want);
    }
    free(passes);
    scene_close(s);
}

static void the_cursor_stands_at_the_last_event_before_it(void **state)
{
    (void)state;
    struct scene *s = open_run("scenarios/two-teams.json", "operator", "cursor");
    struct event_pick p = {s, EVENTS_ALL, NULL};
    for (uint32_t i = 0; i + 1 < s->n_events; i += 97) {
        uint32_t at = event_pick_at(&p, s->events[i].time_ns, s->n_events);
        assert_true(at >= i && s->events[at].time_ns == s->events[i].time_ns);
        assert_int_equal(event_pick_at(&p, s->events[i].time_ns, i), i); /* the chosen one */
    }
    assert_int_equal(event_pick_at(&p, -1, s->n_events), 0);
    scene_close(s);
}

static void keys_go_from_event_to_event(void **state)
{
    (void)state;
    struct looking l;
    assert_true(run_file("scenarios/two-teams.json", "operator", below(top, "keys"), RECORD_FULL));
    look_at(&l, (const char *const[]){below(top, "keys")}, 1);
    look_key(&l, '5', 0);
    double all = look_number(&l, "panes.0.shown"), failures = 0;
    assert_true(all == l.scene[0]->n_events);
    for (uint32_t i = 0; i < l.scene[0]->n_events; i++) failures += scene_event_is_failure(&l.scene[0]->events[i]);
    for (int i = 0; i < 100; i++) { /* each key one event, though many share a moment */
        double before = look_number(&l, "panes.0.before_cursor");
        look_key(&l, UI_DOWN, 0);
        assert_true(look_number(&l, "panes.0.before_cursor") == before + 1);
    }
    look_key(&l, UI_UP, 0);
    assert_string_equal(look_text(&l, "selection.kind"), "event");
    look_key(&l, 'k', 0);
    assert_string_equal(look_text(&l, "panes.0.kinds"), "failures");
    assert_true(look_number(&l, "panes.0.shown") == failures);
    look_away(&l);
}

/* On 1 GPU, first in first out: b waits for a. Enter on the event that ends its wait goes to a. */
static const char line[] = "{\"trainyard\":1,\"name\":\"line\",\"cluster\":{\"nodes\":[{\"group\":\"n\",\"count\":1,\"gpus\":1}]},"
                           "\"workload\":{\"jobs\":[{\"id\":\"a\",\"gpus\":1,\"duration\":\"10m\"},{\"id\":\"b\",\"submit\":\"1m\",\"gpus\":1,\"duration\":\"5m\"}]},"
                           "\"approaches\":{\"fifo\":{\"lifecycle\":\"none\",\"admission\":\"fifo\"}}}";

static void enter_follows_to_the_blocker(void **state)
{
    (void)state;
    struct looking l;
    assert_true(run_text(line, "fifo", below(top, "line"), RECORD_FULL));
    look_at(&l, (const char *const[]){below(top, "line")}, 1);
    look_type(&l, '/', "job=b");
    look_key(&l, '7', 0);
    assert_string_equal(look_text(&l, "panes.0.columns.0.job"), "b");
    assert_true(look_number(&l, "panes.0.columns.0.waited_s") == 540);
    assert_true(look_number(&l, "panes.0.columns.0.ran_s") == 300);
    assert_string_equal(look_text(&l, "panes.0.columns.0.longest_waits.0.blocker"), "a");
    assert_true(look_number(&l, "panes.0.columns.0.longest_waits.0.s") == 540);
    look_key(&l, UI_ENTER, 0);
    assert_string_equal(look_text(&l, "panes.0.columns.0.job"), "a");
    look_away(&l);
}

/* ---- the page ---- */

static void facts_equal_the_rows_of_jobs_csv(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct scene *s = open_run("scenarios/two-teams.json", i ? "actor" : "operator", "facts");
        uint32_t attempts = 0, restarts = 0;
        for (uint32_t j = 0; j < s->n_jobs; j++) {
            struct job_facts f;
            int64_t sum = 0, all = 0, rows = 0;
            job_facts_make(&f, s, (int32_t)j);
            for (size_t k = 0; k < f.waits.n; k++) sum += f.waits.v[k].to_ns - f.waits.v[k].from_ns;
            for (unsigned r = 0; r < N_WAIT_REASONS; r++) all += f.wait_ns[r];
            for (unsigned r = 0; f.job->row && r < N_WAIT_REASONS; r++) rows += f.job->row->wait_ns[r];
            assert_true(sum == all && (!f.job->row || rows == all));
            for (unsigned r = 0; f.job->row && r < N_WAIT_REASONS; r++) { /* also in queues, by reason */
                int64_t told = 0;
                for (size_t k = 0; k < f.waits.n; k++) told += f.waits.v[k].reason == r ? f.waits.v[k].to_ns - f.waits.v[k].from_ns : 0;
                assert_int_equal(told, f.job->row->wait_ns[r]);
            }
            for (size_t k = 1; k < f.waits.n; k++) assert_true(f.waits.v[k].from_ns >= f.waits.v[k - 1].to_ns);
            uint32_t gpus = 0;
            for (size_t k = 0; k < f.places.n; k++) gpus += f.places.v[k].gpus;
            if (f.job->allocated_ns >= 0) assert_true((int64_t)gpus * 1000 >= f.job->gpu_shares);
            for (size_t k = 0; k + 1 < f.attempts.n; k++) assert_true(f.attempts.v[k].stopped_ns >= 0);
            attempts += (uint32_t)f.attempts.n;
            restarts += f.job->restarts + f.job->preemptions;
            job_facts_free(&f);
        }
        assert_true(restarts > 0 && attempts >= s->n_jobs);
        scene_close(s);
    }
}

/* The run of demo's like: pretrain crashes and rolls back. */
static void the_page_tells_attempts_and_what_was_lost(void **state)
{
    (void)state;
    struct looking l;
    const char *dirs[] = {below(top, "A"), below(top, "B")};
    assert_true(run_file("scenarios/two-teams.json", "operator", dirs[0], RECORD_FULL));
    assert_true(run_file("scenarios/two-teams.json", "actor", dirs[1], RECORD_FULL));
    look_at(&l, dirs, 2);
    look_type(&l, '/', "job=pretrain");
    look_key(&l, '7', 0);
    for (int i = 0; i < 2; i++) {
        char path[80];
        int32_t job = scene_find_job(l.scene[i], "pretrain");
        const struct scene_job *j = &l.scene[i]->jobs[job];
        snprintf(path, sizeof path, "panes.0.columns.%d.restarts", i);
        assert_true(look_number(&l, path) == j->restarts);
        snprintf(path, sizeof path, "panes.0.columns.%d.attempts", i);
        assert_int_equal(cJSON_GetArraySize(look_dump(&l, path)), 1 + j->restarts + j->preemptions);
        double redone = 0;
        const cJSON *a;
        cJSON_ArrayForEach(a, look_dump(&l, path))
        {
            const cJSON *to = cJSON_GetObjectItemCaseSensitive(a, "to_step"), *kept = cJSON_GetObjectItemCaseSensitive(a, "kept_step");
            if (to && kept) redone += to->valuedouble - kept->valuedouble;
        }
        assert_true((redone > 0) == (j->rollbacks > 0));
        snprintf(path, sizeof path, "panes.0.columns.%d.work_gpu_s", i);
        assert_non_null(look_dump(&l, path));
    }
    look_key(&l, 'b', 0); /* only A */
    assert_int_equal(cJSON_GetArraySize(look_dump(&l, "panes.0.columns")), 1);
    look_away(&l);
}

static void without_a_job_it_says_how_to_choose_one(void **state)
{
    (void)state;
    struct looking l;
    assert_true(run_text(line, "fifo", below(top, "none"), RECORD_NONE));
    look_at(&l, (const char *const[]){below(top, "none")}, 1);
    look_key(&l, '7', 0);
    assert_non_null(look_dump(&l, "panes.0.empty"));
    look_type(&l, '/', "job=a");
    look_key(&l, '7', 0);
    assert_string_equal(look_text(&l, "panes.0.columns.0.job"), "a");
    look_key(&l, '5', 0);
    assert_true(look_number(&l, "panes.0.shown") == 0);
    look_away(&l);
}

/* A model tells its loss: it falls along the points. */
static void curves_of_training(void **state)
{
    (void)state;
    struct looking l;
    struct diag d = {0};
    struct scenario *s = scenario_load("scenarios/llm-training.json", NULL, NULL, &d);
    if (!s) diag_print(&d, stderr);
    assert_non_null(s);
    assert_true(run_scenario(s, below(top, "llm"), RECORD_FULL));
    scenario_free(s);
    diag_free(&d);
    look_at(&l, (const char *const[]){below(top, "llm")}, 1);
    look_key(&l, 'j', 0);
    look_key(&l, UI_DOWN, 0);
    look_key(&l, '7', 0);
    const cJSON *point, *points = look_dump(&l, "panes.0.columns.0.training");
    double before = 1e9;
    int n = 0;
    cJSON_ArrayForEach(point, points)
    {
        const cJSON *loss = cJSON_GetObjectItemCaseSensitive(point, "loss");
        if (!cJSON_IsNumber(loss) || n++ == 0) continue;
        if (loss->valuedouble < before) before = loss->valuedouble;
    }
    assert_true(n > 2 && before < 1e9);
    look_away(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_meets_each_shown_event_once),
        cmocka_unit_test(the_cursor_stands_at_the_last_event_before_it),
        cmocka_unit_test(keys_go_from_event_to_event),
        cmocka_unit_test(enter_follows_to_the_blocker),
        cmocka_unit_test(facts_equal_the_rows_of_jobs_csv),
        cmocka_unit_test(the_page_tells_attempts_and_what_was_lost),
        cmocka_unit_test(without_a_job_it_says_how_to_choose_one),
        cmocka_unit_test(curves_of_training),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
