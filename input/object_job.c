/* object_job.c - batch/v1 Job, with the defaults of Kubernetes 1.35.
 *
 * Defaults: parallelism 1, completions = parallelism (Kubernetes leaves it open when only parallelism is given: any success
 * then ends the job; a gang ends together, which is the same), backoffLimit 6, NonIndexed, podReplacementPolicy
 * TerminatingOrFailed (pkg/apis/batch/v1/defaults.go). Of podFailurePolicy, successPolicy and backoffLimitPerIndex nothing is
 * simulated: they give a warning.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/units.h"
#include "input/raw.h"

static const char *const completion_modes[2] = { "NonIndexed", "Indexed" };
static const char *const replacement_policies[2] = { "TerminatingOrFailed", "Failed" };

struct raw_batch_spec {
    const struct value *at, *selector, *failure_policy, *success_policy, *per_index, *max_failed, *manual;
    const char *managed_by;
    int64_t parallelism, completions, mode, backoff, deadline, ttl, suspend, replacement;
    struct raw_template *pods;
};
static const struct field batch_spec_fields[] = {
    FIELD(raw_batch_spec, parallelism, "parallelism", TYPE_INT, .fallback = "1", .min = 0, .max = 1000000, .help = "pods at a time"),
    FIELD(raw_batch_spec, completions, "completions", TYPE_INT, .min = 0, .max = 1000000, .help = "pods that must succeed"),
    FIELD(raw_batch_spec, mode, "completionMode", TYPE_WORD, WORDS(completion_modes), .fallback = "NonIndexed", .help = "of the pods"),
    FIELD(raw_batch_spec, backoff, "backoffLimit", TYPE_INT, .fallback = "6", .min = 0, .max = INT32_MAX, .help = "failures until it fails"),
    FIELD(raw_batch_spec, deadline, "activeDeadlineSeconds", TYPE_INT, .min = 1, .max = INT64_C(9000000000), .help = "seconds"),
    FIELD(raw_batch_spec, ttl, "ttlSecondsAfterFinished", TYPE_INT, .min = 0, .max = INT32_MAX, .help = "seconds"),
    FIELD(raw_batch_spec, suspend, "suspend", TYPE_BOOL, .fallback = "false", .help = "created suspended"),
    FIELD(raw_batch_spec, replacement, "podReplacementPolicy", TYPE_WORD, WORDS(replacement_policies), .fallback = "TerminatingOrFailed",
          .help = "when a pod is replaced"),
    FIELD(raw_batch_spec, pods, "template", TYPE_OBJECT, .sub = &pod_template_type, .required = true, .always = true, .help = "of the pods"),
    FIELD(raw_batch_spec, selector, "selector", TYPE_ANY, .help = "passed over"),
    FIELD(raw_batch_spec, manual, "manualSelector", TYPE_ANY, .help = "passed over"),
    FIELD(raw_batch_spec, failure_policy, "podFailurePolicy", TYPE_ANY, .help = "not simulated yet"),
    FIELD(raw_batch_spec, success_policy, "successPolicy", TYPE_ANY, .help = "not simulated yet"),
    FIELD(raw_batch_spec, per_index, "backoffLimitPerIndex", TYPE_ANY, .help = "not simulated yet"),
    FIELD(raw_batch_spec, max_failed, "maxFailedIndexes", TYPE_ANY, .help = "not simulated yet"),
    FIELD(raw_batch_spec, managed_by, "managedBy", TYPE_STRING, .help = "controller; passed over"),
};
static const struct object_type batch_spec_type = OBJECT(raw_batch_spec, batch_spec_fields, "Job spec", "A batch job.");

struct raw_batch_job { const struct value *at; const char *api, *kind; struct raw_meta *meta; const struct value *status;
                       struct raw_batch_spec *spec; };
static const struct field batch_job_fields[] = {
    FIELD(raw_batch_job, api, "apiVersion", TYPE_STRING, .required = true, .help = "batch/v1"),
    FIELD(raw_batch_job, kind, "kind", TYPE_STRING, .required = true, .help = "Job"),
    FIELD(raw_batch_job, meta, "metadata", TYPE_OBJECT, .sub = &object_meta_type, .required = true, .always = true, .help = "name, labels"),
    FIELD(raw_batch_job, status, "status", TYPE_ANY, .help = "of a live object; passed over"),
    FIELD(raw_batch_job, spec, "spec", TYPE_OBJECT, .sub = &batch_spec_type, .required = true, .always = true, .help = "spec"),
};
static const struct object_type batch_job_type = OBJECT(raw_batch_job, batch_job_fields, "Job", "A batch job.");

/* ---- building ---- */

