#!/bin/bash
# allreduce.sh - the worker's all-reduce beside OpenMPI's in the same processes: NAME VALUE UNIT goal GOAL.
#
#     tests/bench/allreduce.sh BUILD       (make bench)
#
# 2 and 4 ranks, 4 B to 64 MB, over shared memory, whose median over sizes has the goal; over TCP with TCP=1, for interest.
# Without mpicc and mpirun it says so and measures nothing.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -e
cd "$(dirname "$0")/../.."
build=${1:-build}
if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
    echo "allreduce: skipped, needs mpicc and mpirun (openmpi-bin, libopenmpi-dev)"
    exit 0
fi
bench=$build/tests/bench/allreduce_mpi
mpicc -I. -D_GNU_SOURCE -std=gnu11 -O3 -Wno-cast-function-type tests/bench/allreduce_mpi.c "$build/libtrainyard.a" \
    -lcjson -lz -lpthread -lm -o "$bench"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for ranks in 2 4; do
    mpirun --oversubscribe -n $ranks "$bench" shm
    [ -z "$TCP" ] || mpirun --oversubscribe --mca btl tcp,self --mca btl_tcp_if_include lo -n $ranks "$bench" tcp
done
