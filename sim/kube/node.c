/* node.c - the node life cycle: how the loss of a node is noticed, and what follows.
 *
 * A kubelet renews its node's lease each node.lease-renew (10 s). The controller looks each monitor period (5 s); when it
 * has seen no renewal for the grace period the node is Unknown, its pods are not ready, and it queues for a NoExecute
 * taint, one node each 10 s (node-eviction-rate 0.1). Each pod's toleration counts from the taint; then its deletion is
 * requested, which nothing on a dead node carries out. Recorded: last renewal + 52 to 55 s; three nodes at once tainted
 * 10 s apart (orchestration facts, section 10).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/kube/kube_impl.h"

static struct kube *kube_in(void *ctx) { return ((struct sim *)ctx)->kube; }

void node_init(struct kube *k)
{
    int64_t rate = k->stack->node_taint_rate;
    k->evictions = kube_client_make(k->stack->kcm_qps, k->stack->kcm_burst, 0);
    k->taints = rate > 0 ? bucket_make(1, rate, 1000 * EVENT_SECOND) : bucket_unlimited();
}

/* ---- the pods of a node, safe against changes ---- */

static struct pod **pods_on(const struct kube_node *n, size_t *count)
{
    size_t m = 0;
    for (struct pod *p = n->pods; p; p = p->node_next) m++;
    struct pod **v = m ? xmalloc(m * sizeof *v) : NULL;
    *count = m;
    for (struct pod *p = n->pods; p; p = p->node_next) v[--m] = p; /* the list has the youngest first */
    return v;
}

void kube_each_pod_on(struct kube *k, uint32_t node, void (*fn)(struct kube *, struct pod *, void *), void *arg)
{
    size_t n;
    struct pod **v = pods_on(&k->nodes[node], &n);
    k->depth++;
    for (size_t i = 0; i < n; i++)
        if (!v[i]->gone) fn(k, v[i], arg);
    k->depth--;
    free(v);
}

/* ---- loss ---- */

static void on_evict(void *ctx, void *arg) { kube_pod_delete(kube_in(ctx), arg, -1); }

/* Marks the pod, deletes it and says so: three calls of the controller manager's client (20/30), so many pods of a rack
 * go one after the other (recorded: 35 pods within 4 s). */
static void on_tolerated(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    struct pod *p = arg;
    int64_t t = bucket_take(&k->evictions.bucket, kube_now(k), 3);
    p->end = event_at(k->events, t, EVENT_CONTROL, on_evict, p);
}

static void evict_later(struct kube *k, struct pod *p, void *arg)
{
    (void)arg;
    if (p->terminating || p->phase >= POD_SUCCEEDED) return;
    event_cancel(k->events, p->end);
    p->end = event_after(k->events, p->spec.toleration_ns, EVENT_CONTROL, on_tolerated, p);
}

static void on_taint(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    struct kube_node *n = arg;
    n->tainted = true;
    kube_each_pod_on(k, (uint32_t)(n - k->nodes), evict_later, NULL);
}

static void not_ready(struct kube *k, struct pod *p, void *arg)
{
    (void)arg;
    if (!p->ready) return;
    p->ready = false;
    if (!p->terminating && p->phase < POD_SUCCEEDED) pod_state(k, p, POD_IS_UNKNOWN, 0);
    pod_tell(k, p, POD_NOT_READY);
}

static void on_noticed(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    struct kube_node *n = arg;
    n->unreachable = true;
    n->watch = event_at(k->events, bucket_take(&k->taints, kube_now(k), 1), EVENT_CONTROL, on_taint, n);
    kube_each_pod_on(k, (uint32_t)(n - k->nodes), not_ready, NULL);
}

static int64_t up_to(int64_t t, int64_t grain) { return grain > 0 ? (t + grain - 1) / grain * grain : t; }

/* When the controller notices that the node, lost now, no longer renews its lease. */
static int64_t noticed_at(const struct kube *k)
{
    const struct stack *s = k->stack;
    int64_t renewed = s->node_lease > 0 ? kube_now(k) / s->node_lease * s->node_lease : kube_now(k);
    int64_t seen = up_to(renewed, s->node_monitor);
    int64_t t = up_to(seen + s->node_grace, s->node_monitor);
    return t > kube_now(k) ? t : kube_now(k);
}

static void lose(struct kube *k, struct pod *p, void *arg)
{
    (void)arg;
    kubelet_lost(k, p);
}

void kube_node_lost(struct kube *k, uint32_t node)
{
    struct kube_node *n = &k->nodes[node];
    if (n->lost) return;
    n->lost = true;
    puller_reset(k, &n->puller);
    event_cancel(k->events, n->watch);
    n->watch = event_at(k->events, noticed_at(k), EVENT_CONTROL, on_noticed, n);
    kube_each_pod_on(k, node, lose, NULL);
}

static void evict_now(struct kube *k, struct pod *p, void *arg)
{
    (void)arg;
    kube_pod_delete(k, p, -1);
}

void kube_node_drain(struct kube *k, uint32_t node) { kube_each_pod_on(k, node, evict_now, NULL); }

static void find(struct kube *k, struct pod *p, void *arg)
{
    (void)arg;
    kubelet_found(k, p);
}

void kube_node_back(struct kube *k, uint32_t node)
{
    struct kube_node *n = &k->nodes[node];
    if (!n->lost) { /* it was drained */
        sched_wake(k);
        return;
    }
    n->lost = n->unreachable = n->tainted = false;
    event_cancel(k->events, n->watch);
    kube_each_pod_on(k, node, find, NULL);
    sched_wake(k);
}

bool node_evicts(struct kube *k, struct pod *p)
{
    struct kube_node *n = &k->nodes[p->node];
    if (!n->lost) return false;
    p->node_lost = true;
    if (n->tainted) evict_later(k, p, NULL);
    return true;
}
