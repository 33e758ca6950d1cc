/* kube.c - the pods as objects: made, told of, gone; and the shares that they hold.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/kube/kube_impl.h"

struct kube *kube_create(struct sim *s)
{
    struct kube *k = xcalloc(1, sizeof *k);
    const struct image_model *image = &s->scenario->cluster.image;
    k->sim = s;
    k->stack = &s->scenario->approach.stack;
    k->events = s->events;
    arena_init(&k->arena);
    k->nodes = xcalloc(s->scenario->cluster.n_nodes + 1, sizeof *k->nodes);
    for (uint32_t i = 0; i < s->scenario->cluster.n_nodes; i++) k->nodes[i].puller.job = NO_JOB;
    if (image->size_bytes > 0 && image->pull_bytes_per_s > 0)
        k->pull_ns = (int64_t)((__int128)image->size_bytes * EVENT_SECOND / image->pull_bytes_per_s);
    sched_init(k);
    node_init(k);
    return k;
}

void kube_destroy(struct kube *k)
{
    if (!k) return;
    for (struct pod *p = k->first; p; p = p->live_next) free(p->hold.alloc.parts);
    sched_free(k);
    free(k->gangs);
    free(k->nodes);
    arena_free(&k->arena);
    free(k);
}

struct sim *kube_sim(struct kube *k) { return k->sim; }
void kube_observe(struct kube *k, const struct kube_observer *o) { k->observer = o; }
const struct kube_observer *kube_observer(const struct kube *k) { return k->observer; }

/* ---- telling ---- */

static void bury_all(struct kube *k)
{
    while (k->grave) {
        struct pod *p = k->grave;
        k->grave = p->live_next;
        p->live_next = k->spare;
        k->spare = p;
    }
}

void pod_tell(struct kube *k, struct pod *p, enum pod_change what)
{
    k->depth++;
    if (k->observer && k->observer->pod) k->observer->pod(k->observer->ctx, k, p, what);
    p->spec.ops->changed(k, p, what);
    k->depth--;
}

void pod_state(struct kube *k, struct pod *p, enum pod_state state, int64_t b)
{
    if (p->state == state) return;
    p->state = (uint8_t)state;
    sim_record_range(k->sim, REC_POD_STATE, p->spec.job, p->number, state | (unsigned)p->spec.role << 8, 1, b);
}

void pod_pending(struct kube *k, struct pod *p)
{
    pod_state(k, p, POD_IS_PENDING, (int64_t)p->spec.index - p->number);
}

/* ---- shares ---- */

static void partial_link(struct kube *k, struct pod_tally *t, bool on)
{
    if (on) {
        t->prev = k->partial_last;
        t->next = NULL;
        if (t->prev) t->prev->next = t;
        else k->partial_first = t;
        k->partial_last = t;
    } else {
        if (t->prev) t->prev->next = t->next;
        else k->partial_first = t->next;
        if (t->next) t->next->prev = t->prev;
        else k->partial_last = t->prev;
    }
}

static void tally_changed(struct kube *k, struct pod_tally *t)
{
    bool partial = t->held > 0 && t->wanted > 0;
    if (partial == t->partial) return;
    t->partial = partial;
    t->since_ns = kube_now(k);
    partial_link(k, t, partial);
    sim_record(k->sim, REC_PARTIAL_HOLD, t->job, 0, partial ? 1 : 0, t->held, t->wanted);
}

void tally_refused(struct kube *k, struct pod *p, bool on)
{
    struct pod_tally *t = p->spec.tally;
    if (!t) return;
    t->wanted += on ? (int64_t)p->spec.shares : -(int64_t)p->spec.shares;
    t->refused += on ? 1u : ~0u;
    tally_changed(k, t);
}

static void tally_held(struct kube *k, struct pod *p, int64_t shares)
{
    if (!p->spec.tally) return;
    p->spec.tally->held += shares;
    tally_changed(k, p->spec.tally);
}

void kube_each_partial(struct kube *k, void (*fn)(const struct pod_tally *, void *), void *arg)
{
    for (const struct pod_tally *t = k->partial_first; t; t = t->next) fn(t, arg);
}

void kube_tally_close(struct kube *k, struct pod_tally *t)
{
    t->held = t->wanted = 0;
    tally_changed(k, t);
}

