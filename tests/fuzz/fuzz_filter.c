/* fuzz_filter.c - any text as a search: taken or refused with a reason, never both, and asked of a job without a crash.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "viz/ui/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct scene_job job = {.id = "tune-3", .team = "speech", .queue = "tuning", .kind = "RayJob", .gpu_shares = 8000,
                               .submit_ns = 5, .started_ns = 7, .finished_ns = -1};
static struct scene scene = {.jobs = &job, .n_jobs = 1, .end_ns = 100};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = xstrndup((const char *)data, n), *err = NULL;
    struct filter *f = filter_parse(text, &err);
    if (!f == !err) abort();
    if (f) filter_job(f, &scene, 0);
    filter_free(f);
    free(err);
    free(text);
    return 0;
}
