/* calibrate_failures.c - see calibrate_failures.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/calibrate_failures.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"

/* The events of one component, by node and unit, then time. */
struct events {
    struct failure_event *v;
    size_t n;
};

struct window { double begin_s, end_s; };

static const struct estimate not_known = {NAN, NAN, NAN};

enum { LEMON_LEAST = 3 }; /* failures of a lemon: one more after a repair that did not hold is none */

static double at_s(const struct failure_event *e) { return (double)e->at_ns / 1e9; }

static double back_s(const struct failure_event *e) { return (double)(e->back_ns < 0 ? e->at_ns : e->back_ns) / 1e9; }

/* ---- what the log is about ---- */

static const struct { const char *word; enum fault_scope scope; } scope_words[] = {
    {"gpu", FAULT_GPU},     {"link", FAULT_LINK},     {"nic", FAULT_LINK},        {"cable", FAULT_LINK},
    {"rack", FAULT_RACK},   {"power", FAULT_RACK},    {"switch", FAULT_SWITCH},   {"storage", FAULT_STORAGE},
    {"nvlink", FAULT_GPU},  {"hbm", FAULT_GPU},
};

static enum fault_scope scope_of(const char *name)
{
    for (size_t i = 0; i < sizeof scope_words / sizeof *scope_words; i++)
        if (str_distance(name, scope_words[i].word) == 0) return scope_words[i].scope;
    return FAULT_NODE;
}

static struct window observed(const struct failure_log *log, const struct failure_options *o)
{
    int64_t begin = o->begin_ns >= 0 ? o->begin_ns : log->begin_ns, end = o->end_ns >= 0 ? o->end_ns : log->end_ns;
    return (struct window){(double)begin / 1e9, (double)end / 1e9};
}

static bool complete(const struct failure_log *log, const struct failure_options *o, const struct failure_calibration *c,
                     struct window w, struct diag *d)
{
    size_t errors = diag_errors(d);
    bool no_begin = o->begin_ns < 0 && log->begin_ns < 0, no_end = o->end_ns < 0 && log->end_ns < 0;
    if (no_begin || no_end) {
        diag_error(d, log->file, 0, "", "it is not said when the observation %s", no_begin ? "begins" : "ends");
        diag_help(d, "the moments of the first and last failure are none: give --from and --until, or rows with component observed");
    } else if (!(w.end_s > w.begin_s)) {
        diag_error(d, log->file, 0, "", "the observation ends before it begins");
    } else {
        for (size_t i = 0; i < log->events.n; i++)
            if (at_s(&log->events.v[i]) < w.begin_s || at_s(&log->events.v[i]) > w.end_s) {
                diag_error(d, log->file, log->events.v[i].line, "time", "is outside of the observation");
                break;
            }
    }
    if (c->nodes == 0) {
        diag_error(d, log->file, 0, "", "it is not said how many nodes were observed");
        diag_help(d, "those that never failed count: give --nodes, or a row with component observed and kind nodes");
    } else if (intern_count(&log->nodes) > c->nodes) {
        diag_error(d, log->file, 0, "", "%u nodes have failed, and only %u were observed", intern_count(&log->nodes), c->nodes);
    }
    for (uint32_t i = 0; !c->gpus && i < intern_count(&log->components); i++)
        if (scope_of(intern_text(&log->components, i)) == FAULT_GPU) {
            diag_error(d, log->file, 0, "", "it is not said how many GPUs a node has, and \"%s\" is one", intern_text(&log->components, i));
            diag_help(d, "give --gpus, or a row with component observed and kind gpus");
            break;
        }
    return diag_errors(d) == errors;
}

/* ---- together ---- */

/* Marks events that have one on another node within `burst`; the list is by time. */
static double share_together(const struct failure_event *v, size_t n, int64_t burst_ns)
{
    size_t together = 0;
    for (size_t i = 0; i < n; i++) {
        bool is = false;
        for (size_t k = i; !is && k-- > 0 && v[i].at_ns - v[k].at_ns <= burst_ns;) is = v[k].node != v[i].node;
        for (size_t k = i + 1; !is && k < n && v[k].at_ns - v[i].at_ns <= burst_ns; k++) is = v[k].node != v[i].node;
        together += is;
    }
    return n ? (double)together / (double)n : 0;
}

