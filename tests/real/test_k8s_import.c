/* test_k8s_import.c - a cluster as a scenario: what is kept, what is left out; and marks of runs that were tampered with.
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
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "input/scenario.h"
#include "real/kubernetes/import.h"
#include "real/kubernetes/run_parts.h"
#include "tests/support/fake_kube.h"

#define LIST(items) "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[" items "]}"
#define NODE(name, gpus, zone, taint)                                                                                   \
    "{\"metadata\":{\"name\":\"" name "\",\"labels\":{\"zone\":\"" zone "\",\"kubernetes.io/hostname\":\"" name "\"}},\"spec\":{" taint "}," \
    "\"status\":{\"allocatable\":{\"cpu\":\"95900m\",\"memory\":\"2Gi\",\"nvidia.com/gpu\":\"" gpus "\"}}}"
#define TEMPLATE(gpus)                                                                                                  \
    "{\"metadata\":{\"labels\":{\"x\":\"y\"}},\"spec\":{\"restartPolicy\":\"Never\",\"nodeSelector\":{\"zone\":\"east\"},"   \
    "\"volumes\":[{\"name\":\"v\",\"secret\":{\"secretName\":\"s\"}}],\"containers\":[{\"name\":\"c\",\"image\":\"i:1\","     \
    "\"command\":[\"run\",\"--password=hunter2\"],\"env\":[{\"name\":\"TOKEN\",\"value\":\"hunter2\"}],"                      \
    "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"" gpus "\"}}}]}}"

struct page { const char *path, *body; };
static const struct page pages[] = {
    { "/api/v1/nodes", LIST(NODE("n1", "8", "east", "") "," NODE("n2", "8", "east", "\"taints\":[{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\"}]") ","
                            NODE("n3", "8", "west", "") "," NODE("n4", "4", "west", "\"taints\":[{\"key\":\"gpu\",\"value\":\"yes\",\"effect\":\"NoSchedule\"}]")) },
    /* began at 10:00:10, ended at 10:01:40, created first of all at 10:00:00 */
    { "/apis/batch/v1/jobs", LIST("{\"metadata\":{\"name\":\"done\",\"namespace\":\"default\",\"uid\":\"u1\",\"creationTimestamp\":\"2026-11-30T10:00:00Z\","
                                  "\"annotations\":{\"secret\":\"hunter2\"}},\"spec\":{\"parallelism\":2,\"completions\":2,\"selector\":{\"a\":\"b\"},\"template\":" TEMPLATE("2") "},"
                                  "\"status\":{\"startTime\":\"2026-11-30T10:00:10Z\",\"completionTime\":\"2026-11-30T10:01:40Z\"}},"
                                  "{\"metadata\":{\"name\":\"submitter\",\"namespace\":\"default\",\"uid\":\"u5\",\"ownerReferences\":[{\"uid\":\"u3\"}]},\"spec\":{\"template\":" TEMPLATE("0") "}}") },
    { "/apis/kubeflow.org/v1/pytorchjobs", LIST("{\"metadata\":{\"name\":\"waits\",\"namespace\":\"default\",\"uid\":\"u2\",\"creationTimestamp\":\"2026-11-30T10:00:30Z\","
                                                "\"labels\":{\"kueue.x-k8s.io/queue-name\":\"lq\"}},\"spec\":{\"runPolicy\":{\"suspend\":true},\"pytorchReplicaSpecs\":{\"Worker\":"
                                                "{\"replicas\":3,\"template\":" TEMPLATE("1") "}}}}") },
    { "/apis/ray.io/v1/rayjobs", LIST("{\"metadata\":{\"name\":\"r\",\"namespace\":\"default\",\"uid\":\"u3\",\"creationTimestamp\":\"2026-11-30T10:02:00Z\"},\"spec\":{\"entrypoint\":\"x\","
                                      "\"rayClusterSpec\":{\"headGroupSpec\":{\"rayStartParams\":{},\"template\":" TEMPLATE("1") "}}}}") },
    { "/apis/ray.io/v1/rayclusters", LIST("{\"metadata\":{\"name\":\"r-abc\",\"namespace\":\"default\",\"uid\":\"u4\",\"ownerReferences\":[{\"uid\":\"u3\"}]},\"spec\":{}}") },
    { "/apis/kueue.x-k8s.io/v1beta2/resourceflavors", LIST("{\"metadata\":{\"name\":\"f\"},\"spec\":{\"nodeLabels\":{\"zone\":\"east\"}}}") },
    { "/apis/kueue.x-k8s.io/v1beta2/clusterqueues", LIST("{\"metadata\":{\"name\":\"cq\",\"uid\":\"q\"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{\"coveredResources\":[\"nvidia.com/gpu\"],"
                                                         "\"flavors\":[{\"name\":\"f\",\"resources\":[{\"name\":\"nvidia.com/gpu\",\"nominalQuota\":\"8\"}]}]}]},\"status\":{\"x\":1}}") },
    { "/apis/kueue.x-k8s.io/v1beta2/localqueues", LIST("{\"metadata\":{\"name\":\"lq\",\"namespace\":\"default\"},\"spec\":{\"clusterQueue\":\"cq\"}}") },
    { "/api/v1/pods", LIST("{\"metadata\":{\"name\":\"p1\",\"ownerReferences\":[{\"uid\":\"u2\"}]},\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]},\"status\":{\"phase\":\"Running\"}},"
                           "{\"metadata\":{\"name\":\"p2\"},\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"3\"}}}]},\"status\":{\"phase\":\"Running\"}}") },
    { NULL, NULL },
};

