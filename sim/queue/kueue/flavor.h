/* flavor.h - which flavors a workload gets, and whether by fitting, by preempting, or not at all.
 *
 * Kueue's pkg/scheduler/flavorassigner. For each pod set and resource group the flavors are tried in the queue's order,
 * each for all resources of the group at once; the worst resource gives the flavor's mode:
 *   no fit       above what the queue could ever get, or quota is used and policy allows no preemption
 *   no victims   preemption is allowed but a simulation finds no set of victims
 *   preempt      there are victims, some in the own queue;  reclaim: all in other queues
 *   fit          available now
 * together with a borrowing level (quota.h; after the preemptions where there are some). The search ends at a flavor
 * that fits or preempts unless flavorFungibility says to try the next; then the best flavor seen is taken. What
 * earlier pod sets of the workload took counts as used. Where a search ended early is remembered: the next one goes on
 * from there, unless quota was freed in the queue meanwhile.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_KUEUE_FLAVOR_H
#define TRAINYARD_SIM_QUEUE_KUEUE_FLAVOR_H

#include "sim/queue/kueue/core.h"

enum flavor_mode { MODE_NO_FIT, MODE_PREEMPT, MODE_FIT };

/* What is missing. Of the resources of one flavor the least hopeful counts, of several flavors the most hopeful (quota
 * that may be freed, then more than the maximum, then a flavor that does not match); of several groups the one that
 * rules the workload out. */
struct lack {
    enum kueue_reason reason;
    uint16_t flavor, resource;
    int64_t short_by;
};

struct evaluation {
    enum flavor_mode mode;
    uint8_t borrow;               /* the worst borrowing level */
    struct assignment assignment; /* .uses points at uses below */
    struct quota_use uses[KUEUE_MAX_USES];
    uint32_t n_needs;
    struct quota_use needs[KUEUE_MAX_USES]; /* the pairs in preempt mode */
    uint32_t tried;                         /* where the next search begins (struct workload) */
    uint32_t message;                       /* hash of what lacks */
    struct lack lack;                       /* why it does not fit; .reason is KUEUE_OK when it does */
};

/* `counts`: pods per pod set. Uses the state of the quota as it is, and leaves it as it was. */
void flavor_assign(struct kueue *k, uint32_t workload, const uint32_t *counts, struct evaluation *e);

#endif
