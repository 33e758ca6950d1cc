/* metrics.c - the table of metrics and what fills it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "run/metrics.h"

#include <assert.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "run/decimal.h"
#include "run/run.h"

/* Quantities that jobs have, each with five statistics. */
enum quantity { OF_WAIT, OF_ADMISSION, OF_JCT, OF_SLOWDOWN, N_QUANTITIES };
enum statistic { MEAN, P50, P95, P99, MAX, N_STATISTICS };

enum {
    M_MAKESPAN = N_QUANTITIES * N_STATISTICS,
    M_JOBS,
    M_FINISHED,
    M_FAILED,
    M_REJECTED,
    M_CANCELLED,
    M_UNFINISHED,
    M_RESTARTS,
    M_PREEMPTIONS,
    M_UTILISATION,
    M_GOODPUT,
    M_WASTE,
    M_WORK_HOURS,
    M_REDONE_HOURS,
    M_HELD_HOURS,
    M_IDLE_HOURS,
    M_DOWN_HOURS,
    N_METRICS
};

#define ROW(index, name, unit, help, better) [index] = {name, unit, help, better}
#define STATISTICS(q, name, unit, what)                                                                                \
    ROW(q *N_STATISTICS + MEAN, "mean_" name, unit, "mean " what, BETTER_LESS),                                        \
        ROW(q *N_STATISTICS + P50, "p50_" name, unit, "median " what, BETTER_LESS),                                    \
        ROW(q *N_STATISTICS + P95, "p95_" name, unit, "95th percentile of the " what, BETTER_LESS),                    \
        ROW(q *N_STATISTICS + P99, "p99_" name, unit, "99th percentile of the " what, BETTER_LESS),                    \
        ROW(q *N_STATISTICS + MAX, "max_" name, unit, "greatest " what, BETTER_LESS)

static const struct metric_info table[N_METRICS] = {
    STATISTICS(OF_WAIT, "wait", "s", "time from submission to the first step"),
    STATISTICS(OF_ADMISSION, "admission", "s", "time from submission to admission"),
    STATISTICS(OF_JCT, "jct", "s", "time from submission to the end"),
    STATISTICS(OF_SLOWDOWN, "slowdown", "1", "bounded slowdown: jct / max(ideal, 10 s), at least 1"),
    ROW(M_MAKESPAN, "makespan", "s", "from the first submission to the last end", BETTER_LESS),
    ROW(M_JOBS, "jobs", "jobs", "submitted", BETTER_NEITHER),
    ROW(M_FINISHED, "finished", "jobs", "succeeded", BETTER_MORE),
    ROW(M_FAILED, "failed", "jobs", "failed", BETTER_LESS),
    ROW(M_REJECTED, "rejected", "jobs", "never admitted and not kept", BETTER_LESS),
    ROW(M_CANCELLED, "cancelled", "jobs", "ended by their owner", BETTER_NEITHER),
    ROW(M_UNFINISHED, "unfinished", "jobs", "not ended at the end of the run", BETTER_LESS),
    ROW(M_RESTARTS, "restarts", "1", "attempts after a failure", BETTER_LESS),
    ROW(M_PREEMPTIONS, "preemptions", "1", "times that a job was preempted", BETTER_LESS),
    ROW(M_UTILISATION, "utilisation", "ratio", "work, redone or not, of existing GPU time", BETTER_MORE),
    ROW(M_GOODPUT, "goodput", "ratio", "work that is kept, of existing GPU time", BETTER_MORE),
    ROW(M_WASTE, "waste", "ratio", "held, redone and lost with failed jobs, of existing GPU time", BETTER_LESS),
    ROW(M_WORK_HOURS, "gpu_hours_work", "GPU-h", "work that is not redone", BETTER_MORE),
    ROW(M_REDONE_HOURS, "gpu_hours_redone", "GPU-h", "work that had been done before", BETTER_LESS),
    ROW(M_HELD_HOURS, "gpu_hours_held", "GPU-h", "held, but not working", BETTER_LESS),
    ROW(M_IDLE_HOURS, "gpu_hours_idle", "GPU-h", "held by nobody", BETTER_LESS),
    ROW(M_DOWN_HOURS, "gpu_hours_down", "GPU-h", "failed, under repair or drained", BETTER_LESS),
};

/* Values of one quantity: those that are known, and the lower bounds. */
struct sample {
    ARRAY(double) exact;
    ARRAY(double) bound;
    share_ns sum_ns; /* of times */
    double sum;      /* of slowdowns */
};

/* A job whose value is open in some quantity. */
struct open_job {
    int64_t submit_ns, until_ns, ideal_ns; /* until -1: the end of the run */
    bool is[N_QUANTITIES];
};

