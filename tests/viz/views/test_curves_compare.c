/* test_curves_compare.c - the curves and the comparison: what they tell, their keys, and that nothing is cut off at any size.
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

#include "run/decimal.h"
#include "tests/viz/views/shown.h"

static const char *const tiny[] = {"strict", "skip"}, *const both[] = {"operator", "actor"};

static double number(const cJSON *object, const char *key)
{
    const cJSON *x = json_member(object, key);
    assert_true(cJSON_IsNumber(x));
    return x->valuedouble;
}

static const char *text(const cJSON *object, const char *key)
{
    const cJSON *x = json_member(object, key);
    assert_true(cJSON_IsString(x));
    return x->valuestring;
}

static share_ns gpu_s(struct json_doc *doc, const cJSON *object)
{
    share_ns x = 0;
    assert_true(decimal_get(json_number_text(doc, json_member(object, "gpu_s")), GPU_S_DIGITS, &x));
    return x;
}

/* ---- curves ---- */

static void assert_states_fill_the_whole(struct shown *s)
{
    struct diag d = {0};
    struct json_doc *doc = shown_dump(s, "curves", &d);
    for (int run = 0; run < 2; run++) {
        const cJSON *gpus = shown_item(json_member(shown_pane(doc, run), "curves"), "curve", "gpus"), *state;
        share_ns sum = 0, existing = 0;
        for (size_t g = 0; g < s->scenes[run]->run->n_groups; g++) existing += s->scenes[run]->run->groups[g].existing;
        cJSON_ArrayForEach(state, json_member(gpus, "states")) sum += gpu_s(doc, state);
        assert_true(sum == existing && gpu_s(doc, gpus) == existing);
    }
    json_free(doc);
    diag_free(&d);
}

static double scale_top(struct shown *s, int run)
{
    struct diag d = {0};
    struct json_doc *doc = shown_dump(s, "curves", &d);
    double top = number(shown_item(json_member(shown_pane(doc, run), "curves"), "curve", "queued_jobs"), "scale_top");
    json_free(doc);
    diag_free(&d);
    return top;
}

static void test_curves(void **state)
{
    struct shown s;
    (void)state;
    shown_run(&s, "scenarios/two-teams.json", both, 2, RECORD_FULL);
    shown_open(&s, both, 2, 1280, 800, 0);
    assert_states_fill_the_whole(&s);
    assert_true(fabs(scale_top(&s, 0) - scale_top(&s, 1)) < 1e-9);
    shown_key(&s, 'n', UI_SHIFT);
    assert_true(s.ui->normalise);
    shown_key(&s, UI_DOWN, 0);
    shown_key(&s, UI_ENTER, 0);
    struct diag d = {0};
    struct json_doc *doc = shown_dump(&s, "curves", &d);
    assert_string_equal(text(shown_pane(doc, 0), "chosen"), "queued_gpus");
    assert_true(cJSON_IsTrue(json_member(shown_pane(doc, 0), "large")));
    assert_true(cJSON_IsFalse(json_member(shown_item(json_member(shown_pane(doc, 0), "curves"), "curve", "gpus"), "shown")));
    json_free(doc);
    shown_key(&s, UI_ESC, 0);
    assert_false(s.ui->large);
    shown_close(&s);
    shown_remove(&s);
}

/* ---- comparison ---- */

