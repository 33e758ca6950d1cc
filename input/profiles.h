/* profiles.h - names of the shipped and installed profiles, for `trainyard profiles` and for "did you mean".
 *
 *     struct profile_names names;
 *     profile_list(arena, "hardware", &names);       // sorted; folders: stacks, hardware, network, kernels, failures, workloads
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_PROFILES_H
#define TRAINYARD_INPUT_PROFILES_H

#include <stddef.h>

#include "base/arena.h"

#define PROFILE_NAMES_MAX 256

struct profile_names { const char *v[PROFILE_NAMES_MAX]; size_t n; };
void profile_list(struct arena *arena, const char *folder, struct profile_names *out);

/* Path of a profile in `arena`, or NULL. */
char *profile_path(struct arena *arena, const char *folder, const char *name);

#endif
