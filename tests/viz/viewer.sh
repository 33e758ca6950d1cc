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
expect 2 "not more" a b c
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
mkdir "$out/empty"
expect 3 "there is no run here" "$out/empty" --dump-state json
echo '{' > "$out/empty/run.json"
expect 3 "run.json:2" "$out/empty" --dump-state json
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
expect 0 '"from_s": 97200,' "$A" --range "1d 03:00..1d 06:00" --dump-state json
expect 0 '"to_s": 21600,' "$A" --range 0:6h --dump-state json
expect 0 '"to_s": 14400,' "$A" --range 01:00:04:00 --dump-state json
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
