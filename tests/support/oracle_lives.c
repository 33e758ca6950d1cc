/* oracle_lives.c - see oracle_sim.h: how often a large job is stopped, how uneven lives are, the slowest of many.
 *
 * Repairs take 1 ns, so failures are renewal processes of the nodes' lives. Those of a job are counted where it starts anew;
 * of the largest, and of a single life, where the policy hears that a node went down.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "models/weibull.h"
#include "tests/support/closed_form.h"
#include "tests/support/oracle_sim.h"

enum { BATCHES = 40 };

struct failures { double n, last_h, sum, squares; };
static struct failures *counted; /* the policy's table of functions has no place for it */
static void (*policy_capacity)(struct sim *);

static void on_failure(struct failures *f, double h)
{
    double gap = h - f->last_h;
    f->n++;
    f->sum += gap;
    f->squares += gap * gap;
    f->last_h = h;
}

static void on_start(struct watched *w, struct job *j)
{
    (void)j;
    on_failure(w->ctx, (double)sim_now(w->sim) / 3.6e12);
}

static void on_capacity(struct sim *s)
{
    if (s->up_shares < s->scenario->cluster.total_shares) on_failure(counted, (double)sim_now(s) / 3.6e12);
    policy_capacity(s);
}

/* A job on all nodes, which saves each minute for nothing, or none. */
static struct scenario *endless(unsigned nodes, bool job, double life_h, double shape, double horizon_h)
{
    return oracle_scenario(
        "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": %u, \"gpus\": 1 } ] },"
        " \"workload\": { \"jobs\": [ { \"id\": \"j\", \"submit\": \"%s\", \"replicas\": %u, \"duration\": \"91250d\","
        " \"checkpoint\": { \"interval\": 60, \"save\": 0, \"load\": 0 } } ] },"
        " \"faults\": { \"components\": [ { \"name\": \"m\", \"scope\": \"node\", \"mtbf\": %.9f, \"shape\": %g, \"repair\": 1e-9 } ] },"
        " \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\", \"scheduler\": \"batch\" } },"
        " \"run\": { \"horizon\": %.9f } }",
        nodes, job ? "0s" : "91250d", nodes, life_h * 3600, shape, horizon_h * 3600);
}

static struct failures of_job(struct watched *w, uint32_t replication)
{
    struct failures f = {.n = -1}; /* the first start is none */
    w->ctx = &f;
    w->started = on_start;
    watched_open(w, replication);
    watched_run(w);
    watched_close(w);
    return f;
}

static struct failures of_nodes(struct watched *w, uint32_t replication)
{
    struct failures f = {0};
    struct policy_ops ops;
    watched_open(w, replication);
    ops = *w->sim->policy;
    policy_capacity = ops.capacity;
    ops.capacity = on_capacity;
    w->sim->policy = &ops;
    counted = &f;
    watched_run(w);
    watched_close(w);
    return f;
}

static size_t large_jobs(struct oracle_row *row)
{
    static const struct { unsigned nodes; bool job; } rows[] = {{2048, true}, {128, true}, {1024, true}, {16384, false}};
    for (size_t i = 0; i < 4; i++) {
        double mttf = 24 / (rows[i].nodes * 0.0065), y[BATCHES], horizon = mttf * 1300;
        struct watched w = {.scenario = endless(rows[i].nodes, rows[i].job, 24 / 0.0065, 1, horizon)};
        for (uint32_t k = 0; k < BATCHES; k++) y[k] = horizon / (rows[i].job ? of_job(&w, k) : of_nodes(&w, k)).n;
        scenario_free(w.scenario);
        oracle_add(&row[i], "job_MTTF_h", mttf, estimate_mean(y, BATCHES), "Nnodes=%u,rf=0.0065", rows[i].nodes);
    }
    return 4;
}

/* The control is the mean life, which is given. */
static size_t uneven_lives(struct oracle_row *row)
{
    static const struct { double shape; double lives; } rows[] = {{0.7, 60000}, {1.5, 15000}};
    for (size_t i = 0; i < 2; i++) {
        double y[BATCHES], x[BATCHES];
        struct watched w = {.scenario = endless(1, false, 3.09, rows[i].shape, 3.09 * rows[i].lives)};
        for (uint32_t k = 0; k < BATCHES; k++) {
            struct failures f = of_nodes(&w, k);
            double mean = f.sum / f.n;
            y[k] = (f.squares / f.n - mean * mean) * f.n / (f.n - 1) / (mean * mean);
            x[k] = mean / 3.09 - 1;
        }
        scenario_free(w.scenario);
        oracle_add(&row[i], "Weibull_SCV", weibull_scv(rows[i].shape), estimate_controlled(y, BATCHES, x, 1), "k=%g", rows[i].shape);
    }
    return 2;
}

/* n jobs of exponential length at once: the run ends with the longest. */
static size_t slowest_of_many(struct oracle_row *row)
{
    static const struct { unsigned n, runs; } rows[] = {{8, 10000}, {128, 3000}, {1024, 1400}};
    for (size_t i = 0; i < 3; i++) {
        double y[BATCHES];
        struct watched w = {0};
        w.scenario = oracle_scenario(
            "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": %u, \"gpus\": 1 } ] },"
            " \"workload\": { \"generate\": [ { \"name\": \"c\", \"count\": %u, \"every\": 1e-9, \"end\": 1,"
            " \"work\": { \"kind\": \"exponential\", \"mean\": \"1h\" } } ] },"
            " \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\", \"scheduler\": \"batch\", \"placement\": \"none\" } } }",
            rows[i].n, rows[i].n);
        for (uint32_t k = 0; k < BATCHES; k++) {
            double sum = 0;
            for (unsigned r = 0; r < rows[i].runs / BATCHES; r++) {
                watched_open(&w, k * rows[i].runs + r);
                watched_run(&w);
                sum += (double)sim_now(w.sim) / 3.6e12;
                watched_close(&w);
            }
            y[k] = sum / (rows[i].runs / BATCHES);
        }
        scenario_free(w.scenario);
        oracle_add(&row[i], "E_max_of_n_exponentials", harmonic(rows[i].n), estimate_mean(y, BATCHES), "n=%u,mean=1", rows[i].n);
    }
    return 3;
}

size_t oracle_lives(struct oracle_row *row)
{
    size_t n = large_jobs(row);
    n += uneven_lives(row + n);
    return n + slowest_of_many(row + n);
}
