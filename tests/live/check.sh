#!/bin/bash
# check.sh - make check-live: the product against real controllers, servers and processes, part by part (tests/live/checks).
#
#     tests/live/check.sh [--full] [--bin DIR] [--stub FILE] [PART ...]      default: all parts, in the settings for CI, of bin/
#
# The programs under test are copied first, so that a build meanwhile disturbs nothing. Each part ends with 0: passed; 77: skipped, its log
# says why; else failed, and the end of its log is shown. A part that is longer than its limit has failed, and nothing of it is left.
# LIVE_SECONDS (2100, with --full 10800) is the time for all: what is under way when it is up, or not begun, is skipped and says so.
# At the end a table: part, result, seconds. Ends with 0, 1 when a part has failed (logs are kept, and named), 77 when none has passed.
#
# SPDX-License-Identifier: GPL-3.0-or-later
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 2
bin=bin stub=build/tests/real/gpu/stub_cuda.so full= wanted=() all=()
while [ $# -gt 0 ]; do
    case $1 in
        --full) full=1 ;;
        --bin) bin=$2; shift ;;
        --stub) stub=$2; shift ;;
        -*) sed -n '4s/^# *//p' "$0" >&2; exit 2 ;;
        *) wanted+=("$1") ;;
    esac
    shift
done
seconds=${LIVE_SECONDS:-$([ -n "$full" ] && echo 10800 || echo 2100)}

# The rows of the table: part|needs|limit|command.
rows() {
    awk -F ' *[|] *' -v full="$full" '!/^#/ && NF {sub(/ *$/, "", $6); print $1 "|" $2 "|" (full ? $5 "|" $6 : $3 "|" $4)}' "$here/checks"
}
declare -A needs result took
while IFS='|' read -r part need _; do all+=("$part") needs[$part]=$need; done < <(rows)
[ ${#wanted[@]} -gt 0 ] || wanted=("${all[@]}")
for part in "${wanted[@]}"; do
    [ -n "${needs[$part]}" ] || { echo "check-live: there is no part $part: ${all[*]}" >&2; exit 2; }
    wanted+=("${needs[$part]}")
done

work=$(mktemp -d "${TMPDIR:-/tmp}/trainyard-live.XXXXXX") || { echo "check-live: skipped: no folder for logs in ${TMPDIR:-/tmp}"; exit 77; }
mkdir "$work/bin" && cp "$bin/trainyard" "$bin/trainyard-worker" "$stub" "$work/bin" && ln -s "$PWD/scenarios" "$work/scenarios" || exit 1

child=
trap 'rm -rf "$work"' EXIT
trap '[ -z "$child" ] || { kill -TERM $child; wait $child; "$here/stack.sh" sweep; }; exit 130' INT TERM

# Why a part was skipped.
reason() { { grep -E 'skipped: |^live: ' "$1" || cat "$1"; } | tail -1 | sed -E 's/^live: |^([a-z0-9]+: )?skipped: //'; }

# Sets result[PART]: "passed", "skipped: ..." or "FAILED ...". timeout's own process group has all of a part but the stacks, which sweep knows.
run() { # PART LIMIT COMMAND...
    local part=$1 limit=$2 left=$((seconds - SECONDS)) log=$work/$1.log begin=$SECONDS code
    shift 2
    [ $left -gt 0 ] || { result[$part]="skipped: the $seconds s for all parts are used up (LIVE_SECONDS)"; return; }
    echo "=== check-live: $part"
    PATH=$here:$PATH timeout -k 60 $((limit < left ? limit : left)) "$@" >"$log" 2>&1 </dev/null &
    child=$!
    wait $child
    code=$?
    child=
    took[$part]=$((SECONDS - begin))
    cat "$log"
    case $code in
        0) result[$part]=passed ;;
        77) result[$part]="skipped: $(reason "$log")" ;;
        124 | 137)
            "$here/stack.sh" sweep
            result[$part]="FAILED: not done within $limit s"
            [ $limit -lt $left ] || result[$part]="skipped: the $seconds s for all parts are used up (LIVE_SECONDS); what is built is kept"
            ;;
        *) result[$part]="FAILED: exit $code" ;;
    esac
}

while IFS='|' read -r part need limit command; do
    [[ " ${wanted[*]} " == *" $part "* ]] || continue
    if [ "$need" != - ] && [ "${result[$need]}" != passed ]; then
        result[$part]="skipped: $need: ${result[$need]#skipped: }"
        continue
    fi
    mkdir "$work/$part"
    command=${command//BIN/$work/bin}
    run "$part" "$limit" ${command//LOGS/$work/$part}
done < <(rows)

passed=0 failed=0 skipped=0
printf '\n%-12s %7s  %s\n' part seconds result
for part in "${all[@]}"; do
    [ -n "${result[$part]}" ] || continue
    printf '%-12s %7s  %s\n' "$part" "${took[$part]:--}" "${result[$part]}"
    case ${result[$part]} in passed) passed=$((passed + 1)) ;; skipped*) skipped=$((skipped + 1)) ;; *) failed=$((failed + 1)) ;; esac
done
if [ $failed -gt 0 ]; then
    trap - EXIT
    for part in "${all[@]}"; do
        [[ ${result[$part]} != FAILED* ]] || { echo "--- the end of $work/$part.log"; tail -n 20 "$work/$part.log"; }
    done
fi
echo "check-live: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] || exit 1
[ $passed -gt 0 ] || exit 77
