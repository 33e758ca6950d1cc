/* oracle_queues.c - see oracle_sim.h: M/M/c, M/G/1 and Erlang B.
 *
 * Poisson arrivals of one-GPU jobs on c GPUs, first come first served. Batches are replications from empty; what arrives
 * before the warm-up (ten times the relaxation time) is not counted. Controls (estimate.h): arrivals, their work, and how
 * uneven the work came: the mean square of what arrives in windows of three lengths, less lambda b, over its expectation
 * lambda E[S^2] b (Campbell's theorem), for the line is as long as the work is uneven.
 * General service has two values, which the Pollaczek-Khinchine formula cannot tell from any other law of that mean and
 * variance. Erlang's B without a queue: of infinitely many servers the number in use is Poisson, and B is P(c) of that law
 * cut off at c, so among arrivals that find n <= c the share that finds n = c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/support/closed_form.h"
#include "tests/support/oracle_sim.h"

enum { WINDOWS = 3, CONTROLS = 2 + WINDOWS, MOST_BINS = 1 << 20 };

struct queue {
    double lambda;
    unsigned servers;
    double scv; /* < 0: exponential */
    unsigned batches;
    double jobs;   /* a batch, in the mean */
    double warmup; /* hours */
    double bin;    /* hours; windows are of 4, 16 and 64 */
};

struct counts { double n, waited, wait, work, warmup_ns, bin_ns; double *bins; };

static void on_job(struct watched *w, struct job *j)
{
    struct counts *c = w->ctx;
    double wait = (double)(sim_now(w->sim) - j->spec->submit_ns) / 3.6e12, work = (double)j->spec->work_ns / 3.6e12;
    if ((double)j->spec->submit_ns < c->warmup_ns) return;
    c->n++;
    c->waited += wait > 0;
    c->wait += wait;
    c->work += work;
    size_t bin = (size_t)(((double)j->spec->submit_ns - c->warmup_ns) / c->bin_ns);
    if (bin < MOST_BINS) c->bins[bin] += work;
}

/* Mean square of the work in windows of so many bins, over its expectation, less 1. */
static double unevenness(const struct queue *q, const double *bins, size_t window)
{
    size_t n = (size_t)(q->jobs / q->lambda / q->bin);
    double mean = q->lambda * q->bin * (double)window, second = q->scv < 0 ? 2 : 1 + q->scv, sum = 0, all = 0;
    for (size_t i = 0; i < n && i < MOST_BINS; i++) {
        sum += bins[i];
        if (i >= window) sum -= bins[i - window];
        if (i + 1 >= window) all += (sum - mean) * (sum - mean);
    }
    return all / (double)(n - window + 1) / (mean * second) - 1;
}

/* Two values of mean 1 and this variance; the lower is a tenth, or such that the upper is no rarer than it has to be. */
static void two_values(double scv, double *low, double *high, double *share_high)
{
    *low = scv > 0 ? scv >= 2 ? 0.1 : 0.25 : 1;
    *high = scv > 0 ? 1 + scv / (1 - *low) : 1;
    *share_high = scv > 0 ? (1 - *low) / (*high - *low) : 0;
}

static struct scenario *scenario_of(const struct queue *q)
{
    double hours = q->warmup + q->jobs / q->lambda, low, high, share;
    char work[320];
    two_values(q->scv, &low, &high, &share);
    if (q->scv < 0) snprintf(work, sizeof work, "\"work\": { \"kind\": \"exponential\", \"mean\": \"1h\" }");
    else if (share > 0)
        snprintf(work, sizeof work,
                 "\"sizes\": [ { \"weight\": %.17g, \"work\": { \"value\": %.9f } }, { \"weight\": %.17g, \"work\": { \"value\": %.9f } } ]",
                 1 - share, low * 3600, share, high * 3600);
    else snprintf(work, sizeof work, "\"work\": { \"value\": \"1h\" }");
    return oracle_scenario(
        "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": %u, \"gpus\": 1 } ] },"
        " \"workload\": { \"generate\": [ { \"name\": \"c\", \"rate_per_hour\": %.17g, \"end\": \"%.0fh\", %s } ] },"
        " \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\", \"scheduler\": \"batch\", \"placement\": \"none\" } },"
        " \"run\": { \"seed\": 1 } }",
        q->servers, q->lambda, hours, work);
}

/* One replication: what was seen, and how far what went in is from its expectation. */
static struct counts batch(struct watched *w, const struct queue *q, uint32_t i, double *x)
{
    struct counts c = {.warmup_ns = q->warmup * 3.6e12, .bin_ns = q->bin * 3.6e12};
    c.bins = xcalloc(MOST_BINS, sizeof *c.bins);
    w->ctx = &c;
    watched_open(w, i);
    watched_run(w);
    watched_close(w);
    for (size_t k = 0, window = 4; k < WINDOWS; k++, window *= 4) x[k] = unevenness(q, c.bins, window);
    x[WINDOWS] = c.n / q->jobs - 1;
    if (q->scv != 0) x[WINDOWS + 1] = c.work / q->jobs - 1; /* fixed work follows from the arrivals */
    free(c.bins);
    return c;
}

