/* test_env.c - environment and init container of each pod of the recorded PyTorchJobs, name by name and in order.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "input/torch_env.h"
#include "tests/support/shared.h"

static const cJSON *get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

/* The manifest goes through the reader of objects, as in a scenario. */
static struct scenario *read_manifest(const cJSON *json)
{
    struct str text = {0};
    struct diag d = {0};
    char *manifest = cJSON_Print(json);
    str_printf(&text, "{ \"trainyard\": 1, \"name\": \"env\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 8, \"gpus\": 8 } ] },"
                      "\"approaches\": { \"a\": { \"lifecycle\": \"training-operator-v1\" } }, \"objects\": [ %s ] }", manifest);
    struct scenario *s = scenario_parse("env.json", str_text(&text), text.n, NULL, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    free(manifest);
    return s;
}

static void compare_env(const char *pod, const struct pod_env *e, const cJSON *recorded)
{
    size_t i = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, recorded)
    {
        const cJSON *name = get(v, "name"), *value = get(v, "value");
        if (i >= e->n) fail_msg("%s: %s is missing", pod, name->valuestring);
        assert_string_equal(e->v[i].name, name->valuestring);
        if (value) assert_string_equal(e->v[i].value, value->valuestring);
        i++;
    }
    if (i < e->n) fail_msg("%s: %s is not recorded", pod, e->v[i].name);
}

static void compare_init(struct arena *a, const struct manifest *m, enum pod_role role, const cJSON *recorded)
{
    const char *const *words = torch_init_command(a, m, role);
    const cJSON *c = cJSON_GetArrayItem(recorded, 0), *w;
    assert_int_equal(words != NULL, c != NULL);
    if (!c) return;
    assert_string_equal(get(c, "name")->valuestring, TORCH_INIT_NAME);
    assert_string_equal(get(c, "image")->valuestring, TORCH_INIT_IMAGE);
    size_t i = 0;
    cJSON_ArrayForEach(w, get(c, "command")) assert_string_equal(words[i++], w->valuestring);
    assert_int_equal(i, 3);
}

static void compare_pod(struct arena *a, const struct manifest *m, const cJSON *pod)
{
    const cJSON *labels = get(pod, "labels"), *c;
    enum pod_role role = strcmp(get(labels, "training.kubeflow.org/replica-type")->valuestring, "master") ? ROLE_WORKER : ROLE_MASTER;
    uint32_t index = (uint32_t)atoi(get(labels, "training.kubeflow.org/replica-index")->valuestring);
    size_t container = 0;
    cJSON_ArrayForEach(c, get(pod, "containers"))
    {
        struct pod_env e = torch_env(a, m, role, index, container++);
        compare_env(get(pod, "name")->valuestring, &e, get(c, "env"));
    }
    compare_init(a, m, role, get(pod, "initContainers"));
}

static void compare_file(const char *path)
{
    struct diag d = {0};
    struct arena a = {0};
    size_t n;
    const cJSON *pod;
    char *bytes = file_read(path, 64 << 20, &n, &d);
    assert_non_null(bytes);
    cJSON *json = cJSON_ParseWithLength(bytes, n);
    assert_non_null(json);
    struct scenario *s = read_manifest(get(json, "manifest"));
    assert_non_null(s);
    cJSON_ArrayForEach(pod, get(json, "pods")) compare_pod(&a, s->details[s->jobs[0].detail].manifest, pod);
    scenario_free(s);
    cJSON_Delete(json);
    arena_free(&a);
    free(bytes);
    diag_free(&d);
}

static int is_env(const struct dirent *d) { return strncmp(d->d_name, "pytorchjob-", 11) == 0; }

static void recorded_environments(void **state)
{
    char folder[SHARED_PATH_MAX], path[SHARED_PATH_MAX + 300];
    struct dirent **files;
    (void)state;
    shared_path(folder, "recorded/env");
    int n = scandir(folder, &files, is_env, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
        compare_file(path);
        free(files[i]);
    }
    free(files);
    printf("%d recorded environments are equal\n", n);
}

/* Facts section 10: an elastic job with a Master keeps RANK and MASTER_*, its rendezvous is at worker 0; what is set of
 * PET_RDZV_ID, _CONF, PET_STANDALONE comes last, in this order (TO pytorch/elastic.go). */
static void elastic_with_master(void **state)
{
    struct arena a = {0};
    struct pod_template pods[2] = {{.role = ROLE_MASTER, .replicas = 1}, {.role = ROLE_WORKER, .replicas = 3}};
    struct manifest_text conf[2] = {{"timeout", "900"}, {"read_timeout", "60"}};
    struct manifest m = {.name = "e", .pods = pods, .n_pods = 2, .nproc = "4", .elastic = true, .elastic_min = -1, .elastic_max = 8,
                         .elastic_restarts = -1, .rdzv_port = -1, .rdzv_id = "x", .rdzv_conf = conf, .n_rdzv_conf = 2,
                         .standalone = true};
    static const char *const expected[] = {
        "PYTHONUNBUFFERED=1", "MASTER_PORT=23456", "PET_MASTER_PORT=23456", "MASTER_ADDR=e-master-0",
        "PET_MASTER_ADDR=e-master-0", "WORLD_SIZE=16", "RANK=3", "PET_NODE_RANK=3", "PET_NPROC_PER_NODE=4",
        "PET_RDZV_ENDPOINT=e-worker-0:23456", "PET_RDZV_BACKEND=c10d", "PET_NNODES=3:8", "PET_RDZV_ID=x",
        "PET_RDZV_CONF=timeout=900,read_timeout=60", "PET_STANDALONE=",
    };
    (void)state;
    struct pod_env e = torch_env(&a, &m, ROLE_WORKER, 2, 0);
    assert_int_equal(e.n, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < e.n; i++)
        assert_string_equal(arena_printf(&a, "%s=%s", e.v[i].name, e.v[i].value), expected[i]);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_environments), cmocka_unit_test(elastic_with_master)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
