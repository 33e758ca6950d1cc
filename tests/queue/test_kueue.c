/* test_kueue.c - decisions of single cycles, and the cases from public issues as rows.
 *
 * Expected values come from Kueue's own tests (named by file:line of the snapshot in facts/orchestration.md,
 * re-expressed in other words), from its issues (cases/orchestration.md) or from the definitions in kueue.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/support/kueue_world.h"

struct row {
    const char *what, *world, *said;
};

/* clang-format off */
static const struct row rows[] = {
    /* scheduler_test.go:5099, 5217, 5328, case 1: a lender's blocked head keeps its room unless it can reclaim */
    {"lender blocks, reclaim Never",
     "cohort c; queue a in c 2 strict; queue b in c 0; run x a 1; wait y a 2; wait z b 1", "block y block z"},
    {"lender blocks, reclaim LowerPriority",
     "cohort c; queue a in c 2 strict reclaim lower; queue b in c 0; run x a 1; wait y a 2; wait z b 1",
     "block y block z"},
    {"reclaim Any lets the borrower in",
     "cohort c; queue a in c 2 strict reclaim any; queue b in c 0; run x a 1; wait y a 2; wait z b 1",
     "block y admit z(f0 x1)"},

    /* scheduler_test.go:4895 (#3405): the one that can reclaim goes on, whatever an older head of a full queue does */
    {"reclaiming head beside a full queue",
     "cohort c; queue q1 in c 10; queue q2 in c 10 reclaim any; queue q3 in c 0; run u q1 5; run lo q3 5; run hi q3 5 "
     "prio 1; wait w1 q1 10; wait w2 q2 10",
     "evict lo:InCohortReclamation<w2 block w2 block w1"}, /* w1 would borrow, so it comes second though older */

    /* scheduler_test.go:5446: in a hierarchy the head that borrows from nearer goes first */
    {"less borrowing first",
     "cohort root 1; cohort left in root 1; cohort right in root; queue a in right 0; queue b in left 0; wait far a 1; "
     "wait near b 1",
     "admit near(f0 x1) admit far(f0 x1)"},
    {"less borrowing first when only one fits",
     "cohort root; cohort left in root 1; cohort right in root; queue a in right 0; queue b in left 0; "
     "wait far a 1; wait near b 1",
     "admit near(f0 x1) block far"},

    /* order of heads in a cohort: priority (gate), then age */
    {"higher priority first", "cohort c 1; queue a in c 0; queue b in c 0; wait old a 1; wait hi b 1 prio 5",
     "admit hi(f0 x1) block old"},
    {"older first",
     "cohort c 1; queue a in c 0; queue b in c 0; wait old a 1; wait new b 1", "admit old(f0 x1) block new"},

    /* preemption_test.go:1400 and #533: preempt one of the own and borrow one. Case 10. */
    {"preempt one, borrow one",
     "cohort c; queue a in c 3 within lower; queue b in c 3; run a1 a 1; run a2 a 1; run a3 a 1; run b1 b 2; "
     "wait w a 2 "
     "prio 10",
     "evict a3:InClusterQueue<w block w"},
    {"a head that fits its nominal quota goes first; then two must go",
     "cohort c; queue a in c 3 within lower; queue b in c 3; run a1 a 1; run a2 a 1; run a3 a 1; run b1 b 2; "
     "wait w a 2 "
     "prio 10; wait b2 b 1",
     "admit b2(f0 x1) block w"},
    /* #16049: more than nominal is asked, so neither reclaim nor own preemption is tried. Case 10's counterpart. */
    {"no preemption above nominal",
     "cohort c; queue a in c 2 within lower reclaim any; queue b in c 2; run low a 4; "
     "wait high a 4 prio 10", "block high"},

    /* within the queue */
    {"lower priority only", "queue a 2 within lower; run x a 2; wait y a 1", "block y"},
    {"never", "queue a 2; run x a 2; wait y a 1 prio 9", "block y"},
    {"lowest priority, then latest",
     "queue a 3 within lower; run x a 1 prio 2; run y a 1; run z a 1; wait w a 1 prio 9",
     "evict z:InClusterQueue<w block w"},
    /* greedy: z, y, x go until 3 fit; then x and y are tried again, largest need first in reverse order */
    {"small ones are given back when a large one is enough",
     "queue a 4 within lower; run big a 3 prio 1; run s a 1; wait w a 3 prio 9", "evict big:InClusterQueue<w block w"},

    /* other queues */
    {"reclaim what others borrow, only as long as they borrow",
     "cohort c; queue a in c 4 reclaim any; queue b in c 4; run b1 b 4; run b2 b 2; run b3 b 2; wait w a 2",
     "evict b3:InCohortReclamation<w block w"},
    {"not from a queue within its quota",
     "cohort c; queue a in c 4 reclaim any; queue b in c 4; run a1 a 4; run b1 b 4; wait w a 2 prio 9", "block w"},
    {"lower priority only, other queue",
     "cohort c; queue a in c 4 reclaim lower; queue b in c 4; run b1 b 8 prio 5; wait w a 2 prio 5", "block w"},
    {"others before the own",
     "cohort c; queue a in c 4 within lower reclaim any; queue b in c 2; run a1 a 2; run b1 b 4 prio 8; "
     "wait w a 2 prio 9",
     "evict b1:InCohortReclamation<w block w"},
    {"borrow by preempting lower priority",
     "cohort c; queue s in c 2; queue a in c 0; queue b in c 2 reclaim any borrow; run a1 a 2; "
     "run b1 b 2 prio 10; wait b2 "
     "b 2 prio 10",
     "evict a1:InCohortReclaimWhileBorrowing<b2 block b2"},
    {"not above the threshold",
     "cohort c; queue s in c 2; queue a in c 0; queue b in c 2 reclaim any borrow max 3; run a1 a 2 prio 5; "
     "run b1 b 2 prio "
     "10; wait b2 b 2 prio 10",
     "block b2"},
    {"overlapping victims: the second waits",
     "cohort c; queue a in c 2 reclaim any; queue b in c 2 reclaim any; queue d in c 0; run x d 4; wait p a 2; "
     "wait q b 2",
     "evict x:InCohortReclamation<p block p block q"},
    /* a nearer cohort's quota may be reclaimed from a higher priority outside (hierarchical advantage) */
    {"reclaim across the hierarchy",
     "cohort root; cohort left in root 2; queue a in left 0 reclaim any; queue far in root 0; "
     "run x far 2 prio 9; wait w a 2",
     "evict x:InCohortReclamation<w block w"},

    /* quotas */
    {"borrowing limit", "cohort c; queue a in c 1/1; queue b in c 4; wait w a 3", "block w"},
    {"borrowing limit allows", "cohort c; queue a in c 1/1; queue b in c 4; wait w a 2", "admit w(f0 x2)"},
    {"lending limit", "cohort c; queue a in c 1; queue b in c 4/-/1; wait w a 3", "block w"},
    {"lending limit keeps the rest for its owner",
     "cohort c; queue a in c 1; queue b in c 4/-/1; run x a 2; wait w b 3", "admit w(f0 x3)"},
    {"a cohort's own quota", "cohort c 3; queue a in c 0; wait w a 3", "admit w(f0 x3)"},

    /* flavors */
    {"first flavor that fits", "queue a 2,4; wait w a 3", "admit w(f1 x3)"},
    {"first in order", "queue a 2,4; wait w a 2", "admit w(f0 x2)"},
    {"node selector", "queue a 2,4; wait w a 2 flavors 1", "admit w(f1 x2)"},
    {"borrowing stops the search by default",
     "cohort c; queue a in c 0,4; queue b in c 4,0; wait w a 2", "admit w(f0 x2)"},
    {"unless the next is to be tried", "cohort c; queue a in c 0,4 next-borrow; queue b in c 4,0; wait w a 2",
     "admit w(f1 x2)"},
    {"preempting tries the next by default", "queue a 2,2 within lower; run x a 2 flavors 0; wait w a 2 prio 1",
     "admit w(f1 x2)"},
    {"unless preemption stops the search",
     "queue a 2,2 within lower stop-preempt; run x a 2 flavors 0; wait w a 2 prio 1",
     "evict x:InClusterQueue<w block w"},
    {"borrowing before preemption",
     "cohort c; queue a in c 2,0 within lower next-borrow; queue b in c 0,2; run x a 2 flavors 0; wait w a 2 prio 1",
     "admit w(f1 x2)"},
    {"preemption before borrowing",
     "cohort c; queue a in c 2,0 within lower next-borrow prefer-preempt; queue b in c 0,2; "
     "run x a 2 flavors 0; wait w a 2 "
     "prio 1",
     "evict x:InClusterQueue<w block w"},

    /* partial admission: scheduler_test.go:2576-2898 */
    {"cut to what fits", "queue a 5; run x a 2; wait w a 6 min 2", "admit w(f0 x3)"},
    {"not below the minimum", "queue a 5; run x a 4; wait w a 6 min 2", "block w"},
    {"preempt for all rather than cut", "queue a 5 within lower; run x a 2; wait w a 5 min 2 prio 1",
     "evict x:InClusterQueue<w block w"},
    {"cut and preempt", "queue a 5 within lower; run k a 1 prio 9; run x a 2; wait w a 6 min 3 prio 1",
     "evict x:InClusterQueue<w block w"},

    /* case 7a: master 8 + worker 8 with quota 8 is more than the maximum */
    {"more than the maximum", "queue a 8; wait w a 16", "block w"},
};
/* clang-format on */

