/* scheduler.c - kube-scheduler: one pod a cycle, by priority and age; refusals by class; binds through a token bucket.
 *
 * All waiting pods of one shape, priority and gang form a class, a list by creation. The active classes stand in a heap by
 * their first pod. A refusal parks the class: what did not fit for its first pod fits for none. Parked classes that need
 * the same stand in one bucket; when shares come back each bucket is looked at once, whatever the number of its pods or
 * gangs, and its first class becomes active when it would fit, but not before its back-off (1 s doubling to 10 s since the
 * last try, K8S scheduler configuration) is over.
 *
 * A reserved pod holds its shares at once (the scheduler's "assume") and is bound when the client's bucket lets the call
 * go: n pods from a rest are bound after (n - 100) / 50 s (recorded).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "sim/kube/kube_impl.h"

static struct kube *kube_in(void *ctx) { return ((struct sim *)ctx)->kube; }

void sched_init(struct kube *k)
{
    const struct approach *a = &k->sim->scenario->approach;
    const struct stack *s = k->stack;
    k->sched.bind = s->sched_qps > 0 ? bucket_make(s->sched_burst > 0 ? s->sched_burst : 1, s->sched_qps, 1000 * EVENT_SECOND)
                                     : bucket_unlimited();
    k->sched.placement = a->placement == PLACE_COUNT || a->placement == PLACE_TOPOLOGY ? PLACE_SPREAD : a->placement;
}

void sched_free(struct kube *k)
{
    const struct hmap_entry *e;
    for (size_t i = 0; (e = hmap_next(&k->sched.classes, &i)) != NULL;)
        for (struct sched_class *c = e->ptr, *next; c; c = next) {
            next = c->same_hash;
            free(c);
        }
    hmap_free(&k->sched.classes);
    for (size_t i = 0; (e = hmap_next(&k->sched.buckets, &i)) != NULL;)
        for (struct sched_bucket *b = e->ptr, *next; b; b = next) {
            next = b->same_hash;
            free(b);
        }
    hmap_free(&k->sched.buckets);
    free(k->sched.heap);
}

/* ---- the heap of active classes ---- */

static uint32_t order(struct kube *k, const struct sched_class *c)
{
    return c->gang ? gang_of(k, c->gang)->order : c->first->id;
}

static bool before(struct kube *k, const struct sched_class *a, const struct sched_class *b)
{
    if (a->priority != b->priority) return a->priority > b->priority;
    return order(k, a) < order(k, b);
}

static void heap_put(struct scheduler *s, uint32_t i, struct sched_class *c)
{
    s->heap[i] = c;
    c->heap_at = i;
}

static void heap_sift(struct kube *k, uint32_t i)
{
    struct scheduler *s = &k->sched;
    struct sched_class *c = s->heap[i];
    while (i && before(k, c, s->heap[(i - 1) / 2])) {
        heap_put(s, i, s->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= s->n_heap) break;
        if (child + 1 < s->n_heap && before(k, s->heap[child + 1], s->heap[child])) child++;
        if (!before(k, s->heap[child], c)) break;
        heap_put(s, i, s->heap[child]);
        i = child;
    }
    heap_put(s, i, c);
}

static void heap_add(struct kube *k, struct sched_class *c)
{
    struct scheduler *s = &k->sched;
    if (s->n_heap == s->cap_heap) {
        s->cap_heap = s->cap_heap ? 2 * s->cap_heap : 16;
        s->heap = xreallocarray(s->heap, s->cap_heap, sizeof *s->heap);
    }
    heap_put(s, s->n_heap++, c);
    heap_sift(k, c->heap_at);
}

static void heap_remove(struct kube *k, struct sched_class *c)
{
    struct scheduler *s = &k->sched;
    uint32_t i = c->heap_at;
    struct sched_class *last = s->heap[--s->n_heap];
    if (last == c) return;
    heap_put(s, i, last);
    heap_sift(k, i);
}

/* ---- classes ---- */

static void shape_of(const struct kube *k, const struct pod *p, struct place_request *r)
{
    *r = (struct place_request){.replicas = 1,
                                .shares = p->spec.shares,
                                .cpu_milli = p->spec.cpu_milli,
                                .mem_bytes = p->spec.mem_bytes,
                                .groups = p->spec.groups,
                                .placement = k->sched.placement};
}

