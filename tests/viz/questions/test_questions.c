/* test_questions.c - what people ask of a run (facts of issue trackers and forums), each answered in at most five entries from the opening view of a comparison.
 *
 * NN.keys is a script of the viewer: its first line is the question, each other line an entry: a key, or a text that is typed after "/" or "g", which counts as
 * one. The answers are read from the state dump, which tells what the picture tells. Expected values come from the run's own tables and records (jobs.csv,
 * ledger.csv, timeline.bin, the metrics of run.json), read here without the viewer's model.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hmap.h"
#include "base/str.h"
#include "run/decimal.h"
#include "run/metrics.h"
#include "run/wait.h"
#include "study/job_index.h"
#include "tests/support/viewer_session.h"

enum { MOST_ENTRIES = 5, A = 0, B = 1 };

static struct session *session;
static struct run *runs[2];

/* ---- scripts ---- */

static void ask(const char *number)
{
    char path[64], line[256];
    struct str script = {0};
    int entries = 0;
    snprintf(path, sizeof path, "tests/viz/questions/%s.keys", number);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("%s is missing", path);
    for (int n = 0; fgets(line, sizeof line, f); n++) {
        assert_true(n > 0 || (line[0] == '#' && strchr(line, '?')));
        entries += line[0] != '#';
        str_append(&script, line);
    }
    fclose(f);
    assert_true(entries >= 1 && entries <= MOST_ENTRIES);
    session_restart(session, false);
    assert_string_equal(session_text(session, "view"), "gantt"); /* the opening view */
    session_play(session, str_text(&script));
    str_free(&script);
}

static const cJSON *line_of(const char *array, const char *key, const char *name)
{
    const cJSON *l;
    cJSON_ArrayForEach(l, session_find(session, array))
    {
        const cJSON *k = cJSON_GetObjectItemCaseSensitive(l, key);
        if (cJSON_IsString(k) && strcmp(k->valuestring, name) == 0) return l;
    }
    fail_msg("%s has no %s", array, name);
    return NULL;
}

static double number_in(const cJSON *object, const char *key)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(n)) fail_msg("no number %s", key);
    return n->valuedouble;
}

static double both(const cJSON *l, const char *key, int run)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(l, key), run)->valuedouble;
}

/* ---- tables ---- */

static const struct job_row *row_of(const struct run *r, const char *id)
{
    char buf[24];
    for (size_t i = 0; i < r->n_jobs; i++)
        if (strcmp(job_row_id(&r->jobs[i].row, buf), id) == 0) return &r->jobs[i].row;
    fail_msg("no job %s", id);
    return NULL;
}

static double ledger(const struct run *r, enum activity activity, bool redone)
{
    share_ns sum = 0;
    for (size_t i = 0; i < r->n_ledger; i++)
        if (r->ledger[i].activity == activity && r->ledger[i].redone == redone) sum += r->ledger[i].sum;
    return (double)sum / 1e12;
}

