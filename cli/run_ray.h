/* run_ray.h - trainyard run --on ray: one approach, once, on a live Ray cluster.
 *
 *     int code = run_on_ray(&plan, address, work, quiet, &runs);    // address NULL: $RAY_API_SERVER_ADDRESS, else this machine's
 *
 * Exit codes and the plan as run_host.h has them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_RUN_RAY_H
#define TRAINYARD_CLI_RUN_RAY_H

#include <stdbool.h>

#include "study/runs.h"

int run_on_ray(const struct runs_plan *, const char *address, const char *work, bool quiet, struct runs *);

#endif
