/* fit.c - a workload profile from a trace.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/fit.h"

#include <stdlib.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "base/units.h"

/* Denser towards the end, where few jobs hold most of the GPU time. */
static const double probabilities[FIT_QUANTILES] = {0,   0.01,  0.025, 0.05,  0.1,  0.15,  0.2,   0.25, 0.3, 0.35,
                                                    0.4, 0.45,  0.5,   0.55,  0.6,  0.65,  0.7,   0.75, 0.8, 0.85,
                                                    0.9, 0.925, 0.95,  0.975, 0.99, 0.995, 0.999, 1};

struct fitting {
    const struct import_result *trace;
    struct workload_profile *p;
    struct arena *arena;
    int64_t offset_ns; /* time of the week at time 0 */
    uint32_t n_teams;
};

/* ---- arrivals ---- */

/* Hours that the trace covers: from its first submission to its last, both hours in whole. */
struct cover {
    int64_t first, n;
    uint32_t *jobs;
};

static int64_t hour_of(const struct fitting *f, const struct job_spec *j)
{
    return (j->submit_ns + f->offset_ns) / NS_PER_HOUR;
}

static struct cover count_hours(const struct fitting *f)
{
    const struct import_result *t = f->trace;
    struct cover c = {.first = hour_of(f, &t->jobs[0])};
    c.n = hour_of(f, &t->jobs[t->n_jobs - 1]) - c.first + 1;
    c.jobs = xcalloc((size_t)c.n, sizeof *c.jobs);
    for (size_t i = 0; i < t->n_jobs; i++) c.jobs[hour_of(f, &t->jobs[i]) - c.first]++;
    return c;
}

static const double *hour_weights(struct fitting *f, const struct cover *c)
{
    double *weight = arena_array(f->arena, HOURS_PER_WEEK, double), covered[HOURS_PER_WEEK] = {0};
    double mean = (double)f->trace->n_jobs / (double)c->n;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t h = (c->first + i) % HOURS_PER_WEEK;
        covered[h]++;
        weight[h] += c->jobs[i];
    }
    for (int h = 0; h < HOURS_PER_WEEK; h++) weight[h] = covered[h] > 0 ? weight[h] / covered[h] / mean : 1;
    return weight;
}

/* Mean of (count - expected)^2 / expected over the covered hours, the expected ones by the weekly pattern: 1 for a Poisson
 * process. */
static double dispersion(const struct fitting *f, const struct cover *c)
{
    double sum = 0, mean = (double)f->trace->n_jobs / (double)c->n;
    int64_t n = 0;
    for (int64_t i = 0; i < c->n; i++) {
        double expected = mean * f->p->mix.hours[(c->first + i) % HOURS_PER_WEEK];
        if (!(expected > 0)) continue;
        sum += (c->jobs[i] - expected) * (c->jobs[i] - expected) / expected;
        n++;
    }
    return n ? sum / (double)n : 1;
}

static void fit_arrivals(struct fitting *f)
{
    struct cover c = count_hours(f);
    f->p->rate_per_hour = (double)f->trace->n_jobs / (double)c.n;
    f->p->mix.hours = hour_weights(f, &c);
    f->p->dispersion = dispersion(f, &c);
    free(c.jobs);
}

/* ---- sizes ---- */

static uint32_t gpus_of(const struct job_spec *j)
{
    uint64_t shares = (uint64_t)j->replicas * j->gpu_shares;
    return (uint32_t)((shares + SHARES_PER_GPU - 1) / SHARES_PER_GPU);
}

struct sized {
    uint32_t gpus, team;
    double work;
};

static int compare_sized(const void *pa, const void *pb)
{
    const struct sized *a = pa, *b = pb;
    if (a->gpus != b->gpus) return a->gpus < b->gpus ? -1 : 1;
    return a->work < b->work ? -1 : a->work > b->work;
}

