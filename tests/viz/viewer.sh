#!/bin/bash
# viewer.sh - trainyard-view as people call it without a display: pictures, the state, its manual page, and what it says and
# exits with when something is wrong.
#
#     tests/viz/viewer.sh TRAINYARD TRAINYARD-VIEW
#
# SPDX-License-Identifier: GPL-3.0-or-later
program=${1:-bin/trainyard} viewer=${2:-bin/trainyard-view}
unset DISPLAY WAYLAND_DISPLAY
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
bad=0 checks=0
fail() { echo "viewer: $*" >&2; bad=1; }
expect() { # CODE TEXT ARGUMENTS: exits so, and says so
    local code=$1 text=$2
    shift 2
    checks=$((checks + 1))
    "$viewer" "$@" >"$out/stdout" 2>"$out/stderr"
    local got=$?
    [ $got = "$code" ] || fail "trainyard-view $*: exit $got, not $code: $(head -3 "$out/stderr")"
    [ -z "$text" ] || cat "$out/stdout" "$out/stderr" | grep -qF -- "$text" || fail "trainyard-view $*: does not say \"$text\" but: $(head -3 "$out/stderr")"
}

"$program" run scenarios/demo.json -n 2 -r full -q -o "$out/demo" >/dev/null || { fail "no run"; exit 1; }
A=$out/demo/operator/0

expect 0 "Usage: " --help
expect 0 "trainyard-view 0." --version
expect 2 "RUN is missing"
expect 2 "not more" $(seq 17)
expect 2 "WIDTHxHEIGHT" "$A" --size 10
expect 2 "there is no such view" "$A" --view pie
expect 2 "light, dark or contrast" "$A" --theme blue
expect 2 "must begin before it ends" "$A" --range 6h:1h
expect 2 "FROM..TO" "$A" --range 6h
expect 2 "a moment such as" "$A" --at 3:61
expect 2 "must end in .png, .svg or .pdf" "$A" --screenshot a.bmp
expect 2 "did you mean queue?" "$A" --dump-state json --filter quue:a
expect 2 "job:ID" "$A" --dump-state json --select 17
expect 3 "there is no such thing" "$A" --dump-state json --select job:none
expect 4 "No such file or directory" "$out/nowhere" --dump-state json
mkdir "$out/empty" "$out/empty-still"
expect 3 "there is no run here" "$out/empty" --dump-state json
echo '{' > "$out/empty/run.json"
expect 3 "run.json:2" "$out/empty" --dump-state json
mkdir "$out/pipe" && mkfifo "$out/pipe/run.json"
expect 3 "run.json: is no regular file" "$out/pipe" --dump-state json
expect 3 "none of replication 9" "$out/demo" --replication 9 --dump-state json
printf 'key w\nzoom 3\n' > "$out/keys"
expect 3 "keys:2: zoom: unknown step" "$A" --script "$out/keys"
expect 4 "nowhere" "$A" --screenshot "$out/nowhere/a.png"
printf 'dump %s/nowhere/a.json\n' "$out" > "$out/keys"
expect 4 "nowhere/a.json: cannot write" "$A" --script "$out/keys"
for call in "--print-man" "$A --dump-state json"; do # a full disk
    "$viewer" $call > /dev/full 2> "$out/stderr" && fail "trainyard-view $call: exit 0 though nothing could be written"
    grep -q "cannot write" "$out/stderr" || fail "trainyard-view $call: does not say that nothing could be written"
done

expect 0 '"title": "demo - actor, replication 1"' "$out/demo" --replication 1 --dump-state json
expect 0 '"all_runs": 4' --all "$out/demo" --dump-state json
expect 0 '"name": "actor, replication 1"' --all "$out/demo" --dump-state json
expect 0 '"show": "both"' --all "$out/demo" --show pair --dump-state json
expect 0 '2 of 4 runs are shown, 1 of each approach' --all "$out/demo" "$out/demo" "$out/demo" "$out/demo" "$out/demo" --dump-state json
expect 0 '"from_s": 97200,' "$A" --range "1d 03:00..1d 06:00" --dump-state json
expect 0 '"to_s": 21600,' "$A" --range 0:6h --dump-state json
expect 0 '"to_s": 14400,' "$A" --range 01:00:04:00 --dump-state json
expect 0 '"from_s": 345600,' "$A" --range 4d:99d --dump-state json # the part that there is, not the whole
expect 3 'after the end of the runs, 5d 00:00:00' "$A" --range 10d:11d --dump-state json
expect 0 '"cursor_s": 5400,' "$A" --at 90m --dump-state json
expect 0 '"kind": "node"' "$A" --select node:h100-3 --dump-state json
expect 0 '"view": "map"' "$A" --view map --dump-state json

