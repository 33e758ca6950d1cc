#!/bin/bash
# fingerprints.sh - each shipped scenario, and one whose links are full, has one fingerprint: gcc and clang, -O0 and -O3, 1 and
# 2 threads, and when the resolved scenario of a run is run again.
#
#     tests/house/fingerprints.sh          (compilers that are not there are named and left out)
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
out=build-prints
mkdir -p $out
scenarios=${SCENARIOS:-$(ls scenarios/*.json | grep -v schema) tests/sim/live/keys-network.json}

build() { # COMPILER LEVEL
    make -s -j2 CC="$1" OPT="$2" BUILD=build-prints/$1$2 BIN=build-prints/$1$2/bin build-prints/$1$2/bin/trainyard
}
prints() { # PROGRAM SCENARIO OPTION... -> fingerprints, one a line
    local program=$1 scenario=$2
    shift 2
    TRAINYARD_DATA=scenarios "$program" run "$scenario" --quiet --format csv "$@" 2>/dev/null | tail -n +2 | sed 's/.*,//'
}

variants=()
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "fingerprints: no $cc here, left out"; continue; }
    for level in -O0 -O3; do build $cc $level || exit 1; variants+=("$out/$cc$level/bin/trainyard"); done
done
bad=0 n=0
for s in $scenarios; do
    want=$(prints "${variants[0]}" "$s" --threads 1 --replications 2)
    [ -n "$want" ] || { echo "fingerprints: $s gives none"; bad=1; continue; }
    for v in "${variants[@]}"; do
        for threads in 1 2; do
            got=$(prints "$v" "$s" --threads $threads --replications 2)
            n=$((n + 1))
            [ "$got" = "$want" ] || { echo "fingerprints: $s differs with $v, $threads threads"; bad=1; }
        done
    done
    # run again from the resolved scenario that the run keeps
    rm -rf $out/run
    first=$(prints "${variants[0]}" "$s" --replications 1 -o $out/run --force)
    again=
    for r in $(find $out/run -name scenario.json | sort); do again+=$(prints "${variants[0]}" "$r" --replications 1)$'\n'; done
    [ "$(echo "$first" | sort)" = "$(echo -n "$again" | sort)" ] || { echo "fingerprints: $s run again from its resolved scenario differs"; bad=1; }
    n=$((n + 1))
done
[ $bad = 0 ] && echo "fingerprints: $n comparisons over $(echo "$scenarios" | wc -w) scenarios and ${#variants[@]} builds, all equal"
exit $bad
