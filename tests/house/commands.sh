#!/bin/bash
# commands.sh - the commands as people call them: exit codes, and that results go to stdout and messages to stderr.
#
#     tests/house/commands.sh TRAINYARD
#
# SPDX-License-Identifier: GPL-3.0-or-later
program=${1:-bin/trainyard}
tiny=tests/study/tiny.json # its waits are worked out in its head: strict 0, 99, 148 s; skip 0, 99, 0 s
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
export TMPDIR=$out/tmp
mkdir "$TMPDIR"
bad=0 n=0

expect() { # exit code, pattern on stdout ("" none), pattern on stderr ("" none), arguments ...
    local code=$1 stdout=$2 stderr=$3
    shift 3
    n=$((n + 1))
    "$program" "$@" >"$out/stdout" 2>"$out/stderr" </dev/null
    local got=$?
    [ $got = "$code" ] || { echo "commands: $*: exit $got, not $code" >&2; bad=1; }
    for stream in stdout stderr; do
        if [ -z "${!stream}" ]; then
            [ ! -s "$out/$stream" ] || { echo "commands: $*: $stream is not empty: $(head -1 "$out/$stream")" >&2; bad=1; }
        elif ! grep -q -- "${!stream}" "$out/$stream"; then
            echo "commands: $*: no \"${!stream}\" on $stream" >&2; bad=1
        fi
    done
}

