/* kueue.c - configuration, workloads and look-ups of the Kueue decision library.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/kueue/kueue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/queue/kueue/core.h"
#include "sim/queue/kueue/cycle.h"
#include "sim/queue/kueue/queue.h"

#define SECOND_NS 1000000000ll

struct kueue *kueue_create(const struct kueue_options *options)
{
    struct kueue *k = xcalloc(1, sizeof *k);
    k->options = *options;
    if (k->options.time_grain_ns == 0) k->options.time_grain_ns = SECOND_NS;
    if (k->options.retry_batch_ns == 0) k->options.retry_batch_ns = SECOND_NS;
    assert(options->n_resources > 0 && options->n_resources <= KUEUE_MAX_RESOURCES);
    assert(options->n_flavors > 0 && options->n_flavors <= KUEUE_MAX_FLAVORS);
    k->n_frs = options->n_flavors * options->n_resources;
    quota_init(&k->quota, k->n_frs);
    return k;
}

static void free_shape(struct shape *s)
{
    for (size_t i = 0; i < s->assignments.n; i++) {
        free(s->assignments.v[i]->uses);
        free(s->assignments.v[i]);
    }
    array_free(&s->assignments);
    free(s->pod_sets);
}

static void free_queues_and_trees(struct kueue *k)
{
    for (size_t i = 0; i < k->queues.n; i++) {
        free(k->queues.v[i].groups);
        array_free(&k->queues.v[i].heap);
        array_free(&k->queues.v[i].with_parked);
        array_free(&k->queues.v[i].admitted);
    }
    for (size_t i = 0; i < k->trees.n; i++) {
        array_free(&k->trees.v[i].queues);
        array_free(&k->trees.v[i].ready);
        array_free(&k->trees.v[i].with_parked);
    }
    array_free(&k->queues);
    array_free(&k->trees);
}

void kueue_destroy(struct kueue *k)
{
    if (!k) return;
    for (size_t i = 0; i < k->shapes.n; i++) free_shape(&k->shapes.v[i]);
    free_queues_and_trees(k);
    quota_free(&k->quota);
    hmap_free(&k->shape_ids);
    array_free(&k->cohorts);
    array_free(&k->node_queue);
    array_free(&k->node_tree);
    array_free(&k->shapes);
    array_free(&k->shape_next);
    array_free(&k->workloads);
    array_free(&k->free_workloads);
    array_free(&k->live);
    array_free(&k->retries);
    array_free(&k->entries);
    array_free(&k->targets);
    array_free(&k->candidates);
    array_free(&k->held);
    array_free(&k->victims);
    array_free(&k->changed_trees);
    array_free(&k->moved_on_trees);
    array_free(&k->outcomes);
    array_free(&k->drained_outcomes);
    free(k);
}

/* ---- cohorts and queues ---- */

static uint32_t add_node(struct kueue *k, uint32_t cohort, uint32_t queue)
{
    uint32_t parent = cohort == KUEUE_NONE ? KUEUE_NONE : k->cohorts.v[cohort];
    uint32_t node = quota_add_node(&k->quota, parent, queue != KUEUE_NONE), tree = (uint32_t)k->trees.n;
    if (parent == KUEUE_NONE)
        array_push(&k->trees, (struct tree){.live_at = KUEUE_NONE});
    else
        tree = k->node_tree.v[parent];
    array_push(&k->node_queue, queue);
    array_push(&k->node_tree, tree);
    return node;
}

uint32_t kueue_add_cohort(struct kueue *k, uint32_t parent)
{
    uint32_t node = add_node(k, parent, KUEUE_NONE);
    array_push(&k->cohorts, node);
    quota_rebuild(&k->quota);
    return (uint32_t)k->cohorts.n - 1;
}

/* Quota or policy of a node changed: what is parked may fit now. */
static void node_changed(struct kueue *k, uint32_t node, int64_t now_ns)
{
    uint32_t tree = k->node_tree.v[node];
    quota_rebuild(&k->quota);
    for (size_t i = 0; i < k->trees.v[tree].queues.n; i++) k->queues.v[k->trees.v[tree].queues.v[i]].generation++;
    tree_set_dirty(k, tree, true);
    tree_arm_retry(k, tree, now_ns);
}

