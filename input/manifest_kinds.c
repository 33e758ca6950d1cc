/* manifest_kinds.c - the spec of each kind of job, for jobs that no manifest gives.
 *
 * What is written is what the readers of the kind take for the same job (object_training.c, object_ray.c, object_job.c).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/units.h"
#include "input/manifest_parts.h"

static int64_t whole_seconds(int64_t ns) { return ns / NS_PER_S + (ns % NS_PER_S != 0); }

static void put_seconds(cJSON *into, const char *key, int64_t ns)
{
    if (ns != TIME_NEVER) put_number(into, key, whole_seconds(ns));
}

/* ---- pods ---- */

static void put_resources(cJSON *container, const struct role_spec *r, uint32_t shares)
{
    if (!shares && !r->cpu_milli && !r->mem_bytes) return;
    cJSON *resources = put_object(container, "resources");
    cJSON *limits = shares ? put_object(resources, "limits") : NULL;
    cJSON *requests = put_object(resources, "requests");
    if (shares) put_quantity(limits, "nvidia.com/gpu", shares);
    if (shares) put_quantity(requests, "nvidia.com/gpu", shares);
    if (r->cpu_milli) put_quantity(requests, "cpu", r->cpu_milli);
    if (r->mem_bytes) put_quantity(requests, "memory", r->mem_bytes > INT64_MAX / 1000 ? INT64_MAX / 1000 * 1000 : r->mem_bytes * 1000);
}

static bool put_places(struct job_writing *j, cJSON *spec)
{
    struct manifest_writer *w = j->w;
    const struct raw_job *raw = j->detail->raw;
    bool impossible = false;
    for (size_t i = 0; i < raw->node_selector.n; i++) {
        const struct text *t = &LIST_AT(raw->node_selector, struct text, i);
        put_text(put_object(spec, "nodeSelector"), t->key, t->text);
    }
    uint64_t named = raw->gpu ? groups_named(&w->s->cluster, raw->gpu) : groups_all(&w->s->cluster);
    cJSON *gpu = selector_of(w, named, &impossible);
    for (const cJSON *c = gpu ? gpu->child : NULL; c; c = c->next) put_text(put_object(spec, "nodeSelector"), c->string, c->valuestring);
    cJSON_Delete(gpu);
    if (raw->tolerations.n) {
        cJSON *list = put_array(spec, "tolerations");
        for (size_t i = 0; i < raw->tolerations.n; i++) {
            struct str text = { 0 };
            struct json_writer out;
            json_write_begin(&out, &text);
            object_write(&out, &toleration_type, &LIST_AT(raw->tolerations, struct raw_toleration, i));
            cJSON_AddItemToArray(list, cJSON_Parse(str_text(&text)));
            str_free(&text);
        }
    }
    if (impossible) {
        diag_error(w->diag, w->s->file, 0, NULL, "job \"%s\": no label tells the nodes called \"%s\" from the others", j->id, raw->gpu);
        diag_help(w->diag, "give \"labels\" to the node groups of the cluster");
    }
    return !impossible;
}

struct pod_look { const char *container, *image, *program; };
static const struct pod_look looks[N_JOB_KINDS] = {
    [KIND_PYTORCHJOB] = { "pytorch", MANIFEST_IMAGE, "trainyard-worker" }, /* the operator asks for this name */
    [KIND_RAYJOB] = { "ray", MANIFEST_RAY_IMAGE, NULL },                   /* KubeRay writes the command */
    [KIND_RAYCLUSTER] = { "ray", MANIFEST_RAY_IMAGE, NULL },
    [KIND_JOB] = { "worker", MANIFEST_IMAGE, "trainyard-worker" },
};

static cJSON *put_container(struct job_writing *j, cJSON *pod_spec, enum job_kind kind)
{
    const struct pod_look *look = &looks[kind];
    cJSON *container = cJSON_CreateObject();
    cJSON_AddItemToArray(put_array(pod_spec, "containers"), container);
    put_text(container, "name", look->container);
    put_text(container, "image", j->w->options->image ? j->w->options->image : look->image);
    if (look->program) cJSON_AddItemToArray(put_array(container, "command"), cJSON_CreateString(look->program));
    return container;
}

