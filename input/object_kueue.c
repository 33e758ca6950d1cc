/* object_kueue.c - Kueue's objects: ResourceFlavor, Cohort, ClusterQueue, LocalQueue, priority classes.
 *
 * Field names of kueue.x-k8s.io/v1beta1 and v1beta2 are both read: cohort and cohortName, parent and parentName.
 * What is read but not simulated yet (admission checks, topology, fair sharing scopes) gives a warning.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "input/quota_build.h"
#include "input/raw.h"

#define OBJECT_HEAD(tag)                                                                                               \
    FIELD(tag, api_version, "apiVersion", TYPE_STRING, .required = true, .help = "version of the API"),                \
        FIELD(tag, kind, "kind", TYPE_STRING, .required = true, .help = "kind of the object"),                         \
        FIELD(tag, meta, "metadata", TYPE_OBJECT, .sub = &object_meta_type, .required = true, .always = true,          \
              .help = "name, labels"),                                                                                 \
        FIELD(tag, status, "status", TYPE_ANY, .help = "of a live object; passed over")
#define HEAD_MEMBERS const struct value *at; const char *api_version, *kind; struct raw_meta *meta; const struct value *status

static const char *name_of(struct build *b, const struct raw_meta *meta, const struct value *at)
{
    if (!meta->name) value_error(b->diag, meta->at ? meta->at : at, "\"name\" is missing");
    return meta->name;
}

static void not_yet(struct build *b, const struct value *v, const char *what)
{
    if (v) value_warning(b->diag, v, "%s is read but not simulated yet", what);
}

/* ---- flavors ---- */

struct raw_flavor_spec { const struct value *at; struct list labels, taints, tolerations; const char *topology; };
static const struct field flavor_spec_fields[] = {
    FIELD(raw_flavor_spec, labels, "nodeLabels", TYPE_TEXTS, .help = "labels of its nodes"),
    FIELD(raw_flavor_spec, taints, "nodeTaints", TYPE_LIST, .sub = &taint_type, .help = "taints of its nodes"),
    FIELD(raw_flavor_spec, tolerations, "tolerations", TYPE_LIST, .sub = &toleration_type, .help = "added to the pods"),
    FIELD(raw_flavor_spec, topology, "topologyName", TYPE_STRING, .help = "topology for topology-aware scheduling"),
};
static const struct object_type flavor_spec_type = OBJECT(raw_flavor_spec, flavor_spec_fields, "spec", "Of a flavor.");

struct raw_flavor { HEAD_MEMBERS; struct raw_flavor_spec *spec; };
static const struct field flavor_fields[] = {
    OBJECT_HEAD(raw_flavor),
    FIELD(raw_flavor, spec, "spec", TYPE_OBJECT, .sub = &flavor_spec_type, .always = true, .help = "spec"),
};
static const struct object_type flavor_type = OBJECT(raw_flavor, flavor_fields, "ResourceFlavor", "A kind of node.");

/* A flavor without labels fits every node. A group or GPU type of the flavor's name need not have the labels. */
void read_flavor(struct build *b, const struct value *v, struct quota_builder *qb)
{
    struct raw_flavor *raw = object_read(&b->reader, &flavor_type, v);
    const char *name = name_of(b, raw->meta, v);
    if (!name) return;
    if (quota_find_flavor(qb, name) != NO_INDEX) {
        value_error(b->diag, v, "there are two flavors \"%s\"", name);
        return;
    }
    uint64_t groups = groups_selected(&b->s->cluster, raw->spec->labels);
    if (raw->spec->labels.n && !groups) {
        value_warning(b->diag, place_of(raw->spec->at, "nodeLabels"), "no node group has the labels of flavor \"%s\"", name);
        diag_help(b->diag, "give \"labels\" to the node groups of the cluster");
    }
    not_yet(b, raw->spec->topology ? place_of(raw->spec->at, "topologyName") : NULL, "topology-aware scheduling");
    quota_add_flavor(qb, name, groups);
}

/* ---- resource groups ---- */

struct raw_amount { const struct value *at; const char *name; int64_t nominal, borrowing, lending; };
static const struct field amount_fields[] = {
    FIELD(raw_amount, name, "name", TYPE_STRING, .required = true, .help = "of the resource"),
    FIELD(raw_amount, nominal, "nominalQuota", TYPE_QUANTITY, .required = true, .help = "nominal quota"),
    FIELD(raw_amount, borrowing, "borrowingLimit", TYPE_QUANTITY, .help = "absent: unlimited"),
    FIELD(raw_amount, lending, "lendingLimit", TYPE_QUANTITY, .help = "absent: all"),
};
static const struct object_type amount_type = OBJECT(raw_amount, amount_fields, "resource", "A quota.");

