/* generate.c - jobs drawn from classes: when they come, what they are.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/generate.h"

#include <assert.h>

#include "base/detmath.h"
#include "base/hash.h"
#include "base/philox.h"
#include "base/units.h"
#include "input/import.h"

#define ID_LAYER UINT64_C(1000000)       /* jobs of a layer: at one an hour, 114 years */
#define ID_CLASS UINT64_C(1000000000000) /* layers of a class: a million */

/* ---- random numbers ---- */

/* The lanes are those of the engine's streams (arrivals 0, work 1), the counter is laid out as theirs. */
enum lane { LANE_ARRIVAL, LANE_WORK };

struct draw {
    double a, b;
}; /* both in (0, 1): odd multiples of 2^-53 */

static double unit(uint32_t high, uint32_t low)
{
    uint64_t bits = (uint64_t)high << 32 | low;
    return (double)((bits >> 12 << 1) + 1) * 0x1p-53;
}

static struct draw draw(const struct generate_span *span, enum lane lane, uint64_t entity, uint32_t block)
{
    uint32_t counter[4] = {block, (uint32_t)lane << 24 | span->replication, (uint32_t)entity, (uint32_t)(entity >> 32)};
    uint32_t key[2] = {(uint32_t)span->seed, (uint32_t)(span->seed >> 32)}, out[4];
    philox4x32_10(counter, key, out);
    return (struct draw){unit(out[1], out[0]), unit(out[3], out[2])};
}

static uint64_t entity_of(const char *class_name, uint64_t number)
{
    struct hash h;
    hash_init(&h);
    hash_str(&h, class_name);
    hash_u64(&h, number);
    return hash_end(&h).lo;
}

/* ---- time ---- */

/* The weekly pattern as a clock of its own: it advances by an hour's weight in that hour, so that arrivals which are
 * even in it follow the pattern. Weights are scaled to a mean of 1. */
struct week {
    double at[HOURS_PER_WEEK + 1]; /* the clock at the begin of each hour; at[168] = 168 */
};

static void week_init(struct week *w, const double *hours)
{
    double sum = 0;
    for (int i = 0; hours && i < HOURS_PER_WEEK; i++) sum += hours[i];
    w->at[0] = 0;
    for (int i = 0; i < HOURS_PER_WEEK; i++) w->at[i + 1] = w->at[i] + (sum > 0 ? hours[i] * HOURS_PER_WEEK / sum : 1);
    w->at[HOURS_PER_WEEK] = HOURS_PER_WEEK;
}

static double clock_at(const struct week *w, int64_t week_time_ns)
{
    int64_t hour = week_time_ns / NS_PER_HOUR;
    int in_week = (int)(hour % HOURS_PER_WEEK);
    double part = (double)(week_time_ns % NS_PER_HOUR) / (double)NS_PER_HOUR;
    return (double)(hour - in_week) + w->at[in_week] + part * (w->at[in_week + 1] - w->at[in_week]);
}

static int64_t time_of_clock(const struct week *w, double clock)
{
    double weeks = det_floor(clock / HOURS_PER_WEEK), left = clock - weeks * HOURS_PER_WEEK;
    int low = 0, high = HOURS_PER_WEEK; /* at[low] <= left < at[high] */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (w->at[middle] <= left)
            low = middle;
        else
            high = middle;
    }
    double weight = w->at[high] - w->at[low], part = weight > 0 ? (left - w->at[low]) / weight : 0;
    return ((int64_t)weeks * HOURS_PER_WEEK + low) * NS_PER_HOUR + det_round(part * (double)NS_PER_HOUR);
}

/* ---- one class ---- */

struct generating {
    const struct generate_class *c;
    const struct generate_span *span;
    struct generate_jobs *out;
    struct week week;
    int64_t start_ns, end_ns;
    uint64_t class_index;
    double size_total, mix_team_total;
};

static double total(const double *weights, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += weights[i];
    return sum;
}

static const struct size_class *pick_size(const struct generating *g, double u)
{
    const struct workload_mix *m = g->c->mix;
    double at = u * g->size_total;
    uint32_t i = 0;
    while (i + 1 < m->n_sizes && at >= m->sizes[i].weight) at -= m->sizes[i++].weight;
    while (i > 0 && !(m->sizes[i].weight > 0)) i--;
    return &m->sizes[i];
}

static uint32_t pick_team(const struct generating *g, const struct size_class *size, double u)
{
    const struct workload_mix *m = g->c->mix;
    const double *weights = size->team_weights ? size->team_weights : m->team_weights;
    if (weights == NULL) return (uint32_t)(u * m->n_teams);
    double at = u * (weights == m->team_weights ? g->mix_team_total : total(weights, m->n_teams));
    uint32_t i = 0;
    while (i + 1 < m->n_teams && at >= weights[i]) at -= weights[i++];
    while (i > 0 && !(weights[i] > 0)) i--;
    return i;
}

static int64_t limit_of(const struct generate_class *c, int64_t work_ns)
{
    if (!(c->limit_factor > 0)) return c->limit_ns;
    double limit = c->limit_factor * (double)work_ns;
    return limit < (double)(INT64_C(1) << 62) ? det_round(limit) : INT64_C(1) << 62;
}

