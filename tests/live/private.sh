#!/bin/bash
# private.sh - runs a program that reads files from a place that it does not let one choose, with these files there for it alone.
#
#     tests/live/private.sh SCRATCH FOLDER PATH=SOURCE -- COMMAND...
#
# COMMAND sees FOLDER with SOURCE's files at FOLDER/PATH, in a mount namespace of its own; nobody else sees a change. SCRATCH is
# made, and holds what COMMAND writes below FOLDER. Needs no root where user namespaces are allowed.
#
# SPDX-License-Identifier: GPL-3.0-or-later
scratch=$1 folder=$2 path=${3%%=*} source=${3#*=}
shift 4
mkdir -p "$scratch/upper/$path" "$scratch/work" && cp "$source"/* "$scratch/upper/$path" || exit 1
user=--user
[ "$(id -u)" = 0 ] && user=
exec unshare $user ${user:+--map-root-user} --mount sh -c '
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$1" || exit 1
    shift 2
    exec "$@"' sh "$folder" "$scratch" "$@"
