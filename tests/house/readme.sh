#!/bin/bash
# readme.sh - the output that README.md shows is what the program prints: the plain words of the demo and some rows.
#
#     tests/house/readme.sh [TRAINYARD]        compares
#     tests/house/readme.sh --write            puts the present output there, after a change that is meant
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
write=
[ "$1" = --write ] && { write=1; shift; }
program=${1:-bin/trainyard}
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
begin='    $ trainyard compare scenarios/demo.json'
"$program" compare scenarios/demo.json --quiet > "$out/all" || { echo "readme: the demo fails" >&2; exit 1; }
{
    echo "$begin"
    echo '    ...'
    sed -n '/^In plain words/,/^$/p' "$out/all" | sed '/^$/d; s/^/    /'
    echo '    ...'
    grep -E '^(Metric|mean_wait|p50_wait|p95_wait|mean_jct|goodput|waste) ' "$out/all" | sed 's/^/    /'
    echo '    ...'
} > "$out/excerpt"
awk -v begin="$begin" '$0 == begin { on = 1 } on && !/^    / { exit } on' README.md > "$out/shown"
if [ -n "$write" ]; then
    [ -s "$out/shown" ] || { echo "readme: README.md has no line \"$begin\"" >&2; exit 1; }
    awk -v begin="$begin" -v with="$out/excerpt" '
        $0 == begin { while ((getline line < with) > 0) print line; on = 1 }
        on && !/^    / { on = 0 }
        !on' README.md > "$out/README.md" && cp "$out/README.md" README.md
    exit
fi
if ! diff "$out/shown" "$out/excerpt" > "$out/diff"; then
    echo "readme: README.md (<) does not show what the demo prints (>); if that is meant: tests/house/readme.sh --write" >&2
    head -20 "$out/diff" >&2
    exit 1
fi
echo "readme: $(wc -l < "$out/shown") lines as the demo prints them"