static bool add_job(struct generating *g, int64_t at_ns, uint64_t number)
{
    const struct generate_class *c = g->c;
    uint64_t entity = entity_of(c->name, number);
    struct draw first = draw(g->span, LANE_WORK, entity, 0);
    const struct size_class *size = pick_size(g, first.a);
    struct job_spec job = {.submit_ns = at_ns,
                           .work_ns = distribution_ns(&size->work, first.b),
                           .id = 1 + number + g->class_index * ID_CLASS,
                           .replicas = size->replicas,
                           .gpu_shares = size->gpu_shares,
                           .detail = c->detail,
                           .priority = c->priority,
                           .queue = c->queue,
                           .team = c->team};
    job.limit_ns = limit_of(c, job.work_ns);
    if (c->mix->n_teams > 0) {
        uint32_t team = pick_team(g, size, draw(g->span, LANE_WORK, entity, 1).a);
        if (c->team_ids) job.team = c->team_ids[team];
        if (c->queue_ids) job.queue = c->queue_ids[team];
    }
    if (g->out->n == GENERATE_MAX_JOBS) return false;
    array_push(g->out, job);
    return true;
}

/* One layer: a Poisson process of one job a clock hour, thinned to the share `keep` of its jobs. */
static bool add_layer(struct generating *g, uint64_t layer, double keep)
{
    int64_t offset = g->span->week_offset_ns;
    double clock = clock_at(&g->week, g->start_ns + offset);
    uint64_t entity = entity_of(g->c->name, layer);
    for (uint32_t k = 0; k < ID_LAYER; k++) {
        struct draw d = draw(g->span, LANE_ARRIVAL, entity, k);
        clock -= det_log(d.a);
        int64_t at_ns = time_of_clock(&g->week, clock) - offset;
        if (at_ns >= g->end_ns) return true;
        if (d.b < keep && !add_job(g, at_ns, layer * ID_LAYER + k)) return false;
    }
    return true;
}

static bool add_by_rate(struct generating *g)
{
    if (!(g->c->rate_per_hour >= 0 && g->c->rate_per_hour <= GENERATE_MAX_RATE)) return false;
    double whole = det_floor(g->c->rate_per_hour), part = g->c->rate_per_hour - whole;
    for (uint64_t layer = 0; layer < (uint64_t)whole; layer++)
        if (!add_layer(g, layer, 1)) return false;
    return !(part > 0) || add_layer(g, (uint64_t)whole, part);
}

static bool add_by_count(struct generating *g)
{
    if (g->end_ns <= g->start_ns) return true;
    int64_t offset = g->span->week_offset_ns;
    double from = clock_at(&g->week, g->start_ns + offset), to = clock_at(&g->week, g->end_ns + offset);
    for (uint64_t i = 0; i < g->c->count; i++) {
        double u = draw(g->span, LANE_ARRIVAL, entity_of(g->c->name, i / ID_LAYER), (uint32_t)(i % ID_LAYER)).a;
        if (!add_job(g, time_of_clock(&g->week, from + u * (to - from)) - offset, i)) return false;
    }
    return true;
}

static bool add_evenly(struct generating *g)
{
    int64_t at_ns = g->start_ns;
    for (uint64_t i = 0; at_ns < g->end_ns && (g->c->count == 0 || i < g->c->count); i++, at_ns += g->c->every_ns)
        if (!add_job(g, at_ns, i)) return false;
    return true;
}

static bool add_class(const struct generate_class *c, uint64_t index, const struct generate_span *span,
                      struct generate_jobs *out)
{
    static bool (*const add[])(struct generating *) = {
        [ARRIVE_RATE] = add_by_rate, [ARRIVE_COUNT] = add_by_count, [ARRIVE_EVERY] = add_evenly};
    assert(c->mix->n_sizes > 0 && (c->arrivals != ARRIVE_EVERY || c->every_ns > 0 || c->count > 0));
    struct generating g = {.c = c, .span = span, .out = out, .class_index = index, .start_ns = c->start_ns};
    g.end_ns = c->end_ns > 0 && c->end_ns < span->horizon_ns ? c->end_ns : span->horizon_ns;
    week_init(&g.week, c->mix->hours);
    for (uint32_t i = 0; i < c->mix->n_sizes; i++) g.size_total += c->mix->sizes[i].weight;
    if (c->mix->team_weights) g.mix_team_total = total(c->mix->team_weights, c->mix->n_teams);
    return add[c->arrivals](&g);
}

bool generate(const struct generate_class *classes, size_t n, const struct generate_span *span,
              struct generate_jobs *out)
{
    for (size_t i = 0; i < n; i++)
        if (!add_class(&classes[i], i, span, out)) return false;
    import_sort(out->v, out->n);
    return true;
}

double mix_gpu_seconds(const struct workload_mix *m)
{
    double sum = 0, weights = 0;
    for (uint32_t i = 0; i < m->n_sizes; i++) {
        const struct size_class *s = &m->sizes[i];
        double gpus = (double)s->replicas * s->gpu_shares / SHARES_PER_GPU;
        sum += s->weight * gpus * distribution_mean_ns(&s->work) / (double)NS_PER_S;
        weights += s->weight;
    }
    return weights > 0 ? sum / weights : 0;
}

double mix_rate_for_load(const struct workload_mix *m, double load, double gpus)
{
    double gpu_hours = mix_gpu_seconds(m) / 3600;
    return gpu_hours > 0 ? load * gpus / gpu_hours : 0;
}
