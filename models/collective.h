/* collective.h - how long a collective operation takes on given hardware.
 *
 *     struct collective_fabric f = collective_fabric_default();        // or from profiles: input/collective_fabric.h
 *     struct collective_choice why;
 *     double s = collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 1 << 30, 8, 4, &why);   // 4 nodes x 8 ranks, 1 GiB
 *
 * `bytes` is the size as nccl-tests and MPI count it: all-reduce, broadcast and point to point the buffer of a rank;
 * all-gather the gathered result; reduce-scatter the whole input; all-to-all the send buffer of a rank (all its pieces).
 * The ranks stand in equal parts on the nodes. One rank alone takes 0 s. Like groups that use the same nodes at the same
 * time (one group a local rank, as data-parallel groups beside tensor-parallel ones are) share NICs: give each its part
 * by collective_fabric_share.
 *
 * Pure: no state, no clock, no libm (base/detmath.h), so the result may reach the simulated clock. Results are finite,
 * >= 0 and do not fall when bytes grow.
 *
 * What is modelled: NCCL and RCCL in collective_nccl.c, MPI and Gloo in collective_mpi.c, both from hardware alone. When
 * the fabric carries a measured curve, that holds at the scale and for the operation that it was measured at; elsewhere
 * it is multiplied by the ratio of the two models. Cost: about 1 us a call, 50 us with a curve at another scale.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_COLLECTIVE_H
#define TRAINYARD_MODELS_COLLECTIVE_H

#include <stdbool.h>

#include "models/collective_curve.h"

enum collective_op {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_POINT_TO_POINT,
    COLLECTIVE_N_OPS
};
extern const char *const collective_op_names[COLLECTIVE_N_OPS]; /* "all-reduce", ... */

enum collective_algorithm {
    COLLECTIVE_RING,
    COLLECTIVE_TREE,             /* double binary tree */
    COLLECTIVE_HALVING_DOUBLING, /* recursive; MPI, Gloo */
    COLLECTIVE_RECURSIVE_DOUBLING,
    COLLECTIVE_HIERARCHICAL,     /* within nodes, across nodes, within nodes */
    COLLECTIVE_NVLS,             /* reduction in the NVLink switch */
    COLLECTIVE_NVLS_TREE,
    COLLECTIVE_COLLNET,          /* reduction in the network's switches (SHARP) */
    COLLECTIVE_PAT,              /* parallel aggregated trees */
    COLLECTIVE_DIRECT,           /* each to each */
    COLLECTIVE_N_ALGORITHMS
};
extern const char *const collective_algorithm_names[COLLECTIVE_N_ALGORITHMS];

/* How data are handed from GPU to GPU: 8-byte words of half data, half flag; 128-byte lines of 120 bytes data; plain
 * buffers and a fence. MPI: eager or rendezvous. */
enum collective_protocol {
    COLLECTIVE_LL,
    COLLECTIVE_LL128,
    COLLECTIVE_SIMPLE,
    COLLECTIVE_EAGER,
    COLLECTIVE_RENDEZVOUS,
    COLLECTIVE_N_PROTOCOLS
};
extern const char *const collective_protocol_names[COLLECTIVE_N_PROTOCOLS];

enum collective_library { COLLECTIVE_NCCL, COLLECTIVE_RCCL, COLLECTIVE_MPI, COLLECTIVE_GLOO, COLLECTIVE_N_LIBRARIES };
extern const char *const collective_library_names[COLLECTIVE_N_LIBRARIES];

enum collective_nic {
    COLLECTIVE_NIC_IB,
    COLLECTIVE_NIC_ROCE,
    COLLECTIVE_NIC_EFA,
    COLLECTIVE_NIC_SLINGSHOT,
    COLLECTIVE_NIC_TCP,   /* kernel sockets */
    COLLECTIVE_NIC_TCPX,  /* sockets with the payload placed in GPU memory (GPUDirect-TCPX, -TCPXO) */
    COLLECTIVE_N_NICS
};
extern const char *const collective_nic_names[COLLECTIVE_N_NICS];

/* Hardware, from public specifications. A GPU reaches the NICs beside it: nics / gpus_per_node of them, at least one. */
struct collective_fabric {
    enum collective_library library;
    unsigned gpu_generation;      /* CUDA compute capability x 10: 70, 80, 90, 100; AMD gfx942: 94; 0: CPU memory */
    unsigned gpus_per_node;       /* of the machine, not of the job */
    double nvlink_bytes_per_s;    /* a GPU to all others of its node together, one direction; 0: PCIe */
    unsigned nvlink_links;        /* a GPU */
    bool nvlink_switch;           /* each pair at full rate; from Hopper on it can reduce (NVLS) */
    unsigned nvlink_domain;       /* GPUs that one NVLink domain joins, also across nodes; 0: those of a node */
    bool pcie_peer;               /* GPUs write into each other over PCIe; false: through the memory of the host */
    double pcie_bytes_per_s;      /* a GPU to its host, one direction */
    enum collective_nic nic;
    unsigned nics;                /* a node */
    double nic_bytes_per_s;       /* one, one direction */
    double net_latency_s;         /* of a small message from node to node; < 0: by kind of NIC */
    bool sharp;                   /* switches reduce */
    bool amd_cpu;
    unsigned gpus_per_process;    /* GPUs whose kernels one process launches, one after the other; 0: 1 */
    double share;                 /* of a node's NICs that this group of ranks may use; 0: all */
    unsigned algorithms;          /* bit set of enum collective_algorithm that are allowed; 0: all */
    struct collective_curve measured; /* calibration; see collective_curve.h. form COLLECTIVE_NO_CURVE: none */
    enum collective_op measured_op;
    unsigned measured_ranks_per_node, measured_nodes;
};

struct collective_choice {
    enum collective_algorithm algorithm;
    enum collective_protocol protocol;
    double time_s;
};

/* One 8 x H100 node with 8 x 400 Gbit/s InfiniBand. */
struct collective_fabric collective_fabric_default(void);

/* The part of one of `groups` like groups that run at once on the same nodes: the NICs of a node are divided. */
struct collective_fabric collective_fabric_share(struct collective_fabric f, unsigned groups);

/* Seconds; `choice` may be NULL. */
double collective_time_s(const struct collective_fabric *f, enum collective_op op, double bytes, unsigned ranks_per_node,
                         unsigned nodes, struct collective_choice *choice);

/* Bus bandwidth over algorithm bandwidth of n ranks: 2 (n - 1) / n for all-reduce, (n - 1) / n for all-gather,
 * reduce-scatter and all-to-all, 1 else (NVIDIA/nccl-tests, doc/PERFORMANCE.md). */
double collective_bus_factor(enum collective_op op, unsigned ranks);

#endif
