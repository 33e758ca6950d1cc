/* calibrate_runs.c - moves the constants until the simulated durations are the measured ones.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/calibrate_runs.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hmap.h"
#include "base/mem.h"
#include "base/units.h"
#include "input/scenario.h"
#include "sim/engine/stream.h"
#include "sim/simulate.h"
#include "study/job_index.h"

#define RELATIVE   0.05 /* of a measured duration: counts as one unit of residual */
#define HELD       2.0  /* deviation of a logarithm from its default */
#define FARTHEST   7.0  /* a factor of 1,100 */
#define ALIKE      0.95
#define DETERMINED 2.0
enum { ITERATIONS = 15, DRAWS = 400, STREAM_KEY = 20261130 };

/* Times and rates of the machine. All else in stack.h are settings, which flags and versions tell. */
static const char *const service_times[] = {
    "training-operator.api-call", "training-operator.reconcile", "controller-manager.api-call", "scheduler.cycle",
    "kubelet.container-start",    "kubelet.pod-delete",          "torchrun.rendezvous",         "nccl.reset-detect",
    "kueue.workload-create",      "kueue.cycle",                 "kueue.admission",             "kueue.eviction",
    "kueue.message",              "kueue.reserve",               "kueue.release",               "kueue.finish",
    "kuberay.create",             "kuberay.cache-lag",           "ray.start",                   "ray.placement-group",
    "ray.actors",                 "ray.driver-start",            "ray-train.worker-start",
};

/* One measured duration, or one that only the simulated run has (0 then). */
struct target {
    size_t job;       /* over all runs */
    size_t source;
    unsigned quantity;
    double live_s;
    const char *key;
};

struct fitting {
    const struct calibrate_runs_plan *plan;
    struct live_source *sources;
    struct stack *stacks; /* as the scenarios have them */
    size_t n_sources, n_jobs;
    ARRAY(struct target) targets;
    struct arena arena;
    ARRAY(size_t) constants; /* those that are fitted, of stack.h */
    bool *kept;              /* [as constants] as the scenarios have it; NULL: none is */
    int half;                /* of the jobs that count: 0 or 1; -1: all */
    double difference;       /* of a logarithm, for slopes */
    char *dir, *error;
    double *scratch;         /* a simulated duration a target */
    struct progress progress;
    uint64_t simulated;
};

/* ---- one evaluation ---- */

static const char *key_of(struct str *s, const struct sample *x)
{
    char buf[24];
    str_clear(s);
    str_printf(s, "%u %u %s", x->quantity, x->k, job_row_id(x->job, buf));
    return str_text(s);
}

static bool is_fitted(unsigned quantity) { return quantity != Q_RUN && quantity != Q_STEP; }

static void read_into(struct fitting *f, size_t source, const struct measures *m, double *out)
{
    struct hmap at = {0};
    struct str key = {0};
    uint64_t i;
    for (size_t k = 0; k < m->n; k++)
        if (is_fitted(m->samples[k].quantity)) hmap_put_str(&at, key_of(&key, &m->samples[k]), k);
    for (size_t t = 0; t < f->targets.n; t++) {
        if (f->targets.v[t].source != source) continue;
        out[t] = hmap_get_str(&at, f->targets.v[t].key, &i) ? (double)m->samples[i].ns / 1e9 : 0;
    }
    str_free(&key);
    hmap_free(&at);
}

static bool simulate_one(struct fitting *f, size_t source, struct measures *m)
{
    struct sim_result r;
    struct sim_options o = {.dir = f->dir, .record_level = RECORD_JOBS, .force = true, .scratch = true,
                            .interrupt = f->plan->interrupt};
    bool ok = sim_run(f->sources[source].scenario, &o, &r);
    if (!ok) f->error = xstrdup(r.error ? r.error : "a simulation failed");
    sim_result_free(&r);
    progress_update(&f->progress, ++f->simulated);
    return ok && measures_read(f->dir, m, &f->error);
}

static bool interrupted(const struct fitting *f) { return f->plan->interrupt && *f->plan->interrupt; }

