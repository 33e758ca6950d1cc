/* test_scenario.c - what a scenario means once it is read: approaches, patches, jobs, quotas, objects; and that the
 * resolved scenario is the same scenario.
 *
 * Expected values are written by hand from the text of each scenario and the cited defaults of the real objects.
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
#include "base/str.h"
#include "base/units.h"
#include "input/check.h"
#include "input/generate.h"
#include "input/scenario.h"
#include "tests/support/shared.h"

#define CLUSTER "\"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"g\", \"count\": 4, \"gpus\": 8 }] }"

static struct scenario *parse(const char *text, const char *approach)
{
    struct diag d = { 0 };
    struct scenario *s = scenario_parse("test.json", text, strlen(text), approach, &d);
    if (!s) diag_print(&d, stderr);
    diag_free(&d);
    assert_non_null(s);
    return s;
}

static struct scenario *load(const char *file, const char *approach, const char *const *overrides)
{
    struct diag d = { 0 };
    struct scenario *s = scenario_load(file, approach, overrides, &d);
    if (!s) diag_print(&d, stderr);
    diag_free(&d);
    assert_non_null(s);
    return s;
}

/* ---- equality ---- */

static void same_jobs(const struct scenario *a, const struct scenario *b)
{
    char x[24], y[24];
    assert_int_equal(a->n_jobs, b->n_jobs);
    for (size_t i = 0; i < a->n_jobs; i++) {
        const struct job_spec *p = &a->jobs[i], *q = &b->jobs[i];
        assert_string_equal(job_id(a, p, x), job_id(b, q, y));
        assert_int_equal(p->submit_ns, q->submit_ns);
        assert_int_equal(p->work_ns, q->work_ns);
        assert_int_equal(p->limit_ns, q->limit_ns);
        assert_int_equal(job_shares(a, p), job_shares(b, q));
        assert_int_equal(p->detail, q->detail);
        assert_int_equal(p->priority, q->priority);
        assert_string_equal(a->queues[p->queue], b->queues[q->queue]);
        assert_string_equal(a->teams[p->team], b->teams[q->team]);
    }
}

static void same_details(const struct scenario *a, const struct scenario *b)
{
    assert_int_equal(a->n_details, b->n_details);
    for (size_t i = 0; i < a->n_details; i++) {
        const struct job_detail *p = &a->details[i], *q = &b->details[i];
        assert_int_equal(p->kind, q->kind);
        assert_int_equal(p->n_roles, q->n_roles);
        for (uint32_t r = 0; r < p->n_roles; r++) {
            assert_int_equal(p->roles[r].role, q->roles[r].role);
            assert_int_equal(p->roles[r].replicas, q->roles[r].replicas);
            assert_int_equal(p->roles[r].gpu_shares, q->roles[r].gpu_shares);
            assert_int_equal(p->roles[r].cpu_milli, q->roles[r].cpu_milli);
            assert_int_equal(p->roles[r].mem_bytes, q->roles[r].mem_bytes);
            assert_int_equal(p->roles[r].restart, q->roles[r].restart);
            assert_int_equal(p->roles[r].max_replicas, q->roles[r].max_replicas);
        }
        assert_memory_equal(&p->step, &q->step, sizeof p->step);
        assert_memory_equal(&p->checkpoint, &q->checkpoint, sizeof p->checkpoint);
        assert_memory_equal(&p->elastic, &q->elastic, sizeof p->elastic);
        assert_int_equal(p->clean, q->clean);
        assert_int_equal(p->backoff_limit, q->backoff_limit);
        assert_int_equal(p->active_deadline_ns, q->active_deadline_ns);
        assert_int_equal(p->ttl_ns, q->ttl_ns);
        assert_int_equal(p->crash_mtbf_ns, q->crash_mtbf_ns);
        assert_int_equal(p->max_failures, q->max_failures);
        assert_int_equal(p->groups, q->groups);
        assert_int_equal(p->n_after, q->n_after);
        if (p->n_after) assert_memory_equal(p->after, q->after, p->n_after * sizeof *p->after);
    }
}

