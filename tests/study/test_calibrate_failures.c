/* test_calibrate_failures.c - failures that the simulator's own calendar made are found again by the calibration.
 *
 * The calendar runs alone and its edges become a log, which is written, read and calibrated. Intervals of 95 % must hold
 * what was put in about 95 times of 100: of RUNS seeds at least as many as a binomial falls short of once in a thousand.
 * Textbook values stand beside the estimators.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/units.h"
#include "sim/cluster/calendar.h"
#include "study/calibrate_failures.h"

/* Of 40 intervals that hold with 0.95 each, 33 or fewer do so with probability 0.0007. */
enum { RUNS = 40, LEAST = 34 };

/* ---- a log from the calendar ---- */

struct edge { int64_t t; uint32_t node; bool up; };
struct world {
    struct sim sim; /* first: hooks are given it */
    ARRAY(struct edge) edges;
};

static void on_node(struct sim *s, uint32_t node, bool up)
{
    struct world *w = (struct world *)s;
    array_push(&w->edges, ((struct edge){sim_now(s), node, up}));
}

static void on_link(struct sim *s, uint32_t node, bool up)
{
    (void)s;
    (void)node;
    (void)up;
}

static void write_log(const struct world *w, const char *component, uint32_t nodes, const char *path)
{
    int64_t end = w->sim.scenario->run.horizon_ns, *down = calloc(nodes, sizeof *down);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "time,node,component,kind,repaired\n0,,observed,begin,\n%.9f,,observed,end,\n0,%u,observed,nodes,\n0,8,observed,gpus,\n",
            (double)end / 1e9, nodes);
    for (uint32_t i = 0; i < nodes; i++) down[i] = -1;
    for (size_t i = 0; i < w->edges.n; i++) {
        const struct edge *e = &w->edges.v[i];
        if (e->up) fprintf(f, "%.9f,n%u,%s,x,%.9f\n", (double)down[e->node] / 1e9, e->node, component, (double)e->t / 1e9);
        down[e->node] = e->up ? -1 : e->t;
    }
    for (uint32_t i = 0; i < nodes; i++)
        if (down[i] >= 0) fprintf(f, "%.9f,n%u,%s,x,\n", (double)down[i] / 1e9, i, component);
    fclose(f);
    free(down);
}