/* Where a constant's fit begins; of one that is 0, which has no logarithm, a second. */
static int64_t base_of(const struct stack *stack, size_t constant)
{
    int64_t value = stack_get(stack, constant);
    return value > 0 ? value : NS_PER_S;
}

/* The simulated durations of all targets with constants moved by factors e^x. */
static bool evaluate(struct fitting *f, const double *x, double *out)
{
    for (size_t s = 0; s < f->n_sources; s++) {
        struct measures m;
        struct stack *stack = &f->sources[s].scenario->approach.stack;
        *stack = f->stacks[s];
        for (size_t p = 0; p < f->constants.n; p++) {
            if (f->kept && f->kept[p]) continue;
            double was = (double)base_of(stack, f->constants.v[p]);
            int64_t now = llround(was * exp(fmax(-FARTHEST, fmin(FARTHEST, x[p]))));
            stack_put(stack, f->constants.v[p], now < 1 ? 1 : now);
        }
        if (f->error || interrupted(f) || !simulate_one(f, s, &m)) return false;
        read_into(f, s, &m, out);
        measures_free(&m);
    }
    return true;
}

/* ---- residuals ---- */

static double unit_of(const struct fitting *f, const struct target *t)
{
    return (double)f->plan->jitter_ns / 1e9 + RELATIVE * t->live_s;
}

static double soft(double e)
{
    return copysign(sqrt(2 * (sqrt(1 + e * e) - 1)), e);
}

static bool counts(const struct fitting *f, const struct target *t)
{
    return f->half < 0 || (int)(t->job % 2) == f->half;
}

static void residuals_at(const struct fitting *f, const double *x, const double *sim, gsl_vector *out)
{
    size_t n = f->targets.n;
    for (size_t i = 0; i < n; i++) {
        const struct target *t = &f->targets.v[i];
        gsl_vector_set(out, i, counts(f, t) ? soft((sim[i] - t->live_s) / unit_of(f, t)) : 0);
    }
    for (size_t p = 0; p < f->constants.n; p++) gsl_vector_set(out, n + p, x[p] / HELD);
}

static int residuals(const gsl_vector *x, void *params, gsl_vector *out)
{
    struct fitting *f = params;
    if (!evaluate(f, x->data, f->scratch)) return GSL_EFAILED;
    residuals_at(f, x->data, f->scratch, out);
    return GSL_SUCCESS;
}

/* Forward differences over more than a little: what happens at whole polls and cycles has no slope over less. */
static int slopes(const gsl_vector *x, void *params, gsl_matrix *out)
{
    struct fitting *f = params;
    size_t n = f->targets.n + f->constants.n;
    gsl_vector *at = gsl_vector_alloc(x->size), *r0 = gsl_vector_alloc(n), *r1 = gsl_vector_alloc(n);
    gsl_vector_memcpy(at, x);
    int status = residuals(at, f, r0);
    for (size_t p = 0; status == GSL_SUCCESS && p < x->size; p++) {
        gsl_vector_set(at, p, gsl_vector_get(x, p) + f->difference);
        status = residuals(at, f, r1);
        gsl_vector_set(at, p, gsl_vector_get(x, p));
        for (size_t i = 0; i < n; i++)
            gsl_matrix_set(out, i, p, (gsl_vector_get(r1, i) - gsl_vector_get(r0, i)) / f->difference);
    }
    gsl_vector_free(at);
    gsl_vector_free(r0);
    gsl_vector_free(r1);
    return status;
}

static double cost_of(struct fitting *f, const double *x)
{
    gsl_vector *r = gsl_vector_alloc(f->targets.n + f->constants.n);
    double sum = 0;
    gsl_vector_view at = gsl_vector_view_array((double *)(uintptr_t)x, f->constants.n);
    if (residuals(&at.vector, f, r) == GSL_SUCCESS)
        for (size_t i = 0; i < f->targets.n; i++) sum += gsl_vector_get(r, i) * gsl_vector_get(r, i);
    gsl_vector_free(r);
    return sum;
}

