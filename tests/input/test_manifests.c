/* test_manifests.c - the objects of a scenario, read again, are the same jobs and quotas; and what stands in them.
 *
 * Fields, defaults and rules of the objects: kueue.x-k8s.io/v1beta2 (Kueue 0.17 apis/kueue/v1beta2), kubeflow.org/v1
 * (training-operator 1.9.3), ray.io/v1 (KubeRay 1.6), batch/v1 (Kubernetes 1.35).
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
#include "base/yaml_write.h"
#include "input/value.h"
#include "input/manifests.h"
#include "tests/support/any_scenario.h"

static struct scenario *parse(const char *text, const char *approach)
{
    struct diag d = { 0 };
    struct scenario *s = scenario_parse("test.json", text, strlen(text), approach, &d);
    if (!s) diag_print(&d, stderr);
    diag_free(&d);
    assert_non_null(s);
    return s;
}

/* ---- written and read again ---- */

struct again { struct manifest_set set; struct scenario *s; };

static void write_file(const char *dir, const char *name, struct str *text)
{
    char path[300];
    struct diag d = { 0 };
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_true(file_write_atomic(path, str_text(text), text->n, &d));
    diag_free(&d);
    str_free(text);
}

static struct again again(const struct scenario *s)
{
    char dir[] = "/tmp/trainyard-manifests-XXXXXX", path[300];
    struct again a = { 0 };
    struct diag d = { 0 };
    struct str yaml = { 0 }, json = { 0 };
    assert_non_null(mkdtemp(dir));
    if (!manifests_make(s, &(struct manifest_options){ 0 }, &a.set, &d)) diag_print(&d, stderr);
    assert_int_equal(diag_errors(&d), 0);
    for (size_t i = 0; i < a.set.n; i++) yaml_write(&yaml, a.set.v[i].object);
    manifests_scenario(s, &a.set, a.set.n ? "objects.yaml" : "scenario.json", &json);
    if (!a.set.n) str_clear(&json), manifests_scenario(s, &a.set, "objects.yaml", &json), str_append(&yaml, "\n");
    write_file(dir, "objects.yaml", &yaml);
    write_file(dir, "scenario.json", &json);
    snprintf(path, sizeof path, "%s/scenario.json", dir);
    a.s = scenario_load(path, NULL, NULL, &d);
    if (!a.s) diag_print(&d, stderr);
    assert_non_null(a.s);
    diag_free(&d);
    assert_true(file_remove_tree(dir, &(struct diag){ 0 }));
    return a;
}

static void drop(struct again *a, struct scenario *s)
{
    manifests_free(&a->set);
    scenario_free(a->s);
    scenario_free(s);
}

/* A neutral job is a Master and Workers, or has a head and a submitter besides: the pods with its GPUs are as many. */
static void same_pods(const struct scenario *a, const struct job_spec *p, const struct scenario *b, const struct job_spec *q)
{
    const struct job_detail *x = &a->details[p->detail], *y = &b->details[q->detail];
    assert_int_equal(job_shares(a, p), job_shares(b, q));
    if (x->kind == KIND_TRAIN) {
        const struct role_spec *r = &x->roles[x->n_roles - 1], *w = &y->roles[y->n_roles - 1];
        assert_int_equal(r->cpu_milli, w->cpu_milli);
        assert_int_equal(r->mem_bytes, w->mem_bytes);
        return;
    }
    assert_int_equal(x->kind, y->kind);
    assert_int_equal(x->n_roles, y->n_roles);
    for (uint32_t r = 0; r < x->n_roles; r++) {
        assert_int_equal(x->roles[r].role, y->roles[r].role);
        assert_int_equal(job_role_replicas(a, p, r), job_role_replicas(b, q, r));
        assert_int_equal(job_role_shares(a, p, r), job_role_shares(b, q, r));
        assert_int_equal(x->roles[r].cpu_milli, y->roles[r].cpu_milli);
        assert_int_equal(x->roles[r].mem_bytes, y->roles[r].mem_bytes);
    }
    assert_int_equal(x->completions, y->completions);
    assert_int_equal(x->indexed, y->indexed);
    assert_int_equal(x->min_parallelism, y->min_parallelism);
    assert_int_equal(x->suspend, y->suspend);
    assert_int_equal(x->autoscaling, y->autoscaling);
}