static void live(const char *part, uint32_t nodes, const char *until, unsigned seed, const char *component, const char *path)
{
    static const struct calendar_hooks hooks = {on_node, on_link};
    struct world w = {0};
    struct diag d = {0};
    struct str text = {0};
    str_printf(&text, "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"a\", \"count\": %u, \"gpus\": 8}]}, "
                      "\"faults\": {\"components\": [%s]}, \"run\": {\"horizon\": \"%s\", \"seed\": %u}}", nodes, part, until, seed);
    struct scenario *s = scenario_parse("log.json", text.s, text.n, NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    w.sim.scenario = s;
    w.sim.events = event_queue_create();
    w.sim.pool = pool_create(&s->cluster);
    calendar_create(&w.sim, &hooks);
    event_run_until(w.sim.events, &w.sim, s->run.horizon_ns);
    write_log(&w, component, nodes, path);
    calendar_destroy(w.sim.calendar);
    event_queue_destroy(w.sim.events);
    pool_destroy(w.sim.pool);
    scenario_free(s);
    array_free(&w.edges);
    diag_free(&d);
    str_free(&text);
}

struct found { struct failure_log log; struct failure_calibration c; };

static struct found calibrate(const char *part, uint32_t nodes, const char *until, unsigned seed, const char *component, bool fresh)
{
    struct found *f = calloc(1, sizeof *f), out;
    struct diag d = {0};
    char path[] = "/tmp/trainyard-failures-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    live(part, nodes, until, seed, component, path);
    struct failure_options o = {.begin_ns = -1, .end_ns = -1, .fresh = fresh, .level = 0.95, .burst_ns = seconds(60)};
    bool ok = failure_log_read(path, &f->log, &d);
    diag_print(&d, stderr);
    assert_true(ok);
    out.log = f->log;
    ok = calibrate_failures(&f->log, &o, &out.c, &d);
    diag_print(&d, stderr);
    assert_true(ok);
    assert_int_equal(out.c.components.n, 1);
    diag_free(&d);
    remove(path);
    free(f);
    return out;
}

static void forget(struct found *f)
{
    failure_calibration_free(&f->c);
    failure_log_free(&f->log);
}

static int holds(struct estimate e, double x) { return e.low <= x && x <= e.high; }

/* ---- what was put in ---- */

static void rates_and_repairs_are_found(void **state)
{
    (void)state;
    int mtbf = 0, median = 0, sigma = 0, exponential = 0, lemons = 0;
    for (unsigned seed = 1; seed <= RUNS; seed++) {
        struct found f = calibrate("{\"name\": \"n\", \"scope\": \"node\", \"mtbf\": \"3692h\", \"repair\": \"342m\", \"repair_sigma\": 1.94}", 400,
                                   "90d", seed, "host", false);
        const struct component_fit *c = &f.c.components.v[0];
        mtbf += holds(c->mtbf_s, 3692 * 3600.0);
        median += holds(c->repair_s.median, 342 * 60 / exp(1.94 * 1.94 / 2));
        sigma += holds(c->repair_s.sigma, 1.94);
        exponential += !c->ages;
        lemons += c->lemons.n > 0;
        assert_int_equal(c->scope, FAULT_NODE);
        forget(&f);
    }
    print_message("of %d: mtbf %d, repair median %d, sigma %d, taken as exponential %d, lemons seen %d\n", RUNS, mtbf, median, sigma, exponential, lemons);
    assert_in_range(mtbf, LEAST, RUNS);
    assert_in_range(median, LEAST, RUNS);
    assert_in_range(sigma, LEAST, RUNS);
    assert_in_range(exponential, LEAST, RUNS);
    assert_in_range(lemons, 0, 4); /* 1 % of the logs by its test */
}

static void ageing_is_found(void **state)
{
    (void)state;
    int shape = 0, mtbf = 0, refused = 0, unknown_age = 0;
    for (unsigned seed = 1; seed <= RUNS; seed++) {
        const char part[] = "{\"name\": \"n\", \"scope\": \"node\", \"mtbf\": \"40d\", \"shape\": 0.7, \"repair\": \"5h\"}";
        struct found f = calibrate(part, 300, "180d", seed, "host", true), g = calibrate(part, 300, "180d", seed, "host", false);
        const struct component_fit *c = &f.c.components.v[0];
        shape += holds(c->life.shape, 0.7);
        mtbf += holds(c->mtbf_s, 40 * 86400.0);
        refused += c->ages;
        unknown_age += holds(g.c.components.v[0].life.shape, 0.7);
        forget(&f);
        forget(&g);
    }
    print_message("of %d: shape %d, with unknown ages %d, mtbf %d, ageing seen %d\n", RUNS, shape, unknown_age, mtbf, refused);
    assert_in_range(shape, LEAST, RUNS);
    assert_in_range(mtbf, LEAST, RUNS);
    assert_in_range(unknown_age, LEAST, RUNS);
    assert_int_equal(refused, RUNS);
}

/* 3 % of the nodes fail 15 times as often: about 9 of 300 with 11 failures each where another node has 0.73. */
static void lemons_are_found(void **state)
{
    (void)state;
    int mtbf = 0, times = 0, share = 0;
    for (unsigned seed = 1; seed <= RUNS; seed++) {
        struct found f = calibrate("{\"name\": \"n\", \"scope\": \"node\", \"mtbf\": \"3000h\", \"repair\": \"1h\", \"lemons\": {\"share\": 0.03, \"times\": 15}}",
                                   300, "100d", seed, "host", true);
        const struct component_fit *c = &f.c.components.v[0];
        mtbf += holds(c->mtbf_s, 3000 * 3600.0);
        times += holds(c->lemon_times, 15);
        share += fabs((double)c->lemons.n / 300 - 0.03) < 2 * sqrt(0.03 * 0.97 / 300);
        forget(&f);
    }
    print_message("of %d: mtbf %d, how often lemons fail %d, their share %d\n", RUNS, mtbf, times, share);
    assert_in_range(mtbf, LEAST, RUNS);
    assert_in_range(times, LEAST, RUNS);
    assert_in_range(share, LEAST, RUNS);
}

static void groups_are_found(void **state)
{
    (void)state;
    int mtbf = 0;
    for (unsigned seed = 1; seed <= RUNS; seed++) {
        struct found f = calibrate("{\"name\": \"s\", \"scope\": \"switch\", \"mtbf\": \"100d\", \"repair\": \"2h\", \"nodes\": 16}", 256, "200d", seed,
                                   "switch", true);
        const struct component_fit *c = &f.c.components.v[0];
        mtbf += holds(c->mtbf_s, 100 * 86400.0);
        assert_int_equal(c->scope, FAULT_SWITCH);
        assert_int_equal(c->span, 16);
        assert_true(c->together == 1);
        forget(&f);
    }
    assert_in_range(mtbf, LEAST, RUNS);
}

/* GPUs are counted a GPU, eight a node. */
static void gpus_are_counted(void **state)
{
    (void)state;
    int mtbf = 0;
    for (unsigned seed = 1; seed <= RUNS; seed++) {
        struct found f = calibrate("{\"name\": \"g\", \"scope\": \"gpu\", \"mtbf\": \"20000h\", \"repair\": \"1h\"}", 200, "60d", seed, "gpu", false);
        mtbf += holds(f.c.components.v[0].mtbf_s, 20000 * 3600.0);
        assert_int_equal(f.c.components.v[0].per_node, 8);
        forget(&f);
    }
    assert_in_range(mtbf, LEAST, RUNS);
}

/* ---- the profile ---- */

static void the_profile_is_read_back(void **state)
{
    (void)state;
    struct found f = calibrate("{\"name\": \"n\", \"scope\": \"node\", \"mtbf\": \"40d\", \"shape\": 0.6, \"repair\": \"5h\", \"repair_sigma\": 1.2,"
                               " \"lemons\": {\"share\": 0.05, \"times\": 12}}", 300, "180d", 1, "host", true);
    const struct component_fit *c = &f.c.components.v[0];
    struct str json = {0}, text = {0};
    struct diag d = {0};
    char path[] = "/tmp/trainyard-failures-XXXXXX.json";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    failure_calibration_profile(&f.c, "mine", "log.csv", &json);
    FILE *out = fdopen(fd, "w");
    assert_non_null(out);
    fputs(str_text(&json), out);
    fclose(out);
    str_printf(&text, "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"a\", \"count\": 2, \"gpus\": 8}]}, \"faults\": {\"profile\": \"%s\"}}", path);
    struct scenario *s = scenario_parse("x.json", text.s, text.n, NULL, &d);
    diag_print(&d, stderr);
    assert_non_null(s);
    assert_int_equal(s->faults.n_components, 1);
    const struct fault_component *p = &s->faults.components[0];
    assert_true(fabs((double)p->mtbf_ns / 1e9 / c->mtbf_s.value - 1) < 1e-6);
    assert_true(fabs(p->shape - c->life.shape.value) < 1e-4);
    assert_true(fabs(p->repair_sigma - c->repair_s.sigma.value) < 1e-4);
    assert_true(fabs(p->lemon_share - (double)c->lemons.n / 300) < 1e-4);
    assert_true(fabs(p->lemon_times / c->lemon_times.value - 1) < 1e-4);
    scenario_free(s);
    remove(path);
    str_free(&json);
    str_free(&text);
    diag_free(&d);
    forget(&f);
}

/* ---- the estimators ---- */

/* Garwood's limits as in tables (Ulm, American Journal of Epidemiology 131, 1990): 10 events: 4.795 to 18.39; 0: 0 to 3.689. */
static void poisson_limits(void **state)
{
    (void)state;
    struct estimate e = fit_rate(10, 1, 0.95);
    assert_true(fabs(e.low - 4.795) < 5e-4 && fabs(e.high - 18.39) < 5e-3 && e.value == 10);
    e = fit_rate(0, 1, 0.95);
    assert_true(e.low == 0 && fabs(e.high - 3.689) < 5e-4);
    /* 17 incidents of 504 B200 GPUs (63 nodes) in 55 days: 4.91 a 1,000 node-days, as the profile b200-504 says */
    e = fit_rate(17, 63 * 55 / 1000.0, 0.95);
    assert_true(fabs(e.value - 4.906) < 1e-3 && fabs(e.low - 9.903 / 3.465) < 1e-2 && fabs(e.high - 27.219 / 3.465) < 1e-2);
}

/* Without censoring and with k known the scale is (mean t^k)^(1/k); the score of the fit is zero, which is checked here
 * by the equation itself; a shape of exactly 1 gives the mean. */
static void weibull_estimates(void **state)
{
    (void)state;
    static const double t[] = {3, 7, 11, 20, 32, 47, 61, 99, 130, 171};
    struct life lives[12];
    double s0 = 0, s1 = 0, log_mean = 0;
    for (int i = 0; i < 10; i++) lives[i] = (struct life){t[i], 1, true};
    lives[10] = (struct life){200, 5, false};
    lives[11] = (struct life){0, 1, true}; /* carries nothing */
    struct weibull_fit f = fit_weibull(lives, 12, 0.95);
    assert_true(f.known);
    assert_int_equal(f.ended, 10);
    double k = f.shape.value;
    for (int i = 0; i < 11; i++) {
        double w = lives[i].weight * pow(lives[i].length, k);
        s0 += w;
        s1 += w * log(lives[i].length);
        if (lives[i].ended) log_mean += log(lives[i].length) / 10;
    }
    assert_true(fabs(s1 / s0 - 1 / k - log_mean) < 1e-8);
    assert_true(fabs(f.scale / pow(s0 / 10, 1 / k) - 1) < 1e-9);
    assert_true(fabs(f.mean.value / (f.scale * tgamma(1 + 1 / k)) - 1) < 1e-9);
    assert_true(f.shape.low < k && k < f.shape.high && f.mean.low < f.mean.value && f.mean.value < f.mean.high);
    assert_false(fit_weibull(lives, 2, 0.95).known);
}

static void lognormal_estimates(void **state)
{
    (void)state;
    const double x[] = {exp(1), exp(2), exp(3)};
    struct lognormal_fit f = fit_lognormal(x, 3, 0.95); /* t(0.975, 2) = 4.3027 */
    assert_true(fabs(log(f.median.value) - 2) < 1e-12 && fabs(f.sigma.value - 1) < 1e-12);
    assert_true(fabs(log(f.median.high) - 2 - 4.3027 / sqrt(3)) < 1e-4);
    assert_true(fabs(f.mean - exp(2.5)) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_and_repairs_are_found), cmocka_unit_test(ageing_is_found),
        cmocka_unit_test(lemons_are_found),            cmocka_unit_test(groups_are_found),
        cmocka_unit_test(gpus_are_counted),            cmocka_unit_test(the_profile_is_read_back),
        cmocka_unit_test(poisson_limits),              cmocka_unit_test(weibull_estimates),
        cmocka_unit_test(lognormal_estimates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
