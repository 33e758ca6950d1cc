#!/bin/bash
# network.sh - changes of flow a CPU-second with 1,000 jobs on the fabric: NAME VALUE UNIT goal GOAL.
#
#     tests/bench/network.sh BUILD       (make bench)
#
# The second line has no goal: half of the jobs are scattered over all blocks and want up to a node's whole link, so that
# uplinks are full everywhere and a change reaches an eighth of all jobs.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
cd "$(dirname "$0")/../.."
bench=${1:-build}/tests/bench/bench_network
"$bench" 1000 25 60 network_changes
"$bench" 1000 50 100 network_full
