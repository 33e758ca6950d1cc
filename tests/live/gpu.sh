#!/bin/bash
# gpu.sh - on a machine with GPUs: build, measure, train on the GPU, play a scenario on it, keep the profiles; below four minutes.
#
#     tests/live/gpu.sh [OUT]                OUT: folder of the profiles and logs (default build/gpu)
#     tests/live/gpu.sh --stub [BIN [OUT]]   with a stub in place of the libraries: all but the figures. BIN is a folder with the programs
#                                            and stub_cuda.so; without it these are built
#
# CUDA's libraries are looked for as `trainyard calibrate gpu --help` says. Without a GPU it says why and ends with 77.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
stub= bin=bin
[ "$1" = --stub ] && { stub=build/tests/real/gpu/stub_cuda.so; shift; }
[ -n "$stub" ] && [ -n "$1" ] && { bin=$(realpath "$1"); stub=$bin/stub_cuda.so; shift; }
out=${1:-build/gpu} bad=0 begin=$SECONDS
complain() { echo "gpu: $*" >&2; bad=1; }
work=$(mktemp -d) || exit 2
declare -a pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$work"' EXIT
mkdir -p "$out" || exit 4
rm -f "$out"/*.jsonl
[ $bin != bin ] || make -s -j"$(nproc)" bin/trainyard bin/trainyard-worker $stub || exit 1

if [ -n "$stub" ]; then
    for name in libcudart.so.13 libcublas.so.13 libnccl.so.2 libnvidia-ml.so.1; do
        ln -s "$(realpath $stub)" "$work/$name"
    done
    export TRAINYARD_CUDA_LIB=$work
    STUB_CUDA=cudaGetDeviceCount=35 "$bin"/trainyard calibrate gpu >"$work/none" 2>&1
    [ $? = 4 ] && grep -q "no GPU: there is no driver" "$work/none" || complain "without a driver: $(cat "$work/none")"
fi

"$bin"/trainyard calibrate gpu -o "$out" --name measured --time 90s >"$out/measured.txt" 2>"$work/err"
code=$?
cat "$out/measured.txt"
if [ $code = 4 ] && grep -q "no GPU" "$work/err"; then cat "$work/err" >&2; echo "gpu: skipped: no GPU"; exit 77; fi
[ $code = 0 ] || { cat "$work/err" >&2; complain "measuring ends with $code"; exit 1; }

# What was written is read: by the scenario's reader and by the calibration of collectives.
python3 - "$out" <<'PYTHON' || bad=1
import csv, json, sys
out = sys.argv[1]
hardware = json.load(open(out + "/hardware.json"))
rows = list(csv.DictReader(open(out + "/residuals.csv")))
assert {r["quantity"] for r in rows} >= {"gemm", "memory", "to-device", "to-host", "step"}, "a quantity lacks"
assert all(float(r["measured_s"]) > 0 for r in rows), "a row took no time"
assert hardware["gpus"] >= 1 and hardware["compute_capability"] >= 50, "no such GPU"
PYTHON
if [ -e "$out/nccl.csv" ]; then
    "$bin"/trainyard calibrate collective --train "$out/nccl.csv" -o "$out/collective.json" >/dev/null 2>"$work/err" || complain "$(cat "$work/err")"
fi

# The worker on the GPU: one rank, then two with NCCL where there are two GPUs and the libraries are real.
"$bin"/trainyard-worker --make-data "$work/data" --samples 600 --features 8
"$bin"/trainyard-worker --data "$work/data" --batch 64 --steps 30 --device gpu --gpu-shape 4,2048,4096 --log "$out/worker.jsonl" || complain "the worker fails on the GPU"
grep '"event": "gpu"' "$out/worker.jsonl" || complain "the worker does not tell what its GPU did"
gpus=$(sed -n 's/.*"gpus": \([0-9]*\).*/\1/p' "$out/hardware.json")
if [ -z "$stub" ] && [ "${gpus:-1}" -ge 2 ]; then
    for r in 0 1; do
        RANK=$r LOCAL_RANK=$r WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29411 "$bin"/trainyard-worker --data "$work/data" --batch 64 \
            --steps 30 --device gpu --gpu-shape 4,2048,4096 --transport nccl --log "$out/nccl-worker.$r.jsonl" &
        pids+=($!)
    done
    for p in "${pids[@]}"; do wait "$p" || complain "a rank with NCCL ends with $?"; done
    pids=()
    [ "$(sed -n 's/.*"weights": "\([0-9a-f]*\)".*/\1/p' "$out"/nccl-worker.*.jsonl | sort -u | wc -l)" = 1 ] || complain "ranks with NCCL end with different weights"
fi
# A scenario on the GPU, with the measured profiles; it is read, simulated and played.
python3 - "$out" "$work/scenario.json" <<'PYTHON'
import json, os, sys
out = os.path.abspath(sys.argv[1])
cluster = {"nodes": [{"group": "n", "count": 1, "profile": out + "/hardware.json"}]}
if os.path.exists(out + "/kernels.json"):
    cluster["kernels"] = out + "/kernels.json"
jobs = [{"id": "a", "submit": "0s", "replicas": 1, "gpus": 1, "steps": 60, "checkpoint": {"interval": "2s"}, "step": {"compute": "20ms"}}]
json.dump({"trainyard": 1, "name": "gpu", "cluster": cluster, "workload": {"jobs": jobs}, "live": {"pace": False},
           "approaches": {"operator": {"lifecycle": "training-operator-v1", "admission": "fifo"}}}, open(sys.argv[2], "w"))
PYTHON
"$bin"/trainyard run "$work/scenario.json" -q >"$work/said" 2>&1 || complain "simulated: $(cat "$work/said")"
"$bin"/trainyard run "$work/scenario.json" --on gpu -o "$out/run" -F >"$work/said" 2>&1 || complain "--on gpu: $(cat "$work/said")"
grep -q '"back_end": "gpu"' "$out/run/run.json" || complain "the run does not say that it was the GPU's"
grep -q '^a,succeeded' "$out/run/jobs.csv" || complain "the job has not succeeded: $(cat "$out/run/jobs.csv")"

took=$((SECONDS - begin))
[ $took -lt 240 ] || complain "took $took s, not below 240"
[ $bad = 0 ] && echo "gpu: measured, trained and written in $took s: $out"
exit $bad
