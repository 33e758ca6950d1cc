#!/bin/bash
# xvfb.sh - six real sessions of the window, under a virtual X server with keys and wheel of xdotool: start, zoom, search, comparison, resize, measure.
#
#     tests/viz/xvfb.sh TRAINYARD TRAINYARD-VIEW
#
# What the window shows is asserted from the state that it writes when it is closed. Without Xvfb or xdotool it says so and passes;
# with CI set it fails.
#
# SPDX-License-Identifier: GPL-3.0-or-later
program=${1:-bin/trainyard} viewer=${2:-bin/trainyard-view}
for tool in Xvfb xdotool; do
    command -v $tool >/dev/null && continue
    echo "xvfb: skipped, $tool is not installed"
    [ -z "$CI" ]
    exit
done
out=$(mktemp -d) || exit 2
x= window= bad=0 sessions=0
trap '[ -n "$window" ] && kill "$window" 2>/dev/null; [ -n "$x" ] && kill "$x" 2>/dev/null; rm -rf "$out"' EXIT
fail() { echo "xvfb: $*" >&2; bad=1; }

"$program" run scenarios/demo.json -n 1 -r full -q -o "$out/demo" >/dev/null || { fail "no run"; exit 1; }

# A display number that is free is found by the server.
Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp 3>"$out/display" 2>/dev/null &
x=$!
for ((i = 0; i < 100; i++)); do [ -s "$out/display" ] && break; sleep 0.1; done
[ -s "$out/display" ] || { fail "Xvfb did not start"; exit 1; }
export DISPLAY=:$(cat "$out/display") XDG_RUNTIME_DIR=$out

begin() { # ARGUMENTS: opens the window, waits for it and gives it the focus
    sessions=$((sessions + 1))
    rm -f "$out/state.json"
    "$viewer" "$@" --dump-on-quit "$out/state.json" 2>"$out/errors" &
    window=$!
    id=
    for ((i = 0; i < 100; i++)); do
        id=$(xdotool search --onlyvisible --pid $window 2>/dev/null | tail -1)
        [ -n "$id" ] && break
        sleep 0.1
    done
    [ -n "$id" ] || { fail "no window: $(cat "$out/errors")"; return 1; }
    xdotool windowfocus --sync "$id" 2>/dev/null
    sleep 0.5
}

finish() { # closes it by its own key, and waits for what it writes
    xdotool key --window "$id" ctrl+q
    for ((i = 0; i < 100; i++)); do kill -0 $window 2>/dev/null || break; sleep 0.1; done
    kill -0 $window 2>/dev/null && { fail "the window does not close"; kill $window; }
    wait $window
    local code=$?
    window=
    [ $code = 0 ] || fail "exit code $code: $(cat "$out/errors")"
    [ -s "$out/state.json" ] || fail "no state was written"
}

has() { # PATTERN: a line of the state
    grep -q "$1" "$out/state.json" || fail "session $sessions: the state lacks $1; it has $(grep -m1 "${1%%:*}:" "$out/state.json")"
}
number() { sed -n "s/^  \"$1\": \([0-9.]*\),*$/\1/p" "$out/state.json"; }

# 1: it starts, shows the whole run, and closes
begin "$out/demo/operator" && finish && { has '"view": "gantt"'; has '"window_s": 432000,'; has '"title": "demo - operator, replication 0"'; }

# 2: wheel and keys zoom
begin "$out/demo/operator" && {
    xdotool mousemove --window "$id" 600 400 click 4 click 4
    sleep 0.3
    xdotool key --window "$id" w
    finish
    awk -v w="$(number window_s)" 'BEGIN { want = 432000 / 1.25 / 1.25 / 1.5; exit !(w > want - 1 && w < want + 1) }' || fail "zoomed to $(number window_s) s"
}

# 3: a search is typed; its letters are no shortcuts
begin "$out/demo/operator" && {
    xdotool key --window "$id" slash
    xdotool type --window "$id" --delay 20 'team:speech gpus>=64'
    xdotool key --window "$id" Return
    finish
    has '"filter": "team:speech gpus>=64"'
    has '"kind": "job"'
    has '"view": "gantt"'
}

# 4: two runs: both, then only B, then swapped
begin "$out/demo" && {
    xdotool key --window "$id" b b x 5
    finish
    has '"show": "b"'
    has '"view": "events"'
    grep -m1 '"approach"' "$out/state.json" | grep -q actor || fail "A and B are not swapped"
}

# 5: another size; the mouse selects a range, Esc clears it
begin "$out/demo/operator" --theme dark && {
    xdotool windowsize --sync "$id" 1000 700
    sleep 0.3
    xdotool mousemove --window "$id" 300 300 mousedown 1 mousemove --window "$id" 500 300 mouseup 1
    sleep 0.3
    finish
    has '"width": 1000,'
    has '"height": 700,'
    has '"theme": "dark"'
    has '"mark_from_s": [0-9]'
}

# 6: a second cursor, a bookmark with a typed name, a pinned row, a command by its words
begin "$out/demo/operator" && {
    xdotool key --window "$id" g
    xdotool type --window "$id" --delay 20 '1d'
    xdotool key --window "$id" Return v g
    xdotool type --window "$id" --delay 20 '2d'
    xdotool key --window "$id" Return k
    xdotool type --window "$id" --delay 20 'a day'
    xdotool key --window "$id" Return Down p
    xdotool type --window "$id" --delay 20 ':dark'
    xdotool key --window "$id" Return
    finish
    has '"mark_from_s": 86400,'
    has '"mark_to_s": 172800,'
    has '{"name": "a day", "from_s": 86400, "to_s": 172800}'
    has '"theme": "dark"'
    grep -A1 '"pinned"' "$out/state.json" | grep -q '"name": "block 0"' || fail "the first row is not pinned: $(grep -A1 '"pinned"' "$out/state.json" | cut -c1-100)"
}
[ $bad = 0 ] && echo "xvfb: $sessions sessions of the window"
exit $bad
