/* import.h - a live cluster as a scenario: nodes, queues, jobs. Only read.
 *
 *     struct str json = {0}, notes = {0};
 *     if (!k8s_import(access, &stop, &json, &notes, diag)) ...
 *
 * Nodes that are alike (allocatable GPUs, CPU, memory; taints; the labels that flavors and jobs select by, instance type and
 * GPU product) become one group. Kueue's objects and the jobs (PyTorchJob, RayJob, RayCluster, Job) become "objects" in place.
 * Of them only what the simulator reads is kept (import_keep.h): environments, commands, entrypoints, volumes and whatever else users write at
 * will are left out, as they may hold what must not be copied. Secrets are not read.
 * A job's submission is its creation, counted from the oldest job's; an ended job's duration is from its start to its end; jobs
 * that still run or wait have none and do not end by themselves (a note says how many). Jobs of others' kinds, and pods of no job that is read, are
 * counted in the notes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_KUBERNETES_IMPORT_H
#define TRAINYARD_REAL_KUBERNETES_IMPORT_H

#include "base/str.h"
#include "real/kubernetes/client.h"

bool k8s_import(const struct k8s_access *, const volatile int *stop, struct str *json, struct str *notes, struct diag *);

#endif
