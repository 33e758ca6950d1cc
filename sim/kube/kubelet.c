/* kubelet.c - what a node does with a pod that is bound to it: pull, start, init container, run, restart, stop.
 *
 * One event a pod is pending at most (pod->timer), and belongs to its stage:
 *
 *   PULL -> START -> [INIT -> INIT_BACKOFF -> INIT_RESTART -> INIT] -> RUN -> BACKOFF -> RESTART -> RUN -> DONE
 *
 * Restarts follow the kubelet: the first at once, then after crash-backoff x 2^n up to its maximum; a container that ran
 * for crash-reset starts afresh. restartCount rises when the new container starts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>

#include "sim/kube/kube_impl.h"

static void on_pulled(void *ctx, void *arg);
static void on_started(void *ctx, void *arg);
static void on_init_poll(void *ctx, void *arg);
static void on_init_failed(void *ctx, void *arg);
static void on_init_restart(void *ctx, void *arg);
static void on_restart(void *ctx, void *arg);

static struct kube *kube_in(void *ctx) { return ((struct sim *)ctx)->kube; }

static void at(struct kube *k, struct pod *p, int64_t t_ns, event_fn *fn)
{
    event_cancel(k->events, p->timer);
    p->timer = event_at(k->events, t_ns, EVENT_CONTROL, fn, p);
}

/* ---- image ---- */

static void start_after(struct kube *k, struct pod *p)
{
    p->stage = STAGE_START;
    pod_state(k, p, POD_IS_STARTING, p->node);
    pod_enter(k, p, ACT_CONTAINER_START);
    at(k, p, kube_now(k) + k->stack->pod_start, on_started);
}

static void begin(struct kube *k, struct pod *p)
{
    int64_t there = puller_ask(k, p);
    if (there <= kube_now(k)) {
        start_after(k, p);
        return;
    }
    p->stage = STAGE_PULL;
    pod_state(k, p, POD_IS_PULLING, p->node);
    pod_enter(k, p, ACT_IMAGE_PULL);
    at(k, p, there, on_pulled);
}

void kubelet_pull_until(struct kube *k, struct pod *p, int64_t t_ns)
{
    if (p->stage == STAGE_PULL && !p->terminating && !p->node_lost) at(k, p, t_ns, on_pulled);
}

void kubelet_bound(struct kube *k, struct pod *p)
{
    if (node_evicts(k, p)) return;
    begin(k, p);
}

static void on_pulled(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    struct pod *p = arg;
    start_after(k, p);
    pod_tell(k, p, POD_IMAGE_PULLED);
}

/* ---- running ---- */

static bool runs(const struct pod *p) { return p->stage == STAGE_RUN && !p->terminating && !p->gone; }

static void on_ready(void *ctx, void *arg)
{
    struct pod *p = arg;
    p->ready = true;
    pod_state(kube_in(ctx), p, POD_IS_READY, p->restarts);
    pod_tell(kube_in(ctx), p, POD_READY);
}

static void run(struct kube *k, struct pod *p, enum pod_change what)
{
    p->stage = STAGE_RUN;
    p->phase = POD_RUNNING;
    p->started = true;
    p->started_ns = kube_now(k);
    p->timer = EVENT_NONE;
    if (p->spec.ready_delay_ns) pod_state(k, p, POD_IS_RUNNING, p->restarts);
    pod_tell(k, p, what);
    if (!runs(p)) return;
    if (p->spec.ready_delay_ns) at(k, p, kube_now(k) + p->spec.ready_delay_ns, on_ready);
    else on_ready(k->sim, p);
}

/* ---- init container ---- */

static void init(struct kube *k, struct pod *p)
{
    p->stage = STAGE_INIT;
    p->init_started_ns = kube_now(k);
    p->init_satisfied = p->spec.ops->init_ready(k, p);
    if (p->init_satisfied) {
        run(k, p, POD_STARTED);
        return;
    }
    pod_state(k, p, POD_IS_INIT, 0);
    pod_enter(k, p, ACT_WAIT_HEAD);
    p->timer = EVENT_NONE;
    if (p->spec.init_tries)
        at(k, p, kube_now(k) + p->spec.init_tries * p->spec.init_poll_ns, on_init_failed);
    pod_tell(k, p, POD_INIT);
}

static void on_started(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    struct pod *p = arg;
    if (p->spec.uses_init && !p->init_satisfied) init(k, p);
    else run(k, p, POD_STARTED);
}

static void on_init_poll(void *ctx, void *arg) { run(kube_in(ctx), arg, POD_STARTED); }

void kube_pod_init_done(struct kube *k, struct pod *p)
{
    if (p->stage != STAGE_INIT || p->init_satisfied || p->node_lost || p->terminating) return;
    p->init_satisfied = true;
    int64_t poll = p->spec.init_poll_ns > 0 ? p->spec.init_poll_ns : 1;
    int64_t polls = (kube_now(k) - p->init_started_ns + poll - 1) / poll;
    at(k, p, p->init_started_ns + polls * poll, on_init_poll);
}

/* ---- restarts ---- */

