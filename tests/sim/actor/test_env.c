/* test_env.c - environment, commands and init containers of Ray pods equal those that KubeRay really wrote
 * (recorded/env/raycluster-*).
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

#include "base/file.h"
#include "base/str.h"
#include "input/scenario.h"
#include "input/ray_env.h"
#include "tests/support/shared.h"

static const cJSON *get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

static const char *text_of(const cJSON *o, const char *key)
{
    const cJSON *v = get(o, key);
    return cJSON_IsString(v) ? v->valuestring : NULL;
}

static void same_env(const cJSON *recorded, const struct ray_env_list *ours)
{
    const cJSON *var;
    size_t i = 0;
    assert_int_equal(cJSON_GetArraySize(recorded), ours->n);
    cJSON_ArrayForEach(var, recorded)
    {
        const struct ray_env_var *v = &ours->v[i++];
        const cJSON *from = get(get(var, "valueFrom"), "fieldRef");
        assert_string_equal(v->name, text_of(var, "name"));
        if (from) assert_string_equal(v->field, text_of(from, "fieldPath"));
        else assert_string_equal(v->value, text_of(var, "value"));
    }
}

static void same_command(const cJSON *container, const struct ray_pod_env *e, const char *args)
{
    const cJSON *word;
    size_t i = 0;
    assert_int_equal(cJSON_GetArraySize(get(container, "command")), e->n_command);
    cJSON_ArrayForEach(word, get(container, "command")) assert_string_equal(word->valuestring, e->command[i++]);
    assert_int_equal(cJSON_GetArraySize(get(container, "args")), 1);
    assert_string_equal(cJSON_GetArrayItem(get(container, "args"), 0)->valuestring, args);
}

/* The worker group whose name the pod's name holds; else the head. */
static const struct pod_template *template_of(const struct manifest *m, const char *pod)
{
    char infix[128];
    const struct pod_template *head = NULL;
    for (size_t i = 0; i < m->n_pods; i++) {
        if (m->pods[i].role == ROLE_HEAD) head = &m->pods[i];
        snprintf(infix, sizeof infix, "-%s-worker-", m->pods[i].name);
        if (strstr(pod, infix)) return &m->pods[i];
    }
    return head;
}

static void same_pod(const cJSON *pod, const struct manifest *m, const char *ns)
{
    struct arena a = {0};
    struct ray_env_of of = {.object = m, .pod = template_of(m, text_of(pod, "name")), .cluster = m->name, .ns = ns};
    assert_non_null(of.pod);
    struct ray_pod_env e = ray_env(&a, &of);
    const cJSON *main = cJSON_GetArrayItem(get(pod, "containers"), 0);
    const cJSON *init = cJSON_GetArrayItem(get(pod, "initContainers"), 0);
    same_env(get(main, "env"), &e.env);
    same_command(main, &e, e.args);
    assert_int_equal(init != NULL, e.init_args != NULL);
    if (init) {
        same_env(get(init, "env"), &e.init_env);
        same_command(init, &e, e.init_args);
    }
    arena_free(&a);
}

static struct scenario *scenario_of(const cJSON *manifest)
{
    struct str text = {0};
    struct diag d = {0};
    char *object = cJSON_PrintUnformatted(manifest);
    str_printf(&text,
               "{\"trainyard\": 1, \"name\": \"env\", \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 4, \"gpus\": 8}]},"
               "\"approaches\": {\"a\": {\"lifecycle\": \"ray-train-v2\"}}, \"objects\": [%s]}",
               object);
    struct scenario *s = scenario_parse("env", str_text(&text), text.n, NULL, &d);
    if (!s) diag_print(&d, stderr);
    free(object);
    str_free(&text);
    diag_free(&d);
    return s;
}

static void same_file(const char *folder, const char *file)
{
    char path[SHARED_PATH_MAX + 512], ns[512];
    struct diag d = {0};
    size_t n;
    const cJSON *pod;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(ns, sizeof ns, "env-%.*s", (int)(strlen(file) - strlen(".json")), file); /* the recording's namespace */
    char *text = file_read(path, FILE_READ_MAX, &n, &d);
    assert_non_null(text);
    cJSON *json = cJSON_ParseWithLength(text, n);
    struct scenario *s = scenario_of(get(json, "manifest"));
    assert_non_null(s);
    cJSON_ArrayForEach(pod, get(json, "pods")) same_pod(pod, s->manifests[0], ns);
    printf("  same %s, %d pods\n", file, cJSON_GetArraySize(get(json, "pods")));
    scenario_free(s);
    cJSON_Delete(json);
    free(text);
    diag_free(&d);
}

static int is_ray(const struct dirent *e) { return strncmp(e->d_name, "raycluster-", 11) == 0; }

static void pods_are_as_recorded(void **state)
{
    char folder[SHARED_PATH_MAX];
    struct dirent **files;
    (void)state;
    shared_path(folder, "recorded/env");
    int n = scandir(folder, &files, is_ray, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        same_file(folder, files[i]->d_name);
        free(files[i]);
    }
    free(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pods_are_as_recorded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
