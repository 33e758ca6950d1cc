#!/bin/bash
# host.sh - the same jobs as processes and simulated: crash, hang, elastic resize, a queue; the operator's way and the actors'.
#
#     tests/live/host.sh [--busy] [TRAINYARD]      about 3 minutes; keeps the runs where HOST_RUNS says
#
# For each way:
# 1. its scenarios/live/host-measure*.json as processes, before and after the others: this machine's constants, by
#    trainyard calibrate; of jobs (communication, saves, loads) what it tells beside the profile.
# 2. scenarios/live/host-six.json (six jobs) or host-actors.json as processes, three times: what repeats differ by (host_jitter.py).
# 3. The same simulated with the constants of 1, and laid beside the first of 2, by trainyard validate: every event further apart
#    than 3 jitters in the same order, each phase's median within 10 % (or a jitter), step time within 5 %.
# Then the supervisor is killed (SIGKILL) HOST_KILLS times at random moments (20): no process of it is left.
#
# --busy: the machine does other things meanwhile, as one of CI does. Order, ends and kills decide; medians are told.
# Exit: 0 passed, 1 failed, 2 usage, 77 skipped: repeats differ by more than 150 ms (--busy: 500), three times in a row.
# Checkpoints lie in memory (/dev/shm) where there is such a place: a shared disk's times are not the machine's own.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
most=150 only=()
[ "$1" = --busy ] && most=500 only=(--events-only) && shift
case $1 in -*) echo "usage: tests/live/host.sh [--busy] [TRAINYARD]" >&2; exit 2 ;; esac
trainyard=$(realpath "${1:-bin/trainyard}")
out=$(mktemp -d) || exit 2
shm=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$out" "$shm"' EXIT
runs=$(realpath -m "${HOST_RUNS:-$out}")
mkdir -p "$runs"
bad=0 busy=0
fail() { echo "host: $*" >&2; bad=1; }

live() { # SCENARIO NAME
    "$trainyard" run "scenarios/live/$1.json" --on host -o "$runs/$2" --force --record full --quiet --work "$shm/work" >"$runs/$2.out" 2>&1 ||
        { fail "$2: exit $?: $(tail -3 "$runs/$2.out")"; exit 1; }
}

# What calibrate tells of jobs, as options of trainyard run for the jobs of a scenario that say such a thing. What a step of the job
# `plain`, which nothing befalls, takes beyond its compute time stands for communication: the worker's own work is in it.
job_options() { # CALIBRATION.json SCENARIO.json
    python3 - "$@" <<'PYTHON'
import json, sys
told = json.load(open(sys.argv[1]))
scenario = json.loads("\n".join(l for l in open(sys.argv[2]) if not l.lstrip().startswith("//")))
plain = [s["step_s"] for s in told["steps"] if s["job"] == "plain"]
beyond = max(sum(plain) / len(plain) - 0.08, 0)
for i, job in enumerate(scenario["workload"]["jobs"]):
    if "communication" in job.get("step", {}):
        print(f"--set=/workload/jobs/{i}/step/communication={beyond:.9f}")
    if "checkpoint" in job:
        print(f"--set=/workload/jobs/{i}/checkpoint/save={told['saves']['save_s']:.9f}")
        print(f"--set=/workload/jobs/{i}/checkpoint/load={told['saves']['load_s']:.9f}")
PYTHON
}

compare() { # SCENARIO APPROACH MEASURE CONSTANT...
    local name=$1 approach=$2 measure=$3 jitter try constants=() options
    shift 3
    for c in "$@"; do constants+=("--constant=$c"); done
    live $measure $measure
    for try in 1 2 3; do # a machine that does something else meanwhile is no measure
        live $name $name
        live $name $name-again
        live $name $name-once-more
        jitter=$(python3 tests/live/host_jitter.py "$runs/$name" "$runs/$name-again" "$runs/$name-once-more") || exit 1
        echo "$name: the events of three live runs differ by at most $jitter ms"
        [ "$jitter" -gt $most ] || break
    done
    live $measure $measure-again # what else the machine does changes with the minutes
    "$trainyard" calibrate "$runs/$measure" "$runs/$measure-again" "${constants[@]}" --jitter 2ms -q -o "$runs/$name-profile.json" --format json \
        >"$runs/$name-calibration.json" || { fail "$name: no calibration"; return; }
    mapfile -t options < <(job_options "$runs/$name-calibration.json" scenarios/live/$name.json)
    grep -E '"(torchrun.(rendezvous|worker-start)|kubelet.container-start|ray-train.worker-start|nccl.reset-detect)"' "$runs/$name-profile.json"
    echo "${options[*]:0:3}"
    if [ "$jitter" -gt $most ]; then
        echo "host: skipped: $name: live runs differ by $jitter ms: this machine is too busy to be compared with anything" >&2
        busy=77
        return
    fi
    "$trainyard" run scenarios/live/$name.json -o "$runs/$name-sim" --force --record full --quiet \
        --set="/approaches/$approach/stack/name=\"$runs/$name-profile.json\"" "${options[@]}" >"$runs/sim.out" 2>&1 || fail "sim: $(cat "$runs/sim.out")"
    "$trainyard" validate "$runs/$name-sim" "$runs/$name" --jitter "${jitter}ms" "${only[@]}" || fail "$name: the simulated run is not the live one"
}

compare host-six operator host-measure kubelet.container-start torchrun.rendezvous torchrun.worker-start nccl.reset-detect
compare host-actors actor host-measure-actors ray-train.worker-start torchrun.rendezvous

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
