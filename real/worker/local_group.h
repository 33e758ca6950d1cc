/* local_group.h - the ranks of one node as processes, supervised as torchrun's agent does.
 *
 * The process becomes an agent: it forks the ranks and waits. When one fails (ends with another code than 0, or by a signal) all
 * are stopped (SIGTERM, SIGKILL after stop_ns) and, as often as `restarts` says, started anew: they meet again and
 * go on from the newest checkpoint. Each agent counts its own restarts; that a node comes costs none. SIGTERM and SIGINT
 * stop the ranks for good (SIGTERM, SIGKILL after stop_ns), SIGUSR1 and SIGUSR2 are handed to them. A signal to the whole process
 * group comes to a rank twice, so that a rank must take SIGTERM more than once. When the agent dies, its ranks do.
 *
 *     struct local_group g = { .ranks = 4, .restarts = 3, .stop_ns = LOCAL_STOP_NS, .run = run_rank, .arg = &settings };
 *     return local_group_run(&g);           // run_rank(local rank, which start, arg) runs in each child, and gives its exit code
 *
 * Gives 0 when all have ended so, 130 after a signal, else the code of the first that failed, 128 + N for signal N.
 * Call it before any thread is started, any file or connection opened.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_LOCAL_GROUP_H
#define TRAINYARD_REAL_WORKER_LOCAL_GROUP_H

#include <stdint.h>

#define LOCAL_STOP_NS (INT64_C(30) * 1000000000) /* torch/distributed/elastic: the time that a stopped worker is left */

struct local_group {
    int ranks, restarts;
    int64_t stop_ns;
    int (*run)(int local_rank, int start, void *arg);
    void *arg;
};

int local_group_run(const struct local_group *);

#endif
