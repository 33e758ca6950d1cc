/* test_compare.c - comparisons worked by hand, exact sums, the null test, and the form of the text.
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
#include "run/decimal.h"
#include "study/compare.h"
#include "study/report.h"
#include "study/compare_jobs.h"
#include "study/runs.h"
#include "study/sources.h"

#define TINY              "tests/study/tiny.json" /* what happens in it stands in its head */
#define assert_near(x, y) assert_true(fabs((double)(x) - (double)(y)) <= 1e-9 * (1 + fabs((double)(y))))

struct made { /* a scenario that was run, and its comparison */
    char top[40];
    struct sources sources;
    struct compare c;
};

/* Runs the approaches (NULL-terminated) and compares them; with `same` the first one with itself. */
static void make(struct made *m, const char *scenario, const char *const *approaches, const char *const *overrides,
                 uint32_t replications, bool same)
{
    struct diag d = {0};
    struct runs r;
    char *err = NULL;
    memset(m, 0, sizeof *m);
    strcpy(m->top, "/tmp/trainyard-compare-XXXXXX");
    assert_non_null(mkdtemp(m->top));
    struct runs_plan plan = {.scenario = scenario,
                             .approaches = approaches,
                             .overrides = overrides,
                             .out = m->top,
                             .replications = replications,
                             .threads = 2,
                             .force = true};
    while (approaches && approaches[plan.n_approaches]) plan.n_approaches++;
    if (!runs_execute(&plan, &r, &d)) {
        diag_print(&d, stderr);
        fail_msg("%s", r.error ? r.error : "the scenario");
    }
    runs_free(&r);
    diag_free(&d);
    if (same) assert_true(sources_add_run(&m->sources, m->top, &err));
    if (!(same ? sources_add_run : sources_add_tree)(&m->sources, m->top, &err)) fail_msg("%s", err);
    if (!compare_runs(m->sources.list.v, m->sources.list.n, &m->c, &err)) fail_msg("%s", err);
    assert_null(m->c.warnings);
}

static void unmake(struct made *m)
{
    struct diag d = {0};
    compare_free(&m->c);
    sources_free(&m->sources);
    assert_true(file_remove_tree(m->top, &d));
    diag_free(&d);
}

static const struct paired *metric(const struct compare_pair *p, const char *name)
{
    assert_true(metric_find(name) >= 0);
    return &p->metrics[metric_find(name)];
}

static const char *const strict_and_skip[] = {"strict", "skip", NULL};

static void test_by_hand(void **state)
{
    struct made m;
    (void)state;
    make(&m, TINY, strict_and_skip, NULL, 0, false);
    const struct compare_pair *p = &m.c.pairs[0];
    assert_int_equal(m.c.n_replications, 2);
    assert_false(m.c.unpaired);
    assert_near(m.c.approaches[0].gpus, 4);
    assert_near(m.c.approaches[0].jobs, 3);
    /* waits 0, 99, 148 and 0, 99, 0; times to the end 100, 149, 168 and 100, 149, 20 */
    assert_near(metric(p, "mean_wait")->mean_a, 247 / 3.0);
    assert_near(metric(p, "mean_wait")->mean_b, 99 / 3.0);
    assert_near(metric(p, "p50_wait")->mean, 0 - 99.0);
    assert_near(metric(p, "mean_jct")->mean, -148 / 3.0);
    assert_near(metric(p, "mean_jct")->ratio_mean, 269 / 417.0);
    assert_int_equal(metric(p, "mean_jct")->verdict, VERDICT_LESS);
    assert_int_equal(metric(p, "finished")->verdict, VERDICT_SAME);
    /* 520 GPU-s of work of 4 x 170 and of 4 x 150 */
    assert_near(metric(p, "goodput")->mean, 520 / 600.0 - 520 / 680.0);
    assert_true(p->gpu_sum.base == (share_ns)2 * 680 * 1000 * 1000000000);
    assert_true(p->gpu_sum.other == (share_ns)2 * 600 * 1000 * 1000000000);
    assert_true(p->class_sum[GPU_WORK].base == (share_ns)2 * 520 * 1000 * 1000000000);
    /* c waits behind b from 2 to 100 and without anybody before it from 100 to 150 */
    assert_true(p->jct[WAIT_ORDER].base_ns == (__int128)2 * 98 * 1000000000);
    assert_true(p->jct[WAIT_CAPACITY].base_ns == (__int128)2 * (99 + 50) * 1000000000);
    assert_true(p->jct[JCT_WORK].base_ns == (__int128)2 * 170 * 1000000000);
    assert_true(p->jct[JCT_WORK].base_ns == p->jct[JCT_WORK].other_ns);
    assert_int_equal(p->matches.ended_in_both, 6);
    /* one job gains, in each replication; none loses */
    assert_int_equal(p->n_sooner, 2);
    assert_int_equal(p->n_later, 0);
    assert_string_equal(p->sooner[0].id, "c");
    assert_int_equal(p->sooner[0].reason, WAIT_ORDER);
    assert_int_equal(p->n_teams, 2);
    assert_string_equal(p->teams[0].team, "blue");
    assert_near(p->teams[0].jct.mean, -148);
    assert_int_equal(p->teams[1].jct.verdict, VERDICT_SAME);
    unmake(&m);
}

