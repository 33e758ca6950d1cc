/* test_bucket.c - token buckets: T(n) to the nanosecond, refilling, and client-go's spam filter.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/engine/bucket.h"
#include "sim/engine/event.h"
#include "sim/engine/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* n calls asked at time 0: T(n) = max(0, (n - burst) / qps), rounded up to ns. */
static void calls_at_once(void **state)
{
    (void)state;
    static const int64_t rows[][2] = {
        {20,  30 },
        {50,  100},
        {5,   10 },
        {300, 500},
        {7,   1  },
        {500, 500}
    }; /* QPS, burst */
    for (size_t r = 0; r < LENGTH(rows); r++) {
        int64_t qps = rows[r][0], burst = rows[r][1];
        struct bucket single = bucket_make(burst, qps, EVENT_SECOND);
        for (int64_t n = 1; n <= 5000; n++) {
            int64_t wanted_ns = n <= burst ? 0 : ((n - burst) * EVENT_SECOND + qps - 1) / qps;
            struct bucket at_once = bucket_make(burst, qps, EVENT_SECOND);
            assert_int_equal(bucket_take(&single, 0, 1), wanted_ns);
            assert_int_equal(bucket_take(&at_once, 0, n), wanted_ns);
        }
    }
}

/* Training operator v1 makes N pods and N services with QPS 20, burst 30 (facts/orchestration.md §7). */
static void published_figures(void **state)
{
    (void)state;
    struct bucket b = bucket_make(30, 20, EVENT_SECOND);
    assert_int_equal(bucket_take(&b, 0, 2 * 100), 8500 * (EVENT_SECOND / 1000));
    b = bucket_make(30, 20, EVENT_SECOND);
    assert_int_equal(bucket_take(&b, 0, 2 * 1000), 98500 * (EVENT_SECOND / 1000));
}

static void refills_up_to_the_burst(void **state)
{
    (void)state;
    struct bucket b = bucket_make(3, 2, EVENT_SECOND);
    assert_int_equal(bucket_take(&b, 0, 3), 0);
    assert_int_equal(bucket_take(&b, 250000000, 1), 500000000); /* half a token is there */
    assert_int_equal(bucket_take(&b, 500000000, 1), 1000000000);
    assert_int_equal(bucket_take(&b, 100 * EVENT_SECOND, 4), 100 * EVENT_SECOND + 500000000); /* 3, not 198 */
    assert_int_equal(bucket_take(&b, 200 * EVENT_SECOND, 0), 200 * EVENT_SECOND);
    b = bucket_unlimited();
    assert_int_equal(bucket_take(&b, 7, 1000000), 7);
    assert_true(bucket_try(&b, 7));
    b = bucket_make(1, 1, EVENT_NEVER);
    assert_int_equal(bucket_take(&b, 0, 2), EVENT_NEVER);
    assert_int_equal(bucket_take(&b, EVENT_NEVER - 1, INT64_MAX), EVENT_NEVER);
}

/* 25 events at once, then one each 300 s: the next is refused until 300 s to the nanosecond, and unused time does not
 * add up beyond 25. */
static void spam_filter(void **state)
{
    (void)state;
    struct bucket b = bucket_event_spam(25);
    for (int i = 0; i < 25; i++) assert_true(bucket_try(&b, 0));
    assert_false(bucket_try(&b, 0));
    assert_false(bucket_try(&b, 300 * EVENT_SECOND - 1));
    assert_true(bucket_try(&b, 300 * EVENT_SECOND));
    assert_false(bucket_try(&b, 300 * EVENT_SECOND));
    int passed = 0;
    for (int i = 0; i < 40; i++) passed += bucket_try(&b, 100000 * EVENT_SECOND);
    assert_int_equal(passed, 25);
}

enum { CALLS = 400 };

/* Random arrivals: calls go in their order, none before it asked; in no span more than burst + qps * span go; and
 * each that waits could not have gone a nanosecond earlier. */
static void never_too_fast_never_idle(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct stream s = stream_make(seed, 0, STREAM_TEST, 0);
        int64_t burst = 1 + (int64_t)stream_uniform_int(&s, 20), qps = 1 + (int64_t)stream_uniform_int(&s, 40);
        struct bucket b = bucket_make(burst, qps, EVENT_SECOND);
        int64_t now_ns = 0, go_ns[CALLS];
        for (int i = 0; i < CALLS; i++) {
            now_ns += stream_exponential_ns(&s, EVENT_SECOND / 20);
            go_ns[i] = bucket_take(&b, now_ns, 1);
            assert_true(go_ns[i] >= now_ns && (i == 0 || go_ns[i] >= go_ns[i - 1]));
            __int128 slack = go_ns[i] > now_ns ? INT64_MAX : 0; /* least room over all spans that end here */
            for (int j = 0; j <= i; j++) {
                __int128 may = (__int128)burst * EVENT_SECOND + (__int128)(go_ns[i] - go_ns[j]) * qps;
                __int128 room = may - (__int128)(i - j + 1) * EVENT_SECOND;
                assert_true(room >= -(__int128)qps); /* go_ns[j] was rounded up */
                if (room < slack) slack = room;
            }
            /* The span that began with a full bucket is used up: a ns less would have been too fast. */
            assert_true(slack < 2 * qps);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_at_once),
        cmocka_unit_test(published_figures),
        cmocka_unit_test(refills_up_to_the_burst),
        cmocka_unit_test(spam_filter),
        cmocka_unit_test(never_too_fast_never_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
