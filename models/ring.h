/* ring.h - the first model of an all-reduce: a ring with latency alpha and bandwidth beta.
 *
 *   T(S, n) = 2 (n - 1) alpha + 2 (n - 1) / n x S / B
 *
 * S bytes a rank, n ranks, alpha seconds a hop, B bytes/s of the slowest link of the ring (within one node the GPU's
 * NVLink rate, across nodes the node's rate divided by its ranks that share it).
 * Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69 (2009).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_RING_H
#define TRAINYARD_MODELS_RING_H

#include <stdint.h>

/* ns, rounded up; 0 for fewer than two ranks. */
int64_t ring_all_reduce_ns(int64_t bytes, uint32_t ranks, int64_t alpha_ns, double bytes_per_s);

#endif
