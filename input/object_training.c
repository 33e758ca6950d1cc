/* object_training.c - PyTorchJob (kubeflow.org/v1), with the defaults of training-operator 1.9.3.
 *
 * Defaults: replicas 1, restartPolicy OnFailure, cleanPodPolicy None, elastic bounds = the worker replicas
 * (api/kubeflow.org/v1/pytorch_defaults.go).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "input/raw.h"

struct raw_replica { const struct value *at; int64_t replicas, restart; struct raw_template *pods; };
static const struct field replica_fields[] = {
    FIELD(raw_replica, replicas, "replicas", TYPE_INT, .min = 0, .max = 1000000, .help = "pods; default 1"),
    FIELD(raw_replica, restart, "restartPolicy", TYPE_WORD, WORDS(restart_policy_names), .help = "default OnFailure"),
    FIELD(raw_replica, pods, "template", TYPE_OBJECT, .sub = &pod_template_type, .required = true, .always = true, .help = "of the pods"),
};
static const struct object_type replica_type = OBJECT(raw_replica, replica_fields, "replicaSpec", "Pods of a role.");

struct raw_replicas { const struct value *at; struct raw_replica *master, *worker; };
static const struct field replicas_fields[] = {
    FIELD(raw_replicas, master, "Master", TYPE_OBJECT, .sub = &replica_type, .help = "rank 0"),
    FIELD(raw_replicas, worker, "Worker", TYPE_OBJECT, .sub = &replica_type, .help = "the other ranks"),
};
static const struct object_type replicas_type = OBJECT(raw_replicas, replicas_fields, "pytorchReplicaSpecs", "Pods by role.");

struct raw_conf { const struct value *at; const char *key, *value; };
static const struct field conf_fields[] = {
    FIELD(raw_conf, key, "key", TYPE_STRING, .help = "key"),
    FIELD(raw_conf, value, "value", TYPE_STRING, .help = "value"),
};
static const struct object_type conf_type = OBJECT(raw_conf, conf_fields, "rdzvConf", "Of the rendezvous.");

struct raw_elastic_policy {
    const struct value *at;
    const char *nproc, *backend, *host, *id;
    int64_t min, max, max_restarts, port, standalone;
    struct list conf;
    const struct value *metrics;
};
static const struct field elastic_policy_fields[] = {
    FIELD(raw_elastic_policy, min, "minReplicas", TYPE_INT, .min = 1, .max = 1000000, .help = "default: replicas"),
    FIELD(raw_elastic_policy, max, "maxReplicas", TYPE_INT, .min = 1, .max = 1000000, .help = "default: replicas"),
    FIELD(raw_elastic_policy, max_restarts, "maxRestarts", TYPE_INT, .min = 0, .max = INT32_MAX, .help = "by torchrun; default 0"),
    FIELD(raw_elastic_policy, nproc, "nProcPerNode", TYPE_STRING, .any_kind = true, .help = "processes a pod"),
    FIELD(raw_elastic_policy, backend, "rdzvBackend", TYPE_STRING, .help = "c10d, etcd ..."),
    FIELD(raw_elastic_policy, host, "rdzvHost", TYPE_STRING, .help = "host of the rendezvous"),
    FIELD(raw_elastic_policy, port, "rdzvPort", TYPE_INT, .min = 1, .max = 65535, .help = "port of the rendezvous"),
    FIELD(raw_elastic_policy, id, "rdzvId", TYPE_STRING, .help = "id of the rendezvous"),
    FIELD(raw_elastic_policy, conf, "rdzvConf", TYPE_LIST, .sub = &conf_type, .help = "configuration of the rendezvous"),
    FIELD(raw_elastic_policy, standalone, "standalone", TYPE_BOOL, .help = "one pod alone"),
    FIELD(raw_elastic_policy, metrics, "metrics", TYPE_ANY, .help = "of a HorizontalPodAutoscaler, which is not simulated"),
};
static const struct object_type elastic_policy_type =
    OBJECT(raw_elastic_policy, elastic_policy_fields, "elasticPolicy", "torchrun's bounds.");

struct raw_run_policy {
    const struct value *at, *scheduling;
    int64_t clean, ttl, deadline, backoff, suspend;
    const char *managed_by;
};
static const struct field run_policy_fields[] = {
    FIELD(raw_run_policy, clean, "cleanPodPolicy", TYPE_WORD, WORDS(clean_pod_policy_names), .help = "default None"),
    FIELD(raw_run_policy, ttl, "ttlSecondsAfterFinished", TYPE_INT, .min = 0, .max = INT32_MAX, .help = "seconds"),
    FIELD(raw_run_policy, deadline, "activeDeadlineSeconds", TYPE_INT, .min = 0, .max = INT64_C(9000000000), .help = "seconds"),
    FIELD(raw_run_policy, backoff, "backoffLimit", TYPE_INT, .min = 0, .max = INT32_MAX, .help = "restarts until it fails"),
    FIELD(raw_run_policy, scheduling, "schedulingPolicy", TYPE_ANY, .help = "of gangs: the approach decides"),
    FIELD(raw_run_policy, suspend, "suspend", TYPE_BOOL, .fallback = "false", .help = "created suspended"),
    FIELD(raw_run_policy, managed_by, "managedBy", TYPE_STRING, .help = "controller; passed over"),
};
static const struct object_type run_policy_type = OBJECT(raw_run_policy, run_policy_fields, "runPolicy", "Limits and clean-up.");

struct raw_pytorch_spec {
    const struct value *at;
    const char *nproc;
    struct raw_elastic_policy *elastic;
    struct raw_run_policy *policy;
    struct raw_replicas *replicas;
};
static const struct field pytorch_spec_fields[] = {
    FIELD(raw_pytorch_spec, replicas, "pytorchReplicaSpecs", TYPE_OBJECT, .sub = &replicas_type, .required = true,
          .always = true, .help = "pods by role"),
    FIELD(raw_pytorch_spec, nproc, "nprocPerNode", TYPE_STRING, .any_kind = true, .help = "processes a pod; default auto"),
    FIELD(raw_pytorch_spec, elastic, "elasticPolicy", TYPE_OBJECT, .sub = &elastic_policy_type, .help = "torchrun's bounds"),
    FIELD(raw_pytorch_spec, policy, "runPolicy", TYPE_OBJECT, .sub = &run_policy_type, .always = true, .help = "limits and clean-up"),
};
static const struct object_type pytorch_spec_type = OBJECT(raw_pytorch_spec, pytorch_spec_fields, "spec", "Of a PyTorchJob.");

struct raw_pytorchjob { const struct value *at; const char *api, *kind; struct raw_meta *meta; const struct value *status;
                        struct raw_pytorch_spec *spec; };
static const struct field pytorchjob_fields[] = {
    FIELD(raw_pytorchjob, api, "apiVersion", TYPE_STRING, .required = true, .help = "kubeflow.org/v1"),
    FIELD(raw_pytorchjob, kind, "kind", TYPE_STRING, .required = true, .help = "PyTorchJob"),
    FIELD(raw_pytorchjob, meta, "metadata", TYPE_OBJECT, .sub = &object_meta_type, .required = true, .always = true, .help = "name, labels"),
    FIELD(raw_pytorchjob, status, "status", TYPE_ANY, .help = "of a live object; passed over"),
    FIELD(raw_pytorchjob, spec, "spec", TYPE_OBJECT, .sub = &pytorch_spec_type, .required = true, .always = true, .help = "spec"),
};
static const struct object_type pytorchjob_type = OBJECT(raw_pytorchjob, pytorchjob_fields, "PyTorchJob", "A training job.");

/* ---- building ---- */

