/* mesh_threads.h - ranks as threads of one process, connected each with each.
 *
 *     static void body(struct comm *c, void *arg) { ... }      // on each rank's thread; asserts by returning a text
 *     mesh_threads(4, COMM_SHM, COMM_ANY, timeout_ns, body, arg);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_MESH_THREADS_H
#define TRAINYARD_TESTS_SUPPORT_MESH_THREADS_H

#include "real/worker/comm.h"

#define MESH_THREADS_MAX 16

/* Runs the body on each rank and waits for all; the comm is closed behind it. */
void mesh_threads(int size, enum comm_transport, enum comm_algorithm, int64_t timeout_ns, void (*body)(struct comm *, void *arg),
                  void *arg);

#endif
