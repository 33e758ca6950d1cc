/* availability.h - how often a job of N nodes fails, and how much of its time is useful.
 *
 * A job fails when one of its nodes does, when one of its processes does, or as a whole (its code, its data):
 *     rate(N) = per_job + N per_node,     MTTF = 1 / rate
 * series system of exponential parts; for renewal parts (Weibull) the long-run rate, 1 / mean.
 *
 * Effective training time ratio, first order in the losses (Kokolis et al., HPCA 2025, section III):
 *     ETTR = (1 - rate (u0 + dt/2)) / (1 + w/dt)
 * u0 restart, dt checkpoint interval, w time of a blocking save. The exact one for exponential failures is
 * checkpoint_goodput() (models/checkpoint.h) with downtime u0; they differ where rate x dt is not small: 2,048 nodes of 6.50
 * failures a 1,000 node-days, u0 10, dt 60, w 5 min: 0.5817 and 0.6164.
 *
 * hazard_fit() finds both parts from published MTTF by size: least squares of the relative errors of the rates, neither part
 * negative (two points and two positive parts: exact).
 *
 * Pure; seconds; deterministic.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_AVAILABILITY_H
#define TRAINYARD_MODELS_AVAILABILITY_H

#include <stddef.h>

struct failure_hazard { double per_job_per_s, per_node_per_s; };

double failure_rate_per_s(const struct failure_hazard *, double nodes);
double failure_mttf_s(const struct failure_hazard *, double nodes); /* infinite where nothing fails */

double ettr_first_order(double rate_per_s, double restart_s, double interval_s, double save_s); /* not below 0 */

struct mttf_point { double nodes, mttf_s; };
struct failure_hazard hazard_fit(const struct mttf_point *, size_t n); /* n >= 1 */

#endif
