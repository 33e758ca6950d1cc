/* stub_cuda.c - plays libcudart, libcublas, libnccl and libnvidia-ml on a machine without a GPU: one shared library under
 * four names.
 *
 *     STUB_CUDA=devices=2,cudaMalloc=2,cudaStreamQuery=600       how many devices (1); what a call answers instead of 0
 *
 * "Device" memory is the host's; of copies above 1 MiB the first 64 KiB are made. Each thread has a clock, which each
 * operation moves on by what a GPU of the figures below would take; events take its time. NCCL's ranks are threads of one process.
 * As the real ones do, a copy to the host's pageable memory stands until the stream is done: where that is never (cudaStreamQuery=600)
 * for STUB_STANDS_S. NCCL has started when all ranks have come; told ncclCommInitRankConfig=7 it never has.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/real/gpu/stub_cuda.h"

#define EXPORT __attribute__((visibility("default")))

static _Thread_local double clock_s;
static _Thread_local int device;

/* What STUB_CUDA says of `name`, else `otherwise`. */
static int told(const char *name, int otherwise)
{
    const char *text = getenv("STUB_CUDA");
    size_t n = strlen(name);
    for (const char *at = text; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, name, n) && at[n] == '=') return atoi(at + n + 1);
    return otherwise;
}

#define ANSWER return told(__func__, 0)
#define FAIL_IF_TOLD                                                                                                   \
    do {                                                                                                               \
        int code = told(__func__, 0);                                                                                  \
        if (code) return code;                                                                                         \
    } while (0)

/* ---- CUDA runtime ---- */

EXPORT int cudaGetDeviceCount(int *n) { *n = told("devices", 1); ANSWER; }
EXPORT int cudaSetDevice(int d) { device = d; ANSWER; }
EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int d)
{
    (void)d;
    *value = attribute == 75 ? STUB_MAJOR : STUB_MINOR;
    ANSWER;
}
EXPORT int cudaDeviceGetPCIBusId(char *text, int bytes, int d) { snprintf(text, (size_t)bytes, "0000:0%d:00.0", d); ANSWER; }
EXPORT int cudaMemGetInfo(size_t *left, size_t *all) { *left = *all = STUB_MEMORY; ANSWER; }

/* Its size lies before it, so that it can be given back. */
static int take(void **at, size_t bytes)
{
    size_t *p = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return 2;
    *p = bytes + 4096;
    *at = (char *)p + 4096;
    return 0;
}
static void give_back(void *at)
{
    size_t *p = (size_t *)((char *)at - 4096);
    munmap(p, *p);
}
EXPORT int cudaMalloc(void **at, size_t bytes) { FAIL_IF_TOLD; return take(at, bytes); }
EXPORT int cudaFree(void *at) { give_back(at); ANSWER; }
EXPORT int cudaMallocHost(void **at, size_t bytes) { FAIL_IF_TOLD; return take(at, bytes); }
EXPORT int cudaFreeHost(void *at) { give_back(at); ANSWER; }
EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream)
{
    (void)stream;
    FAIL_IF_TOLD;
    if (kind == 2 && told("cudaStreamQuery", 0) == 600) sleep(STUB_STANDS_S);
    memcpy(to, from, n > 1 << 20 ? 1 << 16 : n);
    clock_s += kind == 3 ? STUB_LAUNCH_S + 2 * (double)n / STUB_MEMORY_RATE : STUB_COPY_S + (double)n / STUB_COPY_RATE;
    return 0;
}
EXPORT int cudaStreamCreate(void **s) { *s = malloc(1); ANSWER; }
EXPORT int cudaStreamDestroy(void *s) { free(s); ANSWER; }
EXPORT int cudaStreamSynchronize(void *s) { (void)s; ANSWER; }
EXPORT int cudaStreamQuery(void *s) { (void)s; ANSWER; }
EXPORT int cudaEventCreate(double **e) { *e = calloc(1, sizeof **e); ANSWER; }
EXPORT int cudaEventDestroy(double *e) { free(e); ANSWER; }
EXPORT int cudaEventRecord(double *e, void *stream) { (void)stream; *e = clock_s; ANSWER; }
EXPORT int cudaEventSynchronize(double *e) { (void)e; ANSWER; }
EXPORT int cudaEventElapsedTime(float *ms, double *a, double *b) { *ms = (float)((*b - *a) * 1e3); ANSWER; }
EXPORT int cudaRuntimeGetVersion(int *v) { *v = 13000; ANSWER; }
EXPORT const char *cudaGetErrorString(int code) { return code == 2 ? "out of memory" : code == 700 ? "an illegal memory access was encountered" : "stub error"; }

