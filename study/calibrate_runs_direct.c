/* calibrate_runs_direct.c - what live runs tell without a simulation: steps, checkpoints, failures.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/hmap.h"
#include "base/mem.h"
#include "input/scenario.h"
#include "study/calibrate_runs.h"
#include "study/job_index.h"

/* ---- steps ---- */

static double part(const struct job_row *j, enum activity a, double step_s)
{
    share_ns all = j->work - j->work_by[ACT_CHECKPOINT - FIRST_WORK];
    return all ? step_s * (double)j->work_by[a - FIRST_WORK] / (double)all : 0;
}

static void steps_of(const struct measures *m, struct runs_calibration *c)
{
    char buf[24];
    for (size_t i = 0; i < m->n; i++) {
        const struct job_row *j = m->samples[i].job;
        if (m->samples[i].quantity != Q_STEP) continue;
        double s = (double)m->samples[i].ns / 1e9, gpus = (double)j->gpu_shares / SHARES_PER_GPU;
        share_ns work = j->work + j->redone - j->work_by[ACT_CHECKPOINT - FIRST_WORK];
        array_push(&c->steps, (struct measured_steps){.job = xstrdup(job_row_id(j, buf)),
                                                      .steps = llround((double)work / 1e12 / gpus / s),
                                                      .step_s = s,
                                                      .compute_s = part(j, ACT_COMPUTE, s),
                                                      .communication_s = part(j, ACT_COMMUNICATION, s),
                                                      .data_s = part(j, ACT_DATA_WAIT, s)});
    }
}

/* ---- checkpoints ---- */

struct saves { ARRAY(double) bytes, seconds; ARRAY(double) all, loads; };

static size_t starts_of(const struct measures *m, const struct job_row *j)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_events; i++) n += m->events[i].job == j && m->events[i].what == H_STARTED;
    return n;
}

static void times_of(const struct measures *m, struct saves *out)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct sample *x = &m->samples[i];
        size_t starts = x->quantity == Q_WAITS + WAIT_CHECKPOINT_LOAD ? starts_of(m, x->job) : 0;
        if (x->quantity == Q_SAVE) array_push(&out->all, (double)x->ns / 1e9);
        if (starts > 1) array_push(&out->loads, (double)x->ns / 1e9 / (double)(starts - 1));
    }
}

static double median(double *v, size_t n)
{
    gsl_sort(v, 1, n);
    return n ? gsl_stats_median_from_sorted_data(v, 1, n) : NAN;
}

static void saves_of(const struct live_source *s, struct saves *out)
{
    struct hmap bytes = {0};
    char buf[24];
    for (size_t i = 0; i < s->scenario->n_jobs; i++)
        hmap_put_str(&bytes, job_id(s->scenario, &s->scenario->jobs[i], buf), i);
    for (size_t i = 0; i < s->measures.n; i++) {
        const struct sample *x = &s->measures.samples[i];
        uint64_t job;
        if (x->quantity != Q_SAVE || !hmap_get_str(&bytes, job_row_id(x->job, buf), &job)) continue;
        double b = (double)s->scenario->details[s->scenario->jobs[job].detail].checkpoint.size_bytes; /* 0: not said */
        if (b <= 0) continue;
        array_push(&out->bytes, b);
        array_push(&out->seconds, (double)x->ns / 1e9);
    }
    hmap_free(&bytes);
}

static bool sizes_differ(const struct saves *s)
{
    for (size_t i = 1; i < s->bytes.n; i++)
        if (fabs(s->bytes.v[i] / s->bytes.v[0] - 1) > 0.05) return true;
    return false;
}

/* seconds = latency + bytes / bandwidth. With one size only, all of the time is taken for bandwidth. */
static void fit_saves(const struct saves *s, double level, struct measured_saves *out)
{
    double a = 0, b, cov00, cov01, cov11, sum;
    *out = (struct measured_saves){.n = s->bytes.n, .latency_s = NAN, .latency_low = NAN, .latency_high = NAN};
    if (s->bytes.n < 3) {
        out->n = 0;
        return;
    }
    double t = gsl_cdf_tdist_Pinv((1 + level) / 2, (double)(s->bytes.n - (sizes_differ(s) ? 2 : 1)));
    if (sizes_differ(s)) {
        gsl_fit_linear(s->bytes.v, 1, s->seconds.v, 1, s->bytes.n, &a, &b, &cov00, &cov01, &cov11, &sum);
        out->latency_s = a;
        out->latency_low = a - t * sqrt(cov00);
        out->latency_high = a + t * sqrt(cov00);
    } else {
        gsl_fit_mul(s->bytes.v, 1, s->seconds.v, 1, s->bytes.n, &b, &cov11, &sum);
    }
    out->bytes_per_s = 1 / b;
    out->low = 1 / (b + t * sqrt(cov11));
    out->high = b > t * sqrt(cov11) ? 1 / (b - t * sqrt(cov11)) : INFINITY;
}

/* ---- failures ---- */

/* Runs whose scenario causes failures itself tell nothing of how often they come. */
static void failures_of(const struct live_source *s, struct measured_failures *out)
{
    if (s->scenario->faults.n_script) return;
    for (size_t i = 0; i < s->measures.run->n_jobs; i++) {
        const struct job_row *j = &s->measures.run->jobs[i].row;
        out->n += j->restarts;
        out->rank_hours += (double)(j->work + j->redone) / 1e12 / 3600;
    }
}

/* F. Garwood, "Fiducial limits for the Poisson distribution", Biometrika 28, 1936. */
static void rate_of(struct measured_failures *f, double level)
{
    if (f->rank_hours <= 0) return;
    double n = (double)f->n, tail = (1 - level) / 2;
    f->rate = n / f->rank_hours;
    f->low = f->n ? gsl_cdf_chisq_Pinv(tail, 2 * n) / 2 / f->rank_hours : 0;
    f->high = gsl_cdf_chisq_Pinv(1 - tail, 2 * n + 2) / 2 / f->rank_hours;
}

void calibrate_runs_direct(const struct live_source *sources, size_t n, double level, struct runs_calibration *c)
{
    struct saves saves = {0};
    for (size_t i = 0; i < n; i++) {
        steps_of(&sources[i].measures, c);
        saves_of(&sources[i], &saves);
        times_of(&sources[i].measures, &saves);
        failures_of(&sources[i], &c->failures);
    }
    fit_saves(&saves, level, &c->saves);
    c->saves.n_all = saves.all.n;
    c->saves.save_s = median(saves.all.v, saves.all.n);
    c->saves.n_loads = saves.loads.n;
    c->saves.load_s = median(saves.loads.v, saves.loads.n);
    rate_of(&c->failures, level);
    array_free(&saves.bytes);
    array_free(&saves.seconds);
    array_free(&saves.all);
    array_free(&saves.loads);
}