two=(-a strict -a skip)
expect 0 "In plain words: skip against strict" "" compare $tiny "${two[@]}"
expect 0 '"trainyard_compare": 1' "" compare $tiny "${two[@]}" --format json
expect 0 '^"metric","mean_wait"' "" compare $tiny "${two[@]}" --format csv
expect 0 "skip" "" compare $tiny "${two[@]}" --fail-if 'mean_wait>1x'
expect 1 "skip" "failed: mean_wait<0.5x holds for skip" compare $tiny "${two[@]}" --fail-if 'mean_wait<0.5x' # 33 of 82.3
expect 1 "strict" "failed: mean_wait>2x holds for strict" compare $tiny "${two[@]}" --base skip --fail-if 'mean_wait>2x'
expect 0 "no interval" "undecided" compare $tiny "${two[@]}" -n 1 --fail-if 'mean_wait<0.5x'
expect 2 "" "did you mean" compare $tiny --fail-if 'mean_wai<0.5x'
expect 2 "" "nothing to compare" compare $tiny -a strict
expect 2 "" "no approach" compare $tiny --base stric
expect 3 "" "there is no approach" compare $tiny -a stric -a skip
expect 3 "" "No such file" compare "$out/none.json"
expect 4 "" "no run here" compare docs
expect 0 "skip" "" compare $tiny "${two[@]}" -o "$out/runs"
expect 4 "" "--force" compare $tiny "${two[@]}" -o "$out/runs"
expect 0 "In plain words" "" compare "$out/runs"
expect 0 "Exactly the same" "" compare "$out/runs/skip" "$out/runs/skip"
expect 1 "skip" "failed" compare "$out/runs/strict" "$out/runs/skip" --fail-if 'mean_wait<-40s'
expect 2 "" "these are runs already" compare "$out/runs" -n 3
expect 0 "No constant that was tried turns the p50_wait" "" compare $tiny "${two[@]}" --flips=p50_wait # batch policies read none
expect 0 '"trainyard_flips": 1' "" compare $tiny "${two[@]}" --flips --format json
expect 0 "^constant,unit,metric" "" compare $tiny "${two[@]}" --flips --format csv
expect 2 "" 'did you mean "p50_wait"' compare $tiny --flips=p50_wai
expect 2 "" 'is not known; trainyard report' compare $tiny --flips=zzzzzzzzzzzz
expect 2 "" "choose them with --approach" compare $tiny --flips
expect 2 "" "goes with --flips" compare $tiny --budget 10s
expect 2 "" "takes a duration" compare $tiny --flips --budget x
expect 2 "" "these are runs already" compare "$out/runs" --flips
expect 2 "" "takes one SCENARIO" compare $tiny --flips -o "$out/x"
[ -s "$out/runs/compare.json" ] || { echo "commands: no compare.json" >&2; bad=1; }
expect 0 "came free when job b ended" "" explain "$out/runs/strict/0" c
expect 0 "Where the GPU time went" "first replication of each approach" explain "$out/runs"
expect 4 "" "none" explain "$out/none"
expect 3 "" "no job" explain "$out/runs/strict/0" d
expect 0 "no steps to show" "" explain --series "$out/runs/strict/0" c
expect 3 "" "no job" explain --series "$out/runs/strict/0" d
expect 2 "" "needs a JOB" explain --series "$out/runs/strict/0"
expect 0 "MASTER_ADDR=tune-3-master-0" "" explain --env scenarios/two-teams.json tune-3
expect 2 "" "needs a JOB" explain --env scenarios/two-teams.json
expect 0 "Who used the GPUs" "" report "$out/runs"
expect 0 '"trainyard_report": 1' "" report "$out/runs" --format json
expect 0 '^"skip","metric","mean_wait","","s",33,33,33,2$' "" report "$out/runs" --format csv # waits 0, 99, 0 twice
expect 2 "" "RUN is missing" report
expect 0 "skip" "" run $tiny -a skip -n 1 -o "$out/hurt" --quiet -r full
hurt=$(find "$out/hurt" -name timeline.bin)
printf X | dd of="$hurt" bs=1 seek=$(($(stat -c %s "$hurt") / 2)) conv=notrunc status=none
expect 0 "Who used the GPUs" "timeline.bin: after 0 records, at byte [0-9]*: the block's checksum is wrong" report "$out/hurt"
expect 0 "[Pp]assed\|PASSED" "timeline.bin: after 0 records" validate "${hurt%/*}" "${hurt%/*}"
expect 0 "utili" "timeline.bin: after 0 records" explain "$out/hurt"
expect 0 "^\[" "timeline.bin: after 0 records" explain "$out/hurt" --format json
expect 0 "^approach," "timeline.bin: after 0 records" export "$out/hurt" --to csv -o -
expect 3 "" "the timeline is damaged" calibrate "${hurt%/*}" -o "$out/hurt.json"
[ ! -e "$out/hurt.json" ] || { echo "commands: calibrate wrote a profile of a damaged run" >&2; bad=1; }
expect 0 "^</html>" "" report "$out/runs" -o -
expect 0 "" "" report "$out/runs" -o "$out/report.html"
grep -q "<h3>skip against strict</h3>" "$out/report.html" || { echo "commands: report -o wrote no page" >&2; bad=1; }
expect 4 "" "none/x.html" report "$out/runs" -o "$out/none/x.html"
expect 4 "" "no run here" report docs
expect 4 "" "no approach \"stric\"" report "$out/runs" -a stric
expect 0 "^strict,0,c,succeeded" "" export "$out/runs" --to csv -o -
expect 0 "" "" export "$out/runs" --to csv -o "$out/csv"
for table in jobs ledger timeline nodes; do
    [ "$(wc -l <"$out/csv/$table.csv" 2>/dev/null)" -gt 1 ] || { echo "commands: $table.csv is empty" >&2; bad=1; }
