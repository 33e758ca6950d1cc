/* oracle_sim.h - closed-form systems played by the simulator: what it measures, to be held against the formulas.
 *
 *     struct oracle_row rows[ORACLE_ROWS];
 *     size_t n = oracle_queues(rows);                 // and the others; each row has its estimate and its formula's value
 *
 * Each is a scenario that the library reads and sim_step runs: jobs drawn by `generate`, nodes that fail by the hardware
 * calendar, checkpoints of life cycle none, transfers over the network. The simulation is only watched: at each start of a
 * job, or of a repair. Time units are hours where a formula has none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_ORACLE_SIM_H
#define TRAINYARD_TESTS_SUPPORT_ORACLE_SIM_H

#include "sim/cluster/sim.h"
#include "tests/support/estimate.h"

enum { ORACLE_ROWS = 121 };

struct oracle_row {
    const char *name;
    char params[96];
    double value; /* the formula's, tests/support/closed_form.h or models/ */
    struct estimate measured;
};

/* A simulation that is watched: `started` is called when a job of life cycle none starts, before it holds anything. */
struct watched {
    struct scenario *scenario;
    struct sim *sim;
    void (*started)(struct watched *, struct job *);
    void *ctx;
};
struct scenario *oracle_scenario(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void watched_open(struct watched *, uint32_t replication);
void watched_run(struct watched *);   /* to its end */
void watched_close(struct watched *); /* the scenario stays */

void oracle_add(struct oracle_row *, const char *name, double value, struct estimate, const char *params, ...)
    __attribute__((format(printf, 5, 6)));

size_t oracle_queues(struct oracle_row *);      /* M/M/c, M/G/1, Erlang B */
size_t oracle_repairmen(struct oracle_row *);   /* machine repair */
size_t oracle_checkpoints(struct oracle_row *); /* segments, goodput, ETTR */
size_t oracle_lives(struct oracle_row *);       /* MTTF of large jobs, Weibull lives, the slowest of n */
size_t oracle_transfers(struct oracle_row *);   /* processor sharing */

#endif