struct raw_flavor_quota { const struct value *at; const char *name; struct list resources; };
static const struct field flavor_quota_fields[] = {
    FIELD(raw_flavor_quota, name, "name", TYPE_STRING, .required = true, .help = "of the flavor"),
    FIELD(raw_flavor_quota, resources, "resources", TYPE_LIST, .sub = &amount_type, .required = true, .help = "quotas"),
};
static const struct object_type flavor_quota_type = OBJECT(raw_flavor_quota, flavor_quota_fields, "flavor", "Quotas of a flavor.");

struct raw_group { const struct value *at; struct list resources, flavors; };
static const struct field group_fields[] = {
    FIELD(raw_group, resources, "coveredResources", TYPE_STRINGS, .required = true, .help = "resources"),
    FIELD(raw_group, flavors, "flavors", TYPE_LIST, .sub = &flavor_quota_type, .required = true, .help = "flavors"),
};
static const struct object_type group_type = OBJECT(raw_group, group_fields, "resourceGroup", "Resources that share flavors.");

struct raw_fair { const struct value *at; int64_t weight; };
static const struct field fair_fields[] = {
    FIELD(raw_fair, weight, "weight", TYPE_QUANTITY, .fallback = "1", .help = "weight"),
};
static const struct object_type fair_type = OBJECT(raw_fair, fair_fields, "fairSharing", "Fair sharing.");

static bool covered(const struct raw_group *g, const char *resource)
{
    for (size_t i = 0; i < g->resources.n; i++)
        if (strcmp(LIST_AT(g->resources, const char *, i), resource) == 0) return true;
    return false;
}

static void read_amounts(struct build *b, struct quota_builder *qb, const struct raw_group *g,
                         const struct raw_flavor_quota *f, uint16_t flavor, struct quota_lines *lines)
{
    for (size_t i = 0; i < f->resources.n; i++) {
        const struct raw_amount *a = &LIST_AT(f->resources, struct raw_amount, i);
        if (!a->name || a->nominal == ABSENT) continue; /* reported */
        if (!covered(g, a->name))
            value_error(b->diag, place_of(a->at, "name"), "\"%s\" is not among coveredResources", a->name);
        struct quota_line *line = quota_line_at(lines, flavor, quota_resource(qb, a->name), true);
        line->nominal = a->nominal;
        if (a->borrowing != ABSENT) line->borrowing_limit = a->borrowing;
        if (a->lending != ABSENT) line->lending_limit = a->lending;
    }
    if (f->resources.v && f->resources.n != g->resources.n)
        value_error(b->diag, place_of(f->at, "resources"), "%zu resources, but %zu coveredResources: each needs its quota",
                    f->resources.n, g->resources.n);
}

static void read_group(struct build *b, struct quota_builder *qb, const struct raw_group *raw, struct resource_group *g,
                       struct quota_lines *lines)
{
    g->resources = arena_array(b->arena, raw->resources.n, uint16_t);
    g->flavors = arena_array(b->arena, raw->flavors.n, uint16_t);
    for (size_t i = 0; i < raw->resources.n; i++)
        g->resources[g->n_resources++] = quota_resource(qb, LIST_AT(raw->resources, const char *, i));
    for (size_t i = 0; i < raw->flavors.n; i++) {
        const struct raw_flavor_quota *f = &LIST_AT(raw->flavors, struct raw_flavor_quota, i);
        if (!f->name) continue;
        uint16_t flavor = quota_find_flavor(qb, f->name);
        if (flavor == NO_INDEX) {
            value_error(b->diag, place_of(f->at, "name"), "there is no ResourceFlavor \"%s\"", f->name);
            continue;
        }
        g->flavors[g->n_flavors++] = flavor;
        read_amounts(b, qb, raw, f, flavor, lines);
    }
}

static struct resource_group *read_groups(struct build *b, struct quota_builder *qb, struct list raw, uint32_t *n,
                                          struct quota_lines *lines)
{
    struct resource_group *v = arena_array(b->arena, raw.n, struct resource_group);
    for (size_t i = 0; i < raw.n; i++) read_group(b, qb, &LIST_AT(raw, struct raw_group, i), &v[i], lines);
    *n = (uint32_t)raw.n;
    return v;
}

/* ---- cluster queues ---- */

