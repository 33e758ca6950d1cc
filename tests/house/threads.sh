#!/bin/bash
# threads.sh PROGRAM - the thread sanitizer over what runs on threads: many replications at once.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for s in scenarios/two-teams.json; do
    TSAN_OPTIONS=halt_on_error=1:exitcode=66 "$1" run "$s" --threads 4 --replications 6 -o "$out/run" --quiet >/dev/null
    code=$?
    [ $code -le 1 ] || { echo "threads: $s ends with $code"; exit 1; }
done
echo "threads: clean"
