/* main_mpi.c - trainyard-worker-mpi: the ranks of mpirun, and MPI's own collectives.
 *
 * The order of additions is MPI's, so bits may differ from those of trainyard-worker, within the same bound. A lost rank ends
 * all: MPI aborts the job.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <mpi.h>

#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"
#include "real/worker/worker.h"

enum { PIECE = 1 << 28 }; /* counts are int */

static bool mpi_all_reduce(struct comm *c, float *v, size_t n)
{
    for (size_t at = 0; at < n; at += PIECE) {
        int m = (int)(n - at < PIECE ? n - at : PIECE);
        if (MPI_Allreduce(MPI_IN_PLACE, v + at, m, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD))
            return comm_fail(c, "MPI_Allreduce failed");
    }
    return true;
}

static bool mpi_broadcast(struct comm *c, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PIECE) {
        int m = (int)(bytes - at < PIECE ? bytes - at : PIECE);
        if (MPI_Bcast((char *)data + at, m, MPI_BYTE, 0, MPI_COMM_WORLD)) return comm_fail(c, "MPI_Bcast failed");
    }
    return true;
}

static struct comm *open_mpi(const struct world *w, const struct comm_options *o, struct diag *d)
{
    static const struct comm_ops ops = {"mpi", mpi_all_reduce, mpi_broadcast, NULL};
    struct comm *c = xcalloc(1, sizeof *c);
    (void)w, (void)d;
    *c = (struct comm){.ops = &ops, .timeout_ns = o->timeout_ns};
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->size);
    return c;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int code = worker_main(argc, argv, open_mpi);
    if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
    MPI_Finalize();
    return code;
}
