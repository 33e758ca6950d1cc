/* test_chrome_trace.c - a Chrome trace holds the run: its spans add up to ledger.csv, its jobs are those of jobs.csv, its instants the records.
 *
 * Rules of the format: "Trace Event Format" (named in chrome_trace.h): spans of a thread must not overlap, begins and ends of asynchronous ones pair up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <math.h>

#include "run/timeline.h"
#include "tests/viz/model/runs.h"
#include "viz/model/chrome_trace.h"

static char top[] = "/tmp/trainyard-trace-XXXXXX";

struct made {
    struct scene *s;
    struct curves *c;
    cJSON *json;
    const cJSON *events;
};

static void make(struct made *m, const char *dir, int64_t from, int64_t to)
{
    struct str out = {0};
    char *err = NULL;
    m->s = scene_open(dir, &err);
    if (!m->s) fail_msg("%s", err);
    m->c = curves_create(m->s);
    assert_true(chrome_trace(&(struct chrome_trace_source){m->s, m->c, ""}, 1, from, to < 0 ? m->s->end_ns : to, &out, &err));
    m->json = cJSON_ParseWithOpts(str_text(&out), NULL, 1);
    assert_non_null(m->json);
    m->events = cJSON_GetObjectItem(m->json, "traceEvents");
    str_free(&out);
}

static void drop(struct made *m)
{
    cJSON_Delete(m->json);
    curves_destroy(m->c);
    scene_close(m->s);
}

/* ---- fields ---- */

static const char *word(const cJSON *e, const char *key)
{
    const cJSON *x = cJSON_GetObjectItem(e, key);
    return cJSON_IsString(x) ? x->valuestring : "";
}

static int64_t ns(const cJSON *e, const char *key)
{
    const cJSON *x = cJSON_GetObjectItem(e, key);
    assert_true(cJSON_IsNumber(x));
    return llround(x->valuedouble * 1000); /* below 2^53 thousandths: exact */
}

static int number(const cJSON *e, const char *key)
{
    const cJSON *x = cJSON_GetObjectItem(e, key);
    return cJSON_IsNumber(x) ? x->valueint : -1;
}

static bool is(const cJSON *e, const char *phase)
{
    return strcmp(word(e, "ph"), phase) == 0;
}

/* The process that is so named. */
static int process(const struct made *m, const char *name)
{
    const cJSON *e;
    cJSON_ArrayForEach(e, m->events)
        if (is(e, "M") && !strcmp(word(e, "name"), "process_name") && !strcmp(word(cJSON_GetObjectItem(e, "args"), "name"), name)) return number(e, "pid");
    fail_msg("no process %s", name);
    return -1;
}

static unsigned named_threads(const struct made *m, int pid)
{
    unsigned n = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, m->events) n += is(e, "M") && !strcmp(word(e, "name"), "thread_name") && number(e, "pid") == pid;
    return n;
}

/* ---- the rules ---- */

/* They stand in order of threads and of time. */
static void assert_no_overlap(const struct made *m)
{
    int pid = -1, tid = -1;
    int64_t end = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, m->events)
    {
        if (!is(e, "X")) continue;
        if (number(e, "pid") != pid || number(e, "tid") != tid) end = 0;
        pid = number(e, "pid");
        tid = number(e, "tid");
        assert_true(ns(e, "dur") > 0 && ns(e, "ts") >= end);
        end = ns(e, "ts") + ns(e, "dur");
    }
}

static unsigned show_of(const char *name)
{
    for (unsigned show = 0; show < SHOW_WAIT; show++)
        if (!strcmp(show_name(show), name)) return show;
    fail_msg("%s is no state of a GPU", name);
    return 0;
}

/* share-ns by state over all GPUs: spans, and asynchronous ones by their shares. */
struct gpu_times {
    share_ns by[SHOW_WAIT];
};

static struct gpu_times gpu_times(const struct made *m)
{
    struct gpu_times t = {{0}};
    int jobs = process(m, "jobs");
    const cJSON *e, *begin = NULL;
    cJSON_ArrayForEach(e, m->events)
    {
        if (is(e, "b")) begin = e;
        if (number(e, "pid") == jobs) continue;
        if (is(e, "X")) t.by[show_of(word(e, "cat"))] += (share_ns)ns(e, "dur") * 1000;
        if (!is(e, "e")) continue;
        assert_int_equal(number(e, "id"), number(begin, "id")); /* each end follows its begin */
        t.by[show_of(word(e, "cat"))] += (share_ns)(ns(e, "ts") - ns(begin, "ts")) * (share_ns)number(cJSON_GetObjectItem(begin, "args"), "shares");
    }
    return t;
}

static share_ns of_ledger(const struct run *r, unsigned activity)
{
    share_ns sum = 0;
    for (size_t i = 0; i < r->n_ledger; i++)
        if (r->ledger[i].activity == activity) sum += r->ledger[i].sum;
    return sum;
}

