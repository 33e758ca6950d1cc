/* test_placement_groups.c - cases 25 and A9: placement groups after the loss of Ray nodes, at first creation, and with a
 * bundle that no node can hold. Each case is a row: nodes by label, groups by the labels of their bundles (1 CPU each
 * unless said otherwise), and a script of what happens when; then how many bundles each group holds and in which state.
 *
 * Sources: ray#65147, ray#47792 (acceptance cases), orchestration facts §0.2 and §4.5.
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

#include "sim/actor/placement_group.h"

enum { MAX_GROUPS = 4, MAX_NODES = 16, MAX_EVENTS = 8 };

struct happening { int at_s; char what; int node; }; /* 'd' dies, 'u' joins; 0: none */
struct outcome { int held; enum pg_state state; };

static const struct row {
    const char *name;
    const char *nodes;                  /* one letter a node: its label; a capital one joins only when the script says so */
    int cpus;                           /* of a node */
    const char *groups[MAX_GROUPS];     /* one letter a bundle: the label it asks for */
    int bundle_cpus;
    enum pg_strategy strategy;
    bool whole;
    struct happening script[MAX_EVENTS];
    int until_s;
    struct outcome outcome[MAX_GROUPS];
    bool infeasible;                    /* the first group */
} rows[] = {
    {.name = "25: each group keeps what the other lacks, for ever",
     .nodes = "abab", .cpus = 1, .groups = {"ab", "ab"}, .bundle_cpus = 1,
     .script = {{10, 'd', 0}, {10, 'd', 3}}, .until_s = 7200,
     .outcome = {{1, PG_RESCHEDULING}, {1, PG_RESCHEDULING}}},
    {.name = "25: a node with the first label joins at 60 s: one group is complete, the other waits",
     .nodes = "ababA", .cpus = 1, .groups = {"ab", "ab"}, .bundle_cpus = 1,
     .script = {{10, 'd', 0}, {10, 'd', 3}, {60, 'u', 4}}, .until_s = 7200,
     .outcome = {{2, PG_CREATED}, {1, PG_RESCHEDULING}}},
    {.name = "25: the wish, whole groups are given back: one is created, the other pending",
     .nodes = "abab", .cpus = 1, .groups = {"ab", "ab"}, .bundle_cpus = 1, .whole = true,
     .script = {{10, 'd', 0}, {10, 'd', 3}}, .until_s = 7200,
     .outcome = {{2, PG_CREATED}, {0, PG_PENDING}}},
    {.name = "25: first creation of two groups on two slots: one is created, the other holds nothing",
     .nodes = "aa", .cpus = 1, .groups = {"aa", "aa"}, .bundle_cpus = 1, .until_s = 7200,
     .outcome = {{2, PG_CREATED}, {0, PG_PENDING}}},
    {.name = "A9: a bundle of 2 CPUs on nodes of 1: pending for ever, and infeasible",
     .nodes = "aa", .cpus = 1, .groups = {"a"}, .bundle_cpus = 2, .until_s = 7200,
     .outcome = {{0, PG_PENDING}}, .infeasible = true},
    {.name = "A9, control: 1 CPU fits",
     .nodes = "aa", .cpus = 1, .groups = {"a"}, .bundle_cpus = 1, .until_s = 7200, .outcome = {{1, PG_CREATED}}},
    {.name = "STRICT_PACK takes one node or nothing",
     .nodes = "aa", .cpus = 2, .groups = {"aa", "aaa"}, .bundle_cpus = 1, .strategy = PG_STRICT_PACK, .until_s = 60,
     .outcome = {{2, PG_CREATED}, {0, PG_PENDING}}},
    {.name = "STRICT_SPREAD takes different nodes or nothing",
     .nodes = "aa", .cpus = 4, .groups = {"aa", "aaa"}, .bundle_cpus = 1, .strategy = PG_STRICT_SPREAD, .until_s = 60,
     .outcome = {{2, PG_CREATED}, {0, PG_PENDING}}},
    {.name = "SPREAD takes different nodes while it can",
     .nodes = "aa", .cpus = 4, .groups = {"aaa"}, .bundle_cpus = 1, .strategy = PG_SPREAD, .until_s = 60,
     .outcome = {{3, PG_CREATED}}},
};

struct world {
    struct scenario scenario;
    struct sim sim;
    struct node_group labels[2];
    struct cluster_spec nodes;
    struct pool *pool;
    struct pg_manager *pgs;
    const struct row *row;
};

struct planned { struct world *world; struct happening what; };

static void on_planned(void *ctx, void *arg)
{
    struct planned *p = arg;
    (void)ctx;
    if (p->what.what == 'd') {
        pool_node_down(p->world->pool, (uint32_t)p->what.node);
        pg_node_dead(p->world->pgs, (uint32_t)p->what.node);
    } else {
        pool_node_up(p->world->pool, (uint32_t)p->what.node);
        pg_capacity(p->world->pgs);
    }
}

