/* jobs.c - one entry of "jobs": the table of its keys, and the job class that it makes.
 *
 * Names and defaults of a seed kind are those of its object (training-operator 1.9.3, KubeRay 1.6, batch/v1):
 * cleanPodPolicy None, restartPolicy by kind (kinds.h), RayJob backoffLimit 0, Job backoffLimit 6, the submitter's pod
 * 500m and 200Mi (KubeRay common/job.go), shutdownAfterJobFinishes false. A neutral load cleans up after itself and
 * restarts as often as it must, under either school.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <string.h>

#include "input/raw.h"

static const char *const completion_modes[2] = { "NonIndexed", "Indexed" };
static const char *const replacement_policies[2] = { "TerminatingOrFailed", "Failed" };
static const char *const toleration_ops[2] = { "Equal", "Exists" };

static const struct field role_fields[] = {
    FIELD(raw_role, replicas, "replicas", TYPE_INT, .min = 0, .max = 1000000, .help = "pods; default 1"),
    FIELD(raw_role, min, "minReplicas", TYPE_INT, .min = 0, .max = 1000000,
          .help = "a Ray autoscaler does not go below; default: replicas"),
    FIELD(raw_role, max, "maxReplicas", TYPE_INT, .min = 0, .max = 1000000,
          .help = "a Ray autoscaler does not go beyond; default: replicas"),
    FIELD(raw_role, gpus, "gpus", TYPE_GPUS, .min = 0, .max = MAX_GPUS_PER_NODE * 1000,
          .help = "GPUs a pod; default: the job's, 0 for Head and Submitter"),
    FIELD(raw_role, cpu, "cpu", TYPE_QUANTITY, .help = "CPUs a pod; default: the job's"),
    FIELD(raw_role, memory, "memory", TYPE_BYTES, .help = "memory a pod; default: the job's"),
    FIELD(raw_role, restart, "restartPolicy", TYPE_WORD, WORDS(restart_policy_names), .help = "default: the job's"),
};
static const struct object_type role_type = OBJECT(raw_role, role_fields, "role", "The pods of one role.");

static const struct field roles_fields[] = {
    FIELD(raw_roles, master, "Master", TYPE_OBJECT, .sub = &role_type, .help = "PyTorchJob: rank 0"),
    FIELD(raw_roles, worker, "Worker", TYPE_OBJECT, .sub = &role_type, .help = "the ranks, or the Ray workers"),
    FIELD(raw_roles, head, "Head", TYPE_OBJECT, .sub = &role_type, .help = "the Ray head"),
    FIELD(raw_roles, submitter, "Submitter", TYPE_OBJECT, .sub = &role_type, .help = "the pod that submits a RayJob"),
    FIELD(raw_roles, pod, "Pod", TYPE_OBJECT, .sub = &role_type, .help = "the pods of a Job"),
};
static const struct object_type roles_type = OBJECT(raw_roles, roles_fields, "roles", "A job's pods by role.");

static const struct field step_fields[] = {
    FIELD(raw_step, compute, "compute", TYPE_DURATION, .help = "on the GPUs, of one step"),
    FIELD(raw_step, communication, "communication", TYPE_DURATION,
          .help = "exposed communication of a step; absent with \"gradient\": from the network model"),
    FIELD(raw_step, data, "data", TYPE_DURATION, .fallback = "0", .help = "waiting for data, of one step"),
    FIELD(raw_step, gradient, "gradient", TYPE_BYTES, .help = "bytes all-reduced a step"),
};
static const struct object_type step_type =
    OBJECT(raw_step, step_fields, "step", "The parts of a training step.", .shorthand = "compute");

static const struct field elastic_fields[] = {
    FIELD(raw_elastic, min, "minReplicas", TYPE_INT, .min = 1, .max = 1000000, .help = "default: replicas"),
    FIELD(raw_elastic, max, "maxReplicas", TYPE_INT, .min = 1, .max = 1000000, .help = "default: replicas"),
    FIELD(raw_elastic, max_restarts, "maxRestarts", TYPE_INT, .fallback = "0", .min = 0, .max = INT32_MAX,
          .help = "of the worker group, by torchrun"),
};
static const struct object_type elastic_type =
    OBJECT(raw_elastic, elastic_fields, "elastic", "Bounds between which a job may be resized.");

static const struct field toleration_fields[] = {
    FIELD(raw_toleration, key, "key", TYPE_STRING, .help = "of the taint; absent with Exists: all"),
    FIELD(raw_toleration, op, "operator", TYPE_WORD, WORDS(toleration_ops), .fallback = "Equal", .help = "how to compare"),
    FIELD(raw_toleration, value, "value", TYPE_STRING, .any_kind = true, .help = "of the taint"),
    FIELD(raw_toleration, effect, "effect", TYPE_WORD, WORDS(taint_effect_names), .help = "absent: all"),
    FIELD(raw_toleration, seconds, "tolerationSeconds", TYPE_DURATION, .hidden = true,
          .help = "read for the sake of real manifests; the stack's node.toleration applies"),
};
const struct object_type toleration_type =
    OBJECT(raw_toleration, toleration_fields, "toleration", "A taint that the pods tolerate.");

static const struct field wish_fields[] = {
    FIELD(raw_topology_wish, level, "level", TYPE_WORD, WORDS(topology_level_names), .required = true,
          .help = "within one of which the job wants to lie"),
    FIELD(raw_topology_wish, required, "required", TYPE_BOOL, .fallback = "false",
          .help = "it waits rather than be spread"),
};
static const struct object_type wish_type =
    OBJECT(raw_topology_wish, wish_fields, "topology wish", "How close a job wants its GPUs.", .shorthand = "level");

static const struct field job_fields[] = {
    FIELD(raw_job, id, "id", TYPE_STRING, .any_kind = true, .help = "default: job-N; with \"count\" ID-0, ID-1 ..."),
    FIELD(raw_job, object, "object", TYPE_STRING, .help = "name of a PyTorchJob, RayJob, RayCluster or Job of \"objects\""),
    FIELD(raw_job, kind, "kind", TYPE_WORD, WORDS(job_kind_names), .help = "default train: what work, not how it is run"),
    FIELD(raw_job, submit, "submit", TYPE_DURATION, .fallback = "0", .help = "time of submission"),
    FIELD(raw_job, count, "count", TYPE_INT, .min = 1, .max = 10000000, .help = "so many alike; default 1"),
    FIELD(raw_job, every, "every", TYPE_DURATION, .fallback = "0", .help = "between their submissions"),
    FIELD(raw_job, replicas, "replicas", TYPE_INT, .min = 1, .max = 1000000, .help = "workers; default 1"),
    FIELD(raw_job, gpus, "gpus", TYPE_GPUS, .min = 0, .max = MAX_GPUS_PER_NODE * 1000,
          .help = "GPUs a replica, whole or a fraction of one; default 1"),
    FIELD(raw_job, cpu, "cpu", TYPE_QUANTITY, .help = "CPUs a replica; default 0"),
    FIELD(raw_job, memory, "memory", TYPE_BYTES, .help = "memory a replica; default 0"),
    FIELD(raw_job, roles, "roles", TYPE_OBJECT, .sub = &roles_type, .help = "pods by role, instead of \"replicas\""),
    FIELD(raw_job, duration, "duration", TYPE_DURATION, .help = "work at full speed on its GPUs"),
    FIELD(raw_job, steps, "steps", TYPE_INT, .min = 1, .max = INT64_C(1000000000000), .help = "work in training steps"),
    FIELD(raw_job, step, "step", TYPE_OBJECT, .sub = &step_type, .help = "a step's length, or its parts"),
    FIELD(raw_job, model, "model", TYPE_OBJECT, .sub = &model_type, .help = "instead of \"step\": what is trained"),
    FIELD(raw_job, parallelism, "parallelism", TYPE_OBJECT, .sub = &parallelism_type, .help = "how a model is divided"),
    FIELD(raw_job, batch, "batch", TYPE_OBJECT, .sub = &batch_type, .help = "samples of a step, with \"model\""),
    FIELD(raw_job, learning, "learning", TYPE_OBJECT, .sub = &learning_type, .help = "how loss and learning rate go, for its series"),
    FIELD(raw_job, data, "data", TYPE_OBJECT, .sub = &data_type,
          .help = "what steps read, and by whom: they wait for it as loading takes longer than the rest of the step"),
    FIELD(raw_job, limit, "limit", TYPE_DURATION, .min = 1, .max = INT64_MAX - 1,
          .help = "time limit, after which a batch scheduler kills it"),
    FIELD(raw_job, checkpoint, "checkpoint", TYPE_OBJECT, .sub = &checkpoint_type, .help = "absent: it never saves"),
    FIELD(raw_job, elastic, "elastic", TYPE_OBJECT, .sub = &elastic_type, .help = "absent: its size is fixed"),
    FIELD(raw_job, restart, "restartPolicy", TYPE_WORD, WORDS(restart_policy_names), .help = "default: the kind's"),
    FIELD(raw_job, backoff_limit, "backoffLimit", TYPE_INT, .min = 0, .max = INT32_MAX,
          .help = "failures until the job fails; RayJob: new clusters, default 0; Job: default 6"),
    FIELD(raw_job, completions, "completions", TYPE_INT, .min = 1, .max = 1000000,
          .help = "Job: pods that must succeed; default: replicas, a gang; more: each pod does the work by itself"),
    FIELD(raw_job, min_parallelism, "minParallelism", TYPE_INT, .min = 1, .max = 1000000,
          .help = "Job: Kueue may admit it with so few pods (kueue.x-k8s.io/job-min-parallelism)"),
    FIELD(raw_job, completion_mode, "completionMode", TYPE_WORD, WORDS(completion_modes), .help = "Job; default NonIndexed"),
    FIELD(raw_job, replacement, "podReplacementPolicy", TYPE_WORD, WORDS(replacement_policies),
          .help = "Job: when a pod is replaced; default TerminatingOrFailed"),
    FIELD(raw_job, clean, "cleanPodPolicy", TYPE_WORD, WORDS(clean_pod_policy_names),
          .help = "pods deleted after the end; default None, train: All"),
    FIELD(raw_job, active_deadline, "activeDeadlineSeconds", TYPE_DURATION, .min = 1, .max = INT64_MAX - 1,
          .help = "from start to failure"),
    FIELD(raw_job, ttl, "ttlSecondsAfterFinished", TYPE_DURATION, .help = "from the end to deletion"),
    FIELD(raw_job, suspend, "suspend", TYPE_BOOL, .fallback = "false", .help = "created suspended"),
    FIELD(raw_job, max_failures, "maxFailures", TYPE_INT, .min = -1, .max = INT32_MAX,
          .help = "Ray Train's failure limit, -1: none; default 0, train: -1"),
    FIELD(raw_job, shutdown, "shutdownAfterJobFinishes", TYPE_BOOL, .help = "RayJob; default false, train: true"),
    FIELD(raw_job, gcs_ft, "gcsFaultTolerance", TYPE_BOOL, .fallback = "false", .help = "the Ray head may be lost"),
    FIELD(raw_job, crash_mtbf, "crash_mtbf", TYPE_DURATION,
          .help = "of process crashes a rank, of training time; 0: none; absent: as the failure profile says, else none"),
    FIELD(raw_job, hang_mtbf, "hang_mtbf", TYPE_DURATION, .help = "of hangs a rank; as crash_mtbf"),
    FIELD(raw_job, job_crash_mtbf, "job_crash_mtbf", TYPE_DURATION,
          .help = "of crashes of the job as a whole, of training time, whatever its size; as crash_mtbf"),
    FIELD(raw_job, queue, "queue", TYPE_STRING, .help = "a queue of \"queues\", or a LocalQueue (namespace/name)"),
    FIELD(raw_job, team, "team", TYPE_STRING, .help = "for reports and fair shares"),
    FIELD(raw_job, priority, "priority", TYPE_INT, .min = INT32_MIN, .max = INT32_MAX, .help = "higher goes first; default 0"),
    FIELD(raw_job, priority_class, "priorityClass", TYPE_STRING, .help = "a name of \"priorities\" or of the objects"),
    FIELD(raw_job, after, "after", TYPE_STRINGS, .help = "ids of jobs that must have succeeded; it is cancelled when one ends otherwise"),
    FIELD(raw_job, gpu, "gpu", TYPE_STRING, .help = "GPU type or node group"),
    FIELD(raw_job, node_selector, "nodeSelector", TYPE_TEXTS, .any_kind = true, .help = "labels that its nodes must have"),
    FIELD(raw_job, tolerations, "tolerations", TYPE_LIST, .sub = &toleration_type, .help = "taints that its pods tolerate"),
    FIELD(raw_job, topology, "topology", TYPE_OBJECT, .sub = &wish_type, .help = "how close its GPUs must lie"),
};
const struct object_type job_type = OBJECT(raw_job, job_fields, "job", "What work, not how it is run.");

/* ---- roles ---- */

