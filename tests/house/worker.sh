#!/bin/bash
# worker.sh - trainyard-worker as people and controllers call it: exit codes, messages, records, faults, signals, kills.
#
#     tests/house/worker.sh WORKER
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
worker=${1:-bin/trainyard-worker}
out=$(mktemp -d) || exit 2
. tests/live/port.sh
declare -a pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$out"' EXIT
bad=0 n=0
complain() { echo "worker: $*" >&2; bad=1; }

expect() { # exit code, pattern on stdout ("" none), pattern on stderr ("" none), arguments ...
    local code=$1 stdout=$2 stderr=$3 got stream
    shift 3
    n=$((n + 1))
    "$worker" "$@" >"$out/stdout" 2>"$out/stderr" </dev/null
    got=$?
    [ $got = "$code" ] || complain "$*: exit $got, not $code: $(head -3 "$out/stderr")"
    for stream in stdout stderr; do
        if [ -z "${!stream}" ]; then
            [ ! -s "$out/$stream" ] || complain "$*: $stream is not empty: $(head -1 "$out/$stream")"
        else
            grep -q -- "${!stream}" "$out/$stream" || complain "$*: no \"${!stream}\" on $stream"
        fi
    done
}

data="--data $out/data"
expect 0 "" "" --make-data "$out/data" --samples 600 --features 8 --classes 3
expect 0 '"reason": "done"' "" $data --batch 100 --steps 30
expect 0 "Usage" "" --help
expect 2 "" "data is missing"
expect 2 "" "all is given by options" $data what
expect 2 "" "whole number from 1" $data --batch 0
expect 2 "" 'did you mean "ring"' $data --algorithm rin
expect 2 "" "needs @STEP" $data --fault crash
expect 2 "" "needs --checkpoint" $data --resume 10
expect 2 "" "duration such as" $data --pace fast
expect 2 "" "number from 0 to below 1" $data --momentum 1
expect 2 "" "whole number from 1 to 65536" $data --hidden 8,,8
expect 3 "" "fewer than a batch of 601" $data --batch 601
expect 3 "" "No such file" --data "$out/none"
expect 3 "" "is no data set" --data tests/house/worker.sh
expect 4 "" "cannot open" $data --log "$out/none/log"
expect 4 "start" "cannot write" $data --batch 100 --steps 2 --prometheus "$out/none/prom"
RANK=1 expect 3 "" "environment: WORLD_SIZE: is not set" $data
RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=9 expect 4 '"join"' "cannot reach the meeting place" $data --rendezvous-timeout 200ms
RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 expect 4 '"join"' "1 of 2 ranks came in time" $data --rendezvous-timeout 200ms

# A GPU is asked for where there is none; with the stub in place of the libraries the worker trains on it.
mkdir "$out/no-cuda" "$out/cuda"
TRAINYARD_CUDA_LIB=$out/no-cuda expect 4 "" "no GPU: the CUDA runtime cannot be loaded" $data --device gpu
expect 2 "" "nccl needs --device gpu" $data --transport nccl
expect 2 "" "LAYERS,WIDTH,TOKENS" $data --gpu-shape 8,4096
if [ -e build/tests/real/gpu/stub_cuda.so ]; then
    for name in libcudart.so.13 libcublas.so.13 libnvidia-ml.so.1; do ln -s "$PWD/build/tests/real/gpu/stub_cuda.so" "$out/cuda/$name"; done
    export TRAINYARD_CUDA_LIB=$out/cuda
    STUB_CUDA=cudaGetDeviceCount=35 expect 4 "" "no GPU: there is no driver" $data --device gpu
    STUB_CUDA=cudaMalloc=2 expect 4 "" "cudaMalloc: out of memory (2)" $data --device gpu
    STUB_CUDA=cublasGemmEx=13 expect 4 '"start"' "cublasGemmEx: execution failed" $data --device gpu
    expect 4 "" "no GPU: NCCL cannot be loaded" $data --device gpu --transport nccl
    expect 0 '"event": "gpu".*"power_w": 650' "" $data --device gpu --steps 5 --batch 100 --gpu-shape 2,256,512
    unset TRAINYARD_CUDA_LIB
