/* test_k8s_actions.c - what the script's actions write, and above all what they do not: objects without the run's label.
 *
 * Fields are those of batch/v1, policy/v1 (Kubernetes 1.35) and kueue.x-k8s.io/v1beta2 (Kueue 0.17).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "real/kubernetes/observe.h"
#include "tests/support/k8s_bench.h"
#include "tests/support/kube_store.h"

#define JOB     "/apis/batch/v1/namespaces/@NS/jobs/j"
#define POD     "/api/v1/namespaces/@NS/pods/j-0"
#define QUEUE   "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q"
#define OURS    "\"labels\":{\"trainyard/run\":\"@ID\",\"trainyard/job\":\"j\"}"
#define OTHERS  "\"labels\":{\"trainyard/run\":\"lab-bcdfghjk\",\"trainyard/job\":\"j\"}"
#define QUOTA   "\"resourceGroups\":[{\"flavors\":[{\"name\":\"f\",\"resources\":[{\"name\":\"nvidia.com/gpu\",\"nominalQuota\":\"16\"}]}]}]"
#define AT(target, action) "{ \"at\": 1, \"target\": \"" target "\", \"action\": \"" action "\" }"
#define WITH(target, action, more) "{ \"at\": 1, \"target\": \"" target "\", \"action\": \"" action "\", " more " }"

/* ours: what is written then, and stands in the object afterwards; NULL: the object is gone. */
static const struct row { const char *action, *path, *spec, *write, *written; } rows[] = {
    { WITH("queue/q", "hold", "\"value\": 1"), QUEUE, "{}", "PUT " QUEUE "\n", "\"stopPolicy\":\"Hold\"" },
    { WITH("queue/q", "hold", "\"value\": 0"), QUEUE, "{\"stopPolicy\":\"Hold\"}", "PUT " QUEUE "\n", "\"stopPolicy\":\"None\"" },
    { WITH("queue/q", "set-quota", "\"value\": 8"), QUEUE, "{" QUOTA "}", "PUT " QUEUE "\n", "\"nominalQuota\":\"8000m\"" },
    { AT("job/j", "suspend"), JOB, "{\"parallelism\":1}", "PUT " JOB "\n", "\"suspend\":true" },
    { AT("job/j", "resume"), JOB, "{\"suspend\":true}", "PUT " JOB "\n", "\"suspend\":false" },
    { WITH("job/j", "scale", "\"replicas\": 3"), JOB, "{\"parallelism\":1}", "PUT " JOB "\n", "\"parallelism\":3" },
    { AT("job/j", "touch"), JOB, "{}", "PUT " JOB "\n", "\"trainyard/touched\":\"1\"" },
    { AT("job/j", "delete-job"), JOB, "{}", "DELETE " JOB "\n", NULL },
    { AT("pod/j-0", "pod-deleted"), POD, "{}", "DELETE " POD "\n", NULL },
    { AT("pod/j-0", "force-delete"), POD, "{}", "DELETE " POD "\n", NULL },
    { AT("pod/j-0", "pod-evicted"), POD, "{}", "POST " POD "/eviction\n", NULL },
};
enum { ROWS = sizeof rows / sizeof *rows };

struct bench { struct k8s_bench k; struct k8s_access access; struct kube_store *store; char *path; };

static void put(struct bench *b, const struct row *row, const char *labels)
{
    struct str json = { 0 };
    const char *kind = strstr(row->path, "/jobs/") ? "Job" : strstr(row->path, "/pods/") ? "Pod" : "ClusterQueue";
    str_printf(&json, "{\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"@NS\",%s},\"spec\":%s}", kind, strrchr(row->path, '/') + 1, labels, row->spec);
    char *text = k8s_bench_text(&b->k, str_text(&json));
    kube_store_put(b->store, b->path, text);
    free(text);
    str_free(&json);
}

/* The job has been made, its pod seen, and both are what the server has by their names, until the test changes that. */
static void begin(struct bench *b, const struct row *row)
{
    char script[300];
    snprintf(script, sizeof script, "\"faults\": { \"script\": [%s] },", row->action);
    *b = (struct bench){ .store = kube_store_start(NULL, NULL) };
    k8s_bench_begin(&b->k, "{ \"id\": \"j\", \"kind\": \"Job\", \"gpus\": 4, \"duration\": 60, \"queue\": \"q\" }", script, true);
    b->access.server = kube_store_server(b->store);
    b->k.r.client = k8s_client_create(&b->access, NULL);
    b->path = k8s_bench_text(&b->k, row->path);
    put(b, row, OURS);
    const cJSON *there = kube_store_get(b->store, b->path);
    b->k.r.jobs[0].uid = arena_strdup(&b->k.r.arena, k8s_text(k8s_in(there, "metadata"), "uid"));
    k8s_observe_created(&b->k.r, &b->k.r.jobs[0]);
    if (strcmp(row->path, POD) == 0) k8s_observe_pod(K8S_THERE, there, &b->k.r);
}

