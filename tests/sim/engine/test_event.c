/* test_event.c - the order of events, against rows and against a naive queue; cancelling; memory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/engine/event.h"
#include "sim/engine/stream.h"
#include "tests/sim/engine/naive_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* A record of who was called, in order. */
struct trail {
    struct event_queue *q;
    char text[64];
    int n;
};

static void note(void *ctx, void *arg)
{
    struct trail *t = ctx;
    t->text[t->n++] = *(const char *)arg;
}

static void rows_leave_in_order(void **state)
{
    (void)state;
    /* letters in the order in which they must leave; rows in the order of scheduling */
    static const struct {
        int64_t t_ns;
        enum event_priority priority;
        const char *name;
    } rows[] = {
        {5,               EVENT_RELEASE, "f"},
        {5,               EVENT_REQUEST, "i"},
        {0,               EVENT_OBSERVE, "d"},
        {5,               EVENT_FAULT,   "e"},
        {9,               EVENT_FAULT,   "k"},
        {5,               EVENT_RELEASE, "g"},
        {0,               EVENT_FAULT,   "a"},
        {5,               EVENT_OBSERVE, "j"},
        {0,               EVENT_RELEASE, "b"},
        {5,               EVENT_CONTROL, "h"},
        {0,               EVENT_RELEASE, "c"},
        {EVENT_NEVER - 1, EVENT_FAULT,   "l"},
    };
    struct trail t = {.q = event_queue_create()};
    for (size_t i = 0; i < LENGTH(rows); i++)
        event_at(t.q, rows[i].t_ns, rows[i].priority, note, (void *)(uintptr_t)rows[i].name);
    assert_int_equal(event_pending(t.q), LENGTH(rows));
    assert_int_equal(event_run_until(t.q, &t, EVENT_NEVER), LENGTH(rows));
    assert_string_equal(t.text, "abcdefghijkl");
    assert_int_equal(event_clock(t.q), EVENT_NEVER - 1);
    assert_false(event_step(t.q, &t));
    event_queue_destroy(t.q);
}

/* A release that, while it runs, asks for a pass, a request and another release at the same instant, where a request
 * stands already. */
static void release_and_more(void *ctx, void *arg)
{
    struct trail *t = ctx;
    note(ctx, arg);
    event_now(t->q, EVENT_SCHEDULE, note, "p");
    event_now(t->q, EVENT_REQUEST, note, "s");
    event_at(t->q, event_clock(t->q), EVENT_RELEASE, note, "t");
    event_after(t->q, 0, EVENT_FAULT, note, "u");
}

static void ring_and_heap_are_one_order(void **state)
{
    (void)state;
    struct trail t = {.q = event_queue_create()};
    event_at(t.q, 7, EVENT_REQUEST, note, "q");
    event_at(t.q, 7, EVENT_RELEASE, release_and_more, "r");
    event_at(t.q, 7, EVENT_RELEASE, note, "R");
    event_at(t.q, 8, EVENT_FAULT, note, "z");
    event_run_until(t.q, &t, EVENT_NEVER);
    assert_string_equal(t.text, "ruRtqspz");
    event_queue_destroy(t.q);
}

static void horizon(void **state)
{
    (void)state;
    struct trail t = {.q = event_queue_create()};
    event_at(t.q, 10, EVENT_FAULT, note, "a");
    event_at(t.q, 11, EVENT_FAULT, note, "b");
    assert_int_equal(event_run_until(t.q, &t, 10), 1);
    assert_int_equal(event_clock(t.q), 10);
    assert_int_equal(event_next_time(t.q), 11);
    assert_int_equal(event_run_until(t.q, &t, 20), 1);
    assert_int_equal(event_clock(t.q), 20);
    assert_int_equal(event_next_time(t.q), EVENT_NEVER);
    assert_int_equal(event_called(t.q), 2);
    event_queue_destroy(t.q);
}

static void never(void **state)
{
    (void)state;
    struct trail t = {.q = event_queue_create()};
    event_at(t.q, 5, EVENT_FAULT, note, "a");
    event_run_until(t.q, &t, EVENT_NEVER);
    struct event_id at = event_at(t.q, EVENT_NEVER, EVENT_FAULT, note, "x");
    struct event_id after = event_after(t.q, EVENT_NEVER - 4, EVENT_FAULT, note, "x");
    assert_false(event_is_pending(t.q, at) || event_is_pending(t.q, after) || event_is_pending(t.q, EVENT_NONE));
    assert_int_equal(event_pending(t.q), 0);
    assert_false(event_cancel(t.q, at));
    assert_true(event_is_pending(t.q, event_after(t.q, EVENT_NEVER - 6, EVENT_FAULT, note, "y")));
    event_queue_destroy(t.q);
}

