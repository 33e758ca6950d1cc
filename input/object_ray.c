/* object_ray.c - RayCluster and RayJob (ray.io/v1), with the defaults of KubeRay 1.6.
 *
 * Defaults: worker replicas 0, minReplicas 0, maxReplicas 2^31 - 1, numOfHosts 1; RayJob: K8sJobMode, backoffLimit 0,
 * shutdownAfterJobFinishes false; submitter 500m and 200Mi (ray-operator/apis/ray/v1, controllers/ray/common/job.go).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "input/raw.h"

struct raw_ray_group {
    const struct value *at, *strategy, *resources, *labels, *idle, *service, *ingress, *service_type;
    const char *name;
    int64_t replicas, min, max, hosts, suspend;
    struct list start;
    struct raw_template *pods;
};
static const struct field head_fields[] = {
    FIELD(raw_ray_group, start, "rayStartParams", TYPE_TEXTS, .any_kind = true, .help = "of `ray start`"),
    FIELD(raw_ray_group, pods, "template", TYPE_OBJECT, .sub = &pod_template_type, .required = true, .always = true, .help = "of the pod"),
    FIELD(raw_ray_group, service, "headService", TYPE_ANY, .help = "passed over"),
    FIELD(raw_ray_group, ingress, "enableIngress", TYPE_ANY, .help = "passed over"),
    FIELD(raw_ray_group, service_type, "serviceType", TYPE_ANY, .help = "passed over"),
    FIELD(raw_ray_group, resources, "resources", TYPE_ANY, .help = "Ray's own view; passed over"),
    FIELD(raw_ray_group, labels, "labels", TYPE_ANY, .help = "Ray's own labels; passed over"),
};
static const struct object_type head_type = OBJECT(raw_ray_group, head_fields, "headGroupSpec", "The head pod.");

static const struct field worker_fields[] = {
    FIELD(raw_ray_group, name, "groupName", TYPE_STRING, .required = true, .help = "name of the group"),
    FIELD(raw_ray_group, replicas, "replicas", TYPE_INT, .fallback = "0", .min = 0, .max = INT32_MAX, .help = "workers"),
    FIELD(raw_ray_group, min, "minReplicas", TYPE_INT, .fallback = "0", .min = 0, .max = INT32_MAX, .help = "least workers"),
    FIELD(raw_ray_group, max, "maxReplicas", TYPE_INT, .fallback = "2147483647", .min = 0, .max = INT32_MAX, .help = "most workers"),
    FIELD(raw_ray_group, hosts, "numOfHosts", TYPE_INT, .fallback = "1", .min = 1, .max = 100000, .help = "pods a replica"),
    FIELD(raw_ray_group, suspend, "suspend", TYPE_BOOL, .fallback = "false", .help = "the group has no pods"),
    FIELD(raw_ray_group, start, "rayStartParams", TYPE_TEXTS, .any_kind = true, .help = "of `ray start`"),
    FIELD(raw_ray_group, pods, "template", TYPE_OBJECT, .sub = &pod_template_type, .required = true, .always = true, .help = "of the pods"),
    FIELD(raw_ray_group, strategy, "scaleStrategy", TYPE_ANY, .help = "passed over"),
    FIELD(raw_ray_group, idle, "idleTimeoutSeconds", TYPE_ANY, .help = "the stack's ray-autoscaler.idle applies"),
    FIELD(raw_ray_group, resources, "resources", TYPE_ANY, .help = "Ray's own view; passed over"),
    FIELD(raw_ray_group, labels, "labels", TYPE_ANY, .help = "Ray's own labels; passed over"),
};
static const struct object_type worker_type = OBJECT(raw_ray_group, worker_fields, "workerGroupSpec", "Alike workers.");

struct raw_ray_spec {
    const struct value *at, *autoscaler, *gcs_ft, *annotations, *upgrade, *auth, *network;
    const char *version, *managed_by;
    int64_t autoscaling, suspend;
    struct raw_ray_group *head;
    struct list workers;
};
static const struct field ray_spec_fields[] = {
    FIELD(raw_ray_spec, version, "rayVersion", TYPE_STRING, .help = "of Ray"),
    FIELD(raw_ray_spec, head, "headGroupSpec", TYPE_OBJECT, .sub = &head_type, .required = true, .always = true, .help = "the head"),
    FIELD(raw_ray_spec, workers, "workerGroupSpecs", TYPE_LIST, .sub = &worker_type, .help = "the workers"),
    FIELD(raw_ray_spec, autoscaling, "enableInTreeAutoscaling", TYPE_BOOL, .fallback = "false", .help = "Ray's autoscaler"),
    FIELD(raw_ray_spec, autoscaler, "autoscalerOptions", TYPE_ANY, .help = "the stack's constants apply"),
    FIELD(raw_ray_spec, suspend, "suspend", TYPE_BOOL, .fallback = "false", .help = "no pods"),
    FIELD(raw_ray_spec, gcs_ft, "gcsFaultToleranceOptions", TYPE_ANY, .help = "the head may be lost"),
    FIELD(raw_ray_spec, annotations, "headServiceAnnotations", TYPE_ANY, .help = "passed over"),
    FIELD(raw_ray_spec, managed_by, "managedBy", TYPE_STRING, .help = "controller; passed over"),
    FIELD(raw_ray_spec, upgrade, "upgradeStrategy", TYPE_ANY, .help = "passed over"),
    FIELD(raw_ray_spec, auth, "authOptions", TYPE_ANY, .help = "passed over"),
    FIELD(raw_ray_spec, network, "networkIsolation", TYPE_ANY, .help = "passed over"),
};
static const struct object_type ray_spec_type = OBJECT(raw_ray_spec, ray_spec_fields, "RayCluster spec", "A Ray cluster.");

struct raw_rayjob_spec {
    const struct value *at, *selector, *cpus, *gpus, *resources, *meta, *deletion, *submitter_config;
    const char *entrypoint, *mode, *job_id, *runtime_env, *managed_by;
    int64_t shutdown, ttl, deadline, backoff, suspend, pre_deadline;
    struct raw_ray_spec *cluster;
    struct raw_template *submitter;
};
static const struct field rayjob_spec_fields[] = {
    FIELD(raw_rayjob_spec, entrypoint, "entrypoint", TYPE_STRING, .help = "command"),
    FIELD(raw_rayjob_spec, cluster, "rayClusterSpec", TYPE_OBJECT, .sub = &ray_spec_type, .help = "its Ray cluster"),
    FIELD(raw_rayjob_spec, selector, "clusterSelector", TYPE_ANY, .help = "an existing cluster: not read yet"),
    FIELD(raw_rayjob_spec, mode, "submissionMode", TYPE_STRING, .help = "default K8sJobMode"),
    FIELD(raw_rayjob_spec, shutdown, "shutdownAfterJobFinishes", TYPE_BOOL, .fallback = "false", .help = "deletes the cluster at the end"),
    FIELD(raw_rayjob_spec, ttl, "ttlSecondsAfterFinished", TYPE_INT, .min = 0, .max = INT32_MAX, .help = "seconds until then; default 0"),
    FIELD(raw_rayjob_spec, deadline, "activeDeadlineSeconds", TYPE_INT, .min = 1, .max = INT32_MAX, .help = "seconds"),
    FIELD(raw_rayjob_spec, pre_deadline, "preRunningDeadlineSeconds", TYPE_INT, .min = 1, .max = INT32_MAX, .help = "passed over"),
    FIELD(raw_rayjob_spec, backoff, "backoffLimit", TYPE_INT, .min = 0, .max = INT32_MAX, .help = "new clusters; default 0"),
    FIELD(raw_rayjob_spec, suspend, "suspend", TYPE_BOOL, .fallback = "false", .help = "created suspended"),
    FIELD(raw_rayjob_spec, submitter, "submitterPodTemplate", TYPE_OBJECT, .sub = &pod_template_type, .help = "of the submitter"),
    FIELD(raw_rayjob_spec, submitter_config, "submitterConfig", TYPE_ANY, .help = "the stack's kuberay.submitter-backoff-limit applies"),
    FIELD(raw_rayjob_spec, job_id, "jobId", TYPE_STRING, .help = "passed over"),
    FIELD(raw_rayjob_spec, runtime_env, "runtimeEnvYAML", TYPE_STRING, .help = "passed over"),
    FIELD(raw_rayjob_spec, meta, "metadata", TYPE_ANY, .help = "passed over"),
    FIELD(raw_rayjob_spec, cpus, "entrypointNumCpus", TYPE_ANY, .help = "passed over"),
    FIELD(raw_rayjob_spec, gpus, "entrypointNumGpus", TYPE_ANY, .help = "passed over"),
    FIELD(raw_rayjob_spec, resources, "entrypointResources", TYPE_ANY, .help = "passed over"),
    FIELD(raw_rayjob_spec, deletion, "deletionStrategy", TYPE_ANY, .help = "passed over"),
    FIELD(raw_rayjob_spec, managed_by, "managedBy", TYPE_STRING, .help = "controller; passed over"),
};
static const struct object_type rayjob_spec_type = OBJECT(raw_rayjob_spec, rayjob_spec_fields, "RayJob spec", "A Ray job.");

#define OBJECT_FIELDS(tag, spec_type)                                                                                  \
    FIELD(tag, api, "apiVersion", TYPE_STRING, .required = true, .help = "ray.io/v1"),                                 \
        FIELD(tag, kind, "kind", TYPE_STRING, .required = true, .help = "kind of the object"),                         \
        FIELD(tag, meta, "metadata", TYPE_OBJECT, .sub = &object_meta_type, .required = true, .always = true,          \
              .help = "name, labels"),                                                                                 \
        FIELD(tag, status, "status", TYPE_ANY, .help = "of a live object; passed over"),                               \
        FIELD(tag, spec, "spec", TYPE_OBJECT, .sub = &spec_type, .required = true, .always = true, .help = "spec")

struct raw_raycluster { const struct value *at; const char *api, *kind; struct raw_meta *meta; const struct value *status;
                        struct raw_ray_spec *spec; };
static const struct field raycluster_fields[] = { OBJECT_FIELDS(raw_raycluster, ray_spec_type) };
static const struct object_type raycluster_type = OBJECT(raw_raycluster, raycluster_fields, "RayCluster", "A Ray cluster.");

struct raw_rayjob { const struct value *at; const char *api, *kind; struct raw_meta *meta; const struct value *status;
                    struct raw_rayjob_spec *spec; };
static const struct field rayjob_fields[] = { OBJECT_FIELDS(raw_rayjob, rayjob_spec_type) };
static const struct object_type rayjob_type = OBJECT(raw_rayjob, rayjob_fields, "RayJob", "A Ray job.");

/* ---- building ---- */

