/* import_keep.c - see import_keep.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/kubernetes/import_keep.h"

#include <stdbool.h>
#include <string.h>

/* A member by its key. inside NULL: a number, word or truth value, or a list of them; else the shape of the object, or of each of a list. */
struct shape { const char *key; const struct shape *inside; };
#define END { NULL, NULL }

static const struct shape texts[] = { END }; /* all members, of what inside NULL takes: labels, quantities */
static const struct shape empty[] = { END }; /* that it is there */

/* ---- pods ---- */

static const struct shape toleration[] = { { "key", NULL }, { "operator", NULL }, { "value", NULL }, { "effect", NULL }, { "tolerationSeconds", NULL }, END };
static const struct shape taint[] = { { "key", NULL }, { "value", NULL }, { "effect", NULL }, END };
static const struct shape port[] = { { "name", NULL }, { "containerPort", NULL }, { "protocol", NULL }, END };
static const struct shape resources[] = { { "limits", texts }, { "requests", texts }, END };
static const struct shape container[] = { { "name", NULL }, { "image", NULL }, { "resources", resources }, { "ports", port }, END };
static const struct shape pod_spec[] = { { "restartPolicy", NULL },   { "nodeSelector", texts },   { "tolerations", toleration },
                                         { "priorityClassName", NULL }, { "containers", container }, { "initContainers", container }, END };
static const struct shape template[] = { { "spec", pod_spec }, END };

/* ---- jobs ---- */

static const struct shape batch_job[] = {
    { "parallelism", NULL }, { "completions", NULL }, { "completionMode", NULL }, { "backoffLimit", NULL }, { "activeDeadlineSeconds", NULL },
    { "ttlSecondsAfterFinished", NULL }, { "suspend", NULL }, { "podReplacementPolicy", NULL }, { "template", template },
    { "podFailurePolicy", empty }, { "successPolicy", empty }, { "backoffLimitPerIndex", NULL }, END };

static const struct shape replica[] = { { "replicas", NULL }, { "restartPolicy", NULL }, { "template", template }, END };
static const struct shape replicas[] = { { "Master", replica }, { "Worker", replica }, END };
static const struct shape elastic_policy[] = { { "minReplicas", NULL }, { "maxReplicas", NULL }, { "maxRestarts", NULL }, { "nProcPerNode", NULL },
                                               { "rdzvBackend", NULL }, { "rdzvPort", NULL },    { "standalone", NULL },  END };
static const struct shape run_policy[] = { { "cleanPodPolicy", NULL }, { "ttlSecondsAfterFinished", NULL }, { "activeDeadlineSeconds", NULL },
                                           { "backoffLimit", NULL },   { "suspend", NULL },                 END };
static const struct shape pytorch_job[] = { { "pytorchReplicaSpecs", replicas }, { "nprocPerNode", NULL }, { "elasticPolicy", elastic_policy }, { "runPolicy", run_policy }, END };

static const struct shape ray_start[] = { { "num-cpus", NULL }, { "num-gpus", NULL }, { "memory", NULL }, { "object-store-memory", NULL }, { "port", NULL }, END };
static const struct shape head_group[] = { { "rayStartParams", ray_start }, { "template", template }, END };
static const struct shape worker_group[] = { { "groupName", NULL },  { "replicas", NULL }, { "minReplicas", NULL },         { "maxReplicas", NULL },
                                             { "numOfHosts", NULL }, { "suspend", NULL },  { "rayStartParams", ray_start }, { "template", template }, END };
static const struct shape ray_cluster[] = {
    { "rayVersion", NULL }, { "headGroupSpec", head_group }, { "workerGroupSpecs", worker_group }, { "enableInTreeAutoscaling", NULL }, { "suspend", NULL },
    { "gcsFaultToleranceOptions", empty }, END };
static const struct shape ray_job[] = {
    { "rayClusterSpec", ray_cluster }, { "clusterSelector", empty }, { "submissionMode", NULL }, { "shutdownAfterJobFinishes", NULL }, { "ttlSecondsAfterFinished", NULL },
    { "activeDeadlineSeconds", NULL }, { "backoffLimit", NULL }, { "suspend", NULL }, { "submitterPodTemplate", template }, END };

/* ---- queues ---- */

