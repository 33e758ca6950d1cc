/* test_measured.c - dots of a live run over the lines of a simulated one.
 *
 * The live run is written by the run writer with back end "host": four jobs wait from 0 on and start after 3, 104, 205 and 306 s, each for 5 s.
 * Simulated, all four run at once. So of the measured jobs 3 wait from 10 to 100 s, 2 from 110 to 200, 1 from 210 to 300; one GPU is held while a job
 * starts and runs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "real/live_run.h"
#include "tests/viz/views/views.h"

enum { JOBS = 4 };
#define S INT64_C(1000000000)

static const char text[] =
    "{\"trainyard\": 1, \"name\": \"four\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 4, \"gpus\": 1}]},\n"
    " \"workload\": {\"jobs\": [\n"
    "   {\"id\": \"a\", \"kind\": \"PyTorchJob\", \"replicas\": 1, \"gpus\": 1, \"steps\": 10, \"step\": {\"compute\": \"600ms\"}}, {\"id\": \"b\", \"kind\": \"PyTorchJob\", \"replicas\": 1, \"gpus\": 1, \"steps\": 10, \"step\": {\"compute\": \"600ms\"}},\n"
    "   {\"id\": \"c\", \"kind\": \"PyTorchJob\", \"replicas\": 1, \"gpus\": 1, \"steps\": 10, \"step\": {\"compute\": \"600ms\"}}, {\"id\": \"d\", \"kind\": \"PyTorchJob\", \"replicas\": 1, \"gpus\": 1, \"steps\": 10, \"step\": {\"compute\": \"600ms\"}}]},\n"
    " \"approaches\": {\"operator\": {\"lifecycle\": \"training-operator-v1\", \"admission\": \"fifo\"}}}\n";

static struct scenario *scenario(const char *name)
{
    struct diag d = {0};
    struct str json = {0};
    str_append(&json, text);
    if (name) memcpy(strstr(json.s, "four"), name, 4);
    struct scenario *s = scenario_parse("four.json", json.s, json.n, NULL, &d);
    assert_non_null(s);
    diag_free(&d);
    str_free(&json);
    return s;
}

static const char *live(const char *name, const char *of)
{
    char *err = NULL;
    const char *dir = below(top, name);
    struct scenario *sc = scenario(of);
    struct live_run *l = live_create(sc, &(struct live_options){.dir = dir, .back_end = "host", .record_level = RECORD_FULL, .force = true}, &err);
    if (!l) fail_msg("%s", err);
    for (uint32_t j = 0; j < JOBS; j++) live_submitted(l, j);
    for (uint32_t j = 0; j < JOBS; j++) {
        int64_t starts = (3 + 101 * (int64_t)j) * S;
        live_at(l, starts - 2 * S);
        live_admitted(l, j);
        uint32_t g = live_take(l, j, j, 1000, ACT_CONTAINER_START);
        live_allocated(l, j);
        live_at(l, starts);
        live_started(l, j);
        live_at(l, starts + 5 * S);
        live_stepped(l, j, &(struct live_steps){.first = 0, .next = 10, .compute_ns = 5 * S});
        live_ended(l, j, JOB_SUCCEEDED);
        live_free(l, j, g);
    }
    if (!live_finish(l, RUN_COMPLETE, &err)) fail_msg("%s", err);
    scenario_free(sc);
    return dir;
}

static const char *simulated(void)
{
    const char *dir = below(top, "sim");
    struct scenario *s = scenario(NULL);
    assert_true(run_scenario(s, dir, RECORD_FULL));
    scenario_free(s);
    return dir;
}

/* The pane and row of the curves view; NULL: it has no dots. */
static const cJSON *dots(struct looking *l, unsigned pane, const char *curve)
{
    const cJSON *row, *rows = cJSON_GetObjectItem(cJSON_GetArrayItem(look_dump(l, "panes"), (int)pane), "curves");
    cJSON_ArrayForEach(row, rows) if (!strcmp(cJSON_GetObjectItem(row, "curve")->valuestring, curve)) return cJSON_GetObjectItem(row, "measured");
    fail_msg("no curve %s", curve);
    return NULL;
}

