/* job_pods.c - a Job's pods as a watch shows them, counted, so that a sync need not look at each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/operator/job.h"

enum seen { SEEN_NOTHING, SEEN_ACTIVE, SEEN_SUCCEEDED, SEEN_FAILED };

static bool has_ended(const struct pod *p) { return p->phase >= POD_SUCCEEDED; }

bool batch_is_active(const struct pod *p) { return !p->gone && !has_ended(p) && !p->terminating; }

bool batch_has_succeeded(const struct pod *p)
{
    return !p->gone && p->phase == POD_SUCCEEDED && !(p->owner_tag & TAG_COUNTED);
}

bool batch_has_failed(const struct batch_job *b, const struct pod *p)
{
    if (p->gone || p->phase == POD_SUCCEEDED || (p->owner_tag & TAG_COUNTED)) return false;
    return p->phase == POD_FAILED || (p->terminating && !b->replace_failed);
}

static enum seen seen_as(const struct batch_job *b, const struct pod *p)
{
    if (batch_is_active(p)) return SEEN_ACTIVE;
    return batch_has_succeeded(p) ? SEEN_SUCCEEDED : batch_has_failed(b, p) ? SEEN_FAILED : SEEN_NOTHING;
}

static uint32_t *counter(struct batch_job *b, enum seen s)
{
    return s == SEEN_ACTIVE ? &b->n_active : s == SEEN_SUCCEEDED ? &b->n_succeeded : s == SEEN_FAILED ? &b->n_failed : NULL;
}

static bool flip(struct pod *p, uint32_t tag, bool on, uint32_t *count)
{
    if (((p->owner_tag & tag) != 0) == on) return false;
    p->owner_tag ^= tag;
    *count += on ? 1u : ~0u;
    return true;
}

/* Brings the counters of a pod up to date; true when a sync would see a difference. */
static bool recount(struct batch_job *b, struct pod *p)
{
    enum seen old = p->owner_tag & TAG_SEEN, now = seen_as(b, p);
    uint32_t restarts = p->gone || has_ended(p) ? 0 : p->restarts + p->init_restarts;
    bool changed = old != now || restarts != p->owner_count;
    uint32_t *from = counter(b, old), *to = counter(b, now);
    if (from) --*from;
    if (to) ++*to;
    p->owner_tag = (p->owner_tag & ~(uint32_t)TAG_SEEN) | now;
    b->restarts += restarts - (uint64_t)p->owner_count;
    p->owner_count = restarts;
    changed |= flip(p, TAG_READY, now == SEEN_ACTIVE && p->ready, &b->n_ready);
    changed |= flip(p, TAG_TERMINATING, p->terminating && !p->gone && !has_ended(p), &b->n_terminating);
    if (b->indexed) flip(p, TAG_INDEX, now == SEEN_ACTIVE || now == SEEN_SUCCEEDED, &b->active_of[p->spec.index]);
    return changed;
}

void batch_pod_counted(struct batch_job *b, struct pod *p)
{
    p->owner_tag |= TAG_COUNTED;
    recount(b, p);
    kube_pod_unfinalize(b->ctl->kube, p);
}

void batch_pod_patched(struct batch_job *b, struct pod *p)
{
    if (recount(b, p)) batch_sync_soon(b);
}

/* ---- list ---- */

static void add(struct batch_job *b, struct pod *p)
{
    p->next = NULL;
    p->prev = b->last;
    if (b->last) b->last->next = p;
    else b->first = p;
    b->last = p;
    b->n_pods++;
    b->n_held++;
}

static void drop(struct batch_job *b, struct pod *p)
{
    if (b->run.cursor == p) b->run.cursor = p->next;
    if (p->prev) p->prev->next = p->next;
    else b->first = p->next;
    if (p->next) p->next->prev = p->prev;
    else b->last = p->prev;
    b->n_pods--;
}

/* ---- when a pod finished, as the controller reckons ---- */

/* pod->owner_data: ns + 1 of the container's end, else of Ready=False, else of the deletion; 0: none, the creation counts. */
static void set_finish(struct kube *k, struct pod *p) { p->owner_data = (void *)(uintptr_t)(sim_now(kube_sim(k)) + 1); }

static void keep_finish(struct kube *k, struct pod *p, enum pod_change what)
{
    switch (what) {
    case POD_PHASE:
        if (!p->evicted) set_finish(k, p);
        break;
    case POD_NOT_READY:
    case POD_TERMINATING:
        if (!p->owner_data) set_finish(k, p);
        break;
    case POD_READY: p->owner_data = NULL; break;
    default: break;
    }
}

int64_t batch_finish_time(const struct pod *p)
{
    int64_t t = p->owner_data ? (int64_t)(uintptr_t)p->owner_data - 1 : p->created_ns;
    return t / EVENT_SECOND * EVENT_SECOND;
}

/* ---- what the job waits for ---- */

/* From the least advanced to the most; of those that keep the job from stepping the first counts. */
static const uint8_t least_advanced[] = {
    WAIT_UNSATISFIABLE, WAIT_CAPACITY, WAIT_FRAGMENTATION, WAIT_TOPOLOGY, WAIT_SCHEDULER_BACKOFF, WAIT_GANG,
    WAIT_CONTROL_PLANE, WAIT_IMAGE, WAIT_START, WAIT_CONTAINER_BACKOFF, WAIT_DETECTION, WAIT_PEERS,
};

