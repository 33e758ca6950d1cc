/* test_network.c - the fabric: capacities by oversubscription, paths, transfers to the nanosecond, paces, failed links.
 *
 * Expected values are arithmetic on the scenario's figures, written beside; the transfers of one link are a row of the
 * table of closed forms (maxmin_dynamic_FCT: sizes 1 and 3 over capacity 10 end at 0.2 and 0.4 s).
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

#include "base/units.h"
#include "sim/cluster/network.h"
#include "sim/cluster/sim.h"
#include "sim/engine/stream.h"
#include "sim/simulate.h"

typedef __int128 wide;

enum { NODES = 40 };

struct rig { struct scenario *scenario; struct sim *sim; };

/* 40 nodes of 64 GB/s in racks of 8 and blocks of 16; a rack's uplink is half of what is below, a block's a quarter. */
static const char text[] =
    "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"n\", \"count\": 40, \"gpus\": 8 }],\n"
    "  \"topology\": { \"nodes_per_rack\": 8, \"racks_per_block\": 2 },\n"
    "  \"network\": { \"inter\": \"64GB/s\", \"oversubscription\": { \"rack\": 2, \"block\": 4 } },\n"
    "  \"storage\": [{ \"name\": \"s\", \"write\": \"640GB/s\", \"read\": \"320GB/s\" }] },\n"
    "  \"workload\": { \"jobs\": [] }, \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\" } } }";

static struct rig rig_create(void)
{
    struct diag d = {0};
    struct rig r = {scenario_parse("net.json", text, strlen(text), NULL, &d), NULL};
    char *error = NULL;
    if (!r.scenario) diag_print(&d, stderr);
    diag_free(&d);
    assert_non_null(r.scenario);
    r.sim = sim_create(r.scenario, &(struct sim_options){0}, &error);
    assert_non_null(r.sim);
    return r;
}

static void rig_free(struct rig *r)
{
    struct sim_result result = {0};
    assert_true(sim_close(r->sim, &result));
    sim_result_free(&result);
    scenario_free(r->scenario);
}

static void run_all(struct sim *s)
{
    while (event_step(s->events, s)) {}
}

static int64_t capacity(struct sim *s, enum net_level level, uint32_t index)
{
    int64_t up = flows_capacity(network_flows(s), network_link(s, level, index, NET_UP));
    if (level != NET_STORE) assert_int_equal(up, flows_capacity(network_flows(s), network_link(s, level, index, NET_DOWN)));
    return up;
}

static void uplinks_carry_what_oversubscription_leaves(void **state)
{
    struct rig r = rig_create();
    (void)state;
    assert_int_equal(capacity(r.sim, NET_NODE, 39), 64000000000);
    assert_int_equal(capacity(r.sim, NET_RACK, 4), 8 * 64000000000 / 2);
    assert_int_equal(capacity(r.sim, NET_BLOCK, 0), 16 * 64000000000 / 2 / 4);
    assert_int_equal(capacity(r.sim, NET_BLOCK, 2), 8 * 64000000000 / 2 / 4); /* the last block has one rack */
    assert_int_equal(capacity(r.sim, NET_STORE, 0), 640000000000);
    rig_free(&r);
}

/* ---- paths ---- */

static void rings_cross_what_lies_between_neighbours(void **state)
{
    static const struct { uint32_t nodes[6], n, node, rack, block; } rows[] = {
        {{3, 3, 3}, 3, 0, 0, 0},          /* one node */
        {{0, 1, 2, 3}, 4, 4, 0, 0},       /* one rack */
        {{0, 0, 1, 1, 8, 8}, 6, 3, 2, 0}, /* two racks of one block: out and back */
        {{0, 8, 1, 9}, 4, 4, 4, 0},       /* the same two racks in turn: each edge leaves its rack */
        {{0, 16, 1, 17}, 4, 4, 4, 4},     /* two blocks in turn */
        {{0, 1, 16, 17}, 4, 4, 2, 2},
        {{0, 8, 0, 16, 8}, 5, 3, 3, 2},   /* once each: 0, 8, 16 */
    };
    struct rig r = rig_create();
    struct net_path p = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        net_path_ring(r.sim, &p, rows[i].nodes, rows[i].n);
        assert_int_equal(net_path_crossings(r.sim, &p, NET_NODE), rows[i].node);
        assert_int_equal(net_path_crossings(r.sim, &p, NET_RACK), rows[i].rack);
        assert_int_equal(net_path_crossings(r.sim, &p, NET_BLOCK), rows[i].block);
    }
    net_path_store(r.sim, &p, (uint32_t[]){0, 0, 9, 20}, 4, 0, NET_UP);
    assert_int_equal(net_path_crossings(r.sim, &p, NET_NODE), 3);
    assert_int_equal(net_path_crossings(r.sim, &p, NET_RACK), 3);
    assert_int_equal(net_path_crossings(r.sim, &p, NET_STORE), 3);
    net_path_free(&p);
    rig_free(&r);
}