static void add_group(struct build *b, struct object_job *job, const struct raw_ray_group *g, enum pod_role role)
{
    struct pod_template *pod = &job->manifest->pods[job->manifest->n_pods++];
    struct role_spec *spec = &job->detail.roles[job->detail.n_roles++];
    bool head = role == ROLE_HEAD;
    build_pod_template(b, g->pods, pod);
    pod->role = role;
    pod->name = head ? "head" : g->name;
    pod->ray_start = build_texts(b, g->start, &pod->n_ray_start);
    pod->replicas = head ? 1 : g->replicas;
    pod->num_of_hosts = head ? 1 : g->hosts;
    spec->role = role;
    spec->name = pod->name;
    spec->restart = RESTART_ALWAYS;
    int64_t pods = head ? 1 : g->suspend == 1 ? 0 : g->replicas * g->hosts;
    if (pods > 1000000) value_error(b->diag, g->at, "more than 1,000,000 workers");
    spec->replicas = (uint32_t)pods;
    spec->min_replicas = head ? 1 : (uint32_t)g->min;
    spec->max_replicas = head ? 1 : (uint32_t)g->max;
    if (!head && (g->min > g->max || g->replicas > g->max))
        value_error(b->diag, g->at, "minReplicas and replicas must not be above maxReplicas %lld", (long long)g->max);
    pod_resources(b, pod, g->at, spec);
    job->detail.groups = pod_groups(b, g->pods);
}

