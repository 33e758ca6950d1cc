/* import.c - see import.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/kubernetes/import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/hmap.h"
#include "base/json_write.h"
#include "base/units.h"
#include "input/scenario.h"
#include "real/kubernetes/import_keep.h"
#include "real/kubernetes/observe.h"

struct node_kind { char *key; cJSON *group; uint32_t count; };

struct importing {
    struct k8s_client *client;
    struct diag *d;
    cJSON *objects, *nodes_seen; /* nodes_seen: what is kept of each node */
    struct { struct node_kind *v; size_t n, cap; } kinds;
    struct hmap selected;        /* keys of labels that something selects by */
    struct hmap owners;          /* UIDs of jobs and of what they own */
    int64_t oldest_s;
    uint64_t jobs, endless, strays;
    int64_t stray_shares;
    const struct k8s_resource *reading;
};

/* ---- JSON ---- */

static void keep(cJSON *to, const cJSON *from, const char *key)
{
    const cJSON *v = k8s_in(from, key);
    if (v) cJSON_AddItemToObject(to, key, cJSON_Duplicate(v, true));
}

static void drop(cJSON *o, const char *key) { cJSON_DeleteItemFromObjectCaseSensitive(o, key); }

/* "2026-11-30T10:00:00Z" as seconds since 1970; -1: it is none. */
static int64_t seconds_of(const char *text)
{
    struct tm t = { 0 };
    if (sscanf(text, "%d-%d-%dT%d:%d:%d", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec) != 6) return -1;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    return (int64_t)timegm(&t);
}

/* ---- what selects nodes ---- */

static void note_selectors(struct importing *m, const cJSON *labels)
{
    const cJSON *l;
    cJSON_ArrayForEach(l, labels) hmap_put_str(&m->selected, l->string, 1);
}

/* Wherever in a job they stand. */
static void note_node_selectors(struct importing *m, const cJSON *node)
{
    for (const cJSON *c = node ? node->child : NULL; c; c = c->next) {
        if (c->string && strcmp(c->string, "nodeSelector") == 0) note_selectors(m, c);
        else note_node_selectors(m, c);
    }
}

/* ---- objects ---- */

static cJSON *kept_object(const struct importing *m, const cJSON *item)
{
    static const char *const labels[] = { "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class" };
    const cJSON *meta = k8s_in(item, "metadata"), *a;
    cJSON *o = cJSON_CreateObject(), *to;
    cJSON_AddStringToObject(o, "apiVersion", m->reading->api_version);
    cJSON_AddStringToObject(o, "kind", m->reading->kind);
    to = cJSON_AddObjectToObject(o, "metadata");
    keep(to, meta, "name");
    keep(to, meta, "namespace");
    cJSON *l = cJSON_AddObjectToObject(to, "labels"), *n = cJSON_AddObjectToObject(to, "annotations");
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) keep(l, k8s_in(meta, "labels"), labels[i]);
    cJSON_ArrayForEach(a, k8s_in(meta, "annotations"))
        if (str_starts_with(a->string, "trainyard/") || strcmp(a->string, "kueue.x-k8s.io/job-min-parallelism") == 0 ||
            strcmp(a->string, "ray.io/ft-enabled") == 0)
            cJSON_AddItemToObject(n, a->string, cJSON_Duplicate(a, true));
    if (k8s_in(item, "spec")) cJSON_AddItemToObject(o, "spec", k8s_import_kept(m->reading->kind, k8s_in(item, "spec")));
    if (cJSON_IsNumber(k8s_in(item, "value"))) keep(o, item, "value");
    return o;
}

static bool on_queue_object(const cJSON *item, void *arg)
{
    struct importing *m = arg;
    if (!item) return true; /* a list that began anew: objects twice are found when the scenario is read */
    cJSON *o = kept_object(m, item);
    drop(cJSON_GetObjectItemCaseSensitive(o, "metadata"), "annotations");
    note_selectors(m, k8s_in(k8s_in(o, "spec"), "nodeLabels"));
    cJSON_AddItemToArray(m->objects, o);
    return true;
}

static int64_t ended_at(const cJSON *status)
{
    static const char *const keys[] = { "completionTime", "endTime" };
    const cJSON *c;
    for (size_t i = 0; i < 2; i++)
        if (k8s_text(status, keys[i])[0]) return seconds_of(k8s_text(status, keys[i]));
    cJSON_ArrayForEach(c, k8s_in(status, "conditions"))
        if (strcmp(k8s_text(c, "type"), "Failed") == 0 && strcmp(k8s_text(c, "status"), "True") == 0) return seconds_of(k8s_text(c, "lastTransitionTime"));
    return -1;
}

