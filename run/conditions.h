/* conditions.h - what the objects of a job say of themselves: the numbers in records of type job_condition.
 *
 * The subject is the condition, the code its status, a the reason:
 *     0 ...                   a Kubeflow job's conditions; code 0 False, 1 True, 2 removed; a: of the simulator
 *     JOB_CONDITION_BASE ...  a batch/v1 Job's; code 0 False, 1 True
 *     RAY_CONDITION_BASE ...  a RayCluster's; code 0 none, 1 False, 2 True; a: enum raycluster_reason
 *     RAY_CONDITION_JOB       a RayJob's jobDeploymentStatus; code: enum rayjob_status; a: enum rayjob_reason
 *     RAY_CONDITION_TRAIN     the state of a Ray Train controller; code: enum ray_train_state
 *
 * Each list is an X-macro of enum and name, as Kubernetes and Ray write it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_CONDITIONS_H
#define TRAINYARD_RUN_CONDITIONS_H

#define CONDITION_TYPES(X)                                                                                             \
    X(COND_CREATED, "Created") X(COND_RUNNING, "Running") X(COND_RESTARTING, "Restarting")                             \
    X(COND_SUCCEEDED, "Succeeded") X(COND_FAILED, "Failed") X(COND_SUSPENDED, "Suspended")
/* In the order in which they are set. */
#define JOB_CONDITIONS(X)                                                                                              \
    X(JOB_COND_SUSPENDED, "Suspended") X(JOB_COND_SUCCESS, "SuccessCriteriaMet") X(JOB_COND_COMPLETE, "Complete")       \
    X(JOB_COND_FAILURE, "FailureTarget") X(JOB_COND_FAILED, "Failed")
#define RAYCLUSTER_CONDITIONS(X)                                                                                       \
    X(RC_HEAD_POD_READY, "HeadPodReady") X(RC_PROVISIONED, "RayClusterProvisioned")                                    \
    X(RC_SUSPENDED, "RayClusterSuspended") X(RC_SUSPENDING, "RayClusterSuspending")
#define RAYCLUSTER_REASONS(X)                                                                                          \
    X(RCR_NONE, "") X(RCR_UNKNOWN, "Unknown") X(RCR_HEAD_READY, "HeadPodRunningAndReady")                              \
    X(RCR_HEAD_NOT_FOUND, "HeadPodNotFound") X(RCR_PROVISIONING, "RayClusterPodsProvisioning")                         \
    X(RCR_ALL_READY, "AllPodRunningAndReadyFirstTime") X(RCR_SUSPENDED, "RayClusterSuspended")                         \
    X(RCR_SUSPENDING, "RayClusterSuspending")
#define RAYJOB_STATUSES(X)                                                                                             \
    X(RJ_NEW, "") X(RJ_INITIALIZING, "Initializing") X(RJ_RUNNING, "Running") X(RJ_COMPLETE, "Complete")               \
    X(RJ_FAILED, "Failed") X(RJ_RETRYING, "Retrying") X(RJ_SUSPENDING, "Suspending") X(RJ_SUSPENDED, "Suspended")   \
    X(RJ_INVALID, "ValidationFailed")
#define RAYJOB_REASONS(X)                                                                                              \
    X(RJR_NONE, "") X(RJR_SUBMISSION_FAILED, "SubmissionFailed") X(RJR_DEADLINE, "DeadlineExceeded")                   \
    X(RJR_APP_FAILED, "AppFailed") X(RJR_GRACE, "JobDeploymentStatusTransitionGracePeriodExceeded")                 \
    X(RJR_INVALID, "ValidationFailed")
#define RAY_TRAIN_STATES(X)                                                                                            \
    X(RT_INITIALIZING, "Initializing") X(RT_SCHEDULING, "Scheduling") X(RT_RESCHEDULING, "Rescheduling")               \
    X(RT_RUNNING, "Running") X(RT_RESTARTING, "Restarting") X(RT_RESIZING, "Resizing") X(RT_ERRORED, "Errored")        \
    X(RT_FINISHED, "Finished")

#define X_ENUM(e, ...) e,
enum condition_type { CONDITION_TYPES(X_ENUM) N_CONDITION_TYPES };
enum job_condition { JOB_CONDITIONS(X_ENUM) N_JOB_CONDITIONS };
enum raycluster_condition { RAYCLUSTER_CONDITIONS(X_ENUM) N_RAYCLUSTER_CONDITIONS };
enum raycluster_reason { RAYCLUSTER_REASONS(X_ENUM) N_RAYCLUSTER_REASONS };
enum rayjob_status { RAYJOB_STATUSES(X_ENUM) N_RAYJOB_STATUSES };
enum rayjob_reason { RAYJOB_REASONS(X_ENUM) N_RAYJOB_REASONS };
enum ray_train_state { RAY_TRAIN_STATES(X_ENUM) N_RAY_TRAIN_STATES };
#undef X_ENUM

enum { JOB_CONDITION_BASE = 16, RAY_CONDITION_BASE = 32, RAY_CONDITION_JOB = RAY_CONDITION_BASE + N_RAYCLUSTER_CONDITIONS, RAY_CONDITION_TRAIN };

extern const char *const condition_type_names[N_CONDITION_TYPES];
extern const char *const job_condition_names[N_JOB_CONDITIONS];
extern const char *const raycluster_condition_names[N_RAYCLUSTER_CONDITIONS];
extern const char *const raycluster_reason_names[N_RAYCLUSTER_REASONS];
extern const char *const rayjob_status_names[N_RAYJOB_STATUSES];
extern const char *const rayjob_reason_names[N_RAYJOB_REASONS];
extern const char *const ray_train_state_names[N_RAY_TRAIN_STATES];

/* Name and status of the condition of a record, "?" for numbers out of range, and its reason, "" when none is told:
 * "RayClusterProvisioned", "True", "AllPodRunningAndReadyFirstTime". */
struct record;
struct condition_words { const char *name, *status, *reason; };
struct condition_words condition_words(const struct record *);

#endif