static void add_replicas(struct build *b, struct object_job *job, const struct raw_replica *r, enum pod_role role)
{
    if (!r) return;
    struct pod_template *pod = &job->manifest->pods[job->manifest->n_pods++];
    struct role_spec *spec = &job->detail.roles[job->detail.n_roles++];
    build_pod_template(b, r->pods, pod);
    pod->role = role;
    pod->name = role_names[role];
    pod->replicas = r->replicas == ABSENT ? -1 : r->replicas;
    pod->restart = r->restart == ABSENT ? NULL : restart_policy_names[r->restart];
    spec->role = role;
    spec->name = role_names[role];
    spec->replicas = r->replicas == ABSENT ? 1 : (uint32_t)r->replicas;
    spec->min_replicas = spec->max_replicas = spec->replicas;
    spec->restart = r->restart == ABSENT ? RESTART_ON_FAILURE : (enum restart_policy)r->restart;
    pod_resources(b, pod, r->at, spec);
    if (job->detail.n_roles == 1) job->detail.groups = 0;
    job->detail.groups |= pod_groups(b, r->pods); /* each role takes of these what it selects */
    if (!job->priority_class) job->priority_class = r->pods->spec->priority_class;
}

static void add_elastic(struct build *b, struct object_job *job, const struct raw_elastic_policy *e)
{
    struct manifest *m = job->manifest;
    m->elastic_min = m->elastic_max = m->elastic_restarts = m->rdzv_port = -1;
    if (!e) return;
    uint32_t replicas = job->detail.n_roles ? job->detail.roles[job->detail.n_roles - 1].replicas : 1;
    m->elastic = true;
    m->elastic_nproc = e->nproc;
    m->rdzv_backend = e->backend;
    m->rdzv_host = e->host;
    m->rdzv_id = e->id;
    m->standalone = e->standalone == 1;
    if (e->port != ABSENT) m->rdzv_port = e->port;
    if (e->min != ABSENT) m->elastic_min = e->min;
    if (e->max != ABSENT) m->elastic_max = e->max;
    if (e->max_restarts != ABSENT) m->elastic_restarts = e->max_restarts;
    m->rdzv_conf = arena_array(b->arena, e->conf.n, struct manifest_text);
    for (size_t i = 0; i < e->conf.n; i++) {
        const struct raw_conf *c = &LIST_AT(e->conf, struct raw_conf, i);
        m->rdzv_conf[m->n_rdzv_conf++] = (struct manifest_text){ c->key, c->value };
    }
    uint32_t min = e->min == ABSENT ? replicas : (uint32_t)e->min, max = e->max == ABSENT ? replicas : (uint32_t)e->max;
    if (min > max) value_error(b->diag, e->at, "minReplicas %u is above maxReplicas %u", min, max);
    job->detail.elastic = (struct elastic_spec){ min, max, e->max_restarts == ABSENT ? 0 : (uint32_t)e->max_restarts };
}

