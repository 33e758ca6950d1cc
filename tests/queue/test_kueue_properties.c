/* test_kueue_properties.c - what must hold in every state, over random configurations and histories.
 *
 * Random trees of cohorts and queues with random quotas, limits and policies; random submissions, ends, releases,
 * batches and cycles. After each step: quota cells equal those rebuilt from the workloads that hold quota (so a cycle's
 * simulations leave no trace); once the evicted are gone no node is above its quota + borrowing limit and no root above
 * its subtree's quota (Kueue counts the victims of a cycle as gone for the later heads of that cycle); each victim held
 * quota. Victim sets are minimal. A tree that reports nothing to do has nothing to do.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/queue/kueue/core.h"
#include "sim/queue/kueue/preempt.h"
#include "sim/queue/kueue/queue.h"

#define SECOND_NS 1000000000ll
#define FLAVORS   2
#define RESOURCES 2
#define ALIVE     256

enum life { GONE, PENDING, ADMITTED, EVICTED };

struct history {
    uint64_t random;
    struct kueue *k;
    uint32_t n_queues;
    uint32_t id[ALIVE];
    enum life life[ALIVE];
    uint64_t next_uid;
    int64_t now_ns;
    unsigned admissions, evictions, victim_sets;
};

/* xorshift64*: the sequence is part of the test. */
static uint32_t rnd(struct history *h, uint32_t n)
{
    h->random ^= h->random >> 12;
    h->random ^= h->random << 25;
    h->random ^= h->random >> 27;
    return (uint32_t)((h->random * 0x2545f4914f6cdd1dull) >> 33) % n;
}

static int64_t maybe_limit(struct history *h)
{
    return rnd(h, 2) ? KUEUE_UNLIMITED : rnd(h, 5);
}

static struct kueue_quota random_quota(struct history *h)
{
    return (struct kueue_quota){rnd(h, 9), maybe_limit(h), maybe_limit(h)};
}

static uint32_t add_cohorts(struct history *h)
{
    uint32_t n = 1 + rnd(h, 4);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = kueue_add_cohort(h->k, i == 0 || rnd(h, 4) == 0 ? KUEUE_NONE : rnd(h, i));
        for (uint16_t f = 0; f < FLAVORS; f++)
            for (uint16_t r = 0; r < RESOURCES && rnd(h, 2); r++)
                kueue_set_cohort_quota(h->k, id, f, r, random_quota(h), 0);
    }
    return n;
}

static void add_queue(struct history *h, uint32_t n_cohorts)
{
    struct kueue_flavor_quotas quotas[FLAVORS];
    struct kueue_group g = {
        .n_resources = RESOURCES, .resources = {0, 1},
             .flavors = quotas
    };
    struct kueue_queue_config c = {.cohort = rnd(h, 8) ? rnd(h, n_cohorts) : KUEUE_NONE, .n_groups = 1, .groups = &g};
    g.n_flavors = (uint16_t)(1 + rnd(h, FLAVORS));
    for (uint16_t f = 0; f < g.n_flavors; f++) {
        quotas[f].flavor = f;
        for (uint32_t r = 0; r < RESOURCES; r++) quotas[f].quotas[r] = random_quota(h);
    }
    c.strategy = rnd(h, 2) ? KUEUE_STRICT_FIFO : KUEUE_BEST_EFFORT_FIFO;
    c.within_queue = (enum kueue_preemption)rnd(h, 3);
    c.reclaim_within_cohort =
        (enum kueue_preemption[]){KUEUE_PREEMPT_NEVER, KUEUE_PREEMPT_LOWER_PRIORITY, KUEUE_PREEMPT_ANY}[rnd(h, 3)];
    c.borrow_within_cohort = rnd(h, 2);
    c.has_priority_threshold = rnd(h, 2);
    c.max_priority_threshold = (int32_t)rnd(h, 3);
    c.when_can_borrow = (enum kueue_fungibility)rnd(h, 2);
    c.when_can_preempt = (enum kueue_fungibility)rnd(h, 2);
    c.preference = (enum kueue_preference)rnd(h, 2);
    kueue_add_queue(h->k, &c);
}