/* Delay of the next restart; counts the crash. */
static int64_t back_off(struct kube *k, struct pod *p, int64_t ran_since_ns)
{
    const struct stack *s = k->stack;
    if (kube_now(k) - ran_since_ns >= s->crash_reset) p->backoff = 0;
    int64_t delay = p->backoff ? kube_doubled(s->crash_backoff, p->backoff - 1, s->crash_backoff_max) : 0;
    p->backoff++;
    return delay;
}

static void start_again(struct kube *k, struct pod *p)
{
    bool of_init = p->stage == STAGE_INIT_BACKOFF;
    p->stage = of_init ? STAGE_INIT_RESTART : STAGE_RESTART;
    pod_state(k, p, POD_IS_STARTING, (int64_t)p->node);
    pod_enter(k, p, ACT_CONTAINER_START);
    at(k, p, kube_now(k) + k->stack->pod_start, of_init ? on_init_restart : on_restart);
}

static void on_backoff_over(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    struct pod *p = arg;
    start_again(k, p);
    pod_tell(k, p, POD_RESTARTING);
}

static void restart_later(struct kube *k, struct pod *p, enum stage stage, int32_t code, int64_t ran_since_ns)
{
    int64_t delay = back_off(k, p, ran_since_ns);
    p->stage = (uint8_t)stage;
    if (!delay) {
        start_again(k, p);
        return;
    }
    pod_state(k, p, POD_IS_BACKOFF, code);
    pod_enter(k, p, ACT_BACKOFF);
    at(k, p, kube_now(k) + delay, on_backoff_over);
}

static void on_init_restart(void *ctx, void *arg)
{
    struct pod *p = arg;
    p->init_restarts++;
    init(kube_in(ctx), p);
}

static void on_init_failed(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    struct pod *p = arg;
    if (p->spec.restart == RESTART_NEVER) kube_pod_finish(k, p, POD_FAILED, 1);
    else restart_later(k, p, STAGE_INIT_BACKOFF, 1, p->init_started_ns);
}

static void on_restart(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    struct pod *p = arg;
    p->restarts++;
    run(k, p, POD_RESTARTED);
}

static bool restarts_on(const struct pod *p, int32_t code)
{
    return p->spec.restart == RESTART_ALWAYS || (p->spec.restart == RESTART_ON_FAILURE && code != 0);
}

void kube_pod_exit(struct kube *k, struct pod *p, int32_t code)
{
    if (!runs(p) || p->node_lost) return;
    if (!restarts_on(p, code)) {
        kube_pod_finish(k, p, code ? POD_FAILED : POD_SUCCEEDED, code);
        return;
    }
    p->exit_code = code;
    p->started = p->ready = false;
    bool lifted = p->hold.lifted;
    restart_later(k, p, STAGE_BACKOFF, p->exit_code, p->started_ns);
    pod_tell(k, p, POD_EXITED);
    if (lifted && (p->stage == STAGE_BACKOFF || p->stage == STAGE_RESTART))
        pod_enter(k, p, p->stage == STAGE_BACKOFF ? ACT_BACKOFF : ACT_CONTAINER_START);
}

/* ---- stopping, loss of the node ---- */

static void on_stopped(void *ctx, void *arg) { pod_gone(kube_in(ctx), arg); }

void kubelet_stop(struct kube *k, struct pod *p, int64_t grace_ns)
{
    event_cancel(k->events, p->timer);
    p->stage = STAGE_DONE;
    p->started = false;
    pod_enter(k, p, ACT_TERMINATING);
    if (!k->nodes[p->node].lost) p->end = event_after(k->events, grace_ns, EVENT_CONTROL, on_stopped, p);
}

void kubelet_lost(struct kube *k, struct pod *p)
{
    if (p->phase >= POD_SUCCEEDED) return;
    event_cancel(k->events, p->timer);
    event_cancel(k->events, p->end);
    p->node_lost = true;
    if (!p->terminating) pod_state(k, p, POD_IS_LOST, 0);
    pod_tell(k, p, POD_LOST);
    if (!p->gone && !p->terminating) pod_enter(k, p, ACT_STALLED);
}

/* The node is back, empty: what was to be deleted is deleted, what ran is restarted as its policy says. */
void kubelet_found(struct kube *k, struct pod *p)
{
    if (!p->node_lost) return;
    p->node_lost = false;
    if (p->terminating) {
        p->end = event_after(k->events, k->stack->pod_delete, EVENT_CONTROL, on_stopped, p);
        return;
    }
    event_cancel(k->events, p->end);
    pod_tell(k, p, POD_FOUND);
    if (p->gone || p->terminating) return;
    switch ((enum stage)p->stage) {
    case STAGE_PULL:
    case STAGE_START:
    case STAGE_INIT:
    case STAGE_INIT_BACKOFF:
    case STAGE_INIT_RESTART: begin(k, p); break;
    case STAGE_RUN: kube_pod_exit(k, p, 137); break;
    case STAGE_BACKOFF:
    case STAGE_RESTART: restart_later(k, p, STAGE_BACKOFF, p->exit_code, p->started_ns); break;
    case STAGE_NONE:
    case STAGE_DONE: break;
    }
}