/* What a group ("/apis/ray.io/v1") has: the lists that there are. */
static bool discover(struct fake_request *r, const struct page *pages_of)
{
    struct str text = { 0 };
    size_t n = strlen(r->path);
    for (const struct page *p = pages_of; p->path; p++)
        if (strncmp(p->path, r->path, n) == 0 && p->path[n] == '/') str_printf(&text, "%s{\"name\":\"%s\"}", text.n ? "," : "{\"resources\":[", p->path + n + 1);
    bool is = text.n > 0;
    str_append(&text, "]}");
    if (is) fake_reply(r, 200, "", str_text(&text));
    str_free(&text);
    return is;
}

/* Nothing but lists, and none of Secrets. An account without rights on a kind is told so, also where there is no such kind: RBAC comes first. */
static void serve(struct fake_request *r, void *arg)
{
    assert_string_equal(r->method, "GET");
    assert_null(strstr(r->path, "secret"));
    r->path[strcspn(r->path, "?")] = '\0';
    for (const struct page *p = arg; p->path; p++)
        if (strcmp(r->path, p->path) == 0) {
            fake_reply(r, 200, "", p->body);
            return;
        }
    if (discover(r, arg)) return;
    bool list = strrchr(r->path, '/')[1] != 'v';
    fake_reply(r, list ? 403 : 404, "", list ? "{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\"}" : "404 page not found");
}

static const struct job_spec *job_of(const struct scenario *s, const char *id)
{
    char buf[24];
    for (size_t i = 0; i < s->n_jobs; i++)
        if (strcmp(job_id(s, &s->jobs[i], buf), id) == 0) return &s->jobs[i];
    fail_msg("no job %s", id);
    return NULL;
}