/* The lines that name version and hashes change with them. */
static void without_versions(const struct str *text, struct str *out)
{
    for (const char *line = str_text(text), *end; *line; line = end) {
        end = strchr(line, '\n') + 1;
        struct str one = {0};
        str_append_n(&one, line, (size_t)(end - line));
        if (!strstr(str_text(&one), "scenario hash") && !strstr(str_text(&one), "trainyard "))
            str_append(out, str_text(&one));
        str_free(&one);
    }
}

/* The figures in it are those of test_by_hand; the golden file holds the form. */
static void test_text(void **state)
{
    struct made m;
    struct str text = {0}, shown = {0};
    struct diag d = {0};
    size_t n;
    (void)state;
    make(&m, TINY, strict_and_skip, NULL, 0, false);
    compare_text(&m.c, &text);
    without_versions(&text, &shown);
    if (getenv("TRAINYARD_WRITE_GOLDEN")) assert_true(file_write_atomic("tests/study/tiny.txt", shown.s, shown.n, &d));
    char *golden = file_read("tests/study/tiny.txt", FILE_READ_MAX, &n, &d);
    assert_non_null(golden);
    assert_string_equal(str_text(&shown), golden);
    for (const char *line = str_text(&text), *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        assert_true(end - line <= 100);
        assert_true(end == line || end[-1] != ' ');
    }
    free(golden);
    str_free(&text);
    str_free(&shown);
    unmake(&m);
}

static void assert_all_same(const struct compare_pair *p)
{
    for (size_t i = 0; i < metric_count(); i++) {
        if (p->metrics[i].n == 0) continue;
        if (p->metrics[i].verdict != VERDICT_SAME || p->metrics[i].mean != 0)
            fail_msg("%s differs", metric_at(i)->name);
    }
    for (size_t i = 0; i < p->n_gpu; i++) assert_true(p->gpu[i].base == p->gpu[i].other);
    for (int i = 0; i < N_JCT_PARTS; i++) assert_true(p->jct[i].base_ns == p->jct[i].other_ns);
    assert_int_equal(p->n_sooner + p->n_later, 0);
    assert_int_equal(p->matches.other_outcome + p->matches.in_one_run_only, 0);
}

static void test_with_itself(void **state)
{
    static const char *const strict[] = {"operator", NULL};
    struct made m;
    (void)state;
    make(&m, "scenarios/two-teams.json", strict, NULL, 3, true);
    assert_int_equal(m.c.n_approaches, 2);
    assert_string_equal(m.c.approaches[1].name, m.top); /* told apart by its directory */
    assert_all_same(&m.c.pairs[0]);
    unmake(&m);
}

/* Null test: an approach like another, with nothing changed, is the same run. */
static void test_null(void **state)
{
    static const char *const strict_and_again[] = {"strict", "again", NULL};
    struct made m;
    (void)state;
    make(&m, TINY, strict_and_again, NULL, 0, false);
    assert_all_same(&m.c.pairs[0]);
    unmake(&m);
}

/* What the runs themselves say: existing GPU time, and completion times by id. */
static void sums_of_runs(const struct approach_source *s, share_ns *existing)
{
    *existing = 0;
    for (size_t i = 0; i < s->n; i++) {
        char *err = NULL;
        struct run *r = run_open(s->dirs[i], NULL, &err);
        assert_non_null(r);
        for (size_t g = 0; g < r->n_groups; g++) *existing += r->groups[g].existing;
        run_close(r);
    }
}

