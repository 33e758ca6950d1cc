#!/bin/bash
# run.sh - seeds each fault of list.txt in turn, and demands that a test fails.
#
#     make check-mutations                     (CC, FLAGS, LIBS and BUILD come from there)
#     tests/mutations/run.sh NAME...           only these
#
# The faulty file is compiled alone and linked before the library, whose own copy is then not taken: a second or so each.
# Prints CAUGHT (by which test) or ESCAPED; exit 1 when any escapes or does not apply.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2
BUILD=${BUILD:-build-mut}
list=tests/mutations/list.txt
mkdir -p "$BUILD/mutations"

# Writes the file with the fault: the block of '-' lines, which must occur once, becomes the block of '+' lines.
seed() { # NAME FILE OUT
    perl -e '
        my ($list, $name, $file, $out) = @ARGV;
        my ($old, $new, $on) = ("", "", 0);
        open(my $l, "<", $list) or die; while (<$l>) {
            if (/^== (\S+) /) { $on = $1 eq $name; next }
            next unless $on;
            if (/^-(.*\n)/) { $old .= $1 } elsif (/^\+(.*\n)/) { $new .= $1 }
        }
        local $/; open(my $f, "<", $file) or die; my $text = <$f>;
        my $at = index($text, $old);
        exit 1 if $old eq "" || $at < 0 || index($text, $old, $at + 1) >= 0;
        substr($text, $at, length $old) = $new;
        open(my $o, ">", $out) or die; print $o $text;' "$list" "$1" "$2" "$3"
}

one() { # NAME
    local name=$1 row file tests dir=$BUILD/mutations/$1 t
    row=$(grep "^== $name |" $list) || { echo "UNKNOWN  $name"; return 1; }
    file=$(echo "$row" | cut -d'|' -f2 | tr -d ' ')
    tests=$(echo "$row" | cut -d'|' -f3)
    mkdir -p "$dir/$(dirname "$file")"
    seed "$name" "$file" "$dir/$file" || { echo "MOVED    $name: $file no longer has these lines, or has them twice"; return 1; }
    $CC $FLAGS -w -c "$dir/$file" -o "$dir/fault.o" || { echo "BROKEN   $name does not compile"; return 1; }
    for t in $tests; do
        $CC $FLAGS -w "$BUILD/tests/$t.o" "$dir/fault.o" "$BUILD"/tests/support/*.o "$BUILD/libtrainyard.a" -lcmocka $LIBS -o "$dir/test" || return 1
        if ! { TRAINYARD_RANDOM=${TRAINYARD_RANDOM:-1:150} timeout 120 "$dir/test" >"$dir/log" 2>&1; } 2>/dev/null; then
            printf 'CAUGHT   %-30s by %s\n' "$name" "$t"
            rm -f "$dir/test"
            return 0
        fi
    done
    rm -f "$dir/test"
    printf 'ESCAPED  %-30s past%s\n' "$name" "$tests"
    return 1
}
export -f one seed
export BUILD CC FLAGS LIBS list

names=${*:-$(sed -n 's/^== \([^ ]*\) .*/\1/p' $list)}
printf '%s\n' $names | xargs -P "${JOBS:-2}" -I NAME bash -c 'one NAME' | tee "$BUILD/mutations/log"
caught=$(grep -c '^CAUGHT' "$BUILD/mutations/log")
n=$(echo $names | wc -w)
echo "mutations: $caught of $n caught"
[ "$caught" = "$n" ]