fi

# Checkpoints: resumed from, rolled back to, of another model, damaged.
saved="$data --batch 100 --every 10 --keep 9 --checkpoint $out/saved --log-every 1000"
weights() { sed -n 's/.*"weights": "\([0-9a-f]*\)".*/\1/p' "$out/stdout"; }
expect 0 '"step": 40,' "" $saved --steps 40
whole=$(weights)
rm -rf "$out/saved"
expect 0 '"resumed_step": -1' "" $saved --steps 20
expect 0 '"resumed_step": 20' "" $saved --steps 40
[ "$(weights)" = "$whole" ] || complain "resumed training ends with other weights"
expect 0 '"resumed_step": 40' "" $saved --steps 55 --last-save no
[ -d "$out/saved/step-0000000050" ] && [ ! -d "$out/saved/step-0000000055" ] || complain "--last-save no: saved are $(ls "$out/saved")"
expect 0 '"resumed_step": 10' "" $saved --steps 40 --resume 10
[ "$(weights)" = "$whole" ] || complain "training rolled back ends with other weights"
expect 3 '"met"' "no such checkpoint" $saved --steps 40 --resume 11
expect 3 '"met"' "of another model" $saved --steps 40 --hidden 4
truncate -s -1 "$out/saved/step-0000000040/shard-0000-of-0001"
expect 0 '"resumed_step": 30' "step-0000000040.*cut off, or has bytes too many" $saved --steps 40
[ "$(weights)" = "$whole" ] || complain "training past a damaged checkpoint ends with other weights"
# What cannot be read for another reason than that it is damaged may be sound (the first bytes of this file give EIO): nothing is touched.
kept() { ls "$out/saved" | tr '\n' ' '; }
before=$(kept)
for step in "$out"/saved/step-*; do mv "$step/shard-0000-of-0001" "$step/aside"; ln -s /proc/self/mem "$step/shard-0000-of-0001"; done
expect 4 '"met"' "cannot read: Input/output error" $saved --steps 40
expect 4 '"met"' "cannot read: Input/output error" $saved --steps 40 --resume 20
[ "$(kept)" = "$before" ] || complain "where no checkpoint can be read, of $before are left $(kept)"
for step in "$out"/saved/step-*; do mv "$step/aside" "$step/shard-0000-of-0001"; done
expect 0 '"resumed_step": 40' "" $saved --steps 40
# Where all are damaged it begins anew, and removes none until it has as many that are whole.
cp -a "$out/saved" "$out/whole"
truncate -s 70 "$out"/saved/step-*/shard-0000-of-0001
expect 0 '"resumed_step": -1' "cut off, or has bytes too many" $saved --steps 5 --last-save no
[ "$(kept)" = "$before" ] || complain "where all checkpoints are damaged, of $before are left $(kept)"
rm -rf "$out/saved"
cp -a "$out/whole" "$out/saved"
expect 0 '"resumed_step": -1' "" $saved --steps 10 --resume none
[ "$(kept)" = "step-0000000010 " ] || complain "--resume none leaves $(kept)"
rm -rf "$out/saved"
mv "$out/whole" "$out/saved"
expect 4 '"ok": false' "the store is down" $saved --steps 60 --fault store-down@45:1h
expect 0 '"ok": true' "the store is down" $saved --steps 70 --fault store-down@49:100ms --pace 20ms
rm -rf "$out/saved" "$out/stdout" # what the last one said is not this one's
"$worker" $saved --steps 100000 --pace 1ms >"$out/stdout" 2>"$out/stderr" &
pids=($!)
until grep -qs '"checkpoint"' "$out/stdout" || ! kill -0 "${pids[0]}" 2>/dev/null; do sleep 0.05; done
kill -TERM "${pids[0]}"
wait "${pids[0]}"
[ $? = 130 ] || complain "SIGTERM does not end with 130"
stopped=$(sed -n 's/.*"end".*"step": \([0-9]*\),.*"stopped".*/\1/p' "$out/stdout")
[ -d "$out/saved/$(printf step-%010d "${stopped:-0}")" ] || complain "SIGTERM at step $stopped left no checkpoint of it"