static bool is_class_of(const struct sched_class *c, const struct pod *p)
{
    const struct pod_spec *s = &p->spec;
    if (c->priority != s->priority || c->gang != s->gang) return false;
    return c->gang || (c->request.shares == s->shares && c->request.cpu_milli == s->cpu_milli &&
                       c->request.mem_bytes == s->mem_bytes && c->request.groups == s->groups);
}

static uint64_t class_hash(const struct pod *p)
{
    struct hash h;
    hash_init(&h);
    hash_u64(&h, (uint64_t)(uint32_t)p->spec.priority << 32 | p->spec.gang);
    if (!p->spec.gang) {
        hash_u64(&h, p->spec.shares);
        hash_u64(&h, (uint64_t)p->spec.cpu_milli);
        hash_u64(&h, (uint64_t)p->spec.mem_bytes);
        hash_u64(&h, p->spec.groups);
    }
    return hash_end(&h).lo;
}

static struct sched_class *class_new(struct kube *k, const struct pod *p, uint64_t hash, struct sched_class *same)
{
    struct sched_class *c = xcalloc(1, sizeof *c);
    shape_of(k, p, &c->request);
    c->priority = p->spec.priority;
    c->gang = p->spec.gang;
    c->reason = WAIT_CONTROL_PLANE;
    c->same_hash = same;
    hmap_put_u64_ptr(&k->sched.classes, hash, c);
    if (c->gang) gang_of(k, c->gang)->class = c;
    return c;
}

static struct sched_class *class_of(struct kube *k, const struct pod *p)
{
    if (k->sched.recent && is_class_of(k->sched.recent, p)) return k->sched.recent;
    uint64_t hash = class_hash(p);
    struct sched_class *first = hmap_get_u64_ptr(&k->sched.classes, hash), *c = first;
    while (c && !is_class_of(c, p)) c = c->same_hash;
    if (!c) c = class_new(k, p, hash, first);
    return k->sched.recent = c;
}

/* ---- parked classes ---- */

static unsigned reason_of(const struct kube *k, const struct place_request *r, enum place_result why)
{
    if (!pool_could_ever(k->sim->pool, r)) return WAIT_UNSATISFIABLE;
    return why == PLACE_LACKS ? WAIT_CAPACITY : why == PLACE_DOMAIN ? WAIT_TOPOLOGY : WAIT_FRAGMENTATION;
}

/* What a class needs in order to be worth a try: its first pod's place, or that of the rest of its gang. */
static struct place_request need_of(struct kube *k, const struct sched_class *c)
{
    struct place_request r;
    shape_of(k, c->first, &r);
    if (c->gang) r.replicas = gang_missing(gang_of(k, c->gang));
    return r;
}

static bool same_need(const struct sched_bucket *b, const struct place_request *r, int32_t priority)
{
    return b->priority == priority && b->need.replicas == r->replicas && b->need.shares == r->shares &&
           b->need.cpu_milli == r->cpu_milli && b->need.mem_bytes == r->mem_bytes && b->need.groups == r->groups;
}

static struct sched_bucket *bucket_of(struct kube *k, const struct place_request *r, int32_t priority)
{
    struct hash h;
    hash_init(&h);
    hash_u64(&h, (uint64_t)(uint32_t)priority << 32 | r->replicas);
    hash_u64(&h, r->shares);
    hash_u64(&h, (uint64_t)r->cpu_milli);
    hash_u64(&h, (uint64_t)r->mem_bytes);
    hash_u64(&h, r->groups);
    uint64_t key = hash_end(&h).lo;
    struct sched_bucket *first = hmap_get_u64_ptr(&k->sched.buckets, key), *b = first;
    while (b && !same_need(b, r, priority)) b = b->same_hash;
    if (b) return b;
    b = xcalloc(1, sizeof *b);
    b->need = *r;
    b->priority = priority;
    b->same_hash = first;
    hmap_put_u64_ptr(&k->sched.buckets, key, b);
    return b;
}