/* ---- cuBLAS ---- */

EXPORT int cublasCreate_v2(void **h) { FAIL_IF_TOLD; *h = malloc(1); return 0; }
EXPORT int cublasDestroy_v2(void *h) { free(h); ANSWER; }
EXPORT int cublasSetStream_v2(void *h, void *s) { (void)h, (void)s; ANSWER; }
EXPORT int cublasGemmEx(void *h, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a, int a_type, int lda,
                        const void *b, int b_type, int ldb, const void *beta, void *c, int c_type, int ldc, int compute, int algorithm)
{
    (void)h, (void)alpha, (void)a, (void)b, (void)beta, (void)c, (void)compute, (void)algorithm;
    FAIL_IF_TOLD;
    if (a_type != 14 || b_type != 14 || c_type != 14) return 15;
    if (lda < (op_a ? k : m) || ldb < (op_b ? n : k) || ldc < m) return 7; /* as the real one: CUBLAS_STATUS_INVALID_VALUE */
    clock_s += STUB_LAUNCH_S + 2.0 * m * n * k / STUB_FLOPS;
    return 0;
}

/* ---- NCCL ---- */

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct meeting *before; /* of an earlier id: who comes last to one is not known, so all stay */
    int size, started, come, turn;
    float sum[1 << 16];
    char bytes[1 << 18];
};
struct stub_comm {
    struct meeting *at; /* NULL: of ncclCommInitAll */
    int rank, size;
    bool used;
};
static struct meeting *place; /* of the last id */

EXPORT int ncclGetUniqueId(char *id)
{
    FAIL_IF_TOLD;
    struct meeting *m = calloc(1, sizeof *m);
    m->before = place;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->change, NULL);
    place = m;
    memcpy(id, &m, sizeof m);
    return 0;
}
struct id {
    char bytes[128];
};
struct config { /* ncclConfig_t of 2.14 */
    size_t size;
    unsigned magic, version;
    int blocking;
};
EXPORT int ncclCommInitRankConfig(struct stub_comm **c, int size, struct id id, int rank, const struct config *config)
{
    int code = told(__func__, 0);
    if (code != 0 && code != 7) return code;
    if (config->size != 24 || config->magic != 0xcafebeef || config->version < 21400 || config->blocking != 0) return 4;
    *c = calloc(1, sizeof **c);
    memcpy(&(*c)->at, id.bytes, sizeof (*c)->at);
    pthread_mutex_lock(&(*c)->at->lock);
    (*c)->rank = rank;
    (*c)->size = (*c)->at->size = size;
    if (code == 0) (*c)->at->started++;
    pthread_mutex_unlock(&(*c)->at->lock);
    return 7;
}
EXPORT int ncclCommInitAll(struct stub_comm **c, int n, const int *list)
{
    (void)list;
    FAIL_IF_TOLD;
    for (int i = 0; i < n; i++) c[i] = calloc(1, sizeof *c[i]), c[i]->rank = i, c[i]->size = n;
    return 0;
}
EXPORT int ncclCommDestroy(struct stub_comm *c) { free(c); ANSWER; }
EXPORT int ncclCommAbort(struct stub_comm *c) { free(c); ANSWER; }
EXPORT int ncclCommGetAsyncError(struct stub_comm *c, int *code)
{
    pthread_mutex_lock(&c->at->lock);
    *code = c->at->started < c->size ? 7 : c->used ? told("async", 0) : 0;
    pthread_mutex_unlock(&c->at->lock);
    ANSWER;
}

