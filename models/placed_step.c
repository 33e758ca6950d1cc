/* placed_step.c - see placed_step.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/placed_step.h"

#include "base/detmath.h"

static double communication_s(const struct placed_numbers *p, struct gpu_placement at)
{
    double n = at.gpus, ring = 2 * (n - 1) / n;
    if (at.nodes < 2) return ring * p->node_s;
    double sum = ring * (at.nodes == 2 ? p->pair_s : p->fabric_s) + 2 * (n - 1) * p->hop_s;
    return sum * det_pow(p->crowd, at.most - 1.0);
}

/* Mean of max(0, x + logistic deviate of scale s). */
static double mean_above_zero(double x, double s)
{
    double z = s > 0 ? x / s : 0;
    if (!(s > 0) || z > 40) return x > 0 ? x : 0;
    return z < -40 ? 0 : s * det_log(1 + det_exp(z));
}

struct placed_time placed_step(const struct placed_numbers *p, struct gpu_placement at, double local_batch)
{
    struct placed_time t = {p->compute_s + p->sample_s * local_batch, p->fixed_s};
    if (at.gpus < 2) return t;
    double comm = communication_s(p, at), exposed = mean_above_zero(comm - p->overlap * t.compute_s, p->blur * comm);
    t.sync_s += exposed + p->rest * comm + p->uneven * t.compute_s * det_log(at.gpus);
    return t;
}