static struct role_spec role_of(const struct raw_job *raw, const struct raw_role *r, enum pod_role role,
                                const struct role_spec *fallback)
{
    struct role_spec spec = *fallback;
    spec.role = role;
    spec.name = role_names[role];
    if (r && r->replicas != ABSENT) spec.replicas = (uint32_t)r->replicas;
    if (r && r->gpus != ABSENT) spec.gpu_shares = (uint32_t)r->gpus;
    if (r && r->cpu != ABSENT) spec.cpu_milli = r->cpu;
    if (r && r->memory != ABSENT) spec.mem_bytes = r->memory;
    if (r && r->restart != ABSENT)
        spec.restart = (enum restart_policy)r->restart;
    else if (raw->restart != ABSENT)
        spec.restart = (enum restart_policy)raw->restart;
    spec.min_replicas = r && r->min != ABSENT ? (uint32_t)r->min : spec.replicas;
    spec.max_replicas = r && r->max != ABSENT ? (uint32_t)r->max : spec.replicas;
    return spec;
}

static void check_shares(struct build *b, const struct value *at, uint32_t shares)
{
    if (shares > SHARES_PER_GPU && shares % SHARES_PER_GPU != 0)
        value_error(b->diag, place_of(at, "gpus"), "%u.%03u GPUs: more than one GPU must be whole GPUs",
                    shares / SHARES_PER_GPU, shares % SHARES_PER_GPU);
}

