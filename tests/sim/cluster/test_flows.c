/* test_flows.c - max-min fair rates: published cases, random networks against a simple filling, the cost of a change.
 *
 * Expected rates are those of the table of closed forms (../shared/data/oracles.csv, facts/models.md section 7) and, as
 * exact fractions, the rows below. The reference fills all rates together, in 64-bit-mantissa floating point, from zero.
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

#include "base/csv.h"
#include "base/str.h"
#include "sim/cluster/flows.h"
#include "sim/engine/stream.h"
#include "tests/support/doc_section.h"
#include "tests/support/shared.h"

enum { MOST_LINKS = 24, MOST_FLOWS = 60, MOST_USES = 8 };

/* ---- published cases ---- */

static const int64_t UNIT = 3000000000; /* bytes/s that stand for 1: thirds are whole */

static const struct oracle {
    const char *name;
    const char *links;           /* a letter each */
    int64_t capacity[20];
    struct { const char *name, *over; int64_t times, by; } flows[9]; /* expected rate: times / by */
} oracles[] = {
    {"maxmin_line", "12", {10, 4}, {{"A", "1", 8, 1}, {"B", "12", 2, 1}, {"C", "2", 2, 1}}},
    {"maxmin_parking_lot", "123", {1, 1, 1}, {{"a", "1", 1, 2}, {"b", "2", 1, 2}, {"c", "3", 1, 2}, {"long", "123", 1, 2}}},
    /* sending hosts a-h (x: the fourth), up u, down d, receiving hosts A-F and H */
    {"maxmin_leafspine_4to1", "abcxefghudABCDEFH",
     {100, 100, 100, 100, 100, 100, 100, 100, 200, 200, 100, 100, 100, 100, 100, 100, 100},
     {{"x0", "audA", 100, 3}, {"x1", "budB", 100, 3}, {"x2", "cudC", 100, 3}, {"x3", "xudD", 100, 3},
      {"x4", "eudE", 100, 3}, {"x5", "fudF", 100, 3}, {"loc", "gH", 50, 1}, {"inc", "hH", 50, 1}}},
    {"maxmin_unequal", "123", {10, 6, 3},
     {{"f1", "12", 10, 3}, {"f2", "1", 10, 3}, {"f3", "23", 3, 2}, {"f4", "3", 3, 2}, {"f5", "1", 10, 3}}},
};
enum { N_ORACLES = sizeof oracles / sizeof *oracles };

static struct flows *play(const struct oracle *o, uint32_t ids[9])
{
    int64_t capacity[20];
    uint32_t n_links = (uint32_t)strlen(o->links);
    for (uint32_t i = 0; i < n_links; i++) capacity[i] = o->capacity[i] * UNIT;
    struct flows *f = flows_create(capacity, n_links);
    for (int i = 0; o->flows[i].name; i++) {
        struct flow_use uses[12];
        uint32_t n = 0;
        for (const char *c = o->flows[i].over; *c; c++)
            uses[n++] = (struct flow_use){(uint32_t)(strchr(o->links, *c) - o->links), 1};
        ids[i] = flows_add(f, uses, n, FLOW_UNLIMITED);
    }
    flows_solve(f);
    return f;
}

static void published_cases_are_exact(void **state)
{
    (void)state;
    for (int k = 0; k < N_ORACLES; k++) {
        uint32_t ids[9];
        struct flows *f = play(&oracles[k], ids);
        for (int i = 0; oracles[k].flows[i].name; i++)
            assert_int_equal(flows_rate(f, ids[i]) * oracles[k].flows[i].by, oracles[k].flows[i].times * UNIT);
        flows_destroy(f);
    }
}

