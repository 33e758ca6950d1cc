/* intervals.c - see intervals.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/intervals.h"

#include <math.h>

#include "input/checkpoint_optimum.h"

struct interval_row interval_row(const char *rule, double interval_s, struct checkpoint_cost cost,
                                 const struct checkpoint_risk *risk)
{
    struct interval_row r = {.rule = rule, .interval_s = interval_s};
    r.segment_s = checkpoint_segment_s(interval_s, cost, risk);
    r.goodput = interval_s / r.segment_s;
    r.saving = cost.stall_s / r.segment_s;
    r.downtime = risk->mtbf_s > 0 ? risk->down_s / (risk->mtbf_s + risk->down_s) : 0;
    r.redone = fmax(0, 1 - r.goodput - r.saving - r.downtime);
    return r;
}

double interval_least_s(struct checkpoint_cost c) { return fmax(0, c.lag_s - c.stall_s); }

void interval_rules(struct checkpoint_cost cost, const struct checkpoint_risk *risk, struct interval_row out[N_INTERVAL_RULES])
{
    double c = cost.stall_s, m = risk->mtbf_s, least = interval_least_s(cost);
    out[0] = interval_row("exact", fmax(least, checkpoint_optimum_s(c, m)), cost, risk);
    out[1] = interval_row("Daly", fmax(least, checkpoint_daly_s(c, m)), cost, risk);
    out[2] = interval_row("Young", fmax(least, checkpoint_young_s(c, m)), cost, risk);
}

int interval_spread(double middle_s, double factor, int n, struct checkpoint_cost cost, const struct checkpoint_risk *risk,
                    struct interval_row *out)
{
    int rows = 0;
    for (int k = -n; k <= n; k++) {
        double s = middle_s * pow(factor, k);
        if (s >= interval_least_s(cost)) out[rows++] = interval_row("", s, cost, risk);
    }
    return rows;
}
