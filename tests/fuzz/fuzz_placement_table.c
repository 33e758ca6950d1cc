/* fuzz_placement_table.c - any bytes as a table of placements: what is refused is said, what is accepted has times.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/placement_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool holds)
{
    if (!holds) abort();
}

static void read_as(const char *path, enum placement_table_use use)
{
    static const struct placed_numbers some = {0.1, 0.01, 0.001, 0.03, 0.4, 0.25, 0.002, 1.05, 0.6, 0.1, 0.03, 0.1};
    struct placement_table t = {0};
    struct diag d = {0};
    bool ok = placement_table_read(path, use, &t, &d);
    require(ok == (diag_errors(&d) == 0));
    for (size_t i = 0; i < t.rows.n; i++) {
        const struct placement_row *r = &t.rows.v[i];
        struct placed_time p = placed_step(&some, r->at, r->local_batch);
        require(isfinite(p.compute_s) && isfinite(p.sync_s) && p.compute_s > 0 && p.sync_s > 0);
        require(r->at.nodes >= 1 && r->at.gpus >= r->at.nodes && r->at.most <= 9);
        require(isnan(r->step_s) == (use == PLACEMENTS_TO_PREDICT) && !(r->sync_s >= r->step_s));
    }
    placement_table_free(&t);
    diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[40];
    int fd = memfd_create("placements", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_as(path, PLACEMENTS_MEASURED);
    read_as(path, PLACEMENTS_TO_PREDICT);
    close(fd);
    return 0;
}
