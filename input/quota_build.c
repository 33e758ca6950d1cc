/* quota_build.c - grows the quota tables by name and checks the references at the end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/quota_build.h"

#include <assert.h>
#include <string.h>

struct local_ref { struct local_queue_spec spec; const char *queue; const struct value *at; };

struct quota_builder {
    struct build *b;
    ARRAY(const char *) resources;
    ARRAY(struct flavor_spec) flavors;
    ARRAY(struct cohort_spec) cohorts;
    ARRAY(const struct value *) cohort_at; /* NULL: only named so far */
    ARRAY(struct cluster_queue_spec) queues;
    ARRAY(struct local_ref) local;
    ARRAY(struct priority_class_spec) priorities;
};

struct quota_builder *quota_begin(struct build *b)
{
    struct quota_builder *qb = arena_new(b->arena, struct quota_builder);
    qb->b = b;
    return qb;
}

uint16_t quota_resource(struct quota_builder *qb, const char *name)
{
    for (size_t i = 0; i < qb->resources.n; i++)
        if (strcmp(qb->resources.v[i], name) == 0) return (uint16_t)i;
    array_push(&qb->resources, name);
    return (uint16_t)(qb->resources.n - 1);
}

uint16_t quota_find_flavor(struct quota_builder *qb, const char *name)
{
    for (size_t i = 0; i < qb->flavors.n; i++)
        if (strcmp(qb->flavors.v[i].name, name) == 0) return (uint16_t)i;
    return NO_INDEX;
}

uint16_t quota_add_flavor(struct quota_builder *qb, const char *name, uint64_t groups)
{
    array_push(&qb->flavors, (struct flavor_spec){ name, groups });
    return (uint16_t)(qb->flavors.n - 1);
}

uint16_t quota_cohort(struct quota_builder *qb, const char *name)
{
    for (size_t i = 0; i < qb->cohorts.n; i++)
        if (strcmp(qb->cohorts.v[i].name, name) == 0) return (uint16_t)i;
    array_push(&qb->cohorts, (struct cohort_spec){ .name = name, .parent = NO_INDEX });
    array_push(&qb->cohort_at, NULL);
    return (uint16_t)(qb->cohorts.n - 1);
}

struct cohort_spec *quota_define_cohort(struct quota_builder *qb, const char *name, const char *parent,
                                        const struct value *at)
{
    uint16_t i = quota_cohort(qb, name);
    if (qb->cohort_at.v[i]) {
        value_error(qb->b->diag, at, "there are two cohorts \"%s\"", name);
        return NULL;
    }
    qb->cohort_at.v[i] = at;
    if (parent) {
        uint16_t p = quota_cohort(qb, parent); /* may move the array */
        qb->cohorts.v[i].parent = p;
    }
    return &qb->cohorts.v[i];
}

struct cluster_queue_spec *quota_add_queue(struct quota_builder *qb, const char *name, const struct value *at)
{
    for (size_t i = 0; i < qb->queues.n; i++)
        if (strcmp(qb->queues.v[i].name, name) == 0) {
            value_error(qb->b->diag, at, "there are two queues \"%s\"", name);
            return NULL;
        }
    array_push(&qb->queues, (struct cluster_queue_spec){ .name = name, .cohort = NO_INDEX, .fair_weight_milli = 1000 });
    return &array_last(&qb->queues);
}

void quota_add_local(struct quota_builder *qb, const char *name, const char *ns, const char *queue,
                     enum stop_policy stop, const struct value *at)
{
    for (size_t i = 0; i < qb->local.n; i++) {
        const struct local_queue_spec *l = &qb->local.v[i].spec;
        if (strcmp(l->name, name) == 0 && strcmp(l->ns, ns) == 0) {
            value_error(qb->b->diag, at, "there are two local queues \"%s\" in namespace \"%s\"", name, ns);
            return;
        }
    }
    array_push(&qb->local, (struct local_ref){ { name, ns, NO_INDEX, stop }, queue, at });
}

void quota_add_priority(struct quota_builder *qb, const char *name, int32_t value, const struct value *at)
{
    for (size_t i = 0; i < qb->priorities.n; i++)
        if (strcmp(qb->priorities.v[i].name, name) == 0) {
            value_error(qb->b->diag, at, "there are two priority classes \"%s\"", name);
            return;
        }
    array_push(&qb->priorities, (struct priority_class_spec){ name, value });
}

struct quota_line *quota_line_at(struct quota_lines *lines, uint16_t flavor, uint16_t resource, bool add)
{
    for (size_t i = 0; i < lines->n; i++)
        if (lines->v[i].flavor == flavor && lines->v[i].resource == resource) return &lines->v[i];
    if (!add) return NULL;
    array_push(lines, (struct quota_line){ flavor, resource, 0, QUOTA_UNLIMITED, QUOTA_UNLIMITED });
    return &array_last(lines);
}

