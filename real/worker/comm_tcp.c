/* comm_tcp.c - ring and tree over the connections of the mesh.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "real/worker/comm.h"
#include "real/worker/net.h"

static bool lost(struct comm *c, int a, int b)
{
    if (errno == ETIMEDOUT)
        return comm_fail(c, "no answer from rank %d%s within %g s", a, a == b ? "" : " or its neighbour",
                         (double)c->timeout_ns * 1e-9);
    int gone = net_gone(c->mesh.fd[a]) ? a : b;
    return comm_fail(c, "rank %d is gone: %s", gone, strerror(errno));
}

static void add(float *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] += from[i];
}

/* Slice s of p of n floats begins here; slices differ by at most one float. */
static size_t slice_at(size_t n, int p, int s)
{
    return n / (size_t)p * (size_t)s + ((size_t)s < n % (size_t)p ? (size_t)s : n % (size_t)p);
}

/* One step of the ring: slice `out` goes to the next rank, slice `in` of the one before comes into `to`. */
static bool ring_step(struct comm *c, float *v, size_t n, int out, int in, float *to, int64_t deadline_ns)
{
    int p = c->size, next = (c->rank + 1) % p, before = (c->rank + p - 1) % p;
    size_t from = slice_at(n, p, out), end = slice_at(n, p, out + 1);
    size_t in_n = slice_at(n, p, in + 1) - slice_at(n, p, in);
    return net_exchange(c->mesh.fd[next], v + from, (end - from) * sizeof *v, c->mesh.fd[before], to, in_n * sizeof *v,
                        deadline_ns) ||
           lost(c, before, next);
}

static bool ring(struct comm *c, float *v, size_t n)
{
    int p = c->size;
    int64_t deadline_ns = net_now_ns() + c->timeout_ns;
    float *come = xmalloc((n / (size_t)p + 1) * sizeof *come);
    bool ok = true;
    for (int step = 0; ok && step < p - 1; step++) { /* reduce-scatter: rank r ends with slice r + 1 */
        int out = (c->rank - step + p) % p, in = (c->rank - step - 1 + p) % p;
        ok = ring_step(c, v, n, out, in, come, deadline_ns);
        if (ok) add(v + slice_at(n, p, in), come, slice_at(n, p, in + 1) - slice_at(n, p, in));
    }
    for (int step = 0; ok && step < p - 1; step++) { /* all-gather */
        int out = (c->rank + 1 - step + p) % p, in = (c->rank - step + p) % p;
        ok = ring_step(c, v, n, out, in, v + slice_at(n, p, in), deadline_ns);
    }
    free(come);
    return ok;
}

/* Down the binomial tree: at distance d the ranks that are multiples of 2d send to those d further. */
static bool tree_down(struct comm *c, void *data, size_t bytes, int64_t deadline_ns)
{
    int top = 1;
    while (top < c->size) top *= 2;
    for (int d = top / 2; d >= 1; d /= 2) {
        if (c->rank % (2 * d) == 0 && c->rank + d < c->size) {
            if (!net_send(c->mesh.fd[c->rank + d], data, bytes, deadline_ns)) return lost(c, c->rank + d, c->rank + d);
        } else if (c->rank % (2 * d) == d) {
            if (!net_receive(c->mesh.fd[c->rank - d], data, bytes, deadline_ns))
                return lost(c, c->rank - d, c->rank - d);
        }
    }
    return true;
}

static bool tree_up(struct comm *c, float *v, size_t n, float *come, int64_t deadline_ns)
{
    for (int d = 1; d < c->size; d *= 2) {
        if (c->rank % (2 * d) == d) {
            int to = c->rank - d;
            return net_send(c->mesh.fd[to], v, n * sizeof *v, deadline_ns) || lost(c, to, to);
        }
        if (c->rank + d >= c->size) continue;
        int from = c->rank + d;
        if (!net_receive(c->mesh.fd[from], come, n * sizeof *v, deadline_ns)) return lost(c, from, from);
        add(v, come, n);
    }
    return true;
}

static bool tree(struct comm *c, float *v, size_t n)
{
    int64_t deadline_ns = net_now_ns() + c->timeout_ns;
    float *come = xmalloc(n * sizeof *come);
    bool ok = tree_up(c, v, n, come, deadline_ns) && tree_down(c, v, n * sizeof *v, deadline_ns);
    free(come);
    return ok;
}

static bool tcp_all_reduce(struct comm *c, float *v, size_t n)
{
    bool by_tree = c->algorithm == COMM_TREE || (c->algorithm == COMM_ANY && n <= TCP_TREE_FLOATS);
    return by_tree ? tree(c, v, n) : ring(c, v, n);
}

static bool tcp_broadcast(struct comm *c, void *data, size_t bytes)
{
    return tree_down(c, data, bytes, net_now_ns() + c->timeout_ns);
}

static const struct comm_ops tcp = {"tcp", tcp_all_reduce, tcp_broadcast, NULL};

struct comm *comm_over_tcp(struct mesh mesh, enum comm_algorithm algorithm, int64_t timeout_ns)
{
    struct comm *c = xcalloc(1, sizeof *c);
    *c = (struct comm){.ops = &tcp,
                       .rank = mesh.rank,
                       .size = mesh.size,
                       .mesh = mesh,
                       .algorithm = algorithm,
                       .timeout_ns = timeout_ns};
    return c;
}
