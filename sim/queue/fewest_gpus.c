/* fewest_gpus.c - the job with the fewest GPUs first, preemptive (Tiresias' `sjf`).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/policy.h"
#include "sim/queue/priority.h"

static void *create(struct sim *s) { return priority_create(s, BY_GPUS); }

const struct policy_ops policy_fewest_gpus = {"fewest-gpus",     create,            priority_destroy,
                                              priority_submit,   priority_withdraw, priority_finished,
                                              priority_released, priority_capacity, NULL, priority_capacity, NULL};