static void same_class(const struct job_detail *x, const struct job_detail *y)
{
    assert_int_equal(x->groups, y->groups);
    assert_int_equal(x->step.compute_ns, y->step.compute_ns);
    assert_int_equal(x->step.communication_ns, y->step.communication_ns);
    assert_int_equal(x->checkpoint.interval_ns, y->checkpoint.interval_ns);
    assert_int_equal(x->checkpoint.save_ns, y->checkpoint.save_ns);
    assert_int_equal(x->checkpoint.load_ns, y->checkpoint.load_ns);
    assert_int_equal(x->crash_mtbf_ns, y->crash_mtbf_ns);
    assert_int_equal(x->hang_mtbf_ns, y->hang_mtbf_ns);
    assert_int_equal(x->max_failures, y->max_failures);
    assert_int_equal(x->n_after, y->n_after);
    if (x->n_after) assert_memory_equal(x->after, y->after, x->n_after * sizeof *x->after);
}

static void same_jobs(const struct scenario *a, const struct again *b)
{
    char x[24], y[24];
    assert_int_equal(b->set.n_jobs, b->s->n_jobs);
    for (size_t i = 0; i < b->s->n_jobs; i++) {
        const struct job_spec *p = &b->set.jobs[i], *q = &b->s->jobs[i];
        assert_string_equal(job_id(a, p, x), job_id(b->s, q, y));
        assert_int_equal(p->submit_ns, q->submit_ns);
        assert_int_equal(p->work_ns, q->work_ns);
        assert_int_equal(p->limit_ns, q->limit_ns);
        assert_int_equal(p->priority, q->priority);
        assert_string_equal(a->queues[p->queue], b->s->queues[q->queue]);
        assert_string_equal(a->teams[p->team], b->s->teams[q->team]);
        same_pods(a, p, b->s, q);
        same_class(&a->details[p->detail], &b->s->details[q->detail]);
    }
}

/* Limits where there is nobody to borrow from are left out: they mean nothing. */
static void same_lines(const struct quota_spec *a, const struct quota_line *p, const struct quota_spec *b, const struct quota_line *q, bool limits)
{
    assert_string_equal(a->flavors[p->flavor].name, b->flavors[q->flavor].name);
    assert_string_equal(a->resources[p->resource], b->resources[q->resource]);
    assert_int_equal(p->nominal, q->nominal);
    if (!limits) return;
    assert_int_equal(p->borrowing_limit, q->borrowing_limit);
    assert_int_equal(p->lending_limit, q->lending_limit);
}

static void same_quota(const struct quota_spec *a, const struct quota_spec *b)
{
    assert_int_equal(a->n_flavors, b->n_flavors);
    assert_int_equal(a->n_queues, b->n_queues);
    assert_int_equal(a->n_local, b->n_local);
    for (uint32_t i = 0; i < a->n_flavors; i++) {
        assert_string_equal(a->flavors[i].name, b->flavors[i].name);
        assert_int_equal(a->flavors[i].groups, b->flavors[i].groups);
    }
    for (uint32_t i = 0; i < a->n_queues; i++) {
        const struct cluster_queue_spec *p = &a->queues[i], *q = &b->queues[i];
        assert_string_equal(p->name, q->name);
        assert_int_equal(p->cohort == NO_INDEX, q->cohort == NO_INDEX);
        if (p->cohort != NO_INDEX) assert_string_equal(a->cohorts[p->cohort].name, b->cohorts[q->cohort].name);
        assert_int_equal(p->strategy, q->strategy);
        assert_int_equal(p->within, q->within);
        assert_int_equal(p->reclaim, q->reclaim);
        assert_int_equal(p->borrow_lower, q->borrow_lower);
        assert_int_equal(p->has_threshold, q->has_threshold);
        assert_int_equal(p->max_priority_threshold, q->max_priority_threshold);
        assert_int_equal(p->can_borrow_try_next, q->can_borrow_try_next);
        assert_int_equal(p->can_preempt_stop, q->can_preempt_stop);
        assert_int_equal(p->prefer_preemption_over_borrowing, q->prefer_preemption_over_borrowing);
        assert_int_equal(p->stop, q->stop);
        assert_int_equal(p->fair_weight_milli, q->fair_weight_milli);
        assert_int_equal(p->n_lines, q->n_lines);
        for (uint32_t k = 0; k < p->n_lines; k++) same_lines(a, &p->lines[k], b, &q->lines[k], p->cohort != NO_INDEX);
    }
    for (uint32_t i = 0; i < a->n_local; i++) assert_string_equal(a->local[i].name, b->local[i].name);
}