void kueue_set_cohort_quota(struct kueue *k, uint32_t cohort, uint16_t flavor, uint16_t resource,
                            struct kueue_quota quota, int64_t now_ns)
{
    quota_set(&k->quota, k->cohorts.v[cohort], kueue_fr(k, flavor, resource), quota);
    node_changed(k, k->cohorts.v[cohort], now_ns);
}

static void set_groups(struct kueue *k, struct cluster_queue *q, const struct kueue_queue_config *config)
{
    const struct kueue_quota none = {0, KUEUE_UNLIMITED, KUEUE_UNLIMITED};
    for (uint16_t fr = 0; fr < k->n_frs; fr++) quota_set(&k->quota, q->node, fr, none);
    free(q->groups);
    q->n_groups = config->n_groups;
    q->groups = xcalloc(config->n_groups ? config->n_groups : 1, sizeof *q->groups);
    q->covered = 0;
    for (uint32_t i = 0; i < config->n_groups; i++) {
        const struct kueue_group *from = &config->groups[i];
        struct group *to = &q->groups[i];
        to->n_resources = from->n_resources;
        to->n_flavors = from->n_flavors;
        memcpy(to->resources, from->resources, sizeof to->resources);
        for (uint32_t r = 0; r < from->n_resources; r++) q->covered |= 1ull << from->resources[r];
        for (uint32_t f = 0; f < from->n_flavors; f++) {
            to->flavors[f] = from->flavors[f].flavor;
            for (uint32_t r = 0; r < from->n_resources; r++)
                quota_set(&k->quota, q->node, kueue_fr(k, to->flavors[f], to->resources[r]),
                          from->flavors[f].quotas[r]);
        }
    }
}

static void set_config(struct kueue *k, struct cluster_queue *q, const struct kueue_queue_config *config)
{
    q->config = *config;
    q->config.groups = NULL;
    set_groups(k, q, config);
}

uint32_t kueue_add_queue(struct kueue *k, const struct kueue_queue_config *config)
{
    uint32_t id = (uint32_t)k->queues.n;
    struct cluster_queue q = {.node = add_node(k, config->cohort, id)};
    q.tree = k->node_tree.v[q.node];
    q.sticky = q.ready_at = KUEUE_NONE;
    array_push(&k->queues, q);
    array_push(&k->trees.v[q.tree].queues, id);
    set_config(k, &k->queues.v[id], config);
    quota_rebuild(&k->quota);
    return id;
}

void kueue_update_queue(struct kueue *k, uint32_t queue, const struct kueue_queue_config *config, int64_t now_ns)
{
    struct cluster_queue *q = &k->queues.v[queue];
    assert(config->cohort == q->config.cohort);
    enum kueue_stop stop = q->config.stop;
    set_config(k, q, config);
    q->config.stop = stop;
    node_changed(k, q->node, now_ns);
    if (config->stop != stop) kueue_set_stop(k, queue, config->stop, now_ns);
}

static void drain(struct kueue *k, struct cluster_queue *q, int64_t now_ns)
{
    for (size_t b = 0; b < q->admitted.n; b++)
        for (uint32_t i = q->admitted.v[b].first; i != KUEUE_NONE; i = k->workloads.v[i].next) {
            if (k->workloads.v[i].state != WORKLOAD_ADMITTED) continue;
            array_push(&k->drained_outcomes, workload_evict(k, i, KUEUE_QUEUE_STOPPED, KUEUE_NONE, now_ns));
        }
}

void kueue_set_stop(struct kueue *k, uint32_t queue, enum kueue_stop stop, int64_t now_ns)
{
    struct cluster_queue *q = &k->queues.v[queue];
    q->config.stop = stop;
    array_clear(&k->drained_outcomes);
    if (stop == KUEUE_HOLD_AND_DRAIN) drain(k, q, now_ns);
    if (stop == KUEUE_RUN) queue_unpark(k, queue);
    queue_refresh(k, queue);
    tree_set_dirty(k, q->tree, true);
    size_t n = k->drained_outcomes.n;
    k->drained = (struct kueue_cycle){.n = n, .outcomes = k->drained_outcomes.v, .evicted = (uint32_t)n};
}