static bool compare_row(void *arg, const struct csv_row *row)
{
    int *compared = arg;
    const char *name = csv_field(row, 0), *what = csv_field(row, 1);
    double want = strtod(csv_field(row, 2), NULL);
    for (int k = 0; k < N_ORACLES; k++) {
        uint32_t ids[9];
        if (strcmp(name, oracles[k].name) != 0) continue;
        struct flows *f = play(&oracles[k], ids);
        for (int i = 0; oracles[k].flows[i].name; i++) {
            size_t n = strlen(oracles[k].flows[i].name);
            if (strncmp(what, "flow ", 5) != 0 || strncmp(what + 5, oracles[k].flows[i].name, n) != 0 || what[5 + n] != ' ') continue;
            double got = (double)flows_rate(f, ids[i]) / (double)UNIT;
            assert_true(got > want * (1 - 1e-8) && got < want * (1 + 1e-8)); /* the table has nine digits */
            ++*compared;
        }
        flows_destroy(f);
    }
    return true;
}

static void published_cases_agree_with_the_table(void **state)
{
    static const char *const need[] = {"name", "params", "value"};
    char path[SHARED_PATH_MAX];
    int compared = 0;
    struct diag d = {0};
    (void)state;
    shared_path(path, "data/oracles.csv");
    assert_true(csv_read(path, &(struct csv_spec){.need = need, .n_need = 3, .row = compare_row, .arg = &compared}, &d));
    assert_int_equal(compared, 20);
    diag_free(&d);
}

/* ---- random networks ---- */

struct naive_flow { struct flow_use uses[MOST_USES]; uint32_t n, id; int64_t want; bool live; long double rate; };
struct naive { int64_t capacity[MOST_LINKS]; uint32_t n_links; struct naive_flow flow[MOST_FLOWS]; };

/* All open rates rise together until a link is full or a want is met. */
static void fill_naively(struct naive *m)
{
    bool open[MOST_FLOWS];
    long double left[MOST_LINKS], rate = 0;
    int n_open = 0;
    for (uint32_t l = 0; l < m->n_links; l++) left[l] = (long double)m->capacity[l];
    for (int i = 0; i < MOST_FLOWS; i++) n_open += open[i] = m->flow[i].live;
    while (n_open) {
        long double lanes[MOST_LINKS] = {0}, step = 1e30L;
        for (int i = 0; i < MOST_FLOWS; i++)
            for (uint32_t u = 0; open[i] && u < m->flow[i].n; u++) lanes[m->flow[i].uses[u].link] += m->flow[i].uses[u].lanes;
        for (uint32_t l = 0; l < m->n_links; l++)
            if (lanes[l] > 0 && left[l] / lanes[l] < step) step = left[l] / lanes[l];
        for (int i = 0; i < MOST_FLOWS; i++)
            if (open[i] && (long double)m->flow[i].want - rate < step) step = (long double)m->flow[i].want - rate;
        rate += step;
        for (uint32_t l = 0; l < m->n_links; l++) left[l] -= step * lanes[l];
        for (int i = 0; i < MOST_FLOWS; i++) {
            if (!open[i]) continue;
            bool stop = rate >= (long double)m->flow[i].want * (1 - 1e-17L);
            for (uint32_t u = 0; u < m->flow[i].n; u++) stop |= left[m->flow[i].uses[u].link] < 1e-7L;
            if (!stop) continue;
            open[i] = false;
            m->flow[i].rate = rate;
            n_open--;
        }
    }
}

static uint32_t below(struct stream *s, uint32_t n) { return (uint32_t)stream_uniform_int(s, n); }

static void draw_flow(struct stream *s, const struct naive *m, struct naive_flow *w)
{
    w->n = 0;
    w->live = true;
    w->want = below(s, 2) ? FLOW_UNLIMITED : 1000000 + below(s, 2000000000);
    uint32_t most = 1 + below(s, MOST_USES < m->n_links ? MOST_USES : m->n_links);
    for (uint32_t l = below(s, m->n_links), k = 0; k < most; k++, l = (l + 1 + below(s, 3)) % m->n_links) {
        bool twice = false;
        for (uint32_t u = 0; u < w->n; u++) twice |= w->uses[u].link == l;
        if (!twice) w->uses[w->n++] = (struct flow_use){l, 1 + below(s, 2) * below(s, 5)};
    }
}

