/* validate.c - pairs the samples and the events of two runs, and judges.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/validate.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hmap.h"
#include "base/mem.h"
#include "study/job_index.h"

/* ---- keys: what matches what ---- */

static const char *key_of(struct str *s, const struct job_row *job, unsigned what, uint32_t k)
{
    char buf[24];
    str_clear(s);
    str_printf(s, "%u %u %s", what, k, job_row_id(job, buf));
    return str_text(s);
}

struct keyed {
    struct hmap map; /* key -> index */
    struct str key;
};

static void keyed_free(struct keyed *k)
{
    hmap_free(&k->map);
    str_free(&k->key);
}

static struct keyed keyed_samples(const struct measures *m)
{
    struct keyed k = {0};
    for (size_t i = 0; i < m->n; i++)
        hmap_put_str(&k.map, key_of(&k.key, m->samples[i].job, m->samples[i].quantity, m->samples[i].k), i);
    return k;
}

static struct keyed keyed_events(const struct measures *m)
{
    struct keyed k = {0};
    for (size_t i = 0; i < m->n_events; i++)
        hmap_put_str(&k.map, key_of(&k.key, m->events[i].job, m->events[i].what, m->events[i].k), i);
    return k;
}

static struct keyed keyed_jobs(const struct run *r)
{
    struct keyed k = {0};
    char buf[24];
    for (size_t i = 0; i < r->n_jobs; i++) hmap_put_str(&k.map, job_row_id(&r->jobs[i].row, buf), i);
    return k;
}

/* ---- one quantity ---- */

struct values {
    ARRAY(double) list;
};

static double quantile(const struct values *v, double p)
{
    return v->list.n ? gsl_stats_quantile_from_sorted_data(v->list.v, 1, v->list.n, p) : NAN;
}

static void sort(struct values *v)
{
    if (v->list.n) gsl_sort(v->list.v, 1, v->list.n);
}

/* sup |F_a - F_b| of two sorted samples. */
static double ks_distance(const struct values *a, const struct values *b)
{
    size_t i = 0, j = 0;
    double most = 0;
    if (!a->list.n || !b->list.n) return NAN;
    while (i < a->list.n && j < b->list.n) {
        double x = fmin(a->list.v[i], b->list.v[j]);
        while (i < a->list.n && a->list.v[i] <= x) i++;
        while (j < b->list.n && b->list.v[j] <= x) j++;
        most = fmax(most, fabs((double)i / (double)a->list.n - (double)j / (double)b->list.n));
    }
    return most;
}

struct pairing {
    const struct validation *v;
    struct values sim, live, errors;
    double bias, tolerance;
    size_t near; /* pairs within the tolerance, or the jitter */
    struct keyed sims, lives;
};

static void add_pair(struct pairing *p, int64_t sim_ns, int64_t live_ns)
{
    double d = (double)(sim_ns - live_ns) / 1e9;
    p->bias += d;
    p->near += fabs(d) <= p->tolerance * (double)live_ns / 1e9 || fabs(d) <= (double)p->v->jitter_ns / 1e9;
    array_push(&p->errors.list, live_ns ? fabs(d) / ((double)live_ns / 1e9) : d == 0 ? 0 : INFINITY);
}

/* Its twin in the other run; NULL: that has none. */
static const struct sample *twin_sample(const struct measures *other, struct keyed *keys, const struct sample *s)
{
    uint64_t at;
    return hmap_get_str(&keys->map, key_of(&keys->key, s->job, s->quantity, s->k), &at) ? &other->samples[at] : NULL;
}

static void collect(struct pairing *p, unsigned quantity)
{
    const struct measures *sim = &p->v->sim, *live = &p->v->live;
    for (size_t i = 0; i < sim->n; i++)
        if (sim->samples[i].quantity == quantity) array_push(&p->sim.list, (double)sim->samples[i].ns / 1e9);
    for (size_t i = 0; i < live->n; i++) {
        const struct sample *s = &live->samples[i];
        if (s->quantity != quantity) continue;
        array_push(&p->live.list, (double)s->ns / 1e9);
        const struct sample *twin = twin_sample(sim, &p->sims, s);
        if (twin) add_pair(p, twin->ns, s->ns);
    }
}

/* One job's wait in both runs, 0 where it has none: it counts in both or, where neither is longer than the jitter, in none. */
static void decide_wait(struct pairing *p, struct validated *r, int64_t sim_ns, int64_t live_ns)
{
    if ((sim_ns > live_ns ? sim_ns : live_ns) <= p->v->jitter_ns) return;
    array_push(&p->sim.list, (double)sim_ns / 1e9);
    array_push(&p->live.list, (double)live_ns / 1e9);
    r->n_sim += sim_ns > 0;
    r->n_live += live_ns > 0;
    add_pair(p, sim_ns, live_ns);
}

