/* fuzz_ray_line.c - lines of a Ray job's output of any bytes: no crash, and what is taken makes sense.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <string.h>

#include "real/ray/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct ray_line l;
    if (!ray_line_read((const char *)data, n, &l)) return 0;
    assert(l.time_ns >= 0);
    bool group = l.kind == RAY_GROUP || l.kind == RAY_PLACED;
    if (group) assert(l.n_nodes == l.world && l.n_nodes > 0 && l.n_nodes <= RAY_MOST_RANKS);
    if (l.kind == RAY_RANK) assert(l.rank >= 0 && l.rank < RAY_MOST_RANKS);
    if (l.kind == RAY_STEPS) assert(l.steps.first >= 0 && l.steps.next > l.steps.first && l.steps.compute_ns >= 0);
    for (uint32_t i = 0; group && i < l.n_nodes; i++) assert(memchr(l.nodes[i], 0, RAY_ADDRESS));
    return 0;
}
