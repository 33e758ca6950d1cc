/* traffic.h - the bytes that a step puts on each edge of its ring.
 *
 * A ring all-reduce of S bytes over n ranks sends 2 (n - 1) / n x S bytes from each rank to the next: n - 1 pieces of S/n
 * when it reduces, and as many when it gathers (Patarasuk and Yuan, JPDC 69, 2009). The ring visits each node once, so
 * this is also what crosses each of its edges between nodes, however many GPUs a node has; hierarchical schemes, whose g
 * rings carry S/g each, put as much on a node's link in all, with the number of nodes instead of ranks in the formula. Where
 * an edge joins nodes of two racks or blocks it crosses their uplinks too: bytes on a rack's uplink = edges that leave the
 * rack x this.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_TRAFFIC_H
#define TRAINYARD_MODELS_TRAFFIC_H

#include <stdint.h>

/* Of an edge and step, rounded up; 0 for fewer than two ranks. */
int64_t traffic_ring_edge_bytes(int64_t all_reduced_bytes, uint64_t ranks);
/* Bytes/s that move `bytes` in each period of ns, rounded up. */
int64_t traffic_rate(int64_t bytes, int64_t ns);

#endif
