/* profile_hazard.h - the hazard of a failure profile: what a job of N nodes meets.
 *
 *     struct failure_hazard hardware, processes;
 *     if (!profile_hazard("meta-rsc1", 8, &hardware, &processes, d)) ...     // errors as the scenario's reader gives them
 *
 * Components of a node add to the hazard a node; a rack or switch adds its share a node (a job fills racks); storage and
 * crashes of jobs add to the hazard a job. Lemon nodes raise the mean; a job of few nodes mostly has none. Ageing parts count
 * with their mean life (the long-run rate), worn ones with that of new ones. Ranks are nodes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_PROFILE_HAZARD_H
#define TRAINYARD_STUDY_PROFILE_HAZARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "models/availability.h"

bool profile_hazard(const char *profile, uint32_t gpus_per_node, struct failure_hazard *hardware, struct failure_hazard *processes,
                    struct diag *);

#endif
