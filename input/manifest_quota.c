/* manifest_quota.c - Kueue's objects of a scenario: those given as manifests in their newest version, short forms as objects.
 *
 * kueue.x-k8s.io/v1beta2 against v1beta1 (Kueue 0.17, apis/kueue/v1beta2): cohort -> cohortName, parent -> parentName;
 * flavorFungibility says MayStopSearch for Borrow and Preempt. Kueue's webhooks refuse limits where there is nobody to borrow
 * from: without a cohort they are left out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <string.h>

#include "input/manifest_parts.h"

#define KUEUE "kueue.x-k8s.io/v1beta2"

/* ---- given as manifests ---- */

static void rename_member(cJSON *o, const char *from, const char *to)
{
    cJSON *v = o ? cJSON_DetachItemFromObjectCaseSensitive(o, from) : NULL;
    if (v && !cJSON_GetObjectItemCaseSensitive(o, to)) cJSON_AddItemToObject(o, to, v);
    else cJSON_Delete(v);
}

static void reword(cJSON *o, const char *key, const char *from, const char *to)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    if (text && strcmp(text, from) == 0) cJSON_ReplaceItemInObjectCaseSensitive(o, key, cJSON_CreateString(to));
}

static void to_v1beta2(cJSON *object)
{
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(object, "spec");
    cJSON *fungibility = cJSON_GetObjectItemCaseSensitive(spec, "flavorFungibility");
    cJSON_ReplaceItemInObjectCaseSensitive(object, "apiVersion", cJSON_CreateString(KUEUE));
    rename_member(spec, "cohort", "cohortName");
    rename_member(spec, "parent", "parentName");
    reword(fungibility, "whenCanBorrow", "Borrow", "MayStopSearch");
    reword(fungibility, "whenCanPreempt", "Preempt", "MayStopSearch");
}

/* ---- short forms ---- */

static bool taken(struct manifest_writer *w, const char *kind, const char *name)
{
    return hmap_get_str(&w->names, arena_printf(&w->set->arena, "%s//%s", kind, name), NULL);
}

static void take(struct manifest_writer *w, const char *kind, const char *name)
{
    hmap_put_str(&w->names, arena_printf(&w->set->arena, "%s//%s", kind, name), 1);
}

static cJSON *new_kueue(struct manifest_writer *w, const char *kind, const char *name, const char *ns)
{
    cJSON *o = new_object(KUEUE, kind, name, ns);
    take(w, kind, ns ? arena_printf(&w->set->arena, "%s/%s", ns, name) : name);
    add_item(w, o);
    return put_object(o, "spec");
}

static void write_flavor(struct manifest_writer *w, const struct flavor_spec *f)
{
    bool impossible;
    cJSON *spec = new_kueue(w, "ResourceFlavor", f->name, NULL), *labels = selector_of(w, f->groups, &impossible);
    if (labels) cJSON_AddItemToObject(spec, "nodeLabels", labels);
    if (!impossible) return;
    diag_error(w->diag, w->s->file, 0, NULL, "no label tells the nodes of flavor \"%s\" from the others", f->name);
    diag_help(w->diag, "give \"labels\" to the node groups of the cluster");
}

static const struct quota_line *line_of(const struct quota_line *v, uint32_t n, uint16_t flavor, uint16_t resource)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i].flavor == flavor && v[i].resource == resource) return &v[i];
    return NULL;
}

struct quota_table { const struct quota_line *v; uint32_t n; bool limits; };

static void write_group(const struct manifest_writer *w, cJSON *groups, const struct resource_group *g, struct quota_table lines)
{
    const struct quota_spec *q = &w->s->quota;
    cJSON *group = cJSON_CreateObject();
    cJSON_AddItemToArray(groups, group);
    cJSON *covered = put_array(group, "coveredResources"), *flavors = put_array(group, "flavors");
    for (uint16_t r = 0; r < g->n_resources; r++) cJSON_AddItemToArray(covered, cJSON_CreateString(q->resources[g->resources[r]]));
    for (uint16_t f = 0; f < g->n_flavors; f++) {
        cJSON *flavor = cJSON_CreateObject();
        cJSON_AddItemToArray(flavors, flavor);
        put_text(flavor, "name", q->flavors[g->flavors[f]].name);
        cJSON *resources = put_array(flavor, "resources");
        for (uint16_t r = 0; r < g->n_resources; r++) {
            const struct quota_line *line = line_of(lines.v, lines.n, g->flavors[f], g->resources[r]);
            cJSON *amount = cJSON_CreateObject();
            cJSON_AddItemToArray(resources, amount);
            put_text(amount, "name", q->resources[g->resources[r]]);
            put_quantity(amount, "nominalQuota", line ? line->nominal : 0);
            if (!line || !lines.limits) continue;
            if (line->borrowing_limit != QUOTA_UNLIMITED) put_quantity(amount, "borrowingLimit", line->borrowing_limit);
            if (line->lending_limit != QUOTA_UNLIMITED) put_quantity(amount, "lendingLimit", line->lending_limit);
        }
    }
}

