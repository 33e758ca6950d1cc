/* ray_play.h - plays a recording of a RayCluster or RayJob through the ordinary scenario reader and simulator.
 *
 * The manifest becomes the scenario's only object; what the driver of the recording did (as kubelet or as user) is done at
 * the same times; KWOK's kubelet is set by stack constants (ready 0.3 s after binding, deletion 0.3 s, no init container, no
 * Ray inside). Compared: conditions (RayCluster) and jobDeploymentStatus (RayJob) in order with status and reason; pods
 * created in order by role; for each, in that order, whether it was deleted or left, and in which phase.
 *
 *     struct ray_play *p = ray_play_load("raycluster-bringup.json");
 *     ray_play_run(p);
 *     size_t wrong = ray_play_compare(p);   // prints each difference
 *     ray_play_free(p);
 *
 * A finished pod that the simulator forgets together with its finished job counts as left.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_RAY_PLAY_H
#define TRAINYARD_TESTS_SUPPORT_RAY_PLAY_H

#include <stdbool.h>
#include <stddef.h>

struct ray_play;
struct ray_play *ray_play_load(const char *file); /* NULL with a message when it cannot be read */
bool ray_play_run(struct ray_play *);
size_t ray_play_compare(const struct ray_play *);
void ray_play_free(struct ray_play *);

#endif
