/* test_report.c - a report against figures worked by hand, exact sums, and the form of the text.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "study/report.h"
#include "study/runs.h"
#include "study/sources.h"

#define TINY              "tests/study/tiny.json" /* what happens in it stands in its head */
#define GPU_S             ((share_ns)1000 * 1000000000)
#define assert_near(x, y) assert_true(fabs((double)(x) - (double)(y)) <= 1e-9 * (1 + fabs((double)(y))))

struct made { /* a scenario that was run, and its report */
    char top[40];
    struct sources sources;
    struct report r;
};

static void make(struct made *m, const char *scenario, const char *approach, uint32_t replications)
{
    struct diag d = {0};
    struct runs r;
    char *err = NULL;
    memset(m, 0, sizeof *m);
    strcpy(m->top, "/tmp/trainyard-report-XXXXXX");
    assert_non_null(mkdtemp(m->top));
    struct runs_plan plan = {.scenario = scenario, .approaches = &approach, .n_approaches = 1, .out = m->top,
                             .replications = replications, .threads = 2, .force = true};
    assert_true(runs_execute(&plan, &r, &d));
    runs_free(&r);
    diag_free(&d);
    if (!sources_add_tree(&m->sources, m->top, &err)) fail_msg("%s", err);
    if (!report_runs(m->sources.list.v, m->sources.list.n, &m->r, &err)) fail_msg("%s", err);
    assert_null(m->r.warnings);
    assert_int_equal(m->r.n_approaches, 1);
}

static void unmake(struct made *m)
{
    struct diag d = {0};
    report_free(&m->r);
    sources_free(&m->sources);
    assert_true(file_remove_tree(m->top, &d));
    diag_free(&d);
}

/* Under strict the jobs wait 0, 99 and 148 s; a runs 100 s on 3 GPUs, b 50 s on 4, c 20 s on 1: 520 GPU-s of 4 x 170. */
static void test_by_hand(void **state)
{
    struct made m;
    (void)state;
    make(&m, TINY, "strict", 2);
    const struct report_approach *a = &m.r.approaches[0];
    const struct report_metric *wait = &a->metrics[metric_find("mean_wait")];
    assert_int_equal(a->runs.n, 2);
    assert_near(wait->mean, 247 / 3.0);
    assert_int_equal(wait->n, 2);
    assert_true(wait->interval.known); /* both replications are alike */
    assert_near(wait->interval.low, 247 / 3.0);
    assert_near(a->metrics[metric_find("goodput")].mean, 520 / 680.0);
    assert_true(a->account.all == 2 * 680 * GPU_S);
    assert_true(a->account.class[GPU_WORK] == 2 * 520 * GPU_S);
    assert_true(a->account.waits.reason[WAIT_ORDER] == (__int128)2 * 98 * 1000000000);
    assert_true(a->account.waits.all == (__int128)2 * 247 * 1000000000);
    assert_int_equal(a->account.waits.hit[WAIT_ORDER], 2);
    assert_string_equal(a->account.waits.longest_job[WAIT_ORDER], "c");
    assert_string_equal(a->account.records[MOST_WAIT].job, "c");
    assert_near(a->account.records[MOST_WAIT].amount, 148);
    assert_string_equal(a->account.records[MOST_GPU_TIME].job, "a"); /* 300 GPU-s; b has 200, c 20 */
    assert_near(a->account.records[MOST_GPU_TIME].amount, 300);
    assert_null(a->account.records[MOST_RESTARTS].job);
    unmake(&m);
}

/* GPU time of jobs told by queue, team, kind and cause is the same time; by group it is all of it. */
static void test_sums(void **state)
{
    struct made m;
    (void)state;
    make(&m, "scenarios/two-teams.json", "operator", 3);
    const struct account *a = &m.r.approaches[0].account;
    share_ns busy = a->class[GPU_WORK] + a->class[GPU_HELD] + a->class[GPU_REDONE];
    assert_true(busy > 0);
    for (int by = 0; by < N_USES; by++) {
        share_ns sum = 0;
        for (size_t i = 0; i < a->uses[by].uses.n; i++) {
            sum += by == USE_BY_GROUP ? a->uses[by].uses.v[i].all : gpu_use_busy(&a->uses[by].uses.v[i]);
            if (i) assert_true(gpu_use_busy(&a->uses[by].uses.v[i]) <= gpu_use_busy(&a->uses[by].uses.v[i - 1]));
        }
        assert_true(sum == (by == USE_BY_GROUP ? a->all : busy));
    }
    __int128 by_team = 0;
    size_t jobs = 0;
    for (size_t i = 0; i < a->teams.sums.n; i++) {
        by_team += a->teams.sums.v[i].all;
        jobs += a->teams.sums.v[i].jobs;
    }
    assert_true(by_team == a->waits.all);
    assert_int_equal(jobs, a->jobs);
    assert_true(a->teams.sums.n > 1);
    unmake(&m);
}

