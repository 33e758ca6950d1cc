#!/bin/bash
# host.sh - trainyard run --on host as people call it: what it refuses, restarts, hangs, resizes, signals, other machines.
#
#     tests/house/host.sh TRAINYARD          about 25 s
#
# Expected values follow from the scenario: a back-off that is asked for lasts at least as long, a time-out comes not before its
# time, a job falls back to the last whole checkpoint. tests/live/host.sh compares with the simulator.
# Checkpoints lie in memory (/dev/shm) where there is such a place: a save that takes longer than a collective may, here 1 s, is a rank that
# does not answer, and so a failure; a shared disk that others write to was seen to take that long for one fsync.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
trainyard=$(realpath "${1:-bin/trainyard}")
out=$(mktemp -d) || exit 2
mem=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 2
declare -a pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$out" "$mem"' EXIT
bad=0 n=0
complain() { echo "host: $*" >&2; bad=1; }

scenario() { # NAME, jobs, script, more keys
    cat >"$out/$1.json" <<JSON
{ "trainyard": 1, "name": "$1",
  "cluster": { "nodes": [ { "group": "n", "count": 2, "gpus": 8 }, { "group": "far", "count": 2, "gpus": 1, "labels": { "far": "yes" } } ] },
  "workload": { "jobs": [ $2 ] },
  "faults": { "script": [ $3 ] },
  "live": { "time_scale": 1 $4 },
  "approaches": {
    "operator": { "lifecycle": "training-operator-v1", "admission": "fifo-skip", "placement": "first", "elastic": "torchrun",
                  "stack": { "kubelet.crash-backoff": "1s", "nccl.timeout": "1s", "torchrun.last-call": "300ms" } },
    "actor": { "lifecycle": "ray-train-v2", "admission": "none", "elastic": "ray",
               "stack": { "ray-train.poll": "500ms", "ray-train.worker-hang": "1s", "ray-train.resize-check": "1s" } } } }
JSON
}

refuse() { # exit code, pattern, arguments ...
    local code=$1 pattern=$2 got
    shift 2
    n=$((n + 1))
    "$trainyard" run "$@" >"$out/stdout" 2>"$out/stderr" </dev/null
    got=$?
    [ $got = "$code" ] || complain "$*: exit $got, not $code: $(head -3 "$out/stderr")"
    grep -q -- "$pattern" "$out/stderr" || complain "$*: no \"$pattern\" on stderr: $(head -3 "$out/stderr")"
}

job='"replicas": 2, "gpus": 1, "steps": 50, "step": { "compute": "50ms" }'
saves='"checkpoint": { "interval": "250ms" }'
scenario small "{ \"id\": \"a\", $job }" ""
refuse 2 "did you mean \"host\"" "$out/small.json" --on hots -o "$out/run"
refuse 2 "needs --output" "$out/small.json" --on host
refuse 2 "no --pace" "$out/small.json" --on host -o "$out/run" --pace 2x
refuse 2 "of live runs" "$out/small.json" --work "$out"
refuse 2 "choose one of the 2" "$out/small.json" --on host -o "$out/run"
refuse 3 "has no lifecycle batch-job" "$out/small.json" --on host -o "$out/run" -a operator --set /approaches/operator/lifecycle=batch-job \
    --set /approaches/operator/elastic=none
refuse 3 "crashes at random" "$out/small.json" --on host -o "$out/run" -a operator --set /workload/jobs/0/crash_mtbf=100
refuse 3 "parts of GPUs" "$out/small.json" --on host -o "$out/run" -a operator --set /workload/jobs/0/gpus=0.5
scenario drains "{ \"id\": \"a\", $job }" '{ "at": 1, "target": "node/n-0", "action": "node-drain" }'
refuse 3 "drains.json:4: /faults/script/0: the host back end cannot play node-drain" "$out/drains.json" --on host -o "$out/run" -a operator
cat >"$out/head.yaml" <<'YAML'

