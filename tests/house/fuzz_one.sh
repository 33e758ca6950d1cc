#!/bin/bash
# fuzz_one.sh NAME SECONDS - one fuzzer from its seeds; an input that fails is left in build-fuzz/ and named.
#
# SPDX-License-Identifier: GPL-3.0-or-later
name=$1 seconds=$2 log=build-fuzz/$1.log seeds=
mkdir -p "build-fuzz/corpus/$name"
[ -d "tests/fuzz/corpus/$name" ] && seeds=tests/fuzz/corpus/$name
if ! "build-fuzz/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -max_len=4096 -timeout=20 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="build-fuzz/$name-" "build-fuzz/corpus/$name" $seeds >"$log" 2>&1; then
    cat "$log"
    echo "fuzz_$name: failed"
    exit 1
fi
echo "fuzz_$name: clean, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
