/* oracle_checkpoints.c - see oracle_sim.h: checkpointed jobs on a machine that fails.
 *
 * One node, whose only component lives exponentially with mean M and is repaired in exactly D; one job of many segments of
 * W work, a save of C after each, a load of R after each failure. Failures strike while it works, saves and loads, and not
 * in D. A batch is a replication; the last segment of a job has no save, and the first is not loaded: with SEGMENTS of them
 * that is below 1e-4 of the time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "input/checkpoint_optimum.h"
#include "models/checkpoint.h"
#include "tests/support/oracle_sim.h"

enum { BATCHES = 40, SEGMENTS = 2000 };

struct plan { double c, m, d, r; };

static double time_of_segment(struct watched *w, uint32_t replication)
{
    watched_open(w, replication);
    watched_run(w);
    double s = (double)sim_now(w->sim) / 1e9;
    watched_close(w);
    return s / SEGMENTS;
}

static struct estimate play(double work, const struct plan *p, double scale)
{
    struct watched w = {0};
    double y[BATCHES];
    w.scenario = oracle_scenario(
        "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 1, \"gpus\": 1 } ] },"
        " \"workload\": { \"jobs\": [ { \"id\": \"j\", \"duration\": %.9f,"
        " \"checkpoint\": { \"interval\": %.9f, \"save\": %.9f, \"load\": %.9f } } ] },"
        " \"faults\": { \"components\": [ { \"name\": \"m\", \"scope\": \"node\", \"mtbf\": %.9f, \"repair\": %.9f } ] },"
        " \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\", \"scheduler\": \"batch\" } } }",
        round(work * 1e9) / 1e9 * SEGMENTS, work, p->c, p->r, p->m, p->d);
    for (int i = 0; i < BATCHES; i++) y[i] = scale / time_of_segment(&w, (uint32_t)i);
    scenario_free(w.scenario);
    return estimate_mean(y, BATCHES);
}

/* Time of a segment from its inverse: small relative errors turn over with their sign. */
static struct estimate inverse(struct estimate e, double scale)
{
    return (struct estimate){scale / e.mean, e.half / e.mean * scale / e.mean};
}

static size_t segments(struct oracle_row *row)
{
    static const struct plan plans[] = {{60, 10800, 120, 300}, {300, 6489.6, 0, 600}, {40, 432000, 600, 1800},
                                        {600, 3600, 0, 600}};
    size_t n = 0;
    for (size_t i = 0; i < 4; i++) {
        const struct plan *p = &plans[i];
        struct checkpoint_risk risk = {p->m, p->d, p->r};
        double works[] = {checkpoint_optimum_s(p->c, p->m), checkpoint_young_s(p->c, p->m), 3600};
        for (int k = 0; k < 3; k++) {
            double segment = checkpoint_segment_s(works[k], (struct checkpoint_cost){p->c, 0}, &risk);
            struct estimate good = play(works[k], p, works[k]);
            const char *params = "W=%.3f,C=%g,D=%g,R=%g,M=%g";
            oracle_add(&row[n++], "E_segment_time", segment, inverse(good, works[k]), params, works[k], p->c, p->d, p->r, p->m);
            oracle_add(&row[n++], "goodput", works[k] / segment, good, params, works[k], p->c, p->d, p->r, p->m);
        }
    }
    return n;
}

/* Effective training time: minutes; what cannot be interrupted (u0) is downtime. */
static size_t effective(struct oracle_row *row)
{
    static const struct { double nodes, u0, dt, w; } rows[] = {{2048, 10, 60, 5}, {128, 10, 60, 5}, {1024, 5, 20, 0.1},
                                                               {16384, 5, 5, 0.02}};
    for (size_t i = 0; i < 4; i++) {
        double m = 86400 / (rows[i].nodes * 0.0065), dt = rows[i].dt * 60;
        struct plan p = {rows[i].w * 60, m, rows[i].u0 * 60, 0};
        struct checkpoint_risk risk = {m, p.d, 0};
        oracle_add(&row[i], "ETTR_exact_exponential", checkpoint_goodput(dt, (struct checkpoint_cost){p.c, 0}, &risk),
                   play(dt, &p, dt), "Nnodes=%g,u0=%gmin,dt=%gmin,w=%gmin", rows[i].nodes, rows[i].u0, rows[i].dt, rows[i].w);
    }
    return 4;
}

size_t oracle_checkpoints(struct oracle_row *row)
{
    size_t n = segments(row);
    return n + effective(row + n);
}
