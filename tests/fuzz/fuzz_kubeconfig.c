/* fuzz_kubeconfig.c - kubeconfig files. File names in them are not followed: none of the fuzzer's is there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stddef.h>
#include <stdint.h>

#include "real/kubernetes/access.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct diag d = { 0 };
    k8s_access_free(k8s_access_parse("kubeconfig", (const char *)data, n, "/nonexistent", "lab", &d));
    diag_free(&d);
    return 0;
}
