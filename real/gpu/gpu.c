/* gpu.c - loading the libraries, and the device.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/gpu/gpu.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ---- */

struct symbol {
    const char *name;
    size_t at; /* in struct cuda_api */
};

#define SYMBOL(field, name) {name, offsetof(struct cuda_api, field)}

static const struct symbol runtime_symbols[] = {
    SYMBOL(get_device_count, "cudaGetDeviceCount"), SYMBOL(set_device, "cudaSetDevice"),
    SYMBOL(get_attribute, "cudaDeviceGetAttribute"), SYMBOL(get_bus_id, "cudaDeviceGetPCIBusId"),
    SYMBOL(memory_info, "cudaMemGetInfo"), SYMBOL(allocate, "cudaMalloc"), SYMBOL(release, "cudaFree"),
    SYMBOL(allocate_host, "cudaMallocHost"), SYMBOL(release_host, "cudaFreeHost"), SYMBOL(copy, "cudaMemcpyAsync"),
    SYMBOL(stream_create, "cudaStreamCreate"), SYMBOL(stream_destroy, "cudaStreamDestroy"),
    SYMBOL(stream_wait, "cudaStreamSynchronize"), SYMBOL(stream_query, "cudaStreamQuery"), SYMBOL(event_create, "cudaEventCreate"),
    SYMBOL(event_destroy, "cudaEventDestroy"), SYMBOL(event_record, "cudaEventRecord"),
    SYMBOL(event_wait, "cudaEventSynchronize"), SYMBOL(event_elapsed_ms, "cudaEventElapsedTime"),
    SYMBOL(runtime_version, "cudaRuntimeGetVersion"), SYMBOL(error_text, "cudaGetErrorString"), {0}};
static const struct symbol blas_symbols[] = {
    SYMBOL(blas_create, "cublasCreate_v2"), SYMBOL(blas_destroy, "cublasDestroy_v2"),
    SYMBOL(blas_set_stream, "cublasSetStream_v2"), SYMBOL(blas_gemm, "cublasGemmEx"), {0}};
static const struct symbol nccl_symbols[] = {
    SYMBOL(nccl_get_id, "ncclGetUniqueId"), SYMBOL(nccl_init_rank, "ncclCommInitRankConfig"),
    SYMBOL(nccl_init_all, "ncclCommInitAll"), SYMBOL(nccl_destroy, "ncclCommDestroy"), SYMBOL(nccl_abort, "ncclCommAbort"),
    SYMBOL(nccl_async_error, "ncclCommGetAsyncError"), SYMBOL(nccl_all_reduce, "ncclAllReduce"),
    SYMBOL(nccl_broadcast, "ncclBroadcast"), SYMBOL(nccl_group_start, "ncclGroupStart"),
    SYMBOL(nccl_group_end, "ncclGroupEnd"), SYMBOL(nccl_error_text, "ncclGetErrorString"), {0}};
static const struct symbol nvml_symbols[] = {
    SYMBOL(nvml_init, "nvmlInit_v2"), SYMBOL(nvml_shutdown, "nvmlShutdown"),
    SYMBOL(nvml_find, "nvmlDeviceGetHandleByPciBusId_v2"), SYMBOL(nvml_name, "nvmlDeviceGetName"),
    SYMBOL(nvml_driver, "nvmlSystemGetDriverVersion"), SYMBOL(nvml_power_mw, "nvmlDeviceGetPowerUsage"),
    SYMBOL(nvml_energy_mj, "nvmlDeviceGetTotalEnergyConsumption"),
    SYMBOL(nvml_utilisation, "nvmlDeviceGetUtilizationRates"),
    SYMBOL(nvml_pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration"),
    SYMBOL(nvml_pcie_width, "nvmlDeviceGetMaxPcieLinkWidth"), SYMBOL(nvml_link_active, "nvmlDeviceGetNvLinkState"),
    SYMBOL(nvml_error_text, "nvmlErrorString"), {0}};

static const struct {
    const char *what, *files[3], *wheel; /* wheel: folder below site-packages/nvidia of CUDA 12's wheels; 13's are in cu13 */
    const struct symbol *symbols;
} libraries[N_GPU_LIBRARIES] = {
    [GPU_RUNTIME] = {"the CUDA runtime", {"libcudart.so.13", "libcudart.so.12"}, "cuda_runtime", runtime_symbols},
    [GPU_CUBLAS] = {"cuBLAS", {"libcublas.so.13", "libcublas.so.12"}, "cublas", blas_symbols},
    [GPU_NCCL] = {"NCCL", {"libnccl.so.2"}, "nccl", nccl_symbols},
    [GPU_NVML] = {"NVML", {"libnvidia-ml.so.1"}, "nvml", nvml_symbols},
};

static void *open_in(const char *folder, const char *file)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, file) >= sizeof path) return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_in_wheel(const char *wheel, const char *file)
{
    const char *environment = getenv("VIRTUAL_ENV");
    char pattern[4096];
    glob_t found;
    void *library = NULL;
    for (int i = 0; environment && !library && i < 2; i++) {
        snprintf(pattern, sizeof pattern, "%s/lib/python3*/site-packages/nvidia/%s/lib", environment, i ? wheel : "cu13");
        if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0) library = open_in(found.gl_pathv[0], file);
        globfree(&found);
    }
    return library;
}

