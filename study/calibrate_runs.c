/* calibrate_runs.c - moves the constants until the simulated durations are the measured ones.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/calibrate_runs.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hmap.h"
#include "base/mem.h"
#include "input/scenario.h"
#include "study/calibrate_runs_fit.h"
#include "study/job_index.h"

/* Times and rates of the machine. All else in stack.h are settings, which flags and versions tell. */
static const char *const service_times[] = {
    "training-operator.api-call", "training-operator.reconcile", "controller-manager.api-call", "scheduler.cycle",
    "kubelet.container-start",    "kubelet.pod-delete",          "torchrun.rendezvous",         "nccl.reset-detect",
    "kueue.workload-create",      "kueue.cycle",                 "kueue.admission",             "kueue.eviction",
    "kueue.message",              "kueue.reserve",               "kueue.release",               "kueue.finish",
    "kuberay.create",             "kuberay.cache-lag",           "ray.start",                   "ray.placement-group",
    "ray.actors",                 "ray.driver-start",            "ray-train.worker-start",
    "torchrun.worker-start",
};

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
        if (!fit_takes(x->quantity) || !hmap_get_str(jobs, job_row_id(x->job, buf), &job)) continue;
        if (!(job & 1) && (!live || x->quantity >= Q_WAITS)) continue; /* cut off by the horizon */
        if (!hmap_put_str(seen, fit_key(&key, x), 0)) continue;
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
        bool ok = fit_simulate(f, s, &sim);
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
        by[t->quantity] += d / fit_unit(f, t);
    }
    for (unsigned q = 0; q < N_QUANTITIES; q++)
        if (by[q] > by[m.most]) m.most = q;
    return m;
}

/* What takes no time in a stack is nothing that the machine is known to do: such are fitted only to who names them. */
static bool screen_one(struct fitting *f, size_t constant, const double *base, struct runs_calibration *c)
{
    const double twice = log(2);
    const struct stack_constant *info = stack_constant_at(constant);
    if (info->type != CONST_TIME && (info->type != CONST_RATE || stack_get(&f->stacks[0], constant) <= 0)) return true;
    f->constants.n = 0;
    array_push(&f->constants, constant);
    if (!fit_evaluate(f, &twice, f->scratch)) return false;
    struct movement m = movement_of(f, base, f->scratch);
    if (!m.any) c->not_read++;
    else if (!f->plan->only && fit_is_zero(f, constant)) c->left_zero++;
    else array_push(&c->constants, (struct fitted_constant){.constant = constant, .base = stack_get(&f->stacks[0], constant),
                                                            .begin = fit_begin(&f->stacks[0], constant), .moves = m.most, .twin = SIZE_MAX});
    return true;
}

static bool screen(struct fitting *f, struct runs_calibration *c, struct diag *d)
{
    const struct calibrate_runs_plan *p = f->plan;
    const char *const *names = p->only ? p->only : service_times;
    size_t n = p->only ? p->n_only : sizeof service_times / sizeof *service_times;
    double *base = xcalloc(f->targets.n + 1, sizeof *base);
    bool ok = fit_evaluate(f, NULL, base);
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

/* With the scenarios' own constants: one that is 0 there begins its fit elsewhere (fit_begin). */
static bool evaluate_as_it_was(struct fitting *f, double *out)
{
    size_t n = f->constants.n;
    f->constants.n = 0;
    bool ok = fit_evaluate(f, NULL, out);
    f->constants.n = n;
    return ok;
}

static double cost_as_it_was(struct fitting *f)
{
    double sum = 0;
    if (!evaluate_as_it_was(f, f->scratch)) return 0;
    for (size_t i = 0; i < f->targets.n; i++) {
        const struct target *t = &f->targets.v[i];
        double r = fit_soft((f->scratch[i] - t->live_s) / fit_unit(f, t));
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
        ok = fit_minimise(f, half, x) && fit_evaluate(f, x, all);
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
    ok = ok && fit_minimise(f, -1, x);
    if (ok) {
        fit_keep_better(f, x, c);
        fit_intervals(f, x, c);
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