static void round_trip(struct scenario *s)
{
    struct again b = again(s);
    same_jobs(s, &b);
    if (b.set.queues) same_quota(&s->quota, &b.s->quota);
    drop(&b, s);
}

/* Kubernetes gives out whole GPUs; shared Ray clusters are not written. */
static bool refused(const struct scenario *s)
{
    if (s->approach.ray_cluster == RAY_SHARED) return true;
    for (size_t i = 0; i < s->n_jobs; i++)
        for (uint32_t r = 0; r < s->details[s->jobs[i].detail].n_roles; r++)
            if (job_role_shares(s, &s->jobs[i], r) % SHARES_PER_GPU) return true;
    return false;
}

static void random_scenarios(void **state)
{
    unsigned written = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct str json = { 0 };
        any_scenario(seed, &json);
        for (int k = 0; k < 2; k++) {
            struct scenario *s = parse(str_text(&json), k ? "two" : "one");
            if (refused(s)) {
                scenario_free(s);
                continue;
            }
            round_trip(s);
            written++;
        }
        str_free(&json);
    }
    assert_true(written > 50);
}

static void shipped_scenarios(void **state)
{
    static const char *const files[] = { "scenarios/demo.json", "scenarios/quotas.json", "scenarios/fifo-or-skip.json", "scenarios/llm-training.json" };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct diag d = { 0 };
        struct scenario *s = scenario_load(files[i], NULL, NULL, &d);
        assert_non_null(s);
        diag_free(&d);
        round_trip(s);
    }
}

/* ---- what stands in the objects ---- */

#define KINDS                                                                                                               \
    "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"a\", \"count\": 2, \"gpus\": 8, \"gpu\": \"h100\" },"         \
    " { \"group\": \"b\", \"count\": 2, \"gpus\": 8, \"labels\": { \"zone\": \"east\" } }] },"                                  \
    "\"priorities\": { \"urgent\": 1000 },"                                                                                 \
    "\"cohorts\": [{ \"name\": \"all\", \"parent\": \"root\", \"quota\": { \"a\": 4 }, \"borrowing\": { \"a\": 2 } }],"         \
    "\"queues\": [{ \"name\": \"q\", \"quota\": { \"a\": 8, \"b\": 4 }, \"cohort\": \"all\", \"borrowing\": { \"a\": 2 },"      \
    "  \"lending\": { \"b\": 1 }, \"strategy\": \"StrictFIFO\","                                                           \
    "  \"preemption\": { \"withinClusterQueue\": \"LowerPriority\", \"reclaimWithinCohort\": \"Any\","                        \
    "    \"borrowWithinCohort\": { \"policy\": \"LowerPriority\", \"maxPriorityThreshold\": 7 } },"                         \
    "  \"flavorFungibility\": { \"whenCanBorrow\": \"TryNextFlavor\" } }],"                                                 \
    "\"workload\": { \"jobs\": ["                                                                                           \
    "{ \"id\": \"Big_One\", \"replicas\": 3, \"gpus\": 4, \"cpu\": 1.5, \"memory\": \"1Gi\", \"duration\": \"90s\","            \
    "  \"submit\": \"5s\", \"queue\": \"q\", \"priorityClass\": \"urgent\", \"gpu\": \"h100\", \"team\": \"17\" },"            \
    "{ \"id\": \"x\", \"count\": 2, \"every\": \"1s\", \"kind\": \"Job\", \"replicas\": 2, \"completions\": 4, \"minParallelism\": 1," \
    "  \"completionMode\": \"Indexed\", \"duration\": 10, \"queue\": \"q\", \"priority\": -5, \"gpu\": \"b\" },"               \
    "{ \"id\": \"7\", \"kind\": \"RayJob\", \"replicas\": 2, \"duration\": 60, \"queue\": \"q\", \"maxFailures\": 3, \"after\": [\"Big_One\"] }," \
    "{ \"id\": \"c\", \"kind\": \"RayCluster\", \"roles\": { \"Head\": { \"cpu\": 2, \"memory\": \"1Gi\" }, \"Worker\": { \"replicas\": 2,"          \
    "  \"minReplicas\": 1, \"maxReplicas\": 3 } } },"                                                                       \
    "{ \"id\": \"e\", \"kind\": \"PyTorchJob\", \"replicas\": 2, \"gpus\": 1, \"steps\": 10, \"step\": \"0.1s\", \"queue\": \"q\"," \
    "  \"elastic\": { \"minReplicas\": 1, \"maxReplicas\": 4, \"maxRestarts\": 9 }, \"backoffLimit\": 3, \"limit\": \"1h\" }] }," \
    "\"approaches\": { \"k\": { \"lifecycle\": { \"train\": \"training-operator-v1\", \"PyTorchJob\": \"training-operator-v1\","  \
    "  \"RayJob\": \"ray-train-v2\", \"RayCluster\": \"ray-train-v2\", \"Job\": \"batch-job\" }, \"admission\": \"kueue\" } } }"