static void bucket_link(struct kube *k, struct sched_bucket *b, bool on)
{
    if (on) {
        b->prev = NULL;
        b->next = k->sched.parked;
        if (b->next) b->next->prev = b;
        k->sched.parked = b;
    } else {
        if (b->prev) b->prev->next = b->next;
        else k->sched.parked = b->next;
        if (b->next) b->next->prev = b->prev;
    }
}

/* Behind which class one of this age belongs. Sought from both ends: new ones come last, vain tries come back first. */
static struct sched_class *place_in(struct kube *k, const struct sched_bucket *b, uint32_t age)
{
    struct sched_class *last = b->last, *first = b->first;
    while (last && order(k, last) > age) {
        if (order(k, first) > age) return first->park_prev;
        last = last->park_prev;
        first = first->park_next;
    }
    return last;
}

/* A gang that lacks members is woken by them, not by capacity. */
static void park_enter(struct kube *k, struct sched_class *c)
{
    if (c->gang && !gang_may_try(k, c->first)) return;
    struct place_request need = need_of(k, c);
    struct sched_bucket *b = c->bucket = bucket_of(k, &need, c->priority);
    struct sched_class *after = place_in(k, b, order(k, c));
    if (!b->first) bucket_link(k, b, true);
    b->reason = c->reason;
    c->park_prev = after;
    c->park_next = after ? after->park_next : b->first;
    if (c->park_prev) c->park_prev->park_next = c;
    else b->first = c;
    if (c->park_next) c->park_next->park_prev = c;
    else b->last = c;
}

static void park_leave(struct kube *k, struct sched_class *c)
{
    struct sched_bucket *b = c->bucket;
    if (!b) return;
    if (c->park_prev) c->park_prev->park_next = c->park_next;
    else b->first = c->park_next;
    if (c->park_next) c->park_next->park_prev = c->park_prev;
    else b->last = c->park_prev;
    c->park_next = c->park_prev = NULL;
    c->bucket = NULL;
    if (!b->first) bucket_link(k, b, false);
}

/* Takes the class out of whatever state it is in. */
static void class_quit(struct kube *k, struct sched_class *c)
{
    if (c->state == CLASS_ACTIVE) heap_remove(k, c);
    if (c->state == CLASS_PARKED) park_leave(k, c);
    event_cancel(k->events, c->retry);
    c->retry = EVENT_NONE;
    c->state = CLASS_EMPTY;
}

void sched_drop_class(struct kube *k, struct sched_class *c)
{
    class_quit(k, c);
    if (k->sched.recent == c) k->sched.recent = NULL;
    struct pod as_key = {.spec = {.priority = c->priority, .gang = c->gang}};
    uint64_t hash = class_hash(&as_key);
    struct sched_class *first = hmap_get_u64_ptr(&k->sched.classes, hash);
    if (first == c) {
        if (c->same_hash) hmap_put_u64_ptr(&k->sched.classes, hash, c->same_hash);
        else hmap_del_u64(&k->sched.classes, hash);
    } else {
        while (first->same_hash != c) first = first->same_hash;
        first->same_hash = c->same_hash;
    }
    free(c);
}

static void list_insert(struct sched_class *c, struct pod *p)
{
    struct pod *after = c->last;
    while (after && after->id > p->id) after = after->wait_prev;
    p->wait_prev = after;
    p->wait_next = after ? after->wait_next : c->first;
    if (p->wait_prev) p->wait_prev->wait_next = p;
    else c->first = p;
    if (p->wait_next) p->wait_next->wait_prev = p;
    else c->last = p;
    p->waits_in = c;
}

static void list_remove(struct kube *k, struct pod *p)
{
    struct sched_class *c = p->waits_in;
    bool first = c->first == p;
    if (c->untold == p) c->untold = p->wait_next;
    if (p->wait_prev) p->wait_prev->wait_next = p->wait_next;
    else c->first = p->wait_next;
    if (p->wait_next) p->wait_next->wait_prev = p->wait_prev;
    else c->last = p->wait_prev;
    p->wait_next = p->wait_prev = NULL;
    p->waits_in = NULL;
    if (!c->first) {
        class_quit(k, c);
        sched_wake(k); /* others that need the same may have waited behind it */
    } else if (first && c->state == CLASS_ACTIVE) heap_sift(k, c->heap_at);
}