static void ids_go_stale(void **state)
{
    (void)state;
    struct trail t = {.q = event_queue_create()};
    struct event_id a = event_at(t.q, 1, EVENT_FAULT, note, "a");
    assert_true(event_is_pending(t.q, a) && event_cancel(t.q, a));
    assert_false(event_is_pending(t.q, a) || event_cancel(t.q, a));
    assert_int_equal(event_next_time(t.q), EVENT_NEVER); /* drops the dead key: the slot is free again */
    struct event_id b = event_at(t.q, 1, EVENT_FAULT, note, "b");
    assert_int_equal(a.slot, b.slot);
    assert_false(event_cancel(t.q, a));
    struct event_id moved = event_reschedule(t.q, b, 9);
    assert_true(event_is_pending(t.q, moved));
    assert_false(event_is_pending(t.q, b) || event_is_pending(t.q, event_reschedule(t.q, b, 4)));
    assert_int_equal(event_run_until(t.q, &t, EVENT_NEVER), 1);
    assert_int_equal(event_clock(t.q), 9);
    assert_false(event_cancel(t.q, moved));
    assert_false(event_cancel(t.q, (struct event_id){12345, 1}));
    event_queue_destroy(t.q);
}

/* Random play: the same decisions go to the queue and to the naive one, and each call is compared. */
struct play {
    struct event_queue *q;
    struct naive_queue *naive;
    struct event_id *ids;  /* by name */
    int *origin, *present; /* a moved event keeps its argument: its first name, which leads to the present one */
    struct stream random;
    int budget;    /* events left to schedule */
    bool renumber; /* now and then */
};

static uint64_t below(struct play *p, uint64_t n)
{
    return stream_uniform_int(&p->random, n);
}

static void called(void *ctx, void *arg);

/* Delays are few and often 0, so that ties of all sorts are common. */
static void play_schedule(struct play *p)
{
    static const int64_t delays[] = {0, 0, 0, 1, 1, 2, 3, 5, 50, 1000};
    int64_t delay = delays[below(p, LENGTH(delays))];
    int priority = (int)below(p, EVENT_PRIORITIES), name = p->naive->count;
    naive_at(p->naive, p->naive->now_ns + delay, priority);
    p->origin[name] = p->present[name] = name;
    p->ids[name] = event_after(p->q, delay, (enum event_priority)priority, called, &p->present[name]);
    p->budget--;
}

static void play_disturb(struct play *p)
{
    if (p->naive->count == 0) return;
    int name = (int)below(p, (uint64_t)p->naive->count);
    if (below(p, 2)) name = p->naive->count - 1 - (int)below(p, 10) % p->naive->count;
    assert_int_equal(event_is_pending(p->q, p->ids[name]), p->naive->events[name].pending);
    if (below(p, 2)) {
        assert_int_equal(event_cancel(p->q, p->ids[name]), naive_cancel(p->naive, name));
        return;
    }
    int64_t t_ns = p->naive->now_ns + (int64_t)below(p, 4);
    struct event_id id = event_reschedule(p->q, p->ids[name], t_ns);
    if (!naive_cancel(p->naive, name)) return;
    int moved = naive_at(p->naive, t_ns, p->naive->events[name].priority);
    p->ids[moved] = id;
    p->origin[moved] = p->origin[name];
    p->present[p->origin[name]] = moved;
    p->budget--;
}

static void called(void *ctx, void *arg)
{
    struct play *p = ctx;
    assert_int_equal(naive_pop(p->naive), *(const int *)arg);
    assert_int_equal(event_clock(p->q), p->naive->now_ns);
    for (uint64_t n = below(p, 4); n > 0 && p->budget > 0; n--) play_schedule(p);
    for (uint64_t n = below(p, 3); n > 0 && p->budget > 0; n--) play_disturb(p);
    if (p->renumber && below(p, 20) == 0) event_renumber(p->q);
    assert_int_equal(event_pending(p->q), p->naive->pending);
}

static struct play play_start(uint64_t seed, int budget, bool renumber)
{
    struct play p = {.q = event_queue_create(), .budget = budget, .renumber = renumber};
    p.naive = calloc(1, sizeof *p.naive);
    p.ids = calloc(NAIVE_MAX, sizeof *p.ids);
    p.origin = calloc(NAIVE_MAX, sizeof *p.origin);
    p.present = calloc(NAIVE_MAX, sizeof *p.present);
    assert_true(p.naive && p.ids && p.origin && p.present && budget < NAIVE_MAX);
    p.random = stream_make(seed, 0, STREAM_TEST, 0);
    for (int i = 0; i < budget / 20 + 3; i++) play_schedule(&p);
    return p;
}

