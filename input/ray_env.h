/* ray_env.h - what KubeRay 1.6 writes into the pods of a RayCluster: environment, start command, init container.
 *
 * A pure function of the object (KR ray-operator/controllers/ray/common/pod.go), equal to recorded/env/raycluster-* in
 * names, values and order; what the user wrote stands first.
 *
 *     struct ray_pod_env e = ray_env(arena, &(struct ray_env_of){ .object = m, .pod = &m->pods[1], .cluster = "rc",
 *                                                                 .ns = "default" });
 *     e.env.v[0].name, .value (or .field: valueFrom a field of the pod), e.args, e.init_args ...
 *
 *   worker first  FQ_RAY_IP, RAY_IP (the head's service)
 *   all           RAY_CLUSTER_NAME, RAY_CLUSTER_NAMESPACE, RAY_CLOUD_INSTANCE_ID, RAY_NODE_TYPE_NAME (from the pod's fields),
 *                 KUBERAY_GEN_RAY_START_CMD, RAY_PORT, RAY_ADDRESS, RAY_USAGE_STATS_KUBERAY_IN_USE,
 *                 [head: RAY_USAGE_STATS_EXTRA_TAGS], RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE
 *   ray start     parameters in alphabetical order: the user's, and those that KubeRay adds (address, block,
 *                 dashboard-agent-listen-port, dashboard-host of the head, memory, metrics-export-port, num-cpus, num-gpus
 *                 from the container's limits)
 *
 * All memory lies in the arena; texts of the manifest are not copied.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_RAY_ENV_H
#define TRAINYARD_INPUT_RAY_ENV_H

#include "base/arena.h"
#include "input/objects.h"
#include "input/scenario.h"

struct ray_env_var { const char *name, *value, *field; }; /* both NULL: as the user wrote it, by valueFrom */
struct ray_env_list { struct ray_env_var *v; size_t n; };

struct ray_env_of {
    const struct manifest *object;
    const struct pod_template *pod; /* one of the object's; role ROLE_HEAD or a worker group's */
    const char *cluster, *ns;       /* names of the RayCluster (generated for a RayJob) and of its namespace */
};

struct ray_pod_env {
    struct ray_env_list env;
    const char *const *command; size_t n_command; /* of the Ray container */
    const char *args;
    struct ray_env_list init_env;  /* of wait-gcs-ready; none for the head */
    const char *init_args;         /* NULL for the head; its command is the Ray container's */
};

struct ray_pod_env ray_env(struct arena *, const struct ray_env_of *);

/* The RayJob that a job without an object would be: one worker group of its main role. */
struct manifest *ray_manifest_of(struct arena *, const struct scenario *, const struct job_spec *);

#endif
