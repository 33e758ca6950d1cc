/* observe.c - pods as a watch shows them, counted by replica type, so that a reconcile need not look at each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/operator/torch.h"

/* In pod->owner_tag: what the pod is counted as. Bits 4 and up are ranks.c's. */
enum { SEEN_NOTHING, SEEN_ACTIVE, SEEN_SUCCEEDED, SEEN_FAILED /* phase Failed */, SEEN_LEAVING /* Running, terminating */ };
enum { SEEN_MASK = 7 };
/* pod->owner_data is unused: what it waits for is kept in bits 8 to 15. */
enum { WAITS_SHIFT = 8, WAITS_MASK = 0xff << WAITS_SHIFT };

struct replica_type *torch_type_of(struct torch_job *t, enum pod_role role)
{
    for (uint32_t i = 0; i < t->n_types; i++)
        if (t->type[i].role == role) return &t->type[i];
    return NULL;
}

struct pod *torch_master(const struct torch_job *t)
{
    const struct replica_type *r = &t->type[0];
    return r->role == ROLE_MASTER && r->cap ? r->pods[0] : NULL;
}

uint32_t torch_wanted(const struct torch_job *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_types; i++) n += t->type[i].replicas;
    return n;
}

void torch_type_reserve(struct replica_type *r, uint32_t n)
{
    if (n <= r->cap) return;
    r->pods = xreallocarray(r->pods, n, sizeof(struct pod *));
    r->services = xreallocarray(r->services, n, sizeof *r->services);
    memset(r->pods + r->cap, 0, (n - r->cap) * sizeof(struct pod *));
    memset(r->services + r->cap, 0, (n - r->cap) * sizeof *r->services);
    r->cap = n;
}

void torch_service(struct replica_type *r, uint32_t index, bool on)
{
    if (r->services[index] == on) return;
    r->services[index] = on;
    if (on) {
        r->n_services++;
        if (index >= r->top_service) r->top_service = index + 1;
    } else {
        r->n_services--;
        while (r->top_service && !r->services[r->top_service - 1]) r->top_service--;
    }
}

/* ---- counters ---- */

static unsigned seen_as(const struct pod *p)
{
    if (p->gone) return SEEN_NOTHING;
    switch ((enum pod_phase)p->phase) {
    case POD_RUNNING: return p->terminating ? SEEN_LEAVING : SEEN_ACTIVE;
    case POD_SUCCEEDED: return SEEN_SUCCEEDED;
    case POD_FAILED: return SEEN_FAILED;
    case POD_PENDING: break;
    }
    return SEEN_NOTHING;
}

static void count(struct replica_type *r, unsigned seen, uint32_t by)
{
    switch (seen) {
    case SEEN_ACTIVE: r->counts.active += by; break;
    case SEEN_SUCCEEDED: r->counts.succeeded += by; break;
    case SEEN_FAILED:
        r->counts.failed += by;
        r->in_failed += by;
        break;
    case SEEN_LEAVING: r->counts.failed += by; break; /* core/status.go: orphans count as failures */
    default: break;
    }
}

static bool is_running(unsigned seen) { return seen == SEEN_ACTIVE || seen == SEEN_LEAVING; }

/* Brings the counters of a pod up to date; true when a reconcile would see a difference. */
static bool recount(struct replica_type *r, struct pod *p)
{
    unsigned old = p->owner_tag & SEEN_MASK, now = seen_as(p);
    uint32_t restarts = is_running(now) ? p->restarts + p->init_restarts : 0;
    bool changed = old != now || restarts != p->owner_count;
    if (old != now) {
        count(r, old, ~0u);
        count(r, now, 1);
        p->owner_tag = (p->owner_tag & ~(uint32_t)SEEN_MASK) | now;
    }
    r->restarts += restarts - (uint64_t)p->owner_count;
    p->owner_count = restarts;
    return changed;
}

static void add(struct replica_type *r, struct pod *p)
{
    uint32_t i = p->spec.index;
    assert(!r->pods[i]);
    r->pods[i] = p;
    r->n_pods++;
    r->not_failed++;
    if (i >= r->top_pod) r->top_pod = i + 1;
}

static void drop(struct replica_type *r, struct pod *p)
{
    r->pods[p->spec.index] = NULL;
    r->n_pods--;
    while (r->top_pod && !r->pods[r->top_pod - 1]) r->top_pod--;
}

/* ---- what the job waits for ---- */

/* From the least advanced to the most; of those that keep the job from stepping the first counts. */
static const uint8_t least_advanced[] = {
    WAIT_UNSATISFIABLE, WAIT_CAPACITY, WAIT_FRAGMENTATION, WAIT_TOPOLOGY, WAIT_SCHEDULER_BACKOFF, WAIT_GANG,
    WAIT_CONTROL_PLANE, WAIT_IMAGE, WAIT_START, WAIT_HEAD, WAIT_CONTAINER_BACKOFF, WAIT_DETECTION, WAIT_PEERS,
};

static unsigned waits_for(const struct torch_job *t, const struct pod *p)
{
    if (p->gone) return NOT_WAITING;
    unsigned w = kube_pod_waits_for(t->op->kube, p);
    if (w != NOT_WAITING) return w;
    enum rank_state state = ranks_state(p);
    return state == RANK_WAIT ? WAIT_PEERS : state == RANK_STUCK ? WAIT_DETECTION : NOT_WAITING;
}

void torch_recount_wait(struct torch_job *t, struct pod *p)
{
    unsigned old = (p->owner_tag & WAITS_MASK) >> WAITS_SHIFT; /* reason + 1; 0: none */
    unsigned w = waits_for(t, p), now = w == NOT_WAITING ? 0 : w + 1;
    if (old == now) return;
    if (old) t->waits[old - 1]--;
    if (now) t->waits[now - 1]++;
    p->owner_tag = (p->owner_tag & ~(uint32_t)WAITS_MASK) | now << WAITS_SHIFT;
}

