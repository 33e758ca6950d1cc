/* test_calendar.c - the hardware calendar against the distributions that it is drawn from, and what goes down together.
 *
 * The calendar is run alone: a cluster, an event queue and two hooks that write down the edges. Statistical bounds are
 * four standard errors of the sample sizes given (one false alarm in 16,000).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "base/units.h"
#include "sim/cluster/calendar.h"

struct edge { int64_t t; uint32_t node; bool up, link; };
struct world {
    struct sim sim; /* first: hooks are given it */
    struct scenario *scenario;
    ARRAY(struct edge) edges;
};

static void on_node(struct sim *s, uint32_t node, bool up)
{
    struct world *w = (struct world *)s;
    array_push(&w->edges, ((struct edge){sim_now(s), node, up, false}));
}

static void on_link(struct sim *s, uint32_t node, bool up)
{
    struct world *w = (struct world *)s;
    array_push(&w->edges, ((struct edge){sim_now(s), node, up, true}));
}

static struct world live(const char *cluster, const char *components, const char *until)
{
    static const struct calendar_hooks hooks = {on_node, on_link};
    struct world w = {0};
    struct diag d = {0};
    struct str text = {0};
    str_printf(&text, "{\"trainyard\": 1, \"cluster\": {%s}, \"faults\": {\"components\": [%s]}, \"run\": {\"horizon\": \"%s\"}}", cluster,
               components, until);
    w.scenario = scenario_parse("calendar.json", text.s, text.n, NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(w.scenario);
    w.sim.scenario = w.scenario;
    w.sim.events = event_queue_create();
    w.sim.pool = pool_create(&w.scenario->cluster);
    calendar_create(&w.sim, &hooks);
    event_run_until(w.sim.events, &w.sim, w.scenario->run.horizon_ns);
    diag_free(&d);
    str_free(&text);
    return w;
}

static void end(struct world *w)
{
    calendar_destroy(w->sim.calendar);
    event_queue_destroy(w->sim.events);
    pool_destroy(w->sim.pool);
    scenario_free(w->scenario);
    array_free(&w->edges);
}

static size_t failures_of(const struct world *w, uint32_t first, uint32_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < w->edges.n; i++) {
        const struct edge *e = &w->edges.v[i];
        count += !e->up && !e->link && e->node >= first && e->node < first + n;
    }
    return count;
}

static void assert_near(double got, double want, double error)
{
    if (fabs(got - want) > 4 * error) fail_msg("%g is not within 4 x %g of %g", got, error, want);
}

#define NODES(n) "\"nodes\": [{\"group\": \"a\", \"count\": " #n ", \"gpus\": 8}]"

/* 500 nodes with a GPU each 1,000 h / 8 and repairs of 0 s fail as a Poisson process of 500 x 8 a 1,000 h. */
static void exponential_failures_are_poisson(void **state)
{
    (void)state;
    struct world w = live(NODES(500), "{\"name\": \"g\", \"scope\": \"gpu\", \"mtbf\": \"1000h\", \"repair\": 0}", "1000h");
    assert_near((double)failures_of(&w, 0, 500), 4000, sqrt(4000));
    end(&w);
    w = live(NODES(500), "{\"name\": \"g\", \"scope\": \"gpu\", \"per_node\": 2, \"mtbf\": \"1000h\", \"repair\": 0}", "1000h");
    assert_near((double)failures_of(&w, 0, 500), 1000, sqrt(1000));
    end(&w);
}

/* Weibull of shape 0.7 and mean 100 d: scale 79.00 d. Failed by day 30: 1 - exp(-(30/scale)^0.7) of new nodes, and
 * 1 - exp((1000/scale)^0.7 - (1030/scale)^0.7) of those that have lasted 1,000 d. */
static void old_nodes_fail_less_where_the_hazard_falls(void **state)
{
    (void)state;
    const double scale = 100 / tgamma(1 + 1 / 0.7), n = 20000;
    const char part[] = "{\"name\": \"n\", \"scope\": \"node\", \"mtbf\": \"100d\", \"shape\": 0.7, \"repair\": \"1000d\"}";
    struct world fresh = live(NODES(20000), part, "30d");
    double p = 1 - exp(-pow(30 / scale, 0.7));
    assert_near((double)failures_of(&fresh, 0, 20000) / n, p, sqrt(p * (1 - p) / n));
    end(&fresh);
    struct world old = live("\"nodes\": [{\"group\": \"a\", \"count\": 20000, \"gpus\": 8, \"age\": \"1000d\"}]", part, "30d");
    p = 1 - exp(pow(1000 / scale, 0.7) - pow(1030 / scale, 0.7));
    assert_near((double)failures_of(&old, 0, 20000) / n, p, sqrt(p * (1 - p) / n));
    end(&old);
}