/* Ray nodes are numbered label by label; this is the number of the i-th letter. */
static uint32_t node_of(const struct row *r, int letter)
{
    uint32_t before = 0;
    char label = r->nodes[letter] | 0x20;
    for (int i = 0; r->nodes[i]; i++) {
        char other = r->nodes[i] | 0x20;
        before += other < label || (other == label && i < letter);
    }
    return before;
}

static void build(struct world *w, const struct row *r)
{
    *w = (struct world){.row = r};
    stack_defaults(&w->scenario.approach.stack);
    w->sim = (struct sim){.scenario = &w->scenario, .events = event_queue_create()};
    for (int i = 0; r->nodes[i]; i++) w->labels[(r->nodes[i] | 0x20) - 'a'].count++;
    for (int l = 0; l < 2; l++) {
        w->labels[l].name = l ? "L2" : "L1";
        w->labels[l].first_node = l ? w->labels[0].count : 0;
        w->labels[l].cpu_milli = r->cpus * 1000;
        w->labels[l].mem_bytes = INT64_MAX;
        w->nodes.n_nodes += w->labels[l].count;
    }
    w->nodes.groups = w->labels;
    w->nodes.n_groups = w->labels[1].count ? 2 : 1;
    w->pool = pool_create(&w->nodes);
    w->pgs = pg_manager_make(&w->sim, w->pool);
    for (int i = 0; r->nodes[i]; i++)
        if (r->nodes[i] < 'a') pool_node_down(w->pool, node_of(r, i));
}

static void play(struct world *w, struct placement_group **groups)
{
    struct planned planned[MAX_EVENTS];
    const struct row *r = w->row;
    for (int g = 0; g < MAX_GROUPS && r->groups[g]; g++) {
        struct pg_bundle bundles[8] = {0};
        uint32_t n = (uint32_t)strlen(r->groups[g]);
        for (uint32_t i = 0; i < n; i++) {
            bundles[i].cpu_milli = r->bundle_cpus * 1000;
            bundles[i].groups = UINT64_C(1) << (r->groups[g][i] - 'a');
        }
        groups[g] = pg_create(w->pgs, &(struct pg_request){.bundles = bundles, .n = n, .strategy = r->strategy, .whole = r->whole});
    }
    for (int i = 0; i < MAX_EVENTS && r->script[i].what; i++) {
        planned[i] = (struct planned){w, r->script[i]};
        planned[i].what.node = (int)node_of(r, r->script[i].node);
        event_at(w->sim.events, r->script[i].at_s * EVENT_SECOND, EVENT_FAULT, on_planned, &planned[i]);
    }
    event_run_until(w->sim.events, &w->sim, r->until_s * EVENT_SECOND);
}

static bool as_expected(const struct row *r)
{
    struct world w;
    struct placement_group *groups[MAX_GROUPS] = {0};
    bool ok = true;
    build(&w, r);
    play(&w, groups);
    for (int g = 0; g < MAX_GROUPS && groups[g]; g++)
        if ((int)groups[g]->held != r->outcome[g].held || groups[g]->state != r->outcome[g].state) {
            printf("  group %d holds %u bundles in state %d\n", g, groups[g]->held, groups[g]->state);
            ok = false;
        }
    if (pg_infeasible(w.pgs, groups[0]) != r->infeasible) ok = false;
    printf("  %s %s\n", ok ? "right" : "WRONG", r->name);
    pg_manager_destroy(w.pgs);
    pool_destroy(w.pool);
    event_queue_destroy(w.sim.events);
    return ok;
}

static void groups_come_out_right(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) wrong += !as_expected(&rows[i]);
    assert_int_equal(wrong, 0);
}

static void on_created(void *ctx, struct placement_group *pg, enum pg_state s)
{
    int *n = ctx;
    (void)pg;
    if (s == PG_CREATED) ++*n;
}

/* Ray's many_pgs creates 17.6 to 18.9 groups a second (orchestration facts §4.7): one each 55 ms. */
static void eighteen_a_second(void **state)
{
    static const struct row room = {.nodes = "aaaaaaaa", .cpus = 1000};
    struct world w;
    int made = 0;
    (void)state;
    build(&w, &room);
    for (int i = 0; i < 1000; i++) {
        struct pg_bundle b = {.cpu_milli = 1000, .groups = 1};
        pg_create(w.pgs, &(struct pg_request){.bundles = &b, .n = 1, .changed = on_created, .ctx = &made});
    }
    event_run_until(w.sim.events, &w.sim, 55 * EVENT_SECOND - 1);
    assert_int_equal(made, 999);
    event_run_until(w.sim.events, &w.sim, 55 * EVENT_SECOND);
    assert_int_equal(made, 1000);
    pg_manager_destroy(w.pgs);
    pool_destroy(w.pool);
    event_queue_destroy(w.sim.events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_come_out_right), cmocka_unit_test(eighteen_a_second)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