/* From x down to the next minimum that slopes over f->difference see. */
static void descend(struct fitting *f, gsl_multifit_nlinear_workspace *w, double *x)
{
    int info;
    size_t p = f->constants.n;
    gsl_multifit_nlinear_fdf fdf = {.f = residuals, .df = slopes, .n = f->targets.n + p, .p = p, .params = f};
    gsl_vector_view start = gsl_vector_view_array(x, p);
    if (gsl_multifit_nlinear_init(&start.vector, &fdf, w) != GSL_SUCCESS) return;
    gsl_multifit_nlinear_driver(ITERATIONS, 1e-3, 1e-4, 1e-6, NULL, NULL, &info, w);
    for (size_t i = 0; i < p; i++) x[i] = gsl_vector_get(gsl_multifit_nlinear_position(w), i);
}

/* Keeps x as the best when its misfit is less. */
static void try_from(struct fitting *f, gsl_multifit_nlinear_workspace *w, double *x, double *best, double *least)
{
    descend(f, w, x);
    double cost = cost_of(f, x);
    if (cost >= *least) return;
    *least = cost;
    memcpy(best, x, f->constants.n * sizeof *best);
}

/* The constants that fit the jobs of `half` best. Polls and cycles make the misfit rough, so slopes over several widths
 * are tried, each from the defaults and from the best so far. */
static bool minimise(struct fitting *f, int half, double *best)
{
    static const double differences[] = {0.1, 0.03, 0.01};
    size_t p = f->constants.n;
    double *x = xcalloc(p, sizeof *x), least;
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, f->targets.n + p, p);
    f->half = half;
    memset(best, 0, p * sizeof *best);
    least = cost_of(f, best);
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        f->difference = differences[i];
        memset(x, 0, p * sizeof *x);
        try_from(f, w, x, best, &least);
        memcpy(x, best, p * sizeof *x);
        try_from(f, w, x, best, &least);
    }
    gsl_multifit_nlinear_free(w);
    free(x);
    f->half = -1;
    f->difference = 0.03;
    return !f->error && !interrupted(f);
}

/* ---- targets ---- */

static bool ended(const struct job_row *j) { return j->finished_ns >= 0; }

/* Jobs of the live run that were admitted, by id, numbered over all runs; twice the number, and 1 for those that ended. */
static struct hmap number_jobs(struct fitting *f, size_t source)
{
    struct hmap jobs = {0};
    const struct run *r = f->sources[source].measures.run;
    char buf[24];
    for (size_t i = 0; i < r->n_jobs; i++)
        if (r->jobs[i].row.admitted_ns >= 0)
            hmap_put_str(&jobs, job_row_id(&r->jobs[i].row, buf), f->n_jobs++ << 1 | ended(&r->jobs[i].row));
    return jobs;
}

static void add_targets(struct fitting *f, size_t source, const struct measures *m, bool live, const struct hmap *jobs,
                        struct hmap *seen)
{
    struct str key = {0};
    char buf[24];
    uint64_t job;
    for (size_t i = 0; i < m->n; i++) {
        const struct sample *x = &m->samples[i];
        if (!is_fitted(x->quantity) || !hmap_get_str(jobs, job_row_id(x->job, buf), &job)) continue;
        if (!(job & 1) && (!live || x->quantity >= Q_WAITS)) continue; /* cut off by the horizon */
        if (!hmap_put_str(seen, key_of(&key, x), 0)) continue;
        array_push(&f->targets, (struct target){.job = job >> 1, .source = source, .quantity = x->quantity,
                                                .live_s = live ? (double)x->ns / 1e9 : 0,
                                                .key = arena_strdup(&f->arena, str_text(&key))});
    }
    str_free(&key);
}

static bool collect_targets(struct fitting *f)
{
    for (size_t s = 0; s < f->n_sources; s++) {
        struct measures sim;
        struct hmap seen = {0}, jobs = number_jobs(f, s);
        bool ok = simulate_one(f, s, &sim);
        if (ok) {
            add_targets(f, s, &f->sources[s].measures, true, &jobs, &seen);
            add_targets(f, s, &sim, false, &jobs, &seen);
            measures_free(&sim);
        }
        hmap_free(&seen);
        hmap_free(&jobs);
        if (!ok) return false;
    }
    f->scratch = xcalloc(f->targets.n + 1, sizeof *f->scratch);
    return true;
}

