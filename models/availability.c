/* availability.c - see availability.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/availability.h"

double failure_rate_per_s(const struct failure_hazard *h, double nodes)
{
    return h->per_job_per_s + nodes * h->per_node_per_s;
}

double failure_mttf_s(const struct failure_hazard *h, double nodes)
{
    return 1 / failure_rate_per_s(h, nodes);
}

double ettr_first_order(double rate_per_s, double restart_s, double interval_s, double save_s)
{
    double up = 1 - rate_per_s * (restart_s + interval_s / 2);
    return up > 0 ? up / (1 + save_s / interval_s) : 0;
}

/* Relative errors: each point's equation is divided by its rate, so 1 = job x + node y with x = mttf, y = nodes x mttf. */
struct failure_hazard hazard_fit(const struct mttf_point *p, size_t n)
{
    double xx = 0, xy = 0, yy = 0, x1 = 0, y1 = 0;
    for (size_t i = 0; i < n; i++) {
        double x = p[i].mttf_s, y = p[i].nodes * x;
        xx += x * x, xy += x * y, yy += y * y, x1 += x, y1 += y;
    }
    double det = xx * yy - xy * xy;
    struct failure_hazard h = {0, y1 / yy};
    if (!(det > 1e-12 * xx * yy)) return h; /* one size: all of it is put on the nodes */
    double job = (x1 * yy - y1 * xy) / det, node = (y1 * xx - x1 * xy) / det;
    if (job > 0 && node > 0) return (struct failure_hazard){job, node};
    double only_job = x1 / xx; /* the best on an edge: the one with the smaller sum of squares, n - (share explained) */
    return only_job * x1 > h.per_node_per_s * y1 ? (struct failure_hazard){only_job, 0} : h;
}
