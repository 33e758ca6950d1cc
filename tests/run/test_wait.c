/* test_wait.c - shared wait clocks against jobs that each count for themselves.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "run/wait.h"

enum { JOBS = 20 };

struct both {
    struct wait_clock clock;
    struct wait_ticket ticket[JOBS];
    struct wait_track track[JOBS]; /* the same job, counting alone */
    int64_t sums[JOBS][N_WAIT_REASONS];
    bool waits[JOBS];
};

static void toggle(struct both *b, int j, int64_t now)
{
    if (b->waits[j])
        wait_leave(&b->ticket[j], &b->clock, now, b->sums[j]);
    else
        wait_join(&b->ticket[j], &b->clock, now);
    b->waits[j] = !b->waits[j];
    wait_track_set(&b->track[j], b->waits[j] ? b->clock.reason : NOT_WAITING, now);
}

static void change_reason(struct both *b, enum wait_reason reason, int64_t now)
{
    wait_clock_set(&b->clock, reason, now);
    for (int j = 0; j < JOBS; j++)
        if (b->waits[j]) wait_track_set(&b->track[j], reason, now);
}

static void a_shared_clock_equals_own_ones(void **state)
{
    struct both b;
    uint64_t s = 7;
    int64_t now = 0;
    (void)state;
    memset(&b, 0, sizeof b);
    for (int j = 0; j < JOBS; j++) b.track[j].reason = NOT_WAITING;
    for (int i = 0; i < 20000; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
        unsigned r = (unsigned)(s >> 33);
        now += r % 3 ? r % 1000 : 0;
        if (r % 5 == 0)
            change_reason(&b, (enum wait_reason)(r / 5 % N_QUEUE_REASONS), now);
        else
            toggle(&b, (int)(r / 5 % JOBS), now);
    }
    for (int j = 0; j < JOBS; j++) {
        if (b.waits[j]) toggle(&b, j, now + 77);
        assert_memory_equal(b.sums[j], b.track[j].sum_ns, sizeof b.sums[j]);
    }
}

/* submitted 0, quota until 5, capacity until 9, image until 20, steps until 50, detection until 60 */
static void each_ns_has_one_reason(void **state)
{
    (void)state;
    struct wait_clock clock = {.reason = WAIT_QUOTA};
    struct wait_ticket ticket;
    struct wait_track job = {.reason = NOT_WAITING};
    wait_join(&ticket, &clock, 0);
    wait_clock_set(&clock, WAIT_CAPACITY, 5);
    wait_leave(&ticket, &clock, 9, job.sum_ns);
    wait_track_set(&job, WAIT_IMAGE, 9);
    wait_track_set(&job, NOT_WAITING, 20);
    wait_track_set(&job, WAIT_DETECTION, 50);
    wait_track_set(&job, NOT_WAITING, 60);
    int64_t all = 0;
    for (int r = 0; r < N_WAIT_REASONS; r++) all += job.sum_ns[r];
    assert_int_equal(job.sum_ns[WAIT_QUOTA], 5);
    assert_int_equal(job.sum_ns[WAIT_CAPACITY], 4);
    assert_int_equal(job.sum_ns[WAIT_IMAGE], 11);
    assert_int_equal(job.sum_ns[WAIT_DETECTION], 10);
    assert_int_equal(all, 60 - 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_shared_clock_equals_own_ones),
                                       cmocka_unit_test(each_ns_has_one_reason)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