static void assert_ledger(const struct made *m)
{
    struct gpu_times t = gpu_times(m);
    share_ns work = 0;
    for (unsigned a = 0; a < N_ACTIVITIES; a++) {
        enum activity_class class = activity_table[a].class;
        if (class == CLASS_HELD || class == CLASS_DOWN) assert_true(t.by[a] == of_ledger(m->s->run, a));
        if (class == CLASS_WORK) work += of_ledger(m->s->run, a);
    }
    assert_true(work > 0 && t.by[SHOW_WORK] + t.by[SHOW_REDONE] == work);
}

/* ---- tests ---- */

static unsigned recorded(const struct run *run, int64_t from, int64_t to)
{
    unsigned n = 0;
    struct record r;
    char *err = NULL;
    struct timeline_reader *in = timeline_open(run->dir, &err);
    assert_non_null(in);
    while (timeline_next(in, &r)) {
        bool group = r.type == REC_GROUP_NODES || r.type == REC_GROUP_STATE || r.type == REC_GROUP_FREED || r.type == REC_STEPS ||
                     r.type == REC_CLASS_WAIT;
        n += !group && r.time_ns >= from && r.time_ns < to;
    }
    timeline_close(in);
    return n;
}

static unsigned count(const struct made *m, const char *phase)
{
    unsigned n = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, m->events) n += is(e, phase);
    return n;
}

static void test_whole_run(void **state)
{
    (void)state;
    struct made m;
    make(&m, below(top, "demo"), 0, -1);
    assert_no_overlap(&m);
    assert_ledger(&m);
    assert_int_equal(named_threads(&m, process(&m, "jobs")), m.s->run->n_jobs);
    assert_int_equal(named_threads(&m, process(&m, "h100-127")), 8);
    drop(&m);
}

/* Cut at both ends; three parts of the run together are the run. */
static void test_range(void **state)
{
    (void)state;
    static const int64_t cuts[] = {0, 100001 * INT64_C(1000000000) + 7, 250000 * INT64_C(1000000000), -1};
    struct made whole, m;
    share_ns held[N_ACTIVITIES] = {0};
    make(&whole, below(top, "demo"), 0, -1);
    for (unsigned k = 0; k < 3; k++) {
        make(&m, below(top, "demo"), cuts[k], cuts[k + 1]);
        int64_t to = cuts[k + 1] < 0 ? m.s->end_ns : cuts[k + 1];
        int jobs = process(&m, "jobs");
        unsigned lived = 0;
        const cJSON *e;
        assert_no_overlap(&m);
        cJSON_ArrayForEach(e, m.events)
            if (is(e, "X")) assert_true(ns(e, "ts") >= cuts[k] && ns(e, "ts") + ns(e, "dur") <= to);
        for (size_t j = 0; j < m.s->run->n_jobs; j++) {
            const struct job_row *r = &m.s->run->jobs[j].row;
            lived += r->submit_ns < to && (r->finished_ns < 0 || r->finished_ns >= cuts[k]);
        }
        assert_int_equal(named_threads(&m, jobs), lived);
        assert_int_equal(count(&m, "i"), recorded(m.s->run, cuts[k], to));
        struct gpu_times t = gpu_times(&m);
        for (unsigned a = 0; a < N_ACTIVITIES; a++) held[a] += t.by[a];
        drop(&m);
    }
    for (unsigned a = 0; a < N_ACTIVITIES; a++)
        if (activity_table[a].class == CLASS_HELD) assert_true(held[a] == of_ledger(whole.s->run, a));
    drop(&whole);
}

/* Two jobs on one GPU, half each: 10 and 5 minutes; a third has a GPU of its own for 10. */
static void test_shared_gpu(void **state)
{
    (void)state;
    static const char text[] = "{\"trainyard\":1,\"name\":\"half\",\"cluster\":{\"nodes\":[{\"group\":\"n\",\"count\":1,\"gpus\":2}]},\"workload\":{\"jobs\":["
                               "{\"id\":\"a\",\"gpus\":0.5,\"duration\":\"10m\"},{\"id\":\"b\",\"gpus\":0.5,\"duration\":\"5m\"},{\"id\":\"c\",\"gpus\":1,\"duration\":\"10m\"}]},"
                               "\"approaches\":{\"fifo\":{\"lifecycle\":\"none\",\"admission\":\"fifo\",\"placement\":\"pack\"}}}";
    struct diag d = {0};
    struct scenario *s = scenario_parse("half.json", text, strlen(text), "fifo", &d);
    if (!s) diag_print(&d, stderr);
    assert_true(s && run_scenario(s, below(top, "half"), RECORD_FULL));
    scenario_free(s);
    struct made m;
    make(&m, below(top, "half"), 0, -1);
    assert_no_overlap(&m);
    assert_int_equal(count(&m, "b"), 2);
    assert_int_equal(count(&m, "e"), 2);
    assert_true(gpu_times(&m).by[SHOW_WORK] == (share_ns)(600 * 500 + 300 * 500 + 600 * 1000) * 1000000000);
    drop(&m);
    diag_free(&d);
}

static int make_top(void **state)
{
    (void)state;
    return mkdtemp(top) && run_file("scenarios/demo.json", "operator", below(top, "demo"), RECORD_FULL) ? 0 : 1;
}

static int drop_top(void **state)
{
    (void)state;
    remove_top(top);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_run), cmocka_unit_test(test_range), cmocka_unit_test(test_shared_gpu)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