static void add_role(struct build *b, struct job_detail *d, const struct raw_job *raw, const struct raw_role *r,
                     enum pod_role role, const struct role_spec *fallback)
{
    struct role_spec spec = role_of(raw, r, role, fallback);
    const struct value *at = r && r->at ? r->at : raw->at;
    if (at) check_shares(b, at, spec.gpu_shares);
    if (spec.min_replicas > spec.replicas || spec.max_replicas < spec.replicas)
        value_error(b->diag, at, "minReplicas <= replicas <= maxReplicas must hold; this is %u, %u, %u",
                    spec.min_replicas, spec.replicas, spec.max_replicas);
    d->roles[d->n_roles++] = spec;
}

/* Which roles a kind has, in the order of job_detail: the main role is the last. */
static const struct { bool master, head, submitter, pod, worker; } kind_roles[N_JOB_KINDS] = {
    [KIND_TRAIN] = { .worker = true },
    [KIND_PYTORCHJOB] = { .master = true, .worker = true },
    [KIND_RAYJOB] = { .head = true, .submitter = true, .worker = true },
    [KIND_RAYCLUSTER] = { .head = true, .worker = true },
    [KIND_JOB] = { .pod = true },
};

static void wrong_role(struct build *b, const struct raw_job *raw, const struct raw_role *r, enum job_kind kind,
                       const char *name)
{
    if (r) value_error(b->diag, r->at ? r->at : raw->at, "a %s has no role %s", job_kind_names[kind], name);
}