/* All come, the last lets all go on. */
static void meet(struct meeting *m)
{
    int turn = m->turn;
    if (++m->come == m->size) m->come = 0, m->turn++, pthread_cond_broadcast(&m->change);
    while (turn == m->turn) pthread_cond_wait(&m->change, &m->lock);
}
EXPORT int ncclAllReduce(const float *from, float *to, size_t n, int type, int op, struct stub_comm *c, void *stream)
{
    (void)stream;
    FAIL_IF_TOLD;
    if (type != 7 || op != 0) return 4;
    c->used = true;
    if (c->rank == 0) clock_s += STUB_NCCL_S + 2.0 * (c->size - 1) / c->size * (double)n * 4 / STUB_NCCL_RATE;
    if (!c->at || n > 1 << 16 || told("cudaStreamQuery", 0)) return 0; /* never ends, where it is told so */
    pthread_mutex_lock(&c->at->lock);
    for (size_t i = 0; i < n; i++) c->at->sum[i] = (c->at->come ? c->at->sum[i] : 0) + from[i];
    meet(c->at);
    memcpy(to, c->at->sum, n * sizeof *to);
    meet(c->at);
    pthread_mutex_unlock(&c->at->lock);
    return 0;
}
EXPORT int ncclBroadcast(const void *from, void *to, size_t n, int type, int root, struct stub_comm *c, void *stream)
{
    (void)stream;
    FAIL_IF_TOLD;
    if (type != 0 || n > sizeof c->at->bytes) return 4;
    pthread_mutex_lock(&c->at->lock);
    if (c->rank == root) memcpy(c->at->bytes, from, n);
    meet(c->at);
    memcpy(to, c->at->bytes, n);
    meet(c->at);
    pthread_mutex_unlock(&c->at->lock);
    return 0;
}
EXPORT int ncclGroupStart(void) { ANSWER; }
EXPORT int ncclGroupEnd(void) { ANSWER; }
EXPORT const char *ncclGetErrorString(int code) { return code == 1 ? "unhandled cuda error" : code == 2 ? "unhandled system error" : "stub error"; }

/* ---- NVML ---- */

EXPORT int nvmlInit_v2(void) { ANSWER; }
EXPORT int nvmlShutdown(void) { ANSWER; }
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **d) { (void)id; *d = &device; ANSWER; }
EXPORT int nvmlDeviceGetName(void *d, char *text, unsigned n) { (void)d; snprintf(text, n, STUB_NAME); ANSWER; }
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned n) { snprintf(text, n, "580.00"); ANSWER; }
EXPORT int nvmlDeviceGetPowerUsage(void *d, unsigned *mw) { (void)d; *mw = STUB_WATTS * 1000; ANSWER; }
EXPORT int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mj) { (void)d; *mj = 0; return told(__func__, 3); }
EXPORT int nvmlDeviceGetUtilizationRates(void *d, unsigned r[2]) { (void)d; r[0] = 90, r[1] = 40; ANSWER; }
EXPORT int nvmlDeviceGetMaxPcieLinkGeneration(void *d, unsigned *x) { (void)d; *x = 5; ANSWER; }
EXPORT int nvmlDeviceGetMaxPcieLinkWidth(void *d, unsigned *x) { (void)d; *x = 16; ANSWER; }
EXPORT int nvmlDeviceGetNvLinkState(void *d, unsigned link, unsigned *x) { (void)d; *x = link < STUB_LINKS; ANSWER; }
EXPORT const char *nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "stub error"; }
