/* stub_cuda.h - the figures of the GPU that stub_cuda.c plays, which tests expect to be measured.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_REAL_GPU_STUB_CUDA_H
#define TRAINYARD_TESTS_REAL_GPU_STUB_CUDA_H

#define STUB_NAME        "NVIDIA H100 80GB HBM3"
#define STUB_MAJOR       9
#define STUB_MINOR       0
#define STUB_MEMORY      ((size_t)1 << 30)
#define STUB_FLOPS       700e12
#define STUB_LAUNCH_S    5e-6
#define STUB_MEMORY_RATE 3e12
#define STUB_COPY_S      10e-6
#define STUB_COPY_RATE   50e9
#define STUB_NCCL_S      20e-6
#define STUB_NCCL_RATE   400e9
#define STUB_WATTS       650
#define STUB_LINKS       18
#define STUB_STANDS_S    20

#endif