/* ---- which constants ---- */

struct movement { bool any; unsigned most; };

static struct movement movement_of(const struct fitting *f, const double *base, const double *moved)
{
    double by[N_QUANTITIES] = {0};
    struct movement m = {false, 0};
    for (size_t i = 0; i < f->targets.n; i++) {
        const struct target *t = &f->targets.v[i];
        double d = fabs(moved[i] - base[i]);
        if (d > 0) m.any = true;
        by[t->quantity] += d / unit_of(f, t);
    }
    for (unsigned q = 0; q < N_QUANTITIES; q++)
        if (by[q] > by[m.most]) m.most = q;
    return m;
}

static bool is_zero(const struct fitting *f, size_t constant)
{
    bool zero = false;
    for (size_t s = 0; s < f->n_sources; s++) zero |= stack_get(&f->stacks[s], constant) <= 0;
    return zero;
}

/* What takes no time in a stack is nothing that the machine is known to do: such are fitted only to who names them. */
static bool screen_one(struct fitting *f, size_t constant, const double *base, struct runs_calibration *c)
{
    const double twice = log(2);
    const struct stack_constant *info = stack_constant_at(constant);
    if (info->type != CONST_TIME && (info->type != CONST_RATE || stack_get(&f->stacks[0], constant) <= 0)) return true;
    f->constants.n = 0;
    array_push(&f->constants, constant);
    if (!evaluate(f, &twice, f->scratch)) return false;
    struct movement m = movement_of(f, base, f->scratch);
    if (!m.any) c->not_read++;
    else if (!f->plan->only && is_zero(f, constant)) c->left_zero++;
    else array_push(&c->constants, (struct fitted_constant){.constant = constant, .base = stack_get(&f->stacks[0], constant),
                                                            .begin = base_of(&f->stacks[0], constant), .moves = m.most, .twin = SIZE_MAX});
    return true;
}

static bool screen(struct fitting *f, struct runs_calibration *c, struct diag *d)
{
    const struct calibrate_runs_plan *p = f->plan;
    const char *const *names = p->only ? p->only : service_times;
    size_t n = p->only ? p->n_only : sizeof service_times / sizeof *service_times;
    double *base = xcalloc(f->targets.n + 1, sizeof *base);
    bool ok = evaluate(f, NULL, base);
    for (size_t i = 0; ok && i < n; i++) {
        int constant = stack_constant_find(names[i]);
        if (constant < 0) {
            diag_error(d, NULL, 0, NULL, "there is no constant \"%s\"; `trainyard profiles` lists them", names[i]);
            ok = false;
        } else ok = screen_one(f, (size_t)constant, base, c);
    }
    free(base);
    f->constants.n = 0;
    for (size_t i = 0; i < c->constants.n; i++) array_push(&f->constants, c->constants.v[i].constant);
    return ok;
}

/* ---- those that stay as they are ---- */

static bool minimise_with(struct fitting *f, int half, double *x, double *cost)
{
    if (!minimise(f, half, x)) return false;
    f->half = half;
    *cost = cost_of(f, x);
    f->half = -1;
    return !f->error && !interrupted(f);
}

/* Keeps constant p at its 0 when the others have no more misfit then. */
static bool try_zero(struct fitting *f, int half, size_t p, double *x, double *least)
{
    size_t n = f->constants.n;
    double *other = xcalloc(n, sizeof *other), cost;
    f->kept[p] = true;
    bool ok = minimise_with(f, half, other, &cost);
    if (ok && cost <= *least) {
        *least = cost;
        memcpy(x, other, n * sizeof *x);
    } else f->kept[p] = false;
    free(other);
    return ok;
}

/* A constant that is 0 has no logarithm, so 0 is no place that a descent comes to: each is tried at 0, one after another,
 * and then all. */