static void check_roles(struct build *b, const struct raw_job *raw, enum job_kind kind)
{
    const struct raw_roles *r = raw->roles;
    if (!kind_roles[kind].master) wrong_role(b, raw, r->master, kind, "Master");
    if (!kind_roles[kind].head) wrong_role(b, raw, r->head, kind, "Head");
    if (!kind_roles[kind].submitter) wrong_role(b, raw, r->submitter, kind, "Submitter");
    if (!kind_roles[kind].pod) wrong_role(b, raw, r->pod, kind, "Pod");
    if (!kind_roles[kind].worker) wrong_role(b, raw, r->worker, kind, "Worker");
    if (raw->replicas != ABSENT)
        value_error(b->diag, place_of(raw->at, "replicas"), "give either \"replicas\" or \"roles\"");
}

static void build_roles(struct build *b, struct job_detail *d, const struct raw_job *raw)
{
    static const struct raw_roles none;
    const struct raw_roles *r = raw->roles ? raw->roles : &none;
    const struct approach *a = &b->s->approach;
    struct role_spec plain = { .replicas = raw->replicas == ABSENT ? 1 : (uint32_t)raw->replicas,
                               .gpu_shares = raw->gpus == ABSENT ? SHARES_PER_GPU : (uint32_t)raw->gpus,
                               .cpu_milli = raw->cpu == ABSENT ? 0 : raw->cpu,
                               .mem_bytes = raw->memory == ABSENT ? 0 : raw->memory,
                               .restart = job_kind_table[d->kind].restart };
    struct role_spec head = { .replicas = 1, .cpu_milli = a->head_cpu_milli, .mem_bytes = a->head_mem_bytes,
                              .restart = RESTART_ALWAYS };
    struct role_spec submitter = { .replicas = 1, .cpu_milli = 500, .mem_bytes = INT64_C(200) << 20,
                                   .restart = RESTART_NEVER };
    if (raw->roles) check_roles(b, raw, d->kind);
    if (r->master) add_role(b, d, raw, r->master, ROLE_MASTER, &plain);
    if (kind_roles[d->kind].submitter) add_role(b, d, raw, r->submitter, ROLE_SUBMITTER, &submitter);
    if (kind_roles[d->kind].head) add_role(b, d, raw, r->head, ROLE_HEAD, &head);
    if (kind_roles[d->kind].pod) add_role(b, d, raw, r->pod, ROLE_POD, &plain);
    if (kind_roles[d->kind].worker && (r->worker || !r->master)) add_role(b, d, raw, r->worker, ROLE_WORKER, &plain);
}