/* Quantiles of sorted values. */
static const double *quantiles(struct fitting *f, const struct sized *v, size_t n)
{
    double *x = arena_array(f->arena, FIT_QUANTILES, double);
    for (int i = 0; i < FIT_QUANTILES; i++) {
        double at = probabilities[i] * (double)(n - 1);
        size_t low = (size_t)at, high = low + (low + 1 < n);
        x[i] = v[low].work + (at - (double)low) * (v[high].work - v[low].work);
    }
    return x;
}

static const double *team_shares(struct fitting *f, const struct sized *v, size_t n)
{
    if (f->n_teams == 0) return NULL;
    double *share = arena_array(f->arena, f->n_teams, double);
    for (size_t i = 0; i < n; i++) share[v[i].team] += 1 / (double)n;
    return share;
}

static void add_size(struct fitting *f, struct size_class *s, const struct sized *v, size_t n)
{
    *s = (struct size_class){
        .replicas = 1, .gpu_shares = v[0].gpus * SHARES_PER_GPU, .weight = (double)n / (double)f->trace->n_jobs};
    s->team_weights = team_shares(f, v, n);
    s->work = (struct distribution){.kind = DIST_QUANTILES,
                                    .p = probabilities,
                                    .n = FIT_QUANTILES,
                                    .x = n >= FIT_MIN_JOBS ? quantiles(f, v, n) : NULL};
}

/* Sizes too rare for a table of their own take that of the next smaller one, or the next larger. When all are rare, all
 * take that of all jobs together. */
static void lend_tables(struct fitting *f, struct size_class *sizes, uint32_t n, const struct sized *all)
{
    const double *x = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (sizes[i].work.x)
            x = sizes[i].work.x;
        else
            sizes[i].work.x = x;
    }
    for (uint32_t i = n; i-- > 0;) {
        if (sizes[i].work.x)
            x = sizes[i].work.x;
        else
            sizes[i].work.x = x;
    }
    if (x != NULL) return;
    x = quantiles(f, all, f->trace->n_jobs);
    for (uint32_t i = 0; i < n; i++) sizes[i].work.x = x;
}

static int compare_work(const void *pa, const void *pb)
{
    const struct sized *a = pa, *b = pb;
    return a->work < b->work ? -1 : a->work > b->work;
}

static void fit_sizes(struct fitting *f)
{
    size_t n = f->trace->n_jobs;
    struct sized *v = xcalloc(n, sizeof *v);
    for (size_t i = 0; i < n; i++) {
        const struct job_spec *j = &f->trace->jobs[i];
        uint32_t first = intern_count(&f->trace->teams) > f->n_teams; /* "" counts as a team only when jobs have it */
        v[i] = (struct sized){gpus_of(j), f->n_teams ? j->team - first : 0, (double)j->work_ns};
    }
    qsort(v, n, sizeof *v, compare_sized);
    uint32_t kinds = 1, at = 0;
    for (size_t i = 1; i < n; i++) kinds += v[i].gpus != v[i - 1].gpus;
    struct size_class *sizes = arena_array(f->arena, kinds, struct size_class);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && v[end].gpus == v[i].gpus;) end++;
        add_size(f, &sizes[at++], &v[i], end - i);
    }
    qsort(v, n, sizeof *v, compare_work);
    lend_tables(f, sizes, kinds, v);
    free(v);
    f->p->mix.sizes = sizes;
    f->p->mix.n_sizes = kinds;
}

/* ---- teams ---- */

static void fit_teams(struct fitting *f)
{
    const struct intern *teams = &f->trace->teams;
    bool unnamed = false;
    for (size_t i = 0; i < f->trace->n_jobs; i++) unnamed |= f->trace->jobs[i].team == 0;
    uint32_t first = unnamed ? 0 : 1, n = intern_count(teams) - first;
    if (intern_count(teams) == 1) return;
    const char **names = arena_array(f->arena, n, const char *);
    for (uint32_t i = 0; i < n; i++) names[i] = arena_strdup(f->arena, intern_text(teams, first + i));
    f->n_teams = f->p->mix.n_teams = n;
    f->p->mix.teams = names;
}