static void start(struct history *h, uint64_t seed)
{
    *h = (struct history){.random = seed * 0x9e3779b97f4a7c15ull + 1};
    struct kueue_options o = {.n_flavors = FLAVORS, .n_resources = RESOURCES};
    o.priority_sorting = rnd(h, 2);
    o.equivalence_hashing = rnd(h, 2);
    o.partial_admission = rnd(h, 2);
    h->k = kueue_create(&o);
    uint32_t n_cohorts = add_cohorts(h);
    h->n_queues = 1 + rnd(h, 6);
    for (uint32_t i = 0; i < h->n_queues; i++) add_queue(h, n_cohorts);
}

static void submit(struct history *h)
{
    uint32_t slot = rnd(h, ALIVE);
    if (h->life[slot] != GONE) return;
    struct kueue_pod_set ps[2] = {
        {.count = 1 + rnd(h, 3), .flavors = 1 + rnd(h, 3)},
        {.count = 1,                .flavors = 3                 }
    };
    ps[0].requests[0] = 1 + rnd(h, 2);
    ps[0].requests[1] = rnd(h, 2);
    ps[1].requests[1] = 1;
    ps[0].min_count = rnd(h, 3) == 0;
    uint32_t shape = kueue_shape(h->k, rnd(h, h->n_queues), (int32_t)rnd(h, 4), 1 + rnd(h, 2), ps);
    h->id[slot] = kueue_submit(h->k, shape, h->next_uid++, h->now_ns, slot);
    h->life[slot] = PENDING;
}

static void note(struct history *h, const struct kueue_cycle *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct kueue_outcome *o = &c->outcomes[i];
        enum life *life = &h->life[o->owner];
        assert_int_equal(h->id[o->owner], o->workload);
        assert_int_equal(*life, o->kind == KUEUE_EVICT ? ADMITTED : PENDING);
        if (o->kind == KUEUE_ADMIT) *life = ADMITTED;
        if (o->kind == KUEUE_EVICT) *life = EVICTED;
        h->admissions += o->kind == KUEUE_ADMIT;
        h->evictions += o->kind == KUEUE_EVICT;
    }
}

/* Ends, releases or deletes a random workload. */
static void move_on(struct history *h)
{
    uint32_t slot = rnd(h, ALIVE);
    if (h->life[slot] == EVICTED && rnd(h, 4)) {
        kueue_release(h->k, h->id[slot], h->now_ns);
        h->life[slot] = PENDING;
    } else if (h->life[slot] != GONE && (h->life[slot] != PENDING || rnd(h, 8) == 0)) {
        kueue_finish(h->k, h->id[slot], h->now_ns);
        h->life[slot] = GONE;
    }
}

static void step(struct history *h)
{
    h->now_ns += rnd(h, 400) * 1000000ll;
    kueue_retry(h->k, h->now_ns);
    switch (rnd(h, 4)) {
    case 0: submit(h); break;
    case 1:
        for (int i = 0; i < 12; i++) move_on(h);
        break;
    default:
        if (kueue_ready(h->k)) note(h, kueue_run_cycle(h->k, h->now_ns));
    }
}

/* ---- what must hold ---- */

/* Leaf usage is the sum over the workloads that hold quota. */
static void check_usage(const struct history *h)
{
    int64_t sum[16][FLAVORS * RESOURCES] = {{0}};
    const struct kueue *k = h->k;
    for (uint32_t s = 0; s < ALIVE; s++) {
        if (h->life[s] != ADMITTED && h->life[s] != EVICTED) continue;
        const struct workload *w = &k->workloads.v[h->id[s]];
        const struct shape *shape = &k->shapes.v[w->shape];
        for (uint32_t p = 0; p < shape->n_pod_sets; p++)
            for (uint16_t r = 0; r < RESOURCES; r++) {
                uint16_t f = kueue_flavor(k, h->id[s], p, r);
                if (shape->pod_sets[p].requests[r] == 0) continue;
                assert_true(shape->pod_sets[p].flavors >> f & 1);
                sum[shape->queue][f * RESOURCES + r] += shape->pod_sets[p].requests[r] * kueue_pods(k, h->id[s], p);
            }
    }
    for (uint32_t q = 0; q < h->n_queues; q++)
        for (uint16_t fr = 0; fr < FLAVORS * RESOURCES; fr++)
            assert_int_equal(quota_cell(&k->quota, k->queues.v[q].node, fr)->usage, sum[q][fr]);
}

