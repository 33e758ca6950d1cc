/* test_pool.c - pools against a naive model: every placement rule over random requests, nodes that come and go.
 *
 * The model keeps an array of devices and scans all nodes; expected nodes follow from the rules in pool.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sim/cluster/bitmap.h"
#include "sim/cluster/pool.h"
#include "sim/engine/stream.h"

enum { NODES = 24, GPUS = 8 };

struct model { uint8_t free[NODES]; bool up[NODES]; };

static struct node_group group(const char *name, uint32_t first, uint32_t count, uint32_t gpus)
{
    return (struct node_group){.name = name, .first_node = first, .count = count, .gpus = gpus,
                               .cpu_milli = INT64_MAX, .mem_bytes = INT64_MAX};
}

/* ---- bitmap ---- */

static void next_member_is_the_smallest_not_below(void **state)
{
    struct stream s = stream_make(1, 0, STREAM_TEST, 1);
    (void)state;
    for (uint32_t n = 1; n < 70000; n = n * 3 + 1) {
        struct bitmap b;
        uint8_t *is = calloc(n, 1);
        bitmap_init(&b, n);
        for (int k = 0; k < 400; k++) {
            uint32_t i = (uint32_t)stream_uniform_int(&s, n);
            if ((is[i] = (uint8_t)stream_uniform_int(&s, 2))) bitmap_set(&b, i);
            else bitmap_clear(&b, i);
            uint32_t from = (uint32_t)stream_uniform_int(&s, n), want = from;
            while (want < n && !is[want]) want++;
            assert_int_equal(bitmap_next(&b, from), want < n ? want : BITMAP_NONE);
            assert_int_equal(bitmap_has(&b, i), is[i]);
        }
        bitmap_free(&b);
        free(is);
    }
}

/* ---- the model's own choice ---- */

static uint32_t slots(const struct model *m, uint32_t node, uint32_t k) { return m->up[node] ? m->free[node] / k : 0; }

/* The node that takes the next replica, by the rule; NODES when none does. */
static uint32_t naive_next(const struct model *m, enum placement_name p, uint32_t k)
{
    uint32_t best = NODES;
    for (uint32_t i = 0; i < NODES; i++) {
        if (!slots(m, i, k)) continue;
        if (best == NODES) best = i;
        else if (p == PLACE_PACK && m->free[i] < m->free[best]) best = i;
    }
    return best;
}

/* First and pack fill the chosen node before they go on. Gives the replicas a node gets. */
static bool naive_place(struct model *m, enum placement_name p, uint32_t replicas, uint32_t k, uint32_t got[NODES])
{
    struct model tried = *m;
    memset(got, 0, NODES * sizeof *got);
    while (replicas) {
        uint32_t node = naive_next(&tried, p, k);
        if (node == NODES) return false;
        for (; replicas && slots(&tried, node, k); replicas--) {
            tried.free[node] = (uint8_t)(tried.free[node] - k);
            got[node]++;
        }
        tried.up[node] = tried.up[node] && slots(&tried, node, k) > 0; /* visited */
    }
    for (uint32_t i = 0; i < NODES; i++) m->free[i] = (uint8_t)(m->free[i] - got[i] * k);
    return true;
}

static void replicas_by_node(const struct alloc *a, uint32_t got[NODES])
{
    memset(got, 0, NODES * sizeof *got);
    for (uint32_t i = 0; i < a->n_parts; i++)
        for (uint32_t n = 0; n < a->parts[i].n_nodes; n++) got[a->parts[i].first_node + n] += a->parts[i].replicas;
}

struct held { struct alloc a; uint32_t k, got[NODES]; };

static void release_one(struct pool *p, struct model *m, struct held *h, size_t i, size_t *n)
{
    for (uint32_t x = 0; x < NODES; x++) m->free[x] = (uint8_t)(m->free[x] + h[i].got[x] * h[i].k);
    pool_release(p, &h[i].a);
    h[i] = h[--*n];
}

static void toggle(struct pool *p, struct model *m, uint32_t node)
{
    int64_t shares = m->up[node] ? pool_node_down(p, node) : pool_node_up(p, node);
    assert_int_equal(shares, m->free[node] * 1000);
    m->up[node] = !m->up[node];
}

