/* test_range.c - the second cursor and what lies between two moments, against the records and tables of the run itself.
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

#include "base/arena.h"
#include "base/hmap.h"
#include "base/str.h"
#include "base/units.h"
#include "run/timeline.h"
#include "tests/support/viewer_session.h"
#include "viz/model/range_sums.h"
#include "viz/ui/view.h"

static const int64_t from_ns = 86400 * NS_PER_S, to_ns = 196200 * NS_PER_S; /* 1d to 2d 06:30 */
#define BETWEEN "key g\ntext 1d\nkey enter\nkey v\nkey g\ntext 2d 06:30\nkey enter\n"

static void near(double x, double y, double within)
{
    if (!(fabs(x - y) <= within)) fail_msg("%.12g is not %.12g", x, y);
}

/* ---- the same from the records alone ---- */

struct truth {
    share_ns held[N_ACTIVITIES]; /* by allocation groups, but for work, which records do not name by activity */
    uint64_t by_type[N_RECORD_TYPES], events;
};

struct group { /* of a job, as its last record left it */
    int64_t since, shares;
    unsigned activity;
    bool there;
};

/* Until `now`, or until the job's ranks began to step: then they work, which no record of the group says. */
static void book(struct truth *t, struct group *g, int64_t stepped, int64_t now)
{
    int64_t end = stepped >= g->since && stepped < now ? stepped : now;
    int64_t a = g->since > from_ns ? g->since : from_ns, b = end < to_ns ? end : to_ns;
    if (g->there && b > a) t->held[g->activity] += (share_ns)(b - a) * (share_ns)g->shares;
    g->since = now;
}

static struct group *group_of(struct hmap *all, struct arena *a, const struct record *r)
{
    uint64_t key = (uint64_t)(uint32_t)r->job << 32 | r->subject;
    struct group *g = hmap_get_u64_ptr(all, key);
    if (g) return g;
    g = arena_new(a, struct group);
    hmap_put_u64_ptr(all, key, g);
    return g;
}

static void read_truth(const struct run *run, struct truth *t)
{
    struct hmap all = {0};
    struct arena arena = {0};
    struct record r;
    char *err = NULL;
    struct timeline_reader *in = timeline_open(run->dir, &err);
    assert_non_null(in);
    int64_t *stepped = arena_array(&arena, run->n_jobs, int64_t);
    for (size_t i = 0; i < run->n_jobs; i++) stepped[i] = -1;
    *t = (struct truth){0};
    while (timeline_next(in, &r)) {
        if (r.type == REC_JOB_STARTED) stepped[r.job] = r.time_ns;
        bool group = r.type == REC_GROUP_STATE || r.type == REC_GROUP_FREED;
        if (group) {
            struct group *g = group_of(&all, &arena, &r);
            book(t, g, stepped[r.job], r.time_ns);
            g->there = r.type == REC_GROUP_STATE;
            g->activity = r.code & 0xff;
            g->shares = r.a;
        } else if (r.type != REC_GROUP_NODES && r.type != REC_STEPS && r.type != REC_CLASS_WAIT && r.time_ns >= from_ns && r.time_ns < to_ns) {
            t->by_type[r.type]++;
            t->events++;
        }
    }
    timeline_close(in);
    hmap_free(&all);
    arena_free(&arena);
}

static const char *path(unsigned run, const char *what)
{
    static char text[128];
    snprintf(text, sizeof text, "range.%u.%s", run, what);
    return text;
}

static double shown(struct session *s, unsigned run, const char *what)
{
    return session_has(s, path(run, what)) ? session_number(s, path(run, what)) : 0;
}

/* ---- tests ---- */

static void test_second_cursor(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    assert_false(session_has(s, "range"));
    session_play(s, BETWEEN);
    near(session_number(s, "mark_from_s"), 86400, 0);
    near(session_number(s, "mark_to_s"), 196200, 0);
    near(session_number(s, "anchor_s"), 86400, 0);
    assert_string_equal(session_detail(s, "length", false), "1d 06:30");
    session_play(s, "key g\ntext 12h\nkey enter"); /* the cursor passes the second one */
    near(session_number(s, "mark_from_s"), 43200, 0);
    near(session_number(s, "mark_to_s"), 86400, 0);
    session_play(s, "key v\nkey g\ntext 3d\nkey enter"); /* left where it is */
    near(session_number(s, "mark_to_s"), 86400, 0);
    near(session_number(s, "anchor_s"), -1, 0);
    session_play(s, "key f");
    near(session_number(s, "window_s"), 43200, 0);
    session_play(s, "key v\nkey esc");
    near(session_number(s, "anchor_s"), -1, 0);
    assert_false(session_has(s, "range"));
    assert_string_equal(session_text(s, "check"), "");
}