static const struct shape flavor[] = { { "nodeLabels", texts }, { "nodeTaints", taint }, { "tolerations", toleration }, { "topologyName", NULL }, END };
static const struct shape amount[] = { { "name", NULL }, { "nominalQuota", NULL }, { "borrowingLimit", NULL }, { "lendingLimit", NULL }, END };
static const struct shape flavor_quota[] = { { "name", NULL }, { "resources", amount }, END };
static const struct shape resource_group[] = { { "coveredResources", NULL }, { "flavors", flavor_quota }, END };
static const struct shape fair_sharing[] = { { "weight", NULL }, END };
static const struct shape borrow[] = { { "policy", NULL }, { "maxPriorityThreshold", NULL }, END };
static const struct shape preemption[] = { { "withinClusterQueue", NULL }, { "reclaimWithinCohort", NULL }, { "borrowWithinCohort", borrow }, END };
static const struct shape fungibility[] = { { "whenCanBorrow", NULL }, { "whenCanPreempt", NULL }, { "preference", NULL }, END };
static const struct shape expression[] = { { "key", NULL }, { "operator", NULL }, { "values", NULL }, END };
static const struct shape selector[] = { { "matchLabels", texts }, { "matchExpressions", expression }, END };
static const struct shape check[] = { { "name", NULL }, { "onFlavors", NULL }, END };
static const struct shape checks[] = { { "admissionChecks", check }, END };
static const struct shape cluster_queue[] = {
    { "cohort", NULL }, { "cohortName", NULL }, { "queueingStrategy", NULL }, { "resourceGroups", resource_group }, { "preemption", preemption },
    { "flavorFungibility", fungibility }, { "stopPolicy", NULL }, { "fairSharing", fair_sharing }, { "namespaceSelector", selector },
    { "admissionChecks", NULL }, { "admissionChecksStrategy", checks }, { "admissionScope", empty }, { "concurrentAdmissionPolicy", empty }, END };
static const struct shape cohort[] = { { "parent", NULL }, { "parentName", NULL }, { "resourceGroups", resource_group }, { "fairSharing", fair_sharing }, END };
static const struct shape local_queue[] = { { "clusterQueue", NULL }, { "stopPolicy", NULL }, { "fairSharing", fair_sharing }, END };

static const struct { const char *kind; const struct shape *spec; } kinds[] = {
    { "Job", batch_job }, { "PyTorchJob", pytorch_job }, { "RayJob", ray_job }, { "RayCluster", ray_cluster }, { "ResourceFlavor", flavor },
    { "ClusterQueue", cluster_queue }, { "Cohort", cohort }, { "LocalQueue", local_queue } };

/* ---- copying ---- */

static cJSON *kept(const cJSON *from, const struct shape *shape);

static cJSON *kept_list(const cJSON *from, const struct shape *shape)
{
    cJSON *out = cJSON_CreateArray();
    for (const cJSON *c = from->child; c; c = c->next) {
        cJSON *k = kept(c, shape);
        if (k) cJSON_AddItemToArray(out, k);
    }
    return out;
}

static void keep(cJSON *to, const cJSON *member, const struct shape *shape)
{
    cJSON *k = member ? kept(member, shape) : NULL;
    if (k) cJSON_AddItemToObject(to, member->string, k);
}

/* NULL: of another form than the shape has. */
static cJSON *kept(const cJSON *from, const struct shape *shape)
{
    bool plain = cJSON_IsString(from) || cJSON_IsNumber(from) || cJSON_IsBool(from);
    if (cJSON_IsArray(from)) return kept_list(from, shape);
    if (!shape) return plain ? cJSON_Duplicate(from, true) : NULL;
    if (!cJSON_IsObject(from)) return NULL;
    cJSON *out = cJSON_CreateObject();
    for (const cJSON *c = shape == texts ? from->child : NULL; c; c = c->next) keep(out, c, NULL);
    for (; shape->key; shape++) keep(out, cJSON_GetObjectItemCaseSensitive(from, shape->key), shape->inside);
    return out;
}

cJSON *k8s_import_kept(const char *kind, const cJSON *spec)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, kind) == 0 && cJSON_IsObject(spec)) return kept(spec, kinds[i].spec);
    return cJSON_CreateObject();
}
