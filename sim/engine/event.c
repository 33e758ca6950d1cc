/* event.c - the event queue: a 4-ary heap of 128-bit keys, a ring for each priority, an array of slots.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/engine/event.h"

#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 event_key;

#ifndef SEQUENCE_BITS /* a test makes it small to see the numbers run out */
#define SEQUENCE_BITS 35
#endif
#define SLOT_BITS      26
#define PRIORITY_SHIFT (SLOT_BITS + SEQUENCE_BITS)
#define SLOT_MASK      ((UINT64_C(1) << SLOT_BITS) - 1)
#define SEQUENCE_END   (UINT64_C(1) << SEQUENCE_BITS)
#define KEY_NONE       (~(event_key)0)

_Static_assert(SLOT_BITS + SEQUENCE_BITS < 64 && EVENT_PRIORITIES <= 1 << (64 - PRIORITY_SHIFT),
               "a priority fits above the sequence number");

/* The heap's element i stands at keys[i + HEAP_SHIFT], so that the children 4i+1 … 4i+4 fill one cache line. */
#define HEAP_SHIFT 3
#define CACHE_LINE 64

/* Below this many keys dead ones are not worth a sweep. */
#define SWEEP_MIN 64

#define IN_RING 0x80u /* flag in slot.tag */

struct slot {
    event_fn *fn; /* NULL: cancelled, waits for its key to surface */
    void *arg;
    uint32_t generation;
    uint32_t tag; /* pending: priority and IN_RING; free: the next free slot */
};

struct ring {
    event_key *keys; /* capacity is a power of two */
    uint32_t head, tail, capacity;
};

struct event_queue {
    int64_t now_ns;  /* first: event_clock reads it */
    int64_t horizon_ns; /* of the step that runs */
    event_key *keys; /* starts a cache line within `block` */
    void *block;
    uint32_t heap_count, heap_capacity;
    uint32_t heap_dead;  /* cancelled keys in the heap */
    uint32_t rings_used; /* bit p: ring p holds keys */
    uint64_t sequence;
    struct slot *slots;
    uint32_t slot_count, slot_capacity;
    uint32_t free_slot; /* head of the list of free slots; UINT32_MAX: none */
    uint32_t live;
    uint64_t called;
    struct ring rings[EVENT_PRIORITIES];
};

_Static_assert(offsetof(struct event_queue, now_ns) == 0, "event_clock looks there");

struct event_queue *event_queue_create(void)
{
    struct event_queue *q = xcalloc(1, sizeof *q);
    q->free_slot = UINT32_MAX;
    q->horizon_ns = EVENT_NEVER;
    return q;
}

void event_queue_destroy(struct event_queue *q)
{
    if (!q) return;
    for (int p = 0; p < EVENT_PRIORITIES; p++) free(q->rings[p].keys);
    free(q->block);
    free(q->slots);
    free(q);
}

/* Keys */

static inline int64_t key_time(event_key k)
{
    return (int64_t)(k >> 64);
}
static inline uint32_t key_slot(event_key k)
{
    return (uint32_t)((uint64_t)k & SLOT_MASK);
}

static inline event_key key_make(int64_t t_ns, unsigned priority, uint64_t sequence, uint32_t slot)
{
    uint64_t low = (uint64_t)priority << PRIORITY_SHIFT | sequence << SLOT_BITS | slot;
    return (event_key)(uint64_t)t_ns << 64 | low;
}

/* Heap */

static void heap_grow(struct event_queue *q)
{
    uint32_t capacity = q->heap_capacity < 64 ? 64 : q->heap_capacity + q->heap_capacity / 4;
    char *block = xmalloc(((size_t)capacity + HEAP_SHIFT) * sizeof *q->keys + CACHE_LINE);
    event_key *keys = (event_key *)(void *)(block + CACHE_LINE - (uintptr_t)block % CACHE_LINE);
    if (q->heap_count) memcpy(keys + HEAP_SHIFT, q->keys + HEAP_SHIFT, q->heap_count * sizeof *keys);
    free(q->block);
    q->block = block;
    q->keys = keys;
    q->heap_capacity = capacity;
}