done
expect 4 "" "holds a run" export "$out/runs" --to csv -o "$out/runs/strict/0"
cp -r "$out/runs/strict/0" "$out/cut" && : >"$out/cut/jobs.csv"
expect 0 "^approach" "cut off" export "$out/cut" --to csv -o -
expect 0 '"traceEvents"' "" export "$out/runs" --to perfetto -o -
expect 0 "^strict,0,a,succeeded" "" export "$out/runs" --to csv --range 0:10s -o -
expect 2 "" "must begin before it ends" export "$out/runs" --to csv --range 6h:1h -o -
expect 2 "" "none of a --range" export "$out/runs" --to csv --table ledger --range 0:6h -o -
expect 2 "" "--range goes with --to csv" export $tiny --to manifests --range 0:6h -o -
expect 2 "" "needs --context" run $tiny -a strict --on kubernetes -o "$out/k"
expect 2 "" "go with --on kubernetes" run $tiny --dry-run
expect 2 "" "no SCENARIO" run $tiny --on kubernetes --context x --cleanup -o "$out/k"
expect 3 "" 'admission "fifo" has no controller' run $tiny -a strict --on kubernetes --context x --kubeconfig "$out/none" -o "$out/k"
printf '{ "trainyard": 1, "cluster": { "nodes": [{ "group": "g", "count": 1, "gpus": 8 }] }, "approaches": { "a": { "lifecycle": "batch-job" } } }' > "$out/empty.json"
expect 3 "" "none: cannot open" run "$out/empty.json" --on kubernetes --context x --kubeconfig "$out/none" -o "$out/k"
printf 'contexts: [{ name: lab, context: { cluster: c } }]\nclusters: [{ name: c, cluster: { server: "http://127.0.0.1:1" } }]\n' > "$out/config"
expect 3 "" 'there is no context "labb"' run "$out/empty.json" --on kubernetes --context labb --kubeconfig "$out/config" -o "$out/k"
expect 3 "" "kubernetes.json" run --on kubernetes --context lab --kubeconfig "$out/config" --cleanup -o "$out/k"
expect 2 "" "needs --context" import cluster -o "$out/x.json"
expect 2 "" "takes no file" import cluster $tiny --context x -o "$out/x.json"
expect 3 "" 'there is no context "labb"' import cluster --context labb --kubeconfig "$out/config" -o "$out/x.json"
expect 0 "^kind: Job" "" export $tiny --to manifests -o -
expect 2 "" "go with --to manifests" export "$out/runs" --to csv -a strict -o -
expect 3 "" "No such file" export "$out/none.json" --to manifests -o -
expect 2 "" "there are: csv, perfetto, manifests" export "$out/runs" --to xml -o "$out/csv"
# 530e9 x 12 bytes over 2.5 GB/s: 2544 s; Daly's formula for C 60, M 10800, D 120, R 300 at 3600 s: 4529.0666 s, 0.7948658
expect 0 '"save_s": 2544,' "" checkpoint --parameters 530B --optimizer adam-universal --write 20Gbps --format json
expect 0 '^asked,3600,4529.0666[0-9]*,0.7948657' "" checkpoint --save 60s --load 5m --down 2m --restart 0 --mtbf 3h -i 1h -f csv
expect 0 "exact .* 18.3 min" "" checkpoint --save 60s --mtbf 3h --plot "$out/goodput.svg"
grep -q "</svg>" "$out/goodput.svg" || { echo "commands: checkpoint --plot drew nothing" >&2; bad=1; }
expect 0 "one save is under way at a time" "" checkpoint --model llama2-70b --gpus 512 --write 2GB/s --async --mtbf 8h
expect 2 "" "a save takes" checkpoint --model llama2-70b --gpus 512 --write 2GB/s --async --mtbf 8h --interval 1m
# Llama 3: 356 of its 419 interruptions are hardware, in 54 days on 16,384 GPUs: 3.64 h
expect 0 "every  *3.64 h" "" checkpoint --parameters 405B --gpus 16384 --write 100GB/s --failures llama3-h100
expect 3 "" "no failures profile" checkpoint --parameters 405B --write 100GB/s --failures llama4
expect 2 "" "either --mtbf or --failures" checkpoint --save 60s --mtbf 3h --failures llama3-h100
expect 2 "" "what is saved" checkpoint
expect 2 "" "how fast is it written" checkpoint --size 1TB
expect 2 "" 'did you mean "adam-mixed"' checkpoint --parameters 1B --write 1GB/s --optimizer adam-mixd
expect 2 "" "takes a duration" checkpoint --save 5x
expect 2 "" "--save takes more than 0" checkpoint --save 0
expect 2 "" "--load takes more than 0" checkpoint --save 60s --load 0
expect 2 "" "--mtbf takes more than 0" checkpoint --save 60s --mtbf 0
expect 2 "" "--interval takes more than 0" checkpoint --save 60s --mtbf 3h --interval 0
expect 0 "the fastest of [0-9]* divisions that fit" "" step --model llama2-70b --gpus 64
expect 0 "optimizer .* overflows" "" step --model llama2-7b --gpus 8 --zero 0 # 6.738e9 x (2 + 2 + 12) bytes
expect 0 '"weights_bytes": 13476831232,' "" step --model llama2-7b --gpus 8 --zero 0 --format json
expect 0 "^1024,16,8,8,2,1,1,1,512," "" step -m gpt3-175b -g 1024 --tensor 8 --pipeline 8 --interleave 2 --zero 1 --batch 512 -f csv
expect 0 "tensor" "" step -m llama2-70b -g 64 --plot "$out/step.svg"
grep -q "</svg>" "$out/step.svg" || { echo "commands: step --plot drew nothing" >&2; bad=1; }
expect 0 "^gpt3-175b .* 174.6 B" "" step --list
expect 0 "fits" "" step -m mpt-7b -g 64 --kernels llm-foundry
expect 3 "" "^--kernels: there is no kernels profile" step --kernels none
expect 3 "" "no such file" step --kernels none.json
expect 3 "" "none is shipped; give a file" step --collectives none
expect 3 "" "^--zero: 4 is out of range" step --zero 4
expect 2 "" "known are a100_80gb" step --gpu h1000
expect 0 "fp8" "does not compute in 8 bits" step --gpu a100 --precision fp8
expect 2 "" 'did you mean "llama2-70b"' step --model llama-70b
expect 2 "" "one of --gpu and --hardware" step --gpu h200 --hardware h100-sxm-8
expect 3 "" "does not make 7 GPUs" step --gpus 7 --tensor 2
expect 2 "" "--overlap takes a number" step --overlap x
expect 3 "" "^--micro: 513 samples at a time, of a batch of 512" step --batch 512 --micro 513
expect 3 "" "^--run: 16 ranks share no node of 8 GPUs" step --run 16
expect 0 "fits" "" step --gpus 4 --run 8
expect 3 "" "there is no hardware profile" step --hardware h100
[ "$(grep -c '^[0-9]* error' "$out/stderr")" = 1 ] || { echo "commands: a wrong --hardware is followed by other errors" >&2; bad=1; }
expect 2 "" "standard output carries the result" step --plot -
expect 2 "" "standard output carries the result" checkpoint --save 60s --mtbf 3h --plot -
expect 2 "" "standard output carries the result" collective --plot -
expect 4 "fits" "cannot" step --plot "$out/none/step.svg"
expect 2 "" "needs --mtbf" checkpoint --save 60s --plot "$out/x.svg"
expect 4 "Checkpoint" "none/x.svg" checkpoint --save 60s --mtbf 3h --plot "$out/none/x.svg"
expect 0 "h100-sxm-8" "" profiles hardware
expect 2 "" "no kind of profile" profiles hardwar
steps=$out/steps.csv
printf 'gpu,model,n_gpus,seqlen,microbatch,grad_accum,act_ckpt,derived_step_time_s\na100_80gb,7b,8,2048,8,2,True,12\n' >"$steps"
cut -d, -f1-3,5-8 "$steps" >"$out/brief.csv" # without seqlen
expect 0 "^1," "brief.csv: 1 of 1 rows do not say seqlen" calibrate step --train "$steps" --predict "$out/brief.csv" --format csv
expect 0 "^row,predicted_step_s" "" calibrate step --train "$steps" --predict "$steps" --format csv
expect 0 "measured steps, fitted" "" calibrate step --train "$steps" --predict "$steps"
expect 0 '"predicted_step_s"' "" calibrate step --train "$steps" --predict "$steps" --format json
expect 0 '"activation_bytes"' "" calibrate step --train "$steps" -o -
expect 0 "" "" calibrate step --train "$steps" -o "$out/kernels.json"
expect 0 "llm-foundry" "" profiles kernels
expect 2 "" "train CSV is missing" calibrate step
mkdir "$out/no-cuda"
echo '{ "trainyard": 1, "name": "one", "cluster": { "nodes": [{ "group": "n", "count": 1, "gpus": 1 }] }, "live": {},
  "workload": { "jobs": [{ "id": "a", "submit": "0s", "replicas": 1, "gpus": 1, "steps": 3, "step": { "compute": "1ms" } }] },
  "approaches": { "operator": { "lifecycle": "training-operator-v1", "admission": "fifo" } } }' >"$out/one.json"
