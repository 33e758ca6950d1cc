/* script.h - plays the scenario's scripted faults and actions at their times.
 *
 * Targets: "node/GROUP-3" (node 3 of a group, counted from 0), "job/ID", "pod/NAME" (belongs to the job whose id is the
 * longest that NAME begins with, followed by '-'), "queue/NAME". An action whose target does not exist at its time is
 * noted in the records and has no effect.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_SCRIPT_H
#define TRAINYARD_SIM_SCRIPT_H

#include "sim/cluster/sim.h"

struct script;
struct script *script_create(struct sim *);
void script_destroy(struct script *);
bool script_more(const struct script *);

#endif