/* Places k at the hole i or above. */
static inline void sift_up(event_key *h, size_t i, event_key k)
{
    while (i > 0) {
        size_t parent = (i - 1) / 4;
        if (h[parent] <= k) break;
        h[i] = h[parent];
        i = parent;
    }
    h[i] = k;
}

/* Moves the hole at i to a leaf, lifting the least child at each level, and returns where it ends. The four children
 * play a tournament; no branch depends on who wins. */
static inline size_t sift_hole_down(event_key *h, size_t n, size_t i)
{
    size_t c = 4 * i + 1;
    while (c + 4 <= n) {
        size_t a = c + (h[c + 1] < h[c]), b = c + 2 + (h[c + 3] < h[c + 2]);
        size_t least = h[b] < h[a] ? b : a;
        h[i] = h[least];
        i = least;
        c = 4 * i + 1;
    }
    if (c < n) {
        size_t least = c;
        for (size_t j = c + 1; j < n; j++)
            if (h[j] < h[least]) least = j;
        h[i] = h[least];
        i = least;
    }
    return i;
}

static inline void heap_push(struct event_queue *q, event_key k)
{
    if (q->heap_count == q->heap_capacity) heap_grow(q);
    sift_up(q->keys + HEAP_SHIFT, q->heap_count++, k);
}

/* The last key is nearly always a late one, so it goes to the bottom at once and rises from there. */
static inline void heap_pop(struct event_queue *q)
{
    event_key *h = q->keys + HEAP_SHIFT;
    event_key last = h[--q->heap_count];
    if (q->heap_count > 0) sift_up(h, sift_hole_down(h, q->heap_count, 0), last);
}

/* Rings */

static void ring_grow(struct ring *r)
{
    uint32_t capacity = r->capacity ? 2 * r->capacity : 16, n = r->tail - r->head;
    event_key *keys = xmalloc(capacity * sizeof *keys);
    for (uint32_t i = 0; i < n; i++) keys[i] = r->keys[(r->head + i) & (r->capacity - 1)];
    free(r->keys);
    *r = (struct ring){.keys = keys, .tail = n, .capacity = capacity};
}

static void ring_push(struct event_queue *q, unsigned priority, event_key k)
{
    struct ring *r = &q->rings[priority];
    if (r->tail - r->head == r->capacity) ring_grow(r);
    r->keys[r->tail++ & (r->capacity - 1)] = k;
    q->rings_used |= 1u << priority;
}

static inline event_key ring_first(const struct ring *r)
{
    return r->keys[r->head & (r->capacity - 1)];
}

static void ring_pop(struct event_queue *q, unsigned priority)
{
    struct ring *r = &q->rings[priority];
    if (++r->head == r->tail) q->rings_used &= ~(1u << priority);
}

/* Slots */

static void slots_grow(struct event_queue *q)
{
    uint32_t capacity = q->slot_capacity < 64 ? 64 : q->slot_capacity + q->slot_capacity / 4;
    if (capacity > SLOT_MASK + 1) capacity = SLOT_MASK + 1;
    if (q->slot_count == capacity) {
        fprintf(stderr, "trainyard: %u events pending: more than the event queue can hold\n", q->slot_count);
        abort();
    }
    q->slots = xrealloc(q->slots, capacity * sizeof *q->slots);
    q->slot_capacity = capacity;
}

static inline uint32_t slot_take(struct event_queue *q)
{
    uint32_t s = q->free_slot;
    if (s != UINT32_MAX) {
        q->free_slot = q->slots[s].tag;
        return s;
    }
    if (q->slot_count == q->slot_capacity) slots_grow(q);
    q->slots[q->slot_count].generation = 1;
    return q->slot_count++;
}

/* Generation 0 belongs to EVENT_NONE. */
static inline void slot_give(struct event_queue *q, uint32_t s)
{
    struct slot *slot = &q->slots[s];
    slot->generation = slot->generation == UINT32_MAX ? 1 : slot->generation + 1;
    slot->tag = q->free_slot;
    q->free_slot = s;
}

/* Scheduling */

