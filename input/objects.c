/* objects.c - "objects": which files, which kinds, and what becomes of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/objects.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "input/raw.h"

/* Order of reading: flavors before the queues that name them. */
struct object_kind {
    const char *kind, *api; /* the API group before the slash */
    void (*quota)(struct build *, const struct value *, struct quota_builder *);
    bool (*job)(struct build *, const struct value *, struct object_job *);
};
static const struct object_kind kinds[] = {
    { "ResourceFlavor", "kueue.x-k8s.io", read_flavor, NULL },
    { "Cohort", "kueue.x-k8s.io", read_cohort, NULL },
    { "ClusterQueue", "kueue.x-k8s.io", read_cluster_queue, NULL },
    { "LocalQueue", "kueue.x-k8s.io", read_local_queue, NULL },
    { "WorkloadPriorityClass", "kueue.x-k8s.io", read_priority_class, NULL },
    { "PriorityClass", "scheduling.k8s.io", read_priority_class, NULL },
    { "PyTorchJob", "kubeflow.org", NULL, read_pytorchjob },
    { "RayCluster", "ray.io", NULL, read_raycluster },
    { "RayJob", "ray.io", NULL, read_rayjob },
    { "Job", "batch", NULL, read_batch_job },
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

struct object_set {
    const struct value *list;
    struct object_jobs jobs;
};

/* ---- files ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted by bytes, not by locale. */
static bool add_files(struct build *b, struct value *into, const struct value *pattern)
{
    glob_t found = { 0 };
    char *path = path_join(b->arena, b->dir, pattern->text);
    bool ok = glob(path, GLOB_NOSORT, NULL, &found) == 0 && found.gl_pathc > 0;
    if (ok) qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_text);
    if (!ok) value_error(b->diag, pattern, "no file %s", path);
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
        value_append_yaml(b->arena, into, arena_strdup(b->arena, found.gl_pathv[i]), b->diag);
    globfree(&found);
    return ok;
}

bool objects_expand(struct build *b, struct value *root)
{
    struct value *objects = value_member(root, "objects");
    if (!objects) return true;
    size_t errors = diag_errors(b->diag);
    struct value *list = value_copy(b->arena, objects);
    if (objects->kind != VALUE_ARRAY) {
        value_error(b->diag, objects, "an array of file names and objects needed, this is %s", value_kind_name(objects));
        return false;
    }
    while (list->child) value_remove(list->child);
    for (const struct value *c = objects->child; c; c = c->next) {
        if (c->kind == VALUE_STRING)
            add_files(b, list, c);
        else if (c->kind == VALUE_OBJECT)
            value_append(b->arena, list, NULL, value_copy(b->arena, c));
        else
            value_error(b->diag, c, "a file name or an object needed, this is %s", value_kind_name(c));
    }
    value_replace(objects, list);
    return diag_errors(b->diag) == errors;
}

/* ---- kinds ---- */

static const char *text_member(const struct value *v, const char *key)
{
    const struct value *m = value_member(v, key);
    return m && m->kind == VALUE_STRING ? m->text : NULL;
}

static const struct object_kind *kind_of(const struct value *v)
{
    const char *kind = text_member(v, "kind"), *api = text_member(v, "apiVersion");
    if (!kind || !api) return NULL;
    for (size_t i = 0; i < N_KINDS; i++) {
        size_t n = strlen(kinds[i].api);
        if (strcmp(kinds[i].kind, kind) == 0 && strncmp(api, kinds[i].api, n) == 0 && api[n] == '/') return &kinds[i];
    }
    return NULL;
}

/* What is not read goes out of the tree, so that it is not in the resolved scenario either. */
static void drop_unknown(struct build *b, struct value *list)
{
    for (struct value *c = list->child, *next; c; c = next) {
        next = c->next;
        if (kind_of(c)) continue;
        const char *kind = text_member(c, "kind"), *api = text_member(c, "apiVersion");
        if (kind && api && strcmp(kind, "Namespace") == 0 && strcmp(api, "v1") == 0) {
            /* there by itself as soon as something is in it */
        } else if (c->kind != VALUE_OBJECT || !kind || !api) {
            value_error(b->diag, c, "this is no Kubernetes object: apiVersion and kind needed");
        } else {
            value_warning(b->diag, c, "kind %s of %s is not read yet", kind, api);
            diag_help(b->diag, "it is left out; read are ResourceFlavor, Cohort, ClusterQueue, LocalQueue, "
                               "WorkloadPriorityClass, PriorityClass, PyTorchJob, RayCluster, RayJob, Job");
        }
        value_remove(c);
    }
}

/* ---- jobs ---- */

static bool object_gives(const char *key, enum job_kind kind)
{
    static const char *const keys[] = {
        "object", "kind", "replicas", "gpus", "cpu", "memory", "roles", "restartPolicy", "backoffLimit",
        "cleanPodPolicy", "activeDeadlineSeconds", "ttlSecondsAfterFinished", "suspend", "shutdownAfterJobFinishes",
        "gcsFaultTolerance", "gpu", "nodeSelector", "tolerations", "completions", "completionMode", "minParallelism",
        "podReplacementPolicy" };
    if (strcmp(key, "elastic") == 0) return kind != KIND_RAYJOB; /* Ray Train's bounds are in the program, not in the object */
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
}

