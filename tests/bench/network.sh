#!/bin/bash
# network.sh - changes of flow a CPU-second with 1,000 jobs on the fabric: NAME VALUE UNIT goal GOAL.
#
#     tests/bench/network.sh BUILD       (make bench)
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
cd "$(dirname "$0")/../.."
"${1:-build}/tests/bench/bench_network" 1000