TRAINYARD_CUDA_LIB=$out/no-cuda expect 4 "" "no GPU: the CUDA runtime cannot be loaded" calibrate gpu -o "$out/measured"
TRAINYARD_CUDA_LIB=$out/no-cuda expect 4 "" "no GPU: the CUDA runtime cannot be loaded" run "$out/one.json" --on gpu -o "$out/on-gpu"
[ ! -e "$out/on-gpu" ] || complain "run --on gpu without a GPU begins a run"
expect 2 "" "duration such as 90s" calibrate gpu --time soon
expect 2 "" "--train takes one table" calibrate step --train "$steps" --train "$out/brief.csv" --predict "$steps"
expect 2 "" "--predict takes one table" calibrate placements --train "$steps" --predict "$out/brief.csv" --predict "$steps"
expect 3 "" "cannot read: Is a directory" calibrate step --train "$out" --predict "$steps"
expect 2 "" "is missing" calibrate step --train "$steps"
expect 3 "" "No such file" calibrate step --train "$out/none.csv" --predict "$steps"
expect 4 "" "No such file" calibrate step --train "$steps" -o "$out/none/profile.json"
expect 2 "" "did you mean" compar
expect 2 "" "strict is given twice" run $tiny -a strict -a strict
expect 2 "" "is empty" run $tiny -o ""
expect 0 "^fresh .* complete" "" run $tiny -a fresh -s '/approaches/fresh={"admission":"fifo"}' -s /run/warmup=1s
expect 3 "" "no approach \"strict\"" run $tiny -a strict -s /approaches/strict=null
expect 0 "^default " "" run $tiny -s /approaches=null
expect 3 "" "no name for an approach" run $tiny -s '/approaches/..={}' -o "$out/named"
[ ! -e "$out/run.json" ] || { echo "commands: a run escaped its directory" >&2; bad=1; }
expect 0 '^"a,""b",0,complete' "" run $tiny -n 1 --format csv -a 'a,"b' -s '/approaches/a,"b={"admission":"fifo"}'
expect 3 "" "POINTER=VALUE" run $tiny -s /run/seed
expect 0 "^strict .* complete" "" run $tiny -a strict -n 1 --pace 100000x
expect 2 "" "takes a speed" run $tiny --pace fast
expect 3 "" "^1 error in" run $tiny -s '/faults={"script":[{"at":"1s","target":"job/a","action":"scale","replicas":-1}]}' # not: and none is given
expect 2 "" "needs --output" run $tiny --view
expect 2 "" "not --record none" run $tiny --view -o "$out/viewed" -r none
expect 0 "trainyard-view" "" view --help
mkdir "$out/bare" && cp "$program" "$out/bare/" # without the viewer beside it
(PATH=$out; "$out/bare/trainyard" view "$out/runs" 2>"$out/stderr"; [ $? = 4 ]) && grep -q "make install" "$out/stderr" ||
    { echo "commands: view says nothing without its viewer" >&2; bad=1; }
