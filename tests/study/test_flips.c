/* test_flips.c - turns that can be worked out, honesty about chance, and what is left alone.
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
#include "base/units.h"
#include "run/metrics.h"
#include "study/flips.h"

/* One job on idle nodes: its completion time is the sum of what its bring-up and tear-down take, so each constant on the
 * critical path moves it one to one. Both wait torchrun.rendezvous once: the operator 5 s here, the actor its 1 s by default.
 * `slow` is the operator with 9 s more of it: the difference of those two is 9 s. Nothing is random. */
static const char scenario[] =
    "{ \"trainyard\": 1, \"name\": \"one-job\",\n"
    "  \"cluster\": { \"nodes\": [{ \"group\": \"gpu\", \"count\": 4, \"gpus\": 8 }] },\n"
    "  \"workload\": { \"jobs\": [{ \"id\": \"a\", \"replicas\": 2, \"gpus\": 8, \"duration\": \"10m\" }] },\n"
    "  \"approaches\": {\n"
    "    \"operator\": { \"lifecycle\": \"training-operator-v1\", \"admission\": \"none\",\n"
    "                  \"stack\": { \"torchrun.rendezvous\": \"5s\" } },\n"
    "    \"slow\": { \"like\": \"operator\", \"stack\": { \"torchrun.rendezvous\": \"14s\" } },\n"
    "    \"actor\": { \"lifecycle\": \"ray-train-v2\", \"admission\": \"none\" } },\n"
    "  \"run\": { \"seed\": 1, \"replications\": 2 } }\n";

struct found {
    char dir[40];
    struct flips f;
};

static void find(struct found *x, const char *base, const char *other, int64_t budget_ns)
{
    struct diag d = {0};
    struct str path = {0};
    const char *const two[] = {base, other};
    memset(x, 0, sizeof *x);
    strcpy(x->dir, "/tmp/trainyard-flips-XXXXXX");
    assert_non_null(mkdtemp(x->dir));
    str_printf(&path, "%s/one-job.json", x->dir);
    assert_true(file_write_atomic(str_text(&path), scenario, strlen(scenario), &d));
    struct flips_plan p = {.runs = {.scenario = str_text(&path), .approaches = two, .n_approaches = 2, .threads = 2},
                           .metric = (size_t)metric_find("mean_jct"), .budget_ns = budget_ns};
    if (!flips_find(&p, &x->f, &d)) {
        diag_print(&d, stderr);
        fail_msg("%s", x->f.error ? x->f.error : "the scenario");
    }
    diag_free(&d);
    str_free(&path);
}

static void done(struct found *x)
{
    struct diag d = {0};
    flips_free(&x->f);
    assert_true(file_remove_tree(x->dir, &d));
    diag_free(&d);
}

static const struct flip *flip_of(const struct flips *f, const char *name)
{
    for (size_t i = 0; i < f->list.n; i++)
        if (!strcmp(stack_constant_at(f->list.v[i].constant)->name, name)) return &f->list.v[i];
    return NULL;
}

static bool is_inert(const struct flips *f, const char *name)
{
    for (size_t i = 0; i < f->inert.n; i++)
        if (!strcmp(stack_constant_at(f->inert.v[i])->name, name)) return true;
    return false;
}

/* The actor's job ends D later. With f times the rendezvous it is D - 4 s (f - 1): it turns at f = 1 + D / 4 s. */
static void test_turn(void **state)
{
    struct found x;
    (void)state;
    find(&x, "operator", "actor", 600 * NS_PER_S);
    double d = x.f.at_default.mean;
    assert_true(d > 0 && d < 36); /* else the turn would lie beyond ten times */
    assert_int_equal(x.f.not_tried.n, 0);
    const struct flip *r = flip_of(&x.f, "torchrun.rendezvous");
    assert_non_null(r);
    assert_true(r->base_reads && r->other_reads);
    assert_false(r->ends[0].turns);
    assert_true(fabs(r->ends[0].difference.mean - (d + 3.6)) < 1e-6);
    assert_true(fabs(r->ends[1].difference.mean - (d - 36)) < 1e-6);
    const struct flip_end *e = &r->ends[1];
    assert_true(e->turns && e->shown && e->sought);
    assert_true(e->near <= 1 + d / 4 && 1 + d / 4 <= e->far + 1e-6);
    assert_true(e->far / e->near < 1.02); /* a decade in 2^7 parts: 10^(1/128) = 1.0182 */
    assert_true(e->at.base == llround(5e9 * e->far));
    /* what the jobs do not meet changes nothing */
    assert_true(is_inert(&x.f, "node.toleration") && is_inert(&x.f, "kueue.cycle") && is_inert(&x.f, "nccl.timeout"));
    assert_true(x.f.inert.n + x.f.list.n == stack_constant_count());
    done(&x);
}

/* operator and slow differ by 9 s of one constant, which scales in both alike: 9 s x factor, and no other constant that
 * both read turns it. */
static void test_no_turn(void **state)
{
    struct found x;
    (void)state;
    find(&x, "operator", "slow", 600 * NS_PER_S);
    assert_true(fabs(x.f.at_default.mean - 9) < 1e-6);
    const struct flip *r = flip_of(&x.f, "torchrun.rendezvous"), *s = flip_of(&x.f, "kubelet.container-start");
    assert_non_null(r);
    assert_non_null(s);
    assert_true(r->base_reads && r->other_reads);
    assert_true(fabs(r->ends[0].difference.mean - 0.9) < 1e-6 && fabs(r->ends[1].difference.mean - 90) < 1e-6);
    assert_true(fabs(s->ends[1].difference.mean - 9) < 1e-6); /* both start later alike */
    for (size_t i = 0; i < x.f.list.n; i++) assert_false(x.f.list.v[i].ends[0].turns || x.f.list.v[i].ends[1].turns);
    struct str text = {0};
    flips_text(&x.f, &text);
    assert_non_null(strstr(str_text(&text), "No constant that was tried turns the mean_jct"));
    str_free(&text);
    done(&x);
}

static void test_no_time(void **state)
{
    struct found x;
    (void)state;
    find(&x, "operator", "actor", 0);
    assert_int_equal(x.f.not_tried.n, stack_constant_count());
    assert_int_equal(x.f.list.n + x.f.inert.n, 0);
    assert_true(x.f.at_default.mean > 0);
    done(&x);
}

static void test_forms(void **state)
{
    struct found x;
    struct str text = {0}, json = {0}, csv = {0};
    (void)state;
    find(&x, "operator", "actor", 600 * NS_PER_S);
    flips_text(&x.f, &text);
    assert_non_null(strstr(str_text(&text), "  * torchrun.rendezvous above about "));
    for (const char *line = str_text(&text), *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        if (end - line > 100) fail_msg("%.*s", (int)(end - line), line);
        assert_true(end == line || end[-1] != ' ');
    }
    flips_json(&x.f, &json);
    cJSON *doc = cJSON_Parse(str_text(&json));
    assert_non_null(doc);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(doc, "constants")), x.f.list.n);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(doc, "inert")), x.f.inert.n);
    cJSON_Delete(doc);
    flips_csv(&x.f, &csv);
    for (const char *line = str_text(&csv); *line; line = strchr(line, '\n') + 1) {
        size_t n = 0;
        for (const char *c = line; *c != '\n'; c++) n += *c == ',';
        assert_int_equal(n, 13);
    }
    str_free(&text);
    str_free(&json);
    str_free(&csv);
    done(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turn),
        cmocka_unit_test(test_no_turn),
        cmocka_unit_test(test_no_time),
        cmocka_unit_test(test_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
