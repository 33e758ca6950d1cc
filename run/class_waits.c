/* class_waits.c - see class_waits.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "run/class_waits.h"

#include <string.h>

void class_waits_take(struct class_waits *w, const struct record *r)
{
    if (r->type != REC_CLASS_WAIT || r->subject >= MOST_CLASSES || r->code >= N_QUEUE_REASONS || r->time_ns < 0) return;
    while (w->classes.n <= r->subject) array_push(&w->classes, (struct class_history){{0}});
    struct class_history *h = &w->classes.v[r->subject];
    struct class_change *last = h->changes.n ? &array_last(&h->changes) : NULL;
    if (last && last->from_ns >= r->time_ns) {
        last->reason = (uint8_t)r->code;
        return;
    }
    struct class_change now = {.from_ns = r->time_ns, .reason = (uint8_t)r->code};
    if (last) {
        memcpy(now.sum_ns, last->sum_ns, sizeof now.sum_ns);
        now.sum_ns[last->reason] += now.from_ns - last->from_ns;
    }
    array_push(&h->changes, now);
}

void class_waits_free(struct class_waits *w)
{
    for (size_t i = 0; i < w->classes.n; i++) array_free(&w->classes.v[i].changes);
    array_free(&w->classes);
}

static const struct class_history *history_of(const struct class_waits *w, int64_t class)
{
    return class >= 0 && (uint64_t)class < w->classes.n ? &w->classes.v[class] : NULL;
}

/* How many changes are at or before a moment. */
static size_t changes_until(const struct class_history *h, int64_t ns)
{
    size_t low = 0, high = h->changes.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (h->changes.v[mid].from_ns <= ns) low = mid + 1;
        else high = mid;
    }
    return low;
}

unsigned class_wait_at(const struct class_waits *w, int64_t class, int64_t ns, int64_t *until)
{
    const struct class_history *h = history_of(w, class);
    *until = INT64_MAX;
    if (!h) return N_QUEUE_REASONS;
    size_t n = changes_until(h, ns);
    if (n < h->changes.n) *until = h->changes.v[n].from_ns;
    return n ? h->changes.v[n - 1].reason : N_QUEUE_REASONS;
}

/* Up to a moment since the class was first told of; `sign` of it is added. */
static size_t add_until(const struct class_history *h, int64_t ns, int64_t sign, int64_t *sum_ns)
{
    size_t n = changes_until(h, ns);
    if (!n) return 0;
    const struct class_change *c = &h->changes.v[n - 1];
    for (int r = 0; r < N_QUEUE_REASONS; r++) sum_ns[r] += sign * c->sum_ns[r];
    sum_ns[c->reason] += sign * (ns - c->from_ns);
    return n;
}

size_t class_wait_sums(const struct class_waits *w, int64_t class, int64_t from_ns, int64_t to_ns, int64_t sum_ns[N_QUEUE_REASONS])
{
    const struct class_history *h = history_of(w, class);
    if (!h || from_ns >= to_ns) return 0;
    size_t before = add_until(h, from_ns, -1, sum_ns);
    return add_until(h, to_ns, 1, sum_ns) - before;
}