static unsigned waits_for(const struct batch_job *b, const struct pod *p)
{
    if (p->gone || p->terminating) return NOT_WAITING;
    unsigned w = kube_pod_waits_for(b->ctl->kube, p);
    return w != NOT_WAITING ? w : job_ranks_wait(b, p);
}

void batch_recount_wait(struct batch_job *b, struct pod *p)
{
    unsigned old = p->owner_tag >> TAG_WAITS_SHIFT & 0xff; /* reason + 1; 0: none */
    unsigned w = waits_for(b, p), now = w == NOT_WAITING ? 0 : w + 1;
    if (old == now) return;
    if (old) b->waits[old - 1]--;
    if (now) b->waits[now - 1]++;
    p->owner_tag = (p->owner_tag & ~(0xffu << TAG_WAITS_SHIFT)) | now << TAG_WAITS_SHIFT;
}

static unsigned job_reason(const struct batch_job *b)
{
    if (b->suspend) return WAIT_SUSPENDED;
    unsigned group = job_group_wait(b);
    if (group != NOT_WAITING) return group;
    for (size_t i = 0; i < sizeof least_advanced; i++)
        if (b->waits[least_advanced[i]]) return least_advanced[i];
    return b->backoff.failures || b->n_failed ? WAIT_CONTAINER_BACKOFF : WAIT_CONTROL_PLANE;
}

void batch_refresh_wait(struct batch_job *b)
{
    struct job *j = b->job;
    if (j->state != JOB_ADMITTED || (j->flags & (JOB_STOPPING | JOB_ENDED))) return;
    unsigned reason = job_reason(b);
    if (reason != j->wait) job_wait(b->ctl->sim, j, reason);
}

/* ---- changes ---- */

static void processes(struct batch_job *b, struct pod *p, enum pod_change what)
{
    switch (what) {
    case POD_STARTED:
    case POD_RESTARTED: job_ranks_up(b, p); break;
    case POD_EXITED:
    case POD_PHASE:
    case POD_TERMINATING:
    case POD_GONE: job_ranks_down(b, p, false); break;
    case POD_LOST: job_ranks_down(b, p, true); break;
    default: break;
    }
}

static int by_node(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The nodes of the allocation, for jobs.csv. */
static void keep_nodes(struct batch_job *b)
{
    struct job_live *l = b->job->live;
    uint32_t n = 0, *nodes = xmalloc(b->n_pods * sizeof *nodes);
    for (const struct pod *p = b->first; p; p = p->next)
        if (p->bound && batch_is_active(p)) nodes[n++] = p->node;
    qsort(nodes, n, sizeof *nodes, by_node);
    free(l->nodes);
    l->nodes = xmalloc((n + 1) * sizeof *l->nodes);
    l->n_nodes = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct node_interval *last = l->n_nodes ? &l->nodes[l->n_nodes - 1] : NULL;
        if (last && nodes[i] <= last->last + 1) last->last = nodes[i];
        else l->nodes[l->n_nodes++] = (struct node_interval){nodes[i], nodes[i]};
    }
    free(nodes);
}

static void count_bound(struct batch_job *b, struct pod *p, enum pod_change what)
{
    if (what == POD_BOUND) b->n_bound++;
    else if ((what == POD_TERMINATING && p->bound && !has_ended(p)) || (what == POD_PHASE && p->bound && !p->terminating)) b->n_bound--;
    if (what != POD_BOUND || b->n_bound < b->parallelism || b->allocated || b->over) return;
    b->allocated = true;
    keep_nodes(b);
    job_allocated(b->ctl->sim, b->job);
}

static void changed(struct kube *k, struct pod *p, enum pod_change what)
{
    struct batch_job *b = p->spec.ctx;
    bool ended = what == POD_PHASE || (what == POD_GONE && !has_ended(p));
    if (what == POD_CREATED) add(b, p);
    keep_finish(k, p, what);
    count_bound(b, p, what);
    if (ended) b->n_held--;
    processes(b, p, what);
    bool difference = recount(b, p);
    batch_recount_wait(b, p);
    if (what == POD_GONE) drop(b, p);
    batch_refresh_wait(b);
    if (what == POD_LOST || what == POD_FOUND) return; /* no watch shows it */
    if (difference || what == POD_CREATED || what == POD_GONE) batch_sync_soon(b);
    if (ended || what == POD_GONE) batch_try_release(b);
}

/* Kubernetes' alphabet of random suffixes (apimachinery util/rand). */
static void name(const struct sim *s, const struct pod *p, char *buf, size_t n)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    char number[24], suffix[6] = "";
    uint32_t x = p->id * 2654435761u;
    for (int i = 0; i < 5; i++, x /= 27) suffix[i] = letters[x % 27];
    const struct batch_job *b = p->spec.ctx;
    const char *id = job_id(s->scenario, p->spec.job->spec, number);
    if (b->indexed) snprintf(buf, n, "%s-%u-%s", id, p->spec.index, suffix);
    else snprintf(buf, n, "%s-%s", id, suffix);
}

const struct pod_owner_ops batch_pod_ops = {.changed = changed, .name = name};
