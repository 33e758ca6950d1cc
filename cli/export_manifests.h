/* export_manifests.h - `trainyard export SCENARIO --to manifests`: one file an object, with an index by time.
 *
 * DIR gets NNNN-kind-name.yaml in the order of creation, index.csv (when to create which file, for which job, how many GPUs its
 * pods hold), scenario.json (the scenario over these files) and nodes.yaml (the nodes they count on, for players such as
 * KWOK). "-" is one stream of documents on stdout. An exit code is given back; messages are on stderr.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_EXPORT_MANIFESTS_H
#define TRAINYARD_CLI_EXPORT_MANIFESTS_H

int export_manifests(const char *scenario, const char *approach, const char *image, const char *out);

#endif
