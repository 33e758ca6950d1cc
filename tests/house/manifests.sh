#!/bin/bash
# manifests.sh - exported objects are the same load: simulated again from the files, every job is admitted, started and
# ended at the same nanosecond on the same nodes.
#
#     tests/house/manifests.sh TRAINYARD
#
# SPDX-License-Identifier: GPL-3.0-or-later
program=${1:-bin/trainyard}
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
bad=0 n=0

# job .. preemptions; lines of equal times may come in another order
schedule() { find "$1" -name jobs.csv -exec cut -d, -f1-11 {} + | sort; }

same() { # scenario, approach
    n=$((n + 1))
    rm -rf "$out/objects" "$out/first" "$out/again"
    "$program" export "$1" --to manifests -a "$2" -o "$out/objects" &&
        "$program" run "$1" -a "$2" -n 1 -q -o "$out/first" >/dev/null &&
        "$program" run "$out/objects/scenario.json" -n 1 -q -o "$out/again" >/dev/null || { bad=1; return; }
    schedule "$out/first" >"$out/a"
    schedule "$out/again" >"$out/b"
    [ "$(wc -l <"$out/a")" -gt 1 ] && cmp -s "$out/a" "$out/b" ||
        { echo "manifests: $1 $2: another schedule"; diff "$out/a" "$out/b" | head -4; bad=1; }
}

same scenarios/quotas.json lending
same scenarios/llm-training.json packed
sed 's/"gpus": 0.5/"gpus": 1/' scenarios/two-teams.json >"$out/teams.json"
same "$out/teams.json" operator
same "$out/teams.json" actor

# the index names every file, in the order of creation, and the stream is the files one after the other
(cd "$out/objects" && tail -n +2 index.csv | cut -d, -f2 | xargs cat) >"$out/files"
"$program" export "$out/teams.json" --to manifests -a actor -o - | cmp -s - "$out/files" ||
    { echo "manifests: the stream is not the files"; bad=1; }
tail -n +2 "$out/objects/index.csv" | cut -d, -f1 | sort -g -c || { echo "manifests: not in the order of time"; bad=1; }
"$program" export "$out/teams.json" --to manifests -o "$out/objects" 2>/dev/null
[ $? = 4 ] || { echo "manifests: objects mixed with others"; bad=1; }
[ $bad = 0 ] && echo "manifests: $n scenarios with the same schedule"
exit $bad