static void same_quota(const struct quota_spec *a, const struct quota_spec *b)
{
    assert_int_equal(a->n_flavors, b->n_flavors);
    assert_int_equal(a->n_cohorts, b->n_cohorts);
    assert_int_equal(a->n_queues, b->n_queues);
    assert_int_equal(a->n_local, b->n_local);
    assert_int_equal(a->n_priorities, b->n_priorities);
    for (uint32_t i = 0; i < a->n_queues; i++) {
        assert_string_equal(a->queues[i].name, b->queues[i].name);
        assert_int_equal(a->queues[i].cohort, b->queues[i].cohort);
        assert_int_equal(a->queues[i].strategy, b->queues[i].strategy);
        assert_int_equal(a->queues[i].reclaim, b->queues[i].reclaim);
        assert_int_equal(a->queues[i].n_lines, b->queues[i].n_lines);
        for (uint32_t k = 0; k < a->queues[i].n_lines; k++) {
            assert_int_equal(a->queues[i].lines[k].nominal, b->queues[i].lines[k].nominal);
            assert_int_equal(a->queues[i].lines[k].borrowing_limit, b->queues[i].lines[k].borrowing_limit);
            assert_int_equal(a->queues[i].lines[k].lending_limit, b->queues[i].lines[k].lending_limit);
        }
    }
}

static void same_rest(const struct scenario *a, const struct scenario *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->cluster.n_nodes, b->cluster.n_nodes);
    assert_int_equal(a->cluster.total_shares, b->cluster.total_shares);
    assert_memory_equal(&a->cluster.topology, &b->cluster.topology, sizeof a->cluster.topology);
    assert_memory_equal(&a->cluster.network, &b->cluster.network, sizeof a->cluster.network);
    assert_memory_equal(&a->cluster.image, &b->cluster.image, sizeof a->cluster.image);
    assert_memory_equal(&a->approach.stack, &b->approach.stack, sizeof a->approach.stack);
    assert_memory_equal(a->approach.lifecycle, b->approach.lifecycle, sizeof a->approach.lifecycle);
    assert_string_equal(a->approach.stack_name, b->approach.stack_name);
    assert_int_equal(a->approach.admission, b->approach.admission);
    assert_int_equal(a->approach.placement, b->approach.placement);
    assert_int_equal(a->approach.patches_cluster, b->approach.patches_cluster);
    assert_int_equal(a->faults.n_components, b->faults.n_components);
    for (uint32_t i = 0; i < a->faults.n_components; i++)
        assert_int_equal(a->faults.components[i].mtbf_ns, b->faults.components[i].mtbf_ns);
    assert_int_equal(a->faults.n_script, b->faults.n_script);
    for (uint32_t i = 0; i < a->faults.n_script; i++) {
        assert_int_equal(a->faults.script[i].at_ns, b->faults.script[i].at_ns);
        assert_int_equal(a->faults.script[i].value, b->faults.script[i].value);
        assert_string_equal(a->faults.script[i].target, b->faults.script[i].target);
    }
    assert_memory_equal(&a->run, &b->run, sizeof a->run);
    assert_int_equal(a->n_generated, b->n_generated);
}

/* The resolved text, with its job table beside it, gives an equal scenario and the same text and hash again. */
static void round_trip(const struct scenario *s)
{
    char dir[] = "/tmp/trainyard-scenario-XXXXXX", json_path[64], csv_path[64];
    struct str json = { 0 }, csv = { 0 }, again = { 0 };
    struct diag d = { 0 };
    assert_non_null(mkdtemp(dir));
    snprintf(json_path, sizeof json_path, "%s/scenario.json", dir);
    snprintf(csv_path, sizeof csv_path, "%s/scenario.jobs.csv", dir);
    scenario_resolved(s, &json, &csv);
    assert_true(file_write_atomic(json_path, json.s, json.n, &d));
    if (csv.n) assert_true(file_write_atomic(csv_path, csv.s, csv.n, &d));
    struct scenario *t = load(json_path, NULL, NULL);
    scenario_resolved(t, &again, NULL);
    assert_string_equal(str_text(&json), str_text(&again));
    assert_string_equal(s->hash, t->hash);
    same_jobs(s, t);
    same_details(s, t);
    same_quota(&s->quota, &t->quota);
    same_rest(s, t);
    scenario_free(t);
    file_remove_tree(dir, &d);
    str_free(&json);
    str_free(&csv);
    str_free(&again);
    diag_free(&d);
}

/* ---- the shipped scenario ---- */

static void two_teams(void **state)
{
    (void)state;
    struct scenario *s = load("scenarios/two-teams.json", "operator", NULL);
    assert_int_equal(s->n_approaches, 3);
    assert_int_equal(s->cluster.total_shares, 16 * 8 * 1000);
    assert_int_equal(s->cluster.groups[0].cpu_milli, 192000);
    assert_int_equal(s->n_jobs, 1 + 24 + 100 + 1);
    assert_int_equal(s->quota.queues[1].lines[0].borrowing_limit, 32000);
    assert_int_equal(s->quota.queues[0].lines[0].borrowing_limit, QUOTA_UNLIMITED);
    assert_int_equal(s->approach.stack.kq_hashing, 1);
    const struct job_spec *first = &s->jobs[0];
    const struct job_detail *d = &s->details[first->detail];
    assert_int_equal(job_shares(s, first), 64000);
    assert_int_equal(first->work_ns, INT64_C(20000) * 1620 * 1000000); /* 1.6 s + 20 ms; communication is modelled */
    assert_int_equal(d->step.communication_ns, -1);
    struct checkpoint_times t = checkpoint_times_of(s, &d->checkpoint, 64, 8);
    assert_int_equal(d->checkpoint.save_ns, FROM_SIZE);
    assert_true(t.stall_s == 50 && t.load_s == 25); /* 1 TB at 20 GB/s, at 40 GB/s */
    assert_int_equal(s->faults.n_components, 3);
    round_trip(s);
    scenario_free(s);
}