static void annotate(struct importing *m, cJSON *o, const cJSON *item)
{
    cJSON *notes = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(o, "metadata"), "annotations");
    const cJSON *status = k8s_in(item, "status");
    int64_t made = seconds_of(k8s_text(k8s_in(item, "metadata"), "creationTimestamp")), begun = seconds_of(k8s_text(status, "startTime")), ended = ended_at(status);
    char text[32];
    if (made >= 0 && (m->oldest_s < 0 || made < m->oldest_s)) m->oldest_s = made;
    snprintf(text, sizeof text, "%" PRId64, made < 0 ? 0 : made);
    drop(notes, "trainyard/submit");
    cJSON_AddStringToObject(notes, "trainyard/submit", text); /* counted from the oldest once all are there */
    if (k8s_text(notes, "trainyard/duration")[0] || k8s_text(notes, "trainyard/steps")[0]) return;
    if (begun < 0 || ended < begun) {
        m->endless++;
        return;
    }
    snprintf(text, sizeof text, "%" PRId64, ended - begun > 0 ? ended - begun : 1);
    cJSON_AddStringToObject(notes, "trainyard/duration", text);
}

/* What Kueue suspends is suspended by nobody. */
static void drop_suspend(cJSON *o)
{
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(o, "spec");
    if (!k8s_text(k8s_in(k8s_in(o, "metadata"), "labels"), "kueue.x-k8s.io/queue-name")[0]) return;
    drop(spec, "suspend");
    drop(cJSON_GetObjectItemCaseSensitive(spec, "runPolicy"), "suspend");
}

static bool on_job(const cJSON *item, void *arg)
{
    struct importing *m = arg;
    if (!item) return true;
    const cJSON *meta = k8s_in(item, "metadata"), *owner = k8s_in(meta, "ownerReferences");
    hmap_put_str(&m->owners, k8s_text(meta, "uid"), 1);
    cJSON_ArrayForEach(owner, k8s_in(meta, "ownerReferences"))
        if (hmap_get_str(&m->owners, k8s_text(owner, "uid"), NULL)) return true; /* a RayJob's cluster, a submitter's Job */
    cJSON *o = kept_object(m, item);
    note_node_selectors(m, k8s_in(o, "spec"));
    drop_suspend(o);
    annotate(m, o, item);
    cJSON_AddItemToArray(m->objects, o);
    m->jobs++;
    return true;
}

static void shift_submissions(struct importing *m)
{
    cJSON *o;
    char text[32];
    cJSON_ArrayForEach(o, m->objects)
    {
        cJSON *notes = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(o, "metadata"), "annotations");
        const char *at = k8s_text(notes, "trainyard/submit");
        if (!at[0]) continue;
        int64_t s = strtoll(at, NULL, 10) - (m->oldest_s < 0 ? 0 : m->oldest_s);
        snprintf(text, sizeof text, "%" PRId64, s < 0 ? 0 : s);
        cJSON_ReplaceItemInObjectCaseSensitive(notes, "trainyard/submit", cJSON_CreateString(text));
    }
}

/* ---- pods ---- */

static bool on_pod(const cJSON *pod, void *arg)
{
    struct importing *m = arg;
    const char *phase = pod ? k8s_text(k8s_in(pod, "status"), "phase") : "Succeeded";
    if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0) return true;
    const cJSON *owner, *c;
    cJSON_ArrayForEach(owner, k8s_in(k8s_in(pod, "metadata"), "ownerReferences"))
        if (hmap_get_str(&m->owners, k8s_text(owner, "uid"), NULL)) return true;
    int64_t milli, sum = 0;
    cJSON_ArrayForEach(c, k8s_in(k8s_in(pod, "spec"), "containers"))
        if (!units_parse_quantity(k8s_text(k8s_in(k8s_in(c, "resources"), "limits"), "nvidia.com/gpu"), &milli)) sum += milli;
    if (sum > 0) m->strays++, m->stray_shares += sum;
    return true;
}

/* ---- nodes ---- */

static bool on_node(const cJSON *node, void *arg)
{
    struct importing *m = arg;
    if (node) cJSON_AddItemToArray(m->nodes_seen, cJSON_Duplicate(node, true));
    return true;
}

