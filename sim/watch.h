/* watch.h - finds out that nothing can progress any more, and says who waits for what and who holds it.
 *
 * No progress: GPUs are held and no rank has stepped, no job begun or ended for longer than max(1 h, 3 x the longest
 * time-out of the stack), no node has come back in that time, and nothing comes from outside (no submission, no scripted
 * action, no node under repair): a deadlock. Or jobs restart and restart: WATCH_VAIN_RESTARTS failures in a row (of all jobs) after none of which any job
 * came to a step that it had not made before: a livelock. (A job that gets through one attempt in 200 has that many
 * failures in a row once in 150 runs; who saves that seldom would not call it progress.) Or a year goes by in which
 * nodes are repaired and fail, and nothing else happens. The run ends there. With an empty event queue the same is true at
 * once.
 * A partial hold (a job that holds some but not all of its GPUs) is recorded with its start and end when it passes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_WATCH_H
#define TRAINYARD_SIM_WATCH_H

#include "base/str.h"
#include "sim/cluster/sim.h"

enum { WATCH_VAIN_RESTARTS = 1000 };
#define WATCH_HOPELESS_NS (INT64_C(365) * 86400 * 1000000000)
enum watch_kind { WATCH_DEADLOCK, WATCH_LIVELOCK }; /* code of REC_NO_PROGRESS */

/* Begins the periodic check. `more`: tells whether something from outside is still to come. */
void watch_start(struct sim *, bool (*more)(struct sim *));
bool watch_found(const struct sim *);
void watch_destroy(struct sim *);
/* Each live job that does not step: what it holds, what it wants, why it waits, who holds what it waits for. */
void watch_report(struct sim *, struct str *);

#endif