static int by_count(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Makes one event of each group within `burst`: its first one. Gives the median size of the groups of several. */
static uint32_t merge_groups(struct events *e, int64_t burst_ns)
{
    ARRAY(uint32_t) sizes = {0};
    size_t kept = 0;
    for (size_t i = 0, next; i < e->n; i = next) {
        for (next = i + 1; next < e->n && e->v[next].at_ns - e->v[next - 1].at_ns <= burst_ns;) next++;
        if (next - i > 1) array_push(&sizes, (uint32_t)(next - i));
        e->v[kept++] = e->v[i];
    }
    e->n = kept;
    array_sort(&sizes, by_count);
    uint32_t median = sizes.n ? sizes.v[sizes.n / 2] : 1;
    array_free(&sizes);
    return median;
}

/* ---- lemons ---- */

struct tally { uint32_t node; size_t events; double unit_s; bool lemon; };

static struct tally *tally_nodes(const struct events *e, uint32_t nodes, double unit_s)
{
    struct tally *t = xcalloc(nodes, sizeof *t);
    for (uint32_t i = 0; i < nodes; i++) t[i] = (struct tally){.node = i, .unit_s = unit_s};
    for (size_t i = 0; i < e->n; i++) t[e->v[i].node].events++;
    return t;
}

/* Down times are not exposure; no unit is down beyond the end. */
static void take_down_times(struct tally *t, const struct events *e, struct window w)
{
    for (size_t i = 0; i < e->n; i++) {
        double back = fmin(back_s(&e->v[i]), w.end_s);
        double next = i + 1 < e->n && e->v[i + 1].node == e->v[i].node && e->v[i + 1].unit == e->v[i].unit ? at_s(&e->v[i + 1]) : w.end_s;
        t[e->v[i].node].unit_s -= fmin(back, next) - at_s(&e->v[i]);
    }
}

static struct tally *worst(struct tally *t, uint32_t n)
{
    struct tally *most = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (!t[i].lemon && (!most || t[i].events > most->events)) most = &t[i];
    return most;
}

static void usual(const struct tally *t, uint32_t n, size_t *events, double *unit_s)
{
    *events = 0;
    *unit_s = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!t[i].lemon) *events += t[i].events, *unit_s += t[i].unit_s;
}

static void find_lemons(struct component_fit *f, struct tally *t, uint32_t n)
{
    size_t events;
    double unit_s;
    for (struct tally *m; (m = worst(t, n)) != NULL && m->events >= LEMON_LEAST;) {
        usual(t, n, &events, &unit_s);
        if (m->events == events || !(m->unit_s > 0)) return;
        if (!(gsl_cdf_binomial_Q((unsigned)m->events - 1, m->unit_s / unit_s, (unsigned)events) < 0.01 / n)) return;
        m->lemon = true;
        array_push(&f->lemons, m->node);
    }
}

/* ---- lives and repairs ---- */