static int64_t amount(const cJSON *list, const char *key)
{
    const cJSON *v = k8s_in(list, key);
    int64_t milli;
    if (cJSON_IsNumber(v)) return (int64_t)(v->valuedouble * 1000);
    return cJSON_IsString(v) && !units_parse_quantity(v->valuestring, &milli) && milli > 0 ? milli : 0;
}

static void put_labels(const struct importing *m, cJSON *group, const cJSON *labels)
{
    cJSON *to = cJSON_CreateObject();
    const cJSON *l;
    cJSON_ArrayForEach(l, labels)
    {
        bool kind = strcmp(l->string, "node.kubernetes.io/instance-type") == 0 || strcmp(l->string, "nvidia.com/gpu.product") == 0;
        if (kind || hmap_get_str(&m->selected, l->string, NULL)) cJSON_AddItemToObject(to, l->string, cJSON_Duplicate(l, true));
    }
    if (to->child) cJSON_AddItemToObject(group, "labels", to);
    else cJSON_Delete(to);
}

/* Taints that node controllers put there come and go with the node's health. */
static void put_taints(cJSON *group, const cJSON *taints)
{
    cJSON *to = cJSON_CreateArray();
    const cJSON *t;
    cJSON_ArrayForEach(t, taints)
    {
        if (str_starts_with(k8s_text(t, "key"), "node.kubernetes.io/")) continue;
        cJSON *o = cJSON_CreateObject();
        keep(o, t, "key");
        keep(o, t, "value");
        keep(o, t, "effect");
        cJSON_AddItemToArray(to, o);
    }
    if (to->child) cJSON_AddItemToObject(group, "taints", to);
    else cJSON_Delete(to);
}

static cJSON *group_of(const struct importing *m, const cJSON *node)
{
    const cJSON *has = k8s_in(k8s_in(node, "status"), "allocatable");
    int64_t gpus = amount(has, "nvidia.com/gpu") / 1000;
    cJSON *g = cJSON_CreateObject();
    cJSON_AddNumberToObject(g, "gpus", (double)(gpus > MAX_GPUS_PER_NODE ? MAX_GPUS_PER_NODE : gpus));
    if (amount(has, "cpu")) cJSON_AddNumberToObject(g, "cpu", (double)amount(has, "cpu") / 1000);
    if (amount(has, "memory")) cJSON_AddNumberToObject(g, "memory", (double)(amount(has, "memory") / 1000));
    put_labels(m, g, k8s_in(k8s_in(node, "metadata"), "labels"));
    put_taints(g, k8s_in(k8s_in(node, "spec"), "taints"));
    return g;
}

static const char *name_of(const cJSON *node)
{
    static const char *const keys[] = { "trainyard/group", "nvidia.com/gpu.product", "node.kubernetes.io/instance-type" };
    const cJSON *labels = k8s_in(k8s_in(node, "metadata"), "labels");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (k8s_text(labels, keys[i])[0]) return k8s_text(labels, keys[i]);
    return "nodes";
}

static void name_group(struct importing *m, cJSON *g, const char *name)
{
    char text[100];
    unsigned same = 1;
    snprintf(text, sizeof text, "%.80s", name);
    for (size_t i = 0; i < m->kinds.n; i++)
        if (strcmp(k8s_text(m->kinds.v[i].group, "group"), text) == 0) {
            snprintf(text, sizeof text, "%.80s-%u", name, ++same);
            i = (size_t)-1;
        }
    cJSON_AddStringToObject(g, "group", text);
}

static void sort_nodes(struct importing *m)
{
    const cJSON *node;
    cJSON_ArrayForEach(node, m->nodes_seen)
    {
        cJSON *g = group_of(m, node);
        char *key = cJSON_PrintUnformatted(g);
        size_t i = 0;
        while (i < m->kinds.n && strcmp(m->kinds.v[i].key, key) != 0) i++;
        if (i == m->kinds.n) {
            name_group(m, g, name_of(node));
            array_push(&m->kinds, (struct node_kind){ .key = key, .group = g });
        } else {
            cJSON_free(key);
            cJSON_Delete(g);
        }
        m->kinds.v[i].count++;
    }
}

/* ---- all ---- */

static bool list(struct importing *m, const struct k8s_resource *r, bool (*on_item)(const cJSON *, void *))
{
    bool known;
    m->reading = r;
    if (k8s_knows(m->client, r, &known, m->d) != K8S_OK) return false;
    if (!known) return true; /* its controller is not installed */
    enum k8s_result result = k8s_list(m->client, r, NULL, NULL, on_item, m, NULL, m->d);
    return result == K8S_OK || result == K8S_NOT_FOUND;
}