struct raw_cq_spec {
    const struct value *at;
    const char *cohort, *cohort_name;
    int64_t strategy, stop;
    struct list groups;
    struct raw_preemption *preemption;
    struct raw_fungibility *fungibility;
    struct raw_fair *fair;
    const struct value *selector, *checks, *checks_strategy, *scope, *concurrent;
};
static const struct field cq_spec_fields[] = {
    FIELD(raw_cq_spec, cohort, "cohort", TYPE_STRING, .help = "cohort (v1beta1)"),
    FIELD(raw_cq_spec, cohort_name, "cohortName", TYPE_STRING, .help = "cohort (v1beta2)"),
    FIELD(raw_cq_spec, strategy, "queueingStrategy", TYPE_WORD, WORDS(queueing_strategy_names),
          .fallback = "BestEffortFIFO", .help = "whether a blocked head blocks the queue"),
    FIELD(raw_cq_spec, groups, "resourceGroups", TYPE_LIST, .sub = &group_type, .help = "quotas"),
    FIELD(raw_cq_spec, preemption, "preemption", TYPE_OBJECT, .sub = &preemption_type, .always = true, .help = "preemption"),
    FIELD(raw_cq_spec, fungibility, "flavorFungibility", TYPE_OBJECT, .sub = &fungibility_type, .always = true,
          .help = "how flavors are tried"),
    FIELD(raw_cq_spec, stop, "stopPolicy", TYPE_WORD, WORDS(stop_policy_names), .fallback = "None", .help = "whether it admits"),
    FIELD(raw_cq_spec, fair, "fairSharing", TYPE_OBJECT, .sub = &fair_type, .always = true, .help = "weight"),
    FIELD(raw_cq_spec, selector, "namespaceSelector", TYPE_ANY, .help = "namespaces; all are taken to match"),
    FIELD(raw_cq_spec, checks, "admissionChecks", TYPE_ANY, .help = "admission checks"),
    FIELD(raw_cq_spec, checks_strategy, "admissionChecksStrategy", TYPE_ANY, .help = "admission checks by flavor"),
    FIELD(raw_cq_spec, scope, "admissionScope", TYPE_ANY, .help = "admission fair sharing"),
    FIELD(raw_cq_spec, concurrent, "concurrentAdmissionPolicy", TYPE_ANY, .help = "concurrent admission"),
};
static const struct object_type cq_spec_type = OBJECT(raw_cq_spec, cq_spec_fields, "spec", "Of a ClusterQueue.");

struct raw_cq { HEAD_MEMBERS; struct raw_cq_spec *spec; };
static const struct field cq_fields[] = {
    OBJECT_HEAD(raw_cq),
    FIELD(raw_cq, spec, "spec", TYPE_OBJECT, .sub = &cq_spec_type, .required = true, .always = true, .help = "spec"),
};
static const struct object_type cq_type = OBJECT(raw_cq, cq_fields, "ClusterQueue", "A queue with quotas.");

void read_cluster_queue(struct build *b, const struct value *v, struct quota_builder *qb)
{
    struct raw_cq *raw = object_read(&b->reader, &cq_type, v);
    const struct raw_cq_spec *spec = raw->spec;
    const char *name = name_of(b, raw->meta, v), *cohort = spec->cohort_name ? spec->cohort_name : spec->cohort;
    struct quota_lines lines = { 0 };
    if (!name) return;
    uint16_t cohort_index = cohort && cohort[0] ? quota_cohort(qb, cohort) : NO_INDEX;
    struct cluster_queue_spec *q = quota_add_queue(qb, name, v);
    if (!q) return;
    q->cohort = cohort_index;
    q->strategy = (enum queueing_strategy)spec->strategy;
    q->stop = (enum stop_policy)spec->stop;
    q->fair_weight_milli = spec->fair->weight;
    queue_policies(q, spec->preemption, spec->fungibility);
    q->groups = read_groups(b, qb, spec->groups, &q->n_groups, &lines);
    quota_take_lines(qb, &lines, &q->lines, &q->n_lines);
    not_yet(b, spec->checks && spec->checks->n ? spec->checks : NULL, "admissionChecks");
    not_yet(b, spec->checks_strategy && spec->checks_strategy->n ? spec->checks_strategy : NULL, "admissionChecksStrategy");
    not_yet(b, spec->scope, "admissionScope");
    not_yet(b, spec->concurrent, "concurrentAdmissionPolicy");
}

/* ---- cohorts, local queues, priorities ---- */

