/* collective.c - see collective.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/collective.h"

#include <stdint.h>

#include "base/detmath.h"
#include "models/collective_model.h"

const char *const collective_op_names[] = {"all-reduce", "all-gather",     "reduce-scatter",
                                           "broadcast",  "all-to-all", "point-to-point"};
const char *const collective_algorithm_names[] = {"ring", "tree",      "halving-doubling", "recursive-doubling", "hierarchical",
                                                  "nvls", "nvls-tree", "collnet",          "pat",                "direct"};
const char *const collective_protocol_names[] = {"ll", "ll128", "simple", "eager", "rendezvous"};
const char *const collective_library_names[] = {"nccl", "rccl", "mpi", "gloo"};
const char *const collective_nic_names[] = {"ib", "roce", "efa", "slingshot", "tcp", "tcpx"};

struct collective_fabric collective_fabric_default(void)
{
    return (struct collective_fabric){.library = COLLECTIVE_NCCL,
                                      .gpu_generation = 90,
                                      .gpus_per_node = 8,
                                      .nvlink_bytes_per_s = 450e9,
                                      .nvlink_links = 18,
                                      .nvlink_switch = true,
                                      .pcie_peer = true,
                                      .pcie_bytes_per_s = 64e9,
                                      .nic = COLLECTIVE_NIC_IB,
                                      .nics = 8,
                                      .nic_bytes_per_s = 50e9,
                                      .net_latency_s = -1,
                                      .share = 1};
}

struct collective_fabric collective_fabric_share(struct collective_fabric f, unsigned groups)
{
    if (groups > 1) f.share = (f.share > 0 ? f.share : 1) / groups;
    return f;
}

double collective_bus_factor(enum collective_op op, unsigned ranks)
{
    double n = ranks;
    switch (op) {
    case COLLECTIVE_ALL_REDUCE: return ranks < 2 ? 0 : 2 * (n - 1) / n;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL: return ranks < 2 ? 0 : (n - 1) / n;
    default: return 1;
    }
}

unsigned collective_log2_floor(double x)
{
    unsigned n = 0;
    for (; x >= 2 && n < 1023; n++) x /= 2;
    return n;
}

unsigned collective_log2_ceil(unsigned x)
{
    unsigned n = 0;
    while (n < 32 && (uint64_t)1 << n < x) n++;
    return n;
}

/* ---- from hardware ---- */

/* An NVLink domain that spans nodes makes one large node of them. */
static struct collective_ranks ranks_of(const struct collective_fabric *f, unsigned local, unsigned nodes)
{
    if (f->nvlink_domain > local && nodes > 1) {
        unsigned joined = f->nvlink_domain / local;
        if (joined >= nodes) return (struct collective_ranks){local * nodes, 1};
        return (struct collective_ranks){local * joined, (nodes + joined - 1) / joined};
    }
    return (struct collective_ranks){local, nodes};
}

static struct collective_choice from_hardware(const struct collective_fabric *f, enum collective_op op, double bytes,
                                              unsigned local, unsigned nodes)
{
    bool gpus = f->library == COLLECTIVE_NCCL || f->library == COLLECTIVE_RCCL;
    return (gpus ? collective_nccl : collective_mpi)(f, op, bytes, ranks_of(f, local, nodes));
}

/* ---- from a measured curve ---- */

static double measured_at(const struct collective_fabric *f, enum collective_op op, double bytes, unsigned local,
                          unsigned nodes)
{
    double there = from_hardware(f, op, bytes, local, nodes).time_s;
    double here = from_hardware(f, f->measured_op, bytes, f->measured_ranks_per_node, f->measured_nodes).time_s;
    return collective_curve_s(&f->measured, bytes) * there / here;
}


#define LAST_POWER 50 /* beyond a PiB the last octave goes on */

/* At another scale the curve times the ratio of the models: at powers of two, never falling, straight between them. */
static double scaled(const struct collective_fabric *f, enum collective_op op, double bytes, unsigned local, unsigned nodes)
{
    unsigned power = bytes < 1 ? 0 : collective_log2_floor(bytes);
    if (power > LAST_POWER) power = LAST_POWER;
    double low = 0, high;
    for (unsigned k = 0; k <= power; k++) {
        double t = measured_at(f, op, (double)((uint64_t)1 << k), local, nodes);
        if (t > low) low = t;
    }
    high = measured_at(f, op, (double)((uint64_t)2 << power), local, nodes);
    if (high < low) high = low;
    double base = (double)((uint64_t)1 << power);
    return bytes < base ? low : low + (high - low) * (bytes - base) / base;
}

static bool as_measured(const struct collective_fabric *f, enum collective_op op, unsigned local, unsigned nodes)
{
    return op == f->measured_op && local == f->measured_ranks_per_node && nodes == f->measured_nodes;
}

double collective_time_s(const struct collective_fabric *f, enum collective_op op, double bytes, unsigned ranks_per_node,
                         unsigned nodes, struct collective_choice *choice)
{
    struct collective_choice c = {COLLECTIVE_RING, COLLECTIVE_SIMPLE, 0};
    if ((uint64_t)ranks_per_node * nodes > 1) {
        if (!(bytes > 0)) bytes = 0;
        c = from_hardware(f, op, bytes, ranks_per_node, nodes);
        if (f->measured.form != COLLECTIVE_NO_CURVE)
            c.time_s = as_measured(f, op, ranks_per_node, nodes) ? collective_curve_s(&f->measured, bytes)
                                                                 : scaled(f, op, bytes, ranks_per_node, nodes);
    }
    if (choice) *choice = c;
    return c.time_s;
}