static void test_single_cycles(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kueue_world *w = kueue_world(rows[i].world, NULL);
        const char *said = kueue_world_cycle(w);
        if (strcmp(said, rows[i].said) != 0) {
            printf("%s:\n  expected %s\n  got      %s\n", rows[i].what, rows[i].said, said);
            wrong++;
        }
        kueue_world_free(w);
    }
    assert_int_equal(wrong, 0);
}

/* ---- why it waits ---- */

static void test_reasons(void **state)
{
    (void)state;
    struct kueue_world *w =
        kueue_world("cohort c; queue a in c 2 strict within lower; queue b in c 0; queue x 2; run u a 1", NULL);
    kueue_world_add(w, "wait head a 2; wait behind a 1; wait b1 b 1; wait big x 3; wait none x 1 flavors 3");
    kueue_world_cycle(w);
    assert_int_equal(kueue_wait_reason(w->k, kueue_world_id(w, "head")), KUEUE_NO_VICTIMS);
    assert_int_equal(kueue_wait_reason(w->k, kueue_world_id(w, "behind")), KUEUE_WAITS_ORDER);
    assert_int_equal(kueue_wait_reason(w->k, kueue_world_id(w, "b1")), KUEUE_NO_LONGER_FITS);
    assert_int_equal(kueue_wait_reason(w->k, kueue_world_id(w, "big")), KUEUE_EXCEEDS_MAXIMUM);
    assert_int_equal(kueue_wait_reason(w->k, kueue_world_id(w, "u")), KUEUE_OK);
    kueue_world_cycle(w);
    assert_int_equal(kueue_wait_reason(w->k, kueue_world_id(w, "none")), KUEUE_NO_MATCHING_FLAVOR);
    kueue_set_stop(w->k, 0, KUEUE_HOLD, w->now_ns);
    assert_int_equal(kueue_wait_reason(w->k, kueue_world_id(w, "behind")), KUEUE_WAITS_STOPPED);
    kueue_world_free(w);
}

