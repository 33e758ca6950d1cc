#!/bin/bash
# plays.sh - real controllers against the simulator, scenario by scenario.
#
#     tests/live/plays.sh TRAINYARD LOGS [FOLDER ...]      default: all of tests/live/stacks
#
# Starts the stacks that tests/live/stacks names for each folder of scenarios (stack.sh), plays them (play.py), stops what it started. What a
# stack plays it plays one after the other, the stacks side by side. A play that differs is played once more at the end, alone on the machine, and
# named: agreed at the second try, or differs twice, which fails. The last line counts. Programs are those of build.sh. LOGS is a
# folder: logs, and what both sides decided. Ends with 77 where the machine does not allow what stacks need, and says what.
#
# SPDX-License-Identifier: GPL-3.0-or-later
here=$(cd "$(dirname "$0")" && pwd)
trainyard=$1 work=$2
shift 2
if [ $# -gt 0 ]; then folders=("$@"); else mapfile -t folders < <(awk '!/^#/ {print $1}' "$here/stacks"); fi

parts_of() { awk -v f="$1" '$1 == f {$1 = $2 = ""; print}' "$here/stacks"; }
lanes_of() { awk -v f="$1" '$1 == f {print $2}' "$here/stacks"; }

# Each approach of a scenario is a play.
count() {
    local f files=()
    for f in "${folders[@]}"; do files+=("$here/$f"/*.json); done
    python3 -c 'import json, sys; print(sum(len(json.load(open(p))["approaches"]) for p in sys.argv[1:]))' "${files[@]}"
}

"$here/stack.sh" able || exit
all=$(count) || exit 2
trap 'for s in "$work"/*/ports; do [ ! -e "$s" ] || "$here/stack.sh" stop "${s%/ports}"; done' EXIT
trap 'exit 130' INT TERM

play() { # STACK OPTIONS...
    local stack=$1
    shift
    python3 "$here/play.py" --stack "$work/$stack" --trainyard "$trainyard" --keep "$work/$stack-runs" "$@"
}

one() { # FOLDER LANE LANES: a stack, and the scenarios that fall to it
    local i files=("$here/$1"/*.json) mine=()
    for ((i = $2; i < ${#files[@]}; i += $3)); do mine+=("${files[i]}"); done
    "$here/stack.sh" start "$work/$1-$2" --owner $$ $(parts_of "$1") || return
    play "$1-$2" "${mine[@]}"
    "$here/stack.sh" stop "$work/$1-$2"
}

# Plays those of a folder that differed once more; prints what came of each.
again() { # FOLDER
    local name approach
    "$here/stack.sh" start "$work/$1-again" --owner $$ $(parts_of "$1") || return
    sed -n 's/^DIFFERS [^/]*\/\([^ ]*\) \([^:]*\): .*/\1 \2/p' "$work/$1"-*.out | while read -r name approach; do
        if play "$1-again" --approach "$approach" "$here/$1/$name.json"; then
            echo "agreed at the second try: $1/$name $approach"
        else
            echo "differs twice: $1/$name $approach"
        fi
    done
    "$here/stack.sh" stop "$work/$1-again"
}

for f in "${folders[@]}"; do
    lanes=$(lanes_of "$f")
    for ((i = 0; i < lanes; i++)); do one "$f" $i "$lanes" >"$work/$f-$i.out" 2>&1 & done
done
wait
cat "$work"/*.out
passed=$(cat "$work"/*.out | grep -c '^ok ')
for f in "${folders[@]}"; do
    ! grep -q ^DIFFERS "$work/$f"-*.out || again "$f" 2>&1 | tee "$work/$f.again"
done
tries=$(cat /dev/null "$work"/*.again 2>/dev/null | grep -c '^agreed at the second try')
echo "$((passed + tries)) passed, $((all - passed - tries)) failed, 0 skipped; $tries of them at the second try"
[ $((passed + tries)) = "$all" ]