static void collect_waits(struct pairing *p, struct validated *r)
{
    const struct measures *sim = &p->v->sim, *live = &p->v->live;
    for (size_t i = 0; i < live->n; i++) {
        const struct sample *s = &live->samples[i], *twin;
        if (s->quantity != r->quantity) continue;
        twin = twin_sample(sim, &p->sims, s);
        decide_wait(p, r, twin ? twin->ns : 0, s->ns);
    }
    for (size_t i = 0; i < sim->n; i++)
        if (sim->samples[i].quantity == r->quantity && !twin_sample(live, &p->lives, &sim->samples[i]))
            decide_wait(p, r, sim->samples[i].ns, 0);
}

static bool within(const struct pairing *p, const struct validated *r)
{
    bool wait = r->quantity >= Q_WAITS;
    if (wait ? 2 * p->near <= r->n_pairs : !r->n_sim || !r->n_live) return false;
    double off = fabs(r->sim_p50_s - r->live_p50_s);
    return off <= r->tolerance * r->live_p50_s || off <= (double)p->v->jitter_ns / 1e9;
}

static struct validated validated_of(struct pairing *p, unsigned quantity, double tolerance)
{
    struct validated r = {.quantity = quantity, .tolerance = tolerance};
    p->sim.list.n = p->live.list.n = p->errors.list.n = 0;
    p->bias = 0;
    p->near = 0;
    p->tolerance = tolerance;
    if (quantity < Q_WAITS) {
        collect(p, quantity);
        r.n_sim = p->sim.list.n;
        r.n_live = p->live.list.n;
    } else {
        collect_waits(p, &r);
    }
    sort(&p->sim);
    sort(&p->live);
    sort(&p->errors);
    r.sim_p50_s = quantile(&p->sim, 0.5);
    r.live_p50_s = quantile(&p->live, 0.5);
    r.sim_p95_s = quantile(&p->sim, 0.95);
    r.live_p95_s = quantile(&p->live, 0.95);
    r.distance = ks_distance(&p->sim, &p->live);
    r.n_pairs = p->errors.list.n;
    r.bias_s = r.n_pairs ? p->bias / (double)r.n_pairs : NAN;
    r.error = quantile(&p->errors, 0.5);
    r.passed = within(p, &r);
    return r;
}

static double default_tolerance(unsigned quantity)
{
    return quantity == Q_STEP ? VALIDATE_STEP_TOLERANCE : VALIDATE_PHASE_TOLERANCE;
}

static void validate_quantities(struct validation *v, const struct validate_plan *plan)
{
    struct pairing p = {.v = v, .sims = keyed_samples(&v->sim), .lives = keyed_samples(&v->live)};
    for (unsigned q = 0; q < N_QUANTITIES; q++) {
        struct validated r = validated_of(&p, q, plan->tolerance[q] > 0 ? plan->tolerance[q] : default_tolerance(q));
        if (r.n_sim || r.n_live) v->rows[v->n_rows++] = r;
    }
    keyed_free(&p.sims);
    keyed_free(&p.lives);
    array_free(&p.sim.list);
    array_free(&p.live.list);
    array_free(&p.errors.list);
}

/* ---- events ---- */

static void differ(struct validation *v, struct difference d)
{
    array_push(&v->differences, d);
}

static int by_time(const void *a, const void *b)
{
    const struct happened *x = *(const struct happened *const *)a, *y = *(const struct happened *const *)b;
    if (x->at_ns != y->at_ns) return x->at_ns < y->at_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Events of the live run that the simulated one has too, by time; `twin` of each lies at the same place. */
struct twins {
    const struct happened **live;
    size_t n;
    struct keyed sims;
};

static const struct happened *twin_of(const struct validation *v, struct twins *t, const struct happened *live)
{
    uint64_t at;
    return hmap_get_str(&t->sims.map, key_of(&t->sims.key, live->job, live->what, live->k), &at) ? &v->sim.events[at] : NULL;
}

static bool same_job(const struct job_row *a, const struct job_row *b)
{
    char x[24], y[24];
    return strcmp(job_row_id(a, x), job_row_id(b, y)) == 0;
}

/* Of the events more than three jitters before the i-th, the one that came last in the simulated run: when that was after
 * the i-th's twin, the two are the other way round there. */
static void compare_order(struct validation *v, struct twins *t)
{
    const struct happened *latest = NULL, *latest_twin = NULL;
    size_t before = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct happened *twin = twin_of(v, t, t->live[i]);
        for (; t->live[before]->at_ns < t->live[i]->at_ns - 3 * v->jitter_ns; before++) {
            const struct happened *x = twin_of(v, t, t->live[before]);
            if (latest && x->at_ns <= latest_twin->at_ns) continue;
            latest = t->live[before];
            latest_twin = x;
        }
        if (latest && latest_twin->at_ns > twin->at_ns)
            differ(v, (struct difference){.kind = DIFF_ORDER, .event = t->live[i], .other = latest});
    }
}

