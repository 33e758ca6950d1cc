#!/bin/bash
# same_bits.sh - base/detmath and the streams give the same bits with each compiler and each option at hand.
#
#     tests/house/same_bits.sh [BUILD]
#
# Builds same_bits.c with gcc and clang, -O0 to -O3, with and without the machine's own instructions (FMA among them),
# and compares the hash of 700,000 results.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
first= builds=0
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "same_bits: no $cc here: skipped"; continue; }
    for options in "-O0" "-O3" "-O2 -march=native"; do
        # shellcheck disable=SC2086
        $cc -std=gnu11 $options -ffp-contract=off -fno-math-errno -D_GNU_SOURCE -I. tests/house/same_bits.c base/detmath.c \
            base/philox.c sim/engine/stream.c -lgsl -lgslcblas -lm -o "$out/bits" || exit 1
        hash=$("$out/bits")
        [ -n "$first" ] || first=$hash
        [ "$hash" = "$first" ] || { echo "same_bits: $cc $options: $hash, before: $first" >&2; exit 1; }
        builds=$((builds + 1))
    done
done
[ $builds -gt 1 ] || { echo "same_bits: fewer than two builds to compare" >&2; exit 1; }
echo "same_bits: $builds builds agree on $first"
