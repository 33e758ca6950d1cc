/* gpu.h - NVIDIA GPUs of this machine, through libraries that are loaded when they are asked for.
 *
 *     struct gpu g;
 *     if (!gpu_open(&g, GPU_BLAS, &diag)) return EXIT_IO;         // "no GPU: no driver, or one older than the CUDA runtime needs (35)"
 *     if (!gpu_use(&g, 0, &diag)) ...                             // device 0, its stream, its cuBLAS
 *     gpu_ok(&g, g.api.copy(to, from, n, CUDA_ON_DEVICE, g.stream), "copy", &diag);
 *     gpu_close(&g);
 *
 * Each library is looked for below TRAINYARD_CUDA_LIB, then by its name wherever the loader looks, then in the folders of
 * NVIDIA's Python wheels below VIRTUAL_ENV, then in /usr/local/cuda/lib64; versions of the runtime 13, 12. The runtime is always
 * needed, cuBLAS and NCCL where they are asked for; NVML is taken where it is (g.nvml), else g.nvml_lacks says why not.
 *
 * What it says when there is no GPU: "no GPU: " and which library cannot be loaded and why, or what the runtime answers.
 * Libraries stay loaded until the process ends: theirs do not all survive being unloaded.
 *
 * Errors of calls name the call, the library's own text and its number. One thread at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_GPU_GPU_H
#define TRAINYARD_REAL_GPU_GPU_H

#include <stdbool.h>

#include "base/diag.h"
#include "real/gpu/cuda_abi.h"

#define GPU_NAME_BYTES 96
#define GPU_NCCL_HELP  "NCCL_DEBUG=INFO says more; on one machine without a network NCCL_SOCKET_IFNAME=lo"

enum gpu_library { GPU_RUNTIME, GPU_CUBLAS, GPU_NCCL, GPU_NVML, N_GPU_LIBRARIES };
enum { GPU_BLAS = 1 << GPU_CUBLAS, GPU_COLLECTIVES = 1 << GPU_NCCL }; /* what is needed beside the runtime */

struct gpu {
    struct cuda_api api;
    void *library[N_GPU_LIBRARIES];
    int count; /* of devices */
    bool nvml;
    char nvml_lacks[160];

    /* Of gpu_use. */
    int device;
    cuda_stream stream;
    cublas_handle blas; /* NULL where it was not asked for */
};

/* Loads the libraries and counts the devices; false when there is none that can be used. */
bool gpu_open(struct gpu *, unsigned needs, struct diag *);
bool gpu_use(struct gpu *, int device, struct diag *);
void gpu_close(struct gpu *);

/* The result of a call of each library: true for 0, else an error "WHAT: TEXT (NUMBER)". */
bool gpu_ok(const struct gpu *, int result, const char *what, struct diag *);
bool gpu_blas_ok(int result, const char *what, struct diag *);
bool gpu_nccl_ok(const struct gpu *, int result, const char *what, struct diag *);

/* What the device is. */
struct gpu_facts {
    char name[GPU_NAME_BYTES]; /* by NVML; "compute capability 9.0" without */
    char driver[GPU_NAME_BYTES];
    int capability; /* times ten */
    int runtime;    /* 13000 for 13.0 */
    size_t memory_bytes;
    double pcie_bytes_per_s; /* line rate of its slot, a direction; 0: not known */
    int nvlink_links;        /* that are up; -1: not known */
};
bool gpu_facts(struct gpu *, struct gpu_facts *, struct diag *);

/* Pseudo-random 16-bit floats in (-1, 1) on the device: zeros would draw less power, and run faster, than real data. */
bool gpu_fill(struct gpu *, void *device_memory, size_t bytes, struct diag *);

#endif
