/* none.c - no admission: every job begins its life cycle when it is submitted.
 *
 * Pods are created at once and the pod scheduler decides who gets nodes; without a gang that is how two jobs come to hold
 * half of what each needs. Life cycles without pods need a policy that places
 * (the table of combinations says so).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/policy.h"

static void submit(struct sim *s, struct job *j) { job_admit(s, j, job_detail_of(s, j)->groups, NULL); }

static void *create(struct sim *s)
{
    (void)s;
    return NULL;
}

static void destroy(struct sim *s, void *state)
{
    (void)s;
    (void)state;
}

static void ignore(struct sim *s, struct job *j)
{
    (void)s;
    (void)j;
}

static void capacity(struct sim *s) { (void)s; }

const struct policy_ops policy_none = {"none", create, destroy, submit, ignore, ignore, ignore, capacity, NULL, NULL, NULL};
