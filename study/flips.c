/* flips.c - see flips.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/flips.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/progress.h"
#include "run/metrics.h"

enum { BASE, OTHER, TWO };

struct search {
    const struct flips_plan *plan;
    struct flips *out;
    struct scenario **scenarios; /* base, other */
    uint32_t n_scenarios;
    size_t n;                    /* replications */
    double *values[TWO];         /* of the metric at the default, by replication */
    char fingerprints[TWO][33];  /* of the first replication */
    int64_t until_ns;
    bool stopped; /* interrupted, or failed */
};

struct candidate { /* a constant that the screening lets through */
    size_t constant;
    bool reads[TWO];
    double moved; /* in the first replication */
};
struct candidates { ARRAY(struct candidate) list; };

static int64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool out_of_time(const struct search *s)
{
    return s->stopped || wall_ns() > s->until_ns;
}

/* ---- runs under changed constants ---- */

static int64_t scaled(size_t constant, int64_t value, double factor)
{
    enum constant_type type = stack_constant_at(constant)->type;
    if (type == CONST_SWITCH) return factor > 1 ? !value : value;
    double x = round((double)value * factor);
    int64_t least = value > 0 && type != CONST_TIME ? 1 : 0;
    return x >= 4e18 ? value : x < (double)least ? least : (int64_t)x;
}

static int64_t *constant_in(struct scenario *s, size_t constant)
{
    return (int64_t *)(void *)((char *)&s->approach.stack + stack_constant_at(constant)->offset);
}

/* The scenario with constants [from, to) scaled; it shares everything else with the original, which outlives it. */
static void change(struct scenario *to, const struct scenario *of, size_t first, size_t end, double factor)
{
    *to = *of;
    for (size_t c = first; c < end; c++) *constant_in(to, c) = scaled(c, stack_get(&of->approach.stack, c), factor);
}


static bool run_batch(struct search *s, struct runs_cell *cells, size_t n)
{
    struct runs_plan plan = s->plan->runs;
    plan.progress = NULL;
    plan.record_level = 0;
    plan.keep_run = true;
    if (!runs_cells(&plan, cells, n)) s->out->interrupted = s->stopped = true;
    for (size_t i = 0; i < n && !s->stopped; i++) {
        if (cells[i].ok) continue;
        s->out->error = xstrdup(cells[i].result.error ? cells[i].result.error : "a run failed");
        s->stopped = true;
    }
    return !s->stopped;
}

static void free_cells(struct runs_cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) sim_result_free(&cells[i].result);
    free(cells);
}

/* The metric of both approaches in replications [from, n) with constants [first, end) scaled; where an approach does not
 * read them, what it is at the default. False: stopped. */
static bool measure(struct search *s, size_t first, size_t end, double factor, const bool reads[TWO], size_t from,
                    double *values[TWO])
{
    struct scenario changed[TWO];
    size_t n = 0, each = s->n - from;
    struct runs_cell *cells = xcalloc(TWO * each + 1, sizeof *cells);
    for (int a = 0; a < TWO; a++) {
        change(&changed[a], s->scenarios[a], first, end, factor);
        memcpy(values[a] + from, s->values[a] + from, each * sizeof(double));
        for (size_t k = from; k < s->n && reads[a]; k++)
            cells[n++] = (struct runs_cell){.scenario = &changed[a], .approach = (uint32_t)a, .replication = (uint32_t)k};
    }
    bool ok = run_batch(s, cells, n);
    for (size_t i = 0; i < n && ok; i++)
        values[cells[i].approach][cells[i].replication] = metric_of(cells[i].result.run, s->plan->metric).value;
    free_cells(cells, n);
    return ok;
}

/* ---- the default ---- */

static bool run_default(struct search *s)
{
    struct runs_cell *cells = xcalloc(TWO * s->n, sizeof *cells);
    bool *bound[TWO] = {&s->out->base_bound, &s->out->other_bound};
    for (size_t i = 0; i < TWO * s->n; i++)
        cells[i] = (struct runs_cell){.scenario = s->scenarios[i / s->n], .approach = (uint32_t)(i / s->n),
                                      .replication = (uint32_t)(i % s->n)};
    bool ok = run_batch(s, cells, TWO * s->n);
    for (size_t i = 0; i < TWO * s->n && ok; i++) {
        struct metric_value v = metric_of(cells[i].result.run, s->plan->metric);
        s->values[i / s->n][i % s->n] = v.value;
        *bound[i / s->n] |= v.bound;
        if (i % s->n == 0) memcpy(s->fingerprints[i / s->n], cells[i].result.fingerprint, 33);
    }
    free_cells(cells, TWO * s->n);
    if (ok) s->out->at_default = paired_metric(s->plan->metric, s->values[BASE], s->values[OTHER], s->n, PAIRED_LEVEL);
    return ok;
}

/* ---- screening ---- */

/* Constants [first, end) at both ends in the first replication: which approaches change, and by how much the difference
 * moves. */