const struct kueue_cycle *kueue_drained(const struct kueue *k)
{
    return &k->drained;
}

/* ---- shapes ---- */

static uint64_t shape_hash(uint32_t queue, int32_t priority, uint32_t n, const struct kueue_pod_set *pod_sets)
{
    uint64_t h = kueue_mix(queue, (uint64_t)(uint32_t)priority << 32 | n);
    for (uint32_t i = 0; i < n; i++) {
        h = h << 32 |
            kueue_mix((uint32_t)h, pod_sets[i].flavors ^ pod_sets[i].count ^ (uint64_t)pod_sets[i].min_count << 32);
        for (uint32_t r = 0; r < KUEUE_MAX_RESOURCES; r++) h = h * 31 + kueue_mix(r, (uint64_t)pod_sets[i].requests[r]);
    }
    return h;
}

static bool same_pod_set(const struct kueue_pod_set *a, const struct kueue_pod_set *b)
{
    return a->count == b->count && a->min_count == b->min_count && a->flavors == b->flavors &&
           memcmp(a->requests, b->requests, sizeof a->requests) == 0;
}

static bool same_shape(const struct shape *s, uint32_t queue, int32_t priority, uint32_t n,
                       const struct kueue_pod_set *pod_sets)
{
    if (s->queue != queue || s->priority != priority || s->n_pod_sets != n) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!same_pod_set(&s->pod_sets[i], &pod_sets[i])) return false;
    return true;
}

static struct shape new_shape(uint32_t queue, int32_t priority, uint32_t n, const struct kueue_pod_set *pod_sets)
{
    struct shape s = {.queue = queue, .priority = priority, .n_pod_sets = n};
    s.active = s.parked = s.heap_at = s.reducible = KUEUE_NONE;
    s.pod_sets = xcalloc(n, sizeof *s.pod_sets);
    memcpy(s.pod_sets, pod_sets, n * sizeof *pod_sets);
    for (uint32_t i = 0; i < n; i++)
        if (pod_sets[i].min_count > 0 && pod_sets[i].min_count < pod_sets[i].count) s.reducible = i;
    return s;
}

uint32_t kueue_shape(struct kueue *k, uint32_t queue, int32_t priority, uint32_t n_pod_sets,
                     const struct kueue_pod_set *pod_sets)
{
    assert(n_pod_sets > 0 && n_pod_sets <= KUEUE_MAX_POD_SETS);
    uint64_t hash = shape_hash(queue, priority, n_pod_sets, pod_sets), first = 0;
    hmap_get_u64(&k->shape_ids, hash, &first);
    for (uint64_t i = first; i != 0; i = k->shape_next.v[i - 1])
        if (same_shape(&k->shapes.v[i - 1], queue, priority, n_pod_sets, pod_sets)) return (uint32_t)i - 1;
    array_push(&k->shapes, new_shape(queue, priority, n_pod_sets, pod_sets));
    array_push(&k->shape_next, (uint32_t)first);
    hmap_put_u64(&k->shape_ids, hash, k->shapes.n);
    return (uint32_t)k->shapes.n - 1;
}

uint16_t shape_intern(struct shape *s, const struct assignment *a, uint32_t n_resources)
{
    size_t n_counts = s->n_pod_sets * sizeof *a->counts, n_flavors = s->n_pod_sets * n_resources;
    for (size_t i = 0; i < s->assignments.n; i++) {
        const struct assignment *b = s->assignments.v[i];
        if (memcmp(a->counts, b->counts, n_counts) == 0 && memcmp(a->flavors, b->flavors, n_flavors) == 0)
            return (uint16_t)i;
    }
    struct assignment *new = xmalloc(sizeof *new);
    *new = *a;
    new->uses = xreallocarray(NULL, a->n_uses, sizeof *a->uses);
    memcpy(new->uses, a->uses, a->n_uses * sizeof *a->uses);
    array_push(&s->assignments, new);
    assert(s->assignments.n <= UINT16_MAX);
    return (uint16_t)(s->assignments.n - 1);
}

