/* plan.c - a scenario's objects as this run's: labels, namespaces, owner.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "real/kubernetes/run_parts.h"

cJSON *k8s_object_at(cJSON *o, const char *key)
{
    cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return v ? v : cJSON_AddObjectToObject(o, key);
}

static void set_text(cJSON *o, const char *key, const char *text)
{
    cJSON_DeleteItemFromObjectCaseSensitive(o, key);
    cJSON_AddStringToObject(o, key, text);
}

/* Templates of pods, wherever they stand in a job. */
static void label_pods(cJSON *node, const char *id, const char *job)
{
    for (cJSON *c = node->child; c; c = c->next) {
        bool template = c->string && cJSON_IsObject(c) && (strcmp(c->string, "template") == 0 || strcmp(c->string, "submitterPodTemplate") == 0);
        if (!template) {
            if (cJSON_IsObject(c) || cJSON_IsArray(c)) label_pods(c, id, job);
            continue;
        }
        cJSON *labels = k8s_object_at(k8s_object_at(c, "metadata"), "labels");
        set_text(labels, RUN_LABEL, id);
        set_text(labels, JOB_LABEL, job);
    }
}

void k8s_plan_label(const struct k8s_mark *m, struct manifest_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        struct manifest_item *item = &set->v[i];
        cJSON *meta = k8s_object_at(item->object, "metadata");
        set_text(k8s_object_at(meta, "labels"), RUN_LABEL, m->id);
        if (item->ns) {
            set_text(meta, "namespace", k8s_mark_ns(m, item->ns));
            item->ns = cJSON_GetObjectItemCaseSensitive(meta, "namespace")->valuestring;
        }
        cJSON *spec = cJSON_GetObjectItemCaseSensitive(item->object, "spec");
        if (item->job != ITEM_NO_JOB && spec) label_pods(spec, m->id, item->name);
    }
}

cJSON *k8s_plan_namespace(const struct k8s_mark *m, size_t i)
{
    cJSON *o = cJSON_CreateObject(), *meta;
    cJSON_AddStringToObject(o, "apiVersion", "v1");
    cJSON_AddStringToObject(o, "kind", "Namespace");
    meta = cJSON_AddObjectToObject(o, "metadata");
    cJSON_AddStringToObject(meta, "name", m->ns[i]);
    cJSON_AddStringToObject(cJSON_AddObjectToObject(meta, "labels"), RUN_LABEL, m->id);
    return o;
}

void k8s_plan_own(cJSON *object, const char *ns, const char *uid)
{
    cJSON *meta = k8s_object_at(object, "metadata"), *o = cJSON_CreateObject();
    cJSON_DeleteItemFromObjectCaseSensitive(meta, "ownerReferences");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(meta, "ownerReferences"), o);
    cJSON_AddStringToObject(o, "apiVersion", "v1");
    cJSON_AddStringToObject(o, "kind", "Namespace");
    cJSON_AddStringToObject(o, "name", ns);
    cJSON_AddStringToObject(o, "uid", uid);
}

bool k8s_plan_is_ours(const struct k8s_mark *m, const cJSON *object)
{
    const cJSON *labels = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(object, "metadata"), "labels");
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(labels, RUN_LABEL));
    return id && strcmp(id, m->id) == 0;
}
