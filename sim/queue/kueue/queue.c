/* queue.c - the order in which a queue's workloads become heads.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/kueue/queue.h"

#include <assert.h>

/* ---- pairing heap of the workloads of a shape, by age; links are indices, prev is the parent of a first child ---- */

static bool older(const struct kueue *k, uint32_t a, uint32_t b)
{
    const struct workload *x = &k->workloads.v[a], *y = &k->workloads.v[b];
    if (x->order_ns != y->order_ns) return x->order_ns < y->order_ns;
    return x->uid != y->uid ? x->uid < y->uid : a < b;
}

static uint32_t heap_meld(struct kueue *k, uint32_t a, uint32_t b)
{
    if (a == KUEUE_NONE) return b;
    if (b == KUEUE_NONE) return a;
    if (older(k, b, a)) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    struct workload *v = k->workloads.v;
    v[b].prev = a;
    v[b].next = v[a].child;
    if (v[a].child != KUEUE_NONE) v[v[a].child].prev = b;
    v[a].child = b;
    return a;
}

/* Melds a list of siblings into one heap: in pairs from the left, then from the right. */
static uint32_t heap_meld_siblings(struct kueue *k, uint32_t first)
{
    struct workload *v = k->workloads.v;
    uint32_t pairs = KUEUE_NONE, root = KUEUE_NONE;
    while (first != KUEUE_NONE) {
        uint32_t a = first, b = v[a].next;
        first = b == KUEUE_NONE ? KUEUE_NONE : v[b].next;
        v[a].next = v[a].prev = KUEUE_NONE;
        if (b != KUEUE_NONE) v[b].next = v[b].prev = KUEUE_NONE;
        a = heap_meld(k, a, b);
        v[a].next = pairs;
        pairs = a;
    }
    while (pairs != KUEUE_NONE) {
        uint32_t a = pairs;
        pairs = v[a].next;
        v[a].next = KUEUE_NONE;
        root = heap_meld(k, root, a);
    }
    return root;
}

/* Takes w, which is not a root, out of its heap: its children take its place. */
static void heap_cut(struct kueue *k, uint32_t w)
{
    struct workload *v = k->workloads.v;
    uint32_t prev = v[w].prev, next = v[w].next, sub = heap_meld_siblings(k, v[w].child);
    uint32_t here = sub == KUEUE_NONE ? next : sub;
    if (sub != KUEUE_NONE) {
        v[sub].next = next;
        v[sub].prev = prev;
        if (next != KUEUE_NONE) v[next].prev = sub;
    } else if (next != KUEUE_NONE) {
        v[next].prev = prev;
    }
    if (v[prev].child == w)
        v[prev].child = here;
    else
        v[prev].next = here;
}

/* ---- binary heap of a queue's shapes ---- */

static bool shape_first(const struct kueue *k, uint32_t a, uint32_t b)
{
    const struct shape *x = &k->shapes.v[a], *y = &k->shapes.v[b];
    if (x->priority != y->priority) return x->priority > y->priority;
    return older(k, x->active, y->active);
}

static void shape_place(struct kueue *k, struct cluster_queue *q, uint32_t at, uint32_t shape)
{
    q->heap.v[at] = shape;
    k->shapes.v[shape].heap_at = at;
}