apiVersion: ray.io/v1
kind: RayJob
metadata: { name: alone, annotations: { trainyard/duration: "60" } }
spec: { rayClusterSpec: { headGroupSpec: { template: { spec: { containers: [ { name: c, image: i } ] } } } } }
YAML
scenario alone "" ""
sed -i 's/"workload"/"objects": [ "head.yaml" ], "workload"/' "$out/alone.json"
refuse 3 "head.yaml:2: job alone has no process that trains" "$out/alone.json" --on host -o "$out/run" -a actor
for id in "" . .. train.data a/../b "$(printf '%0201d' 0)"; do
    refuse 3 "its files lie in a folder of that name" "$out/small.json" --on host -o "$out/run" -a operator --set "/workload/jobs/0/id=\"$id\""
done
refuse 3 "has 5000 processes; a group may have 4096" "$out/small.json" --on host -o "$out/run" -a operator --set /workload/jobs/0/replicas=5000
[ ! -e "$out/run" ] || complain "a refused run left something"

# A folder below --work that no run has made is somebody's; one of an earlier run is made anew.
mkdir -p "$mem/others/a" && echo keep >"$mem/others/a/thesis"
refuse 4 "others/a: is not from an earlier run" "$out/small.json" --on host -o "$out/run" -a operator --work "$mem/others"
[ "$(cat "$mem/others/a/thesis")" = keep ] || complain "a file that no run has made is gone"
rm -r "$out/run"