struct metrics {
    int64_t warmup_ns, horizon_ns;
    int64_t first_ns, last_ns;
    struct sample sample[N_QUANTITIES];
    ARRAY(struct open_job) open;
    uint64_t states[N_JOB_STATES], jobs, restarts, preemptions;
    share_ns lost; /* work of jobs that failed or were cancelled */
    share_ns cells[N_ACTIVITY_CLASSES], redone;
    struct metric_value value[N_METRICS];
};

size_t metric_count(void)
{
    return N_METRICS;
}

const struct metric_info *metric_at(size_t index)
{
    assert(index < N_METRICS);
    return &table[index];
}

bool metric_is_quantile(size_t index)
{
    return index < M_MAKESPAN && index % N_STATISTICS != MEAN;
}

int metric_find(const char *name)
{
    for (int i = 0; i < N_METRICS; i++)
        if (strcmp(table[i].name, name) == 0) return i;
    return -1;
}

struct metrics *metrics_create(int64_t warmup_ns, int64_t horizon_ns)
{
    struct metrics *m = xcalloc(1, sizeof *m);
    m->warmup_ns = warmup_ns;
    m->horizon_ns = horizon_ns;
    m->first_ns = m->last_ns = -1;
    return m;
}

void metrics_destroy(struct metrics *m)
{
    if (!m) return;
    for (int q = 0; q < N_QUANTITIES; q++) {
        array_free(&m->sample[q].exact);
        array_free(&m->sample[q].bound);
    }
    array_free(&m->open);
    free(m);
}

/* ---- jobs ---- */

