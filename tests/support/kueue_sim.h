/* kueue_sim.h - plays a recorded Kueue scenario through the whole simulator: admission kueue, life cycle batch-job.
 *
 *     struct kueue_play *p = kueue_play_read(path, why, &left_out);
 *     if (p && kueue_sim_run(p, why) && kueue_play_compare(p, why)) ...
 *
 * The scenario's objects are written as Kueue's manifests, its jobs as Jobs without rendezvous; nodes are abundant unless it
 * names them. Admissions, flavors and evictions are read from the run's records. As in kueue_play.h the pods are ready 0.12 s
 * after the admission and their end is noticed 0.1 s late; when the Job is Complete is up to the simulated Job controller.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_KUEUE_SIM_H
#define TRAINYARD_TESTS_SUPPORT_KUEUE_SIM_H

#include "tests/support/kueue_play.h"

bool kueue_sim_run(struct kueue_play *p, char why[1024]);

#endif
