/* kueue_setup.h - the quotas of a scenario as Kueue's library takes them.
 *
 * Flavors and resources keep the scenario's numbers; amounts are in thousandths, as there. Nothing of the scenario is kept.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_KUEUE_SETUP_H
#define TRAINYARD_SIM_QUEUE_KUEUE_SETUP_H

#include "input/scenario.h"
#include "sim/queue/kueue/kueue.h"

/* All cohorts, parents first: their numbers are the scenario's. Before the queues. */
void kueue_setup_cohorts(struct kueue *, const struct quota_spec *);
/* A queue with the next number (`id` KUEUE_NONE), or other quotas for the queue `id`. `nominal` >= 0: in place of the
 * scenario's, for the first resource of the first flavor. */
void kueue_setup_queue(struct kueue *, const struct quota_spec *, const struct cluster_queue_spec *, uint32_t id, int64_t nominal, int64_t now_ns);
/* The cluster queue by the name of a local queue or, the short form, by its own; KUEUE_NONE: there is none. */
uint32_t kueue_find_queue(const struct quota_spec *, const char *name);

#endif