static bool can_fit(const struct import_result *t, struct diag *d)
{
    if (t->n_jobs < 2 || t->jobs[t->n_jobs - 1].submit_ns == t->jobs[0].submit_ns) {
        diag_error(d, t->format->name, 0, NULL, "no profile can be fitted to jobs of one moment");
        diag_help(d, "give a trace with at least two jobs submitted at different times");
        return false;
    }
    if (intern_count(&t->teams) <= FIT_MAX_TEAMS) return true;
    diag_error(d, t->format->name, 0, NULL, "more than %d teams", FIT_MAX_TEAMS);
    diag_help(d, "map a column with fewer values to \"team\"");
    return false;
}

struct workload_profile *fit_profile(const char *name, const char *source, const struct import_result *trace,
                                     struct diag *d)
{
    if (!can_fit(trace, d)) return NULL;
    struct workload_profile *p = xcalloc(1, sizeof *p);
    struct fitting f = {
        .trace = trace, .p = p, .arena = &p->arena, .offset_ns = trace->week_offset_ns < 0 ? 0 : trace->week_offset_ns};
    p->name = arena_strdup(&p->arena, name);
    p->source = arena_strdup(&p->arena, source);
    p->jobs = trace->n_jobs;
    fit_teams(&f);
    fit_arrivals(&f);
    fit_sizes(&f);
    return p;
}

/* ---- writing ---- */

/* Six digits are more than any of these numbers is known to. */
static void write_number(struct json_writer *w, double x)
{
    struct str s = {0};
    str_printf(&s, "%.6g", x);
    json_write_raw(w, str_text(&s));
    str_free(&s);
}

static void write_numbers(struct json_writer *w, const char *key, const double *v, uint32_t n, double unit)
{
    json_write_key(w, key);
    json_write_array_inline(w);
    for (uint32_t i = 0; i < n; i++) write_number(w, v[i] / unit);
    json_write_end(w);
}

static void write_size(struct json_writer *w, const struct size_class *s, uint32_t n_teams)
{
    json_write_object(w);
    json_write_key(w, "gpus");
    json_write_uint64(w, (uint64_t)s->replicas * s->gpu_shares / SHARES_PER_GPU);
    json_write_key(w, "share");
    write_number(w, s->weight);
    write_numbers(w, "duration_s", s->work.x, s->work.n, (double)NS_PER_S);
    if (n_teams) write_numbers(w, "teams", s->team_weights, n_teams, 1);
    json_write_end(w);
}

static void write_text(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    json_write_string(w, text);
}

static void write_head(struct json_writer *w, const struct workload_profile *p)
{
    write_text(w, "profile", "workload");
    write_text(w, "name", p->name);
    write_text(w, "source", p->source);
    json_write_key(w, "jobs");
    json_write_uint64(w, p->jobs);
    json_write_key(w, "rate_per_hour");
    write_number(w, p->rate_per_hour);
    json_write_key(w, "dispersion");
    write_number(w, p->dispersion);
}

void workload_profile_write(const struct workload_profile *p, struct str *json)
{
    struct json_writer w;
    json_write_begin(&w, json);
    json_write_object(&w);
    write_head(&w, p);
    if (p->mix.hours) write_numbers(&w, "hours", p->mix.hours, HOURS_PER_WEEK, 1);
    write_numbers(&w, "probabilities", p->mix.sizes[0].work.p, p->mix.sizes[0].work.n, 1);
    if (p->mix.n_teams) {
        json_write_key(&w, "teams");
        json_write_array_inline(&w);
        for (uint32_t i = 0; i < p->mix.n_teams; i++) json_write_string(&w, p->mix.teams[i]);
        json_write_end(&w);
    }
    json_write_key(&w, "sizes");
    json_write_array(&w);
    for (uint32_t i = 0; i < p->mix.n_sizes; i++) write_size(&w, &p->mix.sizes[i], p->mix.n_teams);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}
