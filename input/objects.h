/* objects.h - the Kubernetes objects of a scenario, as far as environment and pods need them.
 *
 * "objects" of a scenario lists YAML files (globs) or holds objects in place. The quota objects become struct
 * quota_spec; each PyTorchJob, RayJob, RayCluster and Job becomes a manifest here, a job class and a job. What the object
 * says is kept as it is written (text for environment and ports); defaults of the real controllers are applied to
 * job_detail, not here, so that `explain --env` can tell what was given from what was defaulted.
 *
 *     const struct manifest *m = detail->manifest;              // NULL: the job came without an object
 *     const struct pod_template *p = detail->roles[i].pod;      // its pods; p->containers[0].env ...
 *
 * How long a job works is not in its object: annotations say it, with the keys of a scenario's job behind "trainyard/":
 * `trainyard/duration: 30m`, `trainyard/submit: 5s`, `trainyard/steps: "1000"`; or an entry of "workload"/"jobs" with
 * "object": NAME. Without either the job does not end by itself.
 *
 * Kinds read: ResourceFlavor, Cohort, ClusterQueue, LocalQueue, WorkloadPriorityClass (kueue.x-k8s.io/v1beta1, v1beta2),
 * PriorityClass (scheduling.k8s.io/v1), PyTorchJob (kubeflow.org/v1), RayCluster, RayJob (ray.io/v1), Job (batch/v1). Others give a
 * warning and are left out. Pod templates are open: of them containers, resources, nodeSelector, tolerations, labels
 * and annotations are read. All memory lies in the scenario's arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_OBJECTS_H
#define TRAINYARD_INPUT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/kinds.h"

struct value;

struct manifest_env { const char *name, *value; /* NULL: by valueFrom */ };
struct manifest_port { const char *name, *protocol; int64_t number; };
struct manifest_amount { const char *resource, *text; int64_t milli; };

struct manifest_container {
    const char *name, *image;
    const char **command; size_t n_command;
    const char **args; size_t n_args;
    struct manifest_env *env; size_t n_env;
    struct manifest_port *ports; size_t n_ports;
    struct manifest_amount *limits; size_t n_limits;
    struct manifest_amount *requests; size_t n_requests;
};

struct manifest_text { const char *key, *value; };

struct pod_template {
    enum pod_role role;
    const char *name;         /* "Master", "Worker"; a worker group's name; "head" */
    int64_t replicas;         /* as written, -1: absent */
    const char *restart;      /* restartPolicy as written, NULL: absent */
    struct manifest_container *containers; size_t n_containers;
    struct manifest_container *init_containers; size_t n_init_containers;
    struct manifest_text *labels; size_t n_labels;
    struct manifest_text *annotations; size_t n_annotations;
    struct manifest_text *node_selector; size_t n_node_selector;
    struct manifest_text *ray_start; size_t n_ray_start; /* rayStartParams */
    int64_t num_of_hosts;     /* RayCluster worker groups; 1 */
    const struct value *value; /* the template itself, for what is not above (value.h) */
};

struct manifest {
    const char *api_version, *kind, *name, *ns;
    struct pod_template *pods; size_t n_pods; /* PyTorchJob: Master, Worker; Ray: head, then worker groups */
    /* PyTorchJob */
    const char *nproc;        /* spec.nprocPerNode, NULL: absent */
    bool elastic;             /* spec.elasticPolicy is there; its texts are NULL and numbers -1 when absent */
    const char *elastic_nproc, *rdzv_backend, *rdzv_host, *rdzv_id;
    int64_t rdzv_port, elastic_min, elastic_max, elastic_restarts;
    bool standalone;
    struct manifest_text *rdzv_conf; size_t n_rdzv_conf;
    /* Ray */
    const char *ray_version, *entrypoint, *submission_mode;
    const struct value *value; /* the whole object */
};

#endif
