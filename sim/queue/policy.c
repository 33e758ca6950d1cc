/* policy.c - the table of admission policies.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/policy.h"

static const struct policy_ops *const policies[N_ADMISSIONS] = {
    [ADMIT_NONE] = &policy_none,
    [ADMIT_FIFO] = &policy_fifo,
    [ADMIT_FIFO_SKIP] = &policy_fifo_skip,
    [ADMIT_KUEUE] = &policy_kueue,
    [ADMIT_FEWEST_GPUS] = &policy_fewest_gpus,
    [ADMIT_SRPT] = &policy_srpt,
    [ADMIT_LAS] = &policy_las,
    [ADMIT_EASY] = &policy_easy,
    [ADMIT_CONSERVATIVE] = &policy_conservative,
};

const struct policy_ops *policy_find(enum admission_name name) { return policies[name]; }

bool policy_script(struct sim *s, const struct script_action *a)
{
    return s->policy == &policy_kueue && kueue_policy_script(s, a);
}
