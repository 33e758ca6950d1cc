/* test_oracles.c - the closed-form values of data/oracles.csv, each computed by its formula to 1e-6.
 *
 * A row gives a name and parameters; the value in the file is only compared with. Formulas that the product has are the
 * product's (models/, input/), the others are tests/support/closed_form.h. Rows that can be simulated are also simulated:
 * test_simulated.c beside this.
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

#include "base/csv.h"
#include "input/checkpoint_optimum.h"
#include "models/checkpoint.h"
#include "models/order_statistics.h"
#include "models/ring.h"
#include "models/weibull.h"
#include "tests/support/closed_form.h"
#include "tests/support/shared.h"

enum { ROWS = 121, MAX_FLOWS = 8 };
static const double TOLERANCE = 1e-6; /* relative */

struct row {
    const char *name, *params, *formula;
    char previous[256]; /* parameters of the row before: "same; ..." */
};

/* The number behind KEY=, or NAN. */
static double value_in(const char *params, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = params; (p = strstr(p, key)) != NULL; p += n)
        if ((p == params || p[-1] == ',' || p[-1] == ' ') && p[n] == '=') return strtod(p + n + 1, NULL);
    return NAN;
}

static double get(const struct row *r, const char *key) { return value_in(r->params, key); }
static unsigned count(const struct row *r, const char *key) { return (unsigned)get(r, key); }

/* ---- queues ---- */

static double p_wait(const struct row *r) { return erlang_c(get(r, "lam") / get(r, "mu"), count(r, "c")); }
static double wait(const struct row *r) { return mmc_wait(get(r, "lam"), get(r, "mu"), count(r, "c")); }
static double line(const struct row *r) { return get(r, "lam") * wait(r); }
static double blocking(const struct row *r) { return erlang_b(get(r, "A"), count(r, "c")); }
static double general_wait(const struct row *r) { return pollaczek_khinchine(get(r, "lam"), get(r, "ES"), get(r, "SCV")); }
static double sharing(const struct row *r) { return 1 / (get(r, "mu") - get(r, "lam")); }

static struct repairmen crews(const struct row *r)
{
    return repairmen(count(r, "N"), count(r, "R"), get(r, "MTTF"), get(r, "MTTR"));
}
static double crews_down(const struct row *r) { return crews(r).down; }
static double crews_failures(const struct row *r) { return crews(r).failures_per_time; }
static double crews_up(const struct row *r) { return crews(r).all_up; }

/* ---- checkpoints: the product's ---- */

static struct checkpoint_risk risk(const struct row *r)
{
    return (struct checkpoint_risk){get(r, "M"), get(r, "D"), get(r, "R")};
}
static double segment_at(const struct row *r, double w)
{
    struct checkpoint_risk k = risk(r);
    return checkpoint_segment_s(w, (struct checkpoint_cost){get(r, "C"), 0}, &k);
}
static double young(const struct row *r) { return checkpoint_young_s(get(r, "C"), get(r, "M")); }
static double daly(const struct row *r) { return checkpoint_daly_s(get(r, "C"), get(r, "M")); }
static double exact(const struct row *r) { return checkpoint_optimum_s(get(r, "C"), get(r, "M")); }

/* W is printed with three digits: where it is one of the three rules, the rule's own value is meant. */
static double work(const struct row *r)
{
    double w = get(r, "W"), rules[] = {exact(r), young(r), daly(r)};
    for (int i = 0; i < 3; i++)
        if (fabs(rules[i] - w) <= 0.0005 + 1e-9) return rules[i];
    return w;
}
static double segment(const struct row *r) { return segment_at(r, work(r)); }
static double goodput(const struct row *r) { return work(r) / segment(r); }

static double ettr_exact(const struct row *r)
{
    const char *p = r->previous;
    double m = 1440 / (value_in(p, "Nnodes") * value_in(p, "rf")), dt = value_in(p, "dt");
    struct checkpoint_risk k = {m, value_in(p, "u0"), 0};
    return checkpoint_goodput(dt, (struct checkpoint_cost){value_in(p, "w"), 0}, &k);
}
static double ettr(const struct row *r)
{
    return ettr_small_loss(get(r, "Nnodes"), get(r, "rf"), get(r, "u0"), get(r, "dt"), get(r, "w"));
}
static double job_mttf_h(const struct row *r) { return 24 / (get(r, "Nnodes") * get(r, "rf")); }

