/* puller.c - images come to a node one after the other, at the rate of one pull, or slower where the network is full.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stddef.h>

#include "sim/kube/kube_impl.h"

static struct kube *kube_in(void *ctx) { return ((struct sim *)ctx)->kube; }

static struct kube_node *node_of(struct puller *u)
{
    return (struct kube_node *)(void *)((char *)u - offsetof(struct kube_node, puller));
}

/* Brings its position up to now. */
static void advance(const struct kube *k, struct puller *u)
{
    u->done += net_share_done(u->share, kube_now(k) - u->since_ns);
    if (u->done > u->total) u->done = u->total;
    u->since_ns = kube_now(k);
}

/* When it gets to a position, as things stand. */
static int64_t reaches(const struct kube *k, const struct puller *u, int64_t at)
{
    int64_t ns = net_share_stretch(u->share, at - u->done);
    return ns > EVENT_NEVER - kube_now(k) ? EVENT_NEVER : kube_now(k) + ns;
}

void puller_reset(struct kube *k, struct puller *u)
{
    net_pace_stop(k->sim, &u->pace);
    event_cancel(k->events, u->idle);
    *u = (struct puller){.job = NO_JOB};
}

/* ---- the network's share ---- */

static void on_idle(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    struct puller *u = arg;
    advance(k, u);
    net_pace_stop(k->sim, &u->pace);
    u->share = (struct net_share){0, 0};
}

static void idle_when_done(struct kube *k, struct puller *u)
{
    if (!u->pace.flow.on) return;
    event_cancel(k->events, u->idle);
    u->idle = event_at(k->events, reaches(k, u, u->total), EVENT_CONTROL, on_idle, u);
}

static void wait_longer(struct kube *k, struct pod *p, void *arg) { kubelet_pull_until(k, p, reaches(k, arg, p->pull_at)); }

static void on_share(struct sim *s, struct net_pace *pace)
{
    struct puller *u = (struct puller *)(void *)pace;
    struct net_share share = net_pace_share(pace);
    if (share.granted == u->share.granted && share.wanted == u->share.wanted) return;
    advance(s->kube, u);
    u->share = share;
    kube_each_pod_on(s->kube, (uint32_t)(node_of(u) - s->kube->nodes), wait_longer, u);
    idle_when_done(s->kube, u);
}

static void begin(struct kube *k, struct puller *u)
{
    struct net_path path = {0};
    net_path_outside(k->sim, &path, (uint32_t)(node_of(u) - k->nodes));
    net_pace_start(k->sim, &u->pace, &path, k->sim->scenario->cluster.image.pull_bytes_per_s, on_share);
    net_path_free(&path);
}

/* ---- pods ---- */

static bool in_cache(const struct kube *k, const struct pod *p)
{
    const struct scenario *s = k->sim->scenario;
    struct stream draw = stream_make(s->run.seed, k->sim->replication, STREAM_CONTROL,
                                     (uint64_t)p->node << 32 | (uint32_t)p->spec.job->index);
    return stream_unit(&draw) < s->cluster.image.cached;
}

int64_t puller_ask(struct kube *k, struct pod *p)
{
    struct puller *u = &k->nodes[p->node].puller;
    if (!p->spec.has_image || k->pull_ns == 0) return kube_now(k);
    bool comes = u->job == p->spec.job->index;
    if (!comes && in_cache(k, p)) return kube_now(k);
    advance(k, u);
    if (!comes) {
        u->total += k->pull_ns;
        u->job = p->spec.job->index;
        if (k->sim->network && !u->pace.flow.on) begin(k, u);
        idle_when_done(k, u);
    }
    p->pull_at = u->total;
    return reaches(k, u, u->total);
}
