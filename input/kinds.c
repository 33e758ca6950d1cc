/* kinds.c - the tables of job kinds, roles and policies by name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/kinds.h"

#include "input/raw.h"

#define X_ROW(e, name, restart, load) { name, restart, load },
const struct job_kind_info job_kind_table[N_JOB_KINDS] = { JOB_KINDS(X_ROW) };
#undef X_ROW

#define X_NAME(e, name, ...) name,
const char *const job_kind_names[N_JOB_KINDS] = { JOB_KINDS(X_NAME) };
const char *const role_names[N_POD_ROLES] = { ROLES(X_NAME) };
const char *const fault_action_names[N_FAULT_ACTIONS] = { FAULT_ACTIONS(X_NAME) };
const char *const lifecycle_names[N_LIFECYCLES] = { LIFECYCLES(X_NAME) };
const char *const admission_names[N_ADMISSIONS] = { ADMISSIONS(X_NAME) };
const char *const scheduler_names[N_SCHEDULERS] = { SCHEDULERS(X_NAME) };
const char *const gang_names[N_GANGS] = { GANGS(X_NAME) };
const char *const placement_names[N_PLACEMENTS] = { PLACEMENTS(X_NAME) };
const char *const ray_cluster_names[N_RAY_CLUSTERS] = { RAY_CLUSTERS(X_NAME) };
const char *const elastic_names[N_ELASTICS] = { ELASTICS(X_NAME) };
#undef X_NAME

const char *const restart_policy_names[N_RESTART_POLICIES] = { "Always", "OnFailure", "Never", "ExitCode" };
const char *const clean_pod_policy_names[N_CLEAN_POD_POLICIES] = { "None", "Running", "All" };

const char *const queueing_strategy_names[2] = { "BestEffortFIFO", "StrictFIFO" };
const char *const preempt_within_names[3] = { "Never", "LowerPriority", "LowerOrNewerEqualPriority" };
const char *const preempt_reclaim_names[3] = { "Never", "LowerPriority", "Any" };
const char *const stop_policy_names[3] = { "None", "Hold", "HoldAndDrain" };
const char *const taint_effect_names[3] = { "NoSchedule", "NoExecute", "PreferNoSchedule" };
const char *const topology_level_names[4] = { "none", "host", "rack", "block" };
const char *const fault_scope_names[N_FAULT_SCOPES] = { "gpu", "node", "rack", "switch", "storage", "link" };