static double in_seconds(int64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

static double slowdown(int64_t jct_ns, int64_t ideal_ns)
{
    int64_t least = seconds(10);
    return fmax(1, (double)jct_ns / (double)(ideal_ns > least ? ideal_ns : least));
}

static void add(struct metrics *m, enum quantity q, int64_t ns, int64_t ideal_ns, bool bound)
{
    struct sample *s = &m->sample[q];
    double value = q == OF_SLOWDOWN ? slowdown(ns, ideal_ns) : in_seconds(ns);
    if (bound)
        array_push(&s->bound, value);
    else
        array_push(&s->exact, value);
    if (q == OF_SLOWDOWN)
        s->sum += value;
    else
        s->sum_ns += (uint64_t)ns;
}

static bool has_ended(enum job_state s)
{
    return s == JOB_SUCCEEDED || s == JOB_FAILED || s == JOB_CANCELLED;
}

static void add_times(struct metrics *m, const struct job_row *r)
{
    struct open_job o = {.submit_ns = r->submit_ns, .until_ns = r->finished_ns, .ideal_ns = r->ideal_ns};
    bool ended = has_ended(r->state) && r->finished_ns >= 0;
    if (r->started_ns >= 0)
        add(m, OF_WAIT, r->started_ns - r->submit_ns, 0, false);
    else
        o.is[OF_WAIT] = true;
    if (r->admitted_ns >= 0)
        add(m, OF_ADMISSION, r->admitted_ns - r->submit_ns, 0, false);
    else
        o.is[OF_ADMISSION] = r->started_ns < 0;
    if (ended)
        add(m, OF_JCT, r->finished_ns - r->submit_ns, 0, false);
    else
        o.is[OF_JCT] = true;
    if (ended && r->ideal_ns >= 0)
        add(m, OF_SLOWDOWN, r->finished_ns - r->submit_ns, r->ideal_ns, false);
    else
        o.is[OF_SLOWDOWN] = r->ideal_ns >= 0;
    if (o.is[OF_WAIT] || o.is[OF_ADMISSION] || o.is[OF_JCT] || o.is[OF_SLOWDOWN]) array_push(&m->open, o);
}

void metrics_job(struct metrics *m, const struct job_row *r)
{
    bool lost = r->state == JOB_FAILED || r->state == JOB_CANCELLED;
    if (lost) m->lost += r->work;
    if (!submission_counts(r->submit_ns, m->warmup_ns, m->horizon_ns)) return;
    m->jobs++;
    m->states[r->state]++;
    m->restarts += r->restarts;
    m->preemptions += r->preemptions;
    if (m->first_ns < 0 || r->submit_ns < m->first_ns) m->first_ns = r->submit_ns;
    if (r->finished_ns > m->last_ns) m->last_ns = r->finished_ns;
    if (r->state != JOB_REJECTED) add_times(m, r);
}

void metrics_cell(struct metrics *m, enum activity activity, bool redone, share_ns sum)
{
    if (redone)
        m->redone += sum;
    else
        m->cells[activity_table[activity].class] += sum;
}

/* ---- statistics ---- */

static void close_open_jobs(struct metrics *m, int64_t end_ns)
{
    for (size_t i = 0; i < m->open.n; i++) {
        const struct open_job *o = &m->open.v[i];
        int64_t until = o->until_ns >= 0 ? o->until_ns : end_ns;
        int64_t so_far = until > o->submit_ns ? until - o->submit_ns : 0;
        for (int q = 0; q < N_QUANTITIES; q++)
            if (o->is[q]) add(m, (enum quantity)q, so_far, o->ideal_ns, true);
    }
}

/* How many known values stand before the smallest lower bound (a tie stands before it). */
static size_t first_bound(const struct sample *s)
{
    if (s->bound.n == 0) return SIZE_MAX;
    double least = gsl_stats_min(s->bound.v, 1, s->bound.n);
    size_t before = 0;
    for (size_t i = 0; i < s->exact.n; i++) before += s->exact.v[i] <= least;
    return before;
}

/* The three quantiles in rising order, each selected in what the one before left above it. */
static void quantiles(double *x, size_t n, size_t bound_from, struct metric_value *value)
{
    static const size_t percent[] = {[P50] = 50, [P95] = 95, [P99] = 99};
    size_t base = 0;
    for (int s = P50; s <= P99; s++) {
        size_t low = (n - 1) * percent[s] / 100, rest = (n - 1) * percent[s] % 100;
        double at = gsl_stats_select(x + base, 1, n - base, low - base), next = at;
        if (rest) next = gsl_stats_min(x + low + 1, 1, n - low - 1);
        value[s].value = at + (next - at) * (double)rest / 100;
        value[s].bound = (rest ? low + 1 : low) >= bound_from;
        base = low;
    }
}

static void statistics(struct sample *s, enum quantity q, struct metric_value *value)
{
    size_t n = s->exact.n + s->bound.n, bound_from = first_bound(s);
    for (int i = 0; i < N_STATISTICS; i++) value[i] = (struct metric_value){NAN, false};
    if (n == 0) return;
    for (size_t i = 0; i < s->bound.n; i++) array_push(&s->exact, s->bound.v[i]);
    double *x = s->exact.v;
    double sum = q == OF_SLOWDOWN ? s->sum : (double)s->sum_ns / (double)NS_PER_S;
    value[MEAN] = (struct metric_value){sum / (double)n, s->bound.n > 0};
    value[MAX] = (struct metric_value){gsl_stats_max(x, 1, n), s->bound.n > 0};
    quantiles(x, n, bound_from, value);
}

static void set(struct metrics *m, int index, double value)
{
    m->value[index] = (struct metric_value){value, false};
}

static void fill_counts(struct metrics *m, int64_t end_ns)
{
    const uint64_t *s = m->states;
    uint64_t ended = s[JOB_SUCCEEDED] + s[JOB_FAILED] + s[JOB_CANCELLED] + s[JOB_REJECTED];
    bool open = ended < m->jobs;
    int64_t last = open ? end_ns : m->last_ns;
    set(m, M_MAKESPAN, m->jobs && last >= m->first_ns ? in_seconds(last - m->first_ns) : NAN);
    m->value[M_MAKESPAN].bound = open;
    set(m, M_JOBS, (double)m->jobs);
    set(m, M_FINISHED, (double)s[JOB_SUCCEEDED]);
    set(m, M_FAILED, (double)s[JOB_FAILED]);
    set(m, M_REJECTED, (double)s[JOB_REJECTED]);
    set(m, M_CANCELLED, (double)s[JOB_CANCELLED]);
    set(m, M_UNFINISHED, (double)(m->jobs - ended));
    set(m, M_RESTARTS, (double)m->restarts);
    set(m, M_PREEMPTIONS, (double)m->preemptions);
}

static double hours(share_ns sum)
{
    return decimal_gpu_s(sum) / 3600;
}

static void fill_ledger(struct metrics *m)
{
    const share_ns *c = m->cells;
    share_ns existing = c[CLASS_IDLE] + c[CLASS_HELD] + c[CLASS_WORK] + c[CLASS_DOWN] + m->redone;
    share_ns lost = m->lost < c[CLASS_WORK] ? m->lost : c[CLASS_WORK];
    double all = existing ? (double)existing : NAN;
    set(m, M_UTILISATION, (double)(c[CLASS_WORK] + m->redone) / all);
    set(m, M_GOODPUT, (double)(c[CLASS_WORK] - lost) / all);
    set(m, M_WASTE, (double)(c[CLASS_HELD] + m->redone + lost) / all);
    set(m, M_WORK_HOURS, hours(c[CLASS_WORK]));
    set(m, M_REDONE_HOURS, hours(m->redone));
    set(m, M_HELD_HOURS, hours(c[CLASS_HELD]));
    set(m, M_IDLE_HOURS, hours(c[CLASS_IDLE]));
    set(m, M_DOWN_HOURS, hours(c[CLASS_DOWN]));
}

void metrics_end(struct metrics *m, int64_t end_ns)
{
    close_open_jobs(m, end_ns);
    for (int q = 0; q < N_QUANTITIES; q++) statistics(&m->sample[q], (enum quantity)q, &m->value[q * N_STATISTICS]);
    fill_counts(m, end_ns);
    fill_ledger(m);
}

struct metric_value metrics_value(const struct metrics *m, size_t index)
{
    assert(index < N_METRICS);
    return m->value[index];
}
