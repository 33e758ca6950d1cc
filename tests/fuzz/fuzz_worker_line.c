/* fuzz_worker_line.c - any bytes as a line of a worker's log: no crash, and what is read is within its bounds.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdint.h>
#include <stdlib.h>

#include "real/host/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct worker_line w;
    if (!worker_line_read((const char *)data, n, &w)) return 0;
    if (w.event >= N_WORKER_EVENTS || w.end >= N_WORKER_ENDS) abort();
    if (w.time_ns < 0 || w.data_ns < 0 || w.compute_ns < 0 || w.communication_ns < 0 || w.checkpoint_ns < 0) abort();
    return 0;
}
