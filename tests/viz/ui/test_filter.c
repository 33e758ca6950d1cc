/* test_filter.c - which jobs a search means, and what it says of a search that means nothing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "viz/ui/filter.h"

/* Three jobs: a: ended on nodes 0 and 1, waited for quota; b: failed; c: not yet started, and now is 3 h. */
static int64_t waits_a[N_WAIT_REASONS] = {[WAIT_QUOTA] = 600 * NS_PER_S}, waits_b[N_WAIT_REASONS];
static const struct node_interval nodes_a[] = {{0, 1}};
static const struct job_row row_a = {.id = "tune-3", .priority = 50, .nodes = nodes_a, .n_nodes = 1, .wait_ns = waits_a};
static const struct job_row row_b = {.id = "big", .priority = -1, .wait_ns = waits_b};
static struct scene_node nodes[] = {{.name = "h100-0"}, {.name = "h100-1"}, {.name = "h100-2"}};
static struct scene_job jobs[] = {
    {.id = "tune-3", .team = "speech", .queue = "tuning", .kind = "PyTorchJob", .state = JOB_SUCCEEDED, .gpu_shares = 8000, .submit_ns = 0,
     .started_ns = 600 * NS_PER_S, .finished_ns = 7200 * NS_PER_S, .restarts = 2, .row = &row_a},
    {.id = "big", .team = "foundation", .queue = "foundation", .kind = "RayJob", .state = JOB_FAILED, .gpu_shares = 64000, .submit_ns = 60 * NS_PER_S,
     .started_ns = 61 * NS_PER_S, .finished_ns = 100 * NS_PER_S, .preemptions = 1, .row = &row_b},
    {.id = "later", .team = "speech", .queue = "tuning", .kind = "PyTorchJob", .state = JOB_PENDING, .gpu_shares = 500, .submit_ns = 7200 * NS_PER_S,
     .started_ns = -1, .finished_ns = -1},
};
static struct scene scene = {.jobs = jobs, .n_jobs = 3, .nodes = nodes, .n_nodes = 3, .end_ns = 10800 * NS_PER_S};

static void test_meaning(void **state)
{
    (void)state;
    static const struct {
        const char *text, *passes; /* a letter a job */
    } rows[] = {
        {"", "abc"},              {"job:tune", "a"},      {"job=tune", ""},         {"job=tune-3", "a"},   {"team:speech", "ac"},  {"TEAM:SPEECH", "ac"},
        {"queue:found", "b"},     {"kind:torch", "ac"},   {"state:failed", "b"},    {"state:pend", "c"},   {"state:preempted", "b"}, {"node:h100-1", "a"},
        {"node=h100", ""},        {"reason:quota", "a"},  {"gpus>=8", "ab"},        {"gpus>8", "b"},       {"gpus<8", "c"},        {"gpus=0.5", "c"},
        {"wait>5m", "ac"},        {"wait<=1s", "b"},      {"jct>1h", "a"},          {"jct=1h", "c"},       {"restarts>=1", "a"},   {"restarts=0", "bc"},
        {"preemptions>0", "b"},   {"priority<0", "b"},    {"priority>=50", "a"},    {"submit<1m", "a"},    {"start>1h", "c"},      {"finish<2m", "b"},
        {"speech", "ac"},         {"-speech", "b"},       {"-team:speech gpus>1", "b"}, {"team:speech wait>2m gpus<1", "c"},    {"  tun   -state:pending ", "a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *err = NULL, passes[4] = "";
        struct filter *f = filter_parse(rows[i].text, &err);
        if (!f) fail_msg("\"%s\": %s", rows[i].text, err);
        for (int32_t j = 0; j < 3; j++)
            if (filter_job(f, &scene, j)) strncat(passes, &"a\0b\0c"[2 * j], 1);
        if (strcmp(passes, rows[i].passes) != 0) fail_msg("\"%s\" lets %s through, not %s", rows[i].text, passes, rows[i].passes);
        filter_free(f);
    }
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"quue:a", "did you mean queue?"}, {"colour:red", "allowed: job, team"}, {"gpus:8", "compared by <"}, {"gpus>=", "a value is to follow"},
        {"team>a", "compares no texts"},   {"wait>soon", "wait>soon"},          {"-", "a word is to follow"}, {"ok restarts>x", "restarts>x"},
        {"=3", "unknown key"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *err = NULL;
        struct filter *f = filter_parse(rows[i].text, &err);
        if (f) fail_msg("\"%s\" was taken", rows[i].text);
        assert_non_null(err);
        if (!strstr(err, rows[i].says)) fail_msg("\"%s\": %s", rows[i].text, err);
        free(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_meaning), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
