/* policy.h - the table of admission policies.
 *
 * A policy is one file (or folder) and one row here. `fifo` and its kin place whole jobs themselves when the life cycle
 * has no pods (they pass an allocation to job_admit), else they reserve by count and leave the nodes to the pod
 * scheduler. Decisions are taken in a pass of priority EVENT_SCHEDULE, so all releases and submissions of an instant
 * are seen together; a policy asks for a pass with policy_pass().
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_POLICY_H
#define TRAINYARD_SIM_QUEUE_POLICY_H

#include "sim/cluster/sim.h"

const struct policy_ops *policy_find(enum admission_name);

extern const struct policy_ops policy_none, policy_fifo, policy_fifo_skip, policy_fewest_gpus, policy_srpt, policy_las,
    policy_easy, policy_conservative, policy_kueue;

/* A scripted action on "queue/NAME"; false: the policy has no such queue or knows no such thing. */
bool policy_script(struct sim *, const struct script_action *);
bool kueue_policy_script(struct sim *, const struct script_action *);

#endif