static void approaches(void **state)
{
    (void)state;
    static const char *const overrides[] = { "/cluster/nodes/[h100]/count=4", "/queues/[product]/quota/h100=8", NULL };
    struct scenario *s = load("scenarios/two-teams.json", "strict", NULL);
    assert_int_equal(s->quota.queues[0].strategy, STRICT_FIFO);
    assert_int_equal(s->approach.lifecycle[KIND_TRAIN], LIFE_TRAINING_OPERATOR_V1);
    assert_false(s->approach.patches_cluster);
    round_trip(s);
    scenario_free(s);
    s = load("scenarios/two-teams.json", "actor", overrides);
    assert_int_equal(s->cluster.n_nodes, 4);
    assert_int_equal(s->quota.queues[1].lines[0].nominal, 8000);
    assert_int_equal(s->approach.lifecycle[KIND_PYTORCHJOB], LIFE_RAY_TRAIN_V2);
    assert_int_equal(s->approach.stack.ray_start_timeout, 60 * NS_PER_S);
    scenario_free(s);
}

static void patched(void **state)
{
    (void)state;
    static const char text[] =
        "{" CLUSTER ", \"run\": { \"seed\": 7 }, \"approaches\": {"
        " \"a\": { \"admission\": \"fifo\", \"stack\": { \"name\": \"kueue-0.18\", \"kueue.cycle\": \"30ms\" } },"
        " \"b\": { \"like\": \"a\", \"admission\": \"fifo-skip\", \"stack\": { \"kueue.requeue-batch\": \"2s\" },"
        "          \"patch\": { \"/cluster/nodes/[g]/count\": 6, \"/run/seed\": null, \"/run/replications\": 3 } },"
        " \"c\": { \"like\": \"b\", \"patch\": { \"/cluster/nodes/0/count\": 5 } } } }";
    struct scenario *s = parse(text, "c");
    assert_int_equal(s->cluster.n_nodes, 5); /* the nearer patch is applied later */
    assert_true(s->approach.patches_cluster);
    assert_int_equal(s->approach.admission, ADMIT_FIFO_SKIP);
    assert_int_equal(s->run.seed, 1); /* null removes: the default is back */
    assert_int_equal(s->run.replications, 3);
    assert_int_equal(s->approach.stack.kq_cycle, 30 * NS_PER_MS); /* stacks are merged key by key */
    assert_int_equal(s->approach.stack.kq_batch, 2 * NS_PER_S);
    assert_int_equal(s->approach.stack.kq_hashing, 1);
    round_trip(s);
    scenario_free(s);
    s = parse(text, NULL);
    assert_int_equal(s->cluster.n_nodes, 4);
    assert_int_equal(s->run.seed, 7);
    scenario_free(s);
}

static void lifecycles(void **state)
{
    (void)state;
    struct scenario *s = parse("{" CLUSTER ", \"approaches\": { \"a\": { \"lifecycle\": { \"train\": \"training-operator-v1\","
                               " \"cluster\": \"ray-train-v2\", \"RayJob\": \"ray-train-v2\" } } } }", NULL);
    assert_int_equal(s->approach.lifecycle[KIND_TRAIN], LIFE_TRAINING_OPERATOR_V1);
    assert_int_equal(s->approach.lifecycle[KIND_PYTORCHJOB], LIFE_TRAINING_OPERATOR_V1); /* by load */
    assert_int_equal(s->approach.lifecycle[KIND_RAYJOB], LIFE_RAY_TRAIN_V2);             /* by kind */
    assert_int_equal(s->approach.lifecycle[KIND_RAYCLUSTER], LIFE_RAY_TRAIN_V2);
    assert_int_equal(s->approach.scheduler, SCHED_KUBE);
    assert_int_equal(s->approach.admission, ADMIT_NONE);
    assert_int_equal(s->approach.placement, PLACE_SPREAD);
    round_trip(s);
    scenario_free(s);
}

/* ---- jobs ---- */