static void *open_anywhere(enum gpu_library l, const char *file)
{
    const char *folder = getenv("TRAINYARD_CUDA_LIB");
    void *library = folder && *folder ? open_in(folder, file) : NULL;
    if (!library && !(folder && *folder)) library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library && !(folder && *folder)) library = open_in_wheel(libraries[l].wheel, file);
    if (!library && !(folder && *folder)) library = open_in("/usr/local/cuda/lib64", file);
    return library;
}

/* Writes why it cannot be loaded; NULL text when it is. */
static bool load(struct gpu *g, enum gpu_library l, char *lacks, size_t bytes)
{
    void *library = NULL;
    for (int i = 0; !library && libraries[l].files[i]; i++) library = open_anywhere(l, libraries[l].files[i]);
    if (!library) {
        const char *reason = dlerror();
        snprintf(lacks, bytes, "%s cannot be loaded: %s", libraries[l].what, reason ? reason : "not found");
        return false;
    }
    g->library[l] = library;
    for (const struct symbol *s = libraries[l].symbols; s->name; s++) {
        void *at = dlsym(library, s->name);
        if (!at) return snprintf(lacks, bytes, "%s lacks %s: another version", libraries[l].what, s->name), false;
        memcpy((char *)&g->api + s->at, &at, sizeof at);
    }
    return true;
}

static void load_nvml(struct gpu *g)
{
    if (!load(g, GPU_NVML, g->nvml_lacks, sizeof g->nvml_lacks)) return;
    int result = g->api.nvml_init();
    g->nvml = result == 0;
    if (!g->nvml) snprintf(g->nvml_lacks, sizeof g->nvml_lacks, "NVML does not start: %s (%d)", g->api.nvml_error_text(result), result);
}

/* ---- errors ---- */

static bool none(struct diag *d, const char *why)
{
    diag_error(d, "gpu", 0, NULL, "no GPU: %s", why);
    return false;
}

static bool no_device(struct gpu *g, int result, struct diag *d)
{
    if (result == CUDA_INSUFFICIENT_DRIVER)
        diag_error(d, "gpu", 0, NULL, "no GPU: there is no driver, or one older than this CUDA runtime needs (%d)", result);
    else if (result == CUDA_NO_DEVICE || (result == 0 && g->count < 1))
        diag_error(d, "gpu", 0, NULL, "no GPU: the driver shows no device (%d); CUDA_VISIBLE_DEVICES may hide them", result);
    else
        diag_error(d, "gpu", 0, NULL, "no GPU: %s (%d)", g->api.error_text(result), result);
    return false;
}

static bool report(const char *what, const char *text, int result, struct diag *d)
{
    diag_error(d, "gpu", 0, NULL, "%s: %s (%d)", what, text, result);
    return false;
}

bool gpu_ok(const struct gpu *g, int result, const char *what, struct diag *d)
{
    if (result == 0) return true;
    report(what, g->api.error_text(result), result, d);
    if (result == CUDA_OUT_OF_MEMORY) diag_help(d, "another process holds memory of this GPU, or the shape is too large for it");
    return false;
}

/* cuBLAS got its texts in 11.4 only: the numbers are documented as cublasStatus_t. */
bool gpu_blas_ok(int result, const char *what, struct diag *d)
{
    static const struct {
        int number;
        const char *text;
    } texts[] = {{1, "not initialised"}, {3, "allocation failed"}, {7, "invalid value"}, {8, "architecture mismatch"},
                 {11, "mapping error"}, {13, "execution failed"}, {14, "internal error"}, {15, "not supported"}};
    if (result == 0) return true;
    size_t i = 0, n = sizeof texts / sizeof *texts;
    while (i < n && texts[i].number != result) i++;
    return report(what, i < n ? texts[i].text : "cuBLAS fails", result, d);
}

bool gpu_nccl_ok(const struct gpu *g, int result, const char *what, struct diag *d)
{
    if (result == 0) return true;
    report(what, g->api.nccl_error_text(result), result, d);
    diag_help(d, GPU_NCCL_HELP);
    return false;
}

/* ---- opening ---- */

bool gpu_open(struct gpu *g, unsigned needs, struct diag *d)
{
    char lacks[512];
    *g = (struct gpu){.device = -1};
    for (enum gpu_library l = GPU_RUNTIME; l <= GPU_NCCL; l++)
        if ((l == GPU_RUNTIME || needs & (1u << l)) && !load(g, l, lacks, sizeof lacks)) {
            gpu_close(g);
            return none(d, lacks);
        }
    int result = g->api.get_device_count(&g->count);
    if (result != 0 || g->count < 1) {
        no_device(g, result, d);
        gpu_close(g);
        return false;
    }
    load_nvml(g);
    return true;
}

