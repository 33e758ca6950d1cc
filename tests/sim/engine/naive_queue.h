/* naive_queue.h - the event queue as one would explain it: a list, searched from end to end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_NAIVE_QUEUE_H
#define TRAINYARD_TESTS_NAIVE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum { NAIVE_MAX = 1 << 16 };

struct naive_event {
    int64_t t_ns;
    int priority;
    uint64_t sequence;
    bool pending;
};

/* Events are named by the order in which they were scheduled; a moved event is a new one. */
struct naive_queue {
    struct naive_event events[NAIVE_MAX];
    int count, pending, first; /* all before `first` are over */
    int64_t now_ns;
};

static inline int naive_at(struct naive_queue *q, int64_t t_ns, int priority)
{
    q->events[q->count] = (struct naive_event){t_ns, priority, (uint64_t)q->count, true};
    q->pending++;
    return q->count++;
}

static inline bool naive_cancel(struct naive_queue *q, int name)
{
    bool was = q->events[name].pending;
    q->events[name].pending = false;
    q->pending -= was;
    return was;
}

static inline bool naive_before(const struct naive_event *a, const struct naive_event *b)
{
    if (a->t_ns != b->t_ns) return a->t_ns < b->t_ns;
    if (a->priority != b->priority) return a->priority < b->priority;
    return a->sequence < b->sequence;
}

/* The name of the next event, -1 when none is pending. */
static inline int naive_next(struct naive_queue *q)
{
    int best = -1;
    while (q->first < q->count && !q->events[q->first].pending) q->first++;
    for (int i = q->first; i < q->count; i++)
        if (q->events[i].pending && (best < 0 || naive_before(&q->events[i], &q->events[best]))) best = i;
    return best;
}

static inline int naive_pop(struct naive_queue *q)
{
    int name = naive_next(q);
    if (name >= 0) {
        naive_cancel(q, name);
        q->now_ns = q->events[name].t_ns;
    }
    return name;
}

#endif
