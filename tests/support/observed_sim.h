/* observed_sim.h - a scenario's text simulated to its end while an observer is told what happens to pods and conditions.
 *
 * Fails the test when the text is no scenario or the run cannot be closed. Nothing is written.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_OBSERVED_SIM_H
#define TRAINYARD_TESTS_SUPPORT_OBSERVED_SIM_H

#include "base/str.h"
#include "sim/kube/kube.h"

/* Takes the text, and frees it. */
void observed_sim(struct str *text, struct kube_observer *);

#endif
