/* generated.c - "generate": classes of jobs drawn from distributions or workload profiles.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "input/generate.h"
#include "input/raw.h"

static const struct field distribution_fields[] = {
    FIELD(raw_distribution, kind, "kind", TYPE_WORD, .words = distribution_names, .n_words = N_DISTRIBUTIONS,
          .fallback = "fixed", .help = "the distribution"),
    FIELD(raw_distribution, value, "value", TYPE_DURATION, .help = "of fixed"),
    FIELD(raw_distribution, low, "low", TYPE_DURATION, .help = "of uniform"),
    FIELD(raw_distribution, high, "high", TYPE_DURATION, .help = "of uniform"),
    FIELD(raw_distribution, mean, "mean", TYPE_DURATION, .help = "of exponential"),
    FIELD(raw_distribution, median, "median", TYPE_DURATION, .help = "of lognormal"),
    FIELD(raw_distribution, sigma, "sigma", TYPE_NUMBER, .help = "of lognormal: of the natural logarithm"),
    FIELD(raw_distribution, p, "p", TYPE_ANY, .help = "of quantiles: probabilities from 0 to 1; absent: equally spaced"),
    FIELD(raw_distribution, x, "x", TYPE_ANY, .help = "of quantiles: durations, not descending"),
    FIELD(raw_distribution, min, "min", TYPE_DURATION, .fallback = "0", .help = "results below are raised to it"),
    FIELD(raw_distribution, max, "max", TYPE_DURATION, .fallback = "0", .help = "results above are cut to it; 0: none"),
};
static const struct object_type distribution_type =
    OBJECT(raw_distribution, distribution_fields, "distribution", "Of durations.", .shorthand = "value");

static const struct field size_fields[] = {
    FIELD(raw_size, replicas, "replicas", TYPE_INT, .fallback = "1", .min = 1, .max = 1000000, .help = "of a job"),
    FIELD(raw_size, gpus, "gpus", TYPE_GPUS, .fallback = "1", .min = 0, .max = MAX_GPUS_PER_NODE * 1000, .help = "a replica"),
    FIELD(raw_size, weight, "weight", TYPE_NUMBER, .fallback = "1", .help = "relative number of jobs"),
    FIELD(raw_size, work, "work", TYPE_OBJECT, .sub = &distribution_type, .help = "default: the class's"),
};
static const struct object_type size_type = OBJECT(raw_size, size_fields, "size", "One size of job.");

static const struct field team_fields[] = {
    FIELD(raw_team, weight, "weight", TYPE_NUMBER, .fallback = "1", .help = "relative number of jobs; a profile has its own"),
    FIELD(raw_team, queue, "queue", TYPE_STRING, .help = "of its jobs; default: the class's"),
};
static const struct object_type team_type = OBJECT(raw_team, team_fields, "team", "A team's part.", .shorthand = "weight");

static const struct field generate_fields[] = {
    FIELD(raw_generate, name, "name", TYPE_STRING, .required = true, .help = "stands for the class in every draw"),
    FIELD(raw_generate, profile, "profile", TYPE_ANY,
          .help = "a workload profile (name, file or the profile itself): sizes, durations, hours and teams"),
    FIELD(raw_generate, rate_per_hour, "rate_per_hour", TYPE_NUMBER, .help = "mean rate of a Poisson process; a profile has its own"),
    FIELD(raw_generate, load, "load", TYPE_NUMBER, .help = "instead of a rate: offered load on the cluster's GPUs, 1 is all"),
    FIELD(raw_generate, count, "count", TYPE_INT, .min = 1, .max = 50000000,
          .help = "instead of a rate: so many jobs; with \"every\" at most so many"),
    FIELD(raw_generate, every, "every", TYPE_DURATION, .min = 1, .max = INT64_MAX - 1, .help = "instead of a rate: evenly spaced"),
    FIELD(raw_generate, start, "start", TYPE_DURATION, .fallback = "0", .help = "first moment"),
    FIELD(raw_generate, end, "end", TYPE_DURATION, .help = "default: the horizon"),
    FIELD(raw_generate, work, "work", TYPE_OBJECT, .sub = &distribution_type, .help = "how long a job works"),
    FIELD(raw_generate, sizes, "sizes", TYPE_LIST, .sub = &size_type, .help = "default: one, the job's replicas and gpus"),
    FIELD(raw_generate, teams, "teams", TYPE_MAP, .sub = &team_type, .help = "whose the jobs are"),
    FIELD(raw_generate, limit_factor, "limit_factor", TYPE_NUMBER, .help = "time limit over work"),
    FIELD(raw_generate, job, "job", TYPE_OBJECT, .sub = &job_type, .always = true, .help = "what the jobs are otherwise"),
};
const struct object_type generate_type = OBJECT(raw_generate, generate_fields, "class", "Jobs drawn from distributions.");

/* ---- distributions ---- */