void object_keys_check(struct build *b, const struct value *v, enum job_kind kind)
{
    for (const struct value *c = v->child; c; c = c->next)
        if (object_gives(c->key, kind) && strcmp(c->key, "object") != 0)
            value_error(b->diag, c, "the object says this; it cannot be said again here");
}

/* The annotations trainyard/KEY as an entry of workload.jobs. */
static struct raw_job *from_annotations(struct build *b, const struct value *object, enum job_kind kind)
{
    static const char start[] = "trainyard/";
    const struct value *list = value_member(value_member(object, "metadata"), "annotations");
    struct value *entry = value_from_text(b->arena, object->file, "{}", b->diag);
    struct diag quiet = { 0 };
    entry->file = object->file;
    entry->line = object->line;
    for (const struct value *c = list && list->kind == VALUE_OBJECT ? list->child : NULL; c; c = c->next) {
        if (!str_starts_with(c->key, start) || !c->text) continue;
        struct value *v = value_from_text(b->arena, c->file, c->text, &quiet);
        v->line = c->line;
        value_append(b->arena, entry, c->key + sizeof start - 1, v);
    }
    diag_free(&quiet);
    object_keys_check(b, entry, kind);
    bool null_is_absent = b->reader.null_is_absent;
    b->reader.null_is_absent = false;
    struct raw_job *raw = object_read(&b->reader, &job_type, entry);
    b->reader.null_is_absent = null_is_absent;
    return raw;
}

static const char *label_of(const struct value *object, const char *key)
{
    return text_member(value_member(value_member(object, "metadata"), "labels"), key);
}

/* generateName gets the number of the job among the objects behind it. */
static const char *name_of(struct build *b, const struct value *meta, size_t number)
{
    const char *name = text_member(meta, "name"), *start = text_member(meta, "generateName");
    return name || !start ? name : arena_printf(b->arena, "%s%zu", start, number);
}

static void name_job(struct build *b, struct object_job *job, const struct value *v, size_t number)
{
    struct manifest *m = job->manifest;
    const struct value *meta = value_member(v, "metadata");
    const char *ns = text_member(meta, "namespace"), *queue = label_of(v, "kueue.x-k8s.io/queue-name");
    const char *class = label_of(v, "kueue.x-k8s.io/priority-class");
    m->api_version = text_member(v, "apiVersion");
    m->kind = text_member(v, "kind");
    m->name = name_of(b, meta, number);
    m->ns = ns ? ns : "default";
    m->value = v;
    bool plain = strcmp(m->ns, "default") == 0;
    job->id = plain || !m->name ? m->name : arena_printf(b->arena, "%s/%s", m->ns, m->name);
    job->queue = plain || !queue ? queue : arena_printf(b->arena, "%s/%s", m->ns, queue);
    if (class) job->priority_class = class;
}

static void read_job(struct build *b, struct object_set *set, const struct object_kind *kind, const struct value *v)
{
    struct object_job job = { .at = v, .manifest = arena_new(b->arena, struct manifest) };
    size_t errors = diag_errors(b->diag);
    if (!kind->job(b, v, &job) || diag_errors(b->diag) > errors) return;
    name_job(b, &job, v, set->jobs.n + 1);
    if (!job.manifest->name) {
        value_error(b->diag, place_of(v, "metadata"), "\"name\" is missing");
        return;
    }
    for (size_t i = 0; i < set->jobs.n; i++)
        if (strcmp(set->jobs.v[i].id, job.id) == 0)
            value_error(b->diag, v, "there are two objects \"%s\" that are jobs", job.id);
    job.raw = from_annotations(b, v, job.detail.kind);
    job.detail.manifest = job.manifest;
    array_push(&set->jobs, job);
}

struct object_set *objects_read(struct build *b)
{
    struct object_set *set = arena_new(b->arena, struct object_set);
    struct value *list = (struct value *)(uintptr_t)b->raw->objects;
    if (!list || list->kind != VALUE_ARRAY) return set;
    drop_unknown(b, list);
    set->list = list;
    b->reader.null_is_absent = true;
    for (const struct value *c = list->child; c; c = c->next)
        if (kind_of(c)->job) read_job(b, set, kind_of(c), c);
    b->reader.null_is_absent = false;
    return set;
}

void objects_quota(struct build *b, struct object_set *set, struct quota_builder *qb)
{
    if (!set->list) return;
    b->reader.null_is_absent = true;
    for (size_t k = 0; k < N_KINDS; k++)
        for (const struct value *c = set->list->child; kinds[k].quota && c; c = c->next)
            if (kind_of(c) == &kinds[k]) kinds[k].quota(b, c, qb);
    b->reader.null_is_absent = false;
}

struct object_jobs *objects_jobs(struct object_set *set)
{
    return &set->jobs;
}
