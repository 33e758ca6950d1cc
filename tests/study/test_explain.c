/* test_explain.c - runs and jobs in words, and as CSV, for a schedule that can be worked out by hand.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "run/record.h"
#include "study/explain.h"
#include "study/explain_env.h"
#include "study/export_csv.h"
#include "study/job_index.h"
#include "study/runs.h"

#define TINY "tests/study/tiny.json" /* strict: a 0-100 on 3 of 4 GPUs, b 100-150 on 4, c 150-170 on 1 */

static char top[] = "/tmp/trainyard-explain-XXXXXX";

static int make_runs(void **state)
{
    static const char *const strict[] = {"strict"};
    (void)state;
    if (!mkdtemp(top)) return -1;
    for (int level = RECORD_NONE; level <= RECORD_FULL; level++) {
        struct diag d = {0};
        struct runs r;
        char dir[sizeof top + 16];
        snprintf(dir, sizeof dir, "%s/%d", top, level);
        struct runs_plan plan = {.scenario = TINY,
                                 .approaches = strict,
                                 .n_approaches = 1,
                                 .replications = 1,
                                 .out = dir,
                                 .record_level = level};
        bool ok = runs_execute(&plan, &r, &d);
        runs_free(&r);
        diag_free(&d);
        if (!ok) return -1;
    }
    return 0;
}

static int remove_runs(void **state)
{
    struct diag d = {0};
    (void)state;
    bool ok = file_remove_tree(top, &d);
    diag_free(&d);
    return ok ? 0 : -1;
}

static struct run *open_run(int level)
{
    char dir[sizeof top + 16], *warnings = NULL, *err = NULL;
    snprintf(dir, sizeof dir, "%s/%d", top, level);
    struct run *r = run_open(dir, &warnings, &err);
    assert_non_null(r);
    assert_null(warnings);
    return r;
}

static void assert_says(const struct str *text, const char *what)
{
    if (!strstr(str_text(text), what)) fail_msg("no \"%s\" in:\n%s", what, str_text(text));
}

static void test_job(void **state)
{
    static const struct {
        const char *job, *says[5];
    } rows[] = {
        {"a", {"succeeded, train, team red", "asks for 3 GPUs", "00:01:40  succeeded", "and 1.67 min of stepping"}},
        {"b",
         {"waits 1.65 min: fewer GPUs are free", "came free when job a ended",
          "all ranks step", "00:02:30  succeeded"}                                                                },
        {"c",
         {"asks for 1 GPU\n", "2 s  waits 1.63 min: others stand before it", "came free when job b ended", "order",
          "00:02:50  succeeded"}                                                                                  },
    };
    (void)state;
    struct run *r = open_run(RECORD_JOBS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str text = {0};
        char *err;
        assert_true(explain_job(r, rows[i].job, &text, &err));
        for (int k = 0; k < 5 && rows[i].says[k]; k++) assert_says(&text, rows[i].says[k]);
        str_free(&text);
    }
    run_close(r);
}

static void test_no_such_job(void **state)
{
    struct str text = {0};
    char *err;
    (void)state;
    struct run *r = open_run(RECORD_JOBS);
    assert_false(explain_job(r, "x", &text, &err));
    assert_non_null(strstr(err, "no job \"x\" among 3"));
    free(err);
    str_free(&text);
    run_close(r);
}

static void test_without_timeline(void **state)
{
    struct str text = {0};
    char *err;
    (void)state;
    struct run *r = open_run(RECORD_NONE);
    assert_true(explain_job(r, "c", &text, &err));
    assert_says(&text, "--record jobs");
    assert_says(&text, "1.63 min  others stand before it");
    str_clear(&text);
    explain_run(r, &text);
    assert_says(&text, "all");
    str_free(&text);
    run_close(r);
}

/* 680 GPU-s: 520 worked; idle 1 GPU for 100 s and 3 for 20 s. Waits: 99 s of b and 50 of c for capacity, 98 of c in order. */
static void test_run(void **state)
{
    struct str text = {0};
    (void)state;
    struct run *r = open_run(RECORD_JOBS);
    explain_run(r, &text);
    assert_says(&text, "76.47 %");                                                    /* 520 / 680 */
    assert_says(&text, "23.53 %");                                                    /* 160 / 680 */
    assert_says(&text, "39.68        1   1.63 min  c");                               /* 98 / 247 */
    assert_says(&text, "60.32        2   1.65 min  b");                               /* 149 / 247 */
    assert_says(&text, "blue                            1   2.47 min   2.47 min  order (66 %)"); /* 98 / 148 */
    str_free(&text);
    run_close(r);
}