/* Health is the diagnosis of explain, of two replications their mean. */
static void test_health(void **state)
{
    struct made m;
    double gpu_s = 0, useful = 0, by[N_HEALTH_CAUSES] = {0};
    (void)state;
    make(&m, "scenarios/two-teams.json", "actor", 2);
    const struct approach_source *source = &m.sources.list.v[0];
    const struct diagnosis *health = &m.r.approaches[0].health;
    assert_int_equal(source->n, 2);
    for (size_t i = 0; i < source->n; i++) {
        char *err = NULL;
        struct diagnosis d;
        struct run *run = run_open(source->dirs[i], NULL, &err);
        assert_non_null(run);
        diagnose_run(run, &d);
        gpu_s += d.gpu_s / 2;
        useful += d.useful_gpu_s / 2;
        for (int c = 0; c < N_HEALTH_CAUSES; c++) by[d.found[c].cause] += d.found[c].gpu_s / 2;
        diagnosis_free(&d);
        run_close(run);
    }
    assert_int_equal(health->runs, 2);
    assert_string_equal(health->approach, "actor");
    assert_near(health->gpu_s, gpu_s);
    assert_near(health->useful_gpu_s, useful);
    for (int c = 0; c < N_HEALTH_CAUSES; c++) assert_near(health->found[c].gpu_s, by[health->found[c].cause]);
    unmake(&m);
}

static void test_forms(void **state)
{
    static const char *const titles[] = {"95 % interval", "Where the GPU time went", "GPU utilisation (useful)",
                                         "Why jobs did not step", "\nQueue ", "\nTeam ", "Who used the GPUs",
                                         "Most GPU time: "};
    struct made m;
    struct str text = {0}, json = {0}, csv = {0};
    (void)state;
    make(&m, "scenarios/two-teams.json", "actor", 2);
    report_text(&m.r, &text);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (!strstr(str_text(&text), titles[i])) fail_msg("no \"%s\"", titles[i]);
    for (const char *line = str_text(&text), *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        assert_true(end - line <= 100);
        assert_true(end == line || end[-1] != ' ');
    }
    report_json(&m.r, &json);
    cJSON *doc = cJSON_Parse(str_text(&json));
    assert_non_null(doc);
    cJSON *approach = cJSON_GetArrayItem(cJSON_GetObjectItem(doc, "approaches"), 0);
    assert_string_equal(cJSON_GetObjectItem(approach, "name")->valuestring, "actor");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(approach, "metrics")), metric_count());
    cJSON_Delete(doc);
    report_csv(&m.r, &csv);
    size_t commas = 0;
    for (const char *c = str_text(&csv); *c && *c != '\n'; c++) commas += *c == ',';
    for (const char *line = str_text(&csv); *line; line = strchr(line, '\n') + 1) {
        size_t n = 0;
        for (const char *c = line; *c != '\n'; c++) n += *c == ','; /* no name here holds one */
        assert_int_equal(n, commas);
    }
    str_free(&text);
    str_free(&json);
    str_free(&csv);
    unmake(&m);
}

/* The same tree twice: approaches of equal names are told apart by directory. */
static void test_same_names(void **state)
{
    struct made m;
    char *err = NULL;
    (void)state;
    make(&m, TINY, "strict", 1);
    assert_true(sources_add_tree(&m.sources, m.top, &err));
    assert_int_equal(m.sources.list.n, 2);
    assert_string_equal(m.sources.list.v[0].name, "strict");
    assert_string_equal(m.sources.list.v[1].name, m.top);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_health), cmocka_unit_test(test_forms),
        cmocka_unit_test(test_same_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