static bool screen(struct search *s, size_t first, size_t end, struct candidate *c)
{
    static const double factors[2] = {1 / FLIP_RANGE, FLIP_RANGE};
    struct scenario changed[2 * TWO];
    struct runs_cell *cells = xcalloc(2 * TWO, sizeof *cells);
    for (int i = 0; i < 2 * TWO; i++) {
        change(&changed[i], s->scenarios[i % TWO], first, end, factors[i / TWO]);
        cells[i] = (struct runs_cell){.scenario = &changed[i], .approach = (uint32_t)(i % TWO)};
    }
    bool ok = run_batch(s, cells, 2 * TWO);
    for (int side = 0; side < 2 && ok; side++) {
        double difference = 0;
        for (int a = 0; a < TWO; a++) {
            const struct sim_result *r = &cells[side * TWO + a].result;
            c->reads[a] |= strcmp(r->fingerprint, s->fingerprints[a]) != 0;
            difference += (a == BASE ? -1 : 1) * (metric_of(r->run, s->plan->metric).value - s->values[a][0]);
        }
        if (fabs(difference) > c->moved) c->moved = fabs(difference);
    }
    free_cells(cells, 2 * TWO);
    return ok;
}

/* The first constant of another component: the part of the name up to its point. */
static size_t component_end(size_t first)
{
    const char *name = stack_constant_at(first)->name;
    size_t n = strcspn(name, "."), end = first + 1;
    while (end < stack_constant_count() && !strncmp(stack_constant_at(end)->name, name, n + 1)) end++;
    return end;
}

static void screen_component(struct search *s, size_t first, size_t end, struct candidates *found)
{
    struct candidate all = {.constant = first};
    if (out_of_time(s) || !screen(s, first, end, &all)) {
        for (size_t c = first; c < end; c++) array_push(&s->out->not_tried, c);
        return;
    }
    for (size_t c = first; c < end; c++) {
        struct candidate one = {.constant = c};
        bool any = all.reads[BASE] || all.reads[OTHER];
        if (any && end == first + 1) one = all;
        else if (any && (out_of_time(s) || !screen(s, c, c + 1, &one))) {
            array_push(&s->out->not_tried, c);
            continue;
        }
        if (one.reads[BASE] || one.reads[OTHER]) array_push(&found->list, one);
        else array_push(&s->out->inert, c);
    }
}

static int most_moved(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->moved != b->moved) return a->moved > b->moved ? -1 : 1;
    return a->constant < b->constant ? -1 : a->constant > b->constant;
}

/* ---- ends and turns ---- */

static struct flip_values values_at(const struct search *s, size_t constant, double factor)
{
    return (struct flip_values){scaled(constant, stack_get(&s->scenarios[BASE]->approach.stack, constant), factor),
                                scaled(constant, stack_get(&s->scenarios[OTHER]->approach.stack, constant), factor)};
}

static bool same_values(const struct flip_values *a, const struct flip_values *b)
{
    return a->base == b->base && a->other == b->other;
}

static bool difference_at(struct search *s, const struct candidate *c, double factor, struct paired *p)
{
    double *values[TWO] = {xcalloc(2 * s->n, sizeof(double)), NULL};
    values[OTHER] = values[BASE] + s->n;
    bool ok = measure(s, c->constant, c->constant + 1, factor, c->reads, 0, values);
    if (ok) *p = paired_metric(s->plan->metric, values[BASE], values[OTHER], s->n, PAIRED_LEVEL);
    free(values[BASE]);
    return ok;
}

static bool turned(const struct search *s, double mean)
{
    return s->out->at_default.mean * mean < 0 || (s->out->at_default.mean != 0 && mean == 0);
}

static bool is_shown(const struct paired *p)
{
    return p->verdict == VERDICT_MORE || p->verdict == VERDICT_LESS;
}

/* Halves what lies between near and far; stops between two steps when the time is up. */
static bool find_turn(struct search *s, const struct candidate *c, struct flip_end *e)
{
    struct flip_values near = values_at(s, c->constant, 1);
    if (out_of_time(s)) return false;
    e->sought = true;
    for (int i = 0; i < FLIP_STEPS; i++) {
        double middle = sqrt(e->near * e->far);
        struct flip_values at = values_at(s, c->constant, middle);
        struct paired p;
        if (same_values(&at, &near) || same_values(&at, &e->at)) return true;
        if (!difference_at(s, c, middle, &p)) return false;
        if (turned(s, p.mean)) {
            e->far = middle;
            e->at = at;
        } else {
            e->near = middle;
            near = at;
        }
    }
    return true;
}

static bool try_end(struct search *s, const struct candidate *c, double factor, struct flip *f, struct flip_end *e)
{
    bool is_switch = stack_constant_at(c->constant)->type == CONST_SWITCH;
    e->factor = is_switch ? 0 : factor;
    e->values = e->at = values_at(s, c->constant, factor);
    if (same_values(&e->values, &f->values)) return true;
    if (!difference_at(s, c, factor, &e->difference)) return false;
    e->tried = true;
    e->turns = turned(s, e->difference.mean);
    e->near = 1;
    e->far = e->factor;
    e->shown = e->turns && is_shown(&e->difference) && is_shown(&s->out->at_default);
    double moved = fabs(e->difference.mean - s->out->at_default.mean);
    if (moved > f->moved) f->moved = moved;
    return true;
}

