#!/bin/bash
# manual.sh - the manual pages are sound roff, (1) names every command and long option, (5) every key and constant; the
# completion works in bash.
#
#     tests/house/manual.sh TRAINYARD
#
# SPDX-License-Identifier: GPL-3.0-or-later
program=${1:-bin/trainyard}
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
bad=0
fail() { echo "manual: $*" >&2; bad=1; }

"$program" --print-man > "$out/trainyard.1" || fail "--print-man failed"
"$program" --print-man-scenario > "$out/trainyard-scenario.5" || fail "--print-man-scenario failed"
"$program" --print-bash-completion > "$out/trainyard.bash" || fail "--print-bash-completion failed"
for page in trainyard.1 trainyard-scenario.5; do
    if command -v man >/dev/null; then
        warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$out/$page" 2>&1 >/dev/null)
        [ -z "$warnings" ] || fail "man $page: $warnings"
    fi
    if command -v groff >/dev/null; then
        warnings=$(groff -ww -man -Tutf8 -Z "$out/$page" 2>&1 >/dev/null)
        [ -z "$warnings" ] || fail "groff $page: $warnings"
    fi
done
keys=0
while read -r key; do # every key and constant that the manual of the repository lists
    keys=$((keys + 1))
    grep -qF "\\fB${key//-/\\-}\\fR (" "$out/trainyard-scenario.5" || fail "trainyard-scenario(5) lacks $key"
done < <(sed -n 's/^| `\([^`]*\)` | .*/\1/p' docs/scenario.md | sort -u)
[ $keys -ge 200 ] || fail "only $keys keys were looked for"
# shellcheck disable=SC1091
source "$out/trainyard.bash" || fail "bash cannot read the completion"
compopt() { :; } # only allowed while bash completes

complete_words() { # words of the line ... -> COMPREPLY
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _trainyard
}
complete_words trainyard comp
[ "${COMPREPLY[*]}" = compare ] || fail "comp completes to: ${COMPREPLY[*]}"
complete_words trainyard ""
commands=0
for command in "${COMPREPLY[@]}"; do
    case $command in --*) continue ;; esac
    commands=$((commands + 1))
    grep -q "^.SS trainyard $command\$" "$out/trainyard.1" || fail "the manual lacks $command"
    complete_words trainyard "$command" --
    for option in $("$program" "$command" --help | grep -o -- ' --[a-z][a-z-]*' | sort -u); do
        case $option in --usage | --version) continue ;; esac
        printf '%s\n' "${COMPREPLY[@]}" | grep -qx -- "$option=\?" || fail "$command $option is not completed"
    done
done
[ $commands -ge 8 ] || fail "only $commands commands are completed"
[ $bad = 0 ] && echo "manual: $commands commands with all their options in manual and completion; $keys keys"
exit $bad