static const struct manifest_item *named(const struct manifest_set *set, const char *kind, const char *name)
{
    for (size_t i = 0; i < set->n; i++)
        if (strcmp(set->v[i].kind, kind) == 0 && strcmp(set->v[i].name, name) == 0) return &set->v[i];
    fail_msg("no %s %s", kind, name);
    return NULL;
}

/* "spec.resourceGroups.0.flavors": members and elements; NULL when it leads nowhere. */
static const cJSON *at(const cJSON *o, const char *path)
{
    char copy[200];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *p = strtok(copy, ">"); p && o; p = strtok(NULL, ">"))
        o = cJSON_IsArray(o) ? cJSON_GetArrayItem(o, atoi(p)) : cJSON_GetObjectItemCaseSensitive(o, p);
    return o;
}

static void has(const struct manifest_item *item, const char *path, const char *expected)
{
    const cJSON *v = at(item->object, path);
    if (!v) fail_msg("%s %s: no %s", item->kind, item->name, path);
    char *text = cJSON_IsString(v) ? strdup(v->valuestring) : cJSON_PrintUnformatted(v);
    if (strcmp(text, expected) != 0) fail_msg("%s %s: %s is %s, not %s", item->kind, item->name, path, text, expected);
    free(text);
}

static void kueue_objects(const struct manifest_set *set)
{
    const struct manifest_item *q = named(set, "ClusterQueue", "q");
    has(q, "apiVersion", "kueue.x-k8s.io/v1beta2");
    has(q, "spec>namespaceSelector", "{}");
    has(q, "spec>cohortName", "all");
    has(q, "spec>queueingStrategy", "StrictFIFO");
    has(q, "spec>preemption>reclaimWithinCohort", "Any");
    has(q, "spec>preemption>borrowWithinCohort>maxPriorityThreshold", "7");
    has(q, "spec>flavorFungibility>whenCanBorrow", "TryNextFlavor");
    has(q, "spec>flavorFungibility>whenCanPreempt", "TryNextFlavor"); /* the default */
    has(q, "spec>resourceGroups>0>coveredResources", "[\"nvidia.com/gpu\"]");
    has(q, "spec>resourceGroups>0>flavors>0>resources>0", "{\"name\":\"nvidia.com/gpu\",\"nominalQuota\":\"8\",\"borrowingLimit\":\"2\"}");
    has(q, "spec>resourceGroups>0>flavors>1>resources>0", "{\"name\":\"nvidia.com/gpu\",\"nominalQuota\":\"4\",\"lendingLimit\":\"1\"}");
    has(named(set, "Cohort", "all"), "spec>parentName", "root");
    has(named(set, "ResourceFlavor", "a"), "spec>nodeLabels", "{\"nvidia.com/gpu.product\":\"h100\"}");
    has(named(set, "ResourceFlavor", "b"), "spec>nodeLabels", "{\"zone\":\"east\"}");
    has(named(set, "LocalQueue", "q"), "spec>clusterQueue", "q");
    has(named(set, "LocalQueue", "q"), "metadata>namespace", "default");
    has(named(set, "WorkloadPriorityClass", "urgent"), "value", "1000");
    has(named(set, "WorkloadPriorityClass", "priority-minus-5"), "value", "-5");
}

