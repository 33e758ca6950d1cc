/* seats.c - where the workers of a group sit when the cluster is their job's own: each takes one pod whole.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/actor/actor.h"
#include "sim/cluster/hold.h"

/* The pod of the i-th bundle, NULL when it has gone. */
static struct pod *pod_of(const struct ray_train *t, uint32_t i)
{
    uint32_t node = t->pg->bundles[i].node;
    const struct ray_pod *p = node == PG_NO_NODE ? NULL : t->gcs->raylets[node].pod;
    return p ? p->pod : NULL;
}

static void own_enter(struct ray_train *t, enum activity activity)
{
    for (uint32_t i = 0; t->pg && i < t->pg->n; i++) {
        struct pod *p = pod_of(t, i);
        if (p && p->started && !p->terminating && !p->node_lost) kube_pod_activity(t->sim->kube, p, activity);
    }
}

static uint32_t own_lift(struct ray_train *t, struct train_shares *who)
{
    uint32_t accounts[TRAIN_MAX_ACCOUNTS], n = 0;
    int64_t shares[TRAIN_MAX_ACCOUNTS];
    for (uint32_t i = 0; i < t->pg->n; i++) {
        struct pod *p = pod_of(t, i);
        if (!p) continue;
        kube_pod_lift(t->sim->kube, p);
        if (!kube_pod_shares(t->sim->kube, p, accounts, shares, &n, TRAIN_MAX_ACCOUNTS)) abort();
    }
    for (uint32_t i = 0; i < n; i++) who[i] = (struct train_shares){.account = accounts[i], .shares = shares[i]};
    return n;
}

static void own_land(struct ray_train *t, enum activity activity)
{
    for (uint32_t i = 0; i < t->pg->n; i++) {
        struct pod *p = pod_of(t, i);
        if (p) kube_pod_land(t->sim->kube, p, activity);
    }
}

static void own_seated(struct ray_train *t) { actor_note_nodes(t); }

static void own_unseated(struct ray_train *t) { own_enter(t, ACT_IDLE_POD); }

const struct ray_train_ops own_seats = {
    .enter = own_enter,
    .lift = own_lift,
    .land = own_land,
    .seated = own_seated,
    .unseated = own_unseated,
    .wants = actor_driver_wants,
    .ended = actor_driver_ended,
};

static int by_node(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void actor_note_nodes(struct ray_train *t)
{
    struct job_live *l = t->job->live;
    uint32_t *nodes = xcalloc(t->pg->n + 1, sizeof *nodes), n = 0;
    for (uint32_t i = 0; i < t->pg->n; i++)
        if (pod_of(t, i)) nodes[n++] = pod_of(t, i)->node;
    qsort(nodes, n, sizeof *nodes, by_node);
    free(l->nodes);
    l->nodes = xcalloc(n + 1, sizeof *l->nodes);
    l->n_nodes = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct node_interval *last = l->n_nodes ? &l->nodes[l->n_nodes - 1] : NULL;
        if (last && nodes[i] <= last->last + 1) last->last = nodes[i];
        else l->nodes[l->n_nodes++] = (struct node_interval){nodes[i], nodes[i]};
    }
    free(nodes);
}