/* ---- cases over time ---- */

/* Case 1, row 3: when the older one ends, the lender evicts the borrower once. */
static void test_case_1_reclaims_later(void **state)
{
    (void)state;
    int cycles, evictions;
    struct kueue_world *w = kueue_world(
        "cohort c; queue g in c 2 strict reclaim any; queue be in c 0; run g1 g 1; wait g2 g 2; wait b1 be 1", NULL);
    kueue_world_settle(w, &cycles, &evictions);
    assert_true(kueue_world_admitted(w, "b1"));
    assert_int_equal(evictions, 0);
    kueue_world_finish(w, "g1");
    kueue_world_settle(w, &cycles, &evictions);
    assert_int_equal(evictions, 1);
    assert_true(kueue_world_admitted(w, "g2"));
    assert_false(kueue_world_admitted(w, "b1"));
    kueue_world_free(w);
}

/* Case 1, row 4: a parked BestEffortFIFO head stops nobody. */
static void test_case_1_best_effort(void **state)
{
    (void)state;
    struct kueue_world *w =
        kueue_world("cohort c; queue g in c 2; queue be in c 0; run g1 g 1; wait g2 g 2; wait b1 be 1", NULL);
    assert_string_equal(kueue_world_cycle(w), "block g2 block b1");
    assert_string_equal(kueue_world_cycle(w), "admit b1(f0 x1)");
    kueue_world_free(w);
}