static void change_evicted(const struct history *h, void (*change)(struct kueue *, uint32_t))
{
    for (uint32_t s = 0; s < ALIVE; s++)
        if (h->life[s] == EVICTED) change(h->k, h->id[s]);
}

/* Cohort cells are those that the leaves give; nobody is above what is allowed. */
static void check_quota(const struct history *h)
{
    struct kueue *k = h->k;
    size_t n = k->quota.cells.n;
    struct quota_cell *before = malloc(n * sizeof *before);
    memcpy(before, k->quota.cells.v, n * sizeof *before);
    quota_rebuild(&k->quota);
    assert_memory_equal(before, k->quota.cells.v, n * sizeof *before);
    change_evicted(h, workload_remove_usage);
    for (size_t i = 0; i < n; i++) {
        const struct quota_cell *c = &k->quota.cells.v[i];
        assert_true(c->usage >= 0);
        if (k->quota.nodes.v[i / k->n_frs].parent == KUEUE_NONE)
            assert_true(c->usage <= c->subtree);
        else if (c->borrowing_limit != KUEUE_UNLIMITED)
            assert_true(c->usage <= c->subtree + c->borrowing_limit);
    }
    change_evicted(h, workload_add_usage);
    assert_memory_equal(before, k->quota.cells.v, n * sizeof *before);
    free(before);
}

static bool fits_without(struct kueue *k, uint32_t node, const struct quota_use *use, size_t skip, bool borrow)
{
    for (size_t i = 0; i < k->targets.n; i++)
        if (i != skip) workload_remove_usage(k, k->targets.v[i].workload);
    bool fits =
        quota_fits(&k->quota, node, 1, use) && (borrow || !quota_borrows_with(&k->quota, node, use->fr, use->amount));
    for (size_t i = 0; i < k->targets.n; i++)
        if (i != skip) workload_add_usage(k, k->targets.v[i].workload);
    return fits;
}

/* With all victims gone it fits, borrowing or not; in the same sense it does not with any one of them back. */
static bool minimal(struct kueue *k, uint32_t node, const struct quota_use *use, bool borrow)
{
    if (!fits_without(k, node, use, SIZE_MAX, borrow)) return false;
    for (size_t i = 0; i < k->targets.n; i++)
        if (fits_without(k, node, use, i, borrow)) return false;
    return true;
}

static void check_victims(struct history *h)
{
    struct kueue *k = h->k;
    uint32_t slot = rnd(h, ALIVE);
    if (h->life[slot] != PENDING) return;
    uint32_t node = k->queues.v[k->shapes.v[k->workloads.v[h->id[slot]].shape].queue].node;
    struct quota_use use = {(uint16_t)rnd(h, FLAVORS * RESOURCES), 1 + rnd(h, 6)};
    uint64_t hash = kueue_state_hash(k);
    k->targets.n = 0;
    if (quota_fits(&k->quota, node, 1, &use)) return;
    uint32_t n = preempt_find(k, h->id[slot], 1, &use, 1, &use);
    assert_int_equal(n, k->targets.n);
    if (n > 0) assert_true(minimal(k, node, &use, true) || minimal(k, node, &use, false));
    h->victim_sets += n > 0;
    k->targets.n = 0;
    assert_true(hash == kueue_state_hash(k));
}

static void test_random_histories(void **state)
{
    (void)state;
    struct history h;
    unsigned admissions = 0, evictions = 0, victim_sets = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        start(&h, seed);
        for (int i = 0; i < 1000; i++) {
            step(&h);
            check_victims(&h);
            check_usage(&h);
            check_quota(&h);
        }
        admissions += h.admissions;
        evictions += h.evictions;
        victim_sets += h.victim_sets;
        kueue_destroy(h.k);
    }
    printf("%u admissions, %u evictions, %u sets of victims\n", admissions, evictions, victim_sets);
    /* The histories must reach the interesting states. */
    assert_true(admissions > 10000 && evictions > 500 && victim_sets > 500);
}