mkdir "$out/mine" && cp $tiny "$out/mine/scenario.json"
expect 4 "" "no run's" run "$out/mine/scenario.json" -a strict -n 1 -o "$out/mine" --force # its own input
cmp -s $tiny "$out/mine/scenario.json" || { echo "commands: a run replaced the user's scenario" >&2; bad=1; }
"$program" run - <$tiny >"$out/stdin" && "$program" run $tiny >"$out/file" # all approaches from one stdin
cmp -s "$out/stdin" "$out/file" || { echo "commands: \"-\" runs otherwise than the file" >&2; bad=1; }
[ -z "$(ls "$TMPDIR")" ] || { echo "commands: left in TMPDIR: $(ls "$TMPDIR")" >&2; bad=1; }
log=tests/fuzz/corpus/failure_log/observed.csv # 10 failures of 63 nodes in 55 days, three of them one incident: 8 / 3.465
expect 0 "2.31 failures per 1,000 node-days" "" calibrate failures $log
expect 0 '"gpu",gpu,8,1,4,4,' "" calibrate failures $log --format csv
expect 0 '"scope": "rack"' "" calibrate failures $log -o -
expect 3 "" "how many nodes were observed" calibrate failures tests/house/failures.csv --from 0 --until 1d
expect 3 "" "when the observation begins" calibrate failures tests/house/failures.csv --nodes 4
expect 3 "" "none.csv" calibrate failures $out/none.csv
expect 2 "" "LOG is missing" calibrate failures

