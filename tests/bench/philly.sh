#!/bin/bash
# philly.sh - Philly's 82,247 jobs on 52 x 8 GPUs under batch policies: NAME VALUE UNIT goal GOAL.
#
#     tests/bench/philly.sh BUILD       (make bench; TRAINYARD_SHARED)
#
# Import left out, jobs.csv written, one core, least CPU time of ROUNDS. fifo-skip gets the jobs four times as fast as they
# came, so that a line stands: philly_fifo_skip_standing is the least that the middle half of the arrivals find waiting.
# Nodes are chosen (placement pack); philly_fifo_count_jobs_per_s only counts GPUs, as the default placement does.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
cd "$(dirname "$0")/../.."
build=${1:-build}
trace=${TRAINYARD_SHARED:-../shared}/traces/philly/philly.csv.gz
rounds=${ROUNDS:-9}
if [ ! -e "$trace" ]; then
    echo "philly.sh: skipped: no $trace" >&2
    exit 0
fi

# line NAME GOAL POLICY PLACEMENT SPEEDUP
line() {
    read -r rate waiting < <("$build/tests/bench/bench_philly" "$trace" "$3" "$4" "$5" "$rounds")
    echo "$1 $rate jobs/s goal $2"
}

line philly_fifo_jobs_per_s 1000000 fifo pack 1
line philly_fifo_count_jobs_per_s 1000000 fifo none 1
line philly_fifo_skip_jobs_per_s 300000 fifo-skip pack 4
echo "philly_fifo_skip_standing $waiting jobs goal 10000"