# Two runs of different scenarios: said on stderr and in the window.
"$program" run scenarios/two-teams.json -n 1 -q -o "$out/other" >/dev/null || fail "no second run"
expect 0 "A and B are of different scenarios" "$A" "$out/other/operator" --dump-state json
grep -q "different scenarios" "$out/stderr" || fail "stderr does not say that the scenarios differ"
printf 'key ?\ndump %s/help.json\n' "$out" > "$out/keys"
expect 0 "" "$A" --script "$out/keys"
grep -q '"check": ""' "$out/help.json" || fail "the help lies upon other texts"

# No text is cut off or lies upon another, from the least window and the largest type on.
for size in 320x240 640x480 1280x800 2560x1440; do
    for type in 9 12 16 18 24 36; do
        [ $size = 2560x1440 ] || [ $size = 1280x800 ] || [ $type -le 12 ] || continue
        for view in gantt map curves ledger events compare job; do
            expect 0 '"check": ""' "$out/demo" --size $size --font-size $type --view $view --dump-state json
        done
    done
done

# Narrow windows, where tables leave columns out.
for type in 9 12; do
    for size in "400 1000" "600 1000" "800 1000"; do
        echo "resize $size"
        for view in 1 2 3 4 5 6 7; do printf 'key %s\ndump %s/narrow-%s-%s-%s.json\n' $view "$out" $type "${size% *}" $view; done
    done > "$out/keys"
    expect 0 "" "$out/demo" --font-size $type --script "$out/keys"
done
for dump in "$out"/narrow-*.json; do
    grep -q '"check": ""' "$dump" || fail "${dump##*/}: $(grep -m1 '"check"' "$dump" | cut -c1-200)"
done
[ "$(ls "$out"/narrow-*.json | wc -l)" = 42 ] || fail "not all narrow windows were looked at"

# A GPU can be selected as anything else: the third one of the fifth node of eight is track 34.
expect 0 '"gpu": 34,' "$A" --select gpu:h100-4/2 --dump-state json
grep -q '"node": "h100-4",' "$out/stdout" && grep -q '"gpu_of_node": 2,' "$out/stdout" || fail "the selected GPU is not the third of h100-4"
expect 3 "there is no such thing" "$A" --select gpu:h100-4/8 --dump-state json
expect 3 "there is no such thing" "$A" --select gpu:h100-400/0 --dump-state json
expect 2 "gpu:NODE/NUMBER" "$A" --select disk:1 --dump-state json

# A run that is followed need not be there yet: the window says so, and opens it when it comes. SIGTERM closes a window.
wait_for() { # SECONDS TEXT FILE
    for ((i = 0; i < $1 * 10; i++)); do grep -qF -- "$2" "$3" && return 0; sleep 0.1; done
    return 1
}
later() { # runs the viewer on $out/later in the background; $1: the state at its end
    SDL_VIDEODRIVER=dummy "$viewer" --follow "$out/later" --dump-on-quit "$1" >/dev/null 2>"$out/later.err" & follower=$!
    wait_for 20 "waiting for a run in $out/later" "$out/later.err" || fail "--follow of a run that is not there: $(head -3 "$out/later.err")"
}
later "$out/before.json"
kill -TERM $follower
wait $follower || fail "--follow of a run that never came: exit $?"
grep -qF "\"error\": \"waiting for a run in $out/later\"" "$out/before.json" || fail "the window does not say that it waits: $(grep '"error"' "$out/before.json")"
later "$out/after.json"
"$program" run scenarios/two-teams.json -n 1 -r full -q -o "$out/later" >/dev/null || fail "no run to follow"
wait_for 30 "$out/later has a run" "$out/later.err" || fail "a run that came is not opened: $(head -3 "$out/later.err")"
kill -TERM $follower
wait $follower || fail "--follow of a run that came: exit $?"
grep -q '"title": "two-teams - ' "$out/after.json" || fail "the window does not show the run that came"
expect 3 "there is no run here" "$out/empty-still" --follow --dump-state json
expect 3 "run.json:2" "$out/empty" --follow --dump-state json
checks=$((checks + 2))