static void not_yet(struct build *b, const struct value *v)
{
    if (v) value_warning(b->diag, v, "%s of a Job is read but not simulated yet", v->key);
}

/* The template's own: OnFailure, or Never. */
static enum restart_policy restart_of(struct build *b, const struct raw_template *pods)
{
    const struct value *v = pods->spec->at ? value_member(pods->spec->at, "restartPolicy") : NULL;
    if (v && v->kind == VALUE_STRING && strcmp(v->text, "OnFailure") == 0) return RESTART_ON_FAILURE;
    if (v && v->kind == VALUE_STRING && strcmp(v->text, "Never") == 0) return RESTART_NEVER;
    if (pods->spec->at) {
        value_error(b->diag, v ? v : pods->spec->at, "the pods of a Job need \"restartPolicy\"");
        diag_help(b->diag, "allowed: OnFailure, Never");
    }
    return RESTART_ON_FAILURE;
}

static void add_pods(struct build *b, struct object_job *job, const struct raw_batch_spec *spec)
{
    struct pod_template *pod = &job->manifest->pods[job->manifest->n_pods++];
    struct role_spec *role = &job->detail.roles[job->detail.n_roles++];
    build_pod_template(b, spec->pods, pod);
    pod->role = role->role = ROLE_POD;
    pod->name = role->name = role_names[ROLE_POD];
    pod->replicas = spec->parallelism;
    role->replicas = role->min_replicas = role->max_replicas = (uint32_t)spec->parallelism;
    role->restart = restart_of(b, spec->pods);
    pod_resources(b, pod, spec->pods->at, role);
    job->detail.groups = pod_groups(b, spec->pods);
    job->priority_class = spec->pods->spec->priority_class;
}

static uint32_t min_parallelism(struct build *b, const struct raw_meta *meta)
{
    for (size_t i = 0; i < meta->annotations.n; i++) {
        const struct text *t = &LIST_AT(meta->annotations, struct text, i);
        int64_t n = 0;
        if (strcmp(t->key, "kueue.x-k8s.io/job-min-parallelism") != 0) continue;
        if (!units_parse_int64(t->text, &n) && n >= 1 && n <= 1000000) return (uint32_t)n;
        value_error(b->diag, t->at, "a number of pods needed, this is \"%s\"", t->text);
    }
    return 0;
}

bool read_batch_job(struct build *b, const struct value *v, struct object_job *job)
{
    struct raw_batch_job *raw = object_read(&b->reader, &batch_job_type, v);
    const struct raw_batch_spec *spec = raw->spec;
    struct job_detail *d = &job->detail;
    d->kind = KIND_JOB;
    job->manifest->pods = arena_array(b->arena, 1, struct pod_template);
    add_pods(b, job, spec);
    if (spec->parallelism < 1 || spec->completions == 0)
        value_error(b->diag, place_of(spec->at, spec->completions == 0 ? "completions" : "parallelism"), "a Job without pods is no load");
    d->completions = spec->completions == ABSENT || spec->completions == spec->parallelism ? 0 : (uint32_t)spec->completions;
    d->indexed = spec->mode == 1;
    d->backoff_limit = spec->backoff;
    d->active_deadline_ns = spec->deadline == ABSENT ? TIME_NEVER : spec->deadline * NS_PER_S;
    d->ttl_ns = spec->ttl == ABSENT ? TIME_NEVER : spec->ttl * NS_PER_S;
    d->suspend = spec->suspend == 1;
    d->replace_failed_only = spec->replacement == 1;
    d->clean = CLEAN_NONE;
    d->min_parallelism = min_parallelism(b, raw->meta);
    not_yet(b, spec->failure_policy);
    not_yet(b, spec->success_policy);
    not_yet(b, spec->per_index);
    return true;
}
