/* explain_env.h - the environment of each pod of a job, as its life cycle's controller would write it.
 *
 *     struct scenario *s = scenario_load(...);
 *     if (!explain_env(s, "pretrain", &out, &err)) ...      // no such job, or one without pods: err says so; to free
 *
 * One row a life cycle in a table; the texts are the life cycle's own (input/torch_env.h, input/ray_env.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_EXPLAIN_ENV_H
#define TRAINYARD_STUDY_EXPLAIN_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "input/scenario.h"

bool explain_env(const struct scenario *, uint32_t replication, const char *job, struct str *out, char **err);

#endif