static bool minimise_all(struct fitting *f, int half, double *x)
{
    size_t n = f->constants.n, zeros = 0;
    double least, none, *other = xcalloc(n, sizeof *other);
    memset(f->kept, 0, n * sizeof *f->kept);
    bool ok = minimise_with(f, half, x, &least);
    for (size_t p = 0; p < n; p++) zeros += is_zero(f, f->constants.v[p]);
    for (size_t p = 0; ok && p < n; p++)
        if (is_zero(f, f->constants.v[p])) ok = try_zero(f, half, p, x, &least);
    if (ok && zeros) {
        bool *found = xcalloc(n, sizeof *found);
        memcpy(found, f->kept, n * sizeof *found);
        for (size_t p = 0; p < n; p++) f->kept[p] = is_zero(f, f->constants.v[p]);
        ok = minimise_with(f, half, other, &none);
        if (ok && none <= least) memcpy(x, other, n * sizeof *x);
        else memcpy(f->kept, found, n * sizeof *found);
        free(found);
    }
    free(other);
    return ok;
}

/* No fit is better than none: then all stay. */
static void keep_what_is_better(struct fitting *f, double *x, struct runs_calibration *c)
{
    c->cost_after = cost_of(f, x);
    if (c->cost_after > c->cost_before) {
        for (size_t p = 0; p < f->constants.n; p++) f->kept[p] = true;
        c->cost_after = c->cost_before;
    }
    for (size_t p = 0; p < f->constants.n; p++) {
        c->constants.v[p].kept = f->kept[p];
        if (f->kept[p]) x[p] = 0;
    }
}

/* ---- intervals ---- */

/* Normal equations of each job at the minimum: a (p x p) and b (p), in a row of p * (p + 1) numbers a job. */
static double *job_equations(const struct fitting *f, const gsl_matrix *slope, const gsl_vector *r)
{
    size_t p = f->constants.n;
    double *all = xcalloc(f->n_jobs * p * (p + 1) + 1, sizeof *all);
    for (size_t i = 0; i < f->targets.n; i++) {
        double *e = &all[f->targets.v[i].job * p * (p + 1)];
        for (size_t a = 0; a < p; a++) {
            double s = gsl_matrix_get(slope, i, a);
            for (size_t b = 0; s != 0 && b < p; b++) e[a * p + b] += s * gsl_matrix_get(slope, i, b);
            e[p * p + a] -= s * gsl_vector_get(r, i);
        }
    }
    return all;
}

/* Step from x when job j counts times[j] times; false when that has no solution. The normal matrix is left in `a`. */
static bool solve_drawn(const struct fitting *f, const double *equations, const unsigned *times, const double *x,
                        gsl_matrix *a, gsl_vector *step)
{
    size_t p = f->constants.n;
    gsl_matrix_set_zero(a);
    for (size_t i = 0; i < p; i++) {
        gsl_matrix_set(a, i, i, 1 / (HELD * HELD));
        gsl_vector_set(step, i, -x[i] / (HELD * HELD));
    }
    for (size_t j = 0; j < f->n_jobs; j++) {
        const double *e = &equations[j * p * (p + 1)];
        for (size_t k = 0; times[j] && k < p * p; k++) a->data[k / p * a->tda + k % p] += times[j] * e[k];
        for (size_t k = 0; times[j] && k < p; k++) step->data[k * step->stride] += times[j] * e[p * p + k];
    }
    return gsl_linalg_cholesky_decomp1(a) == GSL_SUCCESS && gsl_linalg_cholesky_svx(a, step) == GSL_SUCCESS;
}

static void draw_jobs(gsl_rng *rng, size_t n, unsigned *times)
{
    memset(times, 0, n * sizeof *times);
    for (size_t i = 0; i < n; i++) times[gsl_rng_uniform_int(rng, n)]++;
}

