/* test_recordings_ray_nodeloss.c - a node is lost under two RayClusters (recorded/nodeloss): the workers of rc-worker and
 * the head of rc-head lie on it. Compared from the loss on: conditions in order with status and reason, pods deleted,
 * created and left.
 *
 * The recording's own settings: toleration 30 s, the node away from 0 to 385 s; KWOK's kubelet. The recording machine was
 * overloaded: a new pod reached the controller's cache only 0.3 to 0.5 s after its creation (HeadPodNotFound is visible
 * after the head had been created), so kuberay.cache-lag is 400 ms here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "sim/kube/kube.h"
#include "sim/simulate.h"
#include "tests/support/shared.h"

enum { LOSS_S = 30, LINES = 64 };

/* What one side showed of a cluster after the loss. */
struct side { char lines[LINES][96]; int n, created, deleted; };

struct play { struct side ours[2]; };

static const char scenario_text[] =
    "{\"trainyard\": 1, \"name\": \"nodeloss\", \"cluster\": {\"nodes\": ["
    "{\"group\": \"live\", \"count\": 2, \"gpus\": 8, \"labels\": {\"at\": \"live\"}},"
    "{\"group\": \"lost\", \"count\": 1, \"gpus\": 32, \"labels\": {\"at\": \"lost\"}}]},"
    "\"approaches\": {\"kwok\": {\"lifecycle\": \"ray-train-v2\", \"admission\": \"none\", \"stack\": {"
    "\"kubelet.container-start\": \"300ms\", \"kubelet.pod-delete\": \"300ms\", \"node.toleration\": \"30s\","
    "\"kuberay.readiness-initial\": \"0s\", \"kuberay.wait-gcs-poll\": \"0s\", \"ray.start\": \"0s\","
    "\"kuberay.cache-lag\": \"400ms\"}}},"
    "\"faults\": {\"script\": ["
    "{\"at\": \"30s\", \"target\": \"node/lost-0\", \"action\": \"node-lost\"},"
    "{\"at\": \"415s\", \"target\": \"node/lost-0\", \"action\": \"node-back\"}]},"
    "\"run\": {\"horizon\": \"450s\"}, \"objects\": [%s, %s]}";

static char *object(const char *name, int workers, const char *head_at, const char *workers_at)
{
    struct str s = {0};
    str_printf(&s,
               "{\"apiVersion\": \"ray.io/v1\", \"kind\": \"RayCluster\", \"metadata\": {\"name\": \"%s\"}, \"spec\": {"
               "\"headGroupSpec\": {\"rayStartParams\": {}, \"template\": {\"spec\": {\"nodeSelector\": {\"at\": \"%s\"},"
               "\"containers\": [{\"name\": \"ray-head\", \"image\": \"ray\"}]}}}, \"workerGroupSpecs\": [{"
               "\"groupName\": \"gpu\", \"replicas\": %d, \"minReplicas\": %d, \"maxReplicas\": 4, \"rayStartParams\": {},"
               "\"template\": {\"spec\": {\"nodeSelector\": {\"at\": \"%s\"}, \"containers\": [{\"name\": \"ray-worker\","
               "\"image\": \"ray\", \"resources\": {\"limits\": {\"nvidia.com/gpu\": 1}}}]}}}]}}",
               name, head_at, workers, workers, workers_at);
    return str_take(&s);
}

static bool after_loss(struct kube *k) { return sim_now(kube_sim(k)) >= LOSS_S * EVENT_SECOND; }

static void note(struct side *s, const char *type, const char *status, const char *reason)
{
    assert_true(s->n < LINES);
    snprintf(s->lines[s->n++], sizeof s->lines[0], "%s=%s(%s)", type, status, reason);
}

static void on_pod(void *ctx, struct kube *k, const struct pod *p, enum pod_change c)
{
    struct play *play = ctx;
    struct side *s = &play->ours[p->spec.job->index];
    if (!after_loss(k)) return;
    s->created += c == POD_CREATED;
    s->deleted += c == POD_GONE;
}

static void on_condition(void *ctx, struct kube *k, const struct job *j, const char *type, const char *status,
                         const char *reason, const char *message)
{
    struct play *play = ctx;
    (void)message;
    if (after_loss(k)) note(&play->ours[j->index], type, status, reason);
}

static void run(struct play *play)
{
    const struct kube_observer watch = {.pod = on_pod, .condition = on_condition, .ctx = play};
    const struct sim_options options = {0};
    struct sim_result r = {0};
    struct diag d = {0};
    struct str text = {0};
    char *a = object("rc-worker", 2, "live", "lost"), *b = object("rc-head", 1, "lost", "live"), *error = NULL;
    str_printf(&text, scenario_text, a, b);
    struct scenario *s = scenario_parse("nodeloss", str_text(&text), text.n, NULL, &d);
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
    free(a);
    free(b);
}

static const cJSON *get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

static struct side recorded(const cJSON *json, const char *cluster)
{
    struct side s = {0};
    char key[64], prefix[64];
    const cJSON *c, *pod;
    snprintf(key, sizeof key, "RayCluster/%s", cluster);
    snprintf(prefix, sizeof prefix, "%s-", cluster);
    cJSON_ArrayForEach(c, get(get(get(json, "objects"), key), "conditions"))
        if (get(c, "t")->valuedouble >= 0)
            note(&s, get(c, "type")->valuestring, get(c, "status")->valuestring, get(c, "reason")->valuestring);
    cJSON_ArrayForEach(pod, get(json, "pods"))
    {
        if (strncmp(get(pod, "name")->valuestring, prefix, strlen(prefix)) != 0) continue;
        s.created += get(pod, "created")->valuedouble >= 0;
        s.deleted += get(pod, "deleted") != NULL;
    }
    return s;
}

static void same(const struct side *want, const struct side *have)
{
    assert_int_equal(have->created, want->created);
    assert_int_equal(have->deleted, want->deleted);
    for (int i = 0; i < want->n && i < have->n; i++) assert_string_equal(have->lines[i], want->lines[i]);
    assert_int_equal(have->n, want->n);
}

static void clusters_are_as_recorded(void **state)
{
    char path[SHARED_PATH_MAX];
    struct diag d = {0};
    struct play play = {0};
    size_t n;
    (void)state;
    shared_path(path, "recorded/nodeloss/nodeloss.json");
    char *text = file_read(path, FILE_READ_MAX, &n, &d);
    assert_non_null(text);
    cJSON *json = cJSON_ParseWithLength(text, n);
    struct side worker = recorded(json, "rc-worker"), head = recorded(json, "rc-head");
    run(&play);
    same(&worker, &play.ours[0]);
    same(&head, &play.ours[1]);
    cJSON_Delete(json);
    free(text);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clusters_are_as_recorded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