/* ---- the rest of a class ---- */

static void build_step(struct build *b, struct job_detail *d, const struct raw_step *raw)
{
    if (!raw) return;
    bool modelled = raw->gradient != ABSENT && raw->communication == ABSENT;
    d->step.compute_ns = raw->compute == ABSENT ? 0 : raw->compute;
    d->step.data_ns = raw->data;
    d->step.communication_ns = modelled ? -1 : raw->communication == ABSENT ? 0 : raw->communication;
    d->step.gradient_bytes = raw->gradient == ABSENT ? 0 : raw->gradient;
    if (d->step.compute_ns + d->step.data_ns == 0 && d->step.communication_ns <= 0)
        value_error(b->diag, raw->at ? raw->at : NULL, "a step must take some time: give \"compute\"");
}

static void build_elastic(struct build *b, struct job_detail *d, const struct raw_elastic *raw)
{
    if (!raw) return;
    uint32_t replicas = d->n_roles ? d->roles[d->n_roles - 1].replicas : 1;
    uint32_t min = raw->min == ABSENT ? replicas : (uint32_t)raw->min;
    uint32_t max = raw->max == ABSENT ? (replicas > min ? replicas : min) : (uint32_t)raw->max;
    if (min > max) value_error(b->diag, raw->at, "minReplicas %u is above maxReplicas %u", min, max);
    d->elastic = (struct elastic_spec){ min, max, (uint32_t)raw->max_restarts };
}

static uint64_t job_groups(struct build *b, const struct raw_job *raw)
{
    const struct cluster_spec *c = &b->s->cluster;
    uint64_t set = groups_tolerated(c, raw->tolerations) & groups_selected(c, raw->node_selector);
    if (!raw->gpu) return set;
    uint64_t named = groups_named(c, raw->gpu);
    if (!named) {
        const char *names[128];
        size_t n = 0;
        for (uint32_t i = 0; i < c->n_groups; i++) {
            names[n++] = c->groups[i].name;
            if (c->groups[i].gpu[0]) names[n++] = c->groups[i].gpu;
        }
        name_error(b->diag, place_of(raw->at, "gpu"), "GPU type or node group", raw->gpu, names, n);
    }
    return set & named;
}