static void check_counts(const struct pool *p, const struct model *m)
{
    int64_t shares = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        shares += m->up[i] ? m->free[i] * 1000 : 0;
        assert_int_equal(pool_node_free_gpus(p, i), m->up[i] ? m->free[i] : 0);
    }
    assert_int_equal(pool_free_shares(p), shares);
}

static void play(enum placement_name placement, uint64_t seed)
{
    struct node_group g = group("g", 0, NODES, GPUS);
    struct cluster_spec spec = {.groups = &g, .n_groups = 1, .n_nodes = NODES};
    struct pool *p = pool_create(&spec);
    struct stream s = stream_make(seed, 0, STREAM_TEST, 2);
    struct model m;
    struct held held[200];
    size_t n = 0;
    memset(m.free, GPUS, sizeof m.free);
    for (uint32_t i = 0; i < NODES; i++) m.up[i] = true;
    for (int step = 0; step < 400; step++) {
        uint64_t what = stream_uniform_int(&s, 10);
        if (what == 0) toggle(p, &m, (uint32_t)stream_uniform_int(&s, NODES));
        else if (what < 4 && n) release_one(p, &m, held, stream_uniform_int(&s, n), &n);
        else if (n < 200) {
            struct held *h = &held[n];
            struct place_request r = {.replicas = 1 + (uint32_t)stream_uniform_int(&s, 5), .groups = 1, .placement = placement};
            *h = (struct held){.k = 1 + (uint32_t)stream_uniform_int(&s, GPUS)};
            r.shares = h->k * 1000;
            uint32_t want[NODES];
            bool fits = naive_place(&m, placement, r.replicas, h->k, want);
            enum place_result tried = pool_try(p, &r);
            enum place_result result = pool_place(p, &r, &h->a);
            assert_int_equal(tried, result);
            assert_int_equal(result == PLACED, fits);
            if (fits) {
                replicas_by_node(&h->a, h->got);
                assert_memory_equal(h->got, want, sizeof want);
                assert_int_equal(h->a.shares, (int64_t)r.replicas * r.shares);
                n++;
            }
        }
        check_counts(p, &m);
    }
    while (n) release_one(p, &m, held, 0, &n);
    check_counts(p, &m);
    pool_destroy(p);
}

static void first_and_pack_choose_as_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        play(PLACE_FIRST, seed);
        play(PLACE_PACK, seed);
    }
}

/* Spreading: a replica goes to the emptiest node, so four nodes get 3, 3, 3, 3 of twelve (as nodeorder was recorded). */
static void spread_evens_out(void **state)
{
    struct node_group g = group("g", 0, 4, 8);
    struct cluster_spec spec = {.groups = &g, .n_groups = 1, .n_nodes = 4};
    struct pool *p = pool_create(&spec);
    struct place_request r = {.replicas = 12, .shares = 1000, .groups = 1, .placement = PLACE_SPREAD};
    struct alloc a = {0};
    (void)state;
    assert_int_equal(pool_place(p, &r, &a), PLACED);
    assert_int_equal(a.n_parts, 1);
    assert_int_equal(a.parts[0].n_nodes, 4);
    assert_int_equal(a.parts[0].replicas, 3);
    assert_int_equal(a.parts[0].gpus, 7);
    pool_release(p, &a);
    pool_destroy(p);
}

/* Halves of a GPU share a device before they open another one; a whole GPU then finds the others. */
static void fractions_share_devices(void **state)
{
    struct node_group g = group("g", 0, 1, 2);
    struct cluster_spec spec = {.groups = &g, .n_groups = 1, .n_nodes = 1};
    struct pool *p = pool_create(&spec);
    struct place_request half = {.replicas = 1, .shares = 500, .groups = 1, .placement = PLACE_PACK};
    struct place_request whole = {.replicas = 1, .shares = 1000, .groups = 1, .placement = PLACE_PACK};
    struct alloc a = {0}, b = {0}, c = {0}, d = {0};
    (void)state;
    assert_int_equal(pool_place(p, &half, &a), PLACED);
    assert_int_equal(pool_place(p, &half, &b), PLACED);
    assert_int_equal(a.parts[0].gpus, b.parts[0].gpus);
    assert_int_equal(pool_place(p, &whole, &c), PLACED);
    assert_int_equal(pool_place(p, &half, &d), PLACE_LACKS);
    pool_release(p, &a);
    assert_int_equal(pool_place(p, &whole, &d), PLACE_LACKS);
    assert_int_equal(pool_place(p, &half, &a), PLACED);
    pool_release(p, &a);
    pool_release(p, &b);
    assert_int_equal(pool_place(p, &whole, &d), PLACED);
    pool_release(p, &c);
    pool_release(p, &d);
    assert_int_equal(pool_free_shares(p), 2000);
    pool_destroy(p);
}

