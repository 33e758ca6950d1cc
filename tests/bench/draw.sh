#!/bin/bash
# draw.sh - painting a frame, in ms on one core: NAME VALUE UNIT goal GOAL.
#
#     tests/bench/draw.sh BUILD       (make bench)
#
# The first is a whole body of 1920 x 1080 as a raster, 500 texts over it. The second is 100,000 boxes of 20 x 10 px, which SDL's
# software renderer took about 250 ms for, and pixels written by hand 33 ms.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
cd "$(dirname "$0")/../.."
"${1:-build}"/tests/bench/bench_draw
