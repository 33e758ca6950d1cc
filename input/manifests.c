/* manifests.c - the objects of a scenario: order, names, annotations; the scenario over them; nodes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/manifests.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "base/yaml_write.h"
#include "input/manifest_parts.h"

/* ---- members ---- */

cJSON *put_object(cJSON *into, const char *key)
{
    cJSON *o = cJSON_GetObjectItemCaseSensitive(into, key);
    return o ? o : cJSON_AddObjectToObject(into, key);
}

cJSON *put_array(cJSON *into, const char *key) { return cJSON_AddArrayToObject(into, key); }
void put_bool(cJSON *into, const char *key, bool x) { cJSON_AddBoolToObject(into, key, x); }
void put_number(cJSON *into, const char *key, int64_t x) { cJSON_AddNumberToObject(into, key, (double)x); }

void put_text(cJSON *into, const char *key, const char *text)
{
    cJSON_DeleteItemFromObjectCaseSensitive(into, key);
    cJSON_AddStringToObject(into, key, text);
}

void put_quantity(cJSON *into, const char *key, int64_t milli)
{
    char text[32];
    if (milli % 1000 == 0)
        snprintf(text, sizeof text, "%" PRId64, milli / 1000);
    else
        snprintf(text, sizeof text, "%" PRId64 "m", milli);
    put_text(into, key, text);
}

cJSON *new_object(const char *api_version, const char *kind, const char *name, const char *ns)
{
    cJSON *o = cJSON_CreateObject();
    put_text(o, "apiVersion", api_version);
    put_text(o, "kind", kind);
    cJSON *meta = put_object(o, "metadata");
    put_text(meta, "name", name);
    if (ns) put_text(meta, "namespace", ns);
    return o;
}

cJSON *tree_of(const struct value *v)
{
    struct str text = { 0 };
    struct json_writer w;
    json_write_begin(&w, &text);
    value_write(&w, v);
    cJSON *tree = cJSON_Parse(str_text(&text));
    str_free(&text);
    return tree;
}