static void build_wish(struct build *b, struct job_detail *d, const struct raw_topology_wish *raw)
{
    if (!raw || raw->level == ABSENT) return;
    const struct topology *t = &b->s->cluster.topology;
    if ((raw->level == 2 && !t->nodes_per_rack) || (raw->level == 3 && !t->racks_per_block))
        value_error(b->diag, raw->at, "the cluster's topology has no %ss", topology_level_names[raw->level]);
    d->topology_level = (uint8_t)raw->level;
    d->topology_required = raw->required != 0;
}

/* ABSENT until build_faults knows what the failure profiles say of jobs. */
static void job_process_faults(struct job_detail *d, const struct raw_job *raw)
{
    d->crash_mtbf_ns = raw->crash_mtbf;
    d->hang_mtbf_ns = raw->hang_mtbf;
    d->job_crash_mtbf_ns = raw->job_crash_mtbf;
}

static void build_policies(struct job_detail *d, const struct raw_job *raw)
{
    bool neutral = d->kind == KIND_TRAIN;
    int64_t backoff = raw->backoff_limit;
    d->clean = raw->clean != ABSENT ? (enum clean_pod_policy)raw->clean : neutral ? CLEAN_ALL : CLEAN_NONE;
    d->backoff_limit = backoff != ABSENT ? backoff : d->kind == KIND_JOB ? 6 : -1;
    d->ray_backoff_limit = d->kind == KIND_RAYJOB && backoff != ABSENT ? (uint32_t)backoff : 0;
    d->active_deadline_ns = raw->active_deadline == ABSENT ? TIME_NEVER : raw->active_deadline;
    d->ttl_ns = raw->ttl == ABSENT ? TIME_NEVER : raw->ttl;
    job_process_faults(d, raw);
    int64_t failures = raw->max_failures != ABSENT ? raw->max_failures : neutral ? -1 : 0;
    d->max_failures = failures < 0 ? UINT32_MAX : (uint32_t)failures;
    d->suspend = raw->suspend != 0;
    d->shutdown_after = raw->shutdown != ABSENT ? raw->shutdown != 0 : neutral;
    d->gcs_ft = raw->gcs_ft != 0;
    d->completions = raw->completions == ABSENT ? 0 : (uint32_t)raw->completions;
    d->min_parallelism = raw->min_parallelism == ABSENT ? 0 : (uint32_t)raw->min_parallelism;
    d->indexed = raw->completion_mode != ABSENT && raw->completion_mode == 1;
    d->replace_failed_only = raw->replacement != ABSENT && raw->replacement == 1;
}

static void check_lifecycle(struct build *b, const struct raw_job *raw, const struct job_detail *d)
{
    bool ray = d->kind == KIND_RAYJOB || d->kind == KIND_RAYCLUSTER;
    if (!ray || b->s->approach.lifecycle[d->kind] != LIFE_TRAINING_OPERATOR_V1) return;
    value_error(b->diag, place_of(raw->at, "kind"), "a %s is Ray's, and lifecycle training-operator-v1 cannot run it",
                job_kind_names[d->kind]);
    diag_help(b->diag, "write kind train, or give the approach { \"all\": \"training-operator-v1\", \"%s\": \"ray-train-v2\" }",
              job_kind_names[d->kind]);
}

uint32_t build_detail(struct build *b, struct raw_job *raw, const struct object_job *object)
{
    struct job_detail d = { 0 };
    d.kind = object ? object->detail.kind : raw->kind == ABSENT ? KIND_TRAIN : (enum job_kind)raw->kind;
    if (object) {
        d = object->detail;
    } else {
        build_roles(b, &d, raw);
        build_policies(&d, raw);
        build_elastic(b, &d, raw->elastic);
        d.groups = job_groups(b, raw);
    }
    if (object) {
        job_process_faults(&d, raw);
        if (raw->max_failures != ABSENT)
            d.max_failures = raw->max_failures < 0 ? UINT32_MAX : (uint32_t)raw->max_failures;
        build_elastic(b, &d, raw->elastic);
    }
    d.raw = raw;
    build_step(b, &d, raw->step);
    build_model(b, &d, raw);
    build_data(b, &d, raw);
    build_learning(b, &d, raw);
    build_checkpoint(b, &d, raw->checkpoint, (uint32_t)b->details.n);
    build_wish(b, &d, raw->topology);
    check_lifecycle(b, raw, &d);
    array_push(&b->details, d);
    return (uint32_t)(b->details.n - 1);
}

