/* comm.c - opening, the choice of the transport, and what transports share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/comm.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"

#include "real/worker/comm_nccl.h"
#include "real/worker/comm_shm.h"
#include "real/worker/net.h"

bool comm_fail(struct comm *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(c->error, sizeof c->error, fmt, args);
    va_end(args);
    return false;
}

const char *comm_error(const struct comm *c)
{
    return c->error;
}

bool comm_all_reduce(struct comm *c, float *v, size_t n)
{
    return c->size == 1 || n == 0 || c->ops->all_reduce(c, v, n);
}

bool comm_broadcast(struct comm *c, void *data, size_t bytes)
{
    return c->size == 1 || bytes == 0 || c->ops->broadcast(c, data, bytes);
}

void comm_sleep_until(struct comm *c, int64_t ns)
{
    nfds_t n = c->mesh.fd ? (nfds_t)c->size : 0;
    struct pollfd *peers = xcalloc(n + 1, sizeof *peers);
    for (nfds_t i = 0; i < n; i++) peers[i] = (struct pollfd){.fd = c->mesh.fd[i], .events = POLLRDHUP}; /* -1: itself */
    for (int64_t left; (left = ns - net_now_ns()) > 0;)
        if (ppoll(peers, n, &(struct timespec){left / NS_PER_S, left % NS_PER_S}, NULL) > 0) break;
    free(peers);
}

void comm_close(struct comm *c)
{
    if (!c) return;
    if (c->ops->close) c->ops->close(c);
    mesh_close(&c->mesh);
    free(c);
}

static bool take_shared_memory(struct comm *c, const struct comm_options *o, struct diag *d)
{
    bool shared = false;
    if (!comm_shm_try(c, &shared)) return false; /* a peer is lost */
    if (shared || o->transport != COMM_SHM) return true;
    diag_error(d, "ranks", 0, NULL, "--transport shm: the ranks cannot share memory");
    diag_help(d, "they must be on one host, with one user and one process namespace; else use --transport tcp");
    return false;
}

struct comm *comm_open(const struct world *w, const struct comm_options *o, struct diag *d)
{
    struct mesh mesh = {0};
    if (!rendezvous_join(w, &o->rendezvous, &mesh, d)) return NULL;
    struct comm *c = comm_over_tcp(mesh, o->algorithm, o->timeout_ns);
    if (o->transport == COMM_TCP || c->size == 1) return c;
    if (o->transport == COMM_NCCL ? comm_nccl_take(c, o->gpu, d) : take_shared_memory(c, o, d)) return c;
    if (!diag_errors(d)) return c; /* comm_error says which */
    comm_close(c);
    return NULL;
}