static void jobs(void **state)
{
    (void)state;
    struct scenario *s = parse(
        "{" CLUSTER ", \"workload\": { \"jobs\": ["
        " { \"id\": \"late\", \"submit\": \"1h\", \"duration\": \"10m\", \"gpus\": 0.5, \"after\": [\"x-1\", \"7\"] },"
        " { \"id\": \"x\", \"count\": 3, \"every\": \"30m\", \"steps\": 10, \"step\": { \"compute\": \"1s\", \"communication\": \"0.25s\" } },"
        " { \"id\": 7, \"kind\": \"PyTorchJob\", \"duration\": 60, \"roles\": { \"Master\": { \"gpus\": 2 }, \"Worker\": { \"replicas\": 3, \"restartPolicy\": \"ExitCode\" } } },"
        " { \"kind\": \"RayJob\", \"replicas\": 4, \"gpus\": 8, \"duration\": 60, \"backoffLimit\": 2 },"
        " { \"kind\": \"RayCluster\", \"roles\": { \"Worker\": { \"replicas\": 2, \"maxReplicas\": 4 } } },"
        " { \"kind\": \"Job\", \"duration\": 5 } ] } }", NULL);
    static const char *const order[] = { "x-0", "7", "job-4", "job-5", "job-6", "x-1", "late", "x-2" };
    char buf[24];
    assert_int_equal(s->n_jobs, 8);
    for (size_t i = 0; i < 8; i++) assert_string_equal(job_id(s, &s->jobs[i], buf), order[i]);
    assert_int_equal(s->jobs[1].flags, 0); /* 7 is a number */
    assert_int_equal(s->jobs[0].work_ns, 12500 * NS_PER_MS);
    assert_int_equal(job_shares(s, &s->jobs[1]), 2000 + 3 * 1000);
    assert_int_equal(job_shares(s, &s->jobs[6]), 500);
    const struct job_detail *late = &s->details[s->jobs[6].detail], *py = &s->details[s->jobs[1].detail];
    const struct job_detail *ray = &s->details[s->jobs[2].detail], *cluster = &s->details[s->jobs[3].detail];
    assert_int_equal(late->n_after, 2);
    assert_int_equal(late->after[0], 5);
    assert_int_equal(late->after[1], 1);
    assert_int_equal(late->clean, CLEAN_ALL);          /* a neutral load cleans up */
    assert_int_equal(late->max_failures, UINT32_MAX);
    assert_int_equal(py->clean, CLEAN_NONE);           /* training-operator's default */
    assert_int_equal(py->roles[0].restart, RESTART_ON_FAILURE);
    assert_int_equal(py->roles[1].restart, RESTART_EXIT_CODE);
    assert_int_equal(py->backoff_limit, -1);
    assert_int_equal(ray->n_roles, 3);
    assert_int_equal(ray->roles[0].role, ROLE_SUBMITTER);
    assert_int_equal(ray->roles[0].cpu_milli, 500);    /* KubeRay's submitter pod */
    assert_int_equal(ray->roles[1].role, ROLE_HEAD);
    assert_int_equal(ray->roles[1].gpu_shares, 0);
    assert_int_equal(ray->roles[2].gpu_shares, 8000);
    assert_int_equal(ray->ray_backoff_limit, 2);
    assert_false(ray->shutdown_after);
    assert_int_equal(cluster->roles[1].max_replicas, 4);
    assert_int_equal(s->jobs[3].work_ns, TIME_NEVER);
    assert_int_equal(s->details[s->jobs[4].detail].backoff_limit, 6); /* batch/v1 */
    round_trip(s);
    scenario_free(s);
}

static void where_jobs_may_run(void **state)
{
    (void)state;
    struct scenario *s = parse(
        "{ \"trainyard\": 1, \"cluster\": { \"nodes\": ["
        " { \"group\": \"a\", \"gpus\": 8, \"gpu\": \"h100\", \"labels\": { \"zone\": \"1\" } },"
        " { \"group\": \"b\", \"gpus\": 8, \"gpu\": \"h100\", \"taints\": [{ \"key\": \"spot\", \"value\": \"true\" }] },"
        " { \"group\": \"c\", \"gpus\": 8, \"taints\": [{ \"key\": \"x\", \"effect\": \"PreferNoSchedule\" }] } ] },"
        " \"workload\": { \"jobs\": ["
        " { \"duration\": 1 },"
        " { \"duration\": 1, \"gpu\": \"h100\" },"
        " { \"duration\": 1, \"gpu\": \"h100\", \"tolerations\": [{ \"key\": \"spot\", \"operator\": \"Exists\" }] },"
        " { \"duration\": 1, \"nodeSelector\": { \"zone\": \"1\" } },"
        " { \"duration\": 1, \"tolerations\": [{ \"key\": \"spot\", \"value\": \"false\" }] },"
        " { \"duration\": 1, \"tolerations\": [{ \"operator\": \"Exists\" }] } ] } }", NULL);
    static const uint64_t groups[] = { 5, 1, 3, 1, 5, 7 };
    for (size_t i = 0; i < 6; i++) assert_int_equal(s->details[i].groups, groups[i]);
    round_trip(s);
    scenario_free(s);
}

