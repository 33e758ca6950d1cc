#!/bin/bash
# engine.sh - the event queue against the bare reference loops, in the same run: NAME VALUE UNIT goal GOAL.
#
#     tests/bench/engine.sh BUILD       (make bench; CC, TRAINYARD_SHARED)
#
# Ours and the reference run in turn, ROUNDS times, so that noise of the machine hits both; each side counts with its
# least CPU time. Without the references (../shared/bench) only our own times are printed.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
cd "$(dirname "$0")/../.."
build=${1:-build}
references=${TRAINYARD_SHARED:-../shared}/bench
ours=$build/tests/bench/bench_engine
rounds=${ROUNDS:-5}
out=$build/bench
mkdir -p "$out"

have=
if [ -e "$references/hold_opt.c" ] && [ -e "$references/mm1_ref.c" ]; then
    have=1 # the commands of its README
    gcc -O3 -march=native -DQ=1 "$references/hold_opt.c" -o "$out/hold_heap" -lm
    gcc -O3 -march=native "$references/mm1_ref.c" -o "$out/mm1" -lm
else
    echo "engine.sh: no $references: times without a comparison" >&2
fi

least() { sort -g | head -1; }

# compare NAME UNIT GOAL OURS REFERENCE: each command prints its time first.
compare() {
    : >"$out/ours.txt" && : >"$out/theirs.txt"
    for _ in $(seq "$rounds"); do
        $4 | awk '{print $1}' >>"$out/ours.txt"
        [ -z "$have" ] || $5 >>"$out/theirs.txt"
    done
    local mine theirs
    mine=$(least <"$out/ours.txt")
    printf '%-18s %8.2f %s\n' "$1" "$mine" "$2"
    [ -n "$have" ] || return 0
    theirs=$(least <"$out/theirs.txt")
    printf '%-18s %8.2f %s\n' "$1_reference" "$theirs" "$2"
    awk -v n="$1_ratio" -v a="$mine" -v b="$theirs" -v g="$3" 'BEGIN { printf "%-18s %8.3f x goal %s\n", n, a / b, g }'
}

hold_reference() { "$out/hold_heap" "$1" "$2" | sed -E 's/.* ([0-9.]+) ns\/hold.*/\1/'; }
mm1_reference() { "$out/mm1" "$1" | sed -E 's/.* ([0-9.]+) s .*/\1/' | awk -v n="$1" '{ print $1 / n * 1e9 }'; }
mm1_ours() { "$ours" mm1 "$1" | awk -v n="$1" '{ print $1 / n * 1e9 }'; }

compare hold_1e3 ns/hold 1.2 "$ours hold 1000 4000000" "hold_reference 1000 4000000"
compare hold_1e5 ns/hold 1.2 "$ours hold 100000 3000000" "hold_reference 100000 3000000"
compare hold_1e6 ns/hold 1.2 "$ours hold 1000000 2000000" "hold_reference 1000000 2000000"
compare mm1 ns/customer 1.3 "mm1_ours 5000000" "mm1_reference 5000000"
printf '%-18s %8.1f bytes goal 64\n' event_bytes \
    "$(for n in 1000 80000 100000 1000000; do "$ours" bytes $n; done | sort -g | tail -1)"