# Two ranks: a fault on one, and what the other says.
pair() { # exit codes wanted, pattern on rank 0's stderr, arguments ...
    local want=$1 pattern=$2 port=$(free_port) r codes=
    shift 2
    n=$((n + 1))
    pids=()
    for r in 0 1; do
        RANK=$r WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$worker" $data --batch 100 "$@" >"$out/out$r" 2>"$out/err$r" &
        pids+=($!)
    done
    for r in "${pids[@]}"; do wait "$r" 2>/dev/null; codes="$codes$? "; done
    pids=()
    [ "$codes" = "$want " ] || complain "$*: ranks end with $codes, not $want: $(cat "$out"/err*)"
    if [ -z "$pattern" ]; then [ ! -s "$out/err0" ] || complain "$*: $(cat "$out/err0")"; else
        grep -q "$pattern" "$out/err0" || complain "$*: rank 0 does not say \"$pattern\": $(cat "$out/err0")"
    fi
}
for transport in shm tcp; do
    pair "0 0" "" --steps 30 --transport $transport
    pair "4 137" "rank 1 is gone" --steps 30 --transport $transport --fault crash@7/1
    pair "4 9" "rank 1 is gone" --steps 30 --transport $transport --fault exit@7:9/1
    pair "4 4" "no answer from rank 1" --steps 30 --transport $transport --fault hang@7:1s/1 --collective-timeout 300ms
done
# SIGUSR1 hangs a rank in the collective in which it waits: the other, which comes late to step 5, never gets its answer.
n=$((n + 1))
port=$(free_port)
pids=()
for r in 0 1; do
    RANK=$r WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$worker" $data --batch 100 --steps 30 --transport tcp --fault hang@5:2s/1 \
        --collective-timeout 4s >"$out/out$r" 2>"$out/err$r" &
    pids+=($!)
done
until grep -qs '"step": 4,' "$out/out0" || ! kill -0 "${pids[@]}"; do sleep 0.05; done 2>/dev/null
kill -USR1 "${pids[0]}"
wait "${pids[1]}"
[ $? = 4 ] || complain "a rank that waits for one told to hang does not end with 4"
grep -q "no answer from rank 0" "$out/err1" || complain "a rank told to hang answers: $(cat "$out/err1")"
grep -q '"step": 5,' "$out/out1" && complain "a rank told to hang in a collective ends it first"
{ kill -9 "${pids[0]}"; wait "${pids[0]}"; } 2>/dev/null
pids=()

# Two nodes of two ranks each, started by an agent a node, as torchrun does.
nodes() { # exit codes wanted, options ...
    local want=$1 node codes=
    shift
    n=$((n + 1))
    port=$(free_port) pids=()
    for node in 0 1; do
        PET_NNODES=2 PET_NPROC_PER_NODE=2 PET_NODE_RANK=$node PET_MASTER_ADDR=127.0.0.1 PET_MASTER_PORT=$port "$worker" $data \
            --batch 100 --steps 40 --every 10 --pace 5ms --checkpoint "$out/saved" --rendezvous-timeout 20s --log-every 1000 "$@" \
            >"$out/out$node" 2>"$out/err$node" &
        pids+=($!)
    done
    [ -n "$want" ] || return
    for node in "${pids[@]}"; do wait "$node"; codes="$codes$? "; done 2>/dev/null
    pids=()
    [ "$codes" = "$want " ] || complain "nodes of two ranks, $*: end with $codes, not $want: $(cat "$out"/err[01])"
}
fingerprints() { sed -n 's/.*"weights": "\([0-9a-f]*\)".*/\1/p' "$out"/out[01] | sort | uniq -c | tr -s ' '; }
rm -rf "$out/saved"
nodes "0 0" --prometheus "$out/nodes.prom"
four=$(fingerprints)
[ "${four% *}" = " 4" ] || complain "four ranks on two nodes end with $four"
[ -s "$out/nodes-1.prom" ] || complain "the second rank of a node leaves no metrics of its own"
rm -rf "$out/saved"
PET_MAX_RESTARTS=1 nodes "0 0" --resume none --fault crash@25/3 # none: in the first life
[ "$(fingerprints)" = "$four" ] || complain "ranks started again by their agents end with $(fingerprints), not$four"
grep -q "local rank 1 ended with 137" "$out/err1" && grep -q "1 of 1 times" "$out/err0" || complain "agents do not say what they do: $(cat "$out"/err[01])"
[ "$(sed -n 's/.*"start".*"resumed_step": \(-*[0-9]*\).*/\1/p' "$out/out0" | sort -u | tr '\n' ,)" = "-1,20," ] ||
    complain "ranks started again do not resume from step 20"