static void job_objects(const struct manifest_set *set)
{
    const struct manifest_item *big = named(set, "PyTorchJob", "big-one"), *x = named(set, "Job", "x-1");
    has(big, "metadata>labels", "{\"kueue.x-k8s.io/queue-name\":\"q\",\"kueue.x-k8s.io/priority-class\":\"urgent\"}");
    has(big, "metadata>annotations>trainyard/id", "Big_One");
    has(big, "metadata>annotations>trainyard/team", "\"17\""); /* else it would read as a number */
    has(big, "spec>pytorchReplicaSpecs>Master>replicas", "1");
    has(big, "spec>pytorchReplicaSpecs>Worker>replicas", "2");
    has(big, "spec>pytorchReplicaSpecs>Worker>template>spec>containers>0>name", "pytorch");
    has(big, "spec>pytorchReplicaSpecs>Worker>template>spec>nodeSelector", "{\"nvidia.com/gpu.product\":\"h100\"}");
    has(big, "spec>pytorchReplicaSpecs>Worker>template>metadata>annotations>trainyard/duration", "90s");
    has(big, "spec>pytorchReplicaSpecs>Worker>template>spec>containers>0>resources>requests",
        "{\"nvidia.com/gpu\":\"4\",\"cpu\":\"1500m\",\"memory\":\"1073741824\"}");
    assert_int_equal(big->at_ns, INT64_C(5000000000));
    assert_int_equal(big->shares, 12000);
    has(x, "spec>parallelism", "2");
    has(x, "spec>completions", "4");
    has(x, "spec>completionMode", "Indexed");
    has(x, "spec>template>spec>restartPolicy", "OnFailure");
    has(x, "spec>template>spec>nodeSelector", "{\"zone\":\"east\"}");
    has(x, "metadata>annotations>kueue.x-k8s.io/job-min-parallelism", "1");
    has(x, "metadata>labels>kueue.x-k8s.io/priority-class", "priority-minus-5");
    assert_int_equal(x->at_ns, INT64_C(1000000000));
    has(named(set, "RayJob", "job-7"), "metadata>annotations>trainyard/after", "[\"Big_One\"]");
    has(named(set, "RayJob", "job-7"), "metadata>annotations>trainyard/maxFailures", "3");
    has(named(set, "RayJob", "job-7"), "spec>rayClusterSpec>workerGroupSpecs>0>replicas", "2");
    has(named(set, "RayCluster", "c"), "spec>workerGroupSpecs>0>maxReplicas", "3");
    has(named(set, "RayCluster", "c"), "spec>headGroupSpec>template>spec>containers>0>resources>requests", "{\"cpu\":\"2\",\"memory\":\"1073741824\"}");
    has(named(set, "PyTorchJob", "e"), "spec>elasticPolicy>maxReplicas", "4");
    has(named(set, "PyTorchJob", "e"), "spec>runPolicy>backoffLimit", "3");
    has(named(set, "PyTorchJob", "e"), "metadata>annotations>trainyard/steps", "10");
}

static void contents(void **state)
{
    (void)state;
    struct scenario *s = parse(KINDS, NULL);
    struct again b = again(s);
    kueue_objects(&b.set);
    job_objects(&b.set);
    int order = 0; /* of the first job: all queues stand before it, and jobs go by time */
    for (size_t i = 0; i < b.set.n; i++) {
        assert_true(b.set.v[i].job != ITEM_NO_JOB || order == 0);
        order += b.set.v[i].job != ITEM_NO_JOB;
        if (i) assert_true(b.set.v[i].at_ns >= b.set.v[i - 1].at_ns);
    }
    assert_int_equal(order, 6);
    same_jobs(s, &b);
    same_quota(&s->quota, &b.s->quota);
    drop(&b, s);
}

