/* bench_growth.c - how the time of a run grows with jobs, nodes and the standing line, and the memory of a million jobs.
 *
 *     bench_growth POLICY jobs|nodes|line     one line: the exponent
 *     bench_growth POLICY time JOBS NODES LINE   CPU seconds of one run
 *     bench_growth POLICY memory              MB at most, of a run of a million jobs with its scenario
 *
 * The exponent is the slope of log(CPU time) over log(size) by least squares: jobs 1e3 to 1e6 on 64 nodes, nodes 64 to 6400
 * for 200,000 jobs, the line 100 to 10,000 for 100,000 jobs on 64 nodes; all nodes have 8 GPUs. Conservative backfilling,
 * whose cost is its meaning, gets less. `kueue` runs the whole operator life cycle, all others GPUs for a duration.
 * The load: jobs of 1 to 8 GPUs (powers of two) for one to two hours, arriving as fast as the cluster serves them (0.9 of
 * it; 0.5 of it for nodes, so that no line stands). A line of L: L jobs at time 0, and the rest at exactly the rate served.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/str.h"
#include "base/units.h"
#include "run/record.h"
#include "sim/simulate.h"

struct size { size_t jobs; unsigned nodes; size_t line; };

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (x ^ x >> 31) % n;
}

static bool named(const char *policy) { return strcmp(policy, "easy") == 0 || strcmp(policy, "conservative") == 0; }

/* A scenario of one job, whose table is then replaced. */
static struct scenario *load(const char *policy, const struct size *z, struct job_spec **table)
{
    struct diag d = {0};
    struct str text = {0};
    bool kueue = strcmp(policy, "kueue") == 0;
    str_printf(&text,
               "{ \"trainyard\": 1, \"name\": \"growth\","
               " \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": %u, \"gpus\": 8 } ] },"
               " \"queues\": [ { \"name\": \"q\", \"quota\": { \"n\": %u } } ],"
               " \"workload\": { \"jobs\": [ { \"id\": \"j\", \"kind\": \"train\", \"duration\": 1, \"gpus\": 1,"
               " \"queue\": \"q\" } ] },"
               " \"approaches\": { \"x\": { \"lifecycle\": \"%s\", \"admission\": \"%s\", \"scheduler\": \"%s\","
               " \"placement\": \"%s\"%s } } }",
               z->nodes, z->nodes * 8, kueue ? "training-operator-v1" : "none", policy, kueue ? "kube" : "batch",
               named(policy) ? "first" : "pack", kueue ? ", \"stack\": \"kueue-0.18\"" : "");
    struct scenario *s = scenario_parse("growth.json", text.s, text.n, NULL, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    if (!s) exit(3);
    *table = malloc(z->jobs * sizeof **table);
    return s;
}

/* Mean job: 3.75 GPUs for 5,400 s. */
static void fill(struct job_spec *jobs, const struct job_spec *like, const struct size *z, double load)
{
    uint64_t state = 1;
    double gap_s = 3.75 * 5400 / (z->nodes * 8.0 * load), at_s = 0;
    for (size_t i = 0; i < z->jobs; i++) {
        jobs[i] = *like;
        jobs[i].id = i;
        jobs[i].flags = 0;
        jobs[i].replicas = 1;
        jobs[i].gpu_shares = 1000u << below(&state, 4);
        jobs[i].work_ns = (int64_t)(3600 + below(&state, 3600)) * NS_PER_S;
        jobs[i].limit_ns = jobs[i].work_ns + (int64_t)below(&state, 3600) * NS_PER_S;
        jobs[i].submit_ns = i < z->line ? 0 : (int64_t)(at_s * 1e9);
        if (i >= z->line) at_s += gap_s;
    }
}

static double run(const char *policy, const struct size *z, double offered)
{
    struct job_spec *jobs, *was;
    struct scenario *s = load(policy, z, &jobs);
    struct sim_result r;
    fill(jobs, &s->jobs[0], z, offered);
    was = s->jobs;
    s->jobs = jobs;
    s->n_jobs = z->jobs;
    double from = cpu_s();
    if (!sim_run(s, &(struct sim_options){.record_level = RECORD_NONE}, &r)) exit(1);
    double spent = cpu_s() - from;
    if (r.unfinished) fprintf(stderr, "%zu jobs have not ended\n", r.unfinished);
    sim_result_free(&r);
    s->jobs = was;
    s->n_jobs = 1;
    scenario_free(s);
    free(jobs);
    return spent;
}

/* ---- exponents ---- */

enum { POINTS = 5 };
struct dimension { const char *name; double load; struct size size[POINTS]; double (*of)(const struct size *); };

static double jobs_of(const struct size *z) { return (double)z->jobs; }
static double nodes_of(const struct size *z) { return (double)z->nodes; }
static double line_of(const struct size *z) { return (double)z->line; }

static const struct dimension sizes[] = {
    {"jobs",  0.9, {{1000, 64, 0}, {10000, 64, 0}, {31623, 64, 0}, {100000, 64, 0}, {1000000, 64, 0}},                jobs_of },
    {"nodes", 0.5, {{200000, 64, 0}, {200000, 200, 0}, {200000, 640, 0}, {200000, 2000, 0}, {200000, 6400, 0}},       nodes_of},
    {"line",  1.0, {{100000, 64, 100}, {100000, 64, 316}, {100000, 64, 1000}, {100000, 64, 3162}, {100000, 64, 10000}}, line_of },
};

static const struct dimension conservative_sizes[] = {
    {"jobs",  0.9, {{1000, 8, 0}, {3162, 8, 0}, {10000, 8, 0}, {31623, 8, 0}, {100000, 8, 0}},      jobs_of },
    {"nodes", 0.5, {{10000, 8, 0}, {10000, 16, 0}, {10000, 32, 0}, {10000, 64, 0}, {10000, 128, 0}}, nodes_of},
    {"line",  1.0, {{2000, 8, 20}, {2000, 8, 40}, {2000, 8, 80}, {2000, 8, 160}, {2000, 8, 320}},   line_of },
};

/* Short runs are repeated, the least counts. */
static double least_time(const char *policy, const struct size *z, double load)
{
    double least = run(policy, z, load), all = least;
    for (int i = 0; i < 20 && all < 0.5; i++) {
        double t = run(policy, z, load);
        all += t;
        if (t < least) least = t;
    }
    return least;
}

static double exponent(const char *policy, const struct dimension *d, bool verbose)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < POINTS; i++) {
        double t = least_time(policy, &d->size[i], d->load), x = log(d->of(&d->size[i])), y = log(t);
        if (verbose) fprintf(stderr, "%s %s %.0f: %.4f s\n", policy, d->name, d->of(&d->size[i]), t);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (POINTS * sxy - sx * sy) / (POINTS * sxx - sx * sx);
}

static int memory(const char *policy)
{
    struct rusage u;
    run(policy, &(struct size){1000000, 64, 0}, 0.9);
    getrusage(RUSAGE_SELF, &u);
    printf("%.1f\n", (double)u.ru_maxrss * 1024 / 1e6);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    if (strcmp(argv[2], "memory") == 0) return memory(argv[1]);
    if (strcmp(argv[2], "time") == 0 && argc > 5) {
        struct size z = {(size_t)atoll(argv[3]), (unsigned)atoi(argv[4]), (size_t)atoll(argv[5])};
        printf("%.4f\n", least_time(argv[1], &z, z.line ? 1.0 : 0.9));
        return 0;
    }
    const struct dimension *d = strcmp(argv[1], "conservative") == 0 ? conservative_sizes : sizes;
    for (int i = 0; i < 3; i++)
        if (strcmp(argv[2], d[i].name) == 0) printf("%.3f\n", exponent(argv[1], &d[i], getenv("VERBOSE") != NULL));
    return 0;
}