/* ---- workloads ---- */

void workload_remove_usage(struct kueue *k, uint32_t workload)
{
    const struct workload *w = &k->workloads.v[workload];
    const struct assignment *a = workload_assignment(k, w);
    uint32_t node = k->queues.v[k->shapes.v[w->shape].queue].node;
    for (uint32_t i = 0; i < a->n_uses; i++) quota_remove(&k->quota, node, a->uses[i].fr, a->uses[i].amount);
}

void workload_add_usage(struct kueue *k, uint32_t workload)
{
    const struct workload *w = &k->workloads.v[workload];
    const struct assignment *a = workload_assignment(k, w);
    uint32_t node = k->queues.v[k->shapes.v[w->shape].queue].node;
    for (uint32_t i = 0; i < a->n_uses; i++) quota_add(&k->quota, node, a->uses[i].fr, a->uses[i].amount);
}

uint32_t kueue_submit(struct kueue *k, uint32_t shape, uint64_t uid, int64_t created_ns, uint64_t owner)
{
    uint32_t id;
    if (k->free_workloads.n > 0) {
        id = array_pop(&k->free_workloads);
    } else {
        id = (uint32_t)k->workloads.n;
        array_push(&k->workloads, (struct workload){0});
    }
    struct workload w = {.uid = uid, .owner = owner, .shape = shape, .created_ns = created_ns};
    w.order_ns = kueue_grain(k, created_ns);
    w.reason = KUEUE_WAITS_ORDER;
    k->workloads.v[id] = w;
    queue_push(k, id);
    return id;
}

/* Quota is free again: parked workloads of the tree get another chance with the next batch. */
static void free_quota(struct kueue *k, uint32_t workload, int64_t now_ns)
{
    struct cluster_queue *q = &k->queues.v[k->shapes.v[k->workloads.v[workload].shape].queue];
    workload_remove_usage(k, workload);
    admitted_remove(k, workload);
    q->generation++;
    tree_set_dirty(k, q->tree, true);
    tree_arm_retry(k, q->tree, now_ns);
}

void kueue_finish(struct kueue *k, uint32_t workload, int64_t now_ns)
{
    struct workload *w = &k->workloads.v[workload];
    assert(w->state != WORKLOAD_FREE);
    if (w->state == WORKLOAD_ADMITTED || w->state == WORKLOAD_EVICTED) free_quota(k, workload, now_ns);
    if (w->state == WORKLOAD_PENDING) {
        queue_take(k, workload);
        tree_set_dirty(k, k->queues.v[k->shapes.v[w->shape].queue].tree, true);
    }
    w->state = WORKLOAD_FREE;
    array_push(&k->free_workloads, workload);
}

void kueue_release(struct kueue *k, uint32_t workload, int64_t now_ns)
{
    struct workload *w = &k->workloads.v[workload];
    assert(w->state == WORKLOAD_EVICTED);
    free_quota(k, workload, now_ns);
    w->reason = KUEUE_WAITS_ORDER;
    queue_push(k, workload);
}

/* ---- cycles and batches ---- */

bool kueue_ready(const struct kueue *k)
{
    return k->live.n > 0;
}

const struct kueue_cycle *kueue_run_cycle(struct kueue *k, int64_t now_ns)
{
    cycle_run(k, now_ns);
    return &k->cycle;
}

int64_t kueue_next_retry(const struct kueue *k)
{
    return k->retry_first < k->retries.n ? k->retries.v[k->retry_first].due_ns : KUEUE_NEVER;
}

void kueue_retry(struct kueue *k, int64_t now_ns)
{
    while (kueue_next_retry(k) <= now_ns && k->retry_first < k->retries.n) {
        uint32_t tree = k->retries.v[k->retry_first++].tree;
        k->trees.v[tree].retry_armed = false;
        tree_unpark(k, tree);
    }
    if (k->retry_first < 1024 && k->retry_first < k->retries.n) return;
    size_t left = k->retries.n - k->retry_first;
    if (left > 0) memmove(k->retries.v, k->retries.v + k->retry_first, left * sizeof *k->retries.v);
    k->retries.n = left;
    k->retry_first = 0;
}

