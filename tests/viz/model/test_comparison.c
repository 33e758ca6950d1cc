/* test_comparison.c - one struct, from compare.json or made from the runs, with the same figures in it.
 *
 * tests/study/tiny.json: strict waits 0, 99, 148 s; skip 0, 99, 0 s (worked out in its head).
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

#include "base/file.h"
#include "run/decimal.h"
#include "study/runs.h"
#include "study/sources.h"
#include "viz/model/comparison.h"

struct made {
    char top[48], file[64];
    struct run *strict, *skip;
};

static struct run *open_leaf(const struct made *m, const char *leaf)
{
    char path[80], *err = NULL;
    snprintf(path, sizeof path, "%s/%s", m->top, leaf);
    struct run *run = run_open(path, NULL, &err);
    if (!run) fail_msg("%s", err);
    return run;
}

/* Two approaches, two replications each, and compare.json above them. */
static void make(struct made *m)
{
    static const char *const both[] = {"strict", "skip"};
    struct diag d = {0};
    struct runs r;
    struct sources s = {0};
    struct compare c;
    struct str json = {0};
    char *err = NULL;
    strcpy(m->top, "/tmp/trainyard-comparison-XXXXXX");
    assert_non_null(mkdtemp(m->top));
    snprintf(m->file, sizeof m->file, "%s/compare.json", m->top);
    struct runs_plan plan = {.scenario = "tests/study/tiny.json", .approaches = both, .n_approaches = 2, .replications = 2,
                             .out = m->top, .threads = 1, .record_level = RECORD_FULL, .force = true};
    assert_true(runs_execute(&plan, &r, &d));
    runs_free(&r);
    assert_true(sources_add_tree(&s, m->top, &err));
    assert_true(compare_runs(s.list.v, s.list.n, &c, &err));
    compare_json(&c, &json);
    assert_true(file_write_atomic(m->file, str_text(&json), json.n, &d));
    compare_free(&c);
    sources_free(&s);
    str_free(&json);
    diag_free(&d);
    m->strict = open_leaf(m, "strict/0");
    m->skip = open_leaf(m, "skip/1");
}

static void unmake(struct made *m)
{
    struct diag d = {0};
    run_close(m->strict);
    run_close(m->skip);
    assert_true(file_remove_tree(m->top, &d));
    diag_free(&d);
}

static struct comparison *between(const struct run *a, const struct run *b)
{
    char *err = NULL;
    struct comparison *c = comparison_between(a, b, &err);
    if (!c) fail_msg("%s", err);
    return c;
}

static void assert_figure(const struct comparison_figure *f, double base, double other)
{
    assert_non_null(f);
    assert_true(fabs(f->base - base) < 1e-9 && fabs(f->other - other) < 1e-9);
    assert_true(fabs(f->difference - (other - base)) < 1e-9);
}

static share_ns gpu_s(const char *text)
{
    share_ns x = 0;
    assert_true(decimal_get(text, GPU_S_DIGITS, &x));
    return x;
}

static void assert_tiny(const struct comparison *c)
{
    share_ns base = 0, other = 0, classes = 0;
    assert_int_equal(c->replications, 2);
    assert_true(c->paired);
    assert_string_equal(c->base, "strict");
    assert_string_equal(c->other, "skip");
    assert_figure(comparison_metric(c, "mean_wait"), (0 + 99 + 148) / 3., (0 + 99 + 0) / 3.);
    assert_figure(comparison_metric(c, "max_wait"), 148, 99);
    assert_int_equal(comparison_metric(c, "mean_wait")->verdict, VERDICT_LESS); /* in both replications alike */
    assert_null(comparison_metric(c, "none"));
    for (size_t i = 0; i < c->n_gpu; i++) {
        base += gpu_s(c->gpu[i].base_gpu_s);
        other += gpu_s(c->gpu[i].other_gpu_s);
    }
    for (int i = 0; i < N_GPU_CLASSES; i++) classes += gpu_s(c->classes[i].base_gpu_s);
    assert_true(base > 0 && base == gpu_s(c->gpu_whole.base_gpu_s) && classes == base);
    assert_true(other == gpu_s(c->gpu_whole.other_gpu_s));
    assert_int_equal(c->ended_in_both, 6); /* three jobs, twice */
    assert_true(c->n_words > 0 && strstr(c->words[0], "skip"));
    assert_int_equal(c->n_sooner, 2);      /* the third job, in both replications */
    assert_true(fabs(c->sooner[0].base_s - c->sooner[0].other_s - 148) < 1e-9);
}

static void test_file_and_runs_agree(void **state)
{
    struct made m;
    (void)state;
    make(&m);
    struct comparison *c = between(m.strict, m.skip);
    assert_true(str_ends_with(c->source, "compare.json"));
    assert_tiny(c);
    comparison_free(c);
    assert_int_equal(unlink(m.file), 0);
    c = between(m.strict, m.skip);
    assert_true(str_starts_with(c->source, "all replications"));
    assert_tiny(c);
    comparison_free(c);
    unmake(&m);
}

static void test_a_file_of_others_is_passed_over(void **state)
{
    static const char *const texts[] = {"{ \"trainyard_compare\": 1, \"pairs\": [] }", "{ cut off", ""};
    struct made m;
    (void)state;
    make(&m);
    struct comparison *c = between(m.skip, m.strict); /* the file has them the other way round */
    assert_figure(comparison_metric(c, "max_wait"), 99, 148);
    assert_int_equal(c->n_later, 2);
    comparison_free(c);
    for (size_t i = 0; i < 3; i++) {
        struct diag d = {0};
        assert_true(file_write_atomic(m.file, texts[i], strlen(texts[i]), &d));
        c = between(m.strict, m.skip);
        assert_tiny(c);
        comparison_free(c);
        diag_free(&d);
    }
    unmake(&m);
}

static void test_waits(void **state)
{
    struct made m;
    (void)state;
    make(&m);
    struct wait_curve w = wait_curve_of(m.strict);
    assert_int_equal(w.jobs, 3);
    assert_int_equal(w.n, 3);
    static const struct { double seconds, part; } at[] = {{-1, 0}, {0, 1 / 3.}, {98, 1 / 3.}, {99, 2 / 3.}, {148, 1}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        assert_true(fabs(wait_curve_at(&w, at[i].seconds) - at[i].part) < 1e-12);
    wait_curve_free(&w);
    m.strict->warmup_ns = 1; /* the first job, submitted at 0, counts no more */
    w = wait_curve_of(m.strict);
    assert_int_equal(w.jobs, 2);
    wait_curve_free(&w);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_and_runs_agree),
        cmocka_unit_test(test_a_file_of_others_is_passed_over),
        cmocka_unit_test(test_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