/* ---- telling of refusals ---- */

static void tell_refusal(struct kube *k, struct pod *p)
{
    if (p->told) return;
    p->told = true;
    tally_refused(k, p, true);
    pod_tell(k, p, POD_UNSCHEDULABLE);
}

static void no_longer_refused(struct kube *k, struct pod *p)
{
    if (p->told) tally_refused(k, p, false);
    p->told = false;
}

/* ---- cycles ---- */

static void on_cycle(void *ctx, void *arg);

static void kick(struct kube *k)
{
    struct scheduler *s = &k->sched;
    if (s->n_heap == 0 || event_is_pending(k->events, s->cycle)) return;
    int64_t t = s->busy_until_ns > kube_now(k) ? s->busy_until_ns : kube_now(k);
    s->cycle = event_at(k->events, t, EVENT_SCHEDULE, on_cycle, NULL);
}

void sched_activate(struct kube *k, struct sched_class *c)
{
    if (c->state == CLASS_ACTIVE || !c->first) return;
    class_quit(k, c);
    c->state = CLASS_ACTIVE;
    heap_add(k, c);
    kick(k);
}

void sched_enqueue(struct kube *k, struct pod *p)
{
    struct sched_class *c = class_of(k, p);
    list_insert(c, p);
    if (p->spec.gang) gang_joined(k, p);
    if (c->state == CLASS_EMPTY) sched_activate(k, c);
    else if (c->state == CLASS_ACTIVE) {
        if (!c->untold) c->untold = p;
        heap_sift(k, c->heap_at);
    } else {
        tell_refusal(k, p);
    }
    if (c->state == CLASS_ACTIVE && !c->untold) c->untold = c->first;
}

void sched_forget(struct kube *k, struct pod *p)
{
    if (p->waits_in) list_remove(k, p);
    else if (!p->bound && hold_active(&p->hold) && p->spec.gang) gang_unreserve(k, p);
    no_longer_refused(k, p);
    if (!p->bound) {
        event_cancel(k->events, p->timer);
        pod_drop(k, p);
    }
}

static int64_t retry_at(const struct kube *k, const struct sched_class *c)
{
    int64_t wait = kube_doubled(k->stack->sched_backoff, c->attempts ? c->attempts - 1 : 0, k->stack->sched_backoff_max);
    return c->last_try_ns + wait;
}

static void on_retry(void *ctx, void *arg) { sched_activate(kube_in(ctx), arg); }

static void back_off(struct kube *k, struct sched_class *c, int64_t t_ns)
{
    class_quit(k, c);
    if (t_ns <= kube_now(k)) {
        sched_activate(k, c);
        return;
    }
    c->state = CLASS_BACKOFF;
    c->retry = event_at(k->events, t_ns, EVENT_SCHEDULE, on_retry, c);
}

void sched_refuse(struct kube *k, struct sched_class *c, unsigned reason)
{
    class_quit(k, c);
    c->state = CLASS_PARKED;
    c->attempts++;
    c->last_try_ns = kube_now(k);
    c->reason = (uint8_t)reason;
    park_enter(k, c);
    while (c->untold && c->state == CLASS_PARKED) {
        struct pod *p = c->untold;
        c->untold = p->wait_next;
        tell_refusal(k, p);
    }
    if (c->gang && c->bucket && c->state == CLASS_PARKED && pool_try(k->sim->pool, &c->bucket->need) == PLACED)
        c->retry = event_after(k->events, k->stack->sched_flush, EVENT_SCHEDULE, on_retry, c);
}

void sched_return(struct kube *k, struct pod *p)
{
    struct sched_class *c = class_of(k, p);
    list_insert(c, p);
    tell_refusal(k, p);
    if (c->state == CLASS_EMPTY) sched_refuse(k, c, WAIT_GANG);
    else if (c->state == CLASS_PARKED) { /* its gang needs more now */
        park_leave(k, c);
        park_enter(k, c);
    }
}

static void on_wake(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    (void)arg;
    for (struct sched_bucket *b = k->sched.parked, *next; b; b = next) {
        next = b->next;
        enum place_result r = pool_try(k->sim->pool, &b->need);
        if (r == PLACED) back_off(k, b->first, retry_at(k, b->first));
        else b->reason = (uint8_t)reason_of(k, &b->need, r);
    }
}