rm -rf "$out/saved"
nodes "4 137" --fault crash@25/3
rm -rf "$out/saved"
nodes "" --steps 100000
until grep -qs '"checkpoint"' "$out/out0" || ! kill -0 "${pids[@]}"; do sleep 0.05; done 2>/dev/null
children=$(cat "/proc/${pids[1]}/task/${pids[1]}/children")
{ kill -9 "${pids[1]}"; wait "${pids[1]}"; } 2>/dev/null
wait "${pids[0]}"
[ $? = 4 ] || complain "an agent whose peer node is gone does not end with 4"
sleep 0.2
for p in $children; do # one that nobody has waited for yet has ended, too
    grep -qs '^State:.*[RSD] ' "/proc/$p/status" && complain "a rank lives longer than its agent: $(grep State "/proc/$p/status")"
done
rm -rf "$out/saved"
nodes "" --steps 100000
until grep -qs '"checkpoint"' "$out/out0" || ! kill -0 "${pids[@]}"; do sleep 0.05; done 2>/dev/null
kill -TERM "${pids[1]}"
for p in "${pids[@]}"; do wait "$p"; [ $? = 130 ] || complain "an agent told to stop, or its peer, does not end with 130: $(cat "$out"/err[01])"; done
pids=()

# SIGTERM to the whole process group comes to the ranks twice, from outside and from their agent: they save once, and end.
n=$((n + 1))
rm -rf "$out/saved" "$out/stdout"
PET_NNODES=1 PET_NPROC_PER_NODE=2 PET_MASTER_ADDR=127.0.0.1 PET_MASTER_PORT=$(free_port) setsid "$worker" $data --batch 100 \
    --steps 100000 --every 10 --pace 50ms --checkpoint "$out/saved" --log-every 100000 >"$out/stdout" 2>"$out/stderr" &
pids=($!)
until grep -qs '"checkpoint"' "$out/stdout" || ! kill -0 "${pids[0]}" 2>/dev/null; do sleep 0.05; done
kill -TERM -- "-${pids[0]}"
wait "${pids[0]}"
got=$?
pids=()
[ $got = 130 ] || complain "SIGTERM to the process group ends an agent with $got, not 130: $(cat "$out/stderr")"
stopped=$(sed -n 's/.*"end".*"rank": 0,.*"step": \([0-9]*\),.*"stopped".*/\1/p' "$out/stdout")
[ -d "$out/saved/$(printf step-%010d "${stopped:-0}")" ] || complain "SIGTERM to the process group at step $stopped left $(kept)"
expect 0 "\"resumed_step\": $stopped" "" $data --batch 100 --steps $((stopped + 5)) --checkpoint "$out/saved" --log-every 100000