/* ---- lives ---- */

/* Llama 3: 16,384 GPUs in 2,048 nodes for 54 days; 419 unexpected interruptions of 466. */
static double llama_h(const struct row *r) { return 54 * 24 / strtod(strstr(r->params, "d, ") + 3, NULL); }
static double llama_gpu_year(const struct row *r) { (void)r; return 419 / (16384 * 54 / 365.0); }
static double llama_node_days(const struct row *r) { (void)r; return 419 / (2048 * 54.0) * 1000; }

static double scale(const struct row *r) { return get(r, "mean") / weibull_mean_factor(get(r, "k")); }
static double scv(const struct row *r)
{
    double first = weibull_mean_factor(get(r, "k"));
    return weibull_mean_factor(get(r, "k") / 2) / (first * first) - 1;
}
static double sigma(const struct row *r) { return lognormal_sigma(get(r, "median"), get(r, "mean")); }
/* Of the sigma of the row before, which is printed with four digits here. */
static double sigma_scv(const struct row *r)
{
    double s = lognormal_sigma(54, 355);
    assert_true(fabs(s - get(r, "sigma")) < 5e-5);
    return lognormal_scv(s);
}
static double slowest(const struct row *r) { return max_of_exponentials(get(r, "n")); }

/* ---- training and networks ---- */

static double bubble(const struct row *r) { return (get(r, "p") - 1) / (get(r, "v") * get(r, "m")); }
static double ring(const struct row *r)
{
    return (double)ring_all_reduce_ns((int64_t)get(r, "S"), count(r, "n"), llround(get(r, "alpha") * 1e9), get(r, "busB")) / 1e9;
}
static double halving(const struct row *r) { return halving_doubling_s(get(r, "n"), get(r, "S"), get(r, "B"), get(r, "alpha")); }
static double trees(const struct row *r) { return binary_trees_s(get(r, "n"), get(r, "S"), get(r, "B"), get(r, "alpha")); }

/* The flows of a network, in the file's rows; capacities are in each row's text. */
struct net_flow { const char *name, *links; };
struct net { const char *row; struct net_flow flow[MAX_FLOWS]; };
static const struct net nets[] = {
    {"maxmin_line", {{"A", "L1"}, {"B", "L1 L2"}, {"C", "L2"}}},
    {"maxmin_parking_lot", {{"a", "L1"}, {"b", "L2"}, {"c", "L3"}, {"long", "L1 L2 L3"}}},
    {"maxmin_leafspine_4to1",
     {{"x0", "h0 up dn r0"}, {"x1", "h1 up dn r1"}, {"x2", "h2 up dn r2"}, {"x3", "h3 up dn r3"}, {"x4", "h4 up dn r4"},
      {"x5", "h5 up dn r5"}, {"loc", "h6 r7"}, {"inc", "h7 r7"}}},
    {"maxmin_unequal", {{"f1", "L1 L2"}, {"f2", "L1"}, {"f3", "L2 L3"}, {"f4", "L3"}, {"f5", "L1"}}},
};

static const struct net *net_of(const char *name)
{
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        if (!strcmp(nets[i].row, name)) return &nets[i];
    return NULL;
}

/* "caps {'L1': 10, ...}", or hosts 100 and up/dn 200. */
static double capacity(const struct row *r, const char *link)
{
    char quoted[16];
    snprintf(quoted, sizeof quoted, "'%.7s': ", link);
    const char *at = strstr(strstr(r->params, "caps"), quoted);
    if (at) return strtod(at + strlen(quoted), NULL);
    return strtod(strstr(r->params, *link == 'u' || *link == 'd' ? "up/dn " : "hosts ") + 6, NULL);
}

static size_t link_index(char names[][8], size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(names[i], name)) return i;
    snprintf(names[*n], 8, "%.7s", name);
    return (*n)++;
}

