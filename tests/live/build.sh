#!/bin/bash
# build.sh - gets and builds the live stack's programs from their Go modules, into a cache outside the repository.
#
#     tests/live/build.sh [PART ...]      all of pins/parts, or some
#
# What is in the cache already is not looked at again, and needs neither Go's own caches nor a network. One part after the other,
# so that an interrupted build goes on with the part at which it stopped. Each part's output stays in the cache's log/ folder,
# and what it cost (part, wall, user and system seconds) in cost.csv. Ends with 0; 1 when a part does not build; 77 when this
# machine lacks what building needs (Go, a network), and says what.
#
# SPDX-License-Identifier: GPL-3.0-or-later
. "$(dirname "$0")/parts.sh"
go_needed=1.26

cannot() { echo "live: $*" >&2; exit 77; }
fail() { echo "live: $*" >&2; exit 1; }

# Ends with 77 where the log tells of a network that is not there.
blame_network() { # LOG
    local line
    line=$(grep -m1 -E 'dial tcp|no such host|i/o timeout|connection refused|TLS handshake|proxyconnect|is unreachable' "$1") &&
        cannot "the modules cannot be fetched: $line"
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
    if ! { time nice -n 15 go build -C "$live_here/pins/$module" -ldflags "$live_ldflags" -o "$made" "$package" >"$log" 2>&1; } 2>"$log.time"; then
        blame_network "$log"
        tail -n 20 "$log" >&2
        fail "$part does not build; this is the end of $log"
    fi
    copy_files "$part" "$module" "$package" $files && mv "$made" "$(part_path "$part")" || fail "$part cannot be put into $live_cache"
    echo "$part,$(cat "$log.time")" >>"$live_cache/cost.csv"
}

command -v go >/dev/null || cannot "there is no Go to build the controllers with: install Go $go_needed or newer"
[ "$(printf '%s\n' $go_needed "$(go env GOVERSION | sed 's/^go//')" | sort -V | head -1)" = $go_needed ] ||
    cannot "the controllers need Go $go_needed or newer, this is $(go env GOVERSION)"
export GOCACHE=$live_cache/go-build GOMODCACHE=$live_cache/mod GOTOOLCHAIN=local CGO_ENABLED=0
export GOFLAGS="-mod=readonly -buildvcs=false -modcacherw -trimpath -p=2"
TIMEFORMAT=%R,%U,%S
mkdir -p "$live_cache"/{bin,files,log,making} || exit 1
exec 9>"$live_cache/lock" # a second build of the same cache waits, then finds what the first made
flock 9
for part in ${*:-$(part_names)}; do
    [ -x "$(part_path "$part")" ] || build "$part"
done