# Who waits for the others ends at once when told to, with 130, and nobody of its group lives on.
told_while_waiting() { # what waits, signal, NAME=VALUE ...
    local what=$1 signal=$2 begin got
    shift 2
    n=$((n + 1))
    env MASTER_PORT=$(free_port) "$@" setsid "$worker" $data --steps 20 --rendezvous-timeout 20s >"$out/stdout" 2>"$out/stderr" &
    pids=($!)
    until grep -qs '"join"' "$out/stdout" || ! kill -0 "${pids[0]}" 2>/dev/null; do sleep 0.05; done
    sleep 0.3
    begin=$(date +%s%N)
    kill "-$signal" "${pids[0]}"
    wait "${pids[0]}"
    got=$?
    [ $got = 130 ] && [ $((($(date +%s%N) - begin) / 1000000)) -lt 2000 ] ||
        complain "$signal to $what: ends with $got after $((($(date +%s%N) - begin) / 1000000)) ms: $(cat "$out/stderr")"
    kill -9 -- "-${pids[0]}" 2>/dev/null && complain "$signal to $what: processes of it live on"
    pids=()
}
for signal in TERM INT; do
    told_while_waiting "rank 0 without rank 1" $signal RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1
    told_while_waiting "rank 1 without rank 0" $signal RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1
    told_while_waiting "rank 1 with a name that is not there" $signal RANK=1 WORLD_SIZE=2 MASTER_ADDR=no.such.invalid
    told_while_waiting "an agent of two ranks without the other node" $signal PET_NNODES=2 PET_NPROC_PER_NODE=2 PET_NODE_RANK=0 \
        PET_MASTER_ADDR=127.0.0.1 PET_MASTER_PORT=$(free_port)
    told_while_waiting "an elastic rank alone" $signal PET_NNODES=2:4 PET_RDZV_ENDPOINT=127.0.0.1:$(free_port)
done
# So does who waits again, for another in place of one that is lost: the last save stands.
n=$((n + 1))
port=$(free_port) pids=()
rm -rf "$out/saved" "$out"/out? "$out"/err?
for i in 0 1; do
    PET_NNODES=2:3 PET_RDZV_ENDPOINT=127.0.0.1:$port "$worker" $data --batch 60 --steps 400 --every 20 --last-call 200ms --fault crash@30/1 \
        --checkpoint "$out/saved" --log-every 1000 --rendezvous-timeout 20s >"$out/out$i" 2>"$out/err$i" &
    pids+=($!)
done
wait -n -p lost "${pids[@]}" 2>/dev/null
[ "$lost" = "${pids[0]}" ] && left=1 || left=0
until [ "$(grep -s -c '"join"' "$out/out$left")" = 2 ] || ! kill -0 "${pids[left]}"; do sleep 0.05; done 2>/dev/null
begin=$(date +%s%N)
kill -TERM "${pids[left]}"
wait "${pids[left]}"
got=$?
pids=()
[ $got = 130 ] && [ $((($(date +%s%N) - begin) / 1000000)) -lt 2000 ] || complain "SIGTERM to who waits again: ends with $got: $(cat "$out/err$left")"
[ "$(kept)" = "step-0000000020 " ] || complain "SIGTERM to who waits again leaves $(kept)"