/* Puts "template" with one container; the pod's own restart policy only where the kind has no other place for it. */
static bool put_template(struct job_writing *j, cJSON *into, const char *key, enum job_kind kind, uint32_t role, const char *restart)
{
    cJSON *spec = put_object(put_object(into, key), "spec");
    if (restart) put_text(spec, "restartPolicy", restart);
    cJSON *container = put_container(j, spec, kind);
    put_resources(container, &j->detail->roles[role], job_role_shares(j->w->s, j->job, role));
    return put_places(j, spec);
}

/* ---- PyTorchJob ---- */

static bool put_replicas(struct job_writing *j, cJSON *types, enum pod_role type, uint32_t role, uint32_t n)
{
    cJSON *r = put_object(types, role_names[type]);
    put_number(r, "replicas", n);
    put_text(r, "restartPolicy", restart_policy_names[j->detail->roles[role].restart]);
    return put_template(j, r, "template", KIND_PYTORCHJOB, role, NULL);
}

static bool is_elastic(const struct job_writing *j)
{
    bool torchrun = j->detail->kind == KIND_PYTORCHJOB || j->w->s->approach.elastic == ELASTIC_TORCHRUN;
    return j->detail->elastic.max && torchrun;
}

static void put_elastic(cJSON *spec, const struct elastic_spec *e)
{
    cJSON *policy = put_object(spec, "elasticPolicy");
    put_number(policy, "minReplicas", e->min ? e->min : 1);
    put_number(policy, "maxReplicas", e->max);
    put_number(policy, "maxRestarts", e->max_restarts);
    put_text(policy, "rdzvBackend", "c10d");
}

static bool write_pytorchjob(struct job_writing *j)
{
    const struct job_detail *d = j->detail;
    cJSON *policy = put_object(j->spec, "runPolicy");
    bool ok = true, split = d->n_roles == 1 && d->kind != KIND_PYTORCHJOB && !is_elastic(j);
    put_text(policy, "cleanPodPolicy", clean_pod_policy_names[d->clean]);
    if (d->backoff_limit >= 0) put_number(policy, "backoffLimit", d->backoff_limit);
    put_seconds(policy, "activeDeadlineSeconds", d->active_deadline_ns);
    put_seconds(policy, "ttlSecondsAfterFinished", d->ttl_ns);
    if (d->suspend) put_bool(policy, "suspend", true);
    if (is_elastic(j)) put_elastic(j->spec, &d->elastic);
    cJSON *types = put_object(j->spec, "pytorchReplicaSpecs");
    for (uint32_t i = 0; i < d->n_roles; i++) {
        uint32_t n = job_role_replicas(j->w->s, j->job, i);
        if (split) ok &= put_replicas(j, types, ROLE_MASTER, i, 1);
        if (!split || n > 1)
            ok &= put_replicas(j, types, d->roles[i].role == ROLE_MASTER ? ROLE_MASTER : ROLE_WORKER, i, split ? n - 1 : n);
    }
    return ok;
}

/* ---- Ray ---- */

static bool put_head(struct job_writing *j, cJSON *cluster, uint32_t role)
{
    cJSON *head = put_object(cluster, "headGroupSpec");
    put_object(head, "rayStartParams");
    return put_template(j, head, "template", KIND_RAYCLUSTER, role, NULL);
}

/* Ray Train asks for more or fewer workers; the autoscaler must let it. */
static bool grows(const struct job_writing *j)
{
    return j->detail->elastic.max && j->w->s->approach.elastic == ELASTIC_RAY;
}

static bool put_group(struct job_writing *j, cJSON *groups, uint32_t role)
{
    const struct role_spec *r = &j->detail->roles[role];
    cJSON *g = cJSON_CreateObject();
    cJSON_AddItemToArray(groups, g);
    uint32_t n = job_role_replicas(j->w->s, j->job, role), min = n, max = n;
    if (r->max_replicas > r->min_replicas) min = r->min_replicas, max = r->max_replicas;
    if (grows(j)) min = j->detail->elastic.min, max = j->detail->elastic.max;
    if (min > n) min = n; /* KubeRay asks for min <= replicas <= max */
    if (max < n) max = n;
    put_text(g, "groupName", strcmp(r->name, role_names[ROLE_WORKER]) == 0 ? "worker" : r->name);
    put_number(g, "replicas", n);
    put_number(g, "minReplicas", min);
    put_number(g, "maxReplicas", max);
    put_object(g, "rayStartParams");
    return put_template(j, g, "template", KIND_RAYCLUSTER, role, NULL);
}