# The range for other programs: what trainyard export says of it, and as many jobs as jobs.csv has in it.
expect 0 "" "$A" --range 1d:2d --export "$out/day.json"
expect 0 "" "$A" --range 1d:2d --export "$out/day.csv"
expect 0 "" "$A" --range 1d:2d --export "$out/day.jobs.csv"
"$program" export "$A" --to perfetto --range 1d:2d -o "$out/same.json" || fail "export --to perfetto failed"
cmp -s "$out/day.json" "$out/same.json" || fail "the viewer's trace is not that of trainyard export"
"$program" export "$A" --to csv --range 1d:2d -o "$out/tables" || fail "export --to csv --range failed"
cmp -s "$out/day.csv" "$out/tables/timeline.csv" || fail "the viewer's timeline is not that of trainyard export"
cmp -s "$out/day.jobs.csv" "$out/tables/jobs.csv" || fail "the viewer's jobs are not those of trainyard export"
[ -e "$out/tables/ledger.csv" ] && fail "a ledger of a range was written"
lived=$(awk -F, 'NR > 1 && $4 < 172800 && ($8 == "" || $8 >= 86400)' "$A/jobs.csv" | wc -l) # submit_s, finished_s
[ "$lived" -gt 0 ] && [ "$(tail -n +2 "$out/day.jobs.csv" | wc -l)" = "$lived" ] || fail "day.jobs.csv has not the $lived jobs of the day"
[ "$(grep -c '"name": "thread_name".*' "$out/day.json")" = $((1024 + lived)) ] || fail "the trace has not 1,024 GPUs and $lived jobs"
awk -F, 'NR > 1 && ($3 < 86400 || $3 >= 172800)' "$out/day.csv" | grep -q . && fail "day.csv has records outside of the day"
expect 0 "" "$out/demo/operator/0" "$out/demo/operator/1" "$out/demo/actor/0" "$out/demo/actor/1" --range 1d:2d --export "$out/grid.jobs.csv"
[ "$(tail -n +2 "$out/grid.jobs.csv" | cut -d, -f1,2 | uniq | tr '\n' ' ')" = "operator,0 operator,1 actor,0 actor,1 " ] || fail "not all runs of the grid are exported"
expect 2 ".json (Chrome trace)" "$A" --export "$out/day.xml"
expect 4 "nowhere" "$A" --export "$out/nowhere/a.json"
printf 'key g\ntext 1d\nkey enter\nkey v\nkey g\ntext 2d\nkey enter\nexport %s/marked.csv\nkey e\ntext %s/day.csv\nkey enter\ndump %s/field.json\n' "$out" "$out" "$out" > "$out/keys"
expect 0 "" "$A" --script "$out/keys"
cmp -s "$out/day.csv" "$out/marked.csv" || fail "the range between two cursors is not the day"
grep -q '"field_error": "there is such a file' "$out/field.json" || fail "a file is written over from the window"

# A picture a moment: both ends and what is between, as the same pictures asked for one by one.
expect 0 "" "$A" --size 640x480 --range 0:2h --frames "$out/frames" --every 30m
[ "$(ls "$out/frames")" = "$(printf 'frame-%06d.png\n' 1 2 3 4 5)" ] || fail "not five frames in two hours: $(ls "$out/frames")"
expect 0 "" "$A" --size 640x480 --range 0:2h --at 90m --screenshot "$out/at90.png"
cmp -s "$out/at90.png" "$out/frames/frame-000004.png" || fail "the fourth frame is not the picture at 90 minutes"
expect 0 "" "$A" --size 640x480 --range 0:2h --frames "$out/three" --count 3 --view map
expect 0 "" "$A" --size 640x480 --range 0:2h --at 2h --view map --screenshot "$out/at120.png"
cmp -s "$out/at120.png" "$out/three/frame-000003.png" || fail "the last of three frames is not the end"
expect 4 "holds frames already" "$A" --frames "$out/frames" --count 2
expect 4 "more than 999999" "$A" --frames "$out/many" --every 1ms
expect 2 "belong together" "$A" --frames "$out/frames"
expect 2 "belong together" "$A" --every 10m
expect 2 "belong together" "$A" --frames "$out/frames" --every 10m --count 3