static void end(struct bench *b)
{
    assert_int_equal(diag_errors(&b->k.d), 0);
    k8s_bench_end(&b->k);
    kube_store_stop(b->store);
    free(b->path);
}

static void play(struct bench *b) { assert_true(k8s_actions_play(&b->k.r, 2000000000)); }

static void what_is_ours(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct bench b;
        begin(&b, &rows[i]);
        play(&b);
        char *write = k8s_bench_text(&b.k, rows[i].write), *now = NULL;
        assert_string_equal(kube_store_writes(b.store), write);
        const cJSON *there = kube_store_get(b.store, b.path);
        assert_int_equal(there != NULL, rows[i].written != NULL);
        if (there) now = cJSON_PrintUnformatted(there);
        if (now && !strstr(now, rows[i].written)) fail_msg("%s: %s", rows[i].action, now);
        cJSON_free(now);
        free(write);
        end(&b);
    }
}

/* By the name there is another's object by now, with no label or that of another run. */
static void what_is_anothers(void **state)
{
    static const char *const labels[] = { "\"labels\":{}", "\"annotations\":{}", OTHERS };
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < sizeof labels / sizeof *labels; k++) {
            struct bench b;
            begin(&b, &rows[i]);
            put(&b, &rows[i], labels[k]);
            char *before = cJSON_PrintUnformatted(kube_store_get(b.store, b.path));
            play(&b);
            char *after = cJSON_PrintUnformatted(kube_store_get(b.store, b.path));
            assert_string_equal(after, before);
            cJSON_free(before);
            cJSON_free(after);
            end(&b);
        }
}

/* It is gone, and nobody has said so yet: passed over, and not made anew. */
static void what_is_gone(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct bench b;
        begin(&b, &rows[i]);
        struct kube_store *full = b.store;
        b.store = kube_store_start(NULL, NULL);
        b.access.server = kube_store_server(b.store);
        play(&b);
        assert_int_equal(kube_store_count(b.store), 0);
        kube_store_stop(full);
        end(&b);
    }
}

/* It is gone, and that has been told: nothing is asked. */
static void what_was_told_to_be_gone(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct bench b;
        if (strcmp(rows[i].path, QUEUE) == 0) continue;
        begin(&b, &rows[i]);
        (strcmp(rows[i].path, POD) == 0 ? k8s_observe_pod : k8s_observe_job)(K8S_DELETED, kube_store_get(b.store, b.path), &b.k.r);
        play(&b);
        assert_string_equal(kube_store_writes(b.store), "");
        end(&b);
    }
}

/* A run that makes no queues: one of the cluster's that has the name is not even looked at. */
static void another_queue(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct bench b;
        if (strcmp(rows[i].path, QUEUE) != 0) continue;
        begin(&b, &rows[i]);
        for (size_t k = 0; k < b.k.r.set.n; k++)
            if (strcmp(b.k.r.set.v[k].kind, "ClusterQueue") == 0) b.k.r.set.v[k].name = "of-another-name";
        play(&b);
        assert_string_equal(kube_store_writes(b.store), "");
        end(&b);
    }
}

/* A run that admits without queues makes none, and has none to hold. */
static void no_queues(void **state)
{
    static const char *const actions[] = { WITH("queue/q", "hold", "\"value\": 1"), WITH("queue/q", "set-quota", "\"value\": 8") };
    (void)state;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        for (int kueue = 0; kueue < 2; kueue++) {
            char script[300];
            struct diag d = { 0 };
            snprintf(script, sizeof script, "\"faults\": { \"script\": [%s] },", actions[i]);
            struct scenario *s = k8s_bench_scenario("{ \"id\": \"j\", \"kind\": \"Job\", \"gpus\": 4, \"duration\": 60, \"queue\": \"q\" }", script, kueue);
            assert_int_equal(k8s_run_check(s, &d), kueue);
            if (!kueue) assert_non_null(strstr(d.entries.v[0].text, "this run makes no queues"));
            diag_free(&d);
            scenario_free(s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_ours),             cmocka_unit_test(what_is_anothers), cmocka_unit_test(what_is_gone),
                                        cmocka_unit_test(what_was_told_to_be_gone), cmocka_unit_test(another_queue),    cmocka_unit_test(no_queues) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
