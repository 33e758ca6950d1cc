#!/bin/bash
# s3.sh - checkpoints in an object store, against a real server that checks signatures and permissions.
#
#     tests/live/s3.sh WORKER [KILLS]        KILLS 200: of tests/live/kills.sh with that store; 0 leaves them out
#
# Saves and resumes with one and more writers, waited for or not; rolls back; keeps N; uploads in parts; errors: no key,
# wrong secret, no permission to write or to delete, no bucket, a store that goes away in mid-run and comes back. Skipped (77) where no server can be had.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
worker=${1:-bin/trainyard-worker} kills=${2:-200}
out=$(mktemp -d) || exit 2
. tests/live/s3_server.sh
declare -a pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; s3_stop; rm -rf "$out"' EXIT
s3_start "$out" || exit $?
bad=0 n=0
complain() { echo "s3: $*" >&2; bad=1; }

expect() { # exit code, pattern on stdout, pattern on stderr ("" none), arguments ...
    local code=$1 stdout=$2 stderr=$3 got
    shift 3
    n=$((n + 1))
    "$worker" --log-every 100000 "$@" >"$out/stdout" 2>"$out/stderr" </dev/null
    got=$?
    [ $got = "$code" ] || complain "$*: exit $got, not $code: $(head -3 "$out/stderr")"
    [ -z "$stdout" ] || grep -q -- "$stdout" "$out/stdout" || complain "$*: no \"$stdout\" on stdout: $(cat "$out/stdout")"
    if [ -z "$stderr" ]; then [ ! -s "$out/stderr" ] || complain "$*: $(cat "$out/stderr")"; else
        grep -q -- "$stderr" "$out/stderr" || complain "$*: no \"$stderr\" on stderr: $(cat "$out/stderr")"
    fi
}
keys_are() { # PREFIX, keys below it with the token taken out
    local got
    got=$(s3_keys "$1/" | sed "s|^$1/||; s|\.[0-9a-f]*/|.TOKEN/|" | tr '\n' ' ')
    [ "$got" = "$2 " ] || complain "$1 holds $got, not $2"
}
weights() { sed -n 's/.*"weights": "\([0-9a-f]*\)".*/\1/p' "$out/stdout"; }

"$worker" --make-data "$out/data" --samples 600 --features 8 --classes 3 || exit 1
train="--data $out/data --batch 100 --every 10 --keep 2"
expect 0 '"step": 40,' "" $train --steps 40 --checkpoint "$out/directory"
whole=$(weights)
expect 0 '"resumed_step": -1' "" $train --steps 20 --checkpoint s3://runs/a/b
keys_are a/b "step-0000000010.TOKEN/shard-0000-of-0001 step-0000000010.manifest step-0000000020.TOKEN/shard-0000-of-0001 step-0000000020.manifest"
expect 0 '"resumed_step": 20' "" $train --steps 40 --checkpoint s3://runs/a/b/
[ "$(weights)" = "$whole" ] || complain "training resumed from the store ends with other weights"
expect 0 '"resumed_step": 30' "" $train --steps 40 --resume 30 --async --checkpoint s3://runs/a/b
[ "$(weights)" = "$whole" ] || complain "training rolled back ends with other weights"
expect 3 "" "no such checkpoint\|is not there" $train --steps 40 --resume 11 --checkpoint s3://runs/a/b
expect 3 "" "of another model" $train --steps 40 --hidden 4 --checkpoint s3://runs/a/b
expect 0 '"resumed_step": -1' "" $train --steps 10 --checkpoint s3://runs

# Three writers, each its part; one rank goes on from what they wrote.
port=$(free_port)
for r in 0 1 2; do
    RANK=$r WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$worker" $train --steps 20 --sharded --async \
        --checkpoint s3://runs/sharded --log-every 100000 >"$out/out$r" 2>"$out/err$r" &
    pids+=($!)
done
for p in "${pids[@]}"; do wait "$p" || complain "of three writers one ends with $?: $(cat "$out"/err?)"; done
pids=()
in=step-0000000020.TOKEN
s3_keys sharded/step-0000000020 | grep -c shard- | grep -qx 3 || complain "three writers leave $(s3_keys sharded)"
expect 0 '"resumed_step": 20' "" $train --steps 30 --checkpoint s3://runs/sharded

