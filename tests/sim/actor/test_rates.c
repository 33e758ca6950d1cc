/* test_rates.c - how fast KubeRay creates pods: one at a time, N x 28 ms from the head to the N-th worker (orchestration
 * facts §7 as corrected by §10), and within 3 % of what was recorded (recorded/rates/raycluster-N.json).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "sim/kube/kube.h"
#include "sim/simulate.h"
#include "tests/support/shared.h"

struct creation { int64_t first_ns, last_ns; int pods; };

static void on_pod(void *ctx, struct kube *k, const struct pod *p, enum pod_change c)
{
    struct creation *made = ctx;
    (void)p;
    if (c != POD_CREATED) return;
    if (made->pods++ == 0) made->first_ns = sim_now(kube_sim(k));
    made->last_ns = sim_now(kube_sim(k));
}

static struct creation create(int workers)
{
    struct creation made = {0};
    const struct kube_observer watch = {.pod = on_pod, .ctx = &made};
    const struct sim_options options = {0};
    struct sim_result r = {0};
    struct str text = {0};
    struct diag d = {0};
    char *error = NULL;
    str_printf(&text,
               "{\"trainyard\": 1, \"name\": \"rates\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 1, \"gpus\": 8}]},"
               "\"approaches\": {\"a\": {\"lifecycle\": \"ray-train-v2\", \"admission\": \"none\"}}, \"run\": {\"horizon\": \"2m\"},"
               "\"workload\": {\"jobs\": [{\"id\": \"j\", \"kind\": \"RayCluster\", \"duration\": \"1h\", \"gpus\": 0, \"replicas\": %d}]}}",
               workers);
    struct scenario *s = scenario_parse("rates", str_text(&text), text.n, NULL, &d);
    if (!s) diag_print(&d, stderr);
    assert_non_null(s);
    struct sim *sim = sim_create(s, &options, &error);
    assert_non_null(sim);
    kube_observe(sim->kube, &watch);
    while (sim_step(sim)) {}
    kube_observe(sim->kube, NULL);
    assert_true(sim_close(sim, &r));
    sim_result_free(&r);
    scenario_free(s);
    diag_free(&d);
    str_free(&text);
    return made;
}

static void one_pod_each_28_ms(void **state)
{
    static const int sizes[] = {1, 50, 200, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct creation made = create(sizes[i]);
        assert_int_equal(made.pods, sizes[i] + 1);
        assert_int_equal(made.last_ns - made.first_ns, sizes[i] * INT64_C(28000000));
    }
}

static void as_recorded(const char *folder, const char *file)
{
    char path[SHARED_PATH_MAX + 512];
    struct diag d = {0};
    size_t n;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    char *text = file_read(path, FILE_READ_MAX, &n, &d);
    assert_non_null(text);
    cJSON *json = cJSON_ParseWithLength(text, n);
    const cJSON *pods = cJSON_GetObjectItemCaseSensitive(json, "Pod");
    int workers = cJSON_GetObjectItemCaseSensitive(json, "N")->valueint;
    double recorded = cJSON_GetObjectItemCaseSensitive(pods, "last")->valuedouble;
    double ours = (double)create(workers).last_ns / 1e9;
    printf("  N = %d: last pod recorded at %.3f s, ours at %.3f s\n", workers, recorded, ours);
    assert_true(fabs(ours - recorded) <= 0.03 * recorded);
    cJSON_Delete(json);
    free(text);
    diag_free(&d);
}

static int is_ray(const struct dirent *e) { return strncmp(e->d_name, "raycluster-", 11) == 0; }

static void totals_are_as_recorded(void **state)
{
    char folder[SHARED_PATH_MAX];
    struct dirent **files;
    (void)state;
    shared_path(folder, "recorded/rates");
    int n = scandir(folder, &files, is_ray, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        as_recorded(folder, files[i]->d_name);
        free(files[i]);
    }
    free(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_pod_each_28_ms), cmocka_unit_test(totals_are_as_recorded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