static void add_policy(struct job_detail *d, const struct raw_run_policy *p)
{
    d->clean = p->clean == ABSENT ? CLEAN_NONE : (enum clean_pod_policy)p->clean;
    d->backoff_limit = p->backoff == ABSENT ? -1 : p->backoff;
    d->ttl_ns = p->ttl == ABSENT ? TIME_NEVER : p->ttl * INT64_C(1000000000);
    d->active_deadline_ns = p->deadline == ABSENT ? TIME_NEVER : p->deadline * INT64_C(1000000000);
    d->suspend = p->suspend == 1;
}

bool read_pytorchjob(struct build *b, const struct value *v, struct object_job *job)
{
    struct raw_pytorchjob *raw = object_read(&b->reader, &pytorchjob_type, v);
    const struct raw_pytorch_spec *spec = raw->spec;
    job->detail.kind = KIND_PYTORCHJOB;
    job->manifest->pods = arena_array(b->arena, 2, struct pod_template);
    job->manifest->nproc = spec->nproc;
    add_replicas(b, job, spec->replicas->master, ROLE_MASTER);
    add_replicas(b, job, spec->replicas->worker, ROLE_WORKER);
    if (job->detail.n_roles == 0 && spec->replicas->at)
        value_error(b->diag, spec->replicas->at, "a PyTorchJob needs a Master or Workers");
    if (spec->replicas->master && job->detail.roles[0].replicas != 1)
        value_error(b->diag, place_of(spec->replicas->master->at, "replicas"), "there is exactly one Master");
    add_elastic(b, job, spec->elastic);
    add_policy(&job->detail, spec->policy);
    return job->detail.n_roles > 0;
}