static void match_events(struct validation *v, struct twins *t)
{
    t->live = xcalloc(v->live.n_events + 1, sizeof *t->live);
    for (size_t i = 0; i < v->live.n_events; i++) {
        const struct happened *e = &v->live.events[i], *twin = twin_of(v, t, e);
        if (!twin) {
            differ(v, (struct difference){.kind = DIFF_ONLY_LIVE, .event = e});
            continue;
        }
        t->live[t->n++] = e;
        if (e->what == H_EVICTED && !same_job(e->by, twin->by))
            differ(v, (struct difference){.kind = DIFF_VICTIM, .event = e, .other = twin});
    }
    if (t->n) qsort(t->live, t->n, sizeof *t->live, by_time);
}

static void find_only_sim(struct validation *v)
{
    struct keyed lives = keyed_events(&v->live);
    for (size_t i = 0; i < v->sim.n_events; i++) {
        const struct happened *e = &v->sim.events[i];
        if (!hmap_get_str(&lives.map, key_of(&lives.key, e->job, e->what, e->k), NULL))
            differ(v, (struct difference){.kind = DIFF_ONLY_SIM, .event = e});
    }
    keyed_free(&lives);
}

static void validate_events(struct validation *v)
{
    struct twins t = {0};
    if (!v->sim.has_timeline || !v->live.has_timeline) return;
    t.sims = keyed_events(&v->sim);
    match_events(v, &t);
    v->n_events = t.n;
    compare_order(v, &t);
    find_only_sim(v);
    keyed_free(&t.sims);
    free(t.live);
}

/* ---- jobs ---- */

static bool same_places(const struct job_row *a, const struct job_row *b)
{
    if (a->n_nodes != b->n_nodes) return false;
    for (unsigned i = 0; i < a->n_nodes; i++)
        if (a->nodes[i].first != b->nodes[i].first || a->nodes[i].last != b->nodes[i].last) return false;
    return true;
}

static void validate_jobs(struct validation *v)
{
    struct keyed sims = keyed_jobs(v->sim.run);
    char buf[24];
    for (size_t i = 0; i < v->live.run->n_jobs; i++) {
        const struct job_row *live = &v->live.run->jobs[i].row, *sim;
        uint64_t at;
        if (!hmap_get_str(&sims.map, job_row_id(live, buf), &at)) continue;
        sim = &v->sim.run->jobs[at].row;
        v->n_jobs++;
        if (sim->state != live->state) differ(v, (struct difference){.kind = DIFF_END, .sim = sim, .live = live});
        if (!same_places(sim, live)) differ(v, (struct difference){.kind = DIFF_PLACE, .sim = sim, .live = live});
    }
    v->unmatched_jobs = v->live.run->n_jobs + v->sim.run->n_jobs - 2 * v->n_jobs;
    keyed_free(&sims);
}

/* ---- all ---- */

static int by_kind(const void *a, const void *b)
{
    const struct difference *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->event && y->event && x->event->at_ns != y->event->at_ns) return x->event->at_ns < y->event->at_ns ? -1 : 1;
    if (x->event || y->event) return x->event < y->event ? -1 : x->event > y->event;
    return x->live < y->live ? -1 : x->live > y->live;
}

static void judge(struct validation *v)
{
    v->passed = v->n_jobs > 0 && v->unmatched_jobs == 0;
    for (size_t i = 0; i < v->n_rows && !v->events_only; i++) v->passed &= v->rows[i].passed;
    for (size_t i = 0; i < v->differences.n; i++) {
        v->counts[v->differences.v[i].kind]++;
        if (v->differences.v[i].kind != DIFF_PLACE) v->passed = false;
    }
    if (v->differences.n) qsort(v->differences.v, v->differences.n, sizeof *v->differences.v, by_kind);
}

bool validate_runs(const struct validate_plan *plan, struct validation *v, char **err)
{
    *v = (struct validation){.jitter_ns = plan->jitter_ns, .events_only = plan->events_only};
    if (!measures_read(plan->sim, &v->sim, err)) return false;
    if (!measures_read(plan->live, &v->live, err)) {
        validate_free(v);
        return false;
    }
    validate_quantities(v, plan);
    validate_events(v);
    validate_jobs(v);
    judge(v);
    return true;
}

void validate_free(struct validation *v)
{
    measures_free(&v->sim);
    measures_free(&v->live);
    array_free(&v->differences);
    *v = (struct validation){0};
}
