/* test_event_renumber.c - when the sequence numbers run out, the order stays.
 *
 * The queue is compiled here with 2^12 numbers instead of 2^35.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#define SEQUENCE_BITS 12
#include "sim/engine/event.c" /* NOLINT: its own copy */

#include "sim/engine/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PENDING = 1000, EVENTS = 200000 };

struct play {
    struct event_queue *q;
    struct stream random;
    uint64_t scheduled, called;
    int64_t last_t_ns;
    uint64_t last_rank; /* priority, then the order of scheduling */
};

static void called(void *ctx, void *arg);

/* Always later than now, so that the calls as a whole ascend in (time, priority, order of scheduling). */
static void schedule(struct play *p)
{
    enum event_priority priority = (enum event_priority)stream_uniform_int(&p->random, EVENT_PRIORITIES);
    uint64_t rank = (uint64_t)priority << 32 | p->scheduled++;
    event_after(p->q, 1 + (int64_t)stream_uniform_int(&p->random, 3), priority, called, (void *)(uintptr_t)rank);
}

static void called(void *ctx, void *arg)
{
    struct play *p = ctx;
    uint64_t rank = (uintptr_t)arg;
    assert_true(event_clock(p->q) > p->last_t_ns || (event_clock(p->q) == p->last_t_ns && rank > p->last_rank));
    p->last_t_ns = event_clock(p->q);
    p->last_rank = rank;
    p->called++;
    if (p->scheduled < EVENTS) schedule(p);
    event_cancel(p->q, event_now(p->q, EVENT_OBSERVE, called, NULL)); /* a dead key in a ring */
}

static void order_outlives_the_numbers(void **state)
{
    (void)state;
    struct play p = {.q = event_queue_create(), .random = stream_make(1, 0, STREAM_TEST, 0), .last_t_ns = -1};
    for (int i = 0; i < PENDING; i++) schedule(&p);
    event_run_until(p.q, &p, EVENT_NEVER);
    assert_int_equal(p.called, EVENTS);
    event_queue_destroy(p.q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order_outlives_the_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
