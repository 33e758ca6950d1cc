/* plan.c - see plan.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/queue/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static size_t set_bytes(const struct plan *p) { return p->map->words * sizeof(uint64_t); }

void plan_init(struct plan *p, const struct slot_map *m) { *p = (struct plan){.map = m, .work = slot_set_new(m)}; }

static void drop_steps(struct plan *p, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++) array_push(&p->spare, p->steps.v[i].free);
    memmove(&p->steps.v[first], &p->steps.v[first + n], (p->steps.n - first - n) * sizeof *p->steps.v);
    p->steps.n -= n;
}

void plan_free(struct plan *p)
{
    if (p->steps.n) drop_steps(p, 0, p->steps.n);
    for (size_t i = 0; i < p->spare.n; i++) free(p->spare.v[i]);
    array_free(&p->spare);
    array_free(&p->steps);
    free(p->work);
}

static void insert_step(struct plan *p, size_t i, int64_t at_ns, const uint64_t *free)
{
    uint64_t *set = p->spare.n ? array_pop(&p->spare) : slot_set_new(p->map);
    memcpy(set, free, set_bytes(p));
    array_push(&p->steps, (struct plan_step){0});
    memmove(&p->steps.v[i + 1], &p->steps.v[i], (p->steps.n - 1 - i) * sizeof *p->steps.v);
    p->steps.v[i] = (struct plan_step){at_ns, set};
}

void plan_begin(struct plan *p, int64_t now_ns, const uint64_t *free)
{
    if (p->steps.n) drop_steps(p, 0, p->steps.n);
    insert_step(p, 0, now_ns, free);
}

void plan_advance(struct plan *p, int64_t now_ns)
{
    size_t past = 0;
    while (past + 1 < p->steps.n && p->steps.v[past + 1].at_ns <= now_ns) past++;
    if (past) drop_steps(p, 0, past);
    p->steps.v[0].at_ns = now_ns;
}

/* Index of the step in force at a time that is not before the first. */
static size_t step_at(const struct plan *p, int64_t t_ns)
{
    size_t low = 0, high = p->steps.n;
    while (high - low > 1) {
        size_t mid = (low + high) / 2;
        if (p->steps.v[mid].at_ns <= t_ns) low = mid;
        else high = mid;
    }
    return low;
}

/* A step that begins at this time; returns its index. */
static size_t cut(struct plan *p, int64_t t_ns)
{
    size_t i = step_at(p, t_ns);
    if (p->steps.v[i].at_ns == t_ns) return i;
    insert_step(p, i + 1, t_ns, p->steps.v[i].free);
    return i + 1;
}

static void join(struct plan *p, size_t i)
{
    if (i > 0 && i < p->steps.n && memcmp(p->steps.v[i - 1].free, p->steps.v[i].free, set_bytes(p)) == 0)
        drop_steps(p, i, 1);
}

static void change(struct plan *p, int64_t from_ns, int64_t to_ns, const struct slot_list *l,
                   void (*fn)(uint64_t *, const struct slot_list *))
{
    if (from_ns >= to_ns) return;
    size_t first = cut(p, from_ns), end = to_ns == TIME_NEVER ? p->steps.n : cut(p, to_ns);
    for (size_t i = first; i < end; i++) fn(p->steps.v[i].free, l);
    join(p, end);
    join(p, first);
}

void plan_take(struct plan *p, int64_t from_ns, int64_t to_ns, const struct slot_list *l)
{
    change(p, from_ns, to_ns, l, slots_remove);
}

void plan_give(struct plan *p, int64_t from_ns, int64_t to_ns, const struct slot_list *l)
{
    change(p, from_ns, to_ns, l, slots_add);
}

/* Leaves in `work` what is free over the whole window that begins with step i. Returns the step at which fewer than n are
 * left, or the number of steps when the window holds. */
static size_t follow(struct plan *p, size_t i, const uint64_t *allowed, uint32_t n, int64_t window_ns)
{
    int64_t from = p->steps.v[i].at_ns, to = window_ns < TIME_NEVER - from ? from + window_ns : TIME_NEVER;
    memcpy(p->work, allowed, set_bytes(p));
    for (size_t k = i; k < p->steps.n && (k == i || p->steps.v[k].at_ns < to); k++) {
        uint32_t left = 0;
        for (uint32_t w = 0; w < p->map->words; w++)
            left += (uint32_t)__builtin_popcountll(p->work[w] &= p->steps.v[k].free[w]);
        if (left < n) return k;
    }
    return p->steps.n;
}

int64_t plan_fit(struct plan *p, const uint64_t *allowed, uint32_t n, int64_t window_ns, struct slot_list *l)
{
    for (size_t i = 0; i < p->steps.n; i++) {
        size_t stop = follow(p, i, allowed, n, window_ns);
        if (stop == p->steps.n) {
            slots_lowest(p->map, p->work, allowed, n, l);
            return p->steps.v[i].at_ns;
        }
        /* A step that has too few by itself rules out all windows over it. */
        if (slots_count(p->map, p->steps.v[stop].free, allowed) < n) i = stop;
    }
    return TIME_NEVER;
}
