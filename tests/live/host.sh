#!/bin/bash
# host.sh - the same jobs as processes and simulated: crash, hang, elastic resize, a queue; the operator's way and the actors'.
#
#     tests/live/host.sh [TRAINYARD]        about 2 minutes, 77 where the machine is too busy; keeps the runs where HOST_RUNS says
#
# 1. scenarios/live/host-measure.json as processes, before and after: this machine's constants (host_constants.py).
# 2. scenarios/live/host-six.json (six jobs), then host-actors.json, as processes, twice: what repeats differ by (host_jitter.py).
# 3. The same simulated with the constants of 1, and laid beside the first of 2: every event further apart than 3 jitters in
#    the same order, each phase's median within 10 % (or a jitter), step time within 5 %: trainyard validate.
# 4. The supervisor killed (SIGKILL) HOST_KILLS times at random moments (20): no process of it is left.
# Checkpoints lie in memory (/dev/shm) where there is such a place: a shared disk's times are not the machine's own.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
trainyard=$(realpath "${1:-bin/trainyard}")
out=$(mktemp -d) || exit 2
shm=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$out" "$shm"' EXIT
runs=${HOST_RUNS:-$out}
mkdir -p "$runs"
bad=0 busy=0
fail() { echo "host: $*" >&2; bad=1; }

live() { # SCENARIO NAME
    "$trainyard" run "$1" --on host -o "$runs/$2" --force --record full --quiet --work "$shm/work" >"$runs/$2.out" 2>&1 ||
        { fail "$2: exit $?: $(tail -3 "$runs/$2.out")"; exit 1; }
}

live scenarios/live/host-measure.json measure
for name in host-six host-actors; do
    scenario=scenarios/live/$name.json
    for try in 1 2 3; do # a machine that does something else meanwhile is no measure
        live $scenario $name
        live $scenario $name-again
        jitter=$(python3 tests/live/host_jitter.py "$runs/$name" "$runs/$name-again") || exit 1
        echo "$name: the events of two live runs differ by at most $jitter ms"
        [ "$jitter" -gt 150 ] || break
    done
    live scenarios/live/host-measure.json measure-again # what else the machine does changes with the minutes
    python3 tests/live/host_constants.py "$runs/measure" "$runs/measure-again" || exit 1
    mapfile -t constants < <(python3 tests/live/host_constants.py "$runs/measure" "$runs/measure-again" $scenario)
    if [ "$jitter" -gt 150 ]; then
        echo "host: skipped: $name: two live runs differ by $jitter ms: this machine is too busy to be compared with anything" >&2
        busy=77
        continue
    fi
    "$trainyard" run $scenario -o "$runs/$name-sim" --force --record full --quiet "${constants[@]}" >"$runs/sim.out" 2>&1 ||
        fail "sim: $(cat "$runs/sim.out")"
    "$trainyard" validate "$runs/$name-sim" "$runs/$name" --jitter "${jitter}ms" || fail "$name: the simulated run is not the live one"
done

# Each life is killed within the first 4 s, when starts, steps, saves and a restart are under way. A worker names its data set.
left=0
for ((i = 0; i < ${HOST_KILLS:-20}; i++)); do
    "$trainyard" run scenarios/live/host-measure.json --on host -o "$out/killed" --force --quiet --work "$shm/killed$i" >"$out/killed.out" 2>&1 &
    supervisor=$!
    sleep "$((RANDOM % 4)).$((RANDOM % 10))$((RANDOM % 10))"
    kill -9 $supervisor
    wait $supervisor 2>/dev/null
    for ((k = 0; k < 40; k++)); do
        pgrep -f -- "--data=$shm/killed$i/train.data" >/dev/null || break
        sleep 0.05
    done
    [ $k -lt 40 ] || { left=$((left + 1)); pgrep -af -- "--data=$shm/killed$i/train.data" >&2; }
    "$trainyard" report "$out/killed" >/dev/null 2>&1 || [ ! -e "$out/killed/run.json" ] || fail "kill $i left a run that cannot be read"
done
[ $left = 0 ] || fail "$left of $i kills left processes"
echo "host: $i supervisors killed, $left left processes"
[ $bad$busy = 00 ] && echo "host: passed"
[ $bad = 0 ] && exit $busy
exit $bad
