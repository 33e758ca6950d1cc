/* world.h - which rank of how many a process is, and where its peers meet, read from the environment.
 *
 * Each kind of job injects its own variables; a kind is a row of the table in world.c. The first row whose variables are
 * there is taken, the most specific first:
 *
 *     row              variables
 *     OpenMPI          OMPI_COMM_WORLD_RANK, _SIZE; MASTER_ADDR, else this host (one host), else the hostfile's first
 *     TFJob            TF_CONFIG: chief (or master) is rank 0, workers follow; meets at rank 0's address
 *     JAXJob, TrainJob JAX_PROCESS_ID, JAX_NUM_PROCESSES, JAX_COORDINATOR_ADDRESS (host:port), also without JAX_ and with
 *                      COORDINATOR_PORT
 *     XGBoost, MXNet   DMLC_TASK_ID, DMLC_NUM_WORKER, DMLC_TRACKER_URI, DMLC_TRACKER_PORT
 *     PaddleJob        PADDLE_TRAINER_ID (may be absent), PADDLE_TRAINERS_NUM or PADDLE_NNODES, PADDLE_MASTER
 *     torchrun         PET_NNODES (N or MIN:MAX), PET_NPROC_PER_NODE, PET_NODE_RANK, PET_RDZV_ENDPOINT or PET_MASTER_ADDR and
 *                      _PORT, PET_MAX_RESTARTS; only where RANK is absent, the number of nodes is a range or there are
 *                      several processes a node. Without LOCAL_RANK the process stands for all ranks of its node
 *     Ray Train        RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, and RAY_ADDRESS or RAY_JOB_ID
 *     PyTorchJob       RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT (also XGBoostJob's)
 *     none             one process: rank 0 of 1
 *
 * Names and values are those that the real controllers injected (the recordings behind tests/real/test_world.c).
 * "auto", "gpu" and "cpu" processes a node count as one, as the training operator itself counts them.
 *
 *     struct world w;
 *     if (!world_read(environ, &arena, &w, &diag)) return EXIT_INPUT;
 *
 * A half-given row (a rank without a size, a rank beyond it, no number) is an error that names the variable.
 * Ownership: texts live in the arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_WORLD_H
#define TRAINYARD_REAL_WORKER_WORLD_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"

#define WORLD_SIZE_MAX 4096
#define WORLD_ANY_RANK (-1) /* given at the rendezvous */
#define WORLD_PORT     29400 /* where the row names no port */

struct world {
    const char *kind; /* the row's name */
    int rank;         /* WORLD_ANY_RANK: not known yet */
    int size;         /* ranks; when elastic the most */
    int min_size;     /* the fewest to go on with; equals size unless elastic */
    const char *master;
    int port;
    int local_ranks;  /* that this process stands for and must start; 1: it is one. `rank` is the first's. */
    int local_rank;   /* among those of its node; 0 where it is not told */
    int max_restarts; /* how often it may start them again */
};

/* The world of one of them. */
struct world world_of_local_rank(const struct world *, int local_rank);

bool world_read(char *const environment[], struct arena *, struct world *, struct diag *);

#endif
