/* comm_shm.h - all-reduce through memory that the ranks of one host share.
 *
 * The region has one control line and two slots a rank. A rank posts by raising its own counter; all ranks post in the same
 * order, so that to wait for a peer is to wait until its counter has reached one's own. A rank writes slot k mod 2 at the
 * k-th segment, and may do so because it has seen every peer's post of segment k - 1, before which that peer was done with
 * segment k - 2.
 *
 *     flat (up to SHM_FLAT_FLOATS)   copy in, post, wait for all, add all slots in the order of ranks
 *     sliced, a segment at a time    copy in what others add, post, wait for all | add one's slice of all, into its place and
 *                                    the slot, post, wait for all | copy out the others' slices; the next segment is copied
 *                                    in before this one is copied out
 *
 * The memory is a memfd of rank 0, which the others open through /proc/PID/fd: nothing has to be removed, whichever rank
 * dies when. Where one cannot (another host, user or process namespace) all stay on tcp.
 *
 * Waiting: SPIN_TURNS looks where each rank can have a core, else none; then YIELD_TURNS times the core is given up; then
 * sleep on the counter (futex), woken by the post. Every COMM_LOOK_NS a sleeper looks whether the peer's connection is
 * broken.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_COMM_SHM_H
#define TRAINYARD_REAL_WORKER_COMM_SHM_H

#include "real/worker/comm.h"

#define SHM_FLAT_FLOATS    2048
#define SHM_SEGMENT_FLOATS 65536

/* Moves c from tcp to shared memory when all ranks can; *shared says so. False when the ranks could not agree. */
bool comm_shm_try(struct comm *c, bool *shared);

/* The same over memory that is there already, zeroed, for ranks that are threads of one process (tests): size in bytes, and
 * the move, which cannot fail. */
size_t comm_shm_bytes(int size);
void comm_shm_over(struct comm *c, void *region);

#endif