static void try_constant(struct search *s, const struct candidate *c)
{
    struct flip f = {.constant = c->constant, .values = values_at(s, c->constant, 1), .base_reads = c->reads[BASE],
                     .other_reads = c->reads[OTHER]};
    if (!out_of_time(s) && try_end(s, c, 1 / FLIP_RANGE, &f, &f.ends[0]) &&
        try_end(s, c, FLIP_RANGE, &f, &f.ends[1]))
        array_push(&s->out->list, f);
    else
        array_push(&s->out->not_tried, c->constant);
}

/* 2: a turn that is shown, 1: one of the means only. */
static int turns_of(const struct flip *f)
{
    if (f->ends[0].shown || f->ends[1].shown) return 2;
    return f->ends[0].turns || f->ends[1].turns;
}

static int turning_first(const void *left, const void *right)
{
    const struct flip *a = left, *b = right;
    if (turns_of(a) != turns_of(b)) return turns_of(b) - turns_of(a);
    if (a->moved != b->moved) return a->moved > b->moved ? -1 : 1;
    return a->constant < b->constant ? -1 : a->constant > b->constant;
}

static void find_turns(struct search *s, struct flip *f)
{
    struct candidate c = {.constant = f->constant, .reads = {f->base_reads, f->other_reads}};
    for (int i = 0; i < 2; i++)
        if (f->ends[i].turns && f->ends[i].factor != 0) find_turn(s, &c, &f->ends[i]);
}

/* ---- the whole ---- */

static void find_all(struct search *s)
{
    struct progress progress;
    struct candidates found = {0};
    if (!run_default(s)) return;
    progress_begin(&progress, s->plan->runs.progress, "constants screened", stack_constant_count());
    for (size_t c = 0, end; c < stack_constant_count(); c = end) {
        end = component_end(c);
        screen_component(s, c, end, &found);
        progress_update(&progress, end);
    }
    progress_end(&progress);
    if (found.list.n) qsort(found.list.v, found.list.n, sizeof *found.list.v, most_moved);
    progress_begin(&progress, s->plan->runs.progress, "constants tried", found.list.n);
    for (size_t i = 0; i < found.list.n; i++) {
        try_constant(s, &found.list.v[i]);
        progress_update(&progress, i + 1);
    }
    progress_end(&progress);
    if (s->out->list.n) qsort(s->out->list.v, s->out->list.n, sizeof *s->out->list.v, turning_first);
    progress_begin(&progress, s->plan->runs.progress, "turns sought", s->out->list.n);
    for (size_t i = 0; i < s->out->list.n && turns_of(&s->out->list.v[i]); i++) {
        find_turns(s, &s->out->list.v[i]);
        progress_update(&progress, i + 1);
    }
    progress_end(&progress);
    array_free(&found.list);
}

static bool two_approaches(struct search *s)
{
    if (s->n_scenarios == TWO) return true;
    struct str text = {0};
    str_printf(&text, "it turns between two approaches; choose them with --approach NAME --approach NAME. There %s:",
               s->n_scenarios == 1 ? "is" : "are");
    for (uint32_t i = 0; i < s->n_scenarios; i++) str_printf(&text, " %s", s->scenarios[i]->approach.name);
    s->out->error = str_take(&text);
    s->out->choose = true;
    return false;
}

static void describe(struct search *s)
{
    struct flips *f = s->out;
    f->scenario = arena_strdup(&f->arena, s->scenarios[BASE]->name);
    f->base = arena_strdup(&f->arena, s->scenarios[BASE]->approach.name);
    f->other = arena_strdup(&f->arena, s->scenarios[OTHER]->approach.name);
    f->seed = s->scenarios[BASE]->run.seed;
    f->metric = s->plan->metric;
    f->n_replications = s->n;
}

bool flips_find(const struct flips_plan *p, struct flips *f, struct diag *d)
{
    struct search s = {.plan = p, .out = f, .until_ns = wall_ns() + p->budget_ns};
    memset(f, 0, sizeof *f);
    bool ok = runs_load(&p->runs, &s.scenarios, &s.n_scenarios, d) && two_approaches(&s);
    if (ok) {
        s.n = p->runs.replications ? p->runs.replications : s.scenarios[BASE]->run.replications;
        s.values[BASE] = xcalloc(2 * s.n, sizeof(double));
        s.values[OTHER] = s.values[BASE] + s.n;
        describe(&s);
        find_all(&s);
    }
    for (uint32_t a = 0; s.scenarios && a < s.n_scenarios; a++)
        if (s.scenarios[a]) scenario_free(s.scenarios[a]);
    free(s.scenarios);
    free(s.values[BASE]);
    return ok && !f->error;
}

void flips_free(struct flips *f)
{
    array_free(&f->list);
    array_free(&f->inert);
    array_free(&f->not_tried);
    free(f->error);
    arena_free(&f->arena);
    memset(f, 0, sizeof *f);
}