/* LANL: repairs of mean 355 and median 54 min, so sigma = sqrt(2 ln(355/54)) = 1.9407. */
static void repairs_are_lognormal(void **state)
{
    (void)state;
    struct world w = live(NODES(20000), "{\"name\": \"n\", \"scope\": \"node\", \"mtbf\": \"100d\", \"repair\": \"355m\", \"repair_sigma\": 1.9407}", "60d");
    double *down = calloc(20000, sizeof *down), *minutes = calloc(w.edges.n, sizeof *minutes);
    size_t n = 0, below = 0;
    for (size_t i = 0; i < w.edges.n; i++) {
        const struct edge *e = &w.edges.v[i];
        if (!e->up) down[e->node] = (double)e->t;
        /* only lives that ended by day 30: what is repaired later than the end is not seen */
        else if (down[e->node] < 30 * 86400e9) minutes[n++] = ((double)e->t - down[e->node]) / 60e9;
    }
    for (size_t i = 0; i < n; i++) below += minutes[i] < 54;
    assert_true(n > 4000);
    assert_near((double)below / (double)n, 0.5, 0.5 / sqrt((double)n));
    gsl_sort(minutes, 1, n);
    double log_sum = 0;
    for (size_t i = 0; i < n; i++) log_sum += log(minutes[i] / 54);
    assert_near(log_sum / (double)n, 0, 1.9407 / sqrt((double)n));
    free(down);
    free(minutes);
    end(&w);
}

/* A tenth of the nodes fails 20 times as often; with 20 % all of them are among the lemons, with more nodes they stay so,
 * and they are the same ones for another component. */
static void lemons_are_the_same_nodes(void **state)
{
    (void)state;
#define LEMONS(share) "{\"name\": \"n\", \"scope\": \"node\", \"mtbf\": \"1000h\", \"repair\": 0, \"lemons\": {\"share\": " share ", \"times\": 20}}"
    struct world few = live(NODES(300), LEMONS("0.1"), "4000h"), many = live(NODES(300), LEMONS("0.2"), "4000h"),
                 more = live(NODES(600), LEMONS("0.1"), "4000h"), other = live(NODES(300), "{\"name\": \"x\", \"scope\": \"node\", \"mtbf\": \"1700000h\", \"repair\": 0}," LEMONS("0.1"), "4000h");
    size_t lemons = 0, in_many = 0, in_more = 0, in_other = 0;
    for (uint32_t i = 0; i < 300; i++) {
        bool lemon = failures_of(&few, i, 1) > 40; /* 80 expected of a lemon, 4 of another */
        lemons += lemon;
        in_many += lemon && failures_of(&many, i, 1) > 40;
        in_more += lemon && failures_of(&more, i, 1) == failures_of(&few, i, 1);
        in_other += lemon && failures_of(&other, i, 1) > 40;
    }
    assert_near((double)lemons / 300, 0.1, sqrt(0.1 * 0.9 / 300));
    assert_int_equal(in_many, lemons);
    assert_int_equal(in_more, lemons);
    assert_int_equal(in_other, lemons);
    end(&few); end(&many); end(&more); end(&other);
}

/* SuperBench (ATC 2024): a node's mean time between incidents falls from 719.4 h at the first to 151.7 h at the 20th:
 * 0.92135 a repair. 2,000 nodes; lives long enough that all reach the 22nd. */
static void repairs_wear(void **state)
{
    (void)state;
    enum { N = 2000, LAST = 22 };
    struct world w = live(NODES(2000), "{\"name\": \"n\", \"scope\": \"node\", \"mtbf\": \"719.4h\", \"repair\": 0, \"after_repair\": 0.92135, \"least_mtbf\": \"151.7h\"}", "40000h");
    double since[N] = {0}, sum[LAST] = {0};
    unsigned k[N] = {0};
    for (size_t i = 0; i < w.edges.n; i++) {
        const struct edge *e = &w.edges.v[i];
        if (e->up || k[e->node] == LAST) continue;
        sum[k[e->node]++] += ((double)e->t - since[e->node]) / 3600e9 / N;
        since[e->node] = (double)e->t;
    }
    for (size_t i = 0; i < N; i++) assert_int_equal(k[i], LAST);
    assert_near(sum[0], 719.4, 719.4 / sqrt(N));
    assert_near(sum[19], 151.7, 151.7 / sqrt(N));
    assert_near(sum[21], 151.7, 151.7 / sqrt(N)); /* not below */
    end(&w);
}

static void assert_down_together(const char *component, uint32_t first, uint32_t n)
{
    struct world w = live("\"nodes\": [{\"group\": \"a\", \"count\": 10, \"gpus\": 8}, {\"group\": \"b\", \"count\": 6, \"gpus\": 8}],"
                          "\"topology\": {\"nodes_per_rack\": 4}", component, "2000d");
    bool down[16] = {0};
    assert_true(w.edges.n > 0);
    int64_t t = w.edges.v[0].t; /* the first event */
    for (size_t i = 0; i < w.edges.n && w.edges.v[i].t == t; i++) down[w.edges.v[i].node] = true;
    uint32_t lowest = w.edges.v[0].node, count = 0;
    for (uint32_t i = 0; i < 16; i++) count += down[i];
    assert_int_equal(count, n);
    for (uint32_t i = 0; i < n; i++) assert_true(down[lowest + i]);
    if (first != UINT32_MAX) assert_int_equal(lowest, first);
    end(&w);
}