/* Case 2: StrictFIFO blocks across flavors, BestEffortFIFO does not, and the order in a flavor stays. */
static void test_case_2(void **state)
{
    (void)state;
    static const char jobs[] =
        "run f q 16 flavors 0; wait j1 q 8 flavors 0; wait j2 q 8 flavors 1; wait j3 q 8 flavors 0; "
        "wait j4 q 2 flavors 1";
    int cycles, evictions;
    for (int strict = 0; strict < 2; strict++) {
        struct kueue_world *w = kueue_world(strict ? "queue q 16,40 strict" : "queue q 16,40", NULL);
        kueue_world_add(w, jobs);
        kueue_world_settle(w, &cycles, &evictions);
        assert_int_equal(kueue_world_admitted(w, "j2"), !strict);
        assert_int_equal(kueue_world_admitted(w, "j4"), !strict);
        assert_int_equal(kueue_usage(w->k, 0, 1, 0), strict ? 0 : 10);
        kueue_world_finish(w, "f");
        kueue_world_settle(w, &cycles, &evictions);
        assert_int_equal(kueue_world_admitted(w, "j1"), strict); /* the parked one waits for the batch */
        kueue_world_wait(w, 1.0);
        kueue_world_settle(w, &cycles, &evictions);
        assert_true(kueue_world_admitted(w, "j1") && kueue_world_admitted(w, "j3"));
        kueue_world_free(w);
    }
}

/* Case 3: a workload that fits behind `blocked` heads of `shapes` shapes. Cycles until it is admitted. */
static int cycles_until_admitted(bool hashing, int blocked, int shapes)
{
    struct kueue_options o = {.priority_sorting = true, .equivalence_hashing = hashing};
    struct kueue_world *w = kueue_world("queue q 8,100", &o);
    char line[80];
    kueue_world_add(w, "run full q 8 flavors 0");
    for (int i = 0; i < blocked; i++) {
        snprintf(line, sizeof line, "wait x%d q %d flavors 0", i, 8 - i % shapes);
        kueue_world_add(w, line);
    }
    kueue_world_add(w, "wait w q 1 flavors 1");
    int n = 0;
    while (!kueue_world_admitted(w, "w") && n < 10000) n += kueue_world_cycle(w) != NULL;
    kueue_world_free(w);
    return n;
}

static void test_case_3(void **state)
{
    (void)state;
    assert_int_equal(cycles_until_admitted(true, 1000, 1), 2); /* one shape: within 2 cycles */
    assert_int_equal(cycles_until_admitted(true, 1000, 5), 6); /* k shapes: k + 1 */
    assert_int_equal(cycles_until_admitted(false, 1000, 1), 1001);
}