static double metric(const struct run *r, const char *name)
{
    return metric_of(r, (size_t)metric_find(name)).value;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static void assert_near(double a, double b)
{
    if (!near(a, b)) fail_msg("%.12g, expected %.12g", a, b);
}

/* Shares that groups hold at a moment, by job; nodes that are down and idle do not count. */
static int64_t held_at(const struct run *r, int64_t ns, int64_t *by_job, size_t n_jobs)
{
    char *err = NULL;
    struct timeline_reader *t = timeline_open(r->dir, &err);
    struct hmap held = {0};
    struct record rec;
    int64_t sum = 0;
    assert_non_null(t);
    while (timeline_next(t, &rec) && rec.time_ns <= ns) {
        uint64_t before = 0, now = rec.type == REC_GROUP_FREED ? 0 : (uint64_t)rec.a;
        uint64_t key = (uint64_t)(uint32_t)rec.job << 32 | rec.subject;
        if (rec.type != REC_GROUP_STATE && rec.type != REC_GROUP_FREED) continue;
        hmap_get_u64(&held, key, &before);
        hmap_put_u64(&held, key, now);
        sum += (int64_t)now - (int64_t)before;
        if (by_job && rec.job >= 0 && (size_t)rec.job < n_jobs) by_job[rec.job] += (int64_t)now - (int64_t)before;
    }
    hmap_free(&held);
    timeline_close(t);
    return sum;
}

/* ---- questions ---- */

static void why_did_it_wait(void **state)
{
    (void)state;
    ask("01");
    for (int i = 0; i < 2; i++) {
        char path[64];
        const struct job_row *r = row_of(runs[i], "3000006000009");
        snprintf(path, sizeof path, "panes.0.columns.%d.waited_for_s.quota", i);
        assert_near(session_number(session, path), (double)r->wait_ns[WAIT_QUOTA] / 1e9);
        int64_t all = 0;
        for (unsigned k = 0; k < N_WAIT_REASONS; k++) all += r->wait_ns[k];
        assert_true(r->wait_ns[WAIT_QUOTA] > all / 2); /* that is the answer */
    }
}

/* The last job to let go of GPUs before the admission that ended the longest wait. */
static void who_blocked_it(void **state)
{
    (void)state;
    struct job_index x;
    struct record rec;
    char *err = NULL, buf[24];
    assert_true(job_index_read(runs[A], &x, &err));
    int32_t job = job_index_find(&x, "3000006000009"), last = NO_JOB, blocker = NO_JOB;
    int64_t waits_since = -1, longest = 0;
    bool *has = calloc(x.n, sizeof *has);
    struct timeline_reader *t = timeline_open(runs[A]->dir, &err);
    while (timeline_next(t, &rec)) {
        if (rec.job < 0) continue;
        if (rec.type == REC_JOB_ALLOCATED) has[rec.job] = true;
        bool lets_go = rec.type == REC_JOB_FINISHED || rec.type == REC_JOB_STOPPED || rec.type == REC_JOB_EVICTED;
        if (lets_go && has[rec.job] && rec.job != job) last = rec.job;
        if (rec.job == job && (rec.type == REC_JOB_SUBMITTED || rec.type == REC_JOB_EVICTED)) waits_since = rec.time_ns;
        if (rec.job == job && rec.type == REC_JOB_ADMITTED && rec.time_ns - waits_since > longest) {
            longest = rec.time_ns - waits_since;
            blocker = last;
        }
    }
    timeline_close(t);
    ask("02");
    assert_string_equal(session_text(session, "selection.kind"), "job");
    assert_string_equal(session_text(session, "selection.job"), job_row_id(job_index_row(&x, blocker), buf));
    free(has);
    job_index_free(&x);
}

static void where_gpu_seconds_are_lost(void **state)
{
    (void)state;
    static const struct { const char *name; enum activity activity; } cells[] = {
        {"free", ACT_FREE}, {"blocked", ACT_BLOCKED}, {"image_pull", ACT_IMAGE_PULL}, {"wait_peers", ACT_WAIT_PEERS}, {"idle_pod", ACT_IDLE_POD}, {"stalled", ACT_STALLED}};
    ask("03");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        const cJSON *l = line_of("panes.0.gpu_time.lines", "name", cells[i].name);
        for (int r = 0; r < 2; r++) assert_near(both(l, "gpu_s", r), ledger(runs[r], cells[i].activity, false));
        assert_near(number_in(l, "difference"), both(l, "gpu_s", B) - both(l, "gpu_s", A));
    }
}

/* The first failure of a node: when, which, until when, and that its GPUs did no work from then until it was back. */
static void what_the_node_failure_cost(void **state)
{
    (void)state;
    struct record rec;
    char *err = NULL;
    int64_t failed = -1, back = -1, shares = 0;
    uint32_t node = 0;
    struct timeline_reader *t = timeline_open(runs[A]->dir, &err);
    while (back < 0 && timeline_next(t, &rec)) {
        if (rec.type != REC_NODE_STATE) continue;
        if (failed < 0) {
            failed = rec.time_ns;
            node = rec.subject;
            shares = rec.a;
        } else if (rec.subject == node)
            back = rec.time_ns;
    }
    timeline_close(t);
    ask("04");
    char name[32];
    snprintf(name, sizeof name, "h100-%u", node);
    assert_string_equal(session_text(session, "panes.0.cost.node"), name);
    assert_near(session_number(session, "panes.0.cost.from_s"), (double)failed / 1e9);
    assert_near(session_number(session, "panes.0.cost.to_s"), (double)back / 1e9);
    double lost = session_number(session, "panes.0.cost.down_gpu_s") + session_number(session, "panes.0.cost.held_gpu_s");
    assert_near(lost, (double)shares / 1e3 * (double)(back - failed) / 1e9);
    assert_true(session_number(session, "panes.0.cost.jobs") >= 1);
    double redone = session_number(session, "panes.0.cost.redone_gpu_s"), all = 0;
    for (size_t i = 0; i < runs[A]->n_jobs; i++) all += (double)runs[A]->jobs[i].row.redone / 1e12;
    assert_true(redone > 0 && redone <= all);
}

static void how_long_jobs_wait(void **state)
{
    (void)state;
    ask("05");
    for (int r = 0; r < 2; r++) {
        const cJSON *l = line_of("panes.0.waits", "approach", r ? "actor" : "operator");
        assert_near(number_in(l, "p50_wait"), metric(runs[r], "p50_wait"));
        assert_near(number_in(l, "p95_wait"), metric(runs[r], "p95_wait"));
    }
}

