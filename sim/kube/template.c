/* template.c - what every owner of pods does alike: node selectors, and scripted actions on a pod.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "input/objects.h"
#include "sim/kube/kube.h"

static bool has_label(const struct node_group *g, const struct manifest_text *want)
{
    for (size_t i = 0; i < g->labels.n; i++)
        if (!strcmp(g->labels.v[i].key, want->key) && !strcmp(g->labels.v[i].value, want->value)) return true;
    return false;
}

uint64_t kube_selected_groups(const struct sim *s, const struct pod_template *pod)
{
    const struct cluster_spec *c = &s->scenario->cluster;
    uint64_t groups = UINT64_MAX;
    for (uint32_t g = 0; pod && g < c->n_groups; g++)
        for (size_t i = 0; i < pod->n_node_selector; i++)
            if (!has_label(&c->groups[g], &pod->node_selector[i])) groups &= ~(UINT64_C(1) << g);
    return groups;
}

bool kube_pod_script(struct kube *k, struct pod *p, const struct script_action *a)
{
    int32_t code = (int32_t)a->value;
    switch (a->action) {
    case DO_CONTAINER_EXIT: kube_pod_exit(k, p, code); return true;
    case DO_CRASH: kube_pod_exit(k, p, code ? code : 1); return true;
    case DO_POD_FAILED: kube_pod_finish(k, p, POD_FAILED, code ? code : 1); return true;
    case DO_POD_EVICTED: kube_pod_finish(k, p, POD_FAILED, -1); return true;
    case DO_POD_SUCCEEDED: kube_pod_finish(k, p, POD_SUCCEEDED, 0); return true;
    case DO_POD_DELETED: kube_pod_delete(k, p, -1); return true;
    case DO_FORCE_DELETE: kube_pod_force_delete(k, p); return true;
    default: return false;
    }
}