/* A click sets the first cursor and leaves the second. */
static void test_click_measures(void **state)
{
    struct session *s = *state;
    struct str script = {0};
    session_restart(s, false);
    session_play(s, "key v");
    struct box p = view_plot(s->ui, view_kinds[s->ui->view], s->ui->layout.body);
    str_printf(&script, "press %.1f 300\nrelease %.1f 300", (double)(p.x + p.w / 2), (double)(p.x + p.w / 2));
    session_play(s, str_text(&script));
    near(session_number(s, "mark_from_s"), 0, 0);
    near(session_number(s, "mark_to_s"), 216000, 400); /* half of five days, within a pixel */
    near(session_number(s, "cursor_s"), session_number(s, "mark_to_s"), 0);
    str_free(&script);
}

static void test_gpu_time_of_records(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, BETWEEN);
    for (unsigned i = 0; i < s->n; i++) {
        struct truth t;
        double sum = 0;
        char name[64];
        read_truth(s->scenes[i]->run, &t);
        for (unsigned a = 0; a < N_ACTIVITIES; a++) {
            snprintf(name, sizeof name, "gpu_s.%s", activity_table[a].name);
            double here = shown(s, i, name);
            sum += here;
            if (activity_table[a].class == CLASS_HELD) near(here, (double)t.held[a] / 1e12, 1e-6);
        }
        assert_true(t.held[ACT_WAIT_PEERS] > 0);
        sum += shown(s, i, "gpu_s.work") + shown(s, i, "gpu_s.redone") + shown(s, i, "idle_gpu_s");
        near(shown(s, i, "existing_gpu_s"), 1024. * 109800, 1e-6); /* 128 nodes of 8 */
        near(sum, 1024. * 109800, 1e-3);
        near(shown(s, i, "events"), (double)t.events, 0);
        for (unsigned k = 0; k < N_RECORD_TYPES; k++) {
            snprintf(name, sizeof name, "by_type.%s", record_table[k].name);
            near(shown(s, i, name), (double)t.by_type[k], 0);
        }
    }
}

/* Jobs by jobs.csv. */
static void test_jobs_of_table(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    session_play(s, BETWEEN);
    for (unsigned i = 0; i < s->n; i++) {
        const struct run *run = s->scenes[i]->run;
        unsigned submitted = 0, started = 0, ended = 0;
        for (size_t j = 0; j < run->n_jobs; j++) {
            const struct job_row *r = &run->jobs[j].row;
            submitted += r->submit_ns >= from_ns && r->submit_ns < to_ns;
            started += r->started_ns >= from_ns && r->started_ns < to_ns;
            ended += r->finished_ns >= from_ns && r->finished_ns < to_ns;
        }
        assert_true(submitted > 0);
        near(shown(s, i, "submitted"), submitted, 0);
        near(shown(s, i, "started"), started, 0);
        near(shown(s, i, "ended"), ended, 0);
    }
}

/* The whole run gives the sums of jobs.csv and ledger.csv; neighbouring ranges add up to it, exactly. */
static void test_whole_and_parts(void **state)
{
    struct session *s = *state;
    session_restart(s, false);
    for (unsigned i = 0; i < s->n; i++) {
        const struct ui_run *r = &s->ui->runs[i];
        struct range_sums whole, part[2];
        share_ns held = 0, cells = 0;
        range_sums_make(&whole, r->scene, r->curves, 0, r->scene->end_ns);
        range_sums_make(&part[0], r->scene, r->curves, 0, from_ns);
        range_sums_make(&part[1], r->scene, r->curves, from_ns, r->scene->end_ns);
        for (unsigned k = 0; k < SHOW_WAIT; k++) {
            assert_true(whole.by_show[k] == part[0].by_show[k] + part[1].by_show[k]);
            if (k < N_ACTIVITIES && activity_table[k].class == CLASS_HELD) held += whole.by_show[k];
        }
        for (size_t k = 0; k < r->scene->run->n_ledger; k++)
            if (activity_table[r->scene->run->ledger[k].activity].class == CLASS_HELD) cells += r->scene->run->ledger[k].sum;
        assert_true(held == cells && held > 0);
        int64_t after_queue = 0, waits = 0; /* reasons of queues are not told apart over time */
        for (size_t j = 0; j < r->scene->run->n_jobs; j++)
            for (unsigned w = N_QUEUE_REASONS; w < N_WAIT_REASONS; w++) after_queue += r->scene->run->jobs[j].waits[w];
        for (unsigned w = 0; w < N_WAIT_REASONS; w++) {
            assert_true(whole.waits[w] == part[0].waits[w] + part[1].waits[w]);
            if (w >= N_QUEUE_REASONS) waits += (int64_t)whole.waits[w];
        }
        assert_true(waits == after_queue && waits > 0);
        assert_int_equal(whole.submitted, part[0].submitted + part[1].submitted);
        assert_int_equal(whole.events, part[0].events + part[1].events);
    }
}

static int open_runs(void **state)
{
    *state = session_open(&(struct session_plan){.scenario = {"scenarios/demo.json"}, .approach = {"operator", "actor"}, .n = 2});
    return 0;
}

static int close_runs(void **state)
{
    session_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_cursor), cmocka_unit_test(test_click_measures), cmocka_unit_test(test_gpu_time_of_records),
        cmocka_unit_test(test_jobs_of_table), cmocka_unit_test(test_whole_and_parts),
    };
    return cmocka_run_group_tests(tests, open_runs, close_runs);
}