static double at(const cJSON *point, int i)
{
    return cJSON_GetArrayItem(point, i)->valuedouble;
}

static void test_dots_are_what_was_measured(void **state)
{
    const char *dirs[] = {simulated(), live("live", NULL)};
    struct looking l;
    const cJSON *p;
    unsigned seen[4] = {0};
    (void)state;
    look_at(&l, dirs, 2);
    look_key(&l, '3', 0);
    cJSON_ArrayForEach(p, dots(&l, 0, "queued_jobs"))
    {
        double s = at(p, 0), waits = s > 12 && s < 98 ? 3 : s > 112 && s < 198 ? 2 : s > 212 && s < 298 ? 1 : -1;
        if (waits < 0) continue;
        assert_true(at(p, 1) > waits - 1e-9 && at(p, 1) < waits + 1e-9);
        seen[(int)waits]++;
    }
    assert_true(seen[1] > 10 && seen[2] > 10 && seen[3] > 10); /* a dot each 12 px of some 770 for 311 s */
    double held = 0, last = 0;
    cJSON_ArrayForEach(p, dots(&l, 0, "gpus"))
    {
        assert_true(at(p, 0) < 311 && at(p, 0) > last); /* none behind the end of the live run */
        last = at(p, 0);
        held += at(p, 1);
    }
    /* four times 7 s of one GPU, as the mean over the parts that are shown */
    held *= (double)311 / cJSON_GetArraySize(dots(&l, 0, "gpus"));
    assert_true(held > 28 * 0.97 && held < 28 * 1.03);
    assert_null(dots(&l, 1, "queued_jobs")); /* the measured run itself is lines */
    assert_string_equal(look_dump(&l, "check")->valuestring, "");
    look_away(&l);
}

static void test_only_of_the_same_scenario(void **state)
{
    const char *dirs[] = {simulated(), live("other", "more")}, *twice[] = {simulated(), simulated()};
    struct looking l;
    (void)state;
    look_at(&l, dirs, 2);
    look_key(&l, '3', 0);
    assert_null(dots(&l, 0, "queued_jobs"));
    look_away(&l);
    look_at(&l, twice, 2);
    look_key(&l, '3', 0);
    assert_null(dots(&l, 0, "queued_jobs"));
    look_away(&l);
}

/* Steps of 0.6 s simulated, 5 s for 10 measured. */
static void test_steps_on_the_page_of_a_job(void **state)
{
    const char *dirs[] = {simulated(), live("live", NULL)};
    struct looking l;
    (void)state;
    look_at(&l, dirs, 2);
    look_type(&l, '/', "job:c");
    look_key(&l, '7', 0);
    assert_true(look_number(&l, "panes.0.columns.0.training.0.step_s") > 0.6 - 1e-9 && look_number(&l, "panes.0.columns.0.training.0.step_s") < 0.6 + 1e-9);
    assert_true(look_number(&l, "panes.0.columns.1.training.0.step_s") > 0.5 - 1e-9 && look_number(&l, "panes.0.columns.1.training.0.step_s") < 0.5 + 1e-9);
    assert_true(look_number(&l, "panes.0.columns.0.measured.0.1") > 0.5 - 1e-9 && look_number(&l, "panes.0.columns.0.measured.0.1") < 0.5 + 1e-9);
    assert_true(look_number(&l, "panes.0.columns.0.measured.0.0") >= 205); /* c starts then */
    assert_int_equal(cJSON_GetArraySize(look_dump(&l, "panes.0.columns.1.measured")), 0);
    assert_string_equal(look_text(&l, "check"), "");
    look_away(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dots_are_what_was_measured), cmocka_unit_test(test_only_of_the_same_scenario),
                                       cmocka_unit_test(test_steps_on_the_page_of_a_job)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