void pod_hold(struct kube *k, struct pod *p, struct alloc *a, enum activity activity)
{
    hold_take(k->sim, &p->hold, p->spec.job, a, p->number, activity);
    tally_held(k, p, p->spec.shares);
}

void pod_drop(struct kube *k, struct pod *p)
{
    if (!hold_active(&p->hold)) return;
    hold_drop(k->sim, &p->hold);
    tally_held(k, p, -(int64_t)p->spec.shares);
    sched_wake(k);
}

void pod_enter(struct kube *k, struct pod *p, enum activity activity)
{
    if (!hold_active(&p->hold) || p->hold.lifted) return;
    hold_recause(k->sim, &p->hold);
    hold_enter(k->sim, &p->hold, activity);
}

void kube_pod_activity(struct kube *k, struct pod *p, enum activity activity) { pod_enter(k, p, activity); }

void kube_pod_lift(struct kube *k, struct pod *p)
{
    if (!hold_active(&p->hold)) return;
    hold_recause(k->sim, &p->hold);
    hold_lift(k->sim, &p->hold);
}

void kube_pod_land(struct kube *k, struct pod *p, enum activity activity)
{
    if (hold_active(&p->hold) && p->hold.lifted) hold_land(k->sim, &p->hold, activity);
}

bool kube_pod_shares(struct kube *k, const struct pod *p, uint32_t *accounts, int64_t *shares, uint32_t *n, uint32_t room)
{
    if (!hold_active(&p->hold) || p->spec.shares == 0) return true;
    uint32_t account = job_account(k->sim, p->spec.job, pool_node_group(k->sim->pool, p->node));
    uint32_t i = 0;
    while (i < *n && accounts[i] != account) i++;
    if (i == *n) {
        if (i == room) return false;
        accounts[i] = account;
        shares[i] = 0;
        ++*n;
    }
    shares[i] += p->spec.shares;
    return true;
}

/* ---- objects ---- */

void pod_on_node(struct kube *k, struct pod *p, bool on)
{
    struct kube_node *n = &k->nodes[p->node];
    if (on) {
        p->node_prev = NULL;
        p->node_next = n->pods;
        if (n->pods) n->pods->node_prev = p;
        n->pods = p;
        return;
    }
    if (p->node_prev) p->node_prev->node_next = p->node_next;
    else if (n->pods == p) n->pods = p->node_next;
    if (p->node_next) p->node_next->node_prev = p->node_prev;
    p->node_next = p->node_prev = NULL;
}

static struct pod *pod_new(struct kube *k)
{
    if (k->depth == 0) bury_all(k);
    struct pod *p = k->spare;
    if (p) k->spare = p->live_next;
    else p = arena_alloc(&k->arena, sizeof *p);
    memset(p, 0, sizeof *p);
    p->id = ++k->next_id;
    p->live_prev = k->last;
    if (k->last) k->last->live_next = p;
    else k->first = p;
    k->last = p;
    return p;
}

struct pod *kube_pod_create(struct kube *k, const struct pod_spec *spec)
{
    struct pod *p = pod_new(k);
    p->spec = *spec;
    p->node = UINT32_MAX;
    p->exit_code = -1;
    p->created_ns = kube_now(k);
    p->number = spec->job ? spec->job->live->groups_made++ : k->jobless_made++;
    p->state = N_POD_STATES;
    pod_pending(k, p);
    if (p->spec.toleration_ns < 0) p->spec.toleration_ns = k->stack->node_toleration;
    pod_tell(k, p, POD_CREATED);
    if (!p->gone && !p->terminating) sched_enqueue(k, p);
    return p;
}

/* Out of everything that knows it. */
static void take_away(struct kube *k, struct pod *p)
{
    event_cancel(k->events, p->timer);
    event_cancel(k->events, p->end);
    if (p->bound) pod_on_node(k, p, false);
    else sched_forget(k, p);
    if (p->spec.gang) gang_left(k, p);
    pod_drop(k, p);
    p->gone = true;
}

static void bury(struct kube *k, struct pod *p)
{
    if (p->live_prev) p->live_prev->live_next = p->live_next;
    else k->first = p->live_next;
    if (p->live_next) p->live_next->live_prev = p->live_prev;
    else k->last = p->live_prev;
    p->live_next = k->grave;
    k->grave = p;
}

