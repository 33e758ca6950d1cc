/* oracle_transfers.c - see oracle_sim.h: a link that transfers share.
 *
 * Transfers come as a Poisson process to a store whose write bandwidth they share alike (network.h), each of exponential
 * size: M/M/1 under processor sharing, mean time there 1/(mu - lambda). Arrivals and sizes are the test's own; the sharing
 * is the simulator's. Controls: arrivals, and their bytes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "sim/cluster/network.h"
#include "tests/support/oracle_sim.h"

static const double UNIT_NS = 1e9, CAPACITY = 1e12; /* a second stands for the unit of time; bytes of the mean size */
enum { BATCHES = 50, ARRIVALS = 40000, WARMUP = 400 };

struct link {
    struct watched watched; /* first */
    gsl_rng *rng;
    struct net_path path;
    struct arena arena; /* items of a batch */
    struct item *free;
    double lambda, n, time, work;
};
struct item { struct net_transfer transfer; struct link *link; struct item *next; int64_t since_ns; };

static void on_arrival(void *ctx, void *arg);

static void next(struct link *l)
{
    event_after(l->watched.sim->events, llround(gsl_ran_exponential(l->rng, 1 / l->lambda) * UNIT_NS), EVENT_REQUEST, on_arrival, l);
}

static void on_end(struct sim *s, struct net_transfer *t)
{
    struct item *i = (struct item *)t;
    struct link *l = i->link;
    if ((double)i->since_ns >= WARMUP * UNIT_NS) {
        l->n++;
        l->time += (double)(sim_now(s) - i->since_ns) / UNIT_NS;
        l->work += (double)t->bytes / CAPACITY;
    }
    i->next = l->free;
    l->free = i;
}

static void on_arrival(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct link *l = arg;
    struct item *i = l->free ? l->free : arena_new(&l->arena, struct item);
    if (l->free) l->free = i->next;
    *i = (struct item){.link = l, .since_ns = sim_now(s)};
    int64_t bytes = llround(gsl_ran_exponential(l->rng, CAPACITY));
    if (!net_transfer_start(s, &i->transfer, &l->path, bytes > 0 ? bytes : 1, FLOW_UNLIMITED, on_end)) abort();
    next(l);
}

static void batch(struct link *l, uint32_t replication)
{
    static const uint32_t node = 0;
    double hours = WARMUP + ARRIVALS / l->lambda;
    l->n = l->time = l->work = 0;
    watched_open(&l->watched, replication);
    net_path_store(l->watched.sim, &l->path, &node, 1, 0, NET_UP);
    next(l);
    event_run_until(l->watched.sim->events, l->watched.sim, llround(hours * UNIT_NS));
    watched_close(&l->watched);
    l->free = NULL;
    arena_free(&l->arena);
}

size_t oracle_transfers(struct oracle_row *row)
{
    struct link l = {.rng = gsl_rng_alloc(gsl_rng_mt19937), .lambda = 0.8};
    double y[BATCHES], x[2 * BATCHES];
    l.watched.scenario = oracle_scenario(
        "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 1, \"gpus\": 1 } ],"
        " \"network\": { \"inter\": \"100TB/s\", \"contention\": true },"
        " \"storage\": [ { \"name\": \"s\", \"write\": \"1TB/s\", \"read\": \"1TB/s\" } ] },"
        " \"workload\": { \"jobs\": [ { \"id\": \"j\", \"submit\": \"91250d\", \"duration\": 1 } ] },"
        " \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\", \"scheduler\": \"batch\" } } }");
    for (uint32_t k = 0; k < BATCHES; k++) {
        batch(&l, k);
        y[k] = l.time / l.n;
        x[2 * k] = l.n / ARRIVALS - 1;
        x[2 * k + 1] = l.work / ARRIVALS - 1;
    }
    scenario_free(l.watched.scenario);
    net_path_free(&l.path);
    gsl_rng_free(l.rng);
    oracle_add(row, "PS_M/M/1_mean_sojourn", 1 / (1 - l.lambda), estimate_controlled(y, BATCHES, x, 2), "lam=%g,mu=1", l.lambda);
    return 1;
}
