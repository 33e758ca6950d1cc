/* nodes.c - live nodes as nodes of the scenario.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "real/kubernetes/observe.h"

static const char *label_of(const cJSON *labels, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(labels, key));
}

/* The name's group by the label that manifests_nodes writes, else the first whose own labels it all has. */
static uint32_t group_of(const struct k8s_run *r, const cJSON *labels)
{
    const struct cluster_spec *c = &r->s->cluster;
    const char *name = label_of(labels, "trainyard/group"), *product = label_of(labels, "nvidia.com/gpu.product");
    for (uint32_t g = 0; name && g < c->n_groups; g++)
        if (strcmp(c->groups[g].name, name) == 0) return g;
    for (uint32_t g = 0; g < c->n_groups; g++) {
        const struct node_group *of = &c->groups[g];
        size_t same = 0;
        for (size_t i = 0; i < of->labels.n; i++) {
            const char *has = label_of(labels, of->labels.v[i].key);
            same += has && strcmp(has, of->labels.v[i].value) == 0;
        }
        if (of->labels.n ? same == of->labels.n : product && of->gpu[0] && strcmp(product, of->gpu) == 0) return g;
    }
    return c->n_groups == 1 && c->groups[0].labels.n == 0 && !c->groups[0].gpu[0] ? 0 : LIVE_NONE;
}

/* GROUP-NUMBER, where that one is free; else the first free one. */
static uint32_t place_in(struct k8s_run *r, uint32_t g, const char *name)
{
    const struct node_group *of = &r->s->cluster.groups[g];
    size_t n = strlen(of->name);
    char *end = NULL;
    unsigned long index = strncmp(name, of->name, n) == 0 && name[n] == '-' ? strtoul(name + n + 1, &end, 10) : of->count;
    if (!end || *end || end == name + n + 1) index = of->count;
    if (index < of->count && !r->node_taken[of->first_node + index]) return of->first_node + (uint32_t)index;
    while (r->next_node[g] < of->count && r->node_taken[of->first_node + r->next_node[g]]) r->next_node[g]++;
    return r->next_node[g] < of->count ? of->first_node + r->next_node[g] : LIVE_NONE;
}

uint32_t k8s_node_number(struct k8s_run *r, const char *name)
{
    uint64_t number = LIVE_NONE;
    hmap_get_str(&r->nodes, name, &number);
    return (uint32_t)number;
}

static bool is_ready(const cJSON *node)
{
    const cJSON *c, *list = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(node, "status"), "conditions");
    cJSON_ArrayForEach(c, list)
    {
        const char *type = label_of(c, "type"), *status = label_of(c, "status");
        if (type && status && strcmp(type, "Ready") == 0) return strcmp(status, "True") == 0;
    }
    return true; /* one that says nothing is new */
}

void k8s_node_seen(struct k8s_run *r, const cJSON *node)
{
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(node, "metadata");
    const char *name = label_of(meta, "name");
    uint64_t number;
    if (!name) return;
    if (!hmap_get_str(&r->nodes, name, &number)) {
        uint32_t g = group_of(r, cJSON_GetObjectItemCaseSensitive(meta, "labels"));
        number = g == LIVE_NONE ? LIVE_NONE : place_in(r, g, name);
        hmap_put_str(&r->nodes, name, number);
        if (number != LIVE_NONE) r->node_taken[number] = true;
    }
    if (number == LIVE_NONE) return;
    bool cordoned = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(node, "spec"), "unschedulable"));
    if (live_node(r->live, (uint32_t)number, !is_ready(node) ? ACT_FAILED : cordoned ? ACT_DRAINED : ACT_FREE)) k8s_pods_take_wanted(r);
}

void k8s_observe_node(enum k8s_change change, const cJSON *node, void *arg)
{
    struct k8s_run *r = arg;
    if (change != K8S_DELETED) {
        k8s_node_seen(r, node);
        return;
    }
    const char *name = label_of(cJSON_GetObjectItemCaseSensitive(node, "metadata"), "name");
    uint32_t number = name ? k8s_node_number(r, name) : LIVE_NONE;
    if (number != LIVE_NONE) live_node(r->live, number, ACT_FAILED);
}