# Both ways at once, in two runs side by side.
scenario operator "
    { \"id\": \"plain\", $job },
    { \"id\": \"restarts\", $job, $saves },
    { \"id\": \"hangs\", $job, $saves },
    { \"id\": \"never\", $job, \"restartPolicy\": \"Never\" },
    { \"id\": \"limited\", $job, \"backoffLimit\": 1 },
    { \"id\": \"after\", $job, \"after\": [ \"plain\" ] },
    { \"id\": \"vain\", $job, \"after\": [ \"plain\", \"never\" ] },
    { \"id\": \"vainer\", $job, \"after\": [ \"vain\" ] },
    { \"id\": \"grows\", $job, $saves, \"elastic\": { \"minReplicas\": 1, \"maxReplicas\": 3, \"maxRestarts\": 3 } },
    { \"id\": \"anew\", $job, $saves, \"elastic\": { \"minReplicas\": 1, \"maxReplicas\": 2, \"maxRestarts\": 1 } },
    { \"id\": \"large\", \"replicas\": 3, \"gpus\": 8, \"steps\": 5, \"step\": { \"compute\": \"50ms\" } }" '
    { "at": 0.8, "target": "pod/restarts-worker-0", "action": "container-exit", "code": 3 },
    { "at": 0.9, "target": "job/hangs", "action": "hang" },
    { "at": 1.0, "target": "pod/never-worker-0", "action": "container-exit", "code": 1 },
    { "at": 1.0, "target": "pod/limited-worker-0", "action": "container-exit", "code": 1 },
    { "at": 1.1, "target": "job/grows", "action": "scale", "replicas": 3 },
    { "at": 1.2, "target": "pod/anew-worker-0", "action": "crash" },
    { "at": 2.3, "target": "pod/anew-worker-0", "action": "crash" },
    { "at": 2.2, "target": "pod/restarts-worker-0", "action": "container-exit", "code": 3 },
    { "at": 3.9, "target": "pod/nobody-worker-0", "action": "container-exit" }'
scenario actor "
    { \"id\": \"crashes\", $job, $saves, \"maxFailures\": 1 },
    { \"id\": \"hangs\", $job, $saves, \"maxFailures\": 1 },
    { \"id\": \"errs\", $job, \"maxFailures\": 0 },
    { \"id\": \"waits\", $job, $saves },
    { \"id\": \"grows\", \"replicas\": 1, \"gpus\": 1, \"steps\": 60, \"step\": { \"compute\": \"50ms\" }, $saves, \"maxFailures\": 1, \"elastic\": { \"minReplicas\": 1, \"maxReplicas\": 2 } }" '
    { "at": 0.8, "target": "job/crashes", "action": "crash" },
    { "at": 0.9, "target": "job/hangs", "action": "hang" },
    { "at": 0.9, "target": "job/errs", "action": "crash" },
    { "at": 0.7, "target": "job/waits", "action": "suspend" },
    { "at": 0.8, "target": "job/grows", "action": "scale", "replicas": 2 },
    { "at": 1.7, "target": "job/waits", "action": "resume" }'
for way in operator actor; do
    n=$((n + 1))
    "$trainyard" run "$out/$way.json" --on host -a $way -o "$out/$way" --work "$mem/$way" --record full --force >"$out/$way.out" 2>"$out/$way.err" &
    pids+=($!)
done
wait "${pids[0]}"
[ $? = 1 ] || complain "operator: a job that never fits is no exit 1: $(tail -3 "$out/operator.err")"
wait "${pids[1]}" || complain "actor: exit $?: $(tail -3 "$out/actor.err")"
pids=()
python3 - "$out" <<'PYTHON' || bad=1
import csv, json, sys
def rows(way): return {r["job"]: r for r in csv.DictReader(open(f"{sys.argv[1]}/{way}/jobs.csv"))}
bad = 0
def check(what, is_so):
    global bad
    if not is_so:
        print("host:", what, file=sys.stderr)
        bad = 1
def states(way, want):
    for job, state in want.items():
        check(f"{way}: {job} is {r[job]['state']}, not {state}", r[job]["state"] == state)
def between(way, job, column, least, most):
    x = float(r[job][column])
    check(f"{way}: {job}: {column} is {x}, not between {least} and {most}", least <= x <= most)

r = rows("operator")
states("operator", {"plain": "succeeded", "restarts": "succeeded", "hangs": "succeeded", "never": "failed", "limited": "failed",
                    "after": "succeeded", "vain": "cancelled", "vainer": "cancelled", "grows": "succeeded",
                    "anew": "succeeded", "large": "pending"})
check("restarts did not restart twice", r["restarts"]["restarts"] == "2")
between("operator", "restarts", "wait_container_backoff_s", 0.9, 2.5)   # the second restart waits 1 s
between("operator", "hangs", "wait_detection_s", 0.9, 2.5)              # nccl.timeout is 1 s
between("operator", "plain", "compute_gpu_s", 4.9, 9)                   # 2 ranks x 50 steps x 50 ms, and what the machine lacks
check("after began before plain ended", float(r["after"]["admitted_s"]) >= float(r["plain"]["finished_s"]))
check("vain was not cancelled when never had failed", r["vain"]["finished_s"] == r["never"]["finished_s"])
check("hangs did not restart once, or at no cost", r["hangs"]["restarts"] == "1" and float(r["hangs"]["recovery_gpu_s"]) > 1.8) # 2 GPUs for 1 s
check("grows never resized, or as a restart", "steps on 3 ranks" in open(f"{sys.argv[1]}/operator.err").read() and r["grows"]["restarts"] == "0")
ends = [l.split(" ends with ")[1].strip() for l in open(f"{sys.argv[1]}/operator.err") if "anew-worker-" in l and " ends with " in l]
# First agents end the peer (SIGKILL) and start both anew; no restart is left for the second time: containers end with their own codes.
check(f"anew: processes end with {ends}", sorted(ends[:2]) == ["1", "137"] and sorted(ends[2:4]) == ["1", "1"] and ends[4:5] == ["0"])
check("anew is not restarted twice, or waits for a back-off", r["anew"]["restarts"] == "2" and float(r["anew"]["wait_container_backoff_s"]) == 0)
check("large waits for something else", float(r["large"]["wait_unsatisfiable_s"]) > 0)
r = rows("actor")
states("actor", {"crashes": "succeeded", "hangs": "succeeded", "errs": "failed", "grows": "succeeded", "waits": "succeeded"})
between("actor", "hangs", "wait_detection_s", 0.9, 3)                   # the workers' time-out 1 s, then a poll
between("actor", "waits", "wait_suspended_s", 0.9, 1.5)
check("waits was not taken back once", r["waits"]["preemptions"] == "1")
check("grows never resized", "steps on 2 ranks" in open(f"{sys.argv[1]}/actor.err").read())
for way in "operator", "actor":
    m = json.load(open(f"{sys.argv[1]}/{way}/run.json"))
    check(f"{way}: the run is {m['state']} on {m['back_end']}", (m["state"], m["back_end"]) == ("complete", "host"))
    check(f"{way}: the scale is not in the run", json.load(open(f"{sys.argv[1]}/{way}/scenario.json"))["live"]["time_scale"] == 1)
sys.exit(bad)
PYTHON
# The same two ranks, data and steps end with the same weights, however often they were killed, hung and resumed on the way.
for pair in operator:plain,restarts,hangs,after,anew actor:crashes,hangs,waits; do
    jobs=${pair#*:}
    weights=$(grep -E " (${jobs//,/|}) is trained: weights [0-9a-f]{32}" "$out/${pair%%:*}.err" | sed 's/.*weights //')
    [ "$(wc -l <<<"$weights")" = "$(tr ',' '\n' <<<"$jobs" | wc -l)" ] && [ "$(sort -u <<<"$weights" | wc -l)" = 1 ] ||
        complain "${pair%%:*}: $jobs end with the weights $(tr '\n' ' ' <<<"$weights")"
done
grep -q "a second here is 1 s of the scenario" "$out/operator.err" || complain "the scale is not told"
grep -q "nobody-worker-0: no effect" "$out/operator.err" || complain "an action without a target is not told"
for way in operator actor; do
    python3 docs/read_run.py "$out/$way" >"$out/read" 2>&1 || complain "$way: $(cat "$out/read")"
    "$trainyard" report "$out/$way" >/dev/null 2>"$out/stderr" && "$trainyard" explain "$out/$way" hangs >/dev/null 2>>"$out/stderr" ||
        complain "$way: cannot be reported or explained: $(cat "$out/stderr")"
done
"$trainyard" compare "$out/operator" "$out/operator" >/dev/null 2>"$out/stderr" || complain "cannot be compared: $(cat "$out/stderr")"

# Signals: the run is interrupted and whole, and nothing of it runs on; after SIGKILL neither.
scenario long "{ \"id\": \"a\", \"replicas\": 3, \"gpus\": 1, \"steps\": 3000, \"step\": { \"compute\": \"20ms\" }, $saves }" ""
left() { # with the data in DIR: 1 s to end
    local k
    for ((k = 0; k < 20; k++)); do
        pgrep -f -- "--data=$1/train.data" >/dev/null || return 1
        sleep 0.05
    done
}
for signal in INT TERM KILL KILL; do
    n=$((n + 1))
    rm -rf "$out/long"
    "$trainyard" run "$out/long.json" --on host -a actor -o "$out/long" --work "$mem/kept" --force --quiet >/dev/null 2>"$out/stderr" &
    pids=($!)
    until [ -e "$out/long/run.json" ] || ! kill -0 "${pids[0]}" 2>/dev/null; do sleep 0.01; done
    sleep "0.$((RANDOM % 8 + 1))"
    kill -$signal "${pids[0]}"
    wait "${pids[0]}" 2>/dev/null
    got=$?
    left "$mem/kept" && complain "SIG$signal leaves $(pgrep -af -- "--data=$mem/kept/train.data" | head -1)"
    [ $signal = KILL ] && continue
    [ $got = 130 ] || complain "SIG$signal ends with $got"
    python3 docs/read_run.py "$out/long" >"$out/read" 2>&1 && grep -q "interrupted" "$out/read" || complain "SIG$signal leaves no interrupted run"
done
pids=()

# Other machines: a stand-in for ssh, whose machine is a shell of its own with the connection as stdin. Where the file `deaf` holds a word,
# the first command with that word in it goes to a machine that has dropped off the network: nothing comes back, and no signal arrives.
mkdir "$out/bin" "$mem/shared"
cat >"$out/bin/ssh" <<'STUB'
#!/bin/sh
options=
while [ "$1" != -- ]; do options="$options $1"; shift; done
echo "$2" >>"$HOST_TEST/machines"
echo "$options" >>"$HOST_TEST/options"
shift 2
if [ -s "$HOST_TEST/deaf" ] && case $* in *"$(cat "$HOST_TEST/deaf")"*) true ;; *) false ;; esac; then
    rm "$HOST_TEST/deaf"
    exec sleep 1000
fi
exec 3<&0
setsid sh -c "$*" <&3 3<&- &
wait $!
STUB
chmod +x "$out/bin/ssh"
over_ssh() { # NAME: far.json, its run, in at most 30 s
    n=$((n + 1))
    HOST_TEST=$out PATH="$out/bin:$PATH" timeout 30 "$trainyard" run "$out/far.json" --on host -a operator -o "$out/$1" --work "$mem/$1" >/dev/null 2>"$out/stderr"
}
scenario far "{ \"id\": \"a\", $job, $saves, \"nodeSelector\": { \"far\": \"yes\" } }" '{ "at": 0.9, "target": "pod/a-worker-0", "action": "container-exit", "code": 7 }' \
    ", \"hosts\": [ { \"group\": \"far\", \"addresses\": [ \"127.0.0.1\", \"me@127.0.0.1\" ], \"worker\": \"$(dirname "$trainyard")/trainyard-worker\", \"directory\": \"$mem/shared\" } ]"
for run in first second; do
    over_ssh $run || complain "over ssh, $run: exit $?: $(tail -3 "$out/stderr")"
    grep -q "a-worker-0 ends with 7" "$out/stderr" || complain "over ssh a pod is not killed: $(cat "$out/stderr")"
    grep -q "succeeded" "$out/$run/jobs.csv" || complain "over ssh the job does not succeed"
    grep -m 1 "a steps on" "$out/stderr" | grep -q "from step 0$" || complain "over ssh, the $run run: $(grep -m 1 "a steps on" "$out/stderr")"
done
[ "$(ls "$mem/shared/a" | wc -l)" = 2 ] || complain "two runs have left $(ls "$mem/shared/a" | tr '\n' ' ')"
sort -u "$out/machines" | tr '\n' ' ' | grep -q "127.0.0.1 me@127.0.0.1 " || complain "the machines asked for were $(sort -u "$out/machines" | tr '\n' ' ')"
for option in BatchMode=yes ConnectTimeout=10 ServerAliveInterval=15 ServerAliveCountMax=3; do
    grep -qv -e "-o $option\( \|\$\)" "$out/options" && complain "ssh is called with $(grep -v -e "$option" "$out/options" | head -1)"
done
# What does not answer SIGKILL is given up 5 s later and the pod restarted; a run that waits for the data of such a machine can be ended.
echo "RANK=1" >"$out/deaf"
over_ssh silent || complain "with a deaf machine: exit $?: $(tail -3 "$out/stderr")"
grep -q "a-worker-0: its machine does not answer" "$out/stderr" && grep -q "a-worker-0 ends with 7" "$out/stderr" ||
    complain "with a deaf machine: $(cat "$out/stderr")"
echo "--make-data" >"$out/deaf"
n=$((n + 1))
HOST_TEST=$out PATH="$out/bin:$PATH" "$trainyard" run "$out/far.json" --on host -a operator -o "$out/early" --work "$mem/early" >/dev/null 2>"$out/stderr" &
pids=($!)
for ((k = 0; k < 200; k++)); do [ -e "$out/deaf" ] || break; sleep 0.05; done
kill -TERM "${pids[0]}"
for ((k = 0; k < 100; k++)); do kill -0 "${pids[0]}" 2>/dev/null || break; sleep 0.05; done
kill -KILL "${pids[0]}" 2>/dev/null
wait "${pids[0]}" 2>/dev/null
got=$?
pids=()
[ $got = 130 ] || complain "a run that waits for data ends with $got on SIGTERM: $(cat "$out/stderr")"

# A terminal that is closed ends the run as the other signals do, unless it was started to ignore that (nohup), as these tests may be.
n=$((n + 1))
env --default-signal=HUP "$trainyard" run "$out/small.json" --on host -a operator -o "$out/hup" --work "$mem/hup" >/dev/null 2>"$out/stderr" &
pids=($!)
for ((k = 0; k < 200; k++)); do grep -q "a steps on" "$out/stderr" && break; sleep 0.05; done
kill -HUP "${pids[0]}"
wait "${pids[0]}" 2>/dev/null
got=$?
pids=()
[ $got = 130 ] && grep -q '"interrupted"' "$out/hup/run.json" || complain "on SIGHUP a run ends with $got: $(cat "$out/stderr")"
[ $bad = 0 ] && echo "host: $n runs are refused, played, stopped as they should"
exit $bad
