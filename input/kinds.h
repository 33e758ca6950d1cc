/* kinds.h - the kinds of job a scenario may name: one row each.
 *
 * A seed kind (PyTorchJob, RayJob ...) brings the field names and defaults of the real object; a neutral load (`train`)
 * says only what work there is, and the approach decides as what it runs. Defaults: facts of training-operator 1.9
 * (api/kubeflow.org/v1 defaults), KubeRay 1.6, batch/v1.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_KINDS_H
#define TRAINYARD_INPUT_KINDS_H

#include <stdint.h>

enum restart_policy { RESTART_ALWAYS, RESTART_ON_FAILURE, RESTART_NEVER, RESTART_EXIT_CODE, N_RESTART_POLICIES };
enum clean_pod_policy { CLEAN_NONE, CLEAN_RUNNING, CLEAN_ALL, N_CLEAN_POD_POLICIES };

/* Roles a replica spec may have; the names are those of the objects. */
#define ROLES(X)                                                                                                       \
    X(ROLE_MASTER, "Master") X(ROLE_WORKER, "Worker") X(ROLE_HEAD, "Head") X(ROLE_SUBMITTER, "Submitter")              \
    X(ROLE_POD, "Pod")
#define X_ENUM(e, ...) e,
enum pod_role { ROLES(X_ENUM) N_POD_ROLES };

/* X(enum, name, default restart policy, load class) */
#define JOB_KINDS(X)                                                                                                   \
    X(KIND_TRAIN, "train", RESTART_ON_FAILURE, "train")                                                                \
    X(KIND_PYTORCHJOB, "PyTorchJob", RESTART_ON_FAILURE, "train")                                                      \
    X(KIND_RAYJOB, "RayJob", RESTART_ALWAYS, "train")                                                                  \
    X(KIND_RAYCLUSTER, "RayCluster", RESTART_ALWAYS, "cluster")                                                        \
    X(KIND_JOB, "Job", RESTART_ON_FAILURE, "train")
enum job_kind { JOB_KINDS(X_ENUM) N_JOB_KINDS };
#undef X_ENUM

struct job_kind_info { const char *name; enum restart_policy restart; const char *load; };
extern const struct job_kind_info job_kind_table[N_JOB_KINDS];
extern const char *const role_names[N_POD_ROLES];
extern const char *const restart_policy_names[N_RESTART_POLICIES];
extern const char *const clean_pod_policy_names[N_CLEAN_POD_POLICIES];

#endif