/* Of jobs that came after the warm-up and ended in both. */
static void who_loses_by_switching(void **state)
{
    (void)state;
    struct hmap first = {0};
    char buf[24], worst[24] = "";
    int64_t most = 0;
    uint64_t at;
    for (size_t i = 0; i < runs[A]->n_jobs; i++) hmap_put_str(&first, job_row_id(&runs[A]->jobs[i].row, buf), i);
    for (size_t i = 0; i < runs[B]->n_jobs; i++) {
        const struct job_row *b = &runs[B]->jobs[i].row;
        if (!hmap_get_str(&first, job_row_id(b, buf), &at)) continue;
        const struct job_row *a = &runs[A]->jobs[at].row;
        if (a->submit_ns < runs[A]->warmup_ns || a->finished_ns < 0 || b->finished_ns < 0 || b->state != JOB_SUCCEEDED) continue;
        if (b->finished_ns - a->finished_ns <= most) continue;
        most = b->finished_ns - a->finished_ns;
        snprintf(worst, sizeof worst, "%s", buf[0] ? job_row_id(b, buf) : "");
    }
    hmap_free(&first);
    ask("06");
    const cJSON *l = line_of("panes.0.jobs", "under_b", "later"); /* the first of them is the worst */
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(l, "job")->valuestring, worst);
    assert_near(number_in(l, "b_s") - number_in(l, "a_s"), (double)most / 1e9);
}

static const int64_t moment_ns = (2 * 24 + 10) * INT64_C(3600000000000); /* 2d 10:00 */

static void how_many_are_idle_then(void **state)
{
    (void)state;
    ask("07");
    for (int r = 0; r < 2; r++) {
        char path[64];
        snprintf(path, sizeof path, "panes.%d.held", r);
        double held = (double)held_at(runs[r], moment_ns, NULL, 0) / 1e3;
        assert_near(session_number(session, path), held);
        snprintf(path, sizeof path, "panes.%d.idle", r);
        double idle = session_number(session, path);
        assert_near(idle, 1024 - held); /* no node is down then */
        snprintf(path, sizeof path, "panes.%d.fragmented", r);
        double fragments = session_number(session, path);
        snprintf(path, sizeof path, "panes.%d.idle_in_free_nodes", r);
        assert_near(fragments + session_number(session, path), idle);
    }
}

static void how_many_are_idle_on_average(void **state)
{
    (void)state;
    ask("08");
    for (int r = 0; r < 2; r++) {
        char path[64];
        double idle = ledger(runs[r], ACT_FREE, false) + ledger(runs[r], ACT_BLOCKED, false) + ledger(runs[r], ACT_FRAGMENTED, false);
        snprintf(path, sizeof path, "panes.%d.curves", r);
        const cJSON *gpus = line_of(path, "curve", "gpus"), *s, *found = NULL;
        cJSON_ArrayForEach(s, cJSON_GetObjectItemCaseSensitive(gpus, "states"))
            if (strcmp(cJSON_GetObjectItemCaseSensitive(s, "state")->valuestring, "idle") == 0) found = s;
        assert_non_null(found);
        assert_near(number_in(found, "gpu_s"), idle);
        assert_near(number_in(found, "mean"), idle / ((double)runs[r]->end_ns / 1e9));
    }
}

static void what_preemption_wastes(void **state)
{
    (void)state;
    static const char *const names[] = {"preemptions", "waste"};
    ask("09");
    for (int i = 0; i < 2; i++) {
        const cJSON *l = line_of("panes.0.metrics", "name", names[i]);
        assert_near(number_in(l, "a"), metric(runs[A], names[i]));
        assert_near(number_in(l, "b"), metric(runs[B], names[i]));
    }
}

static void did_it_restart(void **state)
{
    (void)state;
    ask("10");
    for (int i = 0; i < 2; i++) {
        char path[64];
        const struct job_row *r = row_of(runs[i], "29");
        snprintf(path, sizeof path, "panes.0.columns.%d.restarts", i);
        assert_near(session_number(session, path), r->restarts);
        snprintf(path, sizeof path, "panes.0.columns.%d.redone_gpu_s", i);
        assert_near(session_number(session, path), (double)r->redone / 1e12);
        assert_true(r->restarts > 0 && r->redone > 0);
    }
}

static void where_jobs_wait_longest(void **state)
{
    (void)state;
    static const char *const queues[] = {"foundation", "speech", "tuning", "experiments"};
    ask("11");
    for (int r = 0; r < 2; r++)
        for (int q = 0; q < 4; q++) {
            double sum = 0;
            for (size_t i = 0; i < runs[r]->n_jobs; i++)
                for (unsigned k = 0; k < N_WAIT_REASONS && strcmp(runs[r]->jobs[i].row.queue, queues[q]) == 0; k++) sum += (double)runs[r]->jobs[i].waits[k] / 1e9;
            assert_near(both(line_of("panes.0.waits.lines", "name", queues[q]), "s", r), sum);
        }
}

