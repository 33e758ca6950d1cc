/* fuzz_swf.c - Standard Workload Format of any text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    return fuzz_import("swf", data, n);
}