static double max_min(const struct row *r)
{
    const struct net *net = net_of(r->name);
    char names[24][8], want[16] = "", text[64];
    unsigned char crosses[MAX_FLOWS * 24] = {0}, packed[MAX_FLOWS * 24];
    double caps[24], rates[MAX_FLOWS];
    size_t n = 0, links = 0, wanted = MAX_FLOWS;
    sscanf(r->params, "flow %15s", want);
    for (; n < MAX_FLOWS && net->flow[n].name; n++) {
        char *rest = NULL;
        if (!strcmp(net->flow[n].name, want)) wanted = n;
        snprintf(text, sizeof text, "%s", net->flow[n].links);
        for (char *l = strtok_r(text, " ", &rest); l; l = strtok_r(NULL, " ", &rest))
            crosses[n * 24 + link_index(names, &links, l)] = 1;
    }
    assert_true(wanted < n);
    for (size_t l = 0; l < links; l++) caps[l] = capacity(r, names[l]);
    for (size_t f = 0; f < n; f++) memcpy(packed + f * links, crosses + f * 24, links);
    progressive_filling(n, links, packed, caps, rates);
    return rates[wanted];
}

/* Two flows of 1 and 3 on one link of 10: half each until the small one is through at 1/5; then 2 are left at rate 10. */
static double completion(const struct row *r)
{
    double small = 1, large = 3, link = 10, first = small / (link / 2);
    return !strcmp(r->formula, "small") ? first : first + (large - first * link / 2) / link;
}

/* ---- the table ---- */

static const struct { const char *name; double (*value)(const struct row *); } formulas[] = {
    {"MMc_P_wait", p_wait}, {"MMc_Wq", wait}, {"MMc_Lq", line}, {"ErlangB_block", blocking}, {"MG1_Wq_PK", general_wait},
    {"machine_repair_mean_down", crews_down}, {"machine_repair_failure_rate", crews_failures},
    {"machine_repair_P_all_up", crews_up}, {"Young_tau", young}, {"Daly_tau_higher_order", daly},
    {"exact_tau_opt_LambertW", exact}, {"E_segment_time", segment}, {"goodput", goodput}, {"ETTR_Kokolis_approx", ettr},
    {"ETTR_exact_exponential", ettr_exact}, {"job_MTTF_h", job_mttf_h}, {"Llama3_MTTI_unexpected_h", llama_h},
    {"Llama3_MTTI_all_h", llama_h}, {"Llama3_rate_per_GPU_year", llama_gpu_year},
    {"Llama3_per_1000node_days", llama_node_days}, {"Weibull_scale_for_mean", scale}, {"Weibull_SCV", scv},
    {"lognormal_sigma_from_median_mean", sigma}, {"lognormal_SCV", sigma_scv}, {"E_max_of_n_exponentials", slowest},
    {"pipeline_bubble_over_ideal", bubble}, {"ring_allreduce", ring}, {"rec_halving_doubling", halving},
    {"double_binary_tree_pipelined", trees}, {"maxmin_line", max_min}, {"maxmin_parking_lot", max_min},
    {"maxmin_leafspine_4to1", max_min}, {"maxmin_unequal", max_min}, {"maxmin_dynamic_FCT", completion},
    {"PS_M/M/1_mean_sojourn", sharing},
};

struct reading { size_t rows, wrong; char previous[256]; double worst; };

static double by_formula(const struct row *r)
{
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        if (!strcmp(formulas[i].name, r->name)) return formulas[i].value(r);
    return NAN;
}

static bool on_row(void *arg, const struct csv_row *c)
{
    struct reading *t = arg;
    struct row r = {.name = csv_field(c, 0), .params = csv_field(c, 1), .formula = csv_field(c, 2)};
    snprintf(r.previous, sizeof r.previous, "%s", t->previous);
    double want = strtod(csv_field(c, 3), NULL), got = by_formula(&r), error = fabs(got - want) / fabs(want);
    t->rows++;
    if (!(error <= TOLERANCE)) {
        t->wrong++;
        print_message("%s (%s): %.9g, the file has %.9g\n", r.name, r.params, got, want);
    } else if (error > t->worst) {
        t->worst = error;
    }
    snprintf(t->previous, sizeof t->previous, "%s", r.params);
    return true;
}

static void every_row_by_its_formula(void **state)
{
    (void)state;
    static const char *const columns[] = {"name", "params", "formula", "value"};
    char path[SHARED_PATH_MAX];
    struct reading t = {0};
    struct diag d = {0};
    shared_path(path, "data/oracles.csv");
    assert_true(csv_read(path, &(struct csv_spec){columns, 4, NULL, 0, on_row, &t}, &d));
    diag_free(&d);
    print_message("oracles: %zu rows, %zu wrong, largest relative difference %.1e\n", t.rows, t.wrong, t.worst);
    assert_int_equal(t.rows, ROWS);
    assert_int_equal(t.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_by_its_formula)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
