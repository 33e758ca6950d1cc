/* failure_rate.c - see failure_rate.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/failure_rate.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "base/units.h"

static double per_s(int64_t mtbf_ns) { return mtbf_ns > 0 ? NS_PER_S / (double)mtbf_ns : 0; }

/* Of the repairs of a link, the share that the network library does not wait for. */
static double outlasts(const struct fault_component *f, int64_t timeout_ns)
{
    if (f->scope != FAULT_LINK) return 1;
    if (f->repair_sigma == 0.0) return f->repair_ns > timeout_ns;
    double median = log((double)f->repair_ns) - f->repair_sigma * f->repair_sigma / 2;
    return gsl_cdf_lognormal_Q((double)timeout_ns, median, f->repair_sigma);
}

static double component_per_s(const struct scenario *s, const struct fault_component *f, uint32_t group, double nodes)
{
    uint32_t copies = f->per_node ? f->per_node : s->cluster.groups[group].gpus;
    double units = f->nodes ? ceil(nodes / f->nodes) * copies : 1;
    if (!(f->groups >> group & 1)) return 0;
    return units * per_s(f->mtbf_ns) * (1 + f->lemon_share * (f->lemon_times - 1)) *
           outlasts(f, s->approach.stack.ib_timeout);
}

static double group_per_s(const struct scenario *s, uint32_t group, double gpus)
{
    const struct node_group *g = &s->cluster.groups[group];
    double nodes = g->gpus ? ceil(gpus / g->gpus) : 1, sum = 0;
    for (uint32_t i = 0; i < s->faults.n_components; i++)
        sum += component_per_s(s, &s->faults.components[i], group, nodes > 1 ? nodes : 1);
    return sum;
}

double job_failures_per_s(const struct scenario *s, const struct job_detail *d, double gpus, double replicas)
{
    double sum = 0, weight = 0;
    for (uint32_t g = 0; g < s->cluster.n_groups; g++) {
        double w = (double)s->cluster.groups[g].count * s->cluster.groups[g].gpus;
        if (!(d->groups >> g & 1)) continue;
        sum += w * group_per_s(s, g, gpus);
        weight += w;
    }
    double hardware = weight > 0 ? sum / weight : 0;
    return hardware + replicas * (per_s(d->crash_mtbf_ns) + per_s(d->hang_mtbf_ns)) + per_s(d->job_crash_mtbf_ns);
}