static bool read_all(struct importing *m)
{
    const struct k8s_resource *r;
    for (size_t i = 0; (r = k8s_resource_at(i)); i++) {
        bool job = strcmp(r->kind, "PyTorchJob") == 0 || strcmp(r->kind, "Job") == 0 || str_starts_with(r->kind, "Ray");
        if (strcmp(r->kind, "Namespace") == 0) continue;
        if (!list(m, r, job ? on_job : on_queue_object)) return false;
    }
    return list(m, &k8s_nodes, on_node) && list(m, &k8s_pods, on_pod);
}

static cJSON *scenario_of(struct importing *m, const char *name)
{
    cJSON *s = cJSON_CreateObject();
    cJSON_AddNumberToObject(s, "trainyard", 1);
    cJSON_AddStringToObject(s, "name", name);
    cJSON *nodes = cJSON_AddArrayToObject(cJSON_AddObjectToObject(s, "cluster"), "nodes");
    bool kueue = false;
    const cJSON *o;
    for (size_t i = 0; i < m->kinds.n; i++) {
        cJSON_AddNumberToObject(m->kinds.v[i].group, "count", m->kinds.v[i].count);
        cJSON_AddItemToArray(nodes, m->kinds.v[i].group);
        m->kinds.v[i].group = NULL;
    }
    cJSON_ArrayForEach(o, m->objects) kueue |= strcmp(k8s_text(o, "kind"), "ClusterQueue") == 0;
    cJSON_AddItemToObject(s, "objects", m->objects);
    m->objects = NULL;
    cJSON *a = cJSON_AddObjectToObject(cJSON_AddObjectToObject(s, "approaches"), "as-it-is");
    cJSON *life = cJSON_AddObjectToObject(a, "lifecycle");
    cJSON_AddStringToObject(life, "PyTorchJob", "training-operator-v1");
    cJSON_AddStringToObject(life, "RayJob", "ray-train-v2");
    cJSON_AddStringToObject(life, "RayCluster", "ray-train-v2");
    cJSON_AddStringToObject(life, "Job", "batch-job");
    cJSON_AddStringToObject(life, "all", "training-operator-v1");
    if (kueue) cJSON_AddStringToObject(a, "admission", "kueue");
    return s;
}

static void write_notes(const struct importing *m, struct str *notes)
{
    str_printf(notes, "%d nodes in %zu groups, %" PRIu64 " jobs\n", cJSON_GetArraySize(m->nodes_seen), m->kinds.n, m->jobs);
    if (m->endless)
        str_printf(notes, "%" PRIu64 " jobs have not ended: how long they will work is not known; give them \"trainyard/duration\"\n", m->endless);
    if (m->strays) str_printf(notes, "%" PRIu64 " pods of no job that is read hold %lld GPUs\n", m->strays, (long long)(m->stray_shares / 1000));
}

static void free_all(struct importing *m)
{
    for (size_t i = 0; i < m->kinds.n; i++) cJSON_free(m->kinds.v[i].key), cJSON_Delete(m->kinds.v[i].group);
    array_free(&m->kinds);
    cJSON_Delete(m->objects);
    cJSON_Delete(m->nodes_seen);
    hmap_free(&m->selected);
    hmap_free(&m->owners);
    k8s_client_free(m->client);
}

bool k8s_import(const struct k8s_access *access, const volatile int *stop, struct str *json, struct str *notes, struct diag *d)
{
    struct importing m = { .client = k8s_client_create(access, stop), .d = d, .objects = cJSON_CreateArray(), .nodes_seen = cJSON_CreateArray(), .oldest_s = -1 };
    bool ok = read_all(&m);
    if (ok && cJSON_GetArraySize(m.nodes_seen) == 0) diag_error(d, access->server, 0, NULL, "the cluster has no nodes");
    ok = ok && cJSON_GetArraySize(m.nodes_seen) > 0;
    if (ok) {
        struct json_writer w;
        shift_submissions(&m);
        sort_nodes(&m);
        cJSON *s = scenario_of(&m, access->context);
        json_write_begin(&w, json);
        json_write_cjson(&w, s);
        json_write_finish(&w);
        cJSON_Delete(s);
        write_notes(&m, notes);
    }
    free_all(&m);
    return ok;
}