/* A device is filled to its whole and no thousandth beyond. */
static void no_device_is_overbooked(void **state)
{
    struct node_group g = group("g", 0, 1, 2);
    struct cluster_spec spec = {.groups = &g, .n_groups = 1, .n_nodes = 1};
    struct pool *p = pool_create(&spec);
    struct place_request r = {.replicas = 1, .shares = 600, .groups = 1, .placement = PLACE_PACK};
    struct alloc first = {0}, beyond = {0}, filling = {0};
    (void)state;
    assert_int_equal(pool_place(p, &r, &first), PLACED);
    r.shares = 401;
    assert_int_equal(pool_place(p, &r, &beyond), PLACED);
    assert_int_not_equal(beyond.parts[0].gpus, first.parts[0].gpus);
    r.shares = 400;
    assert_int_equal(pool_place(p, &r, &filling), PLACED);
    assert_int_equal(filling.parts[0].gpus, first.parts[0].gpus);
    assert_int_equal(pool_free_shares(p), 2000 - 600 - 401 - 400);
    pool_release(p, &first);
    pool_release(p, &beyond);
    pool_release(p, &filling);
    pool_destroy(p);
}

/* 8 nodes in racks of 4: a gang that must stay in one rack, when each rack has only 3 nodes free, does not fit. */
static void required_topology_refuses(void **state)
{
    struct node_group g = group("g", 0, 8, 8);
    struct cluster_spec spec = {.groups = &g, .n_groups = 1, .n_nodes = 8, .topology = {4, 2}};
    struct pool *p = pool_create(&spec);
    struct place_request one = {.replicas = 1, .shares = 8000, .groups = 1, .placement = PLACE_FIRST};
    struct place_request gang = {.replicas = 4, .shares = 8000, .groups = 1, .placement = PLACE_TOPOLOGY,
                                 .topology = TOPO_RACK, .topology_required = true};
    struct alloc a = {0}, b = {0}, c = {0};
    (void)state;
    assert_int_equal(pool_place_on(p, 0, &one, &a), PLACED);
    assert_int_equal(pool_place_on(p, 4, &one, &b), PLACED);
    assert_int_equal(pool_place(p, &gang, &c), PLACE_DOMAIN);
    assert_true(pool_could_ever(p, &gang));
    pool_release(p, &b);
    assert_int_equal(pool_place(p, &gang, &c), PLACED);
    assert_int_equal(c.parts[0].first_node, 4);
    gang.replicas = 5;
    assert_false(pool_could_ever(p, &gang));
    pool_release(p, &a);
    pool_release(p, &c);
    pool_destroy(p);
}


/* 100,000 GPUs are no special case: a refusal and a placement cost the same as on 800 (counted, not timed: no walk). */
static void a_hundred_thousand_gpus(void **state)
{
    struct node_group g = group("g", 0, 12500, 8);
    struct cluster_spec spec = {.groups = &g, .n_groups = 1, .n_nodes = 12500};
    struct pool *p = pool_create(&spec);
    struct place_request all = {.replicas = 12500, .shares = 8000, .groups = 1, .placement = PLACE_PACK};
    struct alloc a = {0}, b = {0};
    (void)state;
    assert_int_equal(pool_place(p, &all, &a), PLACED);
    assert_int_equal(a.n_parts, 1);
    assert_int_equal(a.parts[0].n_nodes, 12500);
    assert_int_equal(pool_place(p, &all, &b), PLACE_LACKS);
    pool_release(p, &a);
    assert_int_equal(pool_free_shares(p), INT64_C(100000000));
    pool_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_member_is_the_smallest_not_below),
        cmocka_unit_test(first_and_pack_choose_as_the_model),
        cmocka_unit_test(spread_evens_out),
        cmocka_unit_test(fractions_share_devices),
        cmocka_unit_test(no_device_is_overbooked),
        cmocka_unit_test(required_topology_refuses),
        cmocka_unit_test(a_hundred_thousand_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
