#!/bin/bash
# ray.sh - groups of four on a real Ray cluster, and simulated: workers and Ray nodes are lost, one waits for places, one is elastic.
#
#     tests/live/ray.sh [TRAINYARD [REPEATS [SCENARIO...]]]     default: 3 repeats (27 minutes) of all of tests/live/ray
#
# 1. A head and two nodes of two GPUs are started here (ray_cluster.sh), and stopped at the end, also when this is killed.
# 2. tests/live/ray/measure.json and the others are played in turns, since a machine's times drift over minutes.
# 3. The constants of Ray's processes on this machine are fitted to the plays of measure.json: trainyard calibrate.
# 4. The others are simulated with these constants, and compared (ray_compare.py): the events of each job in the
#    same order, those of different jobs where the repeats agree on it; medians of start, detection and restart within 15 %.
# RAY_CONSTANTS: a profile of an earlier run in place of 3. RAY_RUNS: where to keep the runs. RAY_TIMES=told: medians are told and only
# the order decides, for machines that do other things meanwhile.
# Ends with 0: passed; 77: there is no Ray and none can be had, or (where times are told) the machine is too busy; else failed.
#
# SPDX-License-Identifier: GPL-3.0-or-later
here=$(cd "$(dirname "$0")" && pwd)
trainyard=$(realpath "${1:-$here/../../bin/trainyard}")
repeats=${2:-3}
scenarios=("${@:3}")
[ ${#scenarios[@]} -gt 0 ] || scenarios=(losses elastic)
. "$here/ray_cluster.sh"
out=$(mktemp -d) || exit 2
runs=${RAY_RUNS:-$out/runs}
mkdir -p "$runs" "$out/log"
trap 'ray_stop; rm -rf "$out"' EXIT
trap 'exit 130' INT TERM

live() { # SCENARIO RUN
    ray_settled 2 || { echo "ray: the nodes of the cluster do not come back" >&2; exit 1; }
    "$trainyard" run "$here/ray/$1.json" --on ray --address "$ray_address" --node-command "$here/ray_node.sh" --work "$out/work" \
        -o "$runs/$2" --force --record full >"$runs/$2.out" 2>&1 9>&- && return
    echo "ray: $1 cannot be played: $(tail -3 "$runs/$2.out")" >&2
    exit 1
}

played() { seq -f "$runs/$1-%.0f" "$repeats"; } # SCENARIO

fit() {
    [ -n "$RAY_CONSTANTS" ] && { cp "$RAY_CONSTANTS" "$runs/mine.json" || exit 2; return; }
    "$trainyard" calibrate $(played measure) -c ray.driver-start -c ray-train.worker-start -c torchrun.rendezvous -o "$runs/mine.json" \
        >"$runs/calibrate.out" 2>&1 || { cat "$runs/calibrate.out" >&2; exit 1; }
    sed 's/^/    /' "$runs/calibrate.out"
}

simulated() { # SCENARIO: with the constants that were fitted in place of the profile's
    local constants
    mapfile -t constants < <(python3 -c 'import json, sys
for name, value in json.load(open(sys.argv[1]))["constants"].items():
    print(f"--set=/approaches/ray/stack/{name}={value}")' "$runs/mine.json")
    "$trainyard" run "$here/ray/$1.json" "${constants[@]}" -o "$runs/$1-sim" --force --record full --quiet >/dev/null
}

ray_start "$out/log" 2 2 || exit $?
ray_warm || { echo "ray: a job that only imports fails" >&2; exit 1; }
for ((i = 1; i <= repeats; i++)); do
    [ -n "$RAY_CONSTANTS" ] || live measure measure-$i
    for s in "${scenarios[@]}"; do live "$s" "$s-$i"; done
done
fit
bad=0 busy=0
for s in "${scenarios[@]}"; do
    simulated "$s" && python3 "$here/ray_compare.py" "$runs/$s-sim" $(played "$s")
    case $? in 0) ;; 77) busy=77 ;; *) bad=1 ;; esac
done
[ $bad$busy = 00 ] && echo "ray: passed"
[ $bad = 0 ] && exit $busy
exit $bad
