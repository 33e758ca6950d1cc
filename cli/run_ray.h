/* run_ray.h - trainyard run --on ray: one approach, once, on a live Ray cluster.
 *
 *     int code = run_on_ray(&plan, &(struct ray_options){.address = ..., .work = ..., .node_command = ...}, quiet, &runs);
 *
 * Of the options these three are read. Address NULL: $RAY_API_SERVER_ADDRESS, else this machine's.
 *
 * Exit codes and the plan as run_host.h has them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_RUN_RAY_H
#define TRAINYARD_CLI_RUN_RAY_H

#include <stdbool.h>

#include "real/ray/ray.h"
#include "study/runs.h"

int run_on_ray(const struct runs_plan *, const struct ray_options *, bool quiet, struct runs *);

#endif
