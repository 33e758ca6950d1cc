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
    bool gave_up; /* waiting: a peer is gone, or does not answer */
};

/* False when there is no point in waiting on. */
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
    if (s->gpu->api.nccl_async_error(s->comm, &trouble) || (trouble && trouble != NCCL_IN_PROGRESS))
        return comm_fail(c, "NCCL: %s (%d)", s->gpu->api.nccl_error_text(trouble), trouble);
    return now_ns - begin_ns < c->timeout_ns ||
           comm_fail(c, "no answer from NCCL within %g s", (double)c->timeout_ns * 1e-9);
}

static void abort_nccl(struct nccl *s)
{
    if (s->comm) s->gpu->api.nccl_abort(s->comm);
    s->comm = NULL;
}

static bool give_up(struct nccl *s)
{
    s->gave_up = true;
    abort_nccl(s);
    return false;
}

/* Asks until the answer is another than `not_yet`. */
static bool until(struct comm *c, int (*ask)(const struct nccl *), int not_yet, int *answer)
{
    int64_t begin_ns = net_now_ns(), looked_ns = begin_ns;
    while ((*answer = ask(c->state)) == not_yet)
        if (!watch(c, begin_ns, &looked_ns)) return give_up(c->state);
    return true;
}

static bool ok(struct comm *c, int result, const char *what, const char *(*text)(int))
{
    return result == 0 || comm_fail(c, "%s: %s (%d)", what, text(result), result);
}

static int state_of_nccl(const struct nccl *s)
{
    int state = 0, result = s->gpu->api.nccl_async_error(s->comm, &state);
    return result ? result : state;
}

static int state_of_stream(const struct nccl *s)
{
    return s->gpu->api.stream_query(s->gpu->stream);
}

/* A call of NCCL's has given `result`: waits until NCCL has done what it was called for, which is to launch where it is a collective. */
static bool nccl_ok(struct comm *c, int result, const char *what)
{
    const struct nccl *s = c->state;
    if (result == NCCL_IN_PROGRESS && !until(c, state_of_nccl, NCCL_IN_PROGRESS, &result)) return false;
    return ok(c, result, what, s->gpu->api.nccl_error_text);
}

static bool await(struct comm *c)
{
    const struct nccl *s = c->state;
    int result;
    return until(c, state_of_stream, CUDA_NOT_READY, &result) && ok(c, result, "gpu", s->gpu->api.error_text);
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

static bool to_device(struct comm *c, const void *data, size_t bytes)
{
    struct nccl *s = c->state;
    const struct cuda_api *a = &s->gpu->api;
    return room(c, bytes) &&
           ok(c, a->copy(s->buffer, data, bytes, CUDA_TO_DEVICE, s->gpu->stream), "cudaMemcpyAsync", a->error_text);
}

/* The copy stands in the library until the collective is done, without a look at the peers: it comes when the collective is. */
static bool from_device(struct comm *c, void *data, size_t bytes)
{
    struct nccl *s = c->state;
    const struct cuda_api *a = &s->gpu->api;
    return await(c) && ok(c, a->copy(data, s->buffer, bytes, CUDA_TO_HOST, s->gpu->stream), "cudaMemcpyAsync", a->error_text) &&
           await(c);
}

static bool nccl_all_reduce(struct comm *c, float *v, size_t n)
{
    struct nccl *s = c->state;
    const size_t bytes = n * sizeof *v;
    return to_device(c, v, bytes) &&
           nccl_ok(c, s->gpu->api.nccl_all_reduce(s->buffer, s->buffer, n, NCCL_FLOAT, NCCL_SUM, s->comm, s->gpu->stream),
                   "ncclAllReduce") &&
           from_device(c, v, bytes);
}

static bool nccl_broadcast(struct comm *c, void *data, size_t bytes)
{
    struct nccl *s = c->state;
    return to_device(c, data, bytes) &&
           nccl_ok(c, s->gpu->api.nccl_broadcast(s->buffer, s->buffer, bytes, NCCL_BYTE, 0, s->comm, s->gpu->stream),
                   "ncclBroadcast") &&
           from_device(c, data, bytes);
}

/* After an error there may be work that never ends, which destroying would wait for. */
static void nccl_close(struct comm *c)
{
    struct nccl *s = c->state;
    if (c->error[0]) abort_nccl(s);
    if (s->comm) s->gpu->api.nccl_destroy(s->comm);
    if (s->buffer) s->gpu->api.release(s->buffer);
    free(s);
}

static const struct comm_ops ops = {"nccl", nccl_all_reduce, nccl_broadcast, nccl_close};

/* All ranks come to NCCL's own meeting: it ends as a collective does. */
static bool start(struct comm *c, const struct nccl_id *id)
{
    struct nccl *s = c->state;
    struct nccl_config config = {sizeof config, NCCL_CONFIG_MAGIC, NCCL_CONFIG_VERSION, 0};
    return nccl_ok(c, s->gpu->api.nccl_init_rank(&s->comm, c->size, *id, c->rank, &config), "ncclCommInitRankConfig");
}

bool comm_nccl_take(struct comm *c, struct gpu *g, struct diag *d)
{
    struct {
        struct nccl_id id;
        int made;
    } meeting = {.made = 0};
    if (c->rank == 0) meeting.made = gpu_nccl_ok(g, g->api.nccl_get_id(&meeting.id), "ncclGetUniqueId", d);
    if (!comm_broadcast(c, &meeting, sizeof meeting)) return false;
    struct nccl *s = xcalloc(1, sizeof *s);
    s->gpu = g;
    c->state = s;
    bool started = meeting.made && start(c, &meeting.id);
    float fine = started;
    if (meeting.made && !started && !s->gave_up) diag_error(d, "gpu", 0, NULL, "%s", comm_error(c)), diag_help(d, GPU_NCCL_HELP);
    bool told = comm_all_reduce(c, &fine, 1), agreed = told && fine == (float)c->size;
    if (agreed) return c->ops = &ops, true;
    if (told && !c->error[0] && !diag_errors(d)) diag_error(d, "ranks", 0, NULL, "NCCL does not start on another rank");
    abort_nccl(s);
    free(s);
    c->state = NULL;
    return false;
}
