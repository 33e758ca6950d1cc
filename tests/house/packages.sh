#!/bin/bash
# packages.sh - the Debian packages that Trainyard needs; installs the missing ones with one announced call.
#
#     tests/house/packages.sh build|check|live|ci [--list]
#
# build: to build and run. check: also what the tests need. live: also what gets and plays real controllers (docs/live.md). ci: also sanitizers, fuzzers, valgrind and clang.
# Elsewhere than on Debian and its kin it names the packages and what they stand for, and exits 1 when a header is missing.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
build="gcc make libc6-dev libgsl-dev libcjson-dev libyaml-dev libcsv-dev libcurl4-openssl-dev libssl-dev zlib1g-dev libcairo2-dev libfreetype-dev libpng-dev libsdl2-dev fonts-dejavu-core"
check="$build libcmocka-dev python3"
live="$check python3-venv curl openssl ca-certificates util-linux procps"
ci="$live clang libclang-rt-14-dev valgrind xvfb xdotool chromium-headless-shell openmpi-bin libopenmpi-dev"
case ${1:-build} in
    build) want=$build ;;
    check) want=$check ;;
    live) want=$live ;;
    ci) want=$ci ;;
    *) echo "usage: packages.sh build|check|live|ci [--list]" >&2; exit 2 ;;
esac
[ "$2" != --list ] || { echo "$want"; exit 0; }

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    for h in gsl/gsl_version.h cjson/cJSON.h yaml.h csv.h curl/curl.h openssl/evp.h zlib.h cairo/cairo.h freetype2/ft2build.h png.h SDL2/SDL.h; do
        echo "#include <$h>" | ${CC:-cc} -fsyntax-only -x c - 2>/dev/null || lacks="$lacks $h"
    done
    [ -z "$lacks" ] || { echo "missing:$lacks. Install what these Debian packages stand for: $want" >&2; exit 1; }
    exit 0
fi

missing=
for p in $want; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "installing missing packages with apt-get:$missing" >&2
$sudo sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing" >&2
