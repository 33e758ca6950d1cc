#!/bin/bash
# private.sh - runs a program that uses files in a fixed place, with a view of that place of its own.
#
#     tests/live/private.sh SCRATCH FOLDER [PATH=SOURCE ...] -- COMMAND...
#
# COMMAND sees FOLDER with the files of the folders SOURCE at FOLDER/PATH, in a mount namespace; what it writes below FOLDER
# stays in memory. Nobody else sees either. SCRATCH is made, and stays empty. Needs no root where user namespaces are allowed.
#
# SPDX-License-Identifier: GPL-3.0-or-later
mkdir -p "$1" || exit 1
user="--user --map-root-user"
[ "$(id -u)" = 0 ] && user=
exec unshare $user --mount bash -c '
    scratch=$1 folder=$2
    shift 2
    mount -t tmpfs tmpfs "$scratch" && mkdir "$scratch/upper" "$scratch/work" || exit 1
    while [ "$1" != -- ]; do
        mkdir -p "$scratch/upper/${1%%=*}" && cp "${1#*=}"/* "$scratch/upper/${1%%=*}" || exit 1
        shift
    done
    shift
    mount -t overlay overlay -o "lowerdir=$folder,upperdir=$scratch/upper,workdir=$scratch/work" "$folder" || exit 1
    exec "$@"' private "$@"
