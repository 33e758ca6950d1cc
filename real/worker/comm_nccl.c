/* comm_nccl.c - all-reduce by NCCL.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/comm_nccl.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "real/worker/net.h"

enum { SPIN_NS = 2000000, NAP_NS = 100000 };

struct nccl {
    struct gpu *gpu;
    nccl_comm comm;
    void *buffer; /* on the device */
    size_t bytes;
};

/* The stream is done: 0 of the library; not yet: CUDA_NOT_READY. */
static bool watch(struct comm *c, int64_t begin_ns, int64_t *looked_ns)
{
    struct nccl *s = c->state;
    int64_t now_ns = net_now_ns();
    int trouble = 0;
    if (now_ns - begin_ns > SPIN_NS) nanosleep(&(struct timespec){0, NAP_NS}, NULL);
    if (now_ns - *looked_ns < COMM_LOOK_NS) return true;
    *looked_ns = now_ns;
    for (int r = 0; r < c->size; r++)
        if (c->mesh.fd[r] >= 0 && net_gone(c->mesh.fd[r])) return comm_fail(c, "rank %d is gone", r);
    if (s->gpu->api.nccl_async_error(s->comm, &trouble) || trouble)
        return comm_fail(c, "NCCL: %s (%d)", s->gpu->api.nccl_error_text(trouble), trouble);
    return now_ns - begin_ns < c->timeout_ns ||
           comm_fail(c, "no answer from NCCL within %g s", (double)c->timeout_ns * 1e-9);
}

static bool await(struct comm *c)
{
    struct nccl *s = c->state;
    int64_t begin_ns = net_now_ns(), looked_ns = begin_ns;
    int result;
    while ((result = s->gpu->api.stream_query(s->gpu->stream)) == CUDA_NOT_READY)
        if (!watch(c, begin_ns, &looked_ns)) {
            s->gpu->api.nccl_abort(s->comm);
            s->comm = NULL;
            return false;
        }
    return result == 0 || comm_fail(c, "gpu: %s (%d)", s->gpu->api.error_text(result), result);
}

static bool ok(struct comm *c, int result, const char *what, const char *(*text)(int))
{
    return result == 0 || comm_fail(c, "%s: %s (%d)", what, text(result), result);
}

static bool room(struct comm *c, size_t bytes)
{
    struct nccl *s = c->state;
    struct cuda_api *a = &s->gpu->api;
    if (bytes <= s->bytes) return true;
    if (s->buffer) a->release(s->buffer);
    s->buffer = NULL;
    s->bytes = 0;
    if (!ok(c, a->allocate(&s->buffer, bytes), "cudaMalloc", a->error_text)) return false;
    s->bytes = bytes;
    return true;
}

/* To the device, the collective, and back. */
static bool nccl_all_reduce(struct comm *c, float *v, size_t n)
{
    struct nccl *s = c->state;
    struct cuda_api *a = &s->gpu->api;
    cuda_stream stream = s->gpu->stream;
    const size_t bytes = n * sizeof *v;
    return room(c, bytes) && ok(c, a->copy(s->buffer, v, bytes, CUDA_TO_DEVICE, stream), "cudaMemcpyAsync", a->error_text) &&
           ok(c, a->nccl_all_reduce(s->buffer, s->buffer, n, NCCL_FLOAT, NCCL_SUM, s->comm, stream), "ncclAllReduce",
              a->nccl_error_text) &&
           ok(c, a->copy(v, s->buffer, bytes, CUDA_TO_HOST, stream), "cudaMemcpyAsync", a->error_text) && await(c);
}

static bool nccl_broadcast(struct comm *c, void *data, size_t bytes)
{
    struct nccl *s = c->state;
    struct cuda_api *a = &s->gpu->api;
    cuda_stream stream = s->gpu->stream;
    return room(c, bytes) && ok(c, a->copy(s->buffer, data, bytes, CUDA_TO_DEVICE, stream), "cudaMemcpyAsync", a->error_text) &&
           ok(c, a->nccl_broadcast(s->buffer, s->buffer, bytes, NCCL_BYTE, 0, s->comm, stream), "ncclBroadcast",
              a->nccl_error_text) &&
           ok(c, a->copy(data, s->buffer, bytes, CUDA_TO_HOST, stream), "cudaMemcpyAsync", a->error_text) && await(c);
}

static void nccl_close(struct comm *c)
{
    struct nccl *s = c->state;
    if (s->comm) s->gpu->api.nccl_destroy(s->comm);
    if (s->buffer) s->gpu->api.release(s->buffer);
    free(s);
}

static const struct comm_ops ops = {"nccl", nccl_all_reduce, nccl_broadcast, nccl_close};

bool comm_nccl_take(struct comm *c, struct gpu *g, struct diag *d)
{
    struct {
        struct nccl_id id;
        int made;
    } meeting = {.made = 0};
    nccl_comm comm = NULL;
    if (c->rank == 0) meeting.made = gpu_nccl_ok(g, g->api.nccl_get_id(&meeting.id), "ncclGetUniqueId", d);
    if (!comm_broadcast(c, &meeting, sizeof meeting)) return diag_error(d, "ranks", 0, NULL, "%s", comm_error(c)), false;
    float fine = meeting.made && gpu_nccl_ok(g, g->api.nccl_init_rank(&comm, c->size, meeting.id, c->rank), "ncclCommInitRank", d);
    bool agreed = comm_all_reduce(c, &fine, 1) && fine == (float)c->size;
    if (!agreed) {
        if (!diag_errors(d)) diag_error(d, "ranks", 0, NULL, "NCCL does not start on another rank");
        if (comm) g->api.nccl_abort(comm);
        return false;
    }
    struct nccl *s = xcalloc(1, sizeof *s);
    *s = (struct nccl){.gpu = g, .comm = comm};
    c->state = s;
    c->ops = &ops;
    return true;
}
