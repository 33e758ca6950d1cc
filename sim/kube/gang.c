/* gang.c - coscheduling: pods of a group are bound together or not at all.
 *
 * As scheduler-plugins' coscheduling (orchestration facts, section 3.2):
 *   queue sort   by priority, then age of the group: the pods of a group stand together
 *   pre-filter   a pod is tried only when min-member siblings exist
 *   permit       a pod that found a node keeps it reserved and waits until min-member are assigned; then all are bound
 *   post-filter  when a member finds no node all that wait are rejected, unless at most reject-percent of min-member is
 *                missing (9 of 10 assigned: they go on waiting; 8 of 10: rejected)
 *   time-out     permit-wait (60 s) after the first began to wait all that wait are rejected
 * What is reserved cannot be used by anybody meanwhile.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "sim/kube/kube_impl.h"

struct gang *gang_of(struct kube *k, uint32_t id) { return &k->gangs[id]; }

uint32_t kube_gang_create(struct kube *k, struct job *job, uint32_t min_member)
{
    uint32_t id = k->free_gang;
    if (id) {
        k->free_gang = k->gangs[id].next_free;
    } else {
        if (k->n_gangs == 0) k->n_gangs = 1; /* 0 is none */
        if (k->n_gangs >= k->cap_gangs) {
            k->cap_gangs = k->cap_gangs ? 2 * k->cap_gangs : 16;
            k->gangs = xreallocarray(k->gangs, k->cap_gangs, sizeof *k->gangs);
        }
        id = k->n_gangs++;
    }
    k->gangs[id] = (struct gang){.job = job, .min_member = min_member, .order = k->next_id};
    return id;
}

void kube_gang_delete(struct kube *k, uint32_t id)
{
    if (!id) return;
    struct gang *g = gang_of(k, id);
    assert(g->job && g->members == 0);
    event_cancel(k->events, g->timeout);
    if (g->class) sched_drop_class(k, g->class);
    *g = (struct gang){.next_free = k->free_gang};
    k->free_gang = id;
}

uint32_t gang_missing(const struct gang *g) { return g->assigned < g->min_member ? g->min_member - g->assigned : 1; }

void gang_joined(struct kube *k, struct pod *p)
{
    struct gang *g = gang_of(k, p->spec.gang);
    g->members++;
    if (g->class && g->members >= g->min_member && g->class->state == CLASS_PARKED && g->class->reason == WAIT_GANG)
        sched_activate(k, g->class);
}

void gang_left(struct kube *k, struct pod *p)
{
    struct gang *g = gang_of(k, p->spec.gang);
    g->members--;
    if (p->bound) g->assigned--;
}

bool gang_may_try(struct kube *k, const struct pod *p)
{
    const struct gang *g = gang_of(k, p->spec.gang);
    return g->members >= g->min_member;
}

static void stop_waiting(struct kube *k, struct gang *g, struct pod *p)
{
    if (p->wait_prev) p->wait_prev->wait_next = p->wait_next;
    else g->waiting = p->wait_next;
    if (p->wait_next) p->wait_next->wait_prev = p->wait_prev;
    else g->waiting_last = p->wait_prev;
    p->wait_next = p->wait_prev = NULL;
    if (!g->waiting) event_cancel(k->events, g->timeout);
}

static void reject(struct kube *k, uint32_t id)
{
    struct gang *g = gang_of(k, id);
    while (g->waiting) {
        struct pod *p = g->waiting;
        stop_waiting(k, g, p);
        g->assigned--;
        pod_drop(k, p);
        p->node = UINT32_MAX;
        pod_pending(k, p);
        sched_return(k, p);
        g = gang_of(k, id);
    }
}

static void on_timeout(void *ctx, void *arg)
{
    struct kube *k = ((struct sim *)ctx)->kube;
    struct sched_class *c = arg;
    uint32_t id = c->gang;
    reject(k, id);
    if (c->first && c->state == CLASS_ACTIVE) sched_refuse(k, c, WAIT_GANG);
}

static void permit_all(struct kube *k, uint32_t id)
{
    struct gang *g = gang_of(k, id);
    event_cancel(k->events, g->timeout);
    struct pod *first = g->waiting;
    g->waiting = g->waiting_last = NULL;
    for (struct pod *p = first, *next; p; p = next) {
        next = p->wait_next;
        p->wait_next = p->wait_prev = NULL;
        if (hold_active(&p->hold)) sched_bind(k, p);
    }
}

/* The waiting list is in the order of reservation, so pods are bound in that order. */
static void wait_in(struct gang *g, struct pod *p)
{
    p->wait_prev = g->waiting_last;
    p->wait_next = NULL;
    if (g->waiting) g->waiting_last->wait_next = p;
    else g->waiting = p;
    g->waiting_last = p;
}

void gang_reserved(struct kube *k, struct pod *p)
{
    struct gang *g = gang_of(k, p->spec.gang);
    g->assigned++;
    if (g->assigned >= g->min_member && !g->waiting) {
        sched_bind(k, p);
        return;
    }
    if (!g->waiting)
        g->timeout = event_after(k->events, k->stack->permit_wait, EVENT_OBSERVE, on_timeout, g->class);
    pod_state(k, p, POD_IS_SCHEDULED, p->node);
    wait_in(g, p);
    if (g->assigned >= g->min_member) permit_all(k, p->spec.gang);
}

void gang_refused(struct kube *k, uint32_t id)
{
    const struct gang *g = gang_of(k, id);
    if (g->assigned >= g->min_member) return;
    uint64_t missing = g->min_member - g->assigned;
    if (missing * 100 > (uint64_t)k->stack->permit_reject_pct * g->min_member) reject(k, id);
}

void gang_unreserve(struct kube *k, struct pod *p)
{
    struct gang *g = gang_of(k, p->spec.gang);
    g->assigned--;
    if (!p->permitted) stop_waiting(k, g, p);
}