static int by_unit(const void *a, const void *b)
{
    const struct failure_event *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    if (x->at_ns != y->at_ns) return x->at_ns < y->at_ns ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

typedef ARRAY(struct life) life_list;

/* Lives of usual units, for the shape. Units that never failed lived through, and that counts when they were new. */
static void collect_lives(const struct events *e, const struct tally *t, double units, bool fresh, struct window w, life_list *out)
{
    double failed = 0, since = w.begin_s;
    for (size_t i = 0; i < e->n; i++) {
        const struct failure_event *v = &e->v[i];
        bool first = i == 0 || v[-1].node != v->node || v[-1].unit != v->unit;
        bool last = i + 1 == e->n || v[1].node != v->node || v[1].unit != v->unit;
        if (t[v->node].lemon) continue;
        if (first) since = w.begin_s, failed++;
        if (!first || fresh) array_push(out, ((struct life){at_s(v) - since, 1, true}));
        since = fmax(back_s(v), at_s(v));
        if (last && since < w.end_s) array_push(out, ((struct life){w.end_s - since, 1, false}));
    }
    if (fresh && units > failed) array_push(out, ((struct life){w.end_s - w.begin_s, units - failed, false}));
}

static void fit_repairs(struct component_fit *f, const struct events *e, double level)
{
    double *x = xcalloc(e->n + 1, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->v[i].back_ns >= 0) x[n++] = back_s(&e->v[i]) - at_s(&e->v[i]);
    f->repair_s = fit_lognormal(x, n, level);
    free(x);
}

/* ---- one component ---- */

static struct estimate inverse(struct estimate r)
{
    return (struct estimate){1 / r.value, 1 / r.high, 1 / r.low};
}

static bool told_apart(const struct component_fit *f, const struct events *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (f->per_node > 1 && e->v[i].unit == UINT32_MAX) return false;
    return true;
}

/* Failures that come for groups of nodes: only how often, and for how many. */
static void fit_groups(struct component_fit *f, struct events *e, const struct failure_calibration *c, double window_s)
{
    f->span = merge_groups(e, (int64_t)(c->burst_s * 1e9));
    f->per_node = 1;
    if (f->span * 10 >= c->nodes * 9) f->scope = FAULT_STORAGE;
    else if (f->scope != FAULT_RACK) f->scope = FAULT_SWITCH;
    f->incidents = e->n;
    f->unit_s = f->scope == FAULT_STORAGE ? window_s : ceil((double)c->nodes / f->span) * window_s;
    f->mtbf_s = inverse(fit_rate(e->n, f->unit_s, c->level));
    f->life = (struct weibull_fit){.p_exponential = NAN, .shape = not_known, .mean = not_known};
    f->lemon_times = not_known;
}

static void fit_parts(struct component_fit *f, struct events *e, const struct failure_calibration *c, bool fresh, struct window w)
{
    life_list lives = {0};
    bool shared = f->scope == FAULT_RACK || f->scope == FAULT_SWITCH || f->scope == FAULT_STORAGE;
    if (shared) f->scope = FAULT_NODE; /* by its name, but it took one node down at a time */
    qsort(e->v, e->n, sizeof *e->v, by_unit);
    struct tally *t = tally_nodes(e, c->nodes, f->per_node * (w.end_s - w.begin_s));
    take_down_times(t, e, w);
    find_lemons(f, t, c->nodes);
    size_t events;
    double unit_s;
    usual(t, c->nodes, &events, &unit_s);
    f->span = 1;
    f->incidents = e->n;
    f->unit_s = unit_s;
    f->mtbf_s = inverse(fit_rate(events, unit_s, c->level));
    f->lemon_times = not_known;
    if (f->lemons.n) {
        double lemon_s = 0;
        for (uint32_t i = 0; i < c->nodes; i++) lemon_s += t[i].lemon ? t[i].unit_s : 0;
        f->lemon_times = fit_rate_ratio(e->n - events, lemon_s, events, unit_s, c->level);
        f->unit_s += lemon_s;
    }
    if (told_apart(f, e)) collect_lives(e, t, (double)(c->nodes - f->lemons.n) * f->per_node, fresh, w, &lives);
    f->life = fit_weibull(lives.v, lives.n, c->level);
    f->ages = f->life.known && f->life.p_exponential < 0.05;
    if (f->ages) f->mtbf_s = f->life.mean;
    array_free(&lives);
    free(t);
}

static struct events events_of(const struct failure_log *log, uint32_t component)
{
    struct events e = {xcalloc(log->events.n, sizeof *e.v), 0};
    for (size_t i = 0; i < log->events.n; i++)
        if (log->events.v[i].component == component) e.v[e.n++] = log->events.v[i];
    return e;
}

static void fit_component(struct failure_calibration *c, uint32_t component, const struct failure_options *o, struct window w)
{
    struct component_fit f = {.name = intern_text(&c->log->components, component)};
    struct events e = events_of(c->log, component);
    double fleet = (double)e.n / (w.end_s - w.begin_s);
    f.scope = scope_of(f.name);
    f.per_node = f.scope == FAULT_GPU && c->gpus ? c->gpus : 1;
    f.events = e.n;
    f.together = share_together(e.v, e.n, o->burst_ns);
    f.by_chance = 1 - exp(-2 * fleet * c->burst_s);
    fit_repairs(&f, &e, c->level);
    if (f.together > 0.5 && f.together > 3 * f.by_chance) fit_groups(&f, &e, c, w.end_s - w.begin_s);
    else fit_parts(&f, &e, c, o->fresh, w);
    free(e.v);
    if (f.events) array_push(&c->components, f);
}

bool calibrate_failures(const struct failure_log *log, const struct failure_options *o, struct failure_calibration *c,
                        struct diag *d)
{
    struct window w = observed(log, o);
    *c = (struct failure_calibration){.log = log,
                                      .observed_s = w.end_s - w.begin_s,
                                      .level = o->level,
                                      .burst_s = (double)o->burst_ns / 1e9,
                                      .nodes = o->nodes ? o->nodes : log->n_nodes,
                                      .gpus = o->gpus ? o->gpus : log->gpus};
    if (!complete(log, o, c, w, d)) return false;
    size_t incidents = 0;
    for (uint32_t i = 0; i < intern_count(&log->components); i++) fit_component(c, i, o, w);
    for (size_t i = 0; i < c->components.n; i++) incidents += c->components.v[i].incidents;
    c->per_1000_node_days = fit_rate(incidents, c->nodes * c->observed_s / 86400 / 1000, c->level);
    return true;
}

void failure_calibration_free(struct failure_calibration *c)
{
    for (size_t i = 0; i < c->components.n; i++) array_free(&c->components.v[i].lemons);
    array_free(&c->components);
}
