#!/bin/bash
# check.sh - make check-live: real controllers against the simulator, scenario by scenario.
#
#     tests/live/check.sh [FOLDER ...]      default: all of tests/live/stacks
#
# Gets and builds what is not in the cache (build.sh), starts a stack for each folder of scenarios (stack.sh), plays them
# (play.py), stops what it started. A folder's scenarios run one after the other, the folders side by side. The last line
# counts. Without a network, Go or a tool the whole is skipped, says so and ends with 77. Logs of what failed are kept, and named.
#
# SPDX-License-Identifier: GPL-3.0-or-later
here=$(cd "$(dirname "$0")" && pwd)
control_plane="etcd kube-apiserver kubectl kube-controller-manager kube-scheduler"

parts_of() { awk -v f="$1" '$1 == f {$1 = ""; print}' "$here/stacks"; }
files() { local f; for f; do printf '%s\n' "$here/$f"/*.json; done; }
# Each approach of a scenario is a play.
count() { python3 -c 'import json, sys; print(sum(len(json.load(open(p))["approaches"]) for p in sys.argv[1:]))' $(files "${folders[@]}"); }
skip() { [ -z "$work" ] || rm -rf "$work"; echo "check-live: skipped: $*"; echo "0 passed, 0 failed, $all skipped"; exit 77; }

if [ $# -gt 0 ]; then folders=("$@"); else mapfile -t folders < <(awk '!/^#/ {print $1}' "$here/stacks"); fi
all=$(count) || exit 2
for tool in curl openssl unshare flock; do command -v $tool >/dev/null || skip "$tool is not installed"; done

work=$(mktemp -d "${TMPDIR:-/tmp}/trainyard-live.XXXXXX") || exit 1
"$here/build.sh" $control_plane $(for f in "${folders[@]}"; do parts_of "$f"; done | tr ' ' '\n' | sort -u) 2> >(tee "$work/build" >&2)
case $? in
    0) ;;
    77) skip "$(sed -n 's/^live: //p' "$work/build" | tail -1)" ;;
    *) exit 1 ;;
esac

trap 'for f in "${folders[@]}"; do "$here/stack.sh" stop "$work/$f"; done' EXIT
trap 'exit 130' INT TERM

one() { # FOLDER: its stack, its scenarios
    "$here/stack.sh" start "$work/$1" --owner $$ $(parts_of "$1") || return
    python3 "$here/play.py" --stack "$work/$1" --trainyard "$here/../../bin/trainyard" --keep "$work/$1-runs" "$here/$1"/*.json
    "$here/stack.sh" stop "$work/$1"
}

for f in "${folders[@]}"; do one "$f" >"$work/$f.out" 2>&1 & done
wait
for f in "${folders[@]}"; do cat "$work/$f.out"; done
passed=$(cat "$work"/*.out | grep -c '^ok ')
if [ "$passed" = "$all" ]; then rm -rf "$work"; else echo "check-live: logs, and what both sides decided, are in $work"; fi
echo "$passed passed, $((all - passed)) failed, 0 skipped"
[ "$passed" = "$all" ]
