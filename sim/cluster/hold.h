/* hold.h - holding GPUs: the one path on which pool, ledger, records and a job's own sums change together.
 *
 *     hold_take(sim, job, &alloc, group_id, ACT_IMAGE_PULL);  // after pool_place filled it
 *     hold_enter(sim, &h, ACT_RENDEZVOUS);
 *     hold_lift(sim, &h); ... hold_land(sim, &h, ACT_TERMINATING);   // while it trains (sim/train)
 *     hold_drop(sim, &h);                                     // given back: free, or down if its node is
 *
 * A hold is one allocation group: all its shares are in one activity. Its time adds to the job's held shares when the
 * activity is of class `held`; work and redone are added by who books them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_CLUSTER_HOLD_H
#define TRAINYARD_SIM_CLUSTER_HOLD_H

#include "sim/cluster/sim.h"

struct hold {
    struct alloc alloc;
    struct job *job;      /* NULL: a pool's own hold, in accounts of no job */
    struct hold *next, *prev; /* all active holds of the simulation */
    int64_t since_ns;
    uint32_t group;       /* number of the group within its job, in the records */
    uint8_t activity;     /* enum activity */
    bool lifted;
    uint8_t cause;        /* of the account it is in */
    uint16_t queue, team, kind;
    uint16_t home;        /* node group that all of it lies in, or NO_INDEX: in several */
    uint32_t account;     /* ledger account there, of the present cause */
};

/* `a` is moved into the hold. */
void hold_take(struct sim *, struct hold *, struct job *, struct alloc *a, uint32_t group, enum activity);
void hold_enter(struct sim *, struct hold *, enum activity);
/* The shares leave the ledger's clocks; the one who lifts books them and lands them. */
void hold_lift(struct sim *, struct hold *);
void hold_land(struct sim *, struct hold *, enum activity);
/* Books share-ns of lifted shares: `share_time` of all shares of the hold, split over node groups. */
void hold_book(struct sim *, struct hold *, enum activity, bool redone, int64_t ns);
void hold_drop(struct sim *, struct hold *);
/* Brings the jobs' own sums of what is held now up to date. */
void holds_settle(struct sim *);
static inline bool hold_active(const struct hold *h) { return h->alloc.n_parts != 0; }
/* Tells the ledger that it belongs to the job's present cause from now on. */
void hold_recause(struct sim *, struct hold *);
/* Whether any of it lies on the node. */
bool hold_is_on(const struct hold *, uint32_t node);
/* Node intervals of the allocation for jobs.csv; `out` of room for n_parts. Returns how many. */
uint32_t hold_intervals(const struct alloc *, struct node_interval *out);

#endif