static void assert_exact(const struct made *m, const struct compare_pair *p)
{
    share_ns base = 0, other = 0, base_all, other_all, class_base = 0, class_other = 0;
    __int128 jct_base = 0, jct_other = 0;
    for (size_t i = 0; i < p->n_gpu; i++) {
        base += p->gpu[i].base;
        other += p->gpu[i].other;
    }
    for (int i = 0; i < N_GPU_CLASSES; i++) {
        class_base += p->class_sum[i].base;
        class_other += p->class_sum[i].other;
    }
    sums_of_runs(&m->sources.list.v[0], &base_all);
    sums_of_runs(&m->sources.list.v[p->other], &other_all);
    assert_true(base == base_all && other == other_all);
    assert_true(p->gpu_sum.base == base_all && p->gpu_sum.other == other_all);
    assert_true(class_base == base_all && class_other == other_all);
    for (int i = 0; i < N_JCT_PARTS; i++) {
        assert_true(p->jct[i].base_ns >= 0 && p->jct[i].other_ns >= 0);
        jct_base += p->jct[i].base_ns;
        jct_other += p->jct[i].other_ns;
    }
    assert_true(jct_base == p->jct_sum.base_ns && jct_other == p->jct_sum.other_ns);
}

/* With failures, preemptions, checkpoints and pods: the parts add up to what the runs themselves say. */
static void test_exact(void **state)
{
    struct made m;
    (void)state;
    make(&m, "scenarios/two-teams.json", NULL, NULL, 3, false);
    assert_int_equal(m.c.n_approaches, 3);
    for (size_t i = 0; i < 2; i++) {
        const struct compare_pair *p = &m.c.pairs[i];
        assert_exact(&m, p);
        size_t n = p->matches.ended_in_both;
        /* all jobs end here, so the decomposed mean is the metric's */
        assert_int_equal(n, 3 * (size_t)m.c.approaches[0].jobs);
        assert_near(p->jct_sum.seconds.mean, metric(p, "mean_jct")->mean);
    }
    unmake(&m);
}

/* Cut at 120 s: strict has ended a (b runs, c waits), skip a and c. */
static void test_unfinished(void **state)
{
    static const char *const cut[] = {"/run/horizon=120", NULL};
    struct made m;
    (void)state;
    make(&m, TINY, strict_and_skip, cut, 0, false);
    const struct compare_matches *x = &m.c.pairs[0].matches;
    assert_int_equal(x->ended_in_both, 2);
    assert_int_equal(x->ended_in_base_only, 0);
    assert_int_equal(x->ended_in_other_only, 2);
    assert_int_equal(x->ended_in_neither, 2);
    assert_true(m.c.approaches[0].bound[metric_find("mean_jct")]);
    assert_true(m.c.approaches[1].bound[metric_find("mean_jct")]);
    assert_exact(&m, &m.c.pairs[0]);
    unmake(&m);
}

static void test_one_replication(void **state)
{
    struct made m;
    struct str text = {0};
    (void)state;
    make(&m, TINY, strict_and_skip, NULL, 1, false);
    assert_int_equal(metric(&m.c.pairs[0], "mean_jct")->verdict, VERDICT_UNKNOWN);
    compare_text(&m.c, &text);
    assert_non_null(strstr(str_text(&text), "no interval can be given"));
    assert_null(strstr(str_text(&text), "95 % interval -")); /* no interval in the sentences */
    assert_non_null(strstr(str_text(&text), "skip brings jobs to their end 49.3 s sooner")); /* 148 / 3 */
    assert_null(strstr(str_text(&text), "Alike"));
    /* 139 s and 139.0001 s read alike */
    struct paired *jct = &m.c.pairs[0].metrics[metric_find("mean_jct")];
    jct->mean_b = jct->mean_a + 1e-4;
    jct->mean = 1e-4;
    str_clear(&text);
    compare_text(&m.c, &text);
    assert_null(strstr(str_text(&text), "brings jobs to their end"));
    assert_non_null(strstr(str_text(&text), "Alike to three digits: the mean time to completion"));
    str_free(&text);
    unmake(&m);
}