bool build_work(struct build *b, struct raw_job *raw, const struct job_detail *d, bool endless_ok, struct job_spec *job)
{
    int64_t step_ns = step_nominal_ns(&d->step);
    job->limit_ns = raw->limit == ABSENT ? TIME_NEVER : raw->limit;
    if (raw->duration != ABSENT && raw->steps != ABSENT) {
        value_error(b->diag, raw->at, "give either \"duration\" or \"steps\"");
        return false;
    }
    if (raw->steps != ABSENT) {
        if (step_ns == 0) {
            if (!raw->step && !raw->model)
                value_error(b->diag, raw->at, "\"steps\" needs \"step\", the length of one, or \"model\" and \"batch\"");
            return false;
        }
        if (__builtin_mul_overflow(raw->steps, step_ns, &job->work_ns) || job->work_ns == TIME_NEVER) {
            value_error(b->diag, place_of(raw->at, "steps"), "steps x step is more than 292 years");
            return false;
        }
        return true;
    }
    if (raw->duration == ABSENT && !endless_ok) {
        value_error(b->diag, raw->at, "how much work? Give \"duration\", or \"steps\" and \"step\"");
        return false;
    }
    job->work_ns = raw->duration == ABSENT ? TIME_NEVER : raw->duration;
    return true;
}

uint32_t build_class(struct build *b, struct raw_job *raw, const char *what)
{
    static const char *const given[] = { "id", "object", "submit", "count", "every", "duration", "steps", "limit", "after" };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        const struct value *v = value_member(raw->at, given[i]);
        if (v) value_error(b->diag, v, "%s gives this, job by job; it has no meaning here", what);
    }
    raw->submit = raw->every = ABSENT; /* not written into the resolved scenario */
    return build_detail(b, raw, NULL);
}

/* ---- owner ---- */

uint16_t name_index(struct build *b, struct name_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->v[i], name) == 0) return (uint16_t)i;
    if (t->n >= NO_INDEX) {
        diag_error(b->diag, b->s->file, 0, NULL, "more than 65,534 names of queues or teams");
        return 0;
    }
    array_push(t, arena_strdup(b->arena, name));
    return (uint16_t)(t->n - 1);
}

uint16_t queue_index(struct build *b, const char *name, const struct value *at)
{
    const struct quota_spec *q = &b->s->quota;
    for (uint16_t i = 1; i <= q->n_local; i++)
        if (strcmp(b->queues.v[i], name) == 0) return i;
    if (q->n_local) name_error(b->diag, at, "queue", name, b->queues.v + 1, q->n_local);
    return name_index(b, &b->queues, name);
}

static int32_t class_priority(struct build *b, const char *name, const struct value *at, bool must)
{
    const struct quota_spec *q = &b->s->quota;
    const char *names[40];
    size_t n = 0;
    for (uint32_t i = 0; i < q->n_priorities; i++) {
        if (strcmp(q->priorities[i].name, name) == 0) return q->priorities[i].value;
        if (n < 40) names[n++] = q->priorities[i].name;
    }
    if (must)
        name_error(b->diag, at, "priority class", name, names, n);
    else
        value_warning(b->diag, at, "priority class \"%s\" is not among the objects: priority 0", name);
    return 0;
}

static int32_t priority_of(struct build *b, const struct raw_job *raw, const struct object_job *object)
{
    if (raw->priority_class && raw->priority != ABSENT)
        value_error(b->diag, place_of(raw->at, "priority"), "give either \"priority\" or \"priorityClass\"");
    if (raw->priority_class) return class_priority(b, raw->priority_class, place_of(raw->at, "priorityClass"), true);
    if (raw->priority != ABSENT) return (int32_t)raw->priority;
    return object && object->priority_class ? class_priority(b, object->priority_class, object->at, false) : 0;
}

void build_owner(struct build *b, const struct raw_job *raw, const struct object_job *object, struct job_spec *job)
{
    if (raw->queue)
        job->queue = queue_index(b, raw->queue, place_of(raw->at, "queue"));
    else
        job->queue = object && object->queue ? queue_index(b, object->queue, object->at) : 0;
    job->team = raw->team ? name_index(b, &b->teams, raw->team) : 0;
    job->priority = priority_of(b, raw, object);
}