/* ---- looking ---- */

const char *kueue_reason_name(enum kueue_reason reason)
{
    static const char *const names[KUEUE_REASONS] = {
        [KUEUE_OK] = "",
        [KUEUE_IN_CLUSTER_QUEUE] = "InClusterQueue",
        [KUEUE_IN_COHORT_RECLAMATION] = "InCohortReclamation",
        [KUEUE_IN_COHORT_RECLAIM_WHILE_BORROWING] = "InCohortReclaimWhileBorrowing",
        [KUEUE_QUEUE_STOPPED] = "ClusterQueueStopped",
        [KUEUE_WAITS_ORDER] = "behind the head of its queue",
        [KUEUE_WAITS_STOPPED] = "the queue is stopped",
        [KUEUE_NO_RESOURCE] = "the queue has no quota for a requested resource",
        [KUEUE_NO_MATCHING_FLAVOR] = "no flavor matches the node selector and tolerations",
        [KUEUE_EXCEEDS_MAXIMUM] = "exceeds the maximum quota of the queue",
        [KUEUE_WAITS_FOR_QUOTA] = "insufficient unused quota",
        [KUEUE_NO_VICTIMS] = "insufficient unused quota, nothing to preempt",
        [KUEUE_PENDING_PREEMPTION] = "pending the preemption of other workloads",
        [KUEUE_NO_LONGER_FITS] = "no longer fits after processing another workload",
        [KUEUE_OVERLAPPING_VICTIMS] = "has overlapping preemption targets with another workload",
    };
    return names[reason];
}

enum kueue_reason kueue_wait_reason(const struct kueue *k, uint32_t workload)
{
    const struct workload *w = &k->workloads.v[workload];
    if (w->state != WORKLOAD_PENDING) return KUEUE_OK;
    return k->queues.v[k->shapes.v[w->shape].queue].config.stop == KUEUE_RUN ? w->reason : KUEUE_WAITS_STOPPED;
}

bool kueue_is_admitted(const struct kueue *k, uint32_t workload)
{
    return k->workloads.v[workload].state == WORKLOAD_ADMITTED;
}

uint32_t kueue_pods(const struct kueue *k, uint32_t workload, uint32_t pod_set)
{
    return workload_assignment(k, &k->workloads.v[workload])->counts[pod_set];
}

uint16_t kueue_flavor(const struct kueue *k, uint32_t workload, uint32_t pod_set, uint16_t resource)
{
    const struct assignment *a = workload_assignment(k, &k->workloads.v[workload]);
    uint8_t flavor = a->flavors[pod_set * k->options.n_resources + resource];
    return flavor == KUEUE_NO_FLAVOR ? UINT16_MAX : flavor;
}

uint32_t kueue_pending(const struct kueue *k, uint32_t queue)
{
    return k->queues.v[queue].n_pending;
}

int64_t kueue_usage(const struct kueue *k, uint32_t queue, uint16_t flavor, uint16_t resource)
{
    return quota_cell(&k->quota, k->queues.v[queue].node, kueue_fr(k, flavor, resource))->usage;
}

int64_t kueue_available(const struct kueue *k, uint32_t queue, uint16_t flavor, uint16_t resource)
{
    return quota_available(&k->quota, k->queues.v[queue].node, kueue_fr(k, flavor, resource));
}

uint64_t kueue_state_hash(const struct kueue *k)
{
    uint64_t h = 1469598103934665603ull;
    for (size_t i = 0; i < k->quota.cells.n; i++) {
        const struct quota_cell *c = &k->quota.cells.v[i];
        const int64_t words[] = {c->nominal, c->subtree, c->local, c->usage};
        for (size_t j = 0; j < 4; j++) h = (h ^ (uint64_t)words[j]) * 1099511628211ull;
    }
    for (size_t i = 0; i < k->workloads.n; i++) {
        const struct workload *w = &k->workloads.v[i];
        const uint64_t words[] = {w->uid, (uint64_t)w->order_ns, (uint64_t)w->reserved_ns, w->state};
        for (size_t j = 0; j < 4; j++) h = (h ^ words[j]) * 1099511628211ull;
    }
    return h;
}
