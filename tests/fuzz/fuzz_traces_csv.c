/* fuzz_traces_csv.c - the CSV traces of any text; the first byte says which.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const formats[] = {"philly", "itp", "tiresias", "jobs"};
    return n == 0 ? 0 : fuzz_import(formats[data[0] % 4], data + 1, n - 1);
}
