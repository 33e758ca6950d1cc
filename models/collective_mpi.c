/* collective_mpi.c - collectives of MPI and Gloo over shared memory, TCP and RDMA, on CPU memory.
 *
 * The closed forms over hops of alpha + bytes / B, a reduction of gamma a byte, the least of the algorithms that the
 * libraries have (Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
 * IJHPCA 19, 2005); an MPI with several ranks a node works node by node, Gloo (ring and halving-doubling) does not.
 * Messages beyond the eager limit wait for a handshake: two hops more each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/collective_model.h"

/* What a hop costs: latency, bandwidth of one rank's stream, eager limit. Sources of the values: shared memory: OSU
 * pt2pt over one node, about 0.4 us and one copy in and one out; InfiniBand and Slingshot about 1.5 us (vendors'
 * figures of MPI latency), RoCE 2, EFA 15.5 us (AWS SRD paper), TCP 20 us (two passes of both kernels). Eager limits:
 * Open MPI's btl_vader 4 KiB, btl_tcp 64 KiB, UCX rendezvous threshold about 8 KiB. */
struct hop { double alpha_s, bytes_per_s, eager_bytes; };

static const struct hop shared_memory = {0.4e-6, 8e9, 4096};
static const struct hop by_nic[COLLECTIVE_N_NICS] = {
    {1.5e-6, 0, 8192}, {2e-6, 0, 8192}, {15.5e-6, 0, 8192}, {1.7e-6, 0, 8192}, {20e-6, 0, 65536}, {20e-6, 0, 65536},
};
#define REDUCE_S_PER_BYTE 2e-10 /* one core adds about 5 GB/s */
#define NET_EFFICIENCY    0.94  /* TCP over Ethernet: 1448 of 1538 bytes of a frame are payload */

/* The machine as these algorithms see it: `n` equal participants over one kind of hop. */
struct stage { unsigned n; struct hop hop; };

static double hop_s(const struct stage *s, double bytes)
{
    double handshake = bytes > s->hop.eager_bytes ? 2 * s->hop.alpha_s : 0;
    return s->hop.alpha_s + handshake + bytes / s->hop.bytes_per_s;
}

static double recursive_doubling_s(const struct stage *s, double bytes)
{
    return collective_log2_ceil(s->n) * (hop_s(s, bytes) + bytes * REDUCE_S_PER_BYTE);
}

/* Reduce-scatter by halving, gather by doubling; a number of ranks that is no power of two costs two hops more. */
static double halving_doubling_s(const struct stage *s, double bytes)
{
    unsigned steps = collective_log2_floor(s->n), whole = 1u << steps;
    double t = 0, part = bytes;
    for (unsigned i = 0; i < steps; i++) {
        part /= 2;
        t += 2 * hop_s(s, part) + part * REDUCE_S_PER_BYTE;
    }
    return whole == s->n ? t : t + 2 * hop_s(s, bytes);
}

static double ring_s(const struct stage *s, double bytes, double steps)
{
    double part = bytes / s->n;
    return steps * hop_s(s, part);
}

static double binomial_s(const struct stage *s, double bytes)
{
    return collective_log2_ceil(s->n) * hop_s(s, bytes);
}

struct best { double s; enum collective_algorithm algorithm; };

static void take(struct best *b, double s, enum collective_algorithm a)
{
    if (s < b->s) *b = (struct best){s, a};
}

static struct best best_of(const struct stage *s, enum collective_op op, double bytes, bool gloo)
{
    struct best b = {1e300, COLLECTIVE_RING};
    double n = s->n, others = n - 1;
    switch (op) {
    case COLLECTIVE_ALL_REDUCE:
        if (!gloo) take(&b, recursive_doubling_s(s, bytes), COLLECTIVE_RECURSIVE_DOUBLING);
        take(&b, halving_doubling_s(s, bytes), COLLECTIVE_HALVING_DOUBLING);
        take(&b, ring_s(s, bytes, 2 * others) + others / n * bytes * REDUCE_S_PER_BYTE, COLLECTIVE_RING);
        break;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER: {
        double adding = op == COLLECTIVE_REDUCE_SCATTER ? others / n * bytes * REDUCE_S_PER_BYTE : 0;
        take(&b, ring_s(s, bytes, others) + adding, COLLECTIVE_RING);
        if (!gloo) take(&b, halving_doubling_s(s, bytes) / 2 + adding, COLLECTIVE_HALVING_DOUBLING);
        break;
    }
    case COLLECTIVE_BROADCAST: /* short: a binomial tree; long: scatter and gather */
        take(&b, binomial_s(s, bytes), COLLECTIVE_TREE);
        take(&b, binomial_s(s, bytes / n) + ring_s(s, bytes, others) + others / n * bytes / s->hop.bytes_per_s, COLLECTIVE_RING);
        break;
    case COLLECTIVE_ALL_TO_ALL: take(&b, ring_s(s, bytes, others), COLLECTIVE_DIRECT); break;
    default: take(&b, hop_s(s, bytes), COLLECTIVE_DIRECT); break;
    }
    return b;
}

static struct hop net_hop(const struct collective_fabric *f, double streams)
{
    struct hop h = by_nic[f->nic];
    double share = f->share > 0 ? f->share : 1, node = f->nic_bytes_per_s * (f->nics ? f->nics : 1) * share * NET_EFFICIENCY;
    if (f->net_latency_s >= 0) h.alpha_s = f->net_latency_s;
    h.bytes_per_s = node / streams;
    return h;
}

/* Node by node: reduce within, across, and within again; or at once over all ranks, which share the NICs. */
static struct best layered(const struct collective_fabric *f, enum collective_op op, double bytes, struct collective_ranks r)
{
    bool gloo = f->library == COLLECTIVE_GLOO;
    struct stage within = {r.local, shared_memory}, across = {r.nodes, net_hop(f, 1)};
    struct stage flat = {r.local * r.nodes, net_hop(f, r.local)};
    if (r.nodes == 1) return best_of(&within, op, bytes, gloo);
    struct best b = best_of(&flat, op, bytes, gloo);
    if (r.local == 1 || gloo || op == COLLECTIVE_ALL_TO_ALL || op == COLLECTIVE_POINT_TO_POINT) return b;
    double node = op == COLLECTIVE_ALL_GATHER || op == COLLECTIVE_REDUCE_SCATTER ? bytes / r.nodes : bytes;
    double s = best_of(&across, op, bytes, gloo).s + best_of(&within, op, node, gloo).s;
    if (op != COLLECTIVE_ALL_REDUCE) s += binomial_s(&within, bytes) - hop_s(&within, bytes);
    take(&b, s, COLLECTIVE_HIERARCHICAL);
    return b;
}

struct collective_choice collective_mpi(const struct collective_fabric *f, enum collective_op op, double bytes,
                                        struct collective_ranks r)
{
    struct best b = layered(f, op, bytes, r);
    double limit = r.nodes > 1 ? by_nic[f->nic].eager_bytes : shared_memory.eager_bytes;
    return (struct collective_choice){b.algorithm, bytes > limit ? COLLECTIVE_RENDEZVOUS : COLLECTIVE_EAGER, b.s};
}