static unsigned job_reason(const struct torch_job *t)
{
    if (t->suspend) return WAIT_SUSPENDED;
    if (t->elastic_join) return WAIT_RESIZE;
    if (t->phase == GROUP_STARTING) return WAIT_START;
    if (t->phase == GROUP_RENDEZVOUS) return WAIT_RENDEZVOUS;
    if (t->phase == GROUP_LOADING) return WAIT_CHECKPOINT_LOAD;
    uint32_t exist = 0;
    for (uint32_t i = 0; i < t->n_types; i++) exist += t->type[i].n_pods;
    for (size_t i = 0; i < sizeof least_advanced; i++) {
        unsigned w = least_advanced[i];
        if (t->waits[w] || (w == WAIT_CONTROL_PLANE && exist < torch_wanted(t))) return w;
    }
    return WAIT_CONTROL_PLANE;
}

void torch_refresh_wait(struct torch_job *t)
{
    struct job *j = t->job;
    if (j->state != JOB_ADMITTED || (j->flags & (JOB_STOPPING | JOB_ENDED))) return;
    unsigned reason = job_reason(t);
    if (reason != j->wait) job_wait(t->op->sim, j, reason);
}

/* ---- changes ---- */

static void tell_master_ready(struct torch_job *t)
{
    for (uint32_t i = 1; i < t->n_types; i++)
        for (uint32_t k = 0; k < t->type[i].top_pod; k++)
            if (t->type[i].pods[k]) kube_pod_init_done(t->op->kube, t->type[i].pods[k]);
}

/* What the change means for the process in the container. */
static void processes(struct torch_job *t, struct pod *p, enum pod_change what)
{
    switch (what) {
    case POD_STARTED:
    case POD_RESTARTED: ranks_process_up(t, p); break;
    case POD_EXITED:
    case POD_PHASE:
    case POD_TERMINATING:
    case POD_GONE: ranks_process_down(t, p, false); break;
    case POD_LOST: ranks_process_down(t, p, true); break;
    default: break;
    }
}

static int by_node(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void add_node(struct job_live *l, uint32_t node)
{
    struct node_interval *last = l->n_nodes ? &l->nodes[l->n_nodes - 1] : NULL;
    if (last && node <= last->last + 1) last->last = node;
    else l->nodes[l->n_nodes++] = (struct node_interval){node, node};
}

/* The nodes of the allocation, for jobs.csv. */
static void keep_nodes(struct torch_job *t)
{
    struct job_live *l = t->job->live;
    uint32_t few[8], n = 0, *nodes = t->n_bound <= 8 ? few : xmalloc(t->n_bound * sizeof *nodes);
    for (uint32_t i = 0; i < t->n_types; i++)
        for (uint32_t k = 0; k < t->type[i].top_pod; k++) {
            const struct pod *p = t->type[i].pods[k];
            if (p && p->bound) nodes[n++] = p->node;
        }
    qsort(nodes, n, sizeof *nodes, by_node);
    l->nodes = xreallocarray(l->nodes, n, sizeof *l->nodes);
    l->n_nodes = 0;
    for (uint32_t i = 0; i < n; i++) add_node(l, nodes[i]);
    if (nodes != few) free(nodes);
}

void torch_allocated(struct torch_job *t)
{
    if (t->allocated || (t->job->flags & JOB_ENDED)) return;
    t->allocated = true;
    keep_nodes(t);
    job_allocated(t->op->sim, t->job);
}

static void count_bound(struct torch_job *t, const struct pod *p, enum pod_change what)
{
    if (what == POD_GONE && p->bound) t->n_bound--;
    if (what == POD_BOUND && ++t->n_bound == torch_wanted(t)) torch_allocated(t);
}

/* Things that no counter shows, but that bring a reconcile: it may find a deadline passed. */
static bool wakes(const struct torch_job *t)
{
    return job_detail_of(t->op->sim, t->job)->active_deadline_ns != TIME_NEVER;
}

void torch_observe(struct torch_job *t, struct pod *p, enum pod_change what)
{
    struct replica_type *r = torch_type_of(t, p->spec.role);
    /* A pod that the controller has just made brings no news, unless it is one too many. */
    bool changed = what == POD_GONE || (what == POD_CREATED && p->spec.index >= r->replicas);
    if (what == POD_CREATED) add(r, p);
    count_bound(t, p, what);
    if (what == POD_PHASE) r->not_failed--;
    if (what == POD_GONE && p->phase < POD_SUCCEEDED) r->not_failed--;
    processes(t, p, what);
    changed |= recount(r, p);
    torch_recount_wait(t, p);
    if (what == POD_GONE) drop(r, p);
    if (what == POD_READY && p == torch_master(t)) tell_master_ready(t);
    torch_refresh_wait(t);
    if (what == POD_LOST || what == POD_FOUND) return; /* no watch shows it */
    if (changed || wakes(t)) torch_enqueue(t);
    if (what == POD_GONE || what == POD_PHASE) torch_try_release(t);
}

static void changed(struct kube *k, struct pod *p, enum pod_change what)
{
    (void)k;
    torch_observe(p->spec.ctx, p, what);
}

/* nslookup of the master's name: its Service is headless without publishNotReadyAddresses. */
static bool master_has_name(struct kube *k, struct pod *p)
{
    const struct torch_job *t = p->spec.ctx;
    const struct pod *m = torch_master(t);
    (void)k;
    return m && m->ready && !m->terminating && t->type[0].services[0];
}

const struct pod_owner_ops torch_pod_ops = {.changed = changed, .init_ready = master_has_name};
