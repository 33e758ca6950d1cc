/* fuzz_objects.c - libFuzzer entry: no YAML crashes the reader of Kubernetes objects.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "input/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/trainyard-fuzz-XXXXXX";
    struct diag d = { 0 };
    struct str text = { 0 };
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    close(fd);
    str_printf(&text, "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"g\", \"gpus\": 8 }] }, \"objects\": [\"%s\"] }",
               path);
    struct scenario *s = scenario_parse("fuzz.json", str_text(&text), text.n, NULL, &d);
    unlink(path);
    if (!s && diag_errors(&d) == 0) abort();
    scenario_free(s);
    str_free(&text);
    diag_free(&d);
    return 0;
}