static double *numbers_of(struct build *b, const struct value *list, bool durations)
{
    double *v = arena_array(b->arena, list->n + 1, double);
    size_t i = 0;
    for (const struct value *c = list->child; c; c = c->next, i++) {
        int64_t ns = 0;
        const char *wrong = "a number needed";
        if (c->kind == VALUE_NUMBER || (durations && c->kind == VALUE_STRING))
            wrong = durations ? units_parse_duration(c->text, &ns) : units_parse_double(c->text, &v[i]);
        if (wrong) value_error(b->diag, c, "%s", wrong);
        if (durations) v[i] = (double)ns;
        if (i > 0 && v[i] < v[i - 1]) value_error(b->diag, c, "the numbers must not descend");
    }
    return v;
}

static void build_quantiles(struct build *b, const struct raw_distribution *raw, struct distribution *d)
{
    if (!raw->x || raw->x->kind != VALUE_ARRAY || raw->x->n < 2) {
        value_error(b->diag, place_of(raw->at, "x"), "quantiles need \"x\", an array of at least two durations");
        return;
    }
    d->x = numbers_of(b, raw->x, true);
    d->n = (uint32_t)raw->x->n;
    if (!raw->p) return;
    if (raw->p->kind != VALUE_ARRAY || raw->p->n != raw->x->n) {
        value_error(b->diag, raw->p, "as many probabilities as durations needed");
        return;
    }
    double *p = numbers_of(b, raw->p, false);
    if (p[0] != 0 || p[raw->p->n - 1] != 1) value_error(b->diag, raw->p, "probabilities must go from 0 to 1");
    d->p = p;
}

/* Which members a kind needs; all others are reported. */
static void check_members(struct build *b, const struct raw_distribution *raw)
{
    static const char *const names[] = { "value", "low", "high", "mean", "median", "sigma", "p", "x" };
    static const char *const need[N_DISTRIBUTIONS] = { [DIST_FIXED] = "a.......", [DIST_UNIFORM] = ".aa.....",
                                                       [DIST_EXPONENTIAL] = "...a....", [DIST_LOGNORMAL] = "....aa..",
                                                       [DIST_QUANTILES] = "......oa" };
    const bool has[] = { raw->value != ABSENT, raw->low != ABSENT,    raw->high != ABSENT, raw->mean != ABSENT,
                         raw->median != ABSENT, !isnan(raw->sigma), raw->p != NULL,      raw->x != NULL };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char rule = need[raw->kind][i];
        if (rule == 'a' && !has[i])
            value_error(b->diag, raw->at, "%s needs \"%s\"", distribution_names[raw->kind], names[i]);
        if (rule == '.' && has[i])
            value_error(b->diag, place_of(raw->at, names[i]), "%s takes no \"%s\"", distribution_names[raw->kind], names[i]);
    }
}

static struct distribution build_distribution(struct build *b, const struct raw_distribution *raw)
{
    struct distribution d = { .kind = (enum distribution_kind)raw->kind, .min_ns = (double)raw->min, .max_ns = (double)raw->max };
    size_t errors = diag_errors(b->diag);
    check_members(b, raw);
    if (diag_errors(b->diag) > errors) return d;
    switch (d.kind) {
    case DIST_FIXED: d.a = (double)raw->value; break;
    case DIST_UNIFORM: d.a = (double)raw->low, d.b = (double)raw->high; break;
    case DIST_EXPONENTIAL: d.a = (double)raw->mean; break;
    case DIST_LOGNORMAL: d.a = (double)raw->median, d.b = raw->sigma; break;
    default: build_quantiles(b, raw, &d); break;
    }
    if (d.kind == DIST_UNIFORM && d.b < d.a) value_error(b->diag, raw->at, "\"low\" is above \"high\"");
    if (d.kind == DIST_LOGNORMAL && d.b > 10) value_error(b->diag, raw->at, "a sigma above 10 is not allowed");
    if (raw->max && raw->max < raw->min) value_error(b->diag, raw->at, "\"min\" is above \"max\"");
    return d;
}

/* ---- mixes ---- */

static void keep_profile(struct build *b, struct workload_profile *p)
{
    struct scenario *s = b->s;
    struct workload_profile **v = arena_array(b->arena, s->n_profiles + 1, struct workload_profile *);
    if (s->n_profiles) memcpy(v, s->profiles, s->n_profiles * sizeof *v);
    v[s->n_profiles++] = p;
    s->profiles = v;
}