# Files that may not be read; root may read all, so it becomes somebody else.
somebody=(); [ "$(id -u)" = 0 ] && somebody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if [ "$(id -u)" != 0 ] || { command -v setpriv >/dev/null && "${somebody[@]}" "$viewer" --version >/dev/null 2>&1; }; then
    may_not() { # FILE MODE TEXT CODE
        chmod "$2" "$out/kept/$1"
        "${somebody[@]}" "$viewer" "$out/kept" --dump-state json > "$out/stdout" 2> "$out/stderr"
        local got=$?
        chmod 755 "$out/kept/$1"
        checks=$((checks + 1))
        [ $got = "$4" ] || fail "$1 of mode $2: exit $got, not $4"
        grep -qF "$3" "$out/stderr" || fail "$1 of mode $2: does not say \"$3\" but: $(head -3 "$out/stderr")"
        [ "$(grep -c "$1" "$out/stderr")" -le 2 ] || fail "$1 of mode $2: told more than once"
    }
    chmod 755 "$out"
    cp -r "$A" "$out/kept"
    for mode in 000 744; do may_not "" $mode "its owner allows it with: chmod -R a+rX" 3; done
    may_not run.json 000 "run.json: cannot open: Permission denied" 3
    for file in timeline.bin jobs.csv ledger.csv; do may_not $file 000 "$file: cannot be read, and what it holds is missing here: Permission denied" 0; done
    may_not scenario.json 000 "scenario.json: cannot open: Permission denied" 0
else
    echo "viewer: what may not be read was not tried: this is root, without setpriv" >&2
fi

# Completion in bash: options, and words of those that have a choice.
"$viewer" --print-bash-completion > "$out/view.bash" || fail "--print-bash-completion failed"
# shellcheck disable=SC1091
source "$out/view.bash" || fail "bash cannot read the completion"
compopt() { :; } # only allowed while bash completes
complete_words() { # words of the line ... -> COMPREPLY
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _trainyard_view
}
complete_words trainyard-view --
for option in $("$viewer" --help | grep -o -- ' --[a-z][a-z-]*' | sort -u); do
    [ "$option" = --usage ] || printf '%s\n' "${COMPREPLY[@]}" | grep -qx -- "$option=\?" || fail "$option is not completed"
done
complete_words trainyard-view --view = c
[ "${COMPREPLY[*]}" = "curves compare" ] || fail "--view=c completes to: ${COMPREPLY[*]}"
complete_words trainyard-view --theme ""
[ "${COMPREPLY[*]}" = "light dark contrast" ] || fail "--theme completes to: ${COMPREPLY[*]}"
complete_words trainyard-view "$out/tab"
[ "${COMPREPLY[*]}" = "$out/tables" ] || fail "a file is completed to: ${COMPREPLY[*]}"

for end in png svg pdf; do
    expect 0 "" "$A" --screenshot "$out/a.$end" --size 1600x900 --theme contrast --view gantt --at 2d
    expect 0 "" "$A" --screenshot "$out/b.$end" --size 1600x900 --theme contrast --view gantt --at 2d
    cmp -s "$out/a.$end" "$out/b.$end" || fail "two pictures of the same are not the same: $end"
done
[ "$(head -c 8 "$out/a.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "no PNG"
[ "$(head -c 24 "$out/a.png" | tail -c 8 | od -An -tx1 | tr -d ' \n')" = 0000064000000384 ] || fail "the picture is not 1600x900"
head -c 5 "$out/a.pdf" | grep -q %PDF- || fail "no PDF"
grep -q '<svg' "$out/a.svg" || fail "no SVG"

"$viewer" --print-man > "$out/trainyard-view.1" || fail "--print-man failed"
if command -v man >/dev/null; then
    warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$out/trainyard-view.1" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "man: $warnings"
fi
for option in $("$viewer" --help | grep -o -- ' --[a-z][a-z-]*' | sort -u); do
    case $option in --help | --usage | --version) continue ;; esac
    grep -qF -- "${option//-/\\-}" "$out/trainyard-view.1" || fail "the manual lacks $option"
done
# The library and the command know no window.
command -v ldd >/dev/null && ldd "$program" | grep -q SDL && fail "trainyard links SDL"
[ $bad = 0 ] && echo "viewer: $checks calls, pictures the same twice, manual page sound"
exit $bad