expect 0 "21.0 failures per 1,000 node-days" "" failures --profile meta-rsc1
expect 0 '^8,1,36921600,' "" failures --profile meta-rsc2 --gpus 8 --format csv
expect 0 '"useful": 0.9' "" failures --profile meta-rsc2 --gpus 8,1024 --format json
expect 0 "MTTF, jobs of 8 GPUs  *jobs of 1,024 GPUs  *42.1 d  *47.7 d  *-11.7 % met" "" failures --published
expect 2 "" "is missing" failures
expect 2 "" "takes no --profile" failures --published --profile meta-rsc1
expect 2 "" "whole number" failures --profile meta-rsc1 --gpus 8,none
expect 3 "" "did you mean" failures --profile meta-rsc3

table=tests/fuzz/corpus/collective_table/nccl.txt # an all-reduce of 4 ranks on two hosts
expect 0 "^8,tree,ll,35.2" "" collective --network ib-ndr-400 --nodes 4 --sizes 8,1MiB --format csv # 6.8 + 2 (7 x 0.6 + 2 x 5) us
expect 0 "nvls-tree" "" collective --network ib-ndr-400 --nodes 2 --plot "$out/bus.svg"
grep -q "<svg" "$out/bus.svg" || { echo "commands: collective drew no picture" >&2; bad=1; }
expect 0 '"trainyard_collective": 1' "" collective --op all-to-all --nodes 2 --format json
expect 0 "recursive-doubling" "" collective --hardware cpu-64 --nodes 2 --sizes 8
expect 0 "4 nodes x 8 ranks of h100-sxm-8 with 32 efa cards" "" collective --nodes 4 --sizes 8
expect 0 "ring" "not done by the algorithms asked for" collective --algorithm pat --sizes 8
expect 2 "" "did you mean" collective --op all-reduc
expect 2 "" "goes without" collective --calibration x.json --hardware h100-sxm-8
expect 3 "" "there is no hardware profile" collective --hardware h100-smx-8
expect 3 "" "on a node of 8 GPUs" collective --ranks-per-node 9
expect 3 "" "no sizes" collective --sizes ,
expect 3 "" "9 GPUs of a process on a node of 8 ranks" collective --gpus-per-process 9
expect 3 "" "none" collective --calibration "$out/none.json"
expect 0 "^size_bytes,predicted_us" "fitted within" calibrate collective --train $table --predict 8,1MiB --format csv
expect 0 "predicted us" "channels full at [0-9.e+]* B\|words at [0-9.e+]* GB/s\|buffers start in [0-9.e+]* us" calibrate collective --train $table --predict 8
expect 0 '"predicted_us"' "most like 2 x 2" calibrate collective --train $table --predict 8,1MiB --nodes 4 --format json
expect 0 "" "most like" calibrate collective --train $table --ranks 4 -o "$out/measured.json"
expect 0 "2 nodes x 2 ranks" "" collective --calibration "$out/measured.json" --sizes 8,1MiB
cp $table "$out/a100_8_other.csv" # a name says nothing
"$program" calibrate collective --train $table --predict 8,64KiB,1MiB --nodes 8 --format csv >"$out/here" 2>/dev/null
"$program" calibrate collective --train "$out/a100_8_other.csv" --predict 8,64KiB,1MiB --nodes 8 --format csv >"$out/there" 2>/dev/null
[ -s "$out/here" ] && cmp -s "$out/here" "$out/there" || { echo "commands: a renamed table predicts something else" >&2; bad=1; }
expect 2 "" "FILE is missing" calibrate collective --predict 8
printf 'size_bytes,time_us\n8,25\n8,26\n16,27\n' >"$out/few.csv"
expect 0 "^1024," "2 sizes do not determine 4 numbers" calibrate collective --train "$out/few.csv" --predict 1KiB --format csv
expect 3 "" "can be 17 ranks$" calibrate collective --train tests/fuzz/corpus/collective_table/osu.txt --ranks 17 --nodes 4 --hardware l40s-1
expect 3 "" "no row of a collective" calibrate collective --train $tiny --predict 8
expect 3 "" 'did you mean "h100-sxm-8"' calibrate collective --train $table --nodes 4 --hardware h100-smx-8
expect 3 "" "say it: --ranks" calibrate collective --train tests/fuzz/corpus/collective_table/osu.txt --nodes 4
expect 3 "" "is no number\|suffix\|bytes" calibrate collective --train $table --predict 8,x

[ $bad = 0 ] && echo "commands: $n calls end and print as they should"
exit $bad
