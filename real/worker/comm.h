/* comm.h - collective operations among the ranks of a job: all-reduce, broadcast, barrier.
 *
 * All ranks call the same operations in the same order. Sums are of floats, each rank ends with the same bits, and for
 * given ranks, transport and algorithm the additions happen in one fixed order, so that a run repeats bit for bit.
 *
 *     struct comm *c = comm_open(&world, &options, &diag);         // rendezvous, then the fastest transport
 *     if (!comm_all_reduce(c, gradient, n)) fail(comm_error(c));   // "rank 2 is gone", "no answer within 600 s"
 *     comm_close(c);
 *
 * Transports and algorithms (n floats, p ranks):
 *
 *     shm   one host. Up to SHM_FLAT_FLOATS each rank adds all ranks' values itself, in the order of ranks: one wait.
 *           Above, in segments, each rank adds its p-th slice of them, also in the order of ranks: two waits a segment.
 *     tcp   ring: p - 1 steps of reduce-scatter, p - 1 of all-gather, each of n / p floats; slice s is added in the order
 *           of ranks s + 1, s + 2, ..., s. tree: up and down a binomial tree; rank r adds r + 1, r + 2, r + 4, ... in this
 *           order, each the sum of its subtree. The tree is taken up to TCP_TREE_FLOATS.
 *     nccl  each rank's values on its GPU (comm_nccl.h); its order is NCCL's own.
 *     mpi   MPI_Allreduce, in the program built for it (main_mpi.c); its order is MPI's own.
 *
 * Rounding. With u = 2^-24 and g(k) = k u / (1 - k u), a sum of p floats x_r in any order differs from the exact sum by at
 * most g(p - 1) sum |x_r| (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 4.2). Two orders, or two numbers
 * of ranks over the same terms, differ by no more than the sum of their bounds. How this carries to gradients: model.h.
 *
 * A peer that ends is noticed at once on tcp and within COMM_LOOK_NS on shm; one that hangs after timeout_ns. After false
 * the comm is good for nothing but comm_error and comm_close. Waiting is short spinning, then yielding the core, then sleep.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_COMM_H
#define TRAINYARD_REAL_WORKER_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "real/worker/rendezvous.h"
#include "real/worker/world.h"

#define COMM_LOOK_NS    (INT64_C(10) * 1000000)
#define COMM_TIMEOUT_NS (INT64_C(600) * 1000000000) /* NCCL's process group in PyTorch from 2.2 on */
#define TCP_TREE_FLOATS 4096

enum comm_transport { COMM_AUTO, COMM_TCP, COMM_SHM, COMM_NCCL };
struct gpu;
enum comm_algorithm { COMM_ANY, COMM_RING, COMM_TREE }; /* of tcp */

struct comm_options {
    enum comm_transport transport; /* auto: shm where all ranks can share memory */
    enum comm_algorithm algorithm;
    int64_t timeout_ns; /* of one operation */
    struct gpu *gpu;    /* of nccl: the device in use; outlives the comm */
    struct rendezvous_options rendezvous;
};

struct comm;

/* What a transport is: a row of functions over its own state. Each gives false after comm_fail. */
struct comm_ops {
    const char *name;
    bool (*all_reduce)(struct comm *, float *, size_t n);
    bool (*broadcast)(struct comm *, void *, size_t bytes); /* from rank 0 */
    void (*close)(struct comm *);
};

struct comm {
    const struct comm_ops *ops;
    int rank, size;
    void *state; /* the transport's */
    struct mesh mesh;
    enum comm_algorithm algorithm;
    int64_t timeout_ns;
    char error[160];
};

/* NULL and a reason in diag. `settings` of the rendezvous is what all ranks must run with alike. A comm with a comm_error has lost a
 * peer meanwhile, and is good for nothing but to be closed. */
struct comm *comm_open(const struct world *, const struct comm_options *, struct diag *);

/* In place: v[i] becomes the sum over ranks. */
bool comm_all_reduce(struct comm *, float *v, size_t n);
bool comm_broadcast(struct comm *, void *, size_t bytes);

/* Stands until that moment of net_now_ns, or until a peer's connection breaks: the next operation fails then. */
void comm_sleep_until(struct comm *, int64_t ns);

const char *comm_error(const struct comm *); /* "": none */
void comm_close(struct comm *); /* NULL is fine */

/* For transports: notes the reason and gives false. */
bool comm_fail(struct comm *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The transports over a connected mesh, which comm_close closes. */
struct comm *comm_over_tcp(struct mesh, enum comm_algorithm, int64_t timeout_ns);

#endif