/* Percentiles of the drawn steps from the minimum; `draws` has DRAWS numbers a constant, n of them in use. */
static void set_intervals(struct runs_calibration *c, double level, double *draws, size_t n, const double *x)
{
    for (size_t p = 0; p < c->constants.n; p++) {
        struct fitted_constant *k = &c->constants.v[p];
        gsl_sort(&draws[p * DRAWS], 1, n);
        double low = n ? gsl_stats_quantile_from_sorted_data(&draws[p * DRAWS], 1, n, (1 - level) / 2) : -FARTHEST;
        double high = n ? gsl_stats_quantile_from_sorted_data(&draws[p * DRAWS], 1, n, (1 + level) / 2) : FARTHEST;
        k->value = k->kept ? k->base : llround((double)k->begin * exp(x[p]));
        k->low = k->kept ? (double)k->base : (double)k->begin * exp(x[p] + low);
        k->high = k->kept ? (double)k->base : (double)k->begin * exp(x[p] + high);
    }
}

/* Few jobs tell little of how jobs differ: no interval is narrower than that of samples which are one unit off each. A
 * duration is in two samples, a phase and a wait, hence the root of 2. */
static void widen(struct runs_calibration *c, const gsl_matrix *covariance, double level, const double *x)
{
    double z = M_SQRT2 * gsl_cdf_ugaussian_Pinv((1 + level) / 2);
    for (size_t p = 0; p < c->constants.n; p++) {
        struct fitted_constant *k = &c->constants.v[p];
        double by = z * sqrt(gsl_matrix_get(covariance, p, p));
        if (k->kept) continue;
        k->low = fmin(k->low, (double)k->begin * exp(x[p] - by));
        k->high = fmax(k->high, (double)k->begin * exp(x[p] + by));
        k->determined = k->high < DETERMINED * k->low;
    }
}

static void find_twins(struct runs_calibration *c, const gsl_matrix *covariance)
{
    for (size_t a = 0; a < c->constants.n; a++) {
        double most = ALIKE;
        for (size_t b = 0; b < c->constants.n; b++) {
            double scale = sqrt(gsl_matrix_get(covariance, a, a) * gsl_matrix_get(covariance, b, b));
            double r = fabs(gsl_matrix_get(covariance, a, b)) / scale;
            if (a == b || r <= most) continue;
            most = r;
            c->constants.v[a].twin = b;
        }
        if (c->constants.v[a].twin != SIZE_MAX) c->constants.v[a].determined = false;
    }
}

static void all_once(unsigned *times, size_t n)
{
    for (size_t i = 0; i < n; i++) times[i] = 1;
}

static void find_intervals(struct fitting *f, const double *x, struct runs_calibration *c)
{
    size_t p = f->constants.n, n = f->targets.n + p, drawn = 0;
    gsl_matrix *slope = gsl_matrix_alloc(n, p), *a = gsl_matrix_alloc(p, p);
    gsl_vector *r = gsl_vector_alloc(n), *step = gsl_vector_alloc(p);
    gsl_vector_view at = gsl_vector_view_array((double *)(uintptr_t)x, p);
    double *draws = xcalloc(p * DRAWS, sizeof *draws);
    unsigned *times = xcalloc(f->n_jobs + 1, sizeof *times);
    if (slopes(&at.vector, f, slope) == GSL_SUCCESS && residuals(&at.vector, f, r) == GSL_SUCCESS) {
        double *equations = job_equations(f, slope, r);
        gsl_rng *rng = stream_gsl(stream_make(STREAM_KEY, 0, STREAM_STATISTICS, 0));
        for (int i = 0; i < DRAWS; i++) {
            draw_jobs(rng, f->n_jobs, times);
            if (!solve_drawn(f, equations, times, x, a, step)) continue;
            for (size_t k = 0; k < p; k++) draws[k * DRAWS + drawn] = gsl_vector_get(step, k);
            drawn++;
        }
        gsl_rng_free(rng);
        set_intervals(c, f->plan->level, draws, drawn, x);
        all_once(times, f->n_jobs);
        if (solve_drawn(f, equations, times, x, a, step) && gsl_linalg_cholesky_invert(a) == GSL_SUCCESS) {
            widen(c, a, f->plan->level, x);
            find_twins(c, a);
        }
        free(equations);
    }
    free(times);
    free(draws);
    gsl_vector_free(step);
    gsl_vector_free(r);
    gsl_matrix_free(a);
    gsl_matrix_free(slope);
}