/* ---- transfers ---- */

struct timed { struct net_transfer transfer; int64_t end_ns; };

static void on_end(struct sim *s, struct net_transfer *t) { ((struct timed *)t)->end_ns = sim_now(s); }

static bool to_store(struct sim *s, struct timed *t, uint32_t node, int64_t bytes, int64_t limit)
{
    struct net_path p = {0};
    net_path_store(s, &p, &node, 1, 0, NET_UP);
    bool is = net_transfer_start(s, &t->transfer, &p, bytes, limit, on_end);
    net_path_free(&p);
    return is;
}

static void two_transfers_of_one_link_end_when_they_should(void **state)
{
    struct rig r = rig_create();
    struct timed small = {0}, large = {0};
    (void)state;
    /* both from one node, of 64 GB/s: 1/10 and 3/10 of what it carries in a second */
    assert_true(to_store(r.sim, &small, 5, 6400000000, FLOW_UNLIMITED));
    assert_true(to_store(r.sim, &large, 5, 19200000000, FLOW_UNLIMITED));
    run_all(r.sim);
    assert_int_equal(small.end_ns, 200 * NS_PER_MS);
    assert_int_equal(large.end_ns, 400 * NS_PER_MS);
    rig_free(&r);
}

static void a_limit_holds_and_a_stop_says_how_much_was_moved(void **state)
{
    struct rig r = rig_create();
    struct timed a = {0}, b = {0};
    (void)state;
    to_store(r.sim, &a, 0, 6400000000, 6400000000); /* at its limit: one second */
    to_store(r.sim, &b, 1, 64000000000, FLOW_UNLIMITED); /* a second at the node's rate */
    event_run_until(r.sim->events, r.sim, NS_PER_S / 4);
    assert_int_equal(net_transfer_stop(r.sim, &b.transfer), 16000000000);
    assert_false(net_transfer_active(&b.transfer));
    run_all(r.sim);
    assert_int_equal(a.end_ns, NS_PER_S);
    assert_int_equal(b.end_ns, 0);
    rig_free(&r);
}

/* Rates are sampled between events, by the flows; what went through is their integral. */
static void bytes_are_conserved(void **state)
{
    enum { N = 60 };
    struct rig r = rig_create();
    struct timed t[N] = {0};
    int64_t bytes[N], last = 0;
    wide through[N] = {0}, all = 0, integral = 0;
    struct stream draw = stream_make(1, 0, STREAM_TEST, 5);
    uint32_t store = network_link(r.sim, NET_STORE, 0, NET_UP);
    (void)state;
    for (int i = 0; i < N; i++) {
        bytes[i] = 1 + (int64_t)stream_uniform_int(&draw, 100000000000);
        to_store(r.sim, &t[i], (uint32_t)stream_uniform_int(&draw, NODES), bytes[i],
                 stream_uniform_int(&draw, 2) ? FLOW_UNLIMITED : 1 + (int64_t)stream_uniform_int(&draw, 30000000000));
        all += (wide)bytes[i] * NS_PER_S;
    }
    for (int64_t next; (next = event_next_time(r.sim->events)) != EVENT_NEVER; last = next) {
        integral += (wide)flows_load(network_flows(r.sim), store) * (next - last);
        for (int i = 0; i < N; i++)
            if (t[i].transfer.flow.on) through[i] += (wide)flows_rate(network_flows(r.sim), t[i].transfer.flow.flow) * (next - last);
        event_step(r.sim->events, r.sim);
    }
    wide over = 0;
    for (int i = 0; i < N; i++) {
        wide more = through[i] - (wide)bytes[i] * NS_PER_S; /* the last nanosecond is not all used */
        assert_true(t[i].end_ns > 0 && more >= 0 && more < t[i].transfer.rate);
        over += more;
    }
    assert_true(integral == all + over);
    rig_free(&r);
}

/* ---- paces ---- */