/* The profile goes into the raw struct as a tree, so that the resolved scenario stands alone. */
static struct workload_profile *load_profile(struct build *b, struct raw_generate *raw)
{
    struct str text = { 0 };
    struct json_writer w;
    uint32_t gpus = 1;
    if (raw->profile->kind == VALUE_STRING)
        raw->profile = profile_load(b, "workloads", raw->profile->text, raw->profile);
    if (!raw->profile) return NULL;
    for (uint32_t i = 0; i < b->s->cluster.n_groups; i++)
        if (b->s->cluster.groups[i].gpus > gpus) gpus = b->s->cluster.groups[i].gpus;
    json_write_begin(&w, &text);
    value_write(&w, raw->profile);
    json_write_finish(&w);
    struct workload_profile *p = workload_profile_parse(raw->profile->file, text.s, text.n, gpus, b->diag);
    str_free(&text);
    if (p) keep_profile(b, p);
    return p;
}

static struct size_class *build_sizes(struct build *b, struct raw_generate *raw, uint32_t *n)
{
    struct distribution work = { 0 };
    struct size_class *v = arena_array(b->arena, raw->sizes.n + 1, struct size_class);
    bool need = raw->sizes.n == 0;
    for (size_t i = 0; i < raw->sizes.n; i++) need |= !LIST_AT(raw->sizes, struct raw_size, i).work;
    if (raw->work)
        work = build_distribution(b, raw->work);
    else if (need)
        value_error(b->diag, raw->at, "\"work\" is missing: how long a job works");
    for (size_t i = 0; i < raw->sizes.n; i++) {
        const struct raw_size *s = &LIST_AT(raw->sizes, struct raw_size, i);
        v[i] = (struct size_class){ (uint32_t)s->replicas, (uint32_t)s->gpus, s->weight,
                                    s->work ? build_distribution(b, s->work) : work, NULL };
    }
    *n = (uint32_t)raw->sizes.n;
    if (*n) return v;
    const struct raw_job *j = raw->job;
    v[0] = (struct size_class){ j->replicas == ABSENT ? 1 : (uint32_t)j->replicas,
                                j->gpus == ABSENT ? SHARES_PER_GPU : (uint32_t)j->gpus, 1, work, NULL };
    *n = 1;
    return v;
}

static struct workload_mix *build_mix(struct build *b, struct raw_generate *raw)
{
    struct workload_mix *mix = arena_new(b->arena, struct workload_mix);
    const char **names = arena_array(b->arena, raw->teams.n, const char *);
    double *weights = arena_array(b->arena, raw->teams.n, double);
    for (size_t i = 0; i < raw->teams.n; i++) {
        names[i] = LIST_AT(raw->teams, struct map_entry, i).key;
        weights[i] = ((struct raw_team *)LIST_AT(raw->teams, struct map_entry, i).object)->weight;
    }
    mix->sizes = build_sizes(b, raw, &mix->n_sizes);
    mix->n_teams = (uint32_t)raw->teams.n;
    mix->teams = mix->n_teams ? names : NULL;
    mix->team_weights = mix->n_teams ? weights : NULL;
    return mix;
}

static const char *queue_of_team(const struct raw_generate *raw, const char *team)
{
    for (size_t i = 0; i < raw->teams.n; i++)
        if (strcmp(LIST_AT(raw->teams, struct map_entry, i).key, team) == 0)
            return ((struct raw_team *)LIST_AT(raw->teams, struct map_entry, i).object)->queue;
    return NULL;
}

static void build_teams(struct build *b, const struct raw_generate *raw, struct generate_class *c)
{
    const struct workload_mix *mix = c->mix;
    if (!mix->n_teams) return;
    uint16_t *teams = arena_array(b->arena, mix->n_teams, uint16_t), *queues = arena_array(b->arena, mix->n_teams, uint16_t);
    for (uint32_t i = 0; i < mix->n_teams; i++) {
        const char *queue = queue_of_team(raw, mix->teams[i]);
        teams[i] = name_index(b, &b->teams, mix->teams[i]);
        queues[i] = queue ? queue_index(b, queue, raw->at) : c->queue;
    }
    c->team_ids = teams;
    c->queue_ids = queues;
}

/* ---- classes ---- */

