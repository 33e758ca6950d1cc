/* any_scenario.c - see any_scenario.h.
 *
 * Each part has a random sequence of its own, so that leaving out one leaves the others as they were.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/any_scenario.h"

#include <stdbool.h>
#include <string.h>

enum school { OPERATOR, ACTOR, BATCH };

struct any {
    struct str *out;
    uint64_t seed, state;
    unsigned parts;
    unsigned nodes[3], gpus[3], n_groups, n_queues, n_jobs, most_jobs, cohorts;
    bool racks, quotas, nodes_fail, restarts; /* restarts: a job may fail again and again, for ever */
    enum school school[2];
    unsigned limit_all; /* every job has a time limit */
};

/* splitmix64 */
static unsigned below(struct any *a, unsigned n)
{
    uint64_t x = a->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((x ^ x >> 31) % n);
}

static bool one_in(struct any *a, unsigned n) { return below(a, n) == 0; }
static bool has(const struct any *a, enum any_part part) { return (a->parts & part) != 0; }

static void begin(struct any *a, unsigned purpose, unsigned index)
{
    a->state = a->seed * UINT64_C(0x2545f4914f6cdd1d) + purpose * UINT64_C(0x9e3779b97f4a7c15) * 1000 + index * UINT64_C(0xd1342543de82ef95);
    below(a, 2);
}