struct paced { struct net_pace pace; int64_t step_ns; };

static void on_share(struct sim *s, struct net_pace *p)
{
    (void)s;
    ((struct paced *)p)->step_ns = net_pace_stretch(p, NS_PER_S);
}

static void pace(struct sim *s, struct paced *p, uint32_t a, uint32_t b, int64_t bytes_per_s)
{
    struct net_path path = {0};
    net_path_ring(s, &path, (uint32_t[]){a, b}, 2);
    net_pace_start(s, &p->pace, &path, bytes_per_s, on_share);
    net_path_free(&path);
}

static void two_equal_jobs_on_one_link_have_half_each(void **state)
{
    struct rig r = rig_create();
    struct paced a = {0}, b = {0}, c = {0};
    (void)state;
    pace(r.sim, &a, 0, 1, 64000000000);
    run_all(r.sim);
    assert_int_equal(a.step_ns, NS_PER_S); /* alone: full speed */
    pace(r.sim, &b, 1, 2, 64000000000);
    pace(r.sim, &c, 3, 4, 64000000000);
    run_all(r.sim);
    assert_int_equal(a.step_ns, 2 * NS_PER_S);
    assert_int_equal(b.step_ns, 2 * NS_PER_S);
    assert_int_equal(c.step_ns, NS_PER_S); /* elsewhere */
    net_pace_want(r.sim, &b.pace, 16000000000);
    run_all(r.sim);
    assert_int_equal(a.step_ns, (NS_PER_S * 64 + 47) / 48); /* rounded up */
    assert_int_equal(b.step_ns, NS_PER_S);
    net_pace_want(r.sim, &b.pace, 0);
    run_all(r.sim);
    assert_int_equal(a.step_ns, NS_PER_S);
    net_pace_stop(r.sim, &b.pace);
    net_pace_stop(r.sim, &b.pace); /* once more is nothing */
    run_all(r.sim);
    rig_free(&r);
}

/* Five pairs across two blocks want 5 x 64 GB/s of an uplink of 128: 25.6 each, 2.5 times as long. */
static void an_uplink_slows_those_that_cross_it(void **state)
{
    struct rig r = rig_create();
    struct paced across[5] = {0}, within = {0};
    (void)state;
    for (uint32_t i = 0; i < 5; i++) pace(r.sim, &across[i], i, 16 + i, 64000000000);
    pace(r.sim, &within, 5, 6, 64000000000);
    run_all(r.sim);
    for (int i = 0; i < 5; i++) assert_int_equal(across[i].step_ns, NS_PER_S * 5 / 2);
    assert_int_equal(within.step_ns, NS_PER_S);
    rig_free(&r);
}

/* ---- failed links ---- */

static void a_failed_link_stops_what_crosses_it(void **state)
{
    struct rig r = rig_create();
    struct timed t = {0};
    struct paced p = {0};
    (void)state;
    to_store(r.sim, &t, 0, 64000000000, FLOW_UNLIMITED);
    pace(r.sim, &p, 8, 9, 64000000000);
    event_run_until(r.sim->events, r.sim, NS_PER_S / 2);
    network_link_scale(r.sim, NET_NODE, 0, NET_UP, 0);
    network_link_scale(r.sim, NET_NODE, 9, NET_DOWN, 0);
    event_run_until(r.sim->events, r.sim, NS_PER_S * 10);
    assert_true(net_transfer_active(&t.transfer));
    assert_true(p.step_ns == INT64_MAX);
    network_link_scale(r.sim, NET_NODE, 0, NET_UP, 500000); /* back at half: the other half takes a second */
    network_link_scale(r.sim, NET_NODE, 9, NET_DOWN, 1000000);
    run_all(r.sim);
    assert_int_equal(t.end_ns, NS_PER_S * 11);
    assert_int_equal(p.step_ns, NS_PER_S);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uplinks_carry_what_oversubscription_leaves),
        cmocka_unit_test(rings_cross_what_lies_between_neighbours),
        cmocka_unit_test(two_transfers_of_one_link_end_when_they_should),
        cmocka_unit_test(a_limit_holds_and_a_stop_says_how_much_was_moved),
        cmocka_unit_test(bytes_are_conserved),
        cmocka_unit_test(two_equal_jobs_on_one_link_have_half_each),
        cmocka_unit_test(an_uplink_slows_those_that_cross_it),
        cmocka_unit_test(a_failed_link_stops_what_crosses_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
