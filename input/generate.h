/* generate.h - jobs drawn from distributions: the `generate` part of a workload, and workload profiles.
 *
 *     struct generate_class c = { .name = "train", .arrivals = ARRIVE_RATE, .rate_per_hour = 12, .mix = &mix };
 *     struct generate_span span = { .horizon_ns = 14 * NS_PER_DAY, .seed = 1, .replication = 0 };
 *     struct generate_jobs out = {0};
 *     generate(&c, 1, &span, &out);      // sorted by time of submission; ids are numbers
 *     array_free(&out);
 *
 * A draw is a function of (seed, replication, class name, number of the job), so classes do not disturb one another,
 * approaches see the same jobs, and workloads are nested: more `count`, or a longer horizon or higher rate, adds jobs and
 * moves none (but a `count` is spread over the whole horizon). For rates that is done by layers: a class of r jobs an
 * hour is r Poisson processes of one job an hour each, the last one thinned to the fraction; layer l of rate 12 is layer
 * l of rate 20. The id of a job says it: 1 + number in its layer + 10^6 x layer + 10^12 x class.
 *
 * Arrivals are a Poisson process whose rate follows `hours` (relative weights of the hours of the week, mean 1), or a
 * given count of independent moments under the same weights, or evenly spaced. Real traces are burstier than Poisson;
 * fit.h measures by how much.
 * Work: one draw a job, by inversion, with base/detmath: equal bits on every machine. A quantile table is interpolated
 * linearly in ln(1 s + x), since durations spread over decades.
 *
 * Ownership: classes and mixes are the caller's and are only read. Cost: about 100 ns a job and the sort.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_GENERATE_H
#define TRAINYARD_INPUT_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"
#include "input/scenario.h"

#define HOURS_PER_WEEK 168

/* X(enum, name in a scenario, members, what they mean) */
#define DISTRIBUTIONS(X)                                                                                               \
    X(DIST_FIXED, "fixed")             /* a */                                                                         \
    X(DIST_UNIFORM, "uniform")         /* from a to b */                                                               \
    X(DIST_EXPONENTIAL, "exponential") /* mean a */                                                                    \
    X(DIST_LOGNORMAL, "lognormal")     /* median a, sigma (of the logarithm) b */                                      \
    X(DIST_QUANTILES, "quantiles")     /* table */
#define X_ENUM(e, ...) e,
enum distribution_kind { DISTRIBUTIONS(X_ENUM) N_DISTRIBUTIONS };
#undef X_ENUM
extern const char *const distribution_names[N_DISTRIBUTIONS];

struct distribution {
    enum distribution_kind kind;
    double a, b;           /* ns; sigma is a plain number */
    const double *p;       /* quantiles: probabilities, ascending from 0 to 1; NULL: equally spaced */
    const double *x;       /* quantiles: values in ns, not descending */
    uint32_t n;            /* of them, >= 2 */
    double min_ns, max_ns; /* the result is clamped; max 0: no upper bound */
};

/* The value at probability u in (0, 1), in ns, rounded, within [0, 2^62]. */
int64_t distribution_ns(const struct distribution *, double u);
/* The mean in ns, in closed form, clamps left out of account. */
double distribution_mean_ns(const struct distribution *);
/* P(X <= x), for tests and for the reports of a fit. */
double distribution_cdf(const struct distribution *, double x_ns);

/* One size of job and what goes with it. */
struct size_class {
    uint32_t replicas, gpu_shares; /* a replica */
    double weight;                 /* relative number of jobs */
    struct distribution work;
    const double *team_weights; /* one a team of the mix; NULL: the mix's own */
};

/* What jobs are like and when they come, without how many: a profile is one of these. */
struct workload_mix {
    const double *hours; /* HOURS_PER_WEEK relative weights from Monday 00:00; NULL: even */
    const struct size_class *sizes;
    uint32_t n_sizes;           /* >= 1 */
    const char *const *teams;   /* NULL when n_teams is 0 */
    const double *team_weights; /* NULL: equal */
    uint32_t n_teams;
};

enum arrivals { ARRIVE_RATE, ARRIVE_COUNT, ARRIVE_EVERY };

struct generate_class {
    const char *name; /* stands for the class in every draw: renaming it gives other jobs */
    enum arrivals arrivals;
    double rate_per_hour;     /* RATE: mean over the week */
    uint64_t count;           /* COUNT; EVERY: at most so many, 0: until the end */
    int64_t every_ns;         /* EVERY: > 0, or 0 with a count: all of them at start_ns */
    int64_t start_ns, end_ns; /* jobs come in [start, end); end 0: the horizon */
    const struct workload_mix *mix;
    /* as the scenario numbers them */
    uint32_t detail;
    uint16_t queue, team;      /* of all jobs, unless: */
    const uint16_t *team_ids;  /* index of each team of the mix */
    const uint16_t *queue_ids; /* queue of each team of the mix, or NULL */
    int32_t priority;
    int64_t limit_ns;    /* time limit, TIME_NEVER: none */
    double limit_factor; /* > 0: limit = factor x work instead */
};

struct generate_span {
    int64_t horizon_ns;     /* > 0; classes may end earlier */
    int64_t week_offset_ns; /* time of the week at time 0 */
    uint64_t seed;
    uint32_t replication;
};

struct generate_jobs {
    struct job_spec *v;
    size_t n, cap;
}; /* an ARRAY: array_free */

/* The most jobs one call gives; beyond, generate says false (a rate or horizon that nobody meant). */
#define GENERATE_MAX_RATE 1e6 /* jobs an hour of a class: the layers of an id */
#define GENERATE_MAX_JOBS ((size_t)50000000)

/* Adds the jobs of all classes to out and sorts it (time, then class, then number). */
bool generate(const struct generate_class *classes, size_t n, const struct generate_span *, struct generate_jobs *out);

/* Mean GPU-seconds of a job, and the rate that offers `load` (1.0: 100 %) to `gpus` GPUs. */
double mix_gpu_seconds(const struct workload_mix *);
double mix_rate_for_load(const struct workload_mix *, double load, double gpus);

/* A workload profile as `import --fit` writes it (docs/traces.md): a mix with its source and its own rate. */
struct workload_profile {
    const char *name, *source;
    uint64_t jobs;        /* of the trace */
    double rate_per_hour; /* of the trace */
    double dispersion;    /* variance over mean of hourly counts about the weekly pattern; 1: Poisson */
    struct workload_mix mix;
    struct arena arena;
};

/* NULL after errors. gpus_per_node > 0 splits its sizes into replicas as import.h says. */
struct workload_profile *workload_profile_parse(const char *name, const char *text, size_t n, uint32_t gpus_per_node,
                                                struct diag *d);
void workload_profile_free(struct workload_profile *);

#endif
