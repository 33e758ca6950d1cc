/* oracle_repairmen.c - see oracle_sim.h: machines that break and a few crews that repair them.
 *
 * A repair is a job of one GPU, the crews are R GPUs, first come first served. N machines live outside of the simulated
 * cluster: each submits a repair when it breaks, and breaks again an exponential time after its repair is over. Batches
 * are stretches of one long run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/support/closed_form.h"
#include "tests/support/oracle_sim.h"

static const double UNIT_NS = 6e10; /* a minute stands for the unit of time: 64 bits of ns hold 10^8 of them */
enum { BATCHES = 40, LIVES = 2000000 /* jobs at most at a time and in all */ };

struct shop {
    struct watched watched; /* first */
    unsigned machines;
    double life, repair;
    gsl_rng *rng;
    const struct policy_ops *policy;
    struct policy_ops ops;
    struct job_spec *specs;
    size_t next;
    unsigned down;
    double since, down_time, all_up_time, failures; /* of this batch */
};
static struct shop *shop; /* the policy's table of functions has no place for it */

static double now_of(const struct shop *s) { return (double)sim_now(s->watched.sim) / UNIT_NS; }

static void advance(struct shop *s)
{
    double t = now_of(s);
    s->down_time += s->down * (t - s->since);
    if (s->down == 0) s->all_up_time += t - s->since;
    s->since = t;
}

static void on_break(void *ctx, void *arg)
{
    struct sim *sim = ctx;
    struct shop *s = arg;
    advance(s);
    s->down++;
    s->failures++;
    struct job_spec *j = &s->specs[s->next];
    j->submit_ns = sim_now(sim);
    j->work_ns = llround(gsl_ran_exponential(s->rng, s->repair) * UNIT_NS);
    sim->next_arrival = s->next + 1;
    job_submit(sim, s->next++);
}

static void live(struct shop *s)
{
    event_after(s->watched.sim->events, llround(gsl_ran_exponential(s->rng, s->life) * UNIT_NS), EVENT_REQUEST, on_break, s);
}

static void on_repaired(struct sim *sim, struct job *j)
{
    shop->policy->released(sim, j);
    advance(shop);
    shop->down--;
    live(shop);
}

static void open_shop(struct shop *s, unsigned crews)
{
    s->watched.scenario = oracle_scenario(
        "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"crews\", \"count\": %u, \"gpus\": 1 } ] },"
        " \"workload\": { \"jobs\": [ { \"id\": \"r\", \"count\": %d, \"submit\": \"102200d\", \"duration\": \"1h\" } ] },"
        " \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\", \"scheduler\": \"batch\", \"placement\": \"none\" } } }",
        crews, LIVES);
    watched_open(&s->watched, 0);
    struct sim *sim = s->watched.sim;
    s->specs = xmalloc(sim->n_specs * sizeof *s->specs);
    memcpy(s->specs, sim->specs, sim->n_specs * sizeof *s->specs);
    sim->specs = s->specs;
    s->policy = sim->policy;
    s->ops = *sim->policy;
    s->ops.released = on_repaired;
    sim->policy = &s->ops;
    shop = s;
    for (unsigned i = 0; i < s->machines; i++) live(s);
}

/* Runs on until so many hours; gives the means since the last call. */
static void stretch(struct shop *s, double until, double *down, double *rate, double *up)
{
    double begin = s->since;
    s->down_time = s->all_up_time = s->failures = 0;
    event_run_until(s->watched.sim->events, s->watched.sim, llround(until * UNIT_NS));
    advance(s);
    double span = s->since - begin;
    if (down) *down = s->down_time / span, *rate = s->failures / span, *up = s->all_up_time / span;
}

static size_t play(struct oracle_row *row, unsigned n, unsigned crews, double life, double repair, double batch)
{
    struct shop s = {.machines = n, .life = life, .repair = repair, .rng = gsl_rng_alloc(gsl_rng_mt19937)};
    struct repairmen want = repairmen(n, crews, life, repair);
    double down[BATCHES], rate[BATCHES], up[BATCHES];
    open_shop(&s, crews);
    stretch(&s, batch, NULL, NULL, NULL); /* warm-up */
    for (int i = 0; i < BATCHES; i++) stretch(&s, batch * (i + 2), &down[i], &rate[i], &up[i]);
    watched_close(&s.watched);
    scenario_free(s.watched.scenario);
    free(s.specs);
    gsl_rng_free(s.rng);
    const char *params = "N=%u,R=%u,MTTF=%g,MTTR=%g";
    oracle_add(&row[0], "machine_repair_mean_down", want.down, estimate_mean(down, BATCHES), params, n, crews, life, repair);
    oracle_add(&row[1], "machine_repair_failure_rate", want.failures_per_time, estimate_mean(rate, BATCHES), params, n, crews,
               life, repair);
    oracle_add(&row[2], "machine_repair_P_all_up", want.all_up, estimate_mean(up, BATCHES), params, n, crews, life, repair);
    return 3;
}

size_t oracle_repairmen(struct oracle_row *row)
{
    size_t n = play(row, 8, 1, 100, 4, 80000);
    n += play(row + n, 128, 2, 1000, 10, 120000);
    return n + play(row + n, 64, 64, 500, 24, 330000);
}