/* ---- held out ---- */

static double error_of(const struct fitting *f, const struct target *t, double sim)
{
    double off = fabs(sim - t->live_s);
    if (off <= (double)f->plan->jitter_ns / 1e9) return 0;
    return t->live_s > 0 ? off / t->live_s : INFINITY;
}

/* predicted[i]: of each target, by the constants that were fitted to the other half of the jobs. */
static void compare_held_out(const struct fitting *f, const double *base, const double *predicted, struct runs_calibration *c)
{
    double *before = xcalloc(f->targets.n + 1, sizeof *before), *after = xcalloc(f->targets.n + 1, sizeof *after);
    for (unsigned q = 0; q < N_QUANTITIES; q++) {
        size_t n = 0;
        for (size_t i = 0; i < f->targets.n; i++) {
            const struct target *t = &f->targets.v[i];
            if (t->quantity != q) continue;
            before[n] = error_of(f, t, base[i]);
            after[n++] = error_of(f, t, predicted[i]);
        }
        if (!n) continue;
        gsl_sort(before, 1, n);
        gsl_sort(after, 1, n);
        array_push(&c->errors, (struct held_out_error){q, n, gsl_stats_median_from_sorted_data(before, 1, n),
                                                       gsl_stats_median_from_sorted_data(after, 1, n)});
    }
    free(before);
    free(after);
}

/* With the scenarios' own constants: one that is 0 there begins its fit elsewhere (base_of). */
static bool evaluate_as_it_was(struct fitting *f, double *out)
{
    size_t n = f->constants.n;
    f->constants.n = 0;
    bool ok = evaluate(f, NULL, out);
    f->constants.n = n;
    return ok;
}

static double cost_as_it_was(struct fitting *f)
{
    double sum = 0;
    if (!evaluate_as_it_was(f, f->scratch)) return 0;
    for (size_t i = 0; i < f->targets.n; i++) {
        const struct target *t = &f->targets.v[i];
        double r = soft((f->scratch[i] - t->live_s) / unit_of(f, t));
        sum += r * r;
    }
    return sum;
}

static bool hold_out(struct fitting *f, double *x, struct runs_calibration *c)
{
    size_t n = f->targets.n;
    double *base = xcalloc(n + 1, sizeof *base), *predicted = xcalloc(n + 1, sizeof *predicted),
           *all = xcalloc(n + 1, sizeof *all);
    memset(x, 0, f->constants.n * sizeof *x);
    bool ok = evaluate_as_it_was(f, base);
    for (int half = 0; ok && half < 2; half++) {
        ok = minimise_all(f, half, x) && evaluate(f, x, all);
        for (size_t i = 0; i < n; i++)
            if ((int)(f->targets.v[i].job % 2) != half) predicted[i] = all[i];
    }
    if (ok) compare_held_out(f, base, predicted, c);
    free(all);
    free(predicted);
    free(base);
    return ok;
}

/* ---- all ---- */

static bool open_source(struct fitting *f, size_t i, struct runs_calibration *c, struct diag *d)
{
    struct live_source *s = &f->sources[i];
    const char *dir = f->plan->dirs[i];
    if (!measures_read(dir, &s->measures, &f->error)) return false;
    if (s->measures.warnings) str_append(&c->warnings, s->measures.warnings);
    if (s->measures.damaged) {
        diag_error(d, dir, 0, NULL, "the timeline is damaged, and nothing is fitted to a part of a run: play it again, or leave it out");
        return false;
    }
    s->scenario = scenario_load(path_join(&f->arena, dir, "scenario.json"), NULL, NULL, d);
    if (!s->scenario) return false;
    f->stacks[i] = s->scenario->approach.stack;
    f->n_sources = i + 1;
    return true;
}

static bool make_dir(struct fitting *f)
{
    f->dir = file_temporary_dir("calibrate");
    if (!f->dir) f->error = xstrdup("no temporary directory can be made for simulations: set TMPDIR");
    return f->dir != NULL;
}

