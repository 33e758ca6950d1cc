/* collective.c - see collective.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/collective.h"

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
                                      .nvlink_bytes_per_s = 450e9,
                                      .nvlink_links = 18,
                                      .nvlink_switch = true,
                                      .pcie_bytes_per_s = 64e9,
                                      .nic = COLLECTIVE_NIC_IB,
                                      .nics = 8,
                                      .nic_bytes_per_s = 50e9};
}

struct collective_fabric collective_fabric_share(struct collective_fabric f, unsigned groups)
{
    if (groups < 2) return f;
    double nics = (double)f.nics / groups;
    f.nics = nics >= 1 ? (unsigned)nics : 1;
    if (nics < 1) f.nic_bytes_per_s *= nics;
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

/* The rings of the first model: one hop costs the network's latency, the slowest link of the ring bounds the rate. */
double collective_time_s(const struct collective_fabric *f, enum collective_op op, double bytes, unsigned ranks_per_node,
                         unsigned nodes, struct collective_choice *choice)
{
    struct collective_choice c = {COLLECTIVE_RING, COLLECTIVE_SIMPLE, 0};
    unsigned n = ranks_per_node * nodes;
    if (n > 1) {
        double rate = f->nvlink_bytes_per_s > 0 ? f->nvlink_bytes_per_s : f->pcie_bytes_per_s;
        double net = f->nic_bytes_per_s * f->nics;
        if (nodes > 1 && net < rate) rate = net;
        double steps = op == COLLECTIVE_ALL_REDUCE ? 2.0 * (n - 1) : n - 1.0;
        c.time_s = steps * (nodes > 1 ? 5e-6 : 2e-6) + collective_bus_factor(op, n) * bytes / rate;
    }
    if (choice) *choice = c;
    return c.time_s;
}