/* The estimates of the probability to wait and of the mean wait; the line by Little's law of each batch. */
static void play(const struct queue *q, struct estimate out[3])
{
    struct watched w = {.scenario = scenario_of(q), .started = on_job};
    double *y[3], *x = xcalloc(q->batches, CONTROLS * sizeof *x);
    size_t controls = q->scv == 0 ? CONTROLS - 1 : CONTROLS;
    for (int k = 0; k < 3; k++) y[k] = xcalloc(q->batches, sizeof *y[k]);
    for (unsigned i = 0; i < q->batches; i++) {
        struct counts c = batch(&w, q, i, x + i * controls);
        y[0][i] = c.waited / c.n;
        y[1][i] = c.wait / c.n;
        y[2][i] = c.wait / (q->jobs / q->lambda);
    }
    for (int k = 0; k < 3; k++) {
        out[k] = estimate_controlled(y[k], q->batches, x, controls);
        free(y[k]);
    }
    free(x);
    scenario_free(w.scenario);
}

static size_t many_servers(struct oracle_row *row)
{
    static const struct queue queues[] = {
        {8, 10, -1, 50, 90000, 60, 0.5}, {0.8, 1, -1, 50, 50000, 400, 4}, {45, 50, -1, 75, 350000, 100, 0.2},
        {1.6, 2, -1, 50, 60000, 200, 2},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        const struct queue *q = &queues[i];
        double wait = mmc_wait(q->lambda, 1, q->servers);
        struct estimate e[3];
        play(q, e);
        oracle_add(&row[n++], "MMc_P_wait", erlang_c(q->lambda, q->servers), e[0], "lam=%g,mu=1,c=%u", q->lambda, q->servers);
        oracle_add(&row[n++], "MMc_Wq", wait, e[1], "lam=%g,mu=1,c=%u", q->lambda, q->servers);
        oracle_add(&row[n++], "MMc_Lq", q->lambda * wait, e[2], "lam=%g,mu=1,c=%u", q->lambda, q->servers);
    }
    return n;
}

static size_t general_service(struct oracle_row *row)
{
    static const struct queue queues[] = {
        {0.5, 1, 4, 50, 20000, 300, 2}, {0.8, 1, 1, 50, 40000, 400, 4}, {0.8, 1, 0, 50, 25000, 300, 2},
        {0.9, 1, 9, 70, 300000, 10000, 40},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        const struct queue *q = &queues[i];
        struct estimate e[3];
        play(q, e);
        oracle_add(&row[n++], "MG1_Wq_PK", pollaczek_khinchine(q->lambda, 1, q->scv), e[1], "lam=%g,ES=1,SCV=%g", q->lambda, q->scv);
    }
    return n;
}

/* ---- Erlang B ---- */

struct found { double all, busy, servers, warmup_ns; };

static void on_found(struct watched *w, struct job *j)
{
    struct found *f = w->ctx;
    double n = w->sim->n_stepping;
    if ((double)j->spec->submit_ns < f->warmup_ns || n > f->servers) return;
    f->all++;
    f->busy += n == f->servers;
}

static size_t no_queue(struct oracle_row *row)
{
    static const struct { double offered; unsigned servers; } systems[] = {{10, 12}, {20, 20}, {3, 5}};
    enum { BATCHES = 40 };
    for (size_t i = 0; i < 3; i++) {
        struct queue q = {.lambda = systems[i].offered, .servers = 200, .scv = -1, .jobs = 60000, .warmup = 20, .bin = 1};
        struct watched w = {.scenario = scenario_of(&q), .started = on_found};
        double y[BATCHES];
        for (unsigned k = 0; k < BATCHES; k++) {
            struct found f = {.servers = systems[i].servers, .warmup_ns = q.warmup * 3.6e12};
            w.ctx = &f;
            watched_open(&w, k);
            watched_run(&w);
            watched_close(&w);
            y[k] = f.busy / f.all;
        }
        oracle_add(&row[i], "ErlangB_block", erlang_b(systems[i].offered, systems[i].servers), estimate_mean(y, BATCHES),
                   "A=%g,c=%u", systems[i].offered, systems[i].servers);
        scenario_free(w.scenario);
    }
    return 3;
}

size_t oracle_queues(struct oracle_row *row)
{
    size_t n = many_servers(row);
    n += general_service(row + n);
    return n + no_queue(row + n);
}
