/* fuzz_watch.c - lines of a watch's stream.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "real/kubernetes/watch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    cJSON *root;
    struct k8s_event e = k8s_event_parse((const char *)data, n, &root);
    bool change = e.line == LINE_CHANGE || e.line == LINE_BOOKMARK;
    if (change && (!e.object || !e.version || !e.version[0])) abort();
    cJSON_Delete(root);
    return 0;
}