# Elastic, 2 to 4 ranks: one is lost (a guest, or the keeper of the place), later one comes.
# Where a rank comes, the first time all save first, the second time they fall back to the last save (each 20 steps).
for victim in 2 0; do
    on_resize=$([ $victim = 2 ] && echo save || echo drop)
    rm -rf "$out/saved" "$out"/out? "$out"/err?
    n=$((n + 1))
    port=$(free_port)
    pids=()
    elastic() { # number, options ...
        local i=$1
        shift
        PET_NNODES=2:4 PET_RDZV_ENDPOINT=127.0.0.1:$port "$worker" $data --batch 60 --steps 400 --pace 5ms --every 20 --last-call 1s \
            --checkpoint "$out/saved" --log-every 1000 --rendezvous-timeout 20s --on-resize $on_resize --resume none "$@" >"$out/out$i" 2>"$out/err$i" &
        pids+=($!)
    }
    for i in 0 1 2; do elastic $i --fault crash@60/$victim; done
    until grep -qs '"size": 2' "$out"/out[012] || ! kill -0 "${pids[@]}"; do sleep 0.05; done 2>/dev/null
    elastic 3 --resume newest
    codes=
    for p in "${pids[@]}"; do wait "$p" 2>/dev/null; codes="$codes $?"; done
    pids=()
    [ "$(tr ' ' '\n' <<<"$codes" | sort -n | tr '\n' ' ')" = " 0 0 0 137 " ] || complain "elastic, rank $victim lost: end with$codes: $(cat "$out"/err*)"
    sizes=$(for i in 0 1 2; do sed -n 's/.*"start".*"size": \([0-9]*\),.*"resumed_step": \(-*[0-9]*\).*/\1 \2/p' "$out/out$i"; done | sort -u | tr '\n' ,)
    case $sizes in "2 60,3 -1,3 "*,) ;; *) complain "elastic, rank $victim lost: sizes and steps resumed from are $sizes" ;; esac
    grown=$(sed 's/.*,3 //; s/,//' <<<"$sizes")
    [ $on_resize = save ] || [ $((grown % 20)) = 0 ] || complain "a resize that drops goes on from step $grown, which was no save"
    [ "$(sed -n 's/.*"weights": "\(.*\)", "reason": "done".*/\1/p' "$out"/out? | uniq -c | awk '{print $1}')" = 3 ] ||
        complain "elastic, rank $victim lost: the three do not end with the same weights"
done
# Steps paced at 20 ms take that long; slowed three times from step 5 on, the 10 steps take 5 x 20 + 5 x 60 ms at least.
SECONDS_BEFORE=$(date +%s%N)
pair "0 0" "" --steps 10 --pace 20ms --fault slow@5:3/1
[ $((($(date +%s%N) - SECONDS_BEFORE) / 1000000)) -ge 400 ] || complain "slow@5:3 is not slow"

# Paced at 40 ms on one rank, two ranks take half of it: 10 steps are 0.2 s of computing, not 0.4.
pair "0 0" "" --steps 10 --pace 40ms --pace-ranks 1
python3 - "$out/out0" <<'PYTHON' || bad=1
import json, sys
steps = [l for l in map(json.loads, open(sys.argv[1])) if l["event"] == "step"]
shortest = min(l["compute_s"] for l in steps)
assert 0.02 <= shortest < 0.04, "a step of 40 ms on one rank computes for %g s on two" % shortest
PYTHON

# The metrics are Prometheus text; promtool checks them where it is.
expect 0 "" "" $data --batch 100 --steps 30 --log "$out/log" --prometheus "$out/prom"
grep -q '^trainyard_worker_step{rank="0"} 29$' "$out/prom" || complain "no last step in the metrics"
grep -q '^trainyard_worker_steps_total{rank="0"} 30$' "$out/prom" || complain "no count of steps in the metrics"
if command -v promtool >/dev/null; then promtool check metrics <"$out/prom" >"$out/lint" 2>&1 || complain "$(cat "$out/lint")"; fi
python3 - "$out/log" <<'PYTHON' || bad=1
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [l["event"] for l in lines] == ["join", "met", "start"] + ["step"] * 30 + ["end"], "events"
steps = lines[3:-1]
assert [l["step"] for l in steps] == list(range(30)), "steps"
assert steps[-1]["loss"] < steps[0]["loss"] / 2, "the loss does not go down"
for l in steps:
    parts = l["data_s"] + l["compute_s"] + l["communication_s"] + l["checkpoint_s"]
    assert parts <= l["step_s"] + 1e-9, "parts are more than the whole: %r" % l
PYTHON
if command -v man >/dev/null; then
    warnings=$("$worker" --print-man | LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z - 2>&1 >/dev/null)
    [ -z "$warnings" ] || complain "man: $warnings"
fi
bash tests/live/kills.sh "$worker" "${WORKER_KILLS:-8}" || bad=1
[ $bad = 0 ] && echo "worker: $n calls end, print and train as they should"
exit $bad