static void test_comparison(void **state)
{
    struct shown s;
    struct diag d = {0};
    (void)state;
    shown_run(&s, "tests/study/tiny.json", tiny, 2, RECORD_FULL);
    shown_open(&s, tiny, 2, 1280, 800, 0);
    struct json_doc *doc = shown_dump(&s, "compare", &d);
    const cJSON *pane = shown_pane(doc, 0), *wait = shown_item(json_member(pane, "metrics"), "name", "mean_wait"), *job;
    assert_true(fabs(number(wait, "a") - (99 + 148) / 3.) < 1e-9 && fabs(number(wait, "b") - 33) < 1e-9);
    assert_string_equal(text(wait, "verdict"), "one run, no interval");
    assert_string_equal(text(pane, "section"), "words");
    job = cJSON_GetArrayItem(json_member(pane, "jobs"), 0); /* c alone ends sooner: by its 148 s of waiting */
    assert_int_equal(cJSON_GetArraySize(json_member(pane, "jobs")), 1);
    assert_string_equal(text(job, "job"), "c");
    assert_true(fabs(number(job, "a_s") - number(job, "b_s") - 148) < 1e-9);
    json_free(doc);
    for (int i = 0; i < 10 && s.ui->selection.kind != SELECTED_JOB; i++) { /* Tab to the jobs, down to the first, Enter */
        shown_key(&s, UI_TAB, 0);
        doc = shown_dump(&s, "compare", &d);
        bool there = !strcmp(text(shown_pane(doc, 0), "section"), "jobs");
        json_free(doc);
        if (!there) continue;
        shown_key(&s, UI_DOWN, 0);
        shown_key(&s, UI_ENTER, 0);
    }
    assert_int_equal(s.ui->selection.kind, SELECTED_JOB);
    assert_string_equal(s.scenes[0]->jobs[ui_selected_job(s.ui, 0)].id, "c");
    shown_close(&s);
    shown_remove(&s);
    diag_free(&d);
}

static void test_one_run_says_what_to_do(void **state)
{
    struct shown s;
    struct diag d = {0};
    (void)state;
    shown_run(&s, "tests/study/tiny.json", tiny, 1, RECORD_JOBS);
    shown_open(&s, tiny, 1, 1280, 800, 0);
    struct json_doc *doc = shown_dump(&s, "compare", &d);
    const cJSON *pane = shown_pane(doc, 0);
    assert_non_null(strstr(text(pane, "why_not"), "One run only"));
    assert_true(fabs(number(shown_item(json_member(pane, "metrics"), "name", "mean_wait"), "a") - (99 + 148) / 3.) < 1e-9);
    json_free(doc);
    shown_close(&s);
    shown_remove(&s);
    diag_free(&d);
}

/* ---- nothing cut off, nothing overlapping ---- */

static void assert_whole(struct shown *s, const char *scenario, const char *view)
{
    struct str found = {0};
    ui_view(s->ui, view);
    ui_draw(s->ui, s->list);
    bool scrolls = !strcmp(view, "compare"); /* a page may be cut at its lower edge, where more of it follows, but nowhere else */
    draw_check(s->list, &found);
    for (const char *line = str_text(&found), *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        if (!scrolls || memmem(line, (size_t)(end - line), "at the bottom", 13) == NULL) fail_msg("%s, %s at %.0f x %.0f:\n%s", scenario, view, (double)s->ui->w, (double)s->ui->h, str_text(&found));
    str_free(&found);
}

static void test_nothing_is_cut_off(void **state)
{
    static const char *const quotas[] = {"walls", "lending"}, *const llm[] = {"packed", "spread"};
    static const struct { const char *scenario; const char *const *approaches; unsigned n; int level; } runs[] = {
        {"scenarios/two-teams.json", both, 2, RECORD_FULL}, {"scenarios/quotas.json", quotas, 2, RECORD_JOBS},
        {"tests/study/tiny.json", tiny, 2, RECORD_NONE},    {"scenarios/llm-training.json", llm, 1, RECORD_FULL}};
    static const float sizes[][2] = {{1280, 800}, {2560, 1440}};
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (unsigned size = 0; size < 2; size++) {
            struct shown s;
            shown_run(&s, runs[i].scenario, runs[i].approaches, runs[i].n, runs[i].level);
            shown_open(&s, runs[i].approaches, runs[i].n, sizes[size][0], sizes[size][1], size);
            static const char *const views[] = {"curves", "ledger", "compare"};
            for (size_t v = 0; v < 3; v++) assert_whole(&s, runs[i].scenario, views[v]);
            shown_close(&s);
            shown_remove(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_one_run_says_what_to_do),
        cmocka_unit_test(test_nothing_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