/* A cycle that only blocks leaves usage, order and reservations as they were. */
static void test_blocking_cycles_change_nothing(void **state)
{
    (void)state;
    struct history h;
    unsigned seen = 0;
    for (uint64_t seed = 1000; seed < 1100; seed++) {
        start(&h, seed);
        for (int i = 0; i < 400; i++) {
            step(&h);
            if (!kueue_ready(h.k)) continue;
            uint64_t before = kueue_state_hash(h.k);
            const struct kueue_cycle *c = kueue_run_cycle(h.k, h.now_ns);
            note(&h, c);
            if (c->admitted + c->evicted > 0) continue;
            assert_true(before == kueue_state_hash(h.k));
            seen++;
        }
        kueue_destroy(h.k);
    }
    assert_true(seen > 1000);
}

/* Heads of a tree that is not ready: looking at them once more admits and evicts nobody and parks nobody. */
static void test_settled_means_settled(void **state)
{
    (void)state;
    struct history h;
    unsigned heads = 0;
    for (uint64_t seed = 2000; seed < 2200; seed++) {
        start(&h, seed);
        for (int i = 0; i < 300; i++) {
            step(&h);
            for (int n = 0; kueue_ready(h.k) && n < 1000; n++) note(&h, kueue_run_cycle(h.k, h.now_ns));
            assert_false(kueue_ready(h.k));
            for (uint32_t t = 0; t < h.k->trees.n; t++) tree_set_dirty(h.k, t, true);
            const struct kueue_cycle *c = kueue_run_cycle(h.k, h.now_ns);
            assert_int_equal(c->admitted + c->evicted, 0);
            for (size_t o = 0; o < c->n; o++) assert_false(c->outcomes[o].parked);
            heads += c->heads;
        }
        kueue_destroy(h.k);
    }
    assert_true(heads > 1000);
}

/* The number that tells states of a tree apart: equal after the inverse calls in any order, another for another usage, for
 * the same amount elsewhere and for other quotas; trees do not touch each other's. */
static void test_quota_states(void **state)
{
    (void)state;
    struct quota q;
    quota_init(&q, 2);
    uint32_t root = quota_add_node(&q, KUEUE_NONE, false), a = quota_add_node(&q, root, true);
    uint32_t b = quota_add_node(&q, root, true), alone = quota_add_node(&q, KUEUE_NONE, true);
    const struct kueue_quota four = {.nominal = 4, .borrowing_limit = KUEUE_UNLIMITED, .lending_limit = KUEUE_UNLIMITED};
    for (uint16_t fr = 0; fr < 2; fr++) {
        quota_set(&q, a, fr, four);
        quota_set(&q, b, fr, four);
    }
    quota_rebuild(&q);
    uint64_t empty = quota_state(&q, a), other = quota_state(&q, alone), seen[3];
    quota_add(&q, a, 0, 6);
    seen[0] = quota_state(&q, b);
    quota_add(&q, b, 1, 3);
    quota_remove(&q, a, 0, 6);
    quota_remove(&q, b, 1, 3);
    assert_true(quota_state(&q, root) == empty && quota_state(&q, alone) == other);
    quota_add(&q, b, 0, 6);
    seen[1] = quota_state(&q, a);
    quota_remove(&q, b, 0, 6);
    quota_add(&q, a, 1, 6);
    seen[2] = quota_state(&q, a);
    quota_remove(&q, a, 1, 6);
    for (int i = 0; i < 3; i++) assert_true(seen[i] != empty && seen[i] != seen[(i + 1) % 3]);
    quota_rebuild(&q);
    assert_true(quota_state(&q, a) != empty);
    quota_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_histories),
        cmocka_unit_test(test_blocking_cycles_change_nothing),
        cmocka_unit_test(test_settled_means_settled),
        cmocka_unit_test(test_quota_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
