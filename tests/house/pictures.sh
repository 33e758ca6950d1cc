#!/bin/bash
# pictures.sh BIN OUT [DOCS] - every view of shipped scenarios in each theme and two sizes, into OUT; those that the
# documentation shows into DOCS too. Fails when a picture cuts text off or lets texts overlap (draw_check).
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
bin=$1 out=$2 docs=$3
mkdir -p "$out"
runs=$out/runs
"$bin/trainyard" run scenarios/demo.json -q -F -n 1 -r full -o "$runs/demo" >/dev/null
"$bin/trainyard" run scenarios/llm-training.json -q -F -n 1 -r full -o "$runs/llm-training" >/dev/null

bad=0 count=0
picture() { # NAME SIZE THEME ARGUMENTS...
    local name=$1 size=$2 theme=$3 state
    shift 3
    state=$out/$name-$theme-$size.json
    "$bin/trainyard-view" --screenshot "$out/$name-$theme-$size.png" --dump-state json --size "$size" --theme "$theme" "$@" >"$state"
    count=$((count + 1))
    python3 - "$state" "$name-$theme-$size" <<'P' || bad=1
import json, sys
faults = json.load(open(sys.argv[1]))["check"]
for fault in faults.splitlines(): print(f"{sys.argv[2]}: {fault}")
sys.exit(bool(faults))
P
}

"$bin/trainyard" run scenarios/demo.json -q -F -r jobs -o "$runs/demo-12" >/dev/null # all replications, for intervals

"$bin/trainyard" run scenarios/demo.json -q -F -n 4 -r full -o "$runs/demo-4" >/dev/null # for the grid

demo="$runs/demo/operator $runs/demo/actor"
# A rack and a job pinned, two bookmarks, and what lies between two cursors; then the lists over that.
cat >"$out/measure.keys" <<'K'
key g
text 16h
key enter
key k
text a busy day
key enter
key down
key down
key down
key p
key /
text gpus>=256
key enter
key P
key esc
key esc
key g
text 2d
key enter
key v
key r
key f
key v
key k
text before it fails
key enter
K
{ cat "$out/measure.keys"; printf 'key K\n'; } >"$out/bookmarks.keys"
{ cat "$out/measure.keys"; printf 'key :\ntext job\n'; } >"$out/commands.keys"
printf 'key ?\n' >"$out/help.keys"
for theme in light dark contrast; do
    for size in 1280x800 2560x1440; do
        for view in gantt map curves ledger events; do
            picture "$view" "$size" "$theme" --view "$view" --at 2d $demo
        done
        for view in gantt map curves events; do
            picture "grid-$view" "$size" "$theme" --all --view "$view" --at 2d "$runs/demo-4"
        done
        picture compare "$size" "$theme" --view compare "$runs/demo-12"
        picture gantt-day "$size" "$theme" --view gantt --range 2d:2d6h --at 2d3h $demo
        picture job "$size" "$theme" --view job --at 90m --select job:base "$runs/llm-training/packed" "$runs/llm-training/spread"
        for keys in measure bookmarks commands help; do picture "$keys" "$size" "$theme" --script "$out/$keys.keys" $demo; done
        picture one-run "$size" "$theme" --view gantt --at 2d "$runs/demo/operator"
    done
done
if [ -n "$docs" ]; then
    mkdir -p "$docs"
    for name in gantt map curves ledger events job; do cp "$out/$name-light-1280x800.png" "$docs/$name.png"; done
    cp "$out/grid-gantt-light-1280x800.png" "$docs/grid.png"
    cp "$out/gantt-day-dark-1280x800.png" "$docs/gantt-day.png"
    cp "$out/measure-light-1280x800.png" "$docs/measure.png"
    cp "$out/compare-light-2560x1440.png" "$docs/compare.png"
fi
echo "pictures: $count made, $([ $bad = 0 ] && echo 'no text cut off or overlapping' || echo 'some with faults')"
exit $bad