/* What is there already stays, unless it is to be replaced: else leaves of two runs would be mixed. */
static void test_refused(void **state)
{
    struct made m;
    struct diag d = {0};
    struct runs r;
    (void)state;
    make(&m, TINY, strict_and_skip, NULL, 1, false);
    struct runs_plan plan = {.scenario = TINY, .approaches = strict_and_skip, .n_approaches = 2, .out = m.top};
    assert_false(runs_execute(&plan, &r, &d));
    assert_non_null(strstr(r.error, "--force"));
    runs_free(&r);
    plan.force = true;
    assert_true(runs_execute(&plan, &r, &d));
    runs_free(&r);
    diag_free(&d);
    unmake(&m);
}

/* compare.json reads back, and its exact decimals add up. */
static void test_json(void **state)
{
    struct made m;
    struct str text = {0}, csv = {0};
    (void)state;
    make(&m, TINY, strict_and_skip, NULL, 0, false);
    compare_json(&m.c, &text);
    cJSON *root = cJSON_ParseWithOpts(str_text(&text), NULL, 0);
    assert_non_null(root);
    const cJSON *pair = cJSON_GetObjectItemCaseSensitive(root, "pairs")->child;
    const cJSON *gpu = cJSON_GetObjectItemCaseSensitive(pair, "gpu_time"), *part;
    double sum = 0;
    cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(gpu, "parts")) sum +=
        cJSON_GetObjectItemCaseSensitive(part, "base_gpu_s")->valuedouble;
    assert_near(sum, 2 * 680.0);
    const cJSON *whole = cJSON_GetObjectItemCaseSensitive(gpu, "whole");
    assert_near(cJSON_GetObjectItemCaseSensitive(whole, "base_gpu_s")->valuedouble, 2 * 680.0);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(pair, "metrics")), metric_count());
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(pair, "base")->valuestring, "strict");
    compare_csv(&m.c, &csv);
    assert_non_null(strstr(str_text(&csv), "\n\"completion_time\",\"order\",\"s\",\"strict\",\"skip\","));
    cJSON_Delete(root);
    str_free(&text);
    str_free(&csv);
    unmake(&m);
}

static void test_sources(void **state)
{
    struct made m;
    char *err = NULL;
    struct sources s = {0};
    (void)state;
    make(&m, TINY, NULL, NULL, 1, false);
    assert_int_equal(m.sources.list.n, 3);
    assert_string_equal(m.sources.list.v[0].name, "strict"); /* as in the scenario, not by alphabet */
    assert_true(sources_base(&m.sources, "skip", &err));
    assert_string_equal(m.sources.list.v[0].name, "skip");
    assert_string_equal(m.sources.list.v[1].name, "strict");
    assert_false(sources_base(&m.sources, "skp", &err));
    assert_non_null(strstr(err, "there is: skip, strict, again"));
    free(err);
    assert_false(sources_add_run(&s, m.top, &err));
    assert_non_null(strstr(err, "several approaches"));
    free(err);
    sources_free(&s);
    unmake(&m);
}

/* Both at once, with a run that is lent and replications that only one approach has, say what each says by itself. */
static void test_with_the_report(void **state)
{
    struct made m;
    struct compare c;
    struct report both, alone;
    struct str a = {0}, b = {0};
    char *err = NULL;
    (void)state;
    make(&m, TINY, strict_and_skip, NULL, 0, false);
    struct approach_source *s = m.sources.list.v;
    assert_int_equal(s[1].n, 2);
    s[1].n = 1; /* skip has the first only: the second of strict has no partner */
    s[0].first = run_open(s[0].dirs[0], NULL, &err);
    assert_non_null(s[0].first);
    if (!compare_and_report(s, 2, &c, &both, &err)) fail_msg("%s", err);
    assert_int_equal(c.n_replications, 1);
    assert_int_equal(c.left_out, 1);
    if (!report_runs(s, 2, &alone, &err)) fail_msg("%s", err);
    assert_int_equal(both.approaches[0].runs.n, 2);
    report_json(&both, &a);
    report_json(&alone, &b);
    assert_string_equal(str_text(&a), str_text(&b));
    run_close(s[0].first); /* the caller's still */
    str_free(&a);
    str_free(&b);
    compare_free(&c);
    report_free(&both);
    report_free(&alone);
    s[1].n = 2;
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),     cmocka_unit_test(test_text),
        cmocka_unit_test(test_with_itself), cmocka_unit_test(test_null),
        cmocka_unit_test(test_exact),       cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_json),        cmocka_unit_test(test_one_replication),
        cmocka_unit_test(test_sources),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_with_the_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