static void imported(void **state)
{
    struct fake_kube *f = fake_kube_start(serve, (void *)(uintptr_t)pages);
    struct k8s_access access = { .server = fake_kube_server(f), .context = "lab" };
    struct str json = { 0 }, notes = { 0 };
    struct diag d = { 0 };
    (void)state;
    assert_true(k8s_import(&access, NULL, &json, &notes, &d));
    assert_null(strstr(json.s, "hunter2"));
    assert_null(strstr(json.s, "secret"));
    struct scenario *s = scenario_parse("x.json", json.s, json.n, NULL, &d);
    if (!s) diag_print(&d, stderr);
    assert_non_null(s);
    assert_string_equal(s->name, "lab");
    assert_int_equal(s->cluster.n_groups, 3); /* n1 and n2 are alike: a node's health is no kind */
    assert_int_equal(s->cluster.groups[0].count, 2);
    assert_int_equal(s->cluster.groups[0].cpu_milli, 95900);
    assert_int_equal(s->cluster.groups[0].mem_bytes, INT64_C(2) << 30);
    assert_int_equal(s->cluster.groups[2].gpus, 4);
    assert_int_equal(s->cluster.groups[2].taints.n, 1);
    assert_int_equal(s->n_jobs, 3);
    const struct job_spec *done = job_of(s, "done"), *waits = job_of(s, "waits"), *ray = job_of(s, "r");
    assert_int_equal(done->submit_ns, 0);
    assert_int_equal(done->work_ns, INT64_C(90000000000));
    assert_int_equal(job_shares(s, done), 4000);
    assert_int_equal(s->details[done->detail].groups, 1); /* zone east */
    assert_int_equal(waits->submit_ns, INT64_C(30000000000));
    assert_int_equal(waits->work_ns, TIME_NEVER);
    assert_string_equal(s->queues[waits->queue], "lq");
    assert_false(s->details[waits->detail].suspend); /* Kueue did that */
    assert_int_equal(ray->submit_ns, INT64_C(120000000000));
    assert_int_equal(s->quota.queues[0].lines[0].nominal, 8000);
    assert_int_equal(s->approach.admission, ADMIT_KUEUE);
    assert_string_equal(str_text(&notes), "4 nodes in 3 groups, 3 jobs\n"
                                          "2 jobs have not ended: how long they will work is not known; give them \"trainyard/duration\"\n"
                                          "1 pods of no job that is read hold 3 GPUs\n");
    scenario_free(s);
    str_free(&json);
    str_free(&notes);
    diag_free(&d);
    fake_kube_stop(f);
}

/* ---- what must not be copied ---- */

/* In each field that a user writes at will, known or not; what an import keeps is words of the API, numbers, names, images, labels of nodes. */
#define X       "\"hunter2\""
#define MORE    ",\"someFieldOfNextYear\":" X ",\"another\":{\"deep\":[{\"in\":" X "}]}"
#define META(name) "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"default\",\"labels\":{\"app\":" X "},\"annotations\":{\"note\":" X ","  \
    "\"kubectl.kubernetes.io/last-applied-configuration\":\"{\\\"env\\\":\\\"hunter2\\\"}\"},\"managedFields\":[{\"manager\":" X "}]" MORE "}"
#define CONTAINER                                                                                                       \
    "{\"name\":\"c\",\"image\":\"i\",\"command\":[" X "],\"args\":[\"--password\"," X "],\"env\":[{\"name\":\"T\",\"value\":" X "},{\"name\":\"U\"," \
    "\"valueFrom\":{\"secretKeyRef\":{\"name\":" X ",\"key\":" X "}}}],\"envFrom\":[{\"configMapRef\":{\"name\":" X "}}],\"workingDir\":" X ","    \
    "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":" X "}],\"lifecycle\":{\"postStart\":{\"exec\":{\"command\":[" X "]}}},"                  \
    "\"livenessProbe\":{\"httpGet\":{\"httpHeaders\":[{\"name\":\"Authorization\",\"value\":" X "}]}},\"ports\":[{\"containerPort\":80,\"hostIP\":" X "}]," \
    "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"},\"claims\":[{\"name\":" X "}]}" MORE "}"
#define POD_TEMPLATE                                                                                                    \
    "{\"metadata\":{\"labels\":{\"l\":" X "},\"annotations\":{\"a\":" X "}},\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[" CONTAINER "],"   \
    "\"initContainers\":[" CONTAINER "],\"volumes\":[{\"name\":\"v\",\"secret\":{\"secretName\":" X "}}],\"serviceAccountName\":" X ","            \
    "\"imagePullSecrets\":[{\"name\":" X "}],\"hostAliases\":[{\"hostnames\":[" X "]}],\"hostname\":" X ",\"schedulerName\":" X MORE "}" MORE "}"
