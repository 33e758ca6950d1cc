/* allreduce_mpi.c - the worker's all-reduce beside MPI_Allreduce, in the same processes: NAME VALUE UNIT goal GOAL.
 *
 *     mpirun -n RANKS allreduce_mpi shm|tcp
 *
 * For each size from 4 B to 64 MB (powers of four) both are called in turns, ROUNDS rounds of each; a round is so many calls
 * as take about 20 ms and begins with a barrier of MPI. A figure is the least of the slowest rank's mean over rounds, which
 * leaves out rounds that other programs disturbed. Both sums are compared with the exact one (small whole numbers).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "real/worker/comm.h"

enum { ROUNDS = 7, SIZES = 13 };
static const double ROUND_S = 0.02;

struct side {
    struct comm *comm; /* NULL: MPI's */
    float *v;
    double best_s;
};

static void call(struct side *s, size_t n)
{
    if (!s->comm) MPI_Allreduce(MPI_IN_PLACE, s->v, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (!comm_all_reduce(s->comm, s->v, n)) fprintf(stderr, "%s\n", comm_error(s->comm)), MPI_Abort(MPI_COMM_WORLD, 4);
}

/* Mean seconds a call, of the slowest rank. */
static double round_s(struct side *s, size_t n, int calls)
{
    double begin_s, mean_s, slowest_s;
    memset(s->v, 0, n * sizeof *s->v);
    MPI_Barrier(MPI_COMM_WORLD);
    call(s, n); /* brings all together, and the pages in */
    begin_s = MPI_Wtime();
    for (int i = 0; i < calls; i++) call(s, n);
    mean_s = (MPI_Wtime() - begin_s) / calls;
    MPI_Allreduce(&mean_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest_s;
}

static void check(struct side *s, size_t n, int rank, int size)
{
    for (size_t i = 0; i < n; i++) s->v[i] = (float)((rank + 1) * (int)(i % 1000));
    call(s, n);
    for (size_t i = 0; i < n; i++)
        if (s->v[i] != (float)(size * (size + 1) / 2 * (int)(i % 1000))) {
            fprintf(stderr, "%s: float %zu of %zu is %g\n", s->comm ? "worker" : "MPI", i, n, (double)s->v[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static void measure(struct side sides[2], size_t n, int rank, int size)
{
    for (int s = 0; s < 2; s++) check(&sides[s], n, rank, size), sides[s].best_s = 1e9;
    double once_s = round_s(&sides[0], n, 3);
    int calls = once_s < ROUND_S ? (int)(ROUND_S / once_s) : 1;
    MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; i++)
        for (int s = 0; s < 2; s++) {
            double t = round_s(&sides[s], n, calls);
            if (t < sides[s].best_s) sides[s].best_s = t;
        }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool tcp = argc > 1 && !strcmp(argv[1], "tcp");
    struct arena arena = {0};
    struct diag d = {0};
    struct world w;
    struct comm_options o = {.transport = tcp ? COMM_TCP : COMM_SHM, .timeout_ns = seconds(60),
                             .rendezvous = {.timeout_ns = seconds(60), .pairing_ns = seconds(30)}};
    struct comm *comm = world_read(environ, &arena, &w, &d) ? comm_open(&w, &o, &d) : NULL;
    diag_print(&d, stderr);
    if (!comm) MPI_Abort(MPI_COMM_WORLD, 4);
    const size_t most = (size_t)16 << 20;
    struct side sides[2] = {{comm, xmalloc(most * sizeof(float)), 0}, {NULL, xmalloc(most * sizeof(float)), 0}};
    double ratio[SIZES];
    for (int k = 0; k < SIZES; k++) {
        size_t n = (size_t)1 << (2 * k);
        measure(sides, n, rank, size);
        ratio[k] = sides[0].best_s / sides[1].best_s;
        if (rank == 0)
            printf("allreduce_%s_%d_ranks_%zu_B %.2f us (MPI_Allreduce %.2f us, ratio %.2f)\n", tcp ? "tcp" : "shm", size, 4 * n,
                   sides[0].best_s * 1e6, sides[1].best_s * 1e6, ratio[k]);
    }
    qsort(ratio, SIZES, sizeof *ratio, ascending);
    if (rank == 0) printf("allreduce_%s_%d_ranks %.2f x MPI_Allreduce, median over sizes%s\n", tcp ? "tcp" : "shm", size,
                          ratio[SIZES / 2], tcp ? "" : " goal 1.2");
    for (int s = 0; s < 2; s++) free(sides[s].v);
    comm_close(comm);
    arena_free(&arena);
    diag_free(&d);
    MPI_Finalize();
}