/* A job may run where any of its roles may; each role then takes what it selects (tests/live/node-loss plays it). */
static void where_roles_may_run(void **state)
{
    (void)state;
#define ROLE(name, zone) "\"" name "\": { \"template\": { \"spec\": { \"nodeSelector\": { \"zone\": \"" zone "\" }, " \
        "\"containers\": [{ \"name\": \"pytorch\", \"image\": \"x\" }] } } }"
    struct scenario *s = parse(
        "{ \"trainyard\": 1, \"cluster\": { \"nodes\": ["
        " { \"group\": \"a\", \"gpus\": 8, \"labels\": { \"zone\": \"1\" } }, { \"group\": \"b\", \"gpus\": 8 },"
        " { \"group\": \"c\", \"gpus\": 8, \"labels\": { \"zone\": \"2\" } } ] },"
        " \"objects\": [{ \"apiVersion\": \"kubeflow.org/v1\", \"kind\": \"PyTorchJob\", \"metadata\": { \"name\": \"pt\" },"
        " \"spec\": { \"pytorchReplicaSpecs\": { " ROLE("Master", "1") ", " ROLE("Worker", "2") " } } }] }", NULL);
    assert_int_equal(s->details[0].groups, 5);
    scenario_free(s);
#undef ROLE
}

static void script(void **state)
{
    (void)state;
    struct scenario *s = parse(
        "{" CLUSTER ", \"queues\": [{ \"name\": \"q\", \"quota\": 8 }], \"workload\": { \"jobs\": [{ \"id\": \"j\", \"duration\": 60, \"queue\": \"q\" }] },"
        " \"faults\": { \"script\": ["
        " { \"at\": \"9s\", \"target\": \"queue/q\", \"action\": \"set-quota\", \"value\": 4 },"
        " { \"at\": \"5.3s\", \"target\": \"pod/j-worker-0\", \"action\": \"container-exit\", \"code\": 137 },"
        " { \"at\": \"5.3s\", \"target\": \"node/g-3\", \"action\": \"node-lost\" },"
        " { \"at\": 1, \"target\": \"job/j\", \"action\": \"scale\", \"replicas\": 2 } ] } }", NULL);
    assert_int_equal(s->faults.n_script, 4);
    assert_int_equal(s->faults.script[0].action, DO_SCALE);
    assert_int_equal(s->faults.script[1].at_ns, INT64_C(5300000000));
    assert_int_equal(s->faults.script[1].value, 137);
    assert_int_equal(s->faults.script[2].action, DO_NODE_LOST);
    assert_int_equal(s->faults.script[3].value, 4000);
    round_trip(s);
    scenario_free(s);
}

/* One of eight cards lost: seven eighths are left. */
static void script_of_a_link(void **state)
{
    (void)state;
    struct scenario *s = parse(
        "{\"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"g\", \"count\": 4, \"gpus\": 8 }], \"network\": { \"inter\": \"46GB/s\" } },"
        " \"faults\": { \"script\": [{ \"at\": 1, \"target\": \"node/g-3\", \"action\": \"set-link\", \"value\": 0.875 }] } }", NULL);
    assert_int_equal(s->faults.script[0].value, 875000);
    round_trip(s);
    scenario_free(s);
}

static void generated(void **state)
{
    (void)state;
    struct scenario *s = parse(
        "{" CLUSTER ", \"run\": { \"horizon\": \"10d\" }, \"workload\": {"
        " \"jobs\": [{ \"id\": \"a\", \"submit\": \"1d\", \"duration\": 60 }],"
        " \"generate\": [ { \"name\": \"even\", \"every\": \"1h\", \"count\": 5, \"work\": \"10m\", \"job\": { \"gpus\": 2, \"team\": \"t\" } },"
        " { \"name\": \"load\", \"load\": 0.5, \"work\": { \"kind\": \"exponential\", \"mean\": \"1h\" }, \"teams\": { \"x\": 1, \"y\": { \"weight\": 3 } } } ] } }", NULL);
    struct job_spec *table, *other;
    size_t n, m;
    bool owned, other_owned;
    /* half of 32 GPUs, jobs of 1 GPU-hour: 16 jobs an hour */
    assert_true(s->generated[1].rate_per_hour > 15.99 && s->generated[1].rate_per_hour < 16.01);
    assert_true(scenario_workload(s, 0, &table, &n, &owned));
    assert_true(scenario_workload(s, 1, &other, &m, &other_owned));
    assert_true(owned && other_owned);
    assert_true(n > 3000 && n < 4700); /* 3,840 expected, sigma 62 */
    assert_true(n != m || memcmp(table, other, n * sizeof *table) != 0);
    for (size_t i = 1; i < n; i++) assert_true(table[i - 1].submit_ns <= table[i].submit_ns);
    free(table);
    free(other);
    round_trip(s);
    scenario_free(s);
}