/* Without hashing each event begins the pass anew; case 3 with events. */
static void test_case_3_events_restart_the_pass(void **state)
{
    (void)state;
    char line[80];
    struct kueue_world *w = kueue_world("queue q 8,100; run full q 8 flavors 0; run e q 1 flavors 1", NULL);
    for (int i = 0; i < 100; i++) {
        snprintf(line, sizeof line, "wait x%d q 8 flavors 0", i);
        kueue_world_add(w, line);
    }
    kueue_world_add(w, "wait w q 1 flavors 1");
    for (int i = 0; i < 60; i++) kueue_world_cycle(w);
    kueue_world_finish(w, "e");
    kueue_world_wait(w, 1.0); /* the 60 parked ones are back in front */
    int n = 0;
    while (!kueue_world_admitted(w, "w") && n < 1000) n += kueue_world_cycle(w) != NULL;
    assert_int_equal(n, 101);
    kueue_world_free(w);
}

/* Case 4: the victim is not admitted again before its preemptor, whatever the gate; one eviction in all. */
static void test_case_4(void **state)
{
    (void)state;
    for (int gate = 0; gate < 2; gate++) {
        struct kueue_options o = {.priority_sorting = gate};
        struct kueue_world *w =
            kueue_world("cohort c; queue s in c 2; queue a in c 0; queue b in c 2 reclaim any borrow; "
                        "run a1 a 2; run b1 b 2 prio 10; wait b2 b 2 prio 10",
                        &o);
        int cycles, evictions, total = 0;
        for (int i = 0; i < 20; i++) {
            kueue_world_settle(w, &cycles, &evictions);
            kueue_world_wait(w, 1.0);
            total += evictions;
        }
        assert_int_equal(total, 1);
        assert_true(kueue_world_admitted(w, "b2"));
        assert_false(kueue_world_admitted(w, "a1"));
        kueue_world_free(w);
    }
}

/* A preempting BestEffortFIFO head stays in front of a higher priority that comes later (#6929). */
static void test_preempting_head_is_sticky(void **state)
{
    (void)state;
    struct kueue_world *w = kueue_world("queue a 2 within lower; run x a 2; wait p a 2 prio 5", NULL);
    assert_string_equal(kueue_world_cycle(w), "evict x:InClusterQueue<p block p");
    kueue_world_add(w, "wait later a 1 prio 9");
    assert_string_equal(kueue_world_cycle(w), "block p");
    kueue_world_release(w, "x");
    assert_string_equal(kueue_world_cycle(w), "admit p(f0 x2)");
    kueue_world_free(w);
}

/* LowerOrNewerEqualPriority: the older one of a priority evicts the newer; LowerPriority does not. */
static void test_newer_of_equal_priority(void **state)
{
    (void)state;
    for (int newer = 0; newer < 2; newer++) {
        struct kueue_world *w = kueue_world(newer ? "queue a 2 within newer" : "queue a 2 within lower", NULL);
        kueue_world_add(w, "run x a 1 prio 9; wait old a 2; run new a 1");
        kueue_world_finish(w, "x");
        kueue_world_wait(w, 1.0);
        assert_string_equal(kueue_world_cycle(w), newer ? "evict new:InClusterQueue<old block old" : "block old");
        kueue_world_free(w);
    }
}

/* Parked workloads come back one batch period after quota was freed, for their whole tree and no other. */
static void test_batches(void **state)
{
    (void)state;
    struct kueue_world *w = kueue_world(
        "cohort c; queue a in c 1; queue b in c 0; queue x 1; run a1 a 1; run x1 x 1; wait b1 b 1; wait x2 x 1", NULL);
    int cycles, evictions;
    kueue_world_settle(w, &cycles, &evictions);
    kueue_world_wait(w, 5.0);
    kueue_world_finish(w, "a1");
    assert_int_equal(kueue_next_retry(w->k), w->now_ns + 1000000000);
    kueue_world_wait(w, 0.9);
    assert_false(kueue_ready(w->k));
    kueue_world_wait(w, 0.1);
    assert_string_equal(kueue_world_cycle(w), "admit b1(f0 x1)");
    assert_false(kueue_ready(w->k));
    kueue_world_free(w);
}