static void change(struct stream *s, struct naive *m, struct flows *f)
{
    struct naive_flow *w = &m->flow[below(s, MOST_FLOWS)];
    uint32_t l = below(s, m->n_links);
    switch (below(s, 10)) {
    case 0:
        m->capacity[l] = below(s, 6) ? 1000000000 + (int64_t)below(s, 1000) * 100000007 : 0;
        flows_set_capacity(f, l, m->capacity[l]);
        return;
    case 1:
    case 2:
        w->want = below(s, 3) ? 1000000 + below(s, 2000000000) : FLOW_UNLIMITED;
        if (w->live) flows_want(f, w->id, w->want);
        return;
    default:
        if (w->live) {
            flows_remove(f, w->id);
            w->live = false;
            return;
        }
        draw_flow(s, m, w);
        w->id = flows_add(f, w->uses, w->n, w->want);
    }
}

struct compared { uint64_t rates; double worst; /* bytes/s */ };

/* What is rounded down at each link: less than its lanes, and what it passes on to those filled after it. */
static void rates_are_the_references(const struct naive *m, const struct flows *f, struct compared *c)
{
    for (int i = 0; i < MOST_FLOWS; i++) {
        if (!m->flow[i].live) continue;
        long double off = m->flow[i].rate - (long double)flows_rate(f, m->flow[i].id);
        if (off < 0) off = -off;
        assert_true(off < 100); /* bytes/s, of 10^6 and more */
        if ((double)off > c->worst) c->worst = (double)off;
        c->rates++;
    }
}

/* The definition itself, exactly. */
static void each_flow_has_its_want_or_a_bottleneck(const struct naive *m, const struct flows *f)
{
    int64_t load[MOST_LINKS] = {0}, lanes[MOST_LINKS] = {0}, fastest[MOST_LINKS] = {0};
    for (int i = 0; i < MOST_FLOWS; i++) {
        const struct naive_flow *w = &m->flow[i];
        for (uint32_t u = 0; w->live && u < w->n; u++) {
            int64_t rate = flows_rate(f, w->id);
            load[w->uses[u].link] += rate * w->uses[u].lanes;
            lanes[w->uses[u].link] += w->uses[u].lanes;
            if (rate > fastest[w->uses[u].link]) fastest[w->uses[u].link] = rate;
        }
    }
    for (uint32_t l = 0; l < m->n_links; l++) {
        assert_true(load[l] <= m->capacity[l]);
        assert_int_equal(load[l], flows_load(f, l));
    }
    for (int i = 0; i < MOST_FLOWS; i++) {
        const struct naive_flow *w = &m->flow[i];
        if (!w->live || flows_rate(f, w->id) == w->want) continue;
        bool held = false;
        for (uint32_t u = 0; u < w->n; u++) {
            uint32_t l = w->uses[u].link;
            held |= m->capacity[l] - load[l] < lanes[l] && fastest[l] <= flows_rate(f, w->id);
        }
        assert_true(held);
    }
}

static void random_networks_have_the_references_rates(void **state)
{
    struct stream s = stream_make(1, 0, STREAM_TEST, 77);
    struct compared c = {0};
    struct str out = {0};
    (void)state;
    for (int round = 0; round < 150; round++) {
        struct naive m = {.n_links = 1 + below(&s, MOST_LINKS)};
        for (uint32_t l = 0; l < m.n_links; l++) m.capacity[l] = 1000000000 + (int64_t)below(&s, 1000) * 100000007;
        struct flows *f = flows_create(m.capacity, m.n_links);
        for (int k = 0; k < 120; k++) {
            for (uint32_t n = 1 + below(&s, 3) * below(&s, 4); n-- > 0;) change(&s, &m, f);
            flows_solve(f);
            fill_naively(&m);
            rates_are_the_references(&m, f, &c);
            each_flow_has_its_want_or_a_bottleneck(&m, f);
        }
        flows_destroy(f);
    }
    str_printf(&out, "| rates | against | largest difference |\n|---|---|---|\n"
                     "| 20 of four published networks | their fractions | 0 |\n"
                     "| %.1f million of random networks, after each of 18,000 sets of changes | all rates filled together from zero | "
                     "%.0f bytes/s |\n", (double)c.rates / 1e6, c.worst);
    doc_section("docs/models.md", "network", str_text(&out));
    str_free(&out);
}