/* ---- objects and traces from outside ---- */

static void object_files(void **state)
{
    (void)state;
    static const struct { const char *file; size_t jobs; uint32_t queues; } rows[] = {
        { "kueue/admin_single-clusterqueue-setup.yaml", 0, 1 }, { "kueue/admin_shared-quota-setup.yaml", 0, 1 },
        { "kueue/jobs_sample-pytorchjob.yaml", 1, 0 },          { "kueue/jobs_ray-job-sample.yaml", 1, 0 },
        { "kueue/jobs_ray-cluster-sample.yaml", 1, 0 },         { "kuberay/ray-cluster.complete.yaml", 1, 0 },
        { "kuberay/ray-cluster.autoscaler-v2.yaml", 1, 0 },     { "kuberay/ray-job.sample.yaml", 1, 0 },
        { "kuberay/ray-job.kueue-toy-sample.yaml", 1, 0 },      { "kuberay/ray-job.volcano-scheduler-queue.yaml", 1, 0 },
        { "training-operator/pytorch_simple.yaml", 1, 0 },      { "training-operator/pytorch_elastic_imagenet_imagenet.yaml", 1, 0 },
        { "training-operator/tensorflow_simple.yaml", 0, 0 },   { "kueue/jobs_sample-jobset.yaml", 0, 0 } };
    char path[SHARED_PATH_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str text = { 0 };
        char relative[256];
        snprintf(relative, sizeof relative, "traces/manifests/%s", rows[i].file);
        shared_path(path, relative);
        str_printf(&text, "{" CLUSTER ", \"objects\": [\"%s\"] }", path);
        struct scenario *s = parse(str_text(&text), NULL);
        assert_int_equal(s->n_jobs, rows[i].jobs);
        assert_int_equal(s->quota.n_queues, rows[i].queues);
        round_trip(s);
        scenario_free(s);
        str_free(&text);
    }
}

static void elastic_imagenet(void **state)
{
    (void)state;
    struct str text = { 0 };
    char path[SHARED_PATH_MAX];
    shared_path(path, "traces/manifests/training-operator/pytorch_elastic_imagenet_imagenet.yaml");
    str_printf(&text, "{" CLUSTER ", \"objects\": [\"%s\"], \"workload\": { \"jobs\": [{ \"object\": \"elastic-example-imagenet\","
               " \"steps\": 100, \"step\": \"2s\" }] } }", path);
    struct scenario *s = parse(str_text(&text), NULL);
    const struct job_detail *d = &s->details[0];
    assert_int_equal(s->n_jobs, 1);
    assert_int_equal(s->jobs[0].work_ns, 200 * NS_PER_S);
    assert_int_equal(d->elastic.min, 1);
    assert_int_equal(d->elastic.max, 3);
    assert_int_equal(d->elastic.max_restarts, 100);
    assert_int_equal(d->roles[0].replicas, 2);
    assert_int_equal(d->roles[0].cpu_milli, 4000);
    assert_int_equal(d->roles[0].gpu_shares, 0);
    assert_string_equal(d->manifest->rdzv_backend, "c10d");
    assert_string_equal(d->roles[0].pod->containers[0].env[0].name, "LOGLEVEL");
    assert_string_equal(d->roles[0].pod->containers[0].command[2], "torch.distributed.run");
    round_trip(s);
    scenario_free(s);
    str_free(&text);
}