/* Objects that were given as manifests stay what they are; Kueue's are brought to the newest version. */
#define GIVEN                                                                                                               \
    "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"g\", \"count\": 2, \"gpus\": 8 }] }, \"objects\": ["         \
    "{ \"apiVersion\": \"kueue.x-k8s.io/v1beta1\", \"kind\": \"ResourceFlavor\", \"metadata\": { \"name\": \"f\" } },"          \
    "{ \"apiVersion\": \"kueue.x-k8s.io/v1beta1\", \"kind\": \"ClusterQueue\", \"metadata\": { \"name\": \"cq\" }, \"spec\": {" \
    "  \"cohort\": \"all\", \"namespaceSelector\": {}, \"flavorFungibility\": { \"whenCanBorrow\": \"Borrow\", \"whenCanPreempt\": \"Preempt\" }," \
    "  \"resourceGroups\": [{ \"coveredResources\": [\"nvidia.com/gpu\"], \"flavors\": [{ \"name\": \"f\","                    \
    "    \"resources\": [{ \"name\": \"nvidia.com/gpu\", \"nominalQuota\": 8 }] }] }] } },"                                  \
    "{ \"apiVersion\": \"kueue.x-k8s.io/v1beta1\", \"kind\": \"LocalQueue\", \"metadata\": { \"name\": \"lq\", \"namespace\": \"team\" }," \
    "  \"spec\": { \"clusterQueue\": \"cq\" } },"                                                                           \
    "{ \"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": { \"name\": \"j\", \"namespace\": \"team\","             \
    "  \"labels\": { \"kueue.x-k8s.io/queue-name\": \"lq\" }, \"annotations\": { \"note\": \"mine\", \"trainyard/submit\": \"3s\" } }," \
    "  \"spec\": { \"parallelism\": 2, \"backoffLimit\": 1, \"template\": { \"spec\": { \"restartPolicy\": \"Never\", \"containers\": [{" \
    "    \"name\": \"main\", \"image\": \"mine:1\", \"resources\": { \"limits\": { \"nvidia.com/gpu\": 3 } } }] } } } }],"     \
    "\"workload\": { \"jobs\": [{ \"id\": \"t\", \"object\": \"j\", \"duration\": 60, \"count\": 2, \"every\": 5 }] },"       \
    "\"approaches\": { \"k\": { \"lifecycle\": \"batch-job\", \"admission\": \"kueue\" } } }"

static void given_objects(void **state)
{
    (void)state;
    struct scenario *s = parse(GIVEN, NULL);
    assert_int_equal(s->jobs[0].detail, s->jobs[1].detail);
    const struct job_detail *d = &s->details[s->jobs[0].detail];
    assert_int_equal(d->kind, KIND_JOB);
    assert_int_equal(d->roles[0].replicas, 2);
    assert_int_equal(d->roles[0].gpu_shares, 3000);
    assert_int_equal(d->roles[0].restart, RESTART_NEVER);
    assert_int_equal(d->backoff_limit, 1);
    struct again b = again(s);
    const struct manifest_item *q = named(&b.set, "ClusterQueue", "cq"), *j = named(&b.set, "Job", "t-1");
    has(q, "apiVersion", "kueue.x-k8s.io/v1beta2");
    has(q, "spec>cohortName", "all");
    assert_null(at(q->object, "spec>cohort"));
    has(q, "spec>flavorFungibility", "{\"whenCanBorrow\":\"MayStopSearch\",\"whenCanPreempt\":\"MayStopSearch\"}");
    assert_string_equal(b.set.v[0].kind, "Namespace");
    assert_string_equal(b.set.v[0].name, "team");
    has(j, "metadata>namespace", "team");
    has(j, "metadata>annotations>note", "mine");
    has(j, "metadata>annotations>trainyard/submit", "5");
    has(j, "spec>template>spec>containers>0>image", "mine:1");
    same_jobs(s, &b);
    same_quota(&s->quota, &b.s->quota);
    drop(&b, s);
}

/* Queues of another admission are no objects: they stay in the scenario. */
static void without_kueue(void **state)
{
    (void)state;
    struct scenario *s = parse("{ \"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"g\", \"count\": 2, \"gpus\": 8 }] },"
                               "\"queues\": [{ \"name\": \"q\", \"quota\": 8 }], \"workload\": { \"jobs\": [{ \"id\": \"j\", \"queue\": \"q\","
                               "\"duration\": 5, \"priority\": 3 }] }, \"approaches\": { \"n\": { \"lifecycle\": \"none\", \"admission\": \"fifo\" } } }", NULL);
    struct again b = again(s);
    assert_int_equal(b.set.n, 1);
    has(&b.set.v[0], "kind", "Job");
    has(&b.set.v[0], "metadata>annotations>trainyard/queue", "q");
    assert_null(at(b.set.v[0].object, "metadata>labels"));
    assert_int_equal(b.s->quota.n_queues, 1);
    same_jobs(s, &b);
    drop(&b, s);
}

static void refuses(const char *jobs, const char *approach, const char *what)
{
    struct str text = { 0 };
    struct diag d = { 0 };
    struct manifest_set set;
    str_printf(&text, "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"a\", \"count\": 1, \"gpus\": 8 }] },"
                      "\"workload\": { \"jobs\": [%s] }, \"approaches\": { \"a\": %s } }", jobs, approach);
    struct scenario *s = parse(str_text(&text), NULL);
    assert_false(manifests_make(s, &(struct manifest_options){ 0 }, &set, &d));
    assert_int_equal(set.n, 0);
    assert_int_equal(d.entries.n, 1);
    if (!strstr(d.entries.v[0].text, what)) fail_msg("%s", d.entries.v[0].text);
    diag_free(&d);
    scenario_free(s);
    str_free(&text);
}

static void refusals(void **state)
{
    (void)state;
    refuses("{ \"id\": \"half\", \"gpus\": 0.5, \"duration\": 1 }", "{ \"lifecycle\": \"training-operator-v1\" }", "job \"half\" wants 0.500 GPUs");
    refuses("{ \"id\": \"r\", \"duration\": 1 }", "{ \"lifecycle\": \"ray-train-v2\", \"ray_cluster\": \"shared\", \"shared_cluster\": { \"min\": 1, \"max\": 2 } }", "shared Ray cluster");
}

/* ---- YAML ---- */

/* Words that YAML 1.1 reads as something else (yaml.org/type), and texts with every kind of character. */
static void yaml_texts(void **state)
{
    static const char *const texts[] = { "yes", "No", "on", "true", "null", "~", "1e3", "0x1f", "12:30", "2026-01-01", "", " a", "a: b",
                                         "a #b", "- x", "tab\tline\nend", "caf\xc3\xa9", "'quote'", "\"double\"", "{a}", "1.2.3", ".5", "plain-word" };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cJSON *o = cJSON_CreateObject();
        struct str out = { 0 };
        struct diag d = { 0 };
        cJSON_AddStringToObject(o, texts[i][0] ? texts[i] : "empty", texts[i]);
        cJSON_AddNumberToObject(o, "n", 1e15);
        yaml_write(&out, o);
        struct yaml_file *y = yaml_parse("out.yaml", out.s, out.n, &d);
        assert_non_null(y);
        struct arena a = { 0 };
        const struct value *v = value_from_yaml(&a, y, 0);
        assert_int_equal(v->child->kind, VALUE_STRING);
        assert_string_equal(v->child->text, texts[i]);
        assert_string_equal(v->child->key, texts[i][0] ? texts[i] : "empty");
        assert_string_equal(v->child->next->text, "1000000000000000");
        arena_free(&a);
        yaml_close(y);
        diag_free(&d);
        str_free(&out);
        cJSON_Delete(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents),        cmocka_unit_test(given_objects),    cmocka_unit_test(without_kueue),
        cmocka_unit_test(refusals),        cmocka_unit_test(yaml_texts),       cmocka_unit_test(random_scenarios),
        cmocka_unit_test(shipped_scenarios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
