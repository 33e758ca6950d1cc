#!/bin/bash
# valgrind.sh BUILD BIN - memory errors and leaks of the readers' tests and of whole runs.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
build=$1 bin=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
v="valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect"
for s in scenarios/two-teams.json; do
    $v "$bin/trainyard" run "$s" --replications 1 --threads 1 -o "$out/run" --quiet >"$out/log" 2>&1
    code=$?
    [ $code -le 1 ] || { cat "$out/log"; echo "valgrind: $s ends with $code"; exit 1; }
done
for view in gantt compare job; do
    $v "$bin/trainyard-view" --view $view --select job:try-0 --screenshot "$out/$view.png" "$out/run" >"$out/log" 2>&1 ||
        { cat "$out/log"; echo "valgrind: the viewer's $view ends with an error"; exit 1; }
done
# Not test_detmath: valgrind computes long double, its reference, with 64 bits only.
WRAP="$v" bash tests/house/run_tests.sh $(ls "$build"/tests/base/test_* "$build"/tests/run/test_record "$build"/tests/run/test_ledger 2>/dev/null | grep -v -e '\.[od]$' -e test_detmath)
