#!/bin/bash
# growth.sh - exponents of the time of a run over jobs, nodes and the standing line, and memory: NAME VALUE UNIT goal GOAL.
#
#     tests/bench/growth.sh BUILD       (make bench)
#
# What is run stands in bench_growth.c. Backfilling has no goal: its bounds are those of its files' heads (easy: reservation
# O(running jobs) a pass; conservative: every waiting job is put in again at each release).
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
cd "$(dirname "$0")/../.."
growth=${1:-build}/tests/bench/bench_growth

for policy in fifo fifo-skip las srpt fewest-gpus kueue easy conservative; do
    goal=1.1
    case $policy in easy | conservative) goal=none ;; esac
    for over in jobs nodes line; do
        echo "growth_${policy//-/_}_over_$over $("$growth" $policy $over) exponent goal $goal"
    done
done
echo "memory_1e6_jobs $("$growth" fifo memory) MB goal 200"
