/* states.c - the tables behind states.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "run/states.h"

#define ROW_ACTIVITY(e, n, c, h) [e] = {.name = n, .class = c, .help = h},
#define ROW_STATE(e, n, h) [e] = {.name = n, .help = h},

const struct activity_info activity_table[N_ACTIVITIES] = {ACTIVITIES(ROW_ACTIVITY)};
const struct state_info cause_table[N_CAUSES] = {CAUSES(ROW_STATE)};
const struct state_info wait_table[N_WAIT_REASONS] = {WAIT_REASONS(ROW_STATE)};
const struct state_info pod_state_table[N_POD_STATES] = {POD_STATES(ROW_STATE)};
const struct state_info actor_state_table[N_ACTOR_STATES] = {ACTOR_STATES(ROW_STATE)};
const char *const activity_class_names[N_ACTIVITY_CLASSES] = {"idle", "held", "work", "down", "absent"};