# Above 16 MiB in parts: 4 M parameters and as many momenta are 32 MiB.
"$worker" --make-data "$out/wide" --samples 20 --features 2000 --classes 2 || exit 1
wide="--data $out/wide --batch 2 --hidden 2100 --keep 1 --checkpoint s3://runs/wide"
expect 0 '"ok": true' "" $wide --steps 1
expect 0 '"resumed_step": 1' "" $wide --steps 2
keys_are wide "step-0000000002.TOKEN/shard-0000-of-0001 step-0000000002.manifest"

# What does not go, and what is said.
AWS_ACCESS_KEY_ID= expect 3 "" "AWS_ACCESS_KEY_ID is not set" $train --checkpoint s3://runs/e
AWS_ENDPOINT_URL=ftp://x expect 3 "" "is no http" $train --checkpoint s3://runs/e
AWS_ACCESS_KEY_ID=AKIANONE expect 4 "" "does not know this key" $train --checkpoint s3://runs/e
AWS_SECRET_ACCESS_KEY=wrong expect 4 "" "refuses the signature" $train --checkpoint s3://runs/e
AWS_ACCESS_KEY_ID=$reader_key AWS_SECRET_ACCESS_KEY=$reader_secret expect 4 '"ok": false' "step 10: access is denied" $train --steps 10 --checkpoint s3://runs/e
keeper() { AWS_ACCESS_KEY_ID=$keeper_key AWS_SECRET_ACCESS_KEY=$keeper_secret expect "$@"; }
keeper 0 '"ok": true' "no longer needed stays: access is denied" $train --steps 40 --checkpoint s3://runs/keeps
grep -q '"ok": false' "$out/stdout" && complain "a key that may not delete fails saves"
[ "$(grep -c "access is denied" "$out/stderr")" = 1 ] || complain "that a key may not delete is told more than once: $(cat "$out/stderr")"
[ "$(s3_keys keeps | grep -c manifest)" = 4 ] || complain "a key that may not delete leaves $(s3_keys keeps)"
expect 4 "" "no such bucket" $train --checkpoint s3://nobody/e
expect 3 "" "is no place in an object store" $train --checkpoint "s3://runs/a b"
AWS_ENDPOINT_URL=http://127.0.0.1:9 AWS_MAX_ATTEMPTS=2 expect 4 "" "does not answer" $train --checkpoint s3://runs/e
expect 0 '"ok": true' "the store is down" $train --steps 70 --fault store-down@9:100ms --pace 20ms --checkpoint s3://runs/down

# The store goes away: saves fail and training goes on; it stands still, and is back: saves are kept again.
AWS_MAX_ATTEMPTS=2 "$worker" $train --steps 100000 --pace 5ms --checkpoint s3://runs/away --log-every 100000 >"$out/stdout" 2>"$out/stderr" &
pids=($!)
await() { # pattern in stdout, that many times
    local i
    for ((i = 0; i < 600; i++)); do [ "$(grep -c "$1" "$out/stdout")" -ge "$2" ] && return; sleep 0.1; done
    complain "no $2 times $1 within a minute"
}
await '"ok": true' 1
kill -STOP $s3_pid
sleep 1
kill -CONT $s3_pid
await '"ok": true' $(($(grep -c '"ok": true' "$out/stdout") + 2))
grep -q '"ok": false' "$out/stdout" && complain "a store that stands still for a second fails a save"
s3_stop
await '"ok": false' 2
kill -0 "${pids[0]}" || complain "training ends when the store goes away: $(cat "$out/stderr")"
grep -q "cannot write the checkpoint of step .*does not answer" "$out/stderr" || complain "a store that is away is not told: $(cat "$out/stderr")"
kill -TERM "${pids[0]}"
wait "${pids[0]}"
[ $? = 4 ] || complain "training whose last save fails does not end with 4"
pids=()
s3_start "$out" || exit 1
if [ "$kills" != 0 ]; then bash tests/live/kills.sh "$worker" "$kills" 1 s3://runs/kills || bad=1; fi
[ $bad = 0 ] && echo "s3: $n calls and a store that goes away end as they should"
exit $bad