struct raw_cohort_spec { const struct value *at; const char *parent, *parent_name; struct list groups; struct raw_fair *fair; };
static const struct field cohort_spec_fields[] = {
    FIELD(raw_cohort_spec, parent, "parent", TYPE_STRING, .help = "cohort above (v1beta1)"),
    FIELD(raw_cohort_spec, parent_name, "parentName", TYPE_STRING, .help = "cohort above (v1beta2)"),
    FIELD(raw_cohort_spec, groups, "resourceGroups", TYPE_LIST, .sub = &group_type, .help = "quotas of its own"),
    FIELD(raw_cohort_spec, fair, "fairSharing", TYPE_OBJECT, .sub = &fair_type, .always = true, .help = "weight"),
};
static const struct object_type cohort_spec_type = OBJECT(raw_cohort_spec, cohort_spec_fields, "spec", "Of a Cohort.");

struct raw_cohort_object { HEAD_MEMBERS; struct raw_cohort_spec *spec; };
static const struct field cohort_fields[] = {
    OBJECT_HEAD(raw_cohort_object),
    FIELD(raw_cohort_object, spec, "spec", TYPE_OBJECT, .sub = &cohort_spec_type, .always = true, .help = "spec"),
};
static const struct object_type cohort_object_type = OBJECT(raw_cohort_object, cohort_fields, "Cohort", "A node of the tree.");

void read_cohort(struct build *b, const struct value *v, struct quota_builder *qb)
{
    struct raw_cohort_object *raw = object_read(&b->reader, &cohort_object_type, v);
    const char *name = name_of(b, raw->meta, v);
    const char *parent = raw->spec->parent_name ? raw->spec->parent_name : raw->spec->parent;
    struct quota_lines lines = { 0 };
    uint32_t groups;
    if (!name) return;
    struct cohort_spec *c = quota_define_cohort(qb, name, parent && parent[0] ? parent : NULL, v);
    if (!c) return;
    read_groups(b, qb, raw->spec->groups, &groups, &lines);
    quota_take_lines(qb, &lines, &c->lines, &c->n_lines);
}

struct raw_lq_spec { const struct value *at; const char *queue; int64_t stop; const struct value *fair; };
static const struct field lq_spec_fields[] = {
    FIELD(raw_lq_spec, queue, "clusterQueue", TYPE_STRING, .required = true, .help = "whose quota its jobs use"),
    FIELD(raw_lq_spec, stop, "stopPolicy", TYPE_WORD, WORDS(stop_policy_names), .fallback = "None", .help = "whether it admits"),
    FIELD(raw_lq_spec, fair, "fairSharing", TYPE_ANY, .help = "admission fair sharing"),
};
static const struct object_type lq_spec_type = OBJECT(raw_lq_spec, lq_spec_fields, "spec", "Of a LocalQueue.");

struct raw_lq { HEAD_MEMBERS; struct raw_lq_spec *spec; };
static const struct field lq_fields[] = {
    OBJECT_HEAD(raw_lq),
    FIELD(raw_lq, spec, "spec", TYPE_OBJECT, .sub = &lq_spec_type, .required = true, .always = true, .help = "spec"),
};
static const struct object_type lq_type = OBJECT(raw_lq, lq_fields, "LocalQueue", "A namespace's way to a queue.");

void read_local_queue(struct build *b, const struct value *v, struct quota_builder *qb)
{
    struct raw_lq *raw = object_read(&b->reader, &lq_type, v);
    const char *name = name_of(b, raw->meta, v);
    if (!name || !raw->spec->queue) return;
    not_yet(b, raw->spec->fair, "fairSharing of a LocalQueue");
    quota_add_local(qb, name, raw->meta->ns, raw->spec->queue, (enum stop_policy)raw->spec->stop, v);
}

struct raw_class { HEAD_MEMBERS; int64_t value, global_default; const char *description, *preemption; };
static const struct field class_fields[] = {
    OBJECT_HEAD(raw_class),
    FIELD(raw_class, value, "value", TYPE_INT, .required = true, .min = INT32_MIN, .max = INT32_MAX, .help = "higher goes first"),
    FIELD(raw_class, description, "description", TYPE_STRING, .help = "for people"),
    FIELD(raw_class, global_default, "globalDefault", TYPE_BOOL, .help = "PriorityClass only; passed over"),
    FIELD(raw_class, preemption, "preemptionPolicy", TYPE_STRING, .help = "PriorityClass only; passed over"),
};
static const struct object_type class_type = OBJECT(raw_class, class_fields, "WorkloadPriorityClass", "A priority by name.");

void read_priority_class(struct build *b, const struct value *v, struct quota_builder *qb)
{
    struct raw_class *raw = object_read(&b->reader, &class_type, v);
    const char *name = name_of(b, raw->meta, v);
    if (name && raw->value != ABSENT) quota_add_priority(qb, name, (int32_t)raw->value, v);
}