static void shape_up(struct kueue *k, struct cluster_queue *q, uint32_t at)
{
    uint32_t shape = q->heap.v[at];
    while (at > 0 && shape_first(k, shape, q->heap.v[(at - 1) / 2])) {
        shape_place(k, q, at, q->heap.v[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    shape_place(k, q, at, shape);
}

static void shape_down(struct kueue *k, struct cluster_queue *q, uint32_t at)
{
    uint32_t shape = q->heap.v[at];
    for (uint32_t child; (child = 2 * at + 1) < q->heap.n; at = child) {
        if (child + 1 < q->heap.n && shape_first(k, q->heap.v[child + 1], q->heap.v[child])) child++;
        if (!shape_first(k, q->heap.v[child], shape)) break;
        shape_place(k, q, at, q->heap.v[child]);
    }
    shape_place(k, q, at, shape);
}

static void shape_leave(struct kueue *k, struct cluster_queue *q, uint32_t shape)
{
    uint32_t at = k->shapes.v[shape].heap_at, last = array_pop(&q->heap);
    k->shapes.v[shape].heap_at = KUEUE_NONE;
    if (last == shape) return;
    shape_place(k, q, at, last);
    shape_down(k, q, at);
    shape_up(k, q, k->shapes.v[last].heap_at);
}

/* After a change of the shape's oldest active workload. */
static void shape_refresh(struct kueue *k, uint32_t shape)
{
    struct shape *s = &k->shapes.v[shape];
    struct cluster_queue *q = &k->queues.v[s->queue];
    bool wanted = s->active != KUEUE_NONE && !s->all_parked;
    if (!wanted) {
        if (s->heap_at != KUEUE_NONE) shape_leave(k, q, shape);
    } else if (s->heap_at == KUEUE_NONE) {
        array_push(&q->heap, shape);
        shape_up(k, q, (uint32_t)q->heap.n - 1);
    } else {
        shape_down(k, q, s->heap_at);
        shape_up(k, q, s->heap_at);
    }
}

/* ---- queues and trees ---- */

static void tree_refresh(struct kueue *k, uint32_t tree)
{
    struct tree *t = &k->trees.v[tree];
    bool live = t->dirty && t->ready.n > 0;
    if (live == (t->live_at != KUEUE_NONE)) return;
    if (live) {
        t->live_at = (uint32_t)k->live.n;
        array_push(&k->live, tree);
        return;
    }
    uint32_t last = array_pop(&k->live);
    k->live.v[t->live_at] = last; /* harmless when it was the last itself */
    k->trees.v[last].live_at = t->live_at;
    t->live_at = KUEUE_NONE;
}

void tree_set_dirty(struct kueue *k, uint32_t tree, bool dirty)
{
    k->trees.v[tree].dirty = dirty;
    if (dirty) k->trees.v[tree].quiet = 0;
    tree_refresh(k, tree);
}

void tree_moved_on(struct kueue *k, uint32_t tree)
{
    struct tree *t = &k->trees.v[tree];
    if (t->dirty || t->quiet > KUEUE_TRIED_MAX) return;
    t->quiet++;
    t->dirty = true;
    tree_refresh(k, tree);
}

void queue_refresh(struct kueue *k, uint32_t queue)
{
    struct cluster_queue *q = &k->queues.v[queue];
    struct tree *t = &k->trees.v[q->tree];
    bool ready = q->heap.n > 0 && q->config.stop == KUEUE_RUN;
    if (ready == (q->ready_at != KUEUE_NONE)) return;
    if (ready) {
        q->ready_at = (uint32_t)t->ready.n;
        array_push(&t->ready, queue);
    } else {
        uint32_t last = array_pop(&t->ready);
        if (last != queue) {
            t->ready.v[q->ready_at] = last;
            k->queues.v[last].ready_at = q->ready_at;
        }
        q->ready_at = KUEUE_NONE;
    }
    tree_refresh(k, q->tree);
}

uint32_t queue_head(const struct kueue *k, uint32_t queue)
{
    const struct cluster_queue *q = &k->queues.v[queue];
    if (q->sticky != KUEUE_NONE && !k->shapes.v[k->workloads.v[q->sticky].shape].all_parked) return q->sticky;
    return q->heap.n > 0 ? k->shapes.v[q->heap.v[0]].active : KUEUE_NONE;
}

/* Un-parking must look at this shape. */
static void list_parked(struct kueue *k, uint32_t shape)
{
    struct shape *s = &k->shapes.v[shape];
    struct cluster_queue *q = &k->queues.v[s->queue];
    if (!s->listed) array_push(&q->with_parked, shape);
    s->listed = true;
    if (!q->listed) array_push(&k->trees.v[q->tree].with_parked, s->queue);
    q->listed = true;
}

void queue_push(struct kueue *k, uint32_t workload)
{
    struct workload *w = &k->workloads.v[workload];
    struct shape *s = &k->shapes.v[w->shape];
    w->state = WORKLOAD_PENDING;
    w->child = w->next = w->prev = KUEUE_NONE;
    uint32_t old = s->all_parked ? KUEUE_NONE : queue_head(k, s->queue);
    s->active = heap_meld(k, s->active, workload);
    k->queues.v[s->queue].n_pending++;
    if (s->all_parked) return;
    shape_refresh(k, w->shape);
    queue_refresh(k, s->queue);
    if (queue_head(k, s->queue) != old) tree_set_dirty(k, k->queues.v[s->queue].tree, true);
}

static void unlink_pending(struct kueue *k, uint32_t workload)
{
    struct workload *w = &k->workloads.v[workload];
    struct shape *s = &k->shapes.v[w->shape];
    if (s->active == workload)
        s->active = heap_meld_siblings(k, w->child);
    else if (s->parked == workload)
        s->parked = heap_meld_siblings(k, w->child);
    else
        heap_cut(k, workload);
    w->child = w->next = w->prev = KUEUE_NONE;
}

void queue_take(struct kueue *k, uint32_t workload)
{
    struct workload *w = &k->workloads.v[workload];
    uint32_t queue = k->shapes.v[w->shape].queue;
    struct cluster_queue *q = &k->queues.v[queue];
    assert(w->state == WORKLOAD_PENDING);
    unlink_pending(k, workload);
    if (q->sticky == workload) q->sticky = KUEUE_NONE;
    q->n_pending--;
    shape_refresh(k, w->shape);
    queue_refresh(k, queue);
}

void queue_park(struct kueue *k, uint32_t workload, bool whole_shape)
{
    struct workload *w = &k->workloads.v[workload];
    struct shape *s = &k->shapes.v[w->shape];
    list_parked(k, w->shape);
    if (whole_shape) {
        s->all_parked = true;
    } else {
        unlink_pending(k, workload);
        s->parked = heap_meld(k, s->parked, workload);
    }
    shape_refresh(k, w->shape);
    queue_refresh(k, s->queue);
}

bool queue_unpark(struct kueue *k, uint32_t queue)
{
    struct cluster_queue *q = &k->queues.v[queue];
    bool moved = false;
    for (size_t i = 0; i < q->with_parked.n; i++) {
        uint32_t shape = q->with_parked.v[i];
        struct shape *s = &k->shapes.v[shape];
        moved = moved || s->parked != KUEUE_NONE || (s->all_parked && s->active != KUEUE_NONE);
        s->active = heap_meld(k, s->active, s->parked);
        s->parked = KUEUE_NONE;
        s->all_parked = s->listed = false;
        shape_refresh(k, shape);
    }
    array_clear(&q->with_parked);
    queue_refresh(k, queue);
    return moved;
}

bool tree_unpark(struct kueue *k, uint32_t tree)
{
    struct tree *t = &k->trees.v[tree];
    bool moved = false;
    for (size_t i = 0; i < t->with_parked.n; i++) {
        moved = queue_unpark(k, t->with_parked.v[i]) || moved;
        k->queues.v[t->with_parked.v[i]].listed = false;
    }
    array_clear(&t->with_parked);
    if (moved) tree_set_dirty(k, tree, true);
    return moved;
}

void tree_arm_retry(struct kueue *k, uint32_t tree, int64_t now_ns)
{
    struct tree *t = &k->trees.v[tree];
    if (t->retry_armed) return;
    t->retry_armed = true;
    struct retry r = {tree, now_ns + k->options.retry_batch_ns};
    assert(k->retry_first == k->retries.n || array_last(&k->retries).due_ns <= r.due_ns);
    array_push(&k->retries, r);
}

/* ---- workloads that hold quota, by priority ---- */

static struct bucket *bucket_of(struct cluster_queue *q, int32_t priority)
{
    size_t at = 0;
    while (at < q->admitted.n && q->admitted.v[at].priority < priority) at++;
    if (at < q->admitted.n && q->admitted.v[at].priority == priority) return &q->admitted.v[at];
    array_push(&q->admitted, (struct bucket){0});
    for (size_t i = q->admitted.n - 1; i > at; i--) q->admitted.v[i] = q->admitted.v[i - 1];
    q->admitted.v[at] = (struct bucket){priority, KUEUE_NONE};
    return &q->admitted.v[at];
}

void admitted_insert(struct kueue *k, uint32_t workload)
{
    struct workload *v = k->workloads.v, *w = &v[workload];
    struct cluster_queue *q = &k->queues.v[k->shapes.v[w->shape].queue];
    struct bucket *b = bucket_of(q, k->shapes.v[w->shape].priority);
    w->prev = KUEUE_NONE;
    w->next = b->first;
    if (b->first != KUEUE_NONE) v[b->first].prev = workload;
    b->first = workload;
    q->n_admitted++;
}

void admitted_remove(struct kueue *k, uint32_t workload)
{
    struct workload *v = k->workloads.v, *w = &v[workload];
    struct cluster_queue *q = &k->queues.v[k->shapes.v[w->shape].queue];
    if (w->prev != KUEUE_NONE)
        v[w->prev].next = w->next;
    else
        bucket_of(q, k->shapes.v[w->shape].priority)->first = w->next;
    if (w->next != KUEUE_NONE) v[w->next].prev = w->prev;
    w->next = w->prev = KUEUE_NONE;
    q->n_admitted--;
}