static bool play_step(struct play *p)
{
    int next = naive_next(p->naive);
    assert_int_equal(event_next_time(p->q), next < 0 ? EVENT_NEVER : p->naive->events[next].t_ns);
    bool stepped = event_step(p->q, p);
    assert_int_equal(stepped, next >= 0);
    return stepped;
}

static void play_end(struct play *p)
{
    event_queue_destroy(p->q);
    free(p->naive);
    free(p->ids);
    free(p->origin);
    free(p->present);
}

/* Two queues in turn, one of them renumbered again and again: neither sees the other. */
static void as_the_naive_queue(void **state)
{
    (void)state;
    uint64_t total = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        int budget = seed % 50 == 0 ? 5000 : 300;
        struct play a = play_start(seed, budget, false), b = play_start(seed + 1000, budget, true);
        for (bool more = true; more;) {
            more = play_step(&a);
            more |= play_step(&b);
        }
        total += event_called(a.q) + event_called(b.q);
        play_end(&a);
        play_end(&b);
    }
    printf("%llu calls compared\n", (unsigned long long)total);
    assert_true(total > 50000);
}

static void nothing(void *ctx, void *arg)
{
    (void)ctx;
    (void)arg;
}

/* Time-outs that are moved at every step must not fill the memory with dead keys. */
static void moved_timers_cost_no_memory(void **state)
{
    (void)state;
    enum { TIMERS = 1000, MOVES = 300 };
    static struct event_id ids[TIMERS];
    struct event_queue *q = event_queue_create();
    for (int i = 0; i < TIMERS; i++) ids[i] = event_at(q, 1000000 + i, EVENT_OBSERVE, nothing, NULL);
    for (int m = 1; m < MOVES; m++)
        for (int i = 0; i < TIMERS; i++) ids[i] = event_reschedule(q, ids[i], 1000000 + m * 777 + i);
    assert_int_equal(event_pending(q), TIMERS);
    assert_true(event_queue_bytes(q) < 3 * 64 * TIMERS); /* live, as many dead, and room to grow */
    assert_int_equal(event_run_until(q, NULL, EVENT_NEVER), TIMERS);
    event_queue_destroy(q);
}

/* 64 bytes a pending event at every size, beyond what an empty queue's first arrays take. */
static void bytes_an_event(void **state)
{
    (void)state;
    enum { SMALL = 4096, MOST = 300000 };
    struct event_queue *later = event_queue_create(), *now = event_queue_create();
    for (size_t n = 1; n <= MOST; n++) {
        event_at(later, (int64_t)(n * 7919 % 100003) + 1, EVENT_REQUEST, nothing, NULL);
        event_now(now, EVENT_REQUEST, nothing, NULL);
        assert_true(event_queue_bytes(later) <= SMALL + 64 * n);
        assert_true(event_queue_bytes(now) <= SMALL + 64 * n);
    }
    event_queue_destroy(later);
    event_queue_destroy(now);
}

/* A chain that skips: it may not pass another event, one at the same time, or the horizon of the step. */
static void skip_ahead(void *ctx, void *arg)
{
    struct trail *t = ctx;
    const int64_t *to = arg;
    t->text[t->n++] = event_skip_to(t->q, *to) ? 'y' : 'n';
}

static void skips_only_over_nothing(void **state)
{
    (void)state;
    static const struct {
        int64_t to, other, horizon;
        const char *trail;
        int64_t clock;
    } rows[] = {
        {5, 6,           9, "yo", 6}, /* nothing before 6 */
        {5, 5,           9, "no", 5}, /* something at the same time, whatever its priority */
        {5, 4,           9, "no", 4},
        {9, EVENT_NEVER, 9, "y",  9}, /* up to the horizon ... */
        {9, EVENT_NEVER, 8, "n",  1}, /* ... and not beyond */
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct trail t = {.q = event_queue_create()};
        event_at(t.q, 1, EVENT_CONTROL, skip_ahead, (void *)(uintptr_t)&rows[i].to);
        event_at(t.q, rows[i].other, EVENT_OBSERVE, note, (void *)(uintptr_t) "o");
        while (event_step_until(t.q, &t, rows[i].horizon)) {}
        assert_string_equal(t.text, rows[i].trail);
        assert_int_equal(event_clock(t.q), rows[i].clock);
        event_queue_destroy(t.q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_leave_in_order),
        cmocka_unit_test(ring_and_heap_are_one_order),
        cmocka_unit_test(horizon),
        cmocka_unit_test(never),
        cmocka_unit_test(ids_go_stale),
        cmocka_unit_test(as_the_naive_queue),
        cmocka_unit_test(bytes_an_event),
        cmocka_unit_test(moved_timers_cost_no_memory),
        cmocka_unit_test(skips_only_over_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