bool gpu_use(struct gpu *g, int device, struct diag *d)
{
    if (device >= g->count) {
        diag_error(d, "gpu", 0, NULL, "there is no device %d: this machine shows %d", device, g->count);
        return false;
    }
    g->device = device;
    if (!gpu_ok(g, g->api.set_device(device), "cudaSetDevice", d)) return false;
    if (!gpu_ok(g, g->api.stream_create(&g->stream), "cudaStreamCreate", d)) return false;
    if (!g->library[GPU_CUBLAS]) return true;
    return gpu_blas_ok(g->api.blas_create(&g->blas), "cublasCreate", d) &&
           gpu_blas_ok(g->api.blas_set_stream(g->blas, g->stream), "cublasSetStream", d);
}

void gpu_close(struct gpu *g)
{
    if (g->blas) g->api.blas_destroy(g->blas);
    if (g->stream) g->api.stream_destroy(g->stream);
    if (g->nvml) g->api.nvml_shutdown();
    *g = (struct gpu){.device = -1};
}

/* ---- facts ---- */

/* Bytes a second of a lane, after encoding, by generation (PCI Express Base Specification: 2.5, 5, 8, 16, 32, 64 GT/s). */
static double lane_bytes_per_s(unsigned generation)
{
    static const double lane[] = {0, 0.25e9, 0.5e9, 1e9, 2e9, 4e9, 8e9};
    return generation < sizeof lane / sizeof *lane ? lane[generation] : 0;
}

static void ask_nvml(struct gpu *g, struct gpu_facts *f)
{
    enum { LINKS_MAX = 18 };
    char bus[32] = "";
    nvml_device device;
    unsigned generation = 0, width = 0, active;
    if (!g->nvml || g->api.get_bus_id(bus, sizeof bus, g->device) || g->api.nvml_find(bus, &device)) return;
    if (g->api.nvml_name(device, f->name, sizeof f->name)) f->name[0] = 0;
    if (g->api.nvml_driver(f->driver, sizeof f->driver)) f->driver[0] = 0;
    if (!g->api.nvml_pcie_generation(device, &generation) && !g->api.nvml_pcie_width(device, &width))
        f->pcie_bytes_per_s = lane_bytes_per_s(generation) * width;
    f->nvlink_links = 0;
    for (unsigned link = 0; link < LINKS_MAX; link++)
        if (!g->api.nvml_link_active(device, link, &active) && active) f->nvlink_links++;
}

bool gpu_facts(struct gpu *g, struct gpu_facts *f, struct diag *d)
{
    int major = 0, minor = 0;
    size_t left;
    *f = (struct gpu_facts){.nvlink_links = -1};
    bool ok = gpu_ok(g, g->api.get_attribute(&major, CUDA_CAPABILITY_MAJOR, g->device), "cudaDeviceGetAttribute", d) &&
              gpu_ok(g, g->api.get_attribute(&minor, CUDA_CAPABILITY_MINOR, g->device), "cudaDeviceGetAttribute", d) &&
              gpu_ok(g, g->api.memory_info(&left, &f->memory_bytes), "cudaMemGetInfo", d) &&
              gpu_ok(g, g->api.runtime_version(&f->runtime), "cudaRuntimeGetVersion", d);
    f->capability = major * 10 + minor;
    ask_nvml(g, f);
    if (!f->name[0]) snprintf(f->name, sizeof f->name, "compute capability %d.%d", major, minor);
    return ok;
}

bool gpu_fill(struct gpu *g, void *memory, size_t bytes, struct diag *d)
{
    enum { CHUNK = 1 << 22 };
    uint16_t *host = NULL;
    uint32_t x = 2463534242u;
    if (!gpu_ok(g, g->api.allocate_host((void **)&host, CHUNK), "cudaMallocHost", d)) return false;
    for (size_t i = 0; i < CHUNK / sizeof *host; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5; /* Marsaglia, "Xorshift RNGs", 2003 */
        host[i] = (uint16_t)((x >> 16 & 0x807f) | (0x3e80 + (x & 0x80))); /* sign and fraction at random, from 1/4 to 1 */
    }
    bool ok = true;
    for (size_t at = 0; ok && at < bytes; at += CHUNK) {
        size_t n = bytes - at < CHUNK ? bytes - at : CHUNK;
        ok = gpu_ok(g, g->api.copy((char *)memory + at, host, n, CUDA_TO_DEVICE, g->stream), "cudaMemcpyAsync", d);
    }
    ok = ok && gpu_ok(g, g->api.stream_wait(g->stream), "cudaStreamSynchronize", d);
    g->api.release_host(host);
    return ok;
}