static bool is_over(const struct pod *p) { return p->phase == POD_SUCCEEDED || p->phase == POD_FAILED; }

/* What a kubelet reports of a container that it has stopped. */
enum { EXIT_SIGTERM = 143 };

void pod_gone(struct kube *k, struct pod *p)
{
    if (p->gone || p->stopped) return;
    if (p->spec.finalizer) {
        p->stopped = true;
        kube_pod_finish(k, p, POD_FAILED, p->bound ? EXIT_SIGTERM : -1);
        return;
    }
    take_away(k, p);
    if (!is_over(p)) pod_state(k, p, POD_IS_DELETED, 0);
    pod_tell(k, p, POD_GONE);
    bury(k, p);
}

void kube_pod_unfinalize(struct kube *k, struct pod *p)
{
    p->spec.finalizer = false;
    if (!p->stopped) return;
    p->stopped = false;
    pod_gone(k, p);
}

void kube_pod_forget(struct kube *k, struct pod *p)
{
    assert(p->phase >= POD_SUCCEEDED && !p->gone);
    take_away(k, p);
    bury(k, p);
}

void kube_pod_delete(struct kube *k, struct pod *p, int64_t grace_ns)
{
    if (p->terminating || p->gone) return;
    p->terminating = true;
    event_cancel(k->events, p->end);
    if (!p->bound) sched_forget(k, p);
    else if (!is_over(p)) pod_state(k, p, POD_IS_TERMINATING, p->restarts);
    pod_tell(k, p, POD_TERMINATING);
    if (p->gone) return;
    /* The API server keeps no grace for pods without a node or that have ended (pkg/registry/core/pod/strategy.go). */
    if (!p->bound || is_over(p)) pod_gone(k, p);
    else kubelet_stop(k, p, grace_ns < 0 ? k->stack->pod_delete : grace_ns);
}

void kube_pod_force_delete(struct kube *k, struct pod *p)
{
    if (p->gone) return;
    if (!p->terminating) {
        p->terminating = true;
        pod_tell(k, p, POD_TERMINATING);
    }
    pod_gone(k, p);
}

void kube_pod_finish(struct kube *k, struct pod *p, enum pod_phase phase, int32_t code)
{
    assert(phase == POD_SUCCEEDED || phase == POD_FAILED);
    if (is_over(p) || p->gone) return;
    event_cancel(k->events, p->timer);
    if (!p->bound) sched_forget(k, p);
    p->phase = (uint8_t)phase;
    p->stage = STAGE_DONE;
    p->started = false;
    p->evicted = phase == POD_FAILED && code < 0;
    p->exit_code = phase == POD_SUCCEEDED ? 0 : code;
    if (!p->evicted) p->ready = false;
    if (phase == POD_SUCCEEDED) pod_state(k, p, POD_IS_SUCCEEDED, 0);
    else pod_state(k, p, p->evicted ? POD_IS_EVICTED : POD_IS_FAILED, p->evicted ? 0 : code);
    pod_tell(k, p, POD_PHASE);
    if (!p->gone) pod_drop(k, p);
}

/* ---- names ---- */

static void default_name(const struct sim *s, const struct pod *p, char *buf, size_t n)
{
    char number[24], role[16];
    snprintf(role, sizeof role, "%s", role_names[p->spec.role]);
    for (char *c = role; *c; c++) *c = (char)tolower((unsigned char)*c);
    snprintf(buf, n, "%s-%s-%u", job_id(s->scenario, p->spec.job->spec, number), role, p->spec.index);
}

void kube_pod_name(const struct kube *k, const struct pod *p, char *buf, size_t n)
{
    if (p->spec.ops->name) p->spec.ops->name(k->sim, p, buf, n);
    else default_name(k->sim, p, buf, n);
}

struct pod *kube_find_pod(struct kube *k, const char *name)
{
    char buf[256];
    for (struct pod *p = k->first; p; p = p->live_next) {
        kube_pod_name(k, p, buf, sizeof buf);
        if (strcmp(buf, name) == 0) return p;
    }
    return NULL;
}

struct pod *kube_first_pod(struct kube *k) { return k->first; }