static void kueue_objects(void **state)
{
    (void)state;
    struct scenario *s = parse(
        "{" CLUSTER ", \"objects\": ["
        " { \"apiVersion\": \"kueue.x-k8s.io/v1beta1\", \"kind\": \"ResourceFlavor\", \"metadata\": { \"name\": \"f\" } },"
        " { \"apiVersion\": \"kueue.x-k8s.io/v1beta1\", \"kind\": \"ClusterQueue\", \"metadata\": { \"name\": \"q\" }, \"spec\": { \"cohort\": \"c\","
        "   \"resourceGroups\": [{ \"coveredResources\": [\"cpu\", \"nvidia.com/gpu\"], \"flavors\": [{ \"name\": \"f\", \"resources\": ["
        "   { \"name\": \"cpu\", \"nominalQuota\": \"500m\" }, { \"name\": \"nvidia.com/gpu\", \"nominalQuota\": 3, \"borrowingLimit\": 5, \"lendingLimit\": 1 }] }] }],"
        "   \"preemption\": { \"withinClusterQueue\": \"LowerPriority\", \"borrowWithinCohort\": { \"policy\": \"LowerPriority\", \"maxPriorityThreshold\": 0 } } } },"
        " { \"apiVersion\": \"kueue.x-k8s.io/v1beta2\", \"kind\": \"ClusterQueue\", \"metadata\": { \"name\": \"p\" }, \"spec\": { \"cohortName\": \"c\", \"queueingStrategy\": \"StrictFIFO\","
        "   \"flavorFungibility\": { \"whenCanPreempt\": \"MayStopSearch\" } } },"
        " { \"apiVersion\": \"kueue.x-k8s.io/v1beta2\", \"kind\": \"LocalQueue\", \"metadata\": { \"name\": \"l\", \"namespace\": \"ns\" }, \"spec\": { \"clusterQueue\": \"q\" } },"
        " { \"apiVersion\": \"kueue.x-k8s.io/v1beta2\", \"kind\": \"WorkloadPriorityClass\", \"metadata\": { \"name\": \"hi\" }, \"value\": 100 } ],"
        " \"workload\": { \"jobs\": [{ \"duration\": 1, \"queue\": \"ns/l\", \"priorityClass\": \"hi\" }] },"
        " \"approaches\": { \"a\": { \"lifecycle\": \"training-operator-v1\", \"admission\": \"kueue\" }, \"b\": { \"like\": \"a\", \"patch\": { \"/objects/[q]/spec/queueingStrategy\": \"StrictFIFO\" } } } }", "b");
    const struct quota_spec *q = &s->quota;
    assert_int_equal(q->n_queues, 2);
    assert_int_equal(q->n_cohorts, 1);
    assert_int_equal(q->queues[0].strategy, STRICT_FIFO); /* patched */
    assert_int_equal(q->queues[0].cohort, q->queues[1].cohort);
    assert_int_equal(q->queues[0].n_lines, 2);
    assert_int_equal(q->queues[0].lines[0].nominal, 500);
    assert_int_equal(q->queues[0].lines[1].borrowing_limit, 5000);
    assert_int_equal(q->queues[0].lines[1].lending_limit, 1000);
    assert_true(q->queues[0].borrow_lower && q->queues[0].has_threshold);
    assert_false(q->queues[0].can_preempt_stop);
    assert_true(q->queues[1].can_preempt_stop);
    assert_int_equal(s->jobs[0].queue, 1);
    assert_int_equal(q->local[0].cluster_queue, 0);
    assert_int_equal(s->jobs[0].priority, 100);
    round_trip(s);
    scenario_free(s);
}

static void trace(void **state)
{
    (void)state;
    struct str text = { 0 };
    char path[SHARED_PATH_MAX];
    shared_path(path, "traces/philly/philly.csv.gz");
    str_printf(&text, "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"g\", \"count\": 52, \"gpus\": 8 }] },"
               " \"workload\": { \"trace\": { \"file\": \"%s\", \"format\": \"philly\", \"defaults\": { \"kind\": \"PyTorchJob\","
               " \"checkpoint\": \"1h\", \"priority\": 5 } } } }", path);
    struct scenario *s = parse(str_text(&text), NULL);
    assert_int_equal(s->n_jobs, 82247);
    assert_int_equal(s->n_table_jobs, 82247);
    assert_int_equal(s->details[s->jobs[5].detail].checkpoint.interval_ns, NS_PER_HOUR);
    assert_int_equal(s->jobs[5].priority, 5);
    assert_true(s->n_notes > 0);
    round_trip(s);
    scenario_free(s);
    str_free(&text);
}

/* ---- check ---- */

static bool finds(const char *text, const char *topic, const char *fragment)
{
    struct scenario *s = parse(text, NULL);
    struct findings f = { 0 };
    bool found = false;
    scenario_check(s, &f);
    for (size_t i = 0; i < f.list.n; i++)
        found |= strcmp(f.list.v[i].topic, topic) == 0 && strstr(f.list.v[i].text, fragment) != NULL;
    findings_free(&f);
    scenario_free(s);
    return found;
}