static const char *pick(struct any *a, const char *const *words, unsigned n) { return words[below(a, n)]; }
#define PICK(a, ...)                                                                                                   \
    pick(a, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

enum purpose { SHAPE, CLUSTER, QUEUES, JOB, JOB_FAULTS, JOB_ELASTIC, JOB_AFTER, JOB_SAVES, HARDWARE, SCRIPT, APPROACH, STACK, RUN, SPEEDS, JOB_MODEL, JOB_DATA };

/* ---- cluster ---- */

static void node_group(struct any *a, unsigned g)
{
    str_printf(a->out, "%s\n    { \"group\": \"g%u\", \"count\": %u, \"gpus\": %u", g ? "," : "", g, a->nodes[g], a->gpus[g]);
    if (g == 1) str_append(a->out, ", \"gpu\": \"small\", \"labels\": { \"tier\": \"b\" }");
    if (g == 1 && one_in(a, 3)) str_append(a->out, ", \"taints\": [ { \"key\": \"gpu\", \"value\": \"b\" } ]");
    if (one_in(a, 3)) str_printf(a->out, ", \"cpu\": %u, \"memory\": \"%uGi\"", 8 + 8 * below(a, 4), 32 + 32 * below(a, 3));
    str_append(a->out, ", \"peak_tflops\": 100 }");
}

static void cluster(struct any *a)
{
    begin(a, CLUSTER, 0);
    str_append(a->out, "  \"cluster\": { \"nodes\": [");
    for (unsigned g = 0; g < a->n_groups; g++) node_group(a, g);
    str_append(a->out, " ]");
    if (a->racks) str_append(a->out, ",\n    \"topology\": { \"nodes_per_rack\": 2, \"racks_per_block\": 2 }");
    str_printf(a->out, ",\n    \"network\": { \"latency\": \"%uus\", \"intra\": \"100GB/s\", \"inter\": \"%uGB/s\"", 1 + below(a, 9),
               1 + below(a, 25));
    if (one_in(a, 2)) str_printf(a->out, ", \"oversubscription\": { \"rack\": %u, \"block\": %u }", 1 + below(a, 8), 1 + below(a, 8));
    if (one_in(a, 4)) str_append(a->out, ", \"contention\": false");
    str_append(a->out, " }");
    str_printf(a->out, ",\n    \"storage\": [ { \"name\": \"store\", \"kind\": \"%s\", \"write\": \"1GB/s\", \"read\": \"2GB/s\" } ]",
               one_in(a, 4) ? "local" : "shared");
    if (one_in(a, 2))
        str_printf(a->out, ",\n    \"images\": { \"size\": \"%uGB\", \"cached\": 0.%u }", 1 + below(a, 20), below(a, 10));
    begin(a, SPEEDS, 0);
    if (one_in(a, 3))
        str_printf(a->out, ",\n    \"stragglers\": { \"share\": 0.%u, \"slowness\": 0.2, \"jitter\": 0.0%u }", below(a, 10), below(a, 5));
    str_append(a->out, " },\n");
}

/* ---- queues ---- */

static void quota_of(struct any *a, const char *key, unsigned most)
{
    str_printf(a->out, ", \"%s\": {", key);
    for (unsigned g = 0; g < a->n_groups; g++) {
        if (a->gpus[g] == 0) continue;
        unsigned all = a->nodes[g] * a->gpus[g];
        str_printf(a->out, "%s \"g%u\": %u", g ? "," : "", g, below(a, (most ? all / most : all) + 1));
    }
    str_append(a->out, " }");
}

static void queue(struct any *a, unsigned i)
{
    str_printf(a->out, "%s\n    { \"name\": \"q%u\"", i ? "," : "", i);
    quota_of(a, "quota", one_in(a, 3) ? 0 : 2);
    if (a->cohorts) str_printf(a->out, ", \"cohort\": \"c%u\"", below(a, a->cohorts));
    if (a->cohorts && one_in(a, 3)) quota_of(a, "borrowing", 2);
    if (a->cohorts && one_in(a, 3)) quota_of(a, "lending", 2);
    if (one_in(a, 3)) str_append(a->out, ", \"strategy\": \"StrictFIFO\"");
    if (one_in(a, 2)) {
        str_printf(a->out, ", \"preemption\": { \"withinClusterQueue\": \"%s\", \"reclaimWithinCohort\": \"%s\"",
                   PICK(a, "Never", "LowerPriority", "LowerOrNewerEqualPriority"), PICK(a, "Never", "LowerPriority", "Any"));
        if (a->cohorts && one_in(a, 2)) str_append(a->out, ", \"borrowWithinCohort\": { \"policy\": \"LowerPriority\", \"maxPriorityThreshold\": 5 }");
        str_append(a->out, " }");
    }
    if (one_in(a, 4))
        str_printf(a->out, ", \"flavorFungibility\": { \"whenCanBorrow\": \"%s\", \"whenCanPreempt\": \"%s\" }",
                   PICK(a, "Borrow", "TryNextFlavor"), PICK(a, "Preempt", "TryNextFlavor"));
    str_append(a->out, " }");
}

static void queues(struct any *a)
{
    begin(a, QUEUES, 0);
    a->cohorts = one_in(a, 4) ? 0 : 1 + below(a, 2);
    if (a->cohorts == 2 && one_in(a, 2))
        str_append(a->out, "  \"cohorts\": [ { \"name\": \"c0\", \"parent\": \"root\" }, { \"name\": \"c1\", \"parent\": \"root\" } ],\n");
    str_append(a->out, "  \"queues\": [");
    for (unsigned i = 0; i < a->n_queues; i++) queue(a, i);
    str_append(a->out, " ],\n");
}

/* ---- jobs ---- */

static void size(struct any *a)
{
    unsigned g = below(a, a->n_groups);
    unsigned gpus = a->gpus[g], nodes = a->nodes[g];
    if (gpus == 0 || one_in(a, 12)) gpus = a->gpus[0], nodes = a->nodes[0];
    if (one_in(a, 6)) {
        str_printf(a->out, ", \"gpus\": %s, \"replicas\": %u", PICK(a, "0.5", "0.25", "0.3", "0.001"), 1 + below(a, 3));
        return;
    }
    unsigned each = one_in(a, 2) ? gpus : 1 + below(a, gpus);
    unsigned room = nodes * (gpus / each);
    str_printf(a->out, ", \"gpus\": %u, \"replicas\": %u", each, 1 + below(a, one_in(a, 8) ? room + 2 : room / 2 + 1));
}

/* What its samples cost to load; from a sequence of its own. */
static void data(struct any *a, unsigned i, bool samples)
{
    uint64_t here = a->state;
    begin(a, JOB_DATA, i);
    str_printf(a->out, ", \"data\": { \"workers\": %u, \"mode\": \"%s\", \"cpu\": \"%ums\"", below(a, 9), PICK(a, "processes", "threads"),
               below(a, 40));
    if (samples || one_in(a, 2)) str_printf(a->out, ", \"samples\": %u", 1 + below(a, 64));
    if (one_in(a, 3)) str_printf(a->out, ", \"locked\": 0.%u", below(a, 10));
    if (one_in(a, 3)) str_printf(a->out, ", \"cores\": %u", 1 + below(a, 8));
    if (one_in(a, 2)) str_printf(a->out, ", \"prefetch\": %u", below(a, 4));
    if (one_in(a, 3)) str_printf(a->out, ", \"variation\": 0.%u", below(a, 10));
    if (one_in(a, 2)) str_printf(a->out, ", \"size\": \"%uMB\", \"storage\": \"store\", \"latency\": \"%ums\"", 1 + below(a, 9), below(a, 20));
    if (one_in(a, 3))
        str_printf(a->out, ", \"dataset\": \"%uGB\", \"cache\": \"%uGB\", \"cache_rule\": \"%s\"", 1 + below(a, 50), below(a, 40),
                   PICK(a, "keep", "lru"));
    str_append(a->out, " }");
    a->state = here;
}

static void amount(struct any *a, unsigned i)
{
    if (one_in(a, 3)) {
        unsigned steps = 1 + below(a, 800), compute = 200 + below(a, 3000), wait = below(a, 50);
        bool loads = wait % 3 == 0; /* instead of a length of the wait */
        str_printf(a->out, ", \"steps\": %u, \"step\": { \"compute\": \"%ums\"", steps, compute);
        if (!loads) str_printf(a->out, ", \"data\": \"%ums\"", wait);
        if (one_in(a, 2)) str_printf(a->out, ", \"%s", one_in(a, 2) ? "communication\": \"30ms\"" : "gradient\": \"2GB\"");
        str_append(a->out, " }");
        if (loads) data(a, i, true);
    } else {
        str_printf(a->out, ", \"duration\": %u", 60 * (1 + below(a, one_in(a, 5) ? 300 : 30)));
        if (one_in(a, 4)) str_printf(a->out, ".%03u", below(a, 1000));
    }
}

static void model(struct any *a, unsigned i)
{
    str_printf(a->out, ", \"steps\": %u, \"model\": \"%s\", \"batch\": { \"global\": %u, \"micro\": %u }, \"parallelism\": { \"zero\": %u }",
               1 + below(a, 2000), PICK(a, "mpt-125m", "mpt-1b", "resnet-50"), 1 + below(a, 256), 1 + below(a, 8), below(a, 4));
    if (one_in(a, 3)) data(a, i, false);
}

/* Of some jobs a model instead; what is drawn for the rest of the job stays. */
static void work(struct any *a, unsigned i)
{
    struct str unused = {0}, *out = a->out;
    uint64_t here = a->state;
    begin(a, JOB_MODEL, i);
    if (one_in(a, 5)) {
        model(a, i);
        a->out = &unused;
    }
    a->state = here;
    amount(a, i);
    a->out = out;
    str_free(&unused);
    if (a->limit_all || one_in(a, 8)) str_printf(a->out, ", \"limit\": \"%um\"", 5 + below(a, 400));
}

static void policies(struct any *a)
{
    if (one_in(a, 4)) str_printf(a->out, ", \"restartPolicy\": \"%s\"", PICK(a, "Always", "OnFailure", "Never", "ExitCode"));
    if (one_in(a, 4)) str_printf(a->out, ", \"cleanPodPolicy\": \"%s\"", PICK(a, "None", "Running", "All"));
    if (one_in(a, 5)) str_printf(a->out, ", \"backoffLimit\": %u", below(a, 4));
    if (one_in(a, 8)) str_printf(a->out, ", \"maxFailures\": %u", below(a, 3));
    if (one_in(a, 12)) str_printf(a->out, ", \"activeDeadlineSeconds\": %u", 300 + below(a, 7200));
    if (one_in(a, 10)) str_printf(a->out, ", \"ttlSecondsAfterFinished\": %u", below(a, 600));
    if (one_in(a, 20)) str_append(a->out, ", \"suspend\": true");
    if (one_in(a, 6)) str_append(a->out, ", \"gcsFaultTolerance\": true");
    if (one_in(a, 8)) str_append(a->out, ", \"shutdownAfterJobFinishes\": false");
}

static void wishes(struct any *a)
{
    if (one_in(a, 3)) str_printf(a->out, ", \"priority\": %u", 5 * below(a, 3));
    if (one_in(a, 3)) str_printf(a->out, ", \"team\": \"t%u\"", below(a, 3));
    if (a->quotas) str_printf(a->out, ", \"queue\": \"q%u\"", below(a, a->n_queues));
    if (one_in(a, 6)) str_printf(a->out, ", \"cpu\": %u, \"memory\": \"%uGi\"", 1 + below(a, 8), 1 + below(a, 16));
    if (one_in(a, 4)) str_append(a->out, ", \"tolerations\": [ { \"key\": \"gpu\", \"operator\": \"Exists\" } ]");
    if (a->n_groups > 1 && a->gpus[1] && one_in(a, 8)) str_append(a->out, ", \"gpu\": \"small\"");
    if (a->racks && one_in(a, 4))
        str_printf(a->out, ", \"topology\": { \"level\": \"%s\", \"required\": %s }", PICK(a, "host", "rack", "block"), PICK(a, "true", "false"));
}

static const char *kind_of(struct any *a)
{
    if (!one_in(a, 3)) return "train";
    if (one_in(a, 4)) return "Job";
    return one_in(a, 2) && a->school[0] != OPERATOR && a->school[1] != OPERATOR ? "RayJob" : "PyTorchJob";
}

static void sized(struct any *a)
{
    str_append(a->out, ", \"size\": \"10GB\", \"storage\": \"store\"");
    if (one_in(a, 2)) str_printf(a->out, ", \"sharded\": %s", PICK(a, "true", "false"));
    if (one_in(a, 3)) str_append(a->out, ", \"async\": true");
    if (one_in(a, 3)) str_append(a->out, ", \"process\": \"200MB/s\"");
}

static void job(struct any *a, unsigned i, unsigned *submit)
{
    begin(a, JOB, i);
    if (!one_in(a, 3)) *submit += 30 * below(a, 40);
    str_printf(a->out, "%s\n      { \"id\": \"j%u\", \"kind\": \"%s\", \"submit\": %u", i ? "," : "", i, kind_of(a), *submit);
    size(a);
    work(a, i);
    policies(a);
    wishes(a);
    begin(a, JOB_SAVES, i);
    if (has(a, ANY_CHECKPOINTS) && one_in(a, 2)) {
        str_printf(a->out, ", \"checkpoint\": { \"interval\": %u, \"background\": %u", 30 + below(a, 900), one_in(a, 2) ? 0 : below(a, 120));
        if (one_in(a, 3)) sized(a);
        else str_printf(a->out, ", \"save\": %u, \"load\": %u", below(a, 20), below(a, 20));
        str_append(a->out, " }");
    }
    begin(a, JOB_ELASTIC, i);
    if (has(a, ANY_ELASTIC) && one_in(a, 3))
        str_printf(a->out, ", \"elastic\": { \"minReplicas\": 1, \"maxReplicas\": %u, \"maxRestarts\": %u }", 1 + below(a, 6), below(a, 9));
    begin(a, JOB_FAULTS, i);
    bool crashes = has(a, ANY_PROCESS_FAULTS) && one_in(a, 3), hangs = has(a, ANY_PROCESS_FAULTS) && one_in(a, 6);
    if (crashes) str_printf(a->out, ", \"crash_mtbf\": %u", 600 + below(a, 20000));
    if (hangs) str_printf(a->out, ", \"hang_mtbf\": %u", 600 + below(a, 20000));
    a->restarts |= crashes || hangs;
    begin(a, JOB_AFTER, i);
    if (has(a, ANY_DEPENDENCIES) && i && one_in(a, 8)) str_printf(a->out, ", \"after\": [ \"j%u\" ]", below(a, i));
    str_append(a->out, " }");
}

static void workload(struct any *a)
{
    unsigned submit = 0;
    str_append(a->out, "  \"workload\": { \"jobs\": [");
    for (unsigned i = 0; i < a->n_jobs && i < a->most_jobs; i++) job(a, i, &submit);
    str_append(a->out, " ] },\n");
}

/* ---- faults ---- */

static void hardware(struct any *a)
{
    begin(a, HARDWARE, 0);
    if (!has(a, ANY_HARDWARE) || one_in(a, 2)) return;
    a->nodes_fail = a->restarts = true;
    str_printf(a->out, "\n    \"components\": [ { \"name\": \"gpu\", \"scope\": \"gpu\", \"mtbf\": \"%uh\", \"repair\": \"%um\", \"repair_sigma\": %u }",
               10 + below(a, 200), 1 + below(a, 100), below(a, 2));
    str_printf(a->out, ",\n      { \"name\": \"node\", \"scope\": \"node\", \"mtbf\": \"%uh\", \"shape\": 0.%u, \"repair\": \"%um\" }", 2 + below(a, 100),
               5 + below(a, 5), below(a, 100));
    if (a->racks && one_in(a, 2)) str_append(a->out, ",\n      { \"name\": \"power\", \"scope\": \"rack\", \"mtbf\": \"30h\", \"repair\": \"20m\" }");
    if (one_in(a, 3))
        str_printf(a->out, ",\n      { \"name\": \"link\", \"scope\": \"link\", \"mtbf\": \"%uh\", \"repair\": \"%us\", \"repair_sigma\": 1, "
                           "\"lemons\": { \"share\": 0.3, \"times\": %u } }", 1 + below(a, 20), 5 + below(a, 60), 1 + below(a, 4));
    if (one_in(a, 4)) str_append(a->out, ",\n      { \"name\": \"store\", \"scope\": \"storage\", \"mtbf\": \"40h\", \"repair\": \"10m\" }");
    str_append(a->out, " ]");
    if (has(a, ANY_SCRIPT)) str_append(a->out, ",");
}

static void pod_name(struct any *a, unsigned job)
{
    if (one_in(a, 4)) str_printf(a->out, "pod/ray-shared-worker-%u", below(a, 4)); /* where there is such a cluster */
    else if (one_in(a, 3)) str_printf(a->out, "pod/j%u-master-0", job);
    else str_printf(a->out, "pod/j%u-worker-%u", job, below(a, 3));
}

static void action(struct any *a, unsigned i)
{
    unsigned g = below(a, a->n_groups), j = below(a, a->n_jobs);
    bool on_node = one_in(a, 2), on_pod = one_in(a, 2);
    if (j >= a->most_jobs) j = 0;
    str_printf(a->out, "%s\n      { \"at\": %u, \"target\": \"", i ? "," : "", 15 * below(a, 900));
    if (on_node) {
        a->nodes_fail = true;
        str_printf(a->out, "node/g%u-%u\", \"action\": \"%s\" }", g, below(a, a->nodes[g]), PICK(a, "node-lost", "node-lost", "node-back", "node-back"));
    } else if (on_pod) {
        pod_name(a, j);
        const char *what = PICK(a, "container-exit", "pod-failed", "pod-succeeded", "pod-evicted", "pod-deleted", "hang", "crash", "force-delete");
        str_printf(a->out, "\", \"action\": \"%s\"", what);
        if (strcmp(what, "container-exit") == 0) str_printf(a->out, ", \"code\": %s", PICK(a, "1", "0", "137", "143"));
        str_append(a->out, " }");
    } else {
        const char *what = PICK(a, "head-crash", "hang", "crash", "suspend", "resume", "resume", "scale", "touch", "delete-job");
        str_printf(a->out, "job/j%u\", \"action\": \"%s\"", j, what);
        if (strcmp(what, "scale") == 0) str_printf(a->out, ", \"replicas\": %u", below(a, 5));
        str_append(a->out, " }");
    }
}

static void faults(struct any *a)
{
    str_append(a->out, "  \"faults\": {");
    hardware(a);
    begin(a, SCRIPT, 0);
    if (has(a, ANY_SCRIPT)) {
        unsigned n = one_in(a, 3) ? 0 : below(a, 14);
        str_append(a->out, "\n    \"script\": [");
        for (unsigned i = 0; i < n; i++) action(a, i);
        str_append(a->out, " ]");
    }
    str_append(a->out, " },\n");
}

/* ---- approaches ---- */

static void constants(struct any *a)
{
    static const struct { const char *name; const char *values[3]; } table[] = {
        {"node.toleration", {"30s", "1s", "20m"}},       {"node.monitor-grace", {"1s", "50s", "5m"}},
        {"nccl.timeout", {"30s", "10s", "1h"}},          {"kueue.cycle", {"0s", "1s", "10ms"}},
        {"kubelet.container-start", {"0s", "20s", "1ms"}}, {"scheduler.qps", {"1", "5", "1000"}},
        {"training-operator.qps", {"1", "5", "1000"}},   {"ray-train.poll", {"100ms", "1s", "10s"}},
        {"torchrun.rendezvous", {"0s", "10s", "1ms"}},   {"kubelet.pod-delete", {"0s", "30s", "1ms"}},
        {"coscheduling.permit-wait", {"1s", "10s", "5m"}}, {"ray.health-detect", {"1s", "30s", "2m"}},
    };
    enum { N = sizeof table / sizeof *table };
    begin(a, STACK, 0);
    if (!has(a, ANY_CONSTANTS) || one_in(a, 2)) return;
    unsigned n = 1 + below(a, 4), first = below(a, N);
    str_append(a->out, ", \"stack\": {");
    for (unsigned i = 0; i < n; i++) {
        unsigned k = (first + i * 5) % N;
        str_printf(a->out, "%s \"%s\": \"%s\"", i ? "," : "", table[k].name, table[k].values[below(a, 3)]);
    }
    str_append(a->out, " }");
}

static const char *batch_admission(struct any *a)
{
    return PICK(a, "fifo", "fifo-skip", "fewest-gpus", "srpt", "las", "easy", "conservative");
}

static void batch(struct any *a)
{
    const char *admission = batch_admission(a);
    bool named = strcmp(admission, "easy") == 0 || strcmp(admission, "conservative") == 0;
    const char *placement = PICK(a, "none", "first", "pack", "spread", "topology");
    if ((named || a->nodes_fail) && strcmp(placement, "none") == 0) placement = "first";
    if (!a->racks && strcmp(placement, "topology") == 0) placement = "pack";
    str_printf(a->out, "\"lifecycle\": \"none\", \"admission\": \"%s\", \"placement\": \"%s\"", admission, placement);
    if (strcmp(admission, "las") == 0) str_printf(a->out, ", \"las_first_limit\": %u, \"las_second_limit\": %u", 60 * below(a, 60), 3600 + below(a, 9000));
}

static void with_pods(struct any *a, bool ray)
{
    str_printf(a->out, "\"lifecycle\": \"%s\", \"admission\": \"%s\", \"placement\": \"%s\"", ray ? "ray-train-v2" : "training-operator-v1",
               a->quotas && !one_in(a, 3) ? "kueue" : "none", PICK(a, "first", "pack", "spread"));
    if (one_in(a, 2)) str_append(a->out, ", \"gang\": \"coscheduling\"");
    if (has(a, ANY_ELASTIC) && one_in(a, 2)) str_printf(a->out, ", \"elastic\": \"%s\"", ray ? "ray" : "torchrun");
    if (ray && one_in(a, 3)) {
        unsigned min = below(a, 3);
        str_printf(a->out, ", \"ray_cluster\": \"shared\", \"shared_cluster\": { \"min\": %u, \"max\": %u }", min, min + 1 + below(a, 4));
    }
    constants(a);
}

static void approach(struct any *a, const char *name, unsigned index)
{
    begin(a, APPROACH, index);
    str_printf(a->out, "%s\n    \"%s\": { ", index ? "," : "", name);
    if (a->school[index] == BATCH) batch(a);
    else with_pods(a, a->school[index] == ACTOR);
    str_append(a->out, " }");
}

static void run(struct any *a)
{
    begin(a, RUN, 0);
    str_printf(a->out, "  \"run\": { \"seed\": %u, \"warmup\": %u", below(a, 1000), below(a, 600));
    if (a->restarts || !one_in(a, 4)) str_printf(a->out, ", \"horizon\": %u", 60 * (10 + below(a, 1440)));
    str_append(a->out, " }\n}\n");
}

void any_scenario_part(uint64_t seed, unsigned parts, unsigned jobs, struct str *json)
{
    struct any a = {.out = json, .seed = seed, .parts = parts, .most_jobs = jobs};
    begin(&a, SHAPE, 0);
    unsigned groups = one_in(&a, 2) ? 1 : 2 + below(&a, 2);
    a.n_groups = has(&a, ANY_GROUPS) ? groups : 1;
    for (unsigned g = 0; g < 3; g++) {
        a.nodes[g] = 1 + below(&a, 5);
        a.gpus[g] = g == 2 ? 0 : 1u << below(&a, 4);
    }
    a.racks = one_in(&a, 3);
    a.n_queues = 1 + below(&a, 3);
    a.quotas = has(&a, ANY_QUEUES) && !one_in(&a, 3);
    a.n_jobs = 1 + below(&a, 14);
    a.limit_all = one_in(&a, 2);
    for (unsigned i = 0; i < 2; i++) a.school[i] = (enum school)(below(&a, 5) / 2);
    str_printf(json, "{ \"trainyard\": 1, \"name\": \"any-%llu\",\n", (unsigned long long)seed);
    cluster(&a);
    if (a.quotas) queues(&a);
    workload(&a);
    faults(&a);
    str_append(json, "  \"approaches\": {");
    approach(&a, "one", 0);
    approach(&a, "two", 1);
    str_append(json, " },\n");
    run(&a);
}

void any_scenario(uint64_t seed, struct str *json) { any_scenario_part(seed, ANY_ALL, ~0u, json); }
