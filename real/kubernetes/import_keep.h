/* import_keep.h - what an import takes over of an object's spec: a list of what is kept, not of what is left out.
 *
 *     cJSON *spec = k8s_import_kept("RayJob", spec_of_the_cluster);     // the caller's to delete; {} for a kind that is not imported
 *
 * Kept is what the readers (input/object_*.c) make jobs, pods and queues of: numbers, words of the API, names, images, quantities, node
 * selectors and tolerations. Whatever a user may write at will (commands, arguments, environments, entrypoints, runtime environments,
 * parameters of `ray start` that are no amounts, annotations, volumes) is not, as it may hold what must not be copied. Where a reader only asks
 * whether a member is there, it is kept empty.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_KUBERNETES_IMPORT_KEEP_H
#define TRAINYARD_REAL_KUBERNETES_IMPORT_KEEP_H

#include <cjson/cJSON.h>

cJSON *k8s_import_kept(const char *kind, const cJSON *spec);

#endif
