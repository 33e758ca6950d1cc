/* workload.c - "workload": the jobs written down, those of objects, the trace, the generated classes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "input/raw.h"

static const struct field workload_fields[] = {
    FIELD(raw_workload, jobs, "jobs", TYPE_LIST, .sub = &job_type, .help = "jobs written down one by one, or many alike"),
    FIELD(raw_workload, trace, "trace", TYPE_OBJECT, .sub = &trace_type, .help = "jobs of another system"),
    FIELD(raw_workload, generate, "generate", TYPE_LIST, .sub = &generate_type, .help = "jobs drawn from distributions"),
    FIELD(raw_workload, week_offset, "week_offset", TYPE_DURATION,
          .help = "time of the week at time 0, from Monday 00:00; default: the trace's, else 0"),
};
const struct object_type workload_type = OBJECT(raw_workload, workload_fields, "workload", "What is to be done.");

/* ---- jobs ---- */

enum { MAX_JOBS = 100000000 };
struct after_refs { struct after_ref *v; size_t n, cap; };

static const char *job_name(struct build *b, const struct raw_job *raw, int64_t count, int64_t k)
{
    return count == 1 ? raw->id : arena_printf(b->arena, "%s-%" PRId64, raw->id, k);
}

static void add_jobs(struct build *b, struct raw_job *raw, const struct job_spec *one, struct after_refs *after)
{
    int64_t count = raw->count == ABSENT ? 1 : raw->count, span;
    if (raw->every > 0 && (__builtin_mul_overflow(count - 1, raw->every, &span) ||
                           __builtin_add_overflow(span, raw->submit, &span))) {
        value_error(b->diag, place_of(raw->at, "every"), "count x every is more than 292 years");
        return;
    }
    if ((int64_t)b->jobs.n + count > MAX_JOBS) {
        value_error(b->diag, raw->at, "more than %d jobs", MAX_JOBS);
        return;
    }
    array_reserve(&b->jobs, b->jobs.n + (size_t)count);
    for (int64_t k = 0; k < count; k++) {
        struct job_spec job = *one;
        job.submit_ns = raw->submit + k * raw->every;
        if (!job_set_id(b, &job, job_name(b, raw, count, k), place_of(raw->at, "id"))) return;
        array_push(&b->jobs, job);
    }
    if (raw->after.n) array_push(after, (struct after_ref){ raw, one->detail });
}

static void add_entry(struct build *b, struct raw_job *raw, struct object_job *object, struct after_refs *after)
{
    struct job_spec one = { .gpu_shares = UINT32_MAX };
    one.detail = build_detail(b, raw, object);
    const struct job_detail *d = &b->details.v[one.detail];
    build_owner(b, raw, object, &one);
    if (build_work(b, raw, d, object || d->kind == KIND_RAYCLUSTER, &one)) add_jobs(b, raw, &one, after);
}

static struct object_job *find_object(struct build *b, struct object_jobs *objects, const struct raw_job *raw)
{
    const char *names[40];
    size_t n = 0;
    for (size_t i = 0; i < objects->n; i++) {
        struct object_job *job = &objects->v[i];
        if (strcmp(job->id, raw->object) == 0 || strcmp(job->manifest->name, raw->object) == 0) return job;
        if (n < 40) names[n++] = job->id;
    }
    name_error(b->diag, place_of(raw->at, "object"), "object that is a job", raw->object, names, n);
    return NULL;
}

static void add_explicit(struct build *b, struct raw_job *raw, size_t number, struct object_jobs *objects,
                         struct after_refs *after)
{
    struct object_job *object = raw->object ? find_object(b, objects, raw) : NULL;
    if (raw->object && !object) return;
    if (!raw->id) raw->id = object ? object->id : arena_printf(b->arena, "job-%zu", number + 1);
    if (object) {
        object_keys_check(b, raw->at, object->detail.kind);
        raw->suspend = raw->gcs_ft = ABSENT; /* not written into the resolved scenario */
        object->used = true;
    }
    add_entry(b, raw, object, after);
}

/* Objects that no entry has taken are jobs by themselves. */
static void add_objects(struct build *b, struct object_jobs *objects, struct after_refs *after)
{
    for (size_t i = 0; i < objects->n; i++) {
        struct object_job *job = &objects->v[i];
        if (job->used) continue;
        if (!job->raw->id) job->raw->id = job->id;
        add_entry(b, job->raw, job, after);
    }
}

static void keep_manifests(struct build *b, struct object_jobs *objects)
{
    struct scenario *s = b->s;
    s->manifests = arena_array(b->arena, objects->n, struct manifest *);
    for (size_t i = 0; i < objects->n; i++) s->manifests[s->n_manifests++] = objects->v[i].manifest;
    array_free(objects);
}

/* ---- all ---- */

/* Index i of the queues is local queue i - 1; what jobs name besides comes after. */
static void name_queues(struct build *b)
{
    const struct quota_spec *q = &b->s->quota;
    array_push(&b->teams, "");
    array_push(&b->queues, "");
    for (uint32_t i = 0; i < q->n_local; i++) {
        const struct local_queue_spec *l = &q->local[i];
        bool plain = strcmp(l->ns, "default") == 0;
        array_push(&b->queues, plain ? l->name : arena_printf(b->arena, "%s/%s", l->ns, l->name));
    }
}

static void keep_names(struct build *b, struct name_table *t, const char ***names, uint32_t *n)
{
    *names = arena_array(b->arena, t->n, const char *);
    memcpy(*names, t->v, t->n * sizeof **names);
    *n = (uint32_t)t->n;
    array_free(t);
}

void build_workload(struct build *b, struct object_set *objects)
{
    struct raw_workload *raw = b->raw->workload;
    struct after_refs after = { 0 };
    struct object_jobs *from_objects = objects_jobs(objects);
    name_queues(b);
    for (size_t i = 0; i < raw->jobs.n; i++)
        add_explicit(b, &LIST_AT(raw->jobs, struct raw_job, i), i, from_objects, &after);
    add_objects(b, from_objects, &after);
    keep_manifests(b, from_objects);
    build_trace(b, raw->trace);
    build_generated(b, raw);
    if (after.n && b->s->n_generated)
        value_error(b->diag, place_of(after.v[0].raw->at, "after"), "\"after\" and \"generate\" do not go together yet");
    jobs_into_scenario(b, after.v, after.n);
    array_free(&after);
    keep_names(b, &b->teams, &b->s->teams, &b->s->n_teams);
    keep_names(b, &b->queues, &b->s->queues, &b->s->n_queues);
    b->s->week_offset_ns = raw->week_offset == ABSENT ? 0 : raw->week_offset;
}