static void what_keeps_goodput_low(void **state)
{
    (void)state;
    ask("12");
    for (int r = 0; r < 2; r++) {
        double work = 0, all = both(session_find(session, "panes.0.gpu_time.all"), "gpu_s", r);
        for (unsigned k = 0; k < N_WORK_ACTIVITIES; k++) work += ledger(runs[r], FIRST_WORK + (enum activity)k, false);
        assert_near(both(line_of("panes.0.gpu_time.lines", "name", "work"), "gpu_s", r) / all, work / all);
        double idle = both(line_of("panes.0.gpu_time.lines", "name", "free"), "gpu_s", r); /* nobody asks for them: the greatest part */
        assert_true(idle > (all - work) / 2);
        assert_near(idle, ledger(runs[r], ACT_FREE, false));
    }
}

static void who_holds_gpus_then(void **state)
{
    (void)state;
    ask("13");
    for (int r = 0; r < 2; r++) {
        struct job_index x;
        char *err = NULL, path[64];
        assert_true(job_index_read(runs[r], &x, &err));
        int64_t *by_job = calloc(x.n, sizeof *by_job);
        static const char *const teams[] = {"foundation", "speech", "product", "research"};
        held_at(runs[r], moment_ns, by_job, x.n);
        for (int t = 0; t < 4; t++) {
            int64_t sum = 0;
            for (size_t j = 0; j < x.n; j++)
                if (x.rows[j] && strcmp(x.rows[j]->team, teams[t]) == 0) sum += by_job[j];
            snprintf(path, sizeof path, "panes.%d.gpus_by_team.%s", r, teams[t]);
            if (sum) assert_near(session_number(session, path), (double)sum / 1e3);
            else assert_false(session_has(session, path));
        }
        free(by_job);
        job_index_free(&x);
    }
}

/* By jobs.csv alone, of jobs that never lose their GPUs: submitted, and not yet started. */
/* Whether a job waits after this record of it: -1: it says nothing of that. */
static int waits_after(const struct record *r)
{
    switch (r->type) {
    case REC_JOB_SUBMITTED:
    case REC_JOB_STOPPED: return 1;
    case REC_JOB_STARTED:
    case REC_JOB_FINISHED: return 0;
    case REC_JOB_WAIT: return r->code != NOT_WAITING;
    default: return -1;
    }
}

/* When more than so many wait for the first time, by the records. */
static int64_t first_time(const struct run *run, size_t most)
{
    char *err = NULL;
    struct record rec;
    size_t waiting = 0;
    int64_t now = 0;
    bool *waits = calloc(run->n_jobs, sizeof *waits);
    struct timeline_reader *t = timeline_open(run->dir, &err);
    assert_non_null(t);
    while (timeline_next(t, &rec)) {
        int to = rec.job == NO_JOB ? -1 : waits_after(&rec);
        if (rec.time_ns > now && waiting > most) break;
        now = rec.time_ns;
        if (to < 0) continue;
        waiting += (size_t)to - waits[rec.job];
        waits[rec.job] = to;
    }
    timeline_close(t);
    free(waits);
    return now;
}

static void when_more_than_thirty_wait(void **state)
{
    (void)state;
    ask("14");
    int64_t a = first_time(runs[A], 30), b = first_time(runs[B], 30); /* in one of them */
    assert_near(session_number(session, "cursor_s"), (double)(a < b ? a : b) / 1e9);
}

/* ---- both runs ---- */

static int open_runs(void **state)
{
    (void)state;
    char *err = NULL;
    session = session_open(&(struct session_plan){.scenario = {"scenarios/demo.json"}, .approach = {"operator", "actor"}, .n = 2});
    for (int i = 0; i < 2; i++) runs[i] = run_open(session->dir[i], NULL, &err);
    return runs[A] && runs[B] ? 0 : 1;
}

static int close_runs(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) run_close(runs[i]);
    session_close(session);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_did_it_wait),
        cmocka_unit_test(who_blocked_it),
        cmocka_unit_test(where_gpu_seconds_are_lost),
        cmocka_unit_test(what_the_node_failure_cost),
        cmocka_unit_test(how_long_jobs_wait),
        cmocka_unit_test(who_loses_by_switching),
        cmocka_unit_test(how_many_are_idle_then),
        cmocka_unit_test(how_many_are_idle_on_average),
        cmocka_unit_test(what_preemption_wastes),
        cmocka_unit_test(did_it_restart),
        cmocka_unit_test(where_jobs_wait_longest),
        cmocka_unit_test(what_keeps_goodput_low),
        cmocka_unit_test(who_holds_gpus_then),
        cmocka_unit_test(when_more_than_thirty_wait),
    };
    return cmocka_run_group_tests(tests, open_runs, close_runs);
}
