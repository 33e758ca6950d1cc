/* worker.h - trainyard-worker as a program: options, environment, data, ranks, training, exit code.
 *
 * The builds differ in how ranks connect; each has a main file with its opener.
 *
 *     int main(int argc, char **argv) { return worker_main(argc, argv, comm_open); }
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_WORKER_H
#define TRAINYARD_REAL_WORKER_WORKER_H

#include "real/worker/comm.h"

typedef struct comm *worker_opener(const struct world *, const struct comm_options *, struct diag *);

int worker_main(int argc, char **argv, worker_opener *);

#endif
