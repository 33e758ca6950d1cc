/* resources.c - the kinds that are made, watched or read: Secrets are none of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include <curl/curl.h>

#include "real/kubernetes/client.h"

const struct k8s_resource k8s_namespaces = { "v1", "Namespace", "namespaces", false };
const struct k8s_resource k8s_nodes = { "v1", "Node", "nodes", false };
const struct k8s_resource k8s_pods = { "v1", "Pod", "pods", true };
const struct k8s_resource k8s_events = { "v1", "Event", "events", true };
const struct k8s_resource k8s_workloads = { "kueue.x-k8s.io/v1beta2", "Workload", "workloads", true };

/* In the order in which they are deleted: what uses others before what it uses. */
static const struct k8s_resource written[] = {
    { "kubeflow.org/v1", "PyTorchJob", "pytorchjobs", true },
    { "ray.io/v1", "RayJob", "rayjobs", true },
    { "ray.io/v1", "RayCluster", "rayclusters", true },
    { "batch/v1", "Job", "jobs", true },
    { "kueue.x-k8s.io/v1beta2", "LocalQueue", "localqueues", true },
    { "kueue.x-k8s.io/v1beta2", "ClusterQueue", "clusterqueues", false },
    { "kueue.x-k8s.io/v1beta2", "Cohort", "cohorts", false },
    { "kueue.x-k8s.io/v1beta2", "ResourceFlavor", "resourceflavors", false },
    { "kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", "workloadpriorityclasses", false },
    { "scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false },
};

const struct k8s_resource *k8s_resource_at(size_t i)
{
    size_t n = sizeof written / sizeof *written;
    return i < n ? &written[i] : i == n ? &k8s_namespaces : NULL;
}

const struct k8s_resource *k8s_resource_of(const char *api_version, const char *kind)
{
    const struct k8s_resource *r;
    for (size_t i = 0; (r = k8s_resource_at(i)); i++)
        if (strcmp(r->kind, kind) == 0 && strcmp(r->api_version, api_version) == 0) return r;
    return NULL;
}

/* Core kinds live under /api, the others under /apis. */
void k8s_path(struct str *out, const struct k8s_client *c, const struct k8s_resource *r, const char *ns, const char *name)
{
    str_printf(out, "%s/%s/%s", k8s_client_server(c), strchr(r->api_version, '/') ? "apis" : "api", r->api_version);
    if (r->namespaced && ns) str_printf(out, "/namespaces/%s", ns);
    str_printf(out, "/%s", r->plural);
    if (name) str_printf(out, "/%s", name);
}

void k8s_query(struct str *out, const char *key, const char *value)
{
    char *escaped = curl_easy_escape(NULL, value, 0);
    str_printf(out, "%c%s=%s", strchr(str_text(out), '?') ? '&' : '?', key, escaped ? escaped : "");
    curl_free(escaped);
}
