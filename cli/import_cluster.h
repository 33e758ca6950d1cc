/* import_cluster.h - trainyard import cluster: a live cluster as a scenario.
 *
 * What was read is loaded once before it is written, so that what is written can be run. Gives an exit code; all has been
 * told.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_IMPORT_CLUSTER_H
#define TRAINYARD_CLI_IMPORT_CLUSTER_H

int import_cluster(const char *kubeconfig, const char *context, const char *output);

#endif