static void write_policies(cJSON *spec, const struct cluster_queue_spec *q)
{
    cJSON *preemption = put_object(spec, "preemption"), *fungibility = put_object(spec, "flavorFungibility");
    put_text(preemption, "withinClusterQueue", preempt_within_names[q->within]);
    put_text(preemption, "reclaimWithinCohort", preempt_reclaim_names[q->reclaim]);
    cJSON *borrow = put_object(preemption, "borrowWithinCohort");
    put_text(borrow, "policy", q->borrow_lower ? "LowerPriority" : "Never");
    if (q->has_threshold) put_number(borrow, "maxPriorityThreshold", q->max_priority_threshold);
    put_text(fungibility, "whenCanBorrow", q->can_borrow_try_next ? "TryNextFlavor" : "MayStopSearch");
    put_text(fungibility, "whenCanPreempt", q->can_preempt_stop ? "MayStopSearch" : "TryNextFlavor");
    /* the webhook takes it only where the flavors are gone through to the end */
    if (q->prefer_preemption_over_borrowing && q->can_borrow_try_next && !q->can_preempt_stop) put_text(fungibility, "preference", "PreemptionOverBorrowing");
}

/* An empty namespaceSelector admits all namespaces; none would admit no workload at all. */
static void write_cluster_queue(struct manifest_writer *w, const struct cluster_queue_spec *q)
{
    cJSON *spec = new_kueue(w, "ClusterQueue", q->name, NULL);
    put_object(spec, "namespaceSelector");
    if (q->cohort != NO_INDEX) put_text(spec, "cohortName", w->s->quota.cohorts[q->cohort].name);
    put_text(spec, "queueingStrategy", queueing_strategy_names[q->strategy]);
    write_policies(spec, q);
    if (q->stop != STOP_NONE) put_text(spec, "stopPolicy", stop_policy_names[q->stop]);
    if (q->fair_weight_milli != 1000) put_quantity(put_object(spec, "fairSharing"), "weight", q->fair_weight_milli);
    cJSON *groups = put_array(spec, "resourceGroups");
    for (uint32_t i = 0; i < q->n_groups; i++)
        write_group(w, groups, &q->groups[i], (struct quota_table){ q->lines, q->n_lines, q->cohort != NO_INDEX });
}

static void add_once(uint16_t *v, uint16_t *n, uint16_t x)
{
    for (uint16_t i = 0; i < *n; i++)
        if (v[i] == x) return;
    v[(*n)++] = x;
}

/* A cohort that is only named needs no object. */
static void write_cohort(struct manifest_writer *w, const struct cohort_spec *c)
{
    if (c->n_lines == 0 && c->parent == NO_INDEX) return;
    cJSON *spec = new_kueue(w, "Cohort", c->name, NULL);
    struct resource_group g = { .resources = arena_array(&w->set->arena, c->n_lines, uint16_t),
                                .flavors = arena_array(&w->set->arena, c->n_lines, uint16_t) };
    if (c->parent != NO_INDEX) put_text(spec, "parentName", w->s->quota.cohorts[c->parent].name);
    for (uint32_t i = 0; i < c->n_lines; i++) {
        add_once(g.resources, &g.n_resources, c->lines[i].resource);
        add_once(g.flavors, &g.n_flavors, c->lines[i].flavor);
    }
    if (c->n_lines) write_group(w, put_array(spec, "resourceGroups"), &g, (struct quota_table){ c->lines, c->n_lines, c->parent != NO_INDEX });
}

static void write_local_queue(struct manifest_writer *w, const struct local_queue_spec *l)
{
    if (taken(w, "LocalQueue", arena_printf(&w->set->arena, "%s/%s", l->ns, l->name)) || l->cluster_queue == NO_INDEX) return;
    cJSON *spec = new_kueue(w, "LocalQueue", l->name, l->ns);
    put_text(spec, "clusterQueue", w->s->quota.queues[l->cluster_queue].name);
    if (l->stop != STOP_NONE) put_text(spec, "stopPolicy", stop_policy_names[l->stop]);
}