static bool fit(struct fitting *f, struct runs_calibration *c, struct diag *d)
{
    if (!collect_targets(f)) return false;
    if (!f->targets.n) {
        diag_error(d, f->plan->dirs[0], 0, NULL, "%s, so there is nothing to fit to: play the scenario again, until its jobs end",
                   f->n_jobs ? "no duration was measured" : "no job was admitted");
        return false;
    }
    if (!screen(f, c, d)) return false;
    c->n_jobs = f->n_jobs;
    c->n_samples = f->targets.n;
    if (!f->constants.n) return true;
    double *x = xcalloc(f->constants.n, sizeof *x);
    f->kept = xcalloc(f->constants.n, sizeof *f->kept);
    bool ok = hold_out(f, x, c);
    memset(x, 0, f->constants.n * sizeof *x);
    if (ok) c->cost_before = cost_as_it_was(f);
    ok = ok && minimise_all(f, -1, x);
    if (ok) {
        keep_what_is_better(f, x, c);
        find_intervals(f, x, c);
    }
    free(x);
    return ok && !f->error;
}

/* What all the runs' stacks say alike; the default where they differ. */
static void common_stack(const struct fitting *f, struct stack *to)
{
    stack_defaults(to);
    for (size_t i = 0; i < stack_constant_count(); i++) {
        bool alike = true;
        for (size_t s = 1; s < f->n_sources; s++) alike &= stack_get(&f->stacks[s], i) == stack_get(&f->stacks[0], i);
        if (alike) stack_put(to, i, stack_get(&f->stacks[0], i));
    }
}

static char *source_text(const struct fitting *f)
{
    struct str s = {0};
    str_printf(&s, "trainyard calibrate: %zu jobs of %zu live run%s on %s (%s", f->n_jobs, f->n_sources,
               f->n_sources == 1 ? "" : "s", f->sources[0].measures.run->back_end, f->sources[0].measures.run->scenario_name);
    for (size_t i = 1; i < f->n_sources; i++) str_printf(&s, ", %s", f->sources[i].measures.run->scenario_name);
    str_append(&s, ")");
    return str_take(&s);
}

static void fitting_free(struct fitting *f)
{
    struct diag d = {0};
    if (f->dir && !file_remove_tree(f->dir, &d)) diag_print(&d, stderr);
    diag_free(&d);
    for (size_t i = 0; i < f->plan->n; i++) {
        measures_free(&f->sources[i].measures);
        if (f->sources[i].scenario) scenario_free(f->sources[i].scenario);
    }
    free(f->sources);
    free(f->stacks);
    free(f->scratch);
    free(f->kept);
    free(f->dir);
    array_free(&f->targets);
    array_free(&f->constants);
    arena_free(&f->arena);
}

bool calibrate_runs(const struct calibrate_runs_plan *plan, struct runs_calibration *c, struct diag *d, char **err)
{
    struct fitting f = {.plan = plan, .half = -1};
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    *c = (struct runs_calibration){.level = plan->level, .n_runs = plan->n};
    f.sources = xcalloc(plan->n, sizeof *f.sources);
    f.stacks = xcalloc(plan->n, sizeof *f.stacks);
    progress_begin(&f.progress, plan->progress, "simulations", 0);
    bool ok = make_dir(&f);
    for (size_t i = 0; ok && i < plan->n; i++) ok = open_source(&f, i, c, d);
    ok = ok && fit(&f, c, d);
    progress_end(&f.progress);
    if (ok) {
        c->source = source_text(&f);
        common_stack(&f, &c->stack);
        calibrate_runs_direct(f.sources, f.n_sources, plan->level, c);
    }
    *err = f.error;
    fitting_free(&f);
    gsl_set_error_handler(handler);
    return ok;
}

void runs_calibration_free(struct runs_calibration *c)
{
    for (size_t i = 0; i < c->steps.n; i++) free(c->steps.v[i].job);
    array_free(&c->constants);
    array_free(&c->errors);
    array_free(&c->steps);
    free(c->source);
    str_free(&c->warnings);
    *c = (struct runs_calibration){0};
}
