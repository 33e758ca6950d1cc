/* intervals.h - checkpoint intervals side by side: where the time of a run goes at each.
 *
 *     struct interval_row r = interval_row("Young", checkpoint_young_s(c, m), cost, &risk);
 *     interval_rules(cost, &risk, rows);                 // exact, Daly, Young
 *     interval_spread(best, 2, 4, cost, &risk, rows);    // best / 2^4 ... best x 2^4: 9 rows at most
 *
 * Shares are of expected wall time and sum to 1: work that counts, saves (the stall), downtime D (failures come at rate
 * 1/M outside of it, so it is D/(M + D)), and the rest: work that is done again, and recovery.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_INTERVALS_H
#define TRAINYARD_STUDY_INTERVALS_H

#include "models/checkpoint.h"

struct interval_row {
    const char *rule; /* "" in a spread */
    double interval_s;
    double segment_s; /* expected time from one save to the next */
    double goodput, saving, downtime, redone;
};

struct interval_row interval_row(const char *rule, double interval_s, struct checkpoint_cost, const struct checkpoint_risk *);

/* The shortest interval: one save is under way at a time. */
double interval_least_s(struct checkpoint_cost);

enum { N_INTERVAL_RULES = 3 };
/* Failures must be possible: mtbf_s > 0, and the stall > 0. None is below the least. */
void interval_rules(struct checkpoint_cost, const struct checkpoint_risk *, struct interval_row out[N_INTERVAL_RULES]);

/* Up to 2 n + 1 rows by a factor, from low to high, without those below the least; how many. */
int interval_spread(double middle_s, double factor, int n, struct checkpoint_cost, const struct checkpoint_risk *,
                     struct interval_row *out);

#endif