static void build_arrivals(struct build *b, struct raw_generate *raw, const struct workload_profile *p,
                           struct generate_class *c)
{
    bool rate = !isnan(raw->rate_per_hour), load = !isnan(raw->load), every = raw->every != ABSENT;
    bool count = raw->count != ABSENT && !every;
    int given = rate + load + every + count;
    if (given > 1) value_error(b->diag, raw->at, "give one of \"rate_per_hour\", \"load\", \"count\" and \"every\"");
    if (given == 0 && p) raw->rate_per_hour = p->rate_per_hour, rate = true;
    if (given == 0 && !p) value_error(b->diag, raw->at, "when do jobs come? Give \"rate_per_hour\", \"load\", \"count\" or \"every\"");
    if (load && diag_errors(b->diag) == 0) {
        double gpus = (double)b->s->cluster.total_shares / SHARES_PER_GPU;
        raw->rate_per_hour = mix_rate_for_load(c->mix, raw->load, gpus);
        raw->load = NAN;
        if (!(raw->rate_per_hour > 0) || raw->rate_per_hour > 1e9)
            value_error(b->diag, place_of(raw->at, "load"), "no rate gives this load: the jobs use no GPUs or take no time");
    }
    c->arrivals = count ? ARRIVE_COUNT : every ? ARRIVE_EVERY : ARRIVE_RATE;
    c->rate_per_hour = isnan(raw->rate_per_hour) ? 0 : raw->rate_per_hour;
    c->count = raw->count == ABSENT ? 0 : (uint64_t)raw->count;
    c->every_ns = every ? raw->every : 0;
    c->start_ns = raw->start;
    c->end_ns = raw->end == ABSENT ? 0 : raw->end;
    if (c->end_ns && c->end_ns < c->start_ns) value_error(b->diag, place_of(raw->at, "end"), "the end lies before the start");
    bool bounded = c->end_ns || b->s->run.horizon_ns != TIME_NEVER || (every && c->count);
    if (!bounded) value_error(b->diag, raw->at, "until when? Give \"end\" or the run's \"horizon\"");
}

static void build_class_of(struct build *b, struct raw_generate *raw, struct generate_class *c)
{
    struct workload_profile *p = raw->profile ? load_profile(b, raw) : NULL;
    struct job_spec owner = { 0 };
    if (raw->at && value_member(raw->at, "profile") && !p) return;
    if (p && (raw->work || raw->sizes.n))
        value_error(b->diag, raw->at, "the profile gives sizes and durations: leave \"work\" and \"sizes\" out");
    *c = (struct generate_class){ .name = raw->name ? raw->name : "", .limit_ns = TIME_NEVER };
    c->detail = build_class(b, raw->job, "the class");
    build_owner(b, raw->job, NULL, &owner);
    c->queue = owner.queue;
    c->team = owner.team;
    c->priority = owner.priority;
    c->limit_factor = isnan(raw->limit_factor) ? 0 : raw->limit_factor;
    c->mix = p ? &p->mix : build_mix(b, raw);
    build_teams(b, raw, c);
    build_arrivals(b, raw, p, c);
}

void build_generated(struct build *b, struct raw_workload *raw)
{
    struct scenario *s = b->s;
    s->generated = arena_array(b->arena, raw->generate.n, struct generate_class);
    s->generate_horizon_ns = s->run.horizon_ns == TIME_NEVER ? 1 : s->run.horizon_ns;
    for (size_t i = 0; i < raw->generate.n; i++) {
        struct raw_generate *g = &LIST_AT(raw->generate, struct raw_generate, i);
        for (uint32_t k = 0; g->name && k < s->n_generated; k++)
            if (strcmp(s->generated[k].name, g->name) == 0)
                value_error(b->diag, place_of(g->at, "name"), "there are two classes \"%s\"", g->name);
        struct generate_class *c = &s->generated[s->n_generated++];
        build_class_of(b, g, c);
        int64_t end = c->end_ns, last;
        if (c->arrivals == ARRIVE_EVERY && c->count && !end && !__builtin_mul_overflow((int64_t)c->count, c->every_ns, &last))
            end = c->start_ns + last;
        if (s->run.horizon_ns == TIME_NEVER && end > s->generate_horizon_ns) s->generate_horizon_ns = end;
    }
}

/* ---- one replication ---- */

/* Fixed jobs stand before generated ones of the same instant. */
static struct job_spec *merge(const struct scenario *s, const struct generate_jobs *g, size_t n)
{
    struct job_spec *v = xcalloc(n ? n : 1, sizeof *v);
    size_t i = 0, k = 0;
    for (size_t to = 0; to < n; to++)
        v[to] = k == g->n || (i < s->n_jobs && s->jobs[i].submit_ns <= g->v[k].submit_ns) ? s->jobs[i++] : g->v[k++];
    return v;
}

bool scenario_workload(const struct scenario *s, uint32_t replication, struct job_spec **jobs, size_t *n, bool *owned)
{
    *jobs = s->jobs;
    *n = s->n_jobs;
    *owned = false;
    if (s->n_generated == 0) return true;
    struct generate_span span = { s->generate_horizon_ns, s->week_offset_ns, s->run.seed, replication };
    struct generate_jobs g = { 0 };
    if (!generate(s->generated, s->n_generated, &span, &g)) {
        array_free(&g);
        return false;
    }
    *n = s->n_jobs + g.n;
    *jobs = s->n_jobs ? merge(s, &g, *n) : g.v;
    *owned = true;
    if (s->n_jobs) array_free(&g);
    return true;
}
