#!/bin/bash
# operator.sh - Philly's jobs through Kueue and the full life cycle of the training operator, with faults.
#
#     tests/bench/operator.sh BUILD       (make bench; TRAINYARD_SHARED)
#
# kueue-0.18: with equivalence hashing; without it (0.17) the real Kueue spends a cycle on each waiting workload after each
# release, and so does the simulation.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
cd "$(dirname "$0")/../.."
build=${1:-build}
trace=${TRAINYARD_SHARED:-../shared}/traces/philly/philly.csv.gz
if [ ! -e "$trace" ]; then
    echo "operator.sh: skipped: no $trace" >&2
    exit 0
fi

# line NAME GANG
line() {
    read -r rate _ < <("$build/tests/bench/bench_operator" "$trace" kueue-0.18 "$2" "${ROUNDS:-9}")
    echo "$1 $rate pods/s goal 200000"
}

line philly_operator_pods_per_s none
line philly_operator_gang_pods_per_s coscheduling