/* A head for a job that has none: what the approach gives its own. */
static void put_plain_head(struct job_writing *j, cJSON *cluster)
{
    const struct approach *a = &j->w->s->approach;
    struct role_spec head = { .role = ROLE_HEAD, .cpu_milli = a->head_cpu_milli, .mem_bytes = a->head_mem_bytes };
    cJSON *spec = put_object(cluster, "headGroupSpec");
    put_object(spec, "rayStartParams");
    put_resources(put_container(j, put_object(put_object(spec, "template"), "spec"), KIND_RAYJOB), &head, 0);
}

static bool put_cluster(struct job_writing *j, cJSON *cluster)
{
    const struct job_detail *d = j->detail;
    bool ok = true, head = false;
    if (d->autoscaling || grows(j)) put_bool(cluster, "enableInTreeAutoscaling", true);
    if (d->gcs_ft) put_text(j->annotations, "ray.io/ft-enabled", "true");
    for (uint32_t i = 0; i < d->n_roles; i++)
        if (d->roles[i].role == ROLE_HEAD) ok &= put_head(j, cluster, i), head = true;
    if (!head) put_plain_head(j, cluster);
    cJSON *groups = put_array(cluster, "workerGroupSpecs");
    for (uint32_t i = 0; i < d->n_roles; i++)
        if (d->roles[i].role == ROLE_WORKER) ok &= put_group(j, groups, i);
    return ok;
}

static bool write_raycluster(struct job_writing *j)
{
    if (j->detail->suspend) put_bool(j->spec, "suspend", true);
    return put_cluster(j, j->spec);
}

static bool write_rayjob(struct job_writing *j)
{
    const struct job_detail *d = j->detail;
    bool ok = true;
    put_text(j->spec, "entrypoint", "trainyard-worker");
    put_bool(j->spec, "shutdownAfterJobFinishes", d->shutdown_after);
    put_seconds(j->spec, "ttlSecondsAfterFinished", d->shutdown_after ? d->ttl_ns : TIME_NEVER);
    put_seconds(j->spec, "activeDeadlineSeconds", d->active_deadline_ns);
    if (d->ray_backoff_limit) put_number(j->spec, "backoffLimit", d->ray_backoff_limit);
    if (d->suspend) put_bool(j->spec, "suspend", true);
    for (uint32_t i = 0; i < d->n_roles; i++)
        if (d->roles[i].role == ROLE_SUBMITTER) ok &= put_template(j, j->spec, "submitterPodTemplate", KIND_RAYJOB, i, "Never");
    return put_cluster(j, put_object(j->spec, "rayClusterSpec")) && ok;
}

/* ---- batch/v1 Job ---- */

/* A Job's pods restart in place or not at all. */
static const char *pod_restart(enum restart_policy r)
{
    return r == RESTART_NEVER || r == RESTART_EXIT_CODE ? "Never" : "OnFailure";
}

static bool write_batch_job(struct job_writing *j)
{
    const struct job_detail *d = j->detail;
    uint32_t role = d->n_roles - 1, n = job_role_replicas(j->w->s, j->job, role);
    put_number(j->spec, "parallelism", n);
    put_number(j->spec, "completions", d->completions ? d->completions : n);
    if (d->indexed) put_text(j->spec, "completionMode", "Indexed");
    if (d->backoff_limit >= 0) put_number(j->spec, "backoffLimit", d->backoff_limit);
    if (d->replace_failed_only) put_text(j->spec, "podReplacementPolicy", "Failed");
    put_seconds(j->spec, "activeDeadlineSeconds", d->active_deadline_ns);
    put_seconds(j->spec, "ttlSecondsAfterFinished", d->ttl_ns);
    if (d->suspend) put_bool(j->spec, "suspend", true);
    if (d->min_parallelism) {
        struct str text = { 0 };
        str_append_u64(&text, d->min_parallelism);
        put_text(j->annotations, "kueue.x-k8s.io/job-min-parallelism", str_text(&text));
        str_free(&text);
    }
    return put_template(j, j->spec, "template", KIND_JOB, role, pod_restart(d->roles[role].restart));
}

static bool (*const writers[N_JOB_KINDS])(struct job_writing *) = {
    [KIND_PYTORCHJOB] = write_pytorchjob,
    [KIND_RAYJOB] = write_rayjob,
    [KIND_RAYCLUSTER] = write_raycluster,
    [KIND_JOB] = write_batch_job,
};

bool write_job_spec(struct job_writing *j, enum job_kind kind) { return writers[kind](j); }
