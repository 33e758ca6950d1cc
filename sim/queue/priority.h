/* priority.h - preemptive scheduling by a key: fewest GPUs first, shortest remaining time first.
 *
 * At each pass all jobs, running or not, are gone through in order of a key; a job that fits into what those before it
 * left runs, any other does not, and loses its GPUs if it had some. This is the meaning of Tiresias' simulator
 * (SymbioticLab/Tiresias, run_sim.py: `sjf`, `shortest`), including its ties: its list is sorted anew at each pass by a
 * stable sort, so
 *   fewest GPUs      equal jobs stay in order of submission;
 *   remaining time   of equal jobs the one that came to this value first stands first. A job that waits has had its
 *                    value since it last ran, one that runs comes to it only now: so the waiting one goes first and takes
 *                    the GPUs. Jobs submitted at this very instant stand behind both.
 * GPUs are counted, then placed. With a placement by nodes, a job that fits by count but not in its shape is passed over
 * until some job has ended (else it would stop others at each pass without use).
 *
 * Inside: running jobs stand in a ranked set with their GPUs as amounts; waiting ones in one ranked set a shape, of
 * which only the first can be next. So a pass costs O((starts + stops + 1) x shapes x log jobs), whatever the number of
 * jobs that wait or run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_QUEUE_PRIORITY_H
#define TRAINYARD_SIM_QUEUE_PRIORITY_H

#include "sim/cluster/sim.h"

enum priority_key { BY_GPUS, BY_REMAINING_TIME };

void *priority_create(struct sim *, enum priority_key);
void priority_destroy(struct sim *, void *state);
void priority_submit(struct sim *, struct job *);
void priority_withdraw(struct sim *, struct job *);
void priority_finished(struct sim *, struct job *);
void priority_released(struct sim *, struct job *);
void priority_capacity(struct sim *);

#endif
