#!/bin/bash
# kills.sh - training that is killed at random ends with the weights of training that was not.
#
#     tests/live/kills.sh WORKER [KILLS] [SEED] [STORE]       KILLS 200, SEED 1; without STORE a directory
#
# STORE is s3://BUCKET/PREFIX of a server that the caller has started with tests/live/s3_server.sh, and ends.
# Three ranks train a small model and save every few steps, in turns with rank 0 or all ranks writing, waiting or not. After
# a random time a random rank, or all, get SIGKILL; those left must end by themselves with 4; then all are started again, until
# training is done. Each life so has one kill, in training, in a save or in the start. At the end: the same weights, bit for bit, as
# without kills, never a word of a damaged checkpoint, nothing left half-made.
#
# SPDX-License-Identifier: GPL-3.0-or-later
worker=${1:-bin/trainyard-worker} kills=${2:-200} seed=${3:-1} store=$4
ranks=3
dir=$(mktemp -d) || exit 2
. "$(dirname "$0")/port.sh"
case $store in
    "") store=$dir ;;
    s3://runs/*) . "$(dirname "$0")/s3_server.sh" ;;
    *) echo "kills: $store: the server's bucket is s3://runs" >&2; exit 2 ;;
esac
declare -a pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
RANDOM=$seed
fail() { echo "kills: $* (seed $seed, kill $done_kills, $style)" >&2; cat "$dir"/err* >&2; exit 1; }

"$worker" --make-data "$dir/data" --samples 2000 --features 16 || exit 1
steps=1500 in_saves=0
[ "$store" = "$dir" ] || { steps=350 in_saves=; } # a save takes longer there, and cannot be seen from here
common="--data $dir/data --hidden 24 --steps $steps --batch 64 --rate 0.01 --every 7 --keep 2 --log-every 100000"
common="$common --rendezvous-timeout 20s --collective-timeout 20s"

start() { # checkpoint folder, options ...
    local to=$1 port r
    port=$(free_port)
    shift
    pids=()
    for ((r = 0; r < ranks; r++)); do
        RANK=$r WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
            "$worker" $common --checkpoint "$to" "$@" >"$dir/out$r" 2>"$dir/err$r" &
        pids+=($!)
    done
}

weights() { sed -n 's/.*"weights": "\([0-9a-f]*\)".*/\1/p' "$dir/out0"; }

# Waits for all; sets `ended` to their exit codes.
finish() {
    ended=
    local p
    for p in "${pids[@]}"; do wait "$p" 2>/dev/null; ended="$ended $?"; done
    pids=()
}

# The two newest, and nothing half-made beside.
check_kept() {
    local left shards=1
    if [ "$store" = "$dir" ]; then
        left=$(find "$1" -name '*.partial' -o -name '*.old')
        [ -z "$left" ] && [ "$(ls "$1" | wc -l)" = 2 ] || fail "left behind: $(ls "$1")"
        rm -rf "$1"
    else
        case $style in *sharded*) shards=$ranks ;; esac
        left=$(s3_keys "${1#s3://runs/}/")
        [ "$(grep -c '\.manifest$' <<<"$left")" = 2 ] && [ "$(grep -c /shard- <<<"$left")" = $((2 * shards)) ] &&
            [ "$(wc -l <<<"$left")" = $((2 + 2 * shards)) ] || fail "left behind: $left"
    fi
}

a_training=$(((kills + 7) / 8)) # so that each way of saving gets its share
done_kills=0 lives=0 trainings=0
styles=("" "--sharded" "--async" "--sharded --async")
style=undisturbed
start "$dir/reference"
finish
[ "$ended" = " 0 0 0" ] || fail "undisturbed training ends with$ended"
reference=$(weights)
[ -n "$reference" ] || fail "undisturbed training names no weights"

while [ $done_kills -lt "$kills" ]; do
    style=${styles[$((trainings % 4))]}
    to=$store/saved$trainings of_this=0
    while :; do
        start "$to" $style
        lives=$((lives + 1))
        if [ $done_kills -lt "$kills" ] && [ $of_this -lt $a_training ]; then
            sleep 0.$(printf %03d $((20 + RANDOM % 250)))
            victim=$((RANDOM % (ranks + 1)))
            [ -n "$in_saves" ] && compgen -G "$to/*.partial" >/dev/null && in_saves=$((in_saves + 1))
            if [ $victim = $ranks ]; then kill -9 "${pids[@]}" 2>/dev/null; else kill -9 "${pids[$victim]}" 2>/dev/null; fi
        fi
        finish
        grep -hE 'damaged|cut off|no shard|does not follow|another' "$dir"/err* && fail "a torn checkpoint was seen"
        case $ended in
            " 0 0 0") break ;;
            *137*) done_kills=$((done_kills + 1)) of_this=$((of_this + 1)) ;;
            *) fail "ends with$ended though nothing was killed" ;;
        esac
        for code in $ended; do
            case $code in 0 | 4 | 137) ;; *) fail "a rank ends with $code" ;; esac
        done
    done
    [ "$(weights)" = "$reference" ] || fail "other weights: $(weights), not $reference"
    check_kept "$to"
    trainings=$((trainings + 1))
done
echo "kills: $done_kills kills in $lives lives of $trainings trainings${in_saves:+, $in_saves with a save under way}; always the same weights"
