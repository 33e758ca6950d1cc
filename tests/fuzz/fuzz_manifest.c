/* fuzz_manifest.c - any text as the manifest of a checkpoint, and as an object store's answer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/mem.h"
#include "real/worker/manifest.h"
#include "real/worker/s3.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct manifest m = {0};
    struct diag d = {0};
    bool ok = manifest_read("m", (const char *)data, n, 70, &m, &d);
    if (ok != (diag_errors(&d) == 0) || (ok && (m.step != 70 || m.shards < 1))) abort();
    manifest_free(&m);
    diag_free(&d);

    char *text = xstrndup((const char *)data, n);
    const char *at = text;
    struct arena a = {0};
    while (s3_element(&a, &at, "Key")) {
    }
    arena_free(&a);
    free(text);
    return 0;
}