void quota_take_lines(struct quota_builder *qb, struct quota_lines *lines, struct quota_line **to, uint32_t *n)
{
    *to = arena_array(qb->b->arena, lines->n, struct quota_line);
    if (lines->n) memcpy(*to, lines->v, lines->n * sizeof **to);
    *n = (uint32_t)lines->n;
    array_free(lines);
}

static void add_once(uint16_t *set, uint16_t *n, uint16_t x)
{
    for (uint16_t i = 0; i < *n; i++)
        if (set[i] == x) return;
    set[(*n)++] = x;
}

void quota_one_group(struct quota_builder *qb, struct cluster_queue_spec *q, struct quota_lines *lines)
{
    struct resource_group *g = arena_new(qb->b->arena, struct resource_group);
    g->resources = arena_array(qb->b->arena, lines->n, uint16_t);
    g->flavors = arena_array(qb->b->arena, lines->n, uint16_t);
    for (size_t i = 0; i < lines->n; i++) {
        add_once(g->resources, &g->n_resources, lines->v[i].resource);
        add_once(g->flavors, &g->n_flavors, lines->v[i].flavor);
    }
    for (uint16_t f = 0; f < g->n_flavors; f++)
        for (uint16_t r = 0; r < g->n_resources; r++) quota_line_at(lines, g->flavors[f], g->resources[r], true);
    q->groups = g;
    q->n_groups = lines->n ? 1 : 0;
    quota_take_lines(qb, lines, &q->lines, &q->n_lines);
}

/* ---- the end ---- */

static size_t depth_of(const struct quota_builder *qb, size_t at)
{
    size_t steps = 0;
    while (qb->cohorts.v[at].parent != NO_INDEX && steps <= qb->cohorts.n) at = qb->cohorts.v[at].parent, steps++;
    return steps;
}

static void check_cycles(struct quota_builder *qb)
{
    for (size_t i = 0; i < qb->cohorts.n; i++) {
        if (depth_of(qb, i) > qb->cohorts.n && qb->cohort_at.v[i]) {
            value_error(qb->b->diag, qb->cohort_at.v[i], "the parents of cohort \"%s\" go round in a circle",
                        qb->cohorts.v[i].name);
            return;
        }
    }
}

/* Parents before their children, else as they were named. */
static void order_cohorts(struct quota_builder *qb)
{
    size_t n = qb->cohorts.n, next = 0;
    uint16_t *to = arena_array(qb->b->arena, n + 1, uint16_t);
    struct cohort_spec *sorted = arena_array(qb->b->arena, n + 1, struct cohort_spec);
    for (size_t depth = 0; depth <= n + 1; depth++)
        for (size_t i = 0; i < n; i++)
            if (depth_of(qb, i) == depth) {
                to[i] = (uint16_t)next;
                sorted[next++] = qb->cohorts.v[i];
            }
    for (size_t i = 0; i < n; i++) {
        qb->cohorts.v[i] = sorted[i];
        if (sorted[i].parent != NO_INDEX) qb->cohorts.v[i].parent = to[sorted[i].parent];
    }
    for (size_t i = 0; i < qb->queues.n; i++)
        if (qb->queues.v[i].cohort != NO_INDEX) qb->queues.v[i].cohort = to[qb->queues.v[i].cohort];
}

/* A local queue may name a queue that does not exist: Kueue accepts it and its workloads wait. */
static void resolve_local(struct quota_builder *qb, struct local_ref *l)
{
    for (size_t i = 0; i < qb->queues.n; i++)
        if (strcmp(qb->queues.v[i].name, l->queue) == 0) l->spec.cluster_queue = (uint16_t)i;
    if (l->spec.cluster_queue == NO_INDEX)
        value_warning(qb->b->diag, l->at, "there is no ClusterQueue \"%s\": jobs of this queue wait for ever", l->queue);
}

#define MOVE(qb, out, from, to, count)                                                                                 \
    do {                                                                                                               \
        (out)->to = arena_calloc((qb)->b->arena, (qb)->from.n, sizeof *(qb)->from.v);                                  \
        if ((qb)->from.n) memcpy((out)->to, (qb)->from.v, (qb)->from.n * sizeof *(qb)->from.v);                        \
        (out)->count = (uint32_t)(qb)->from.n;                                                                         \
        array_free(&(qb)->from);                                                                                       \
    } while (0)

void quota_end(struct quota_builder *qb, struct quota_spec *out)
{
    check_cycles(qb);
    order_cohorts(qb);
    out->local = arena_array(qb->b->arena, qb->local.n, struct local_queue_spec);
    out->n_local = (uint32_t)qb->local.n;
    for (size_t i = 0; i < qb->local.n; i++) {
        resolve_local(qb, &qb->local.v[i]);
        out->local[i] = qb->local.v[i].spec;
    }
    array_free(&qb->local);
    array_free(&qb->cohort_at);
    MOVE(qb, out, resources, resources, n_resources);
    MOVE(qb, out, flavors, flavors, n_flavors);
    MOVE(qb, out, cohorts, cohorts, n_cohorts);
    MOVE(qb, out, queues, queues, n_queues);
    MOVE(qb, out, priorities, priorities, n_priorities);
}