static void add_cluster(struct build *b, struct object_job *job, const struct raw_ray_spec *spec)
{
    add_group(b, job, spec->head, ROLE_HEAD);
    for (size_t i = 0; i < spec->workers.n; i++) {
        if (job->detail.n_roles == MAX_ROLES) {
            value_error(b->diag, place_of(spec->at, "workerGroupSpecs"), "more than %d worker groups", MAX_ROLES - 2);
            break;
        }
        add_group(b, job, &LIST_AT(spec->workers, struct raw_ray_group, i), ROLE_WORKER);
    }
    job->manifest->ray_version = spec->version;
    job->detail.autoscaling = spec->autoscaling == 1;
    job->detail.gcs_ft |= spec->gcs_ft != NULL;
    job->detail.suspend |= spec->suspend == 1;
}

static void ray_start(struct build *b, struct object_job *job, const struct raw_meta *meta)
{
    job->manifest->pods = arena_array(b->arena, MAX_ROLES, struct pod_template);
    job->detail.clean = CLEAN_NONE;
    job->detail.backoff_limit = -1;
    job->detail.active_deadline_ns = job->detail.ttl_ns = TIME_NEVER;
    for (size_t i = 0; i < meta->annotations.n; i++) {
        const struct text *t = &LIST_AT(meta->annotations, struct text, i);
        if (strcmp(t->key, "ray.io/ft-enabled") == 0) job->detail.gcs_ft = strcmp(t->text, "true") == 0;
    }
}