#define RAY_SPEC                                                                                                        \
    "{\"rayVersion\":\"2.52.0\",\"headServiceAnnotations\":{\"a\":" X "},\"authOptions\":{\"mode\":" X "},\"managedBy\":" X ","                      \
    "\"autoscalerOptions\":{\"env\":[{\"name\":\"A\",\"value\":" X "}]},\"gcsFaultToleranceOptions\":{\"redisAddress\":" X ",\"redisUsername\":{\"value\":" X "}," \
    "\"redisPassword\":{\"value\":" X "},\"externalStorageNamespace\":" X "},\"headGroupSpec\":{\"rayStartParams\":{\"redis-password\":" X ",\"block\":" X ","  \
    "\"num-gpus\":\"1\"},\"headService\":{\"a\":" X "},\"labels\":{\"a\":" X "},\"resources\":{\"a\":" X "},\"template\":" POD_TEMPLATE MORE "}," \
    "\"workerGroupSpecs\":[{\"groupName\":\"w\",\"replicas\":2,\"rayStartParams\":{\"redis-password\":" X "},\"scaleStrategy\":{\"workersToDelete\":[" X "]}," \
    "\"template\":" POD_TEMPLATE MORE "}]" MORE "}"
#define GROUP "\"resourceGroups\":[{\"coveredResources\":[\"nvidia.com/gpu\"],\"flavors\":[{\"name\":\"f\",\"resources\":[{\"name\":\"nvidia.com/gpu\","   \
    "\"nominalQuota\":\"8\"" MORE "}]" MORE "}]" MORE "}]"

static const struct page secret_pages[] = {
    { "/api/v1/nodes", LIST("{" META("n1") ",\"spec\":{\"providerID\":" X "},\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"8\"},\"nodeInfo\":{\"machineID\":" X "}}}") },
    { "/apis/batch/v1/jobs", LIST("{" META("b") ",\"spec\":{\"parallelism\":1,\"managedBy\":" X ",\"selector\":{\"matchLabels\":{\"a\":" X "}},\"podFailurePolicy\":{\"rules\":[{\"a\":" X "}]},"
                                  "\"successPolicy\":{\"rules\":[{\"a\":" X "}]},\"template\":" POD_TEMPLATE MORE "},\"status\":{\"a\":" X "}}") },
    { "/apis/kubeflow.org/v1/pytorchjobs",
      LIST("{" META("t") ",\"spec\":{\"elasticPolicy\":{\"minReplicas\":1,\"rdzvBackend\":\"c10d\",\"rdzvHost\":" X ",\"rdzvId\":" X ",\"rdzvConf\":[{\"key\":" X ",\"value\":" X "}],"
           "\"metrics\":[{\"a\":" X "}]" MORE "},\"runPolicy\":{\"managedBy\":" X ",\"schedulingPolicy\":{\"queue\":" X "}" MORE "},\"pytorchReplicaSpecs\":{\"Worker\":{\"replicas\":2,"
           "\"template\":" POD_TEMPLATE MORE "}" MORE "}" MORE "}}") },
    { "/apis/ray.io/v1/rayjobs",
      LIST("{" META("r") ",\"spec\":{\"entrypoint\":\"run --token hunter2\",\"runtimeEnvYAML\":\"env_vars: {T: hunter2}\",\"metadata\":{\"a\":" X "},\"jobId\":" X ",\"managedBy\":" X ","
           "\"entrypointResources\":" X ",\"submitterConfig\":{\"a\":" X "},\"deletionStrategy\":{\"a\":" X "},\"submitterPodTemplate\":" POD_TEMPLATE ",\"rayClusterSpec\":" RAY_SPEC MORE "}},"
           "{" META("s") ",\"spec\":{\"entrypoint\":" X ",\"clusterSelector\":{\"ray.io/cluster\":" X "}}}") },
    { "/apis/ray.io/v1/rayclusters", LIST("{" META("c") ",\"spec\":" RAY_SPEC "}") },
    { "/apis/kueue.x-k8s.io/v1beta2/resourceflavors", LIST("{" META("f") ",\"spec\":{\"nodeLabels\":{}" MORE "}}") },
    { "/apis/kueue.x-k8s.io/v1beta2/cohorts", LIST("{" META("co") ",\"spec\":{" GROUP MORE "}}") },
    { "/apis/kueue.x-k8s.io/v1beta2/clusterqueues", LIST("{" META("cq") ",\"spec\":{\"cohortName\":\"co\",\"namespaceSelector\":{},\"admissionScope\":{\"a\":" X "},"
                                                         "\"concurrentAdmissionPolicy\":{\"a\":" X "}," GROUP MORE "},\"status\":{\"a\":" X "}}") },
    { "/apis/kueue.x-k8s.io/v1beta2/localqueues", LIST("{" META("lq") ",\"spec\":{\"clusterQueue\":\"cq\"" MORE "}}") },
    { "/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses", LIST("{" META("high") ",\"value\":7,\"description\":" X MORE "}") },
    { "/apis/scheduling.k8s.io/v1/priorityclasses", LIST("{" META("p") ",\"value\":7,\"description\":" X ",\"preemptionPolicy\":" X MORE "}") },
    { "/api/v1/pods", LIST("{" META("p1") ",\"spec\":{\"containers\":[" CONTAINER "]},\"status\":{\"phase\":\"Running\"}}") },
    { NULL, NULL },
};

