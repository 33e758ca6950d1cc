/* checkpoint_optimum.h - the checkpoint interval that costs least, exactly.
 *
 * W / E of models/checkpoint.h is greatest where e^((W + C)/M) (1 - W/M) = 1, which Lambert's W solves:
 *     W = M (1 + W0(-e^-(1 + C/M)))
 * The branch W0 is GSL's. Its last bits depend on the C library, so this stands where scenarios are resolved: the value
 * is rounded to whole seconds (below 1,000 s to milliseconds) and kept in the run's scenario, and the clock never sees it
 * computed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_CHECKPOINT_OPTIMUM_H
#define TRAINYARD_INPUT_CHECKPOINT_OPTIMUM_H

#include <stdint.h>

/* Work between saves in seconds; stall_s > 0, mtbf_s > 0. */
double checkpoint_optimum_s(double stall_s, double mtbf_s);

/* The same, at least the time until a save is durable (one is under way at a time), rounded as above; ns. */
int64_t checkpoint_optimum_ns(double stall_s, double lag_s, double mtbf_s);

#endif
