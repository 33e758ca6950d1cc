/* traffic.c - see traffic.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/traffic.h"

typedef __int128 wide;

static int64_t narrow(wide x) { return x > INT64_MAX ? INT64_MAX : (int64_t)x; }

int64_t traffic_ring_edge_bytes(int64_t bytes, uint64_t ranks)
{
    if (ranks < 2 || bytes <= 0) return 0;
    return narrow(((wide)2 * bytes * (wide)(ranks - 1) + (wide)(ranks - 1)) / (wide)ranks);
}

int64_t traffic_rate(int64_t bytes, int64_t ns)
{
    return ns <= 0 ? 0 : narrow(((wide)bytes * 1000000000 + ns - 1) / ns);
}