void sched_wake(struct kube *k)
{
    if (!k->sched.parked || event_is_pending(k->events, k->sched.wake)) return;
    k->sched.wake = event_now(k->events, EVENT_SCHEDULE, on_wake, NULL);
}

static void bind_now(struct kube *k, struct pod *p)
{
    p->timer = EVENT_NONE;
    p->bound = true;
    p->bound_ns = kube_now(k);
    p->stage = STAGE_NONE;
    pod_on_node(k, p, true);
    kubelet_bound(k, p); /* first: those who are told ask whether it waits for its image */
    pod_tell(k, p, POD_BOUND);
}

static void on_bind(void *ctx, void *arg) { bind_now(kube_in(ctx), arg); }

void sched_bind(struct kube *k, struct pod *p)
{
    int64_t t = bucket_take(&k->sched.bind, kube_now(k), 1);
    p->permitted = true;
    if (t <= kube_now(k)) {
        bind_now(k, p);
        return;
    }
    pod_state(k, p, POD_IS_SCHEDULED, p->node);
    p->timer = event_at(k->events, t, EVENT_CONTROL, on_bind, p);
}

static void reserve(struct kube *k, struct pod *p, struct alloc *a)
{
    struct sched_class *c = p->waits_in;
    p->node = a->parts[0].first_node;
    c->attempts = 0;
    list_remove(k, p);
    no_longer_refused(k, p);
    pod_hold(k, p, a, p->spec.gang ? ACT_WAIT_PEERS : ACT_CONTAINER_START);
    if (p->spec.gang) gang_reserved(k, p);
    else sched_bind(k, p);
}

static void try_first(struct kube *k, struct sched_class *c)
{
    struct pod *p = c->first;
    struct alloc a = {0};
    if (c->gang) {
        shape_of(k, p, &c->request);
        if (!gang_may_try(k, p)) {
            sched_refuse(k, c, WAIT_GANG);
            return;
        }
    }
    enum place_result r = pool_place(k->sim->pool, &c->request, &a);
    if (r == PLACED) {
        reserve(k, p, &a);
        return;
    }
    uint32_t gang = c->gang;
    sched_refuse(k, c, reason_of(k, &c->request, r));
    if (gang) gang_refused(k, gang);
}

static void on_cycle(void *ctx, void *arg)
{
    struct kube *k = kube_in(ctx);
    struct scheduler *s = &k->sched;
    (void)arg;
    s->cycle = EVENT_NONE;
    if (s->n_heap == 0) return;
    s->busy_until_ns = kube_now(k) + k->stack->sched_cycle;
    try_first(k, s->heap[0]);
    kick(k);
}

/* ---- why a pod waits ---- */

static unsigned unbound_reason(const struct pod *p)
{
    const struct sched_class *c = p->waits_in;
    if (!c) return hold_active(&p->hold) && !p->permitted ? WAIT_GANG : WAIT_CONTROL_PLANE;
    if (c->state == CLASS_BACKOFF) return WAIT_SCHEDULER_BACKOFF;
    if (c->state != CLASS_PARKED) return WAIT_CONTROL_PLANE;
    return c->bucket ? c->bucket->reason : c->reason;
}

unsigned kube_pod_waits_for(const struct kube *k, const struct pod *p)
{
    (void)k;
    if (p->gone || p->phase >= POD_SUCCEEDED) return NOT_WAITING;
    if (!p->bound) return unbound_reason(p);
    if (p->node_lost) return WAIT_DETECTION;
    if (p->terminating) return WAIT_CONTROL_PLANE;
    switch ((enum stage)p->stage) {
    case STAGE_PULL: return WAIT_IMAGE;
    case STAGE_NONE:
    case STAGE_START:
    case STAGE_INIT_RESTART:
    case STAGE_RESTART: return WAIT_START;
    case STAGE_INIT: return WAIT_HEAD;
    case STAGE_INIT_BACKOFF:
    case STAGE_BACKOFF: return WAIT_CONTAINER_BACKOFF;
    case STAGE_RUN:
    case STAGE_DONE: break;
    }
    return NOT_WAITING;
}
