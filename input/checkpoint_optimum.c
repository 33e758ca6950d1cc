/* checkpoint_optimum.c - see checkpoint_optimum.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/checkpoint_optimum.h"

#include <gsl/gsl_sf_lambert.h>
#include <math.h>

#include "base/units.h"

#define LONGEST_S 1e9 /* 32 years */

double checkpoint_optimum_s(double stall_s, double mtbf_s)
{
    return mtbf_s * (1 + gsl_sf_lambert_W0(-exp(-(1 + stall_s / mtbf_s))));
}

int64_t checkpoint_optimum_ns(double stall_s, double lag_s, double mtbf_s)
{
    double s = fmin(fmax(checkpoint_optimum_s(stall_s, mtbf_s), lag_s), LONGEST_S);
    if (s >= 1000) return llround(s) * NS_PER_S;
    int64_t ms = llround(s * 1000);
    return (ms > 0 ? ms : 1) * (NS_PER_S / 1000);
}