/* ---- priorities ---- */

const char *priority_name(struct manifest_writer *w, int32_t priority)
{
    int64_t p = priority;
    return arena_printf(&w->set->arena, p < 0 ? "priority-minus-%" PRId64 : "priority-%" PRId64, p < 0 ? -p : p);
}

static void write_class(struct manifest_writer *w, const char *name, int32_t value)
{
    if (taken(w, "WorkloadPriorityClass", name) || taken(w, "PriorityClass", name)) return;
    cJSON *o = new_object(KUEUE, "WorkloadPriorityClass", name, NULL);
    put_number(o, "value", value);
    take(w, "WorkloadPriorityClass", name);
    add_item(w, o);
}

static void write_classes(struct manifest_writer *w)
{
    const struct quota_spec *q = &w->s->quota;
    for (uint32_t i = 0; i < q->n_priorities; i++) write_class(w, q->priorities[i].name, q->priorities[i].value);
    for (size_t i = 0; i < w->set->n_jobs; i++) {
        const struct job_spec *job = &w->set->jobs[i];
        const struct job_detail *d = &w->s->details[job->detail];
        bool number = !d->raw->priority_class && (!d->manifest || d->raw->priority != ABSENT);
        if (number && job->priority) write_class(w, priority_name(w, job->priority), job->priority);
    }
}

/* ---- all ---- */

static const char *member_text(const struct value *v, const char *key)
{
    const struct value *m = value_member(v, key);
    return m && m->kind == VALUE_STRING ? m->text : NULL;
}

/* Those of one kind that the scenario gives as manifests. */
static void write_given(struct manifest_writer *w, const char *kind)
{
    const struct value *list = w->s->raw->objects;
    for (const struct value *c = list ? list->child : NULL; c; c = c->next) {
        const struct value *meta = value_member(c, "metadata");
        const char *k = member_text(c, "kind"), *name = member_text(meta, "name"), *ns = member_text(meta, "namespace");
        if (!k || !name || strcmp(k, kind) != 0) continue;
        bool local = strcmp(kind, "LocalQueue") == 0;
        take(w, kind, local ? arena_printf(&w->set->arena, "%s/%s", ns ? ns : "default", name) : name);
        cJSON *o = tree_of(c);
        if (str_starts_with(member_text(c, "apiVersion"), "kueue.x-k8s.io/")) to_v1beta2(o);
        cJSON_DeleteItemFromObjectCaseSensitive(o, "status");
        if (local && !ns) put_text(put_object(o, "metadata"), "namespace", "default");
        add_item(w, o);
    }
}

static void write_namespace(struct manifest_writer *w, const char *ns)
{
    if (strcmp(ns, "default") == 0 || taken(w, "Namespace", ns)) return;
    take(w, "Namespace", ns);
    add_item(w, new_object("v1", "Namespace", ns, NULL));
}

static void write_namespaces(struct manifest_writer *w)
{
    const struct scenario *s = w->s;
    for (uint32_t i = 0; i < s->quota.n_local; i++) write_namespace(w, s->quota.local[i].ns);
    for (uint32_t i = 0; i < s->n_manifests; i++) write_namespace(w, s->manifests[i]->ns);
}

void write_quota_objects(struct manifest_writer *w)
{
    const struct quota_spec *q = &w->s->quota;
    write_namespaces(w);
    write_given(w, "PriorityClass");
    if (!w->set->queues) return;
    write_given(w, "WorkloadPriorityClass");
    write_classes(w);
    write_given(w, "ResourceFlavor");
    for (uint32_t i = 0; i < q->n_flavors; i++)
        if (!taken(w, "ResourceFlavor", q->flavors[i].name)) write_flavor(w, &q->flavors[i]);
    write_given(w, "Cohort");
    for (uint32_t i = 0; i < q->n_cohorts; i++)
        if (!taken(w, "Cohort", q->cohorts[i].name)) write_cohort(w, &q->cohorts[i]);
    write_given(w, "ClusterQueue");
    for (uint32_t i = 0; i < q->n_queues; i++)
        if (!taken(w, "ClusterQueue", q->queues[i].name)) write_cluster_queue(w, &q->queues[i]);
    write_given(w, "LocalQueue");
    for (uint32_t i = 0; i < q->n_local; i++) write_local_queue(w, &q->local[i]);
}