static void checks(void **state)
{
    (void)state;
    static const struct { const char *rest, *topic, *fragment; } rows[] = {
        /* 32 GPUs x 1 h; 64 GPU-h offered in 1 h: 200 % */
        { "\"run\": { \"horizon\": \"1h\" }, \"workload\": { \"jobs\": [{ \"count\": 64, \"duration\": \"1h\" }] }", "load", "200 %" },
        { "\"workload\": { \"jobs\": [{ \"replicas\": 5, \"gpus\": 8, \"duration\": 1 }] }", "fit", "more GPUs than its node groups have" },
        { "\"workload\": { \"jobs\": [{ \"gpus\": 16, \"duration\": 1 }] }, \"approaches\": { \"a\": { \"placement\": \"pack\" } }", "fit", "larger than any node" },
        { "\"workload\": { \"jobs\": [{ \"replicas\": 5, \"gpus\": 5, \"duration\": 1 }] }, \"approaches\": { \"a\": { \"placement\": \"pack\" } }", "fit", "do not hold all its replicas" },
        { "\"queues\": [{ \"name\": \"q\", \"quota\": 40 }], \"approaches\": { \"a\": { \"lifecycle\": \"training-operator-v1\", \"admission\": \"kueue\" } }", "quota", "sum to 40 GPUs, its nodes have 32" },
        { "\"queues\": [{ \"name\": \"q\", \"quota\": 4 }], \"workload\": { \"jobs\": [{ \"gpus\": 8, \"duration\": 1, \"queue\": \"q\" }] }, \"approaches\": { \"a\": { \"lifecycle\": \"training-operator-v1\", \"admission\": \"kueue\" } }", "quota", "1 job can never be admitted" },
        { "\"queues\": [{ \"name\": \"q\", \"quota\": 4 }], \"workload\": { \"jobs\": [{ \"duration\": 1 }] }, \"approaches\": { \"a\": { \"lifecycle\": \"training-operator-v1\", \"admission\": \"kueue\" } }", "quota", "name no queue" },
        { "\"queues\": [{ \"name\": \"q\", \"quota\": 4 }]", "ignored", "quotas" },
        { "\"workload\": { \"jobs\": [{ \"duration\": 1 }] }, \"approaches\": { \"a\": { \"admission\": \"easy\" } }", "fit", "no time limit" },
        { "\"approaches\": { \"a\": { \"las_first_limit\": 1 } }", "ignored", "las" },
        { "\"faults\": { \"components\": [{ \"name\": \"l\", \"scope\": \"link\", \"mtbf\": \"1d\", \"repair\": 5 }] }", "ignored", "links" },
        { "\"workload\": { \"jobs\": [{ \"duration\": 1 }] }, \"faults\": { \"jobs\": { \"job_crash_mtbf\": \"1d\" } }", "ignored", "job_crash_mtbf" },
        { "\"approaches\": { \"a\": { \"stack\": { \"kueue.cycle\": 1 } } }", "ignored", "kueue.cycle" },
        { "\"workload\": { \"jobs\": [{ \"steps\": 9, \"step\": 8, \"data\": 100 }] }", "ignored", "data" },
        /* 100 samples of 0.4 s CPU by 4 workers take 10 s */
        { "\"workload\": { \"jobs\": [{ \"steps\": 9, \"step\": 8, \"data\": { \"samples\": 100, \"workers\": 4, \"cpu\": \"400ms\" } }] },"
          "\"approaches\": { \"a\": { \"lifecycle\": \"training-operator-v1\" } }",
          "data", "takes 8 s and waits 2 s for data, loaded ahead: a loader gives 10 samples a second, held back by its workers" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str text = { 0 };
        str_printf(&text, "{" CLUSTER ", %s }", rows[i].rest);
        if (!finds(str_text(&text), rows[i].topic, rows[i].fragment)) fail_msg("not found: %s in %s", rows[i].fragment, rows[i].rest);
        str_free(&text);
    }
    assert_false(finds("{" CLUSTER ", \"workload\": { \"jobs\": [{ \"replicas\": 4, \"gpus\": 8, \"duration\": 1 }] } }", "fit", ""));
}

int main(void)
{
    setenv("TRAINYARD_DATA", "scenarios", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_teams),  cmocka_unit_test(approaches),    cmocka_unit_test(patched),
        cmocka_unit_test(lifecycles), cmocka_unit_test(jobs),          cmocka_unit_test(where_jobs_may_run),
        cmocka_unit_test(where_roles_may_run),
        cmocka_unit_test(script), cmocka_unit_test(script_of_a_link),     cmocka_unit_test(generated),     cmocka_unit_test(object_files),
        cmocka_unit_test(elastic_imagenet), cmocka_unit_test(kueue_objects), cmocka_unit_test(trace),
        cmocka_unit_test(checks) };
    return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