/* ---- what a change costs ---- */

static void equal_flows_share_a_link_equally(void **state)
{
    int64_t capacity = 100 * UNIT;
    struct flow_use use = {0, 1};
    struct flows *f = flows_create(&capacity, 1);
    uint32_t a = flows_add(f, &use, 1, 80 * UNIT), b = flows_add(f, &use, 1, 80 * UNIT);
    (void)state;
    flows_solve(f);
    assert_int_equal(flows_rate(f, a), 50 * UNIT);
    assert_int_equal(flows_rate(f, b), 50 * UNIT);
    flows_want(f, b, 10 * UNIT);
    flows_solve(f);
    assert_int_equal(flows_rate(f, a), 80 * UNIT);
    assert_int_equal(flows_n_changed(f), 2);
    flows_remove(f, b);
    flows_solve(f);
    assert_int_equal(flows_n_changed(f), 0); /* it had what it wanted */
    flows_destroy(f);
}

/* Uses looked at by 100 changes of a flow between two others, beside n pairs of flows that share links elsewhere. */
static uint64_t work_beside(uint32_t n)
{
    int64_t *capacity = calloc(n + 2, sizeof *capacity);
    for (uint32_t l = 0; l < n + 2; l++) capacity[l] = 10 * UNIT;
    struct flows *f = flows_create(capacity, n + 2);
    for (uint32_t i = 0; i < 2 * n; i++) flows_add(f, &(struct flow_use){2 + i / 2, 1}, 1, FLOW_UNLIMITED);
    for (uint32_t l = 0; l < 2; l++) flows_add(f, &(struct flow_use){l, 1}, 1, FLOW_UNLIMITED);
    flows_solve(f);
    uint64_t before = flows_work(f);
    for (int i = 0; i < 100; i++) {
        uint32_t id = flows_add(f, (struct flow_use[]){{0, 1}, {1, 1}}, 2, FLOW_UNLIMITED);
        flows_solve(f);
        flows_remove(f, id);
        flows_solve(f);
    }
    uint64_t work = flows_work(f) - before;
    flows_destroy(f);
    free(capacity);
    return work;
}

static void unrelated_flows_cost_nothing(void **state)
{
    (void)state;
    assert_int_equal(work_beside(10), work_beside(10000));
    assert_true(work_beside(0) > 0);
}

/* Two flows that meet on a link which they cannot fill do not know of each other. */
static void a_link_that_cannot_be_full_connects_nobody(void **state)
{
    int64_t capacity[3] = {UNIT, UNIT, 10 * UNIT};
    struct flows *f = flows_create(capacity, 3);
    (void)state;
    flows_add(f, (struct flow_use[]){{0, 1}, {2, 1}}, 2, FLOW_UNLIMITED);
    flows_add(f, (struct flow_use[]){{1, 1}, {2, 1}}, 2, FLOW_UNLIMITED);
    flows_solve(f);
    uint64_t before = flows_work(f);
    uint32_t c = flows_add(f, (struct flow_use[]){{2, 1}}, 1, UNIT);
    flows_solve(f);
    assert_int_equal(flows_rate(f, c), UNIT);
    assert_int_equal(flows_work(f) - before, 0);
    flows_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_cases_are_exact),
        cmocka_unit_test(published_cases_agree_with_the_table),
        cmocka_unit_test(random_networks_have_the_references_rates),
        cmocka_unit_test(equal_flows_share_a_link_equally),
        cmocka_unit_test(unrelated_flows_cost_nothing),
        cmocka_unit_test(a_link_that_cannot_be_full_connects_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