static const char *text_at(const cJSON *o, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

struct manifest_item *add_item(struct manifest_writer *w, cJSON *object)
{
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(object, "metadata");
    array_push(w->set, (struct manifest_item){ .object = object, .api_version = text_at(object, "apiVersion"), .kind = text_at(object, "kind"),
                                               .name = text_at(meta, "name"), .ns = text_at(meta, "namespace"), .job = ITEM_NO_JOB });
    return &array_last(w->set);
}

/* ---- nodes ---- */

static struct list labels_as_texts(struct arena *a, const struct labels *labels)
{
    struct text *v = arena_array(a, labels->n, struct text);
    for (size_t i = 0; i < labels->n; i++) v[i] = (struct text){ NULL, labels->v[i].key, labels->v[i].value };
    return (struct list){ v, labels->n };
}

static cJSON *texts_as_object(struct list texts)
{
    cJSON *o = cJSON_CreateObject();
    for (size_t i = 0; i < texts.n; i++) put_text(o, LIST_AT(texts, struct text, i).key, LIST_AT(texts, struct text, i).text);
    return o;
}

cJSON *selector_of(const struct manifest_writer *w, uint64_t groups, bool *impossible)
{
    const struct cluster_spec *c = &w->s->cluster;
    *impossible = false;
    if (groups == groups_all(c)) return NULL;
    for (uint32_t g = 0; g < c->n_groups; g++) {
        if (!(groups >> g & 1)) continue;
        struct text product = { NULL, "nvidia.com/gpu.product", c->groups[g].gpu }, group = { NULL, "trainyard/group", c->groups[g].name };
        struct list tries[] = { labels_as_texts(&w->set->arena, &c->groups[g].labels), { &product, 1 }, { &group, 1 } };
        for (size_t i = 0; i < 3; i++)
            if (tries[i].n && groups_selected(c, tries[i]) == groups) return texts_as_object(tries[i]);
    }
    *impossible = true;
    return NULL;
}

/* Of a node that the scenario does not limit. */
enum { ANY_CPU_MILLI = 1024 * 1000 };
#define ANY_MEMORY_MILLI (INT64_C(4) << 40) * 1000

static cJSON *node_object(const struct node_group *g, uint32_t index)
{
    char name[96];
    snprintf(name, sizeof name, "%.60s-%" PRIu32, g->name, index);
    cJSON *o = new_object("v1", "Node", name, NULL), *meta = put_object(o, "metadata");
    cJSON *labels = put_object(meta, "labels");
    put_text(put_object(meta, "annotations"), "kwok.x-k8s.io/node", "fake");
    put_text(labels, "kubernetes.io/hostname", name);
    put_text(labels, "trainyard/group", g->name);
    if (g->gpu[0]) put_text(labels, "nvidia.com/gpu.product", g->gpu);
    for (size_t i = 0; i < g->labels.n; i++) put_text(labels, g->labels.v[i].key, g->labels.v[i].value);
    cJSON *taints = g->taints.n ? put_array(put_object(o, "spec"), "taints") : NULL;
    for (size_t i = 0; i < g->taints.n; i++) {
        const char *value = g->taints.v[i].value, *effect = strrchr(value, ':');
        cJSON *t = cJSON_CreateObject();
        cJSON_AddItemToArray(taints, t);
        put_text(t, "key", g->taints.v[i].key);
        cJSON *v = cJSON_AddStringToObject(t, "value", value);
        v->valuestring[effect - value] = '\0';
        put_text(t, "effect", effect + 1);
    }
    cJSON *status = put_object(o, "status");
    static const char *const lists[] = { "capacity", "allocatable" };
    for (size_t i = 0; i < 2; i++) {
        cJSON *list = put_object(status, lists[i]);
        put_quantity(list, "cpu", g->cpu_milli == INT64_MAX ? ANY_CPU_MILLI : g->cpu_milli);
        put_quantity(list, "memory", g->mem_bytes > INT64_MAX / 1000 ? ANY_MEMORY_MILLI : g->mem_bytes * 1000);
        put_text(list, "pods", "256");
        if (g->gpus) put_quantity(list, "nvidia.com/gpu", (int64_t)g->gpus * 1000);
    }
    return o;
}

void manifests_nodes(const struct scenario *s, struct str *yaml)
{
    for (uint32_t g = 0; g < s->cluster.n_groups; g++)
        for (uint32_t i = 0; i < s->cluster.groups[g].count; i++) {
            cJSON *node = node_object(&s->cluster.groups[g], i);
            yaml_write(yaml, node);
            cJSON_Delete(node);
        }
}

/* ---- names ---- */

enum { NAME_BYTES = 48 }; /* leaves room for what controllers put behind it, within 63 */

static void label_of_id(const char *id, char out[NAME_BYTES])
{
    size_t n = 0;
    if (!isalpha((unsigned char)id[0])) n = (size_t)snprintf(out, NAME_BYTES, "job-");
    for (; *id && n < NAME_BYTES - 8; id++) {
        bool ok = (*id >= 'a' && *id <= 'z') || (*id >= '0' && *id <= '9');
        out[n++] = ok ? *id : *id >= 'A' && *id <= 'Z' ? (char)(*id - 'A' + 'a') : '-';
    }
    while (n > 1 && out[n - 1] == '-') n--;
    out[n] = '\0';
}

/* The name itself when it is free in its namespace, else with a number behind it. */
static const char *free_name(struct manifest_writer *w, const char *ns, const char *name)
{
    struct arena *a = &w->set->arena;
    for (uint32_t k = 1;; k++) {
        const char *try = k == 1 ? name : arena_printf(a, "%s-%" PRIu32, name, k);
        const char *key = arena_printf(a, "%s/%s", ns, try);
        if (hmap_get_str(&w->names, key, NULL)) continue;
        hmap_put_str(&w->names, key, 1);
        return arena_strdup(a, try);
    }
}

/* ---- annotations ---- */

/* As value_from_text reads it back: JSON on one line, or the text itself where that reads as a string. */
static void annotation_text(struct arena *a, const struct value *v, struct str *out)
{
    struct diag quiet = { 0 };
    bool plain = v->kind == VALUE_STRING && value_from_text(a, "", v->text, &quiet)->kind == VALUE_STRING;
    diag_free(&quiet);
    if (plain) {
        str_append(out, v->text);
        return;
    }
    struct str list = { 0 };
    struct json_writer w;
    json_write_begin(&w, &list);
    json_write_array_inline(&w);
    value_write(&w, v);
    json_write_end(&w);
    size_t from = 1, to = list.n - 1; /* without the brackets */
    while (from < to && list.s[from] == ' ') from++;
    while (to > from && list.s[to - 1] == ' ') to--;
    str_append_n(out, list.s + from, to - from);
    str_free(&list);
}

static bool is_ray(enum job_kind kind) { return kind == KIND_RAYJOB || kind == KIND_RAYCLUSTER; }

/* What the object says itself is left out; times, work and owner are this job's, not its class's. */
static struct raw_job said_by_annotations(const struct job_writing *j, enum job_kind kind)
{
    const struct job_spec *job = j->job;
    struct raw_job r = *j->detail->raw;
    bool steps = r.steps != ABSENT;
    r.id = j->id;
    r.object = NULL;
    r.gpu = NULL;
    r.submit = job->submit_ns;
    r.duration = steps || job->work_ns == TIME_NEVER ? ABSENT : job->work_ns;
    r.limit = job->limit_ns == TIME_NEVER ? ABSENT : job->limit_ns;
    r.team = job->team ? j->w->s->teams[job->team] : NULL;
    r.queue = job->queue && !j->w->set->queues ? j->w->s->queues[job->queue] : NULL;
    r.priority_class = NULL;
    r.priority = job->priority && !j->w->set->queues ? job->priority : ABSENT;
    r.max_failures = j->detail->max_failures == UINT32_MAX ? -1 : j->detail->max_failures ? (int64_t)j->detail->max_failures : ABSENT;
    r.kind = r.count = r.every = r.replicas = r.gpus = r.cpu = r.memory = r.restart = r.clean = r.backoff_limit = r.active_deadline = ABSENT;
    r.ttl = r.suspend = r.shutdown = r.gcs_ft = r.completions = r.completion_mode = r.min_parallelism = r.replacement = ABSENT;
    r.roles = NULL;
    if (!is_ray(kind)) r.elastic = NULL;
    r.node_selector = r.tolerations = (struct list){ 0 };
    return r;
}

static void annotate(struct job_writing *j, enum job_kind kind)
{
    struct raw_job said = said_by_annotations(j, kind);
    struct arena *a = &j->w->set->arena;
    struct str text = { 0 };
    struct json_writer w;
    struct diag quiet = { 0 };
    json_write_begin(&w, &text);
    object_write(&w, &job_type, &said);
    struct json_doc *doc = json_parse("annotations", text.s, text.n, &quiet);
    for (const struct value *c = value_from_json(a, doc)->child; c; c = c->next) {
        struct str line = { 0 };
        annotation_text(a, c, &line);
        put_text(j->annotations, arena_printf(a, "trainyard/%s", c->key), str_text(&line));
        str_free(&line);
    }
    json_free(doc);
    diag_free(&quiet);
    str_free(&text);
}

/* Templates of pods, wherever they stand in the object. */
static void annotate_pods(cJSON *node, const char *duration)
{
    for (cJSON *c = node->child; c; c = c->next) {
        if (c->string && strcmp(c->string, "rayClusterSpec") == 0) continue; /* Ray pods live as long as their cluster */
        bool template = c->string && (strcmp(c->string, "template") == 0 || strcmp(c->string, "submitterPodTemplate") == 0);
        if (template && cJSON_IsObject(c)) put_text(put_object(put_object(c, "metadata"), "annotations"), MANIFEST_DURATION, duration);
        else if (cJSON_IsObject(c) || cJSON_IsArray(c)) annotate_pods(c, duration);
    }
}

static void annotate_duration(const struct job_writing *j)
{
    if (j->job->work_ns == TIME_NEVER || strcmp(text_at(j->object, "kind"), "RayCluster") == 0) return;
    double scale = j->w->options->scale > 0 ? j->w->options->scale : 1;
    struct str text = { 0 };
    str_append_seconds(&text, scale == 1 ? j->job->work_ns : (int64_t)((double)j->job->work_ns * scale + 0.5));
    str_append_char(&text, 's');
    annotate_pods(j->spec, str_text(&text));
    str_free(&text);
}

/* ---- jobs ---- */

static enum job_kind kind_of(const struct scenario *s, const struct job_detail *d)
{
    if (d->kind != KIND_TRAIN) return d->kind;
    switch (s->approach.lifecycle[KIND_TRAIN]) {
    case LIFE_TRAINING_OPERATOR_V1: return KIND_PYTORCHJOB;
    case LIFE_RAY_TRAIN_V2: return KIND_RAYJOB;
    default: return KIND_JOB;
    }
}

static const char *const api_versions[N_JOB_KINDS] = {
    [KIND_PYTORCHJOB] = "kubeflow.org/v1", [KIND_RAYJOB] = "ray.io/v1", [KIND_RAYCLUSTER] = "ray.io/v1", [KIND_JOB] = "batch/v1" };

/* Namespace and name; a queue NAMESPACE/NAME takes its jobs with it. */
static void place_job(struct job_writing *j)
{
    const struct manifest *m = j->detail->manifest;
    const char *queue = j->w->s->queues[j->job->queue], *slash = strchr(queue, '/');
    char label[NAME_BYTES];
    j->ns = m ? m->ns : j->w->set->queues && slash ? arena_strndup(&j->w->set->arena, queue, (size_t)(slash - queue)) : "default";
    label_of_id(j->id, label);
    bool own = m && (strcmp(j->id, m->name) == 0 || str_ends_with(j->id, arena_printf(&j->w->set->arena, "/%s", m->name)));
    j->name = free_name(j->w, j->ns, own ? m->name : label);
}

static void open_object(struct job_writing *j, enum job_kind kind)
{
    const struct manifest *m = j->detail->manifest;
    j->object = m ? tree_of(m->value) : new_object(api_versions[kind], job_kind_names[kind], j->name, j->ns);
    j->meta = put_object(j->object, "metadata");
    cJSON_DeleteItemFromObjectCaseSensitive(j->object, "status");
    cJSON_DeleteItemFromObjectCaseSensitive(j->meta, "generateName");
    put_text(j->meta, "name", j->name);
    put_text(j->meta, "namespace", j->ns);
    j->labels = put_object(j->meta, "labels");
    j->annotations = put_object(j->meta, "annotations");
    j->spec = put_object(j->object, "spec");
    for (cJSON *c = j->annotations->child, *next; c; c = next) {
        next = c->next;
        if (str_starts_with(c->string, "trainyard/")) cJSON_Delete(cJSON_DetachItemViaPointer(j->annotations, c));
    }
}

static void label_job(struct job_writing *j)
{
    if (!j->w->set->queues) return;
    const char *queue = j->w->s->queues[j->job->queue], *slash = strchr(queue, '/');
    const char *class = j->detail->raw->priority_class;
    if (j->job->queue) put_text(j->labels, "kueue.x-k8s.io/queue-name", slash ? slash + 1 : queue);
    if (!class && !j->detail->manifest && j->job->priority) class = priority_name(j->w, j->job->priority);
    if (!class && j->detail->raw->priority != ABSENT) class = priority_name(j->w, j->job->priority);
    if (class) put_text(j->labels, "kueue.x-k8s.io/priority-class", class);
}

static bool whole_gpus(const struct job_writing *j)
{
    for (uint32_t i = 0; i < j->detail->n_roles; i++) {
        uint32_t shares = job_role_shares(j->w->s, j->job, i);
        if (shares % SHARES_PER_GPU == 0) continue;
        diag_error(j->w->diag, j->w->s->file, 0, NULL, "job \"%s\" wants %u.%03u GPUs a pod: Kubernetes gives out whole GPUs", j->id,
                   shares / SHARES_PER_GPU, shares % SHARES_PER_GPU);
        return false;
    }
    return true;
}

static bool shared_ray(const struct job_writing *j, enum job_kind kind)
{
    if (kind != KIND_RAYJOB || j->w->s->approach.ray_cluster != RAY_SHARED) return false;
    diag_error(j->w->diag, j->w->s->file, 0, NULL, "job \"%s\" would run on a shared Ray cluster, which is not written as objects yet", j->id);
    diag_help(j->w->diag, "choose an approach with \"ray_cluster\": \"per-job\"");
    return true;
}

static bool write_job(struct manifest_writer *w, size_t index)
{
    char buf[24];
    struct job_writing j = { .w = w, .job = &w->set->jobs[index], .detail = &w->s->details[w->set->jobs[index].detail] };
    enum job_kind kind = kind_of(w->s, j.detail);
    j.id = arena_strdup(&w->set->arena, job_id(w->s, j.job, buf));
    if (!whole_gpus(&j) || shared_ray(&j, kind)) return false;
    place_job(&j);
    open_object(&j, kind);
    annotate(&j, kind);
    label_job(&j);
    if (!j.labels->child) cJSON_DeleteItemFromObjectCaseSensitive(j.meta, "labels");
    bool ok = j.detail->manifest || write_job_spec(&j, kind);
    annotate_duration(&j);
    struct manifest_item *item = add_item(w, j.object);
    item->at_ns = j.job->submit_ns;
    item->job = (int64_t)index;
    item->shares = job_shares(w->s, j.job);
    return ok;
}

/* ---- all ---- */

enum { MAX_OBJECTS = 1000000, MAX_REFUSED = 20 };

bool manifests_make(const struct scenario *s, const struct manifest_options *o, struct manifest_set *set, struct diag *d)
{
    *set = (struct manifest_set){ .queues = s->approach.admission == ADMIT_KUEUE };
    struct manifest_writer w = { .s = s, .options = o, .set = set, .diag = d };
    size_t refused = 0;
    if (!scenario_workload(s, o->replication, &set->jobs, &set->n_jobs, &set->owned) || set->n_jobs > MAX_OBJECTS) {
        diag_error(d, s->file, 0, NULL, "more than %d jobs, which nobody wants as objects", MAX_OBJECTS);
        refused = 1;
    } else {
        write_quota_objects(&w);
        for (size_t i = 0; i < set->n_jobs && refused < MAX_REFUSED; i++) refused += !write_job(&w, i);
    }
    hmap_free(&w.names);
    if (refused == 0 && diag_errors(d) == 0) return true;
    manifests_free(set);
    return false;
}

void manifests_free(struct manifest_set *set)
{
    for (size_t i = 0; i < set->n; i++) cJSON_Delete(set->v[i].object);
    if (set->owned) free(set->jobs);
    array_free(set);
    arena_free(&set->arena);
    *set = (struct manifest_set){ 0 };
}

void manifests_scenario(const struct scenario *s, const struct manifest_set *set, const char *pattern, struct str *json)
{
    struct raw_scenario raw = *s->raw;
    struct raw_workload workload = *s->raw->workload;
    struct value files = { .kind = VALUE_ARRAY, .n = 1 }, name = { .kind = VALUE_STRING, .text = pattern };
    struct json_writer w;
    files.child = files.last = &name;
    workload.jobs = workload.generate = (struct list){ 0 };
    workload.trace = NULL;
    raw.workload = &workload;
    raw.objects = &files;
    if (set->queues) raw.queues = raw.cohorts = raw.priorities = (struct list){ 0 };
    json_write_begin(&w, json);
    object_write(&w, &scenario_type, &raw);
    json_write_finish(&w);
}