static void test_index(void **state)
{
    struct job_index x;
    char *err, buf[24];
    (void)state;
    struct run *r = open_run(RECORD_JOBS);
    assert_true(job_index_read(r, &x, &err));
    assert_int_equal(x.n, 3);
    for (int32_t i = 0; i < 3; i++) { /* a, b, c come in this order */
        const char id[] = {(char)('a' + i), '\0'};
        assert_string_equal(job_row_id(job_index_row(&x, i), buf), id);
        assert_int_equal(job_index_find(&x, id), i);
    }
    assert_null(job_index_row(&x, 3));
    assert_null(job_index_row(&x, NO_JOB));
    assert_int_equal(job_index_find(&x, "d"), NO_JOB);
    job_index_free(&x);
    run_close(r);
}

static void exported(const char *table, int level, struct str *out)
{
    char dir[sizeof top + 16], *text = NULL, *err = NULL, *dirs[] = {dir};
    size_t n = 0;
    snprintf(dir, sizeof dir, "%s/%d", top, level);
    FILE *to = open_memstream(&text, &n);
    if (!export_table(table, dirs, 1, NULL, to, NULL, &err)) fail_msg("%s", err);
    fclose(to);
    str_append_n(out, text, n);
    free(text);
}

static void test_export(void **state)
{
    struct str s = {0};
    char *err, dir[] = "/nowhere", *dirs[] = {dir};
    (void)state;
    exported("jobs", RECORD_JOBS, &s);
    assert_says(&s, "\nstrict,0,c,succeeded,1,2,150,150,150,170,0,0,blue,,train,0,20,20,0,0,98,0,50,0");
    str_clear(&s);
    exported("ledger", RECORD_JOBS, &s);
    assert_says(&s, "strict,0,work,compute,0,first,,red,gpu,train,500\n");
    str_clear(&s);
    exported("timeline", RECORD_JOBS, &s);
    assert_says(&s, "\nstrict,0,100,job_finished,a,1,succeeded,0,0\n");
    assert_says(&s, "\nstrict,0,2,job_submitted,c,1000,train,,blue\n");
    str_clear(&s);
    exported("nodes", RECORD_FULL, &s);
    assert_string_equal(str_text(&s), "approach,replication,job,group,first_node,last_node,from_s,to_s\n"
                                      "strict,0,a,0,0,0,0,100\nstrict,0,b,0,0,0,100,150\nstrict,0,c,0,0,0,150,170\n");
    str_clear(&s);
    exported("nodes", RECORD_JOBS, &s);
    assert_says(&s, "\nstrict,0,b,,0,0,100,150\n");
    str_clear(&s);
    exported("timeline", RECORD_NONE, &s); /* the header only */
    assert_int_equal(strchr(str_text(&s), '\n') - str_text(&s) + 1, (long)s.n);
    FILE *away = fopen("/dev/null", "w");
    assert_false(export_table("jobs", dirs, 1, NULL, away, NULL, &err));
    free(err);
    assert_false(export_table("job", dirs, 1, NULL, away, NULL, &err));
    free(err);
    fclose(away);
    str_free(&s);
}

/* The rules of training-operator 1.9 for a master and a worker: input/torch_env.h. */
static void test_env(void **state)
{
    struct diag d = {0};
    struct str text = {0};
    char *err;
    (void)state;
    struct scenario *s = scenario_load("scenarios/two-teams.json", "operator", NULL, &d);
    assert_non_null(s);
    assert_true(explain_env(s, 0, "tune-3", &text, &err));
    assert_says(&text, "pod tune-3-master-0\n");
    assert_says(&text, "pod tune-3-worker-0\n");
    assert_says(&text, "  RANK=1\n");
    assert_says(&text, " init container init-pytorch");
    assert_false(explain_env(s, 0, "tune-33", &text, &err));
    free(err);
    scenario_free(s);
    /* The rules of KubeRay 1.6, input/ray_env.h: 16 CPUs, 200 Gi and 8 GPUs a worker. */
    str_clear(&text);
    s = scenario_load("scenarios/two-teams.json", "actor", NULL, &d);
    assert_non_null(s);
    assert_true(explain_env(s, 0, "pretrain", &text, &err));
    assert_says(&text, "pod pretrain-xxxxx-head\n");
    assert_says(&text, "pod pretrain-xxxxx-worker-worker-xxxxx (8 alike)\n");
    assert_says(&text, "  RAY_ADDRESS=pretrain-xxxxx-head-svc.default.svc.cluster.local:6379\n");
    assert_says(&text, "--memory=214748364800  --metrics-export-port=8080  --num-cpus=16  --num-gpus=8 ");
    assert_says(&text, " init container wait-gcs-ready\n");
    scenario_free(s);
    s = scenario_load(TINY, NULL, NULL, &d);
    assert_non_null(s);
    assert_false(explain_env(s, 0, "a", &text, &err)); /* no pods */
    assert_non_null(strstr(err, "writes no environment"));
    free(err);
    scenario_free(s);
    str_free(&text);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job), cmocka_unit_test(test_no_such_job), cmocka_unit_test(test_without_timeline),
        cmocka_unit_test(test_run), cmocka_unit_test(test_index),       cmocka_unit_test(test_export),
        cmocka_unit_test(test_env),
    };
    return cmocka_run_group_tests(tests, make_runs, remove_runs);
}
