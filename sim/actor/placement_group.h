/* placement_group.h - Ray's placement groups: bundles that are reserved together on the Ray nodes of a cluster.
 *
 * First creation is all or nothing (two phases: prepare every bundle, then commit, else give all back), one group after
 * the other, 18 a second. A group that does not fit stays PENDING without holding anything and is tried again when
 * something that may help happens, after a back-off (100 ms growing by half up to `ray.pg-retry`). A bundle that no Ray
 * node can ever hold stays pending for ever, without an error.
 * When a Ray node dies, its bundles are lost and the group is RESCHEDULING: the lost bundles are placed again one by one,
 * before any new group, and the others are kept meanwhile. So two groups can each hold what the other lacks, for ever
 * (ray#65147). `whole` groups (a wish there, off in Ray) give everything back and start anew instead.
 *
 *     struct placement_group *pg = pg_create(m, &(struct pg_request){ .bundles = b, .n = 4, .strategy = PG_PACK,
 *                                                                     .changed = on_pg, .ctx = x });
 *     on_pg(x, pg, PG_CREATED) ... pg->bundles[i].node ...
 *     pg_remove(m, pg);
 *
 * Strategies: PACK fills nodes, SPREAD takes different nodes while it can, STRICT_PACK one node, STRICT_SPREAD
 * different nodes. Placement itself is pool.h's, on the pool of Ray nodes.
 * Sources: orchestration facts §4.5, §0.2; cases 25, A9. Cost: O(bundles) an attempt. Groups are owned by the manager
 * and live until pg_remove.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ACTOR_PLACEMENT_GROUP_H
#define TRAINYARD_SIM_ACTOR_PLACEMENT_GROUP_H

#include "sim/cluster/sim.h"

enum pg_strategy { PG_PACK, PG_SPREAD, PG_STRICT_PACK, PG_STRICT_SPREAD };
enum pg_state { PG_PENDING, PG_CREATED, PG_RESCHEDULING };
enum { PG_NO_NODE = UINT32_MAX };

struct pg_bundle {
    uint32_t shares;
    int64_t cpu_milli, mem_bytes;
    uint64_t groups;   /* worker groups (node groups of the pool) with the resource it asks for */
    uint32_t node;     /* Ray node that holds it, PG_NO_NODE: none */
    struct alloc alloc;
};

struct placement_group;
typedef void pg_changed_fn(void *ctx, struct placement_group *, enum pg_state);

struct pg_request {
    const struct pg_bundle *bundles; /* copied */
    uint32_t n;
    enum pg_strategy strategy;
    bool whole;
    pg_changed_fn *changed;          /* on PG_CREATED and PG_RESCHEDULING */
    void *ctx;
};

struct placement_group {
    struct pg_bundle *bundles;
    uint32_t n, held;                /* bundles; of these held */
    uint8_t strategy, state;
    bool whole, uniform /* all bundles alike */, forgotten /* the GCS lost it */;
    pg_changed_fn *changed;
    void *ctx;
    int64_t backoff_ns, not_before_ns;
    uint64_t seen;                   /* the manager's news at its last attempt */
    struct placement_group *next, *prev;
};

struct pg_manager;
struct gcs;

/* `sim` for clock and constants, `pool` to place on; `g` may be NULL (tests). */
struct pg_manager *pg_manager_make(struct sim *, struct pool *);
struct pg_manager *pg_manager_create(struct gcs *);
void pg_manager_destroy(struct pg_manager *);

struct placement_group *pg_create(struct pg_manager *, const struct pg_request *);
void pg_remove(struct pg_manager *, struct placement_group *);
/* The control plane stops and goes on (a GCS that is down schedules nothing); all groups are forgotten with its state. */
void pg_pause(struct pg_manager *, bool);
void pg_forget_all(struct pg_manager *);
/* Something that may help: a Ray node joined, bundles were given back. */
void pg_capacity(struct pg_manager *);
/* The bundles of a Ray node are lost (the pool has been told that it is down). */
void pg_node_dead(struct pg_manager *, uint32_t node);

/* The largest share that a Ray node of the pool has, for "infeasible: max node ..."; a group with a bundle that fits no
 * node, even an empty one, is infeasible. */
bool pg_infeasible(const struct pg_manager *, const struct placement_group *);
uint32_t pg_used_on(const struct pg_manager *, uint32_t node);   /* bundles on a node */
int64_t pg_idle_since(const struct pg_manager *, uint32_t node); /* when the last one left it; 0: never used */

#endif