bool read_raycluster(struct build *b, const struct value *v, struct object_job *job)
{
    struct raw_raycluster *raw = object_read(&b->reader, &raycluster_type, v);
    job->detail.kind = KIND_RAYCLUSTER;
    ray_start(b, job, raw->meta);
    add_cluster(b, job, raw->spec);
    return true;
}

static void add_submitter(struct build *b, struct object_job *job, const struct raw_rayjob_spec *spec)
{
    if (spec->mode && strcmp(spec->mode, "K8sJobMode") != 0) return; /* no pod of its own */
    struct role_spec *role = &job->detail.roles[job->detail.n_roles++];
    *role = (struct role_spec){ .role = ROLE_SUBMITTER, .name = role_names[ROLE_SUBMITTER], .replicas = 1,
                                .min_replicas = 1, .max_replicas = 1, .cpu_milli = 500, .mem_bytes = INT64_C(200) << 20,
                                .restart = RESTART_NEVER };
    if (!spec->submitter) return;
    struct pod_template *pod = &job->manifest->pods[job->manifest->n_pods++];
    build_pod_template(b, spec->submitter, pod);
    pod->role = ROLE_SUBMITTER;
    pod->name = role_names[ROLE_SUBMITTER];
    pod_resources(b, pod, spec->submitter->at, role);
}

static void check_mode(struct build *b, const struct raw_rayjob_spec *spec)
{
    static const char *const modes[] = { "K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode" };
    for (size_t i = 0; i < 4 && spec->mode; i++)
        if (strcmp(spec->mode, modes[i]) == 0) return;
    if (!spec->mode) return;
    value_error(b->diag, place_of(spec->at, "submissionMode"), "unknown value \"%s\"", spec->mode);
    diag_help_allowed(b->diag, spec->mode, modes, 4);
}

bool read_rayjob(struct build *b, const struct value *v, struct object_job *job)
{
    struct raw_rayjob *raw = object_read(&b->reader, &rayjob_type, v);
    const struct raw_rayjob_spec *spec = raw->spec;
    struct job_detail *d = &job->detail;
    d->kind = KIND_RAYJOB;
    ray_start(b, job, raw->meta);
    check_mode(b, spec);
    if (!spec->cluster && spec->at) {
        if (spec->selector)
            value_warning(b->diag, spec->selector, "a RayJob on an existing cluster (clusterSelector) is not read yet");
        else
            value_error(b->diag, spec->at, "a RayJob needs \"rayClusterSpec\"");
        return false;
    }
    add_submitter(b, job, spec);
    if (spec->cluster) add_cluster(b, job, spec->cluster);
    d->shutdown_after = spec->shutdown == 1;
    d->ttl_ns = spec->ttl == ABSENT ? TIME_NEVER : spec->ttl * INT64_C(1000000000);
    d->active_deadline_ns = spec->deadline == ABSENT ? TIME_NEVER : spec->deadline * INT64_C(1000000000);
    d->ray_backoff_limit = spec->backoff == ABSENT ? 0 : (uint32_t)spec->backoff;
    d->suspend = spec->suspend == 1;
    job->manifest->entrypoint = spec->entrypoint;
    job->manifest->submission_mode = spec->mode;
    return true;
}
