#!/bin/bash
# scene.sh - opening a run for the viewer, and laying out a frame of its Gantt chart: NAME VALUE UNIT goal GOAL.
#
#     tests/bench/scene.sh BUILD       (make bench)
#
# Made-up runs with everything recorded: 1 M spans on 1,024 GPUs, 10 M on 4,096. frame_*: the whole window of 1920 x 1080 with all GPUs in sight, or
# a row a job, laid out and painted. lod_*: its level of detail alone, over the full width; the goals are half of a frame's. Zoomed: a fiftieth of the run.
# frame_*_wide: each view of 1 M spans on 100,000 GPUs (12,500 nodes), a job selected.
# look_*: what a look at a run costs that has grown by 1/10,000, the mean of 20: reading, both levels of detail, curves.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
cd "$(dirname "$0")/../.."
bench=${1:-build}/tests/bench/bench_scene
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$bench" write "$dir/1e6" 1000000 1024
"$bench" read "$dir/1e6" 1e6
"$bench" write "$dir/1e7" 10000000 4096
"$bench" read "$dir/1e7" 1e7
rm -rf "$dir/1e6" "$dir/1e7"
"$bench" write "$dir/wide" 1000000 100000
"$bench" views "$dir/wide" wide
rm -rf "$dir/wide"
"$bench" grow "$dir/grow" 1000000 1024 1e6
"$bench" grow "$dir/grow" 10000000 4096 1e7