static void no_secrets(void **state)
{
    struct fake_kube *f = fake_kube_start(serve, (void *)(uintptr_t)secret_pages);
    struct k8s_access access = { .server = fake_kube_server(f), .context = "lab" };
    struct str json = { 0 }, notes = { 0 };
    struct diag d = { 0 };
    (void)state;
    assert_true(k8s_import(&access, NULL, &json, &notes, &d));
    const char *found = strstr(json.s, "hunter2");
    if (found) fail_msg("%.200s", found - (found - json.s < 150 ? found - json.s : 150));
    assert_null(strstr(str_text(&notes), "hunter2"));
    struct scenario *s = scenario_parse("x.json", json.s, json.n, NULL, &d);
    if (!s) diag_print(&d, stderr);
    assert_non_null(s);
    assert_int_equal(s->n_jobs, 4); /* the RayJob on a cluster that is there gives a warning */
    const struct job_detail *cluster = &s->details[job_of(s, "c")->detail], *ray = &s->details[job_of(s, "r")->detail];
    assert_true(cluster->gcs_ft && ray->gcs_ft);
    assert_int_equal(job_shares(s, job_of(s, "c")), 3000);
    assert_int_equal(job_shares(s, job_of(s, "t")), 2000);
    assert_int_equal(s->details[job_of(s, "t")->detail].elastic.min, 1);
    scenario_free(s);
    str_free(&json);
    str_free(&notes);
    diag_free(&d);
    fake_kube_stop(f);
}

/* ---- marks ---- */

static bool reads(const char *text)
{
    char dir[] = "/tmp/trainyard-mark-XXXXXX", path[300];
    struct diag d = { 0 };
    struct k8s_mark m;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/kubernetes.json", dir);
    assert_true(file_write_atomic(path, text, strlen(text), &d));
    bool ok = k8s_mark_read(&m, dir, &d);
    assert_int_equal(ok, diag_errors(&d) == 0);
    if (ok) k8s_mark_free(&m);
    diag_free(&d);
    assert_true(file_remove_tree(dir, &(struct diag){ 0 }));
    return ok;
}

/* What says which objects to delete is not believed when it is not of the form that is written. */
static void marks(void **state)
{
    (void)state;
#define MARK(id, ns) "{ \"trainyard_kubernetes\": 1, \"run\": \"" id "\", \"server\": \"https://a\", \"namespaces\": [" ns "] }"
    assert_true(reads(MARK("lab-bcdfghjk", "\"trainyard-lab-bcdfghjk\"")));
    assert_false(reads(MARK("", "")));
    assert_false(reads(MARK("lab-bcdfghjk", "\"kube-system\"")));
    assert_false(reads(MARK("x,app notin (y", "")));
    assert_false(reads("{ \"server\": \"https://a\", \"namespaces\": [] }"));
    assert_false(reads("{ \"run\": \"lab-bcdfghjk\", \"namespaces\": [] }"));
    assert_true(reads("{ \"run\": \"lab-bcdfghjk\", \"server\": \"https://a\", \"namespaces\": [], \"kinds\": [\"Job\", \"Namespace\"] }"));
    assert_false(reads("{ \"run\": \"lab-bcdfghjk\", \"server\": \"https://a\", \"namespaces\": [], \"kinds\": [\"Secret\"] }"));
    assert_false(reads("{ \"run\": \"lab-bcdfghjk\", \"server\": \"https://a\", \"namespaces\": [], \"kinds\": \"Job\" }"));
    assert_false(reads("[]"));
    assert_false(reads("{"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(imported), cmocka_unit_test(no_secrets), cmocka_unit_test(marks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