struct event_id event_at(struct event_queue *q, int64_t t_ns, enum event_priority priority, event_fn *fn, void *arg)
{
    assert(t_ns >= q->now_ns && "an event cannot lie in the past");
    assert(fn && (unsigned)priority < EVENT_PRIORITIES);
    if (t_ns == EVENT_NEVER) return EVENT_NONE;
    if (q->sequence == SEQUENCE_END) event_renumber(q);
    uint32_t s = slot_take(q), now = t_ns == q->now_ns;
    struct slot *slot = &q->slots[s];
    slot->fn = fn;
    slot->arg = arg;
    slot->tag = (uint32_t)priority | (now ? IN_RING : 0);
    event_key k = key_make(t_ns, priority, q->sequence++, s);
    if (now)
        ring_push(q, priority, k);
    else
        heap_push(q, k);
    q->live++;
    return (struct event_id){s, slot->generation};
}

struct event_id event_after(struct event_queue *q, int64_t delay_ns, enum event_priority priority, event_fn *fn,
                            void *arg)
{
    assert(delay_ns >= 0);
    int64_t t_ns;
    if (__builtin_add_overflow(q->now_ns, delay_ns, &t_ns)) t_ns = EVENT_NEVER;
    return event_at(q, t_ns, priority, fn, arg);
}

struct event_id event_now(struct event_queue *q, enum event_priority priority, event_fn *fn, void *arg)
{
    return event_at(q, q->now_ns, priority, fn, arg);
}

/* Sweeping and renumbering */

/* Drops the dead keys of the heap; what stays is in no order. */
static void heap_filter(struct event_queue *q)
{
    event_key *h = q->keys + HEAP_SHIFT;
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->heap_count; i++) {
        if (q->slots[key_slot(h[i])].fn)
            h[n++] = h[i];
        else
            slot_give(q, key_slot(h[i]));
    }
    q->heap_count = n;
    q->heap_dead = 0;
}

static void heap_sweep(struct event_queue *q)
{
    heap_filter(q);
    event_key *h = q->keys + HEAP_SHIFT;
    for (uint32_t i = (q->heap_count + 2) / 4; i-- > 0;) {
        event_key k = h[i];
        size_t hole = sift_hole_down(h, q->heap_count, i);
        while (hole > i && h[(hole - 1) / 4] > k) {
            h[hole] = h[(hole - 1) / 4];
            hole = (hole - 1) / 4;
        }
        h[hole] = k;
    }
}

