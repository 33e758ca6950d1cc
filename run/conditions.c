/* conditions.c - see conditions.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "run/conditions.h"

#include <stddef.h>

#include "run/record.h"

#define X_NAME(e, name) [e] = name,
const char *const condition_type_names[N_CONDITION_TYPES] = {CONDITION_TYPES(X_NAME)};
const char *const job_condition_names[N_JOB_CONDITIONS] = {JOB_CONDITIONS(X_NAME)};
const char *const raycluster_condition_names[N_RAYCLUSTER_CONDITIONS] = {RAYCLUSTER_CONDITIONS(X_NAME)};
const char *const raycluster_reason_names[N_RAYCLUSTER_REASONS] = {RAYCLUSTER_REASONS(X_NAME)};
const char *const rayjob_status_names[N_RAYJOB_STATUSES] = {RAYJOB_STATUSES(X_NAME)};
const char *const rayjob_reason_names[N_RAYJOB_REASONS] = {RAYJOB_REASONS(X_NAME)};
const char *const ray_train_state_names[N_RAY_TRAIN_STATES] = {RAY_TRAIN_STATES(X_NAME)};

static const char *const kubeflow_statuses[] = {"False", "True", "removed"};
static const char *const raycluster_statuses[] = {"none", "False", "True"};

#define NAMED(names, i) ((uint64_t)(i) < sizeof(names) / sizeof *(names) ? (names)[i] : "?")

struct condition_words condition_words(const struct record *r)
{
    uint32_t c = r->subject;
    if (c < N_CONDITION_TYPES) return (struct condition_words){condition_type_names[c], NAMED(kubeflow_statuses, r->code), ""};
    if (c >= JOB_CONDITION_BASE && c < JOB_CONDITION_BASE + N_JOB_CONDITIONS)
        return (struct condition_words){job_condition_names[c - JOB_CONDITION_BASE], NAMED(kubeflow_statuses, r->code), ""};
    if (c >= RAY_CONDITION_BASE && c < RAY_CONDITION_JOB)
        return (struct condition_words){raycluster_condition_names[c - RAY_CONDITION_BASE], NAMED(raycluster_statuses, r->code),
                                        NAMED(raycluster_reason_names, r->a)};
    if (c == RAY_CONDITION_JOB)
        return (struct condition_words){"JobDeploymentStatus", NAMED(rayjob_status_names, r->code), NAMED(rayjob_reason_names, r->a)};
    if (c == RAY_CONDITION_TRAIN) return (struct condition_words){"RayTrain", NAMED(ray_train_state_names, r->code), ""};
    return (struct condition_words){"?", "?", ""};
}
