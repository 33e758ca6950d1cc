/* comm.c - opening, the choice of the transport, and what transports share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/comm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "real/worker/comm_shm.h"

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

bool comm_barrier(struct comm *c)
{
    float none = 0;
    return comm_all_reduce(c, &none, 1);
}

void comm_close(struct comm *c)
{
    if (!c) return;
    if (c->ops->close) c->ops->close(c);
    mesh_close(&c->mesh);
    free(c);
}

struct comm *comm_open(const struct world *w, const struct comm_options *o, struct diag *d)
{
    struct mesh mesh = {0};
    if (!rendezvous_join(w, &o->rendezvous, &mesh, d)) return NULL;
    struct comm *c = comm_over_tcp(mesh, o->algorithm, o->timeout_ns);
    if (o->transport == COMM_TCP || c->size == 1) return c;
    bool shared = false, ok = comm_shm_try(c, &shared);
    if (!ok) diag_error(d, "ranks", 0, NULL, "cannot agree on a transport: %s", comm_error(c));
    if (ok && !shared && o->transport == COMM_SHM) {
        diag_error(d, "ranks", 0, NULL, "--transport shm: the ranks cannot share memory");
        diag_help(d, "they must be on one host, with one user and one process namespace; else use --transport tcp");
        ok = false;
    }
    if (ok) return c;
    comm_close(c);
    return NULL;
}