static int key_compare(const void *a, const void *b)
{
    event_key x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* All goes into the heap: in ascending order any array is one. */
void event_renumber(struct event_queue *q)
{
    if (q->heap_count) heap_filter(q);
    for (unsigned p = 0; p < EVENT_PRIORITIES; p++) {
        struct ring *r = &q->rings[p];
        for (; r->head != r->tail; r->head++) {
            uint32_t s = key_slot(ring_first(r));
            if (!q->slots[s].fn) {
                slot_give(q, s);
                continue;
            }
            q->slots[s].tag = p;
            if (q->heap_count == q->heap_capacity) heap_grow(q);
            q->keys[HEAP_SHIFT + q->heap_count++] = ring_first(r);
        }
    }
    q->rings_used = 0;
    q->sequence = 0;
    if (q->heap_count == 0) return;
    event_key *h = q->keys + HEAP_SHIFT;
    qsort(h, q->heap_count, sizeof *h, key_compare);
    for (uint32_t i = 0; i < q->heap_count; i++) {
        unsigned priority = (unsigned)((uint64_t)h[i] >> PRIORITY_SHIFT);
        h[i] = key_make(key_time(h[i]), priority, q->sequence++, key_slot(h[i]));
    }
}

/* Cancelling */

bool event_is_pending(const struct event_queue *q, struct event_id id)
{
    return id.slot < q->slot_count && q->slots[id.slot].generation == id.generation && q->slots[id.slot].fn;
}

bool event_cancel(struct event_queue *q, struct event_id id)
{
    if (!event_is_pending(q, id)) return false;
    struct slot *slot = &q->slots[id.slot];
    slot->fn = NULL;
    q->live--;
    if (slot->tag & IN_RING) return true;
    if (++q->heap_dead > q->heap_count / 2 && q->heap_count >= SWEEP_MIN) heap_sweep(q);
    return true;
}

struct event_id event_reschedule(struct event_queue *q, struct event_id id, int64_t t_ns)
{
    if (!event_is_pending(q, id)) return EVENT_NONE;
    struct slot old = q->slots[id.slot];
    event_cancel(q, id);
    return event_at(q, t_ns, (enum event_priority)(old.tag & ~IN_RING), old.fn, old.arg);
}

/* Running */

#define FROM_HEAP EVENT_PRIORITIES

static inline void drop_first(struct event_queue *q, unsigned from)
{
    if (from == FROM_HEAP)
        heap_pop(q);
    else
        ring_pop(q, from);
}

/* Finds the first live key and where it stands; drops dead ones on the way. KEY_NONE: nothing is pending. */
static inline event_key first_key(struct event_queue *q, unsigned *from)
{
    for (;;) {
        event_key first = q->heap_count ? q->keys[HEAP_SHIFT] : KEY_NONE;
        *from = FROM_HEAP;
        if (q->rings_used) {
            unsigned p = (unsigned)__builtin_ctz(q->rings_used);
            event_key k = ring_first(&q->rings[p]);
            if (k < first) {
                first = k;
                *from = p;
            }
        }
        if (first == KEY_NONE || __builtin_expect(q->slots[key_slot(first)].fn != NULL, 1)) return first;
        if (*from == FROM_HEAP) q->heap_dead--;
        drop_first(q, *from);
        slot_give(q, key_slot(first));
    }
}

/* Calls the next event unless it lies beyond the horizon. */
static inline bool call_next(struct event_queue *q, void *ctx, int64_t horizon_ns)
{
    unsigned from;
    event_key k = first_key(q, &from);
    if (k == KEY_NONE || key_time(k) > horizon_ns) return false;
    q->horizon_ns = horizon_ns;
    drop_first(q, from);
    if (q->heap_count) __builtin_prefetch(&q->slots[key_slot(q->keys[HEAP_SHIFT])]);
    struct slot slot = q->slots[key_slot(k)];
    slot_give(q, key_slot(k));
    q->now_ns = key_time(k);
    q->live--;
    q->called++;
    slot.fn(ctx, slot.arg);
    return true;
}

bool event_step(struct event_queue *q, void *ctx)
{
    return call_next(q, ctx, EVENT_NEVER);
}

bool event_step_until(struct event_queue *q, void *ctx, int64_t horizon_ns)
{
    return call_next(q, ctx, horizon_ns);
}

uint64_t event_run_until(struct event_queue *q, void *ctx, int64_t horizon_ns)
{
    uint64_t before = q->called;
    while (call_next(q, ctx, horizon_ns)) {
    }
    if (horizon_ns != EVENT_NEVER && horizon_ns > q->now_ns) q->now_ns = horizon_ns;
    return q->called - before;
}

int64_t event_next_time(struct event_queue *q)
{
    unsigned from;
    event_key k = first_key(q, &from);
    return k == KEY_NONE ? EVENT_NEVER : key_time(k);
}

bool event_skip_to(struct event_queue *q, int64_t t_ns)
{
    assert(t_ns >= q->now_ns);
    if (t_ns > q->horizon_ns || event_next_time(q) <= t_ns) return false;
    q->now_ns = t_ns;
    return true;
}

uint64_t event_pending(const struct event_queue *q)
{
    return q->live;
}
uint64_t event_called(const struct event_queue *q)
{
    return q->called;
}

size_t event_queue_bytes(const struct event_queue *q)
{
    size_t keys = q->heap_capacity + (q->keys ? HEAP_SHIFT + CACHE_LINE / sizeof(event_key) : 0);
    for (int p = 0; p < EVENT_PRIORITIES; p++) keys += q->rings[p].capacity;
    return sizeof *q + keys * sizeof(event_key) + q->slot_capacity * sizeof(struct slot);
}
