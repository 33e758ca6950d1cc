/* test_workqueue.c - the rules of client-go's work queue, as rows and under random load.
 *
 * Expected orders follow from queue.go and delaying_queue.go of k8s.io/client-go/util/workqueue by hand.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/engine/stream.h"
#include "sim/engine/workqueue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct controller {
    struct event_queue *events;
    struct workqueue *w;
    int64_t busy_ns;
    char text[200]; /* "KEY@TIME " for each key taken */
};

static int64_t reconcile(void *ctx, void *arg, uint64_t key)
{
    struct controller *c = arg;
    assert_ptr_equal(ctx, c);
    size_t n = strlen(c->text);
    snprintf(c->text + n, sizeof c->text - n, "%llu@%lld ", (unsigned long long)key, (long long)event_clock(c->events));
    return c->busy_ns;
}

static void start(struct controller *c, unsigned workers, int64_t busy_ns)
{
    *c = (struct controller){.events = event_queue_create(), .busy_ns = busy_ns};
    c->w = workqueue_create(c->events, workers, reconcile, c);
}

static void end(struct controller *c, const char *wanted)
{
    event_run_until(c->events, c, EVENT_NEVER);
    assert_string_equal(c->text, wanted);
    assert_int_equal(workqueue_length(c->w), 0);
    workqueue_destroy(c->w);
    assert_int_equal(event_pending(c->events), 0);
    event_queue_destroy(c->events);
}

static void keys_wait_once(void **state)
{
    (void)state;
    struct controller c;
    start(&c, 1, 10);
    for (int i = 0; i < 3; i++) {
        workqueue_add(c.w, 7);
        workqueue_add(c.w, 8);
    }
    assert_int_equal(workqueue_length(c.w), 2);
    end(&c, "7@0 8@10 ");
}

/* Added twice while a worker has it: once more, and behind those that wait. */
static void remembered_while_in_work(void **state)
{
    (void)state;
    struct controller c;
    start(&c, 1, 10);
    workqueue_add(c.w, 1);
    workqueue_add(c.w, 2);
    event_run_until(c.events, &c, 5);
    workqueue_add(c.w, 1);
    workqueue_add(c.w, 1);
    assert_int_equal(workqueue_length(c.w), 1);
    end(&c, "1@0 2@10 1@20 ");
}

/* Two workers: the second takes the next key, never the same one. */
static void workers_in_parallel(void **state)
{
    (void)state;
    struct controller c;
    start(&c, 2, 10);
    for (uint64_t key = 1; key <= 5; key++) workqueue_add(c.w, key);
    event_run_until(c.events, &c, 0);
    workqueue_add(c.w, 1);
    assert_int_equal(workqueue_busy(c.w), 2);
    end(&c, "1@0 2@0 3@10 4@10 5@20 1@20 ");
}

static void delays(void **state)
{
    (void)state;
    struct controller c;
    start(&c, 1, 1);
    workqueue_add_after(c.w, 1, 50);
    workqueue_add_after(c.w, 1, 30); /* earlier: counts */
    workqueue_add_after(c.w, 1, 40); /* later: does not */
    workqueue_add_after(c.w, 2, 30);
    workqueue_add_after(c.w, 3, 0);
    workqueue_add_after(c.w, 4, 20);
    workqueue_add(c.w, 4); /* now, and once more when the delay is over */
    workqueue_add_after(c.w, 5, EVENT_NEVER);
    end(&c, "3@0 4@1 4@20 1@30 2@31 ");
}

static void open_ended(void **state)
{
    (void)state;
    struct controller c;
    start(&c, 1, WORKQUEUE_OPEN);
    workqueue_add(c.w, 1);
    workqueue_add(c.w, 2);
    assert_false(workqueue_done(c.w, 1)); /* waits, is not worked on */
    event_run_until(c.events, &c, 100);
    assert_false(workqueue_done(c.w, 2) || workqueue_done(c.w, 99));
    assert_true(workqueue_done(c.w, 1));
    event_run_until(c.events, &c, 200);
    c.busy_ns = 5;
    workqueue_add(c.w, 2);
    assert_true(workqueue_done(c.w, 2));
    end(&c, "1@0 2@100 2@200 ");
}

/* Destroyed with keys waiting, delayed and in work: nothing is left in the event queue. */
static void destroyed_in_the_middle(void **state)
{
    (void)state;
    struct controller c;
    start(&c, 1, 10);
    for (uint64_t key = 0; key < 5; key++) workqueue_add(c.w, key);
    workqueue_add_after(c.w, 9, 7);
    event_run_until(c.events, &c, 5);
    workqueue_destroy(c.w);
    assert_int_equal(event_pending(c.events), 0);
    event_queue_destroy(c.events);
}

enum { KEYS = 20, ADDS = 20000 };

/* Random load: a key is never with two workers, no more than `workers` are busy, no addition is lost (each key is
 * taken at or after its last addition), and with one worker the server is never idle while a key waits. */
struct load {
    struct event_queue *events;
    struct workqueue *w;
    struct stream random;
    int64_t busy_until_ns[KEYS];
    bool unserved[KEYS];
    int adds;
};

static int64_t serve_load(void *ctx, void *arg, uint64_t key)
{
    struct load *l = arg;
    (void)ctx;
    assert_true(l->busy_until_ns[key] <= event_clock(l->events));
    assert_true(l->unserved[key]);
    l->unserved[key] = false;
    int64_t busy_ns = (int64_t)stream_uniform_int(&l->random, 30);
    l->busy_until_ns[key] = event_clock(l->events) + busy_ns;
    return busy_ns;
}

static void add_load(void *ctx, void *arg)
{
    struct load *l = ctx;
    uint64_t key = stream_uniform_int(&l->random, KEYS);
    l->unserved[key] = true;
    workqueue_add(l->w, key);
    assert_true(workqueue_busy(l->w) <= 3);
    if (++l->adds < ADDS)
        event_after(l->events, (int64_t)stream_uniform_int(&l->random, 10), EVENT_REQUEST, add_load, arg);
}

static void idle_only_when_empty(void *ctx, void *arg)
{
    struct load *l = ctx;
    assert_true(workqueue_length(l->w) == 0 || workqueue_busy(l->w) == 3);
    if (l->adds < ADDS) event_after(l->events, 7, EVENT_OBSERVE, idle_only_when_empty, arg);
}

static void random_load(void **state)
{
    (void)state;
    struct load l = {.events = event_queue_create(), .random = stream_make(1, 0, STREAM_TEST, 0)};
    l.w = workqueue_create(l.events, 3, serve_load, &l);
    event_now(l.events, EVENT_REQUEST, add_load, NULL);
    event_now(l.events, EVENT_OBSERVE, idle_only_when_empty, NULL);
    event_run_until(l.events, &l, EVENT_NEVER);
    for (int k = 0; k < KEYS; k++) assert_false(l.unserved[k]);
    assert_int_equal(workqueue_busy(l.w), 0);
    workqueue_destroy(l.w);
    event_queue_destroy(l.events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_wait_once),      cmocka_unit_test(remembered_while_in_work),
        cmocka_unit_test(workers_in_parallel), cmocka_unit_test(delays),
        cmocka_unit_test(open_ended),          cmocka_unit_test(destroyed_in_the_middle),
        cmocka_unit_test(random_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
