#!/bin/bash
# ray_node.sh - what `trainyard run --on ray --node-command` runs here: ray_node of the cluster that ray_cluster.sh started.
#
#     ray_node.sh exit|lost|back ADDRESS        the shell that called ray_start has exported what it set
#
# SPDX-License-Identifier: GPL-3.0-or-later
. "$(dirname "$0")/ray_cluster.sh"
ray_node "$@"
