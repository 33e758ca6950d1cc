/* srpt.c - the job with the shortest remaining time first, preemptive (Tiresias' `shortest`).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/policy.h"
#include "sim/queue/priority.h"

static void *create(struct sim *s) { return priority_create(s, BY_REMAINING_TIME); }

const struct policy_ops policy_srpt = {"srpt",            create,            priority_destroy,
                                       priority_submit,   priority_withdraw, priority_finished,
                                       priority_released, priority_capacity, NULL, priority_capacity, NULL};
