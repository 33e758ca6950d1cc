#!/bin/bash
# frame.sh - whole frames of the viewer, laid out and painted: NAME VALUE UNIT goal GOAL.
#
#     tests/bench/frame.sh BUILD       (make bench)
#
# Made-up runs as in scene.sh: 1 M spans on 1,024 GPUs, 10 M on 4,096. A frame is 1920 x 1080 with title, legend, details and axis.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
cd "$(dirname "$0")/../.."
build=${1:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$build/tests/bench/bench_scene" write "$dir/1e6" 1000000 1024
"$build/tests/bench/bench_frame" "$dir/1e6" 1e6
"$build/tests/bench/bench_scene" write "$dir/1e7" 10000000 4096
"$build/tests/bench/bench_frame" "$dir/1e7" 1e7