static void one_event_takes_many_down(void **state)
{
    (void)state;
    assert_down_together("{\"name\": \"s\", \"scope\": \"storage\", \"mtbf\": \"100d\", \"repair\": 60}", 0, 16);
    assert_down_together("{\"name\": \"s\", \"scope\": \"storage\", \"mtbf\": \"100d\", \"repair\": 60, \"groups\": [\"b\"]}", 10, 6);
    assert_down_together("{\"name\": \"s\", \"scope\": \"switch\", \"mtbf\": \"100d\", \"repair\": 60, \"groups\": [\"b\"], \"nodes\": 5}", UINT32_MAX,
                         5 /* seed 1: the first five fail before the last one */);
    assert_down_together("{\"name\": \"s\", \"scope\": \"node\", \"mtbf\": \"100d\", \"repair\": 60, \"nodes\": 10, \"groups\": [\"a\"]}", 0, 10);
}

/* Racks of 4: 10 nodes are two whole racks and one of two nodes. */
static void racks_end_with_their_group(void **state)
{
    (void)state;
    struct world w = live("\"nodes\": [{\"group\": \"a\", \"count\": 10, \"gpus\": 8}, {\"group\": \"b\", \"count\": 6, \"gpus\": 8}],"
                          "\"topology\": {\"nodes_per_rack\": 4}",
                          "{\"name\": \"p\", \"scope\": \"rack\", \"mtbf\": \"100d\", \"repair\": 60}", "20000d");
    static const uint32_t racks[][2] = {{0, 4}, {4, 4}, {8, 2}, {10, 4}, {14, 2}};
    for (size_t r = 0; r < 5; r++)
        for (uint32_t i = 1; i < racks[r][1]; i++)
            assert_int_equal(failures_of(&w, racks[r][0], 1), failures_of(&w, racks[r][0] + i, 1));
    assert_int_not_equal(failures_of(&w, 0, 1), failures_of(&w, 4, 1));
    end(&w);
}

/* A flap of 5 s is heard of twice and takes no node down; an outage of 100 s does after nccl.ib-timeout (30 s). */
static void short_flaps_take_no_node_down(void **state)
{
    (void)state;
    struct world w = live(NODES(4), "{\"name\": \"l\", \"scope\": \"link\", \"mtbf\": \"10h\", \"repair\": 5}", "1000h");
    size_t links = 0;
    for (size_t i = 0; i < w.edges.n; i++) links += w.edges.v[i].link;
    assert_int_equal(failures_of(&w, 0, 4), 0);
    assert_near((double)links / 2, 400, 20);
    end(&w);
    w = live(NODES(1), "{\"name\": \"l\", \"scope\": \"link\", \"mtbf\": \"10h\", \"repair\": 100}", "1000h");
    for (size_t i = 0; i + 4 <= w.edges.n; i += 4) {
        const struct edge *e = &w.edges.v[i]; /* link down, node down, node up, link up */
        assert_true(e[0].link && !e[1].link && !e[1].up && e[2].up && e[3].link);
        assert_int_equal(e[1].t - e[0].t, seconds(30));
        assert_int_equal(e[2].t - e[0].t, seconds(100));
        assert_int_equal(e[3].t, e[2].t);
    }
    end(&w);
}

/* Life of a node does not depend on how many there are. */
static void more_nodes_leave_the_old_ones_alone(void **state)
{
    (void)state;
    const char part[] = "{\"name\": \"n\", \"scope\": \"node\", \"mtbf\": \"50d\", \"shape\": 0.8, \"repair\": \"10h\", \"repair_sigma\": 1.9, \"after_repair\": 0.95,"
                        " \"least_mtbf\": \"5d\", \"lemons\": {\"share\": 0.1, \"times\": 9}}";
    struct world few = live(NODES(20), part, "300d"), many = live(NODES(50), part, "300d");
    size_t at = 0;
    for (size_t i = 0; i < many.edges.n; i++) {
        const struct edge *e = &many.edges.v[i];
        if (e->node >= 20) continue;
        assert_true(at < few.edges.n);
        assert_int_equal(e->t, few.edges.v[at].t);
        assert_int_equal(e->node, few.edges.v[at].node);
        at++;
    }
    assert_int_equal(at, few.edges.n);
    end(&few);
    end(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_failures_are_poisson),
        cmocka_unit_test(old_nodes_fail_less_where_the_hazard_falls),
        cmocka_unit_test(repairs_are_lognormal),
        cmocka_unit_test(lemons_are_the_same_nodes),
        cmocka_unit_test(repairs_wear),
        cmocka_unit_test(one_event_takes_many_down),
        cmocka_unit_test(racks_end_with_their_group),
        cmocka_unit_test(short_flaps_take_no_node_down),
        cmocka_unit_test(more_nodes_leave_the_old_ones_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