/* Nothing is done again while nothing happens: a blocked StrictFIFO head costs one cycle an event. */
static void test_blocked_heads_settle(void **state)
{
    (void)state;
    int cycles, evictions;
    struct kueue_world *w = kueue_world("queue a 2 strict; run x a 2; wait y a 1; wait z a 1", NULL);
    kueue_world_settle(w, &cycles, &evictions);
    assert_int_equal(cycles, 1);
    assert_false(kueue_ready(w->k));
    kueue_world_add(w, "wait behind a 1");
    assert_false(kueue_ready(w->k)); /* it is not the head */
    kueue_world_finish(w, "x");
    assert_true(kueue_ready(w->k));
    kueue_world_free(w);
}

static void test_stop_and_drain(void **state)
{
    (void)state;
    struct kueue_world *w = kueue_world("queue a 2; run x a 1; wait y a 1", NULL);
    kueue_set_stop(w->k, 0, KUEUE_HOLD, w->now_ns);
    assert_false(kueue_ready(w->k));
    assert_int_equal(kueue_drained(w->k)->n, 0);
    kueue_set_stop(w->k, 0, KUEUE_HOLD_AND_DRAIN, w->now_ns);
    assert_int_equal(kueue_drained(w->k)->n, 1);
    assert_int_equal(kueue_drained(w->k)->outcomes[0].reason, KUEUE_QUEUE_STOPPED);
    kueue_world_release(w, "x");
    assert_false(kueue_ready(w->k));
    kueue_set_stop(w->k, 0, KUEUE_RUN, w->now_ns);
    assert_string_equal(kueue_world_cycle(w), "admit x(f0 x1)"); /* older than y */
    assert_string_equal(kueue_world_cycle(w), "admit y(f0 x1)");
    kueue_world_free(w);
}

/* Quota taken away: nothing is evicted, nothing new is admitted; given back: it is. */
static void test_quota_update(void **state)
{
    (void)state;
    struct kueue_world *w = kueue_world("queue a 2; run x a 2; wait y a 1", NULL);
    struct kueue_flavor_quotas q = {.quotas = {{1, KUEUE_UNLIMITED, KUEUE_UNLIMITED}}};
    struct kueue_group g = {.n_resources = 1, .n_flavors = 1, .flavors = &q};
    struct kueue_queue_config c = {.cohort = KUEUE_NONE, .n_groups = 1, .groups = &g};
    kueue_world_cycle(w);
    kueue_update_queue(w->k, 0, &c, w->now_ns);
    assert_int_equal(kueue_available(w->k, 0, 0, 0), 0);
    assert_true(kueue_world_admitted(w, "x"));
    q.quotas[0].nominal = 3;
    kueue_update_queue(w->k, 0, &c, w->now_ns);
    kueue_world_wait(w, 1.0);
    assert_string_equal(kueue_world_cycle(w), "admit y(f0 x1)");
    kueue_world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_cycles),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_case_1_reclaims_later),
        cmocka_unit_test(test_case_1_best_effort),
        cmocka_unit_test(test_case_2),
        cmocka_unit_test(test_case_3),
        cmocka_unit_test(test_case_3_events_restart_the_pass),
        cmocka_unit_test(test_case_4),
        cmocka_unit_test(test_preempting_head_is_sticky),
        cmocka_unit_test(test_newer_of_equal_priority),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_blocked_heads_settle),
        cmocka_unit_test(test_stop_and_drain),
        cmocka_unit_test(test_quota_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
