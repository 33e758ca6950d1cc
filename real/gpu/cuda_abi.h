/* cuda_abi.h - the part of four libraries of NVIDIA that is used here, as pointers that dlopen fills in.
 *
 * No header of a toolkit is needed to build, and no library to start. Names, types and numbers are those of the public
 * interfaces: CUDA Runtime API (cudaError_t 2, 35, 100, 600; cudaMemcpyKind; cudaDeviceAttr 75, 76), cuBLAS (cublasGemmEx as of
 * version 11; cudaDataType_t 14 is bfloat16; cublasComputeType_t 68 is 32-bit), NCCL 2.14 (ncclDataType_t 7 is float,
 * ncclRedOp_t 0 is the sum, ncclResult_t 7 is "in progress"; ncclConfig_t as of 2.14, whose size and version tell later ones to take
 * their own defaults for the rest), NVML (the versioned symbols). All enumerations are int, all handles pointers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_GPU_CUDA_ABI_H
#define TRAINYARD_REAL_GPU_CUDA_ABI_H

#include <stddef.h>

enum { CUDA_OUT_OF_MEMORY = 2, CUDA_INSUFFICIENT_DRIVER = 35, CUDA_NO_DEVICE = 100, CUDA_NOT_READY = 600 };
enum { CUDA_TO_DEVICE = 1, CUDA_TO_HOST = 2, CUDA_ON_DEVICE = 3 };
enum { CUDA_CAPABILITY_MAJOR = 75, CUDA_CAPABILITY_MINOR = 76 };
enum { CUBLAS_N = 0, CUBLAS_T = 1, CUBLAS_BFLOAT16 = 14, CUBLAS_COMPUTE_FLOAT = 68, CUBLAS_DEFAULT_ALGORITHM = -1 };
enum { NCCL_BYTE = 0, NCCL_FLOAT = 7, NCCL_SUM = 0, NCCL_IN_PROGRESS = 7 };
enum { NCCL_CONFIG_VERSION = 21400 };
#define NCCL_CONFIG_MAGIC 0xcafebeefu

typedef struct CUstream_st *cuda_stream;
typedef struct CUevent_st *cuda_event;
typedef struct cublasContext *cublas_handle;
typedef struct ncclComm *nccl_comm;
typedef struct nvmlDevice_st *nvml_device;

struct nccl_id {
    char bytes[128];
};
struct nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking; /* 0: calls come back at once, and nccl_async_error says whether they are done */
};
struct nvml_rates {
    unsigned gpu, memory; /* percent of the last sample period */
};

struct cuda_api {
    /* CUDA runtime */
    int (*get_device_count)(int *);
    int (*set_device)(int);
    int (*get_attribute)(int *value, int attribute, int device);
    int (*get_bus_id)(char *text, int bytes, int device);
    int (*memory_info)(size_t *free_bytes, size_t *total_bytes);
    int (*allocate)(void **, size_t);
    int (*release)(void *);
    int (*allocate_host)(void **, size_t);
    int (*release_host)(void *);
    int (*copy)(void *to, const void *from, size_t, int kind, cuda_stream);
    int (*stream_create)(cuda_stream *);
    int (*stream_destroy)(cuda_stream);
    int (*stream_wait)(cuda_stream);
    int (*stream_query)(cuda_stream);
    int (*event_create)(cuda_event *);
    int (*event_destroy)(cuda_event);
    int (*event_record)(cuda_event, cuda_stream);
    int (*event_wait)(cuda_event);
    int (*event_elapsed_ms)(float *, cuda_event, cuda_event);
    int (*runtime_version)(int *);
    const char *(*error_text)(int);

    /* cuBLAS */
    int (*blas_create)(cublas_handle *);
    int (*blas_destroy)(cublas_handle);
    int (*blas_set_stream)(cublas_handle, cuda_stream);
    int (*blas_gemm)(cublas_handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a, int a_type, int lda,
                     const void *b, int b_type, int ldb, const void *beta, void *c, int c_type, int ldc, int compute, int algorithm);

    /* NCCL */
    int (*nccl_get_id)(struct nccl_id *);
    int (*nccl_init_rank)(nccl_comm *, int ranks, struct nccl_id, int rank, struct nccl_config *);
    int (*nccl_init_all)(nccl_comm *, int devices, const int *list);
    int (*nccl_destroy)(nccl_comm);
    int (*nccl_abort)(nccl_comm);
    int (*nccl_async_error)(nccl_comm, int *);
    int (*nccl_all_reduce)(const void *, void *, size_t, int type, int op, nccl_comm, cuda_stream);
    int (*nccl_broadcast)(const void *, void *, size_t, int type, int root, nccl_comm, cuda_stream);
    int (*nccl_group_start)(void);
    int (*nccl_group_end)(void);
    const char *(*nccl_error_text)(int);

    /* NVML */
    int (*nvml_init)(void);
    int (*nvml_shutdown)(void);
    int (*nvml_find)(const char *bus_id, nvml_device *);
    int (*nvml_name)(nvml_device, char *, unsigned);
    int (*nvml_driver)(char *, unsigned);
    int (*nvml_power_mw)(nvml_device, unsigned *);
    int (*nvml_energy_mj)(nvml_device, unsigned long long *);
    int (*nvml_utilisation)(nvml_device, struct nvml_rates *);
    int (*nvml_pcie_generation)(nvml_device, unsigned *);
    int (*nvml_pcie_width)(nvml_device, unsigned *);
    int (*nvml_link_active)(nvml_device, unsigned link, unsigned *);
    const char *(*nvml_error_text)(int);
};

#endif
