/* ring.c - see ring.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/ring.h"

#define RING_MOST_NS INT64_C(1000000000000000000) /* 32 years: longer is never */

int64_t ring_all_reduce_ns(int64_t bytes, uint32_t ranks, int64_t alpha_ns, double bytes_per_s)
{
    if (ranks < 2) return 0;
    double hops = 2.0 * (ranks - 1);
    double transfer_ns = hops / ranks * (double)bytes / bytes_per_s * 1e9;
    double total = hops * (double)alpha_ns + transfer_ns;
    if (!(total < (double)RING_MOST_NS)) return RING_MOST_NS;
    int64_t ns = (int64_t)total;
    return (double)ns < total ? ns + 1 : ns;
}
