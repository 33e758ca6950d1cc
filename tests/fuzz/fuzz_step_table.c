/* fuzz_step_table.c - any bytes as a table of training steps: what is refused is said, what is accepted can be predicted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "study/calibrate_step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool holds)
{
    if (!holds) abort();
}

static void read_as(const char *path, enum step_table_use use)
{
    struct step_table t = {0};
    struct diag d = {0};
    bool ok = step_table_read(path, use, &t, &d);
    require(ok == (diag_errors(&d) == 0));
    for (size_t i = 0; i < t.rows.n; i++) {
        const struct step_row *r = &t.rows.v[i];
        struct gpu_coefficients own = gpu_coefficients_default(r->gpu->family);
        double s = step_sharded_s(&r->work, r->gpu, &own, &step_coefficients_default);
        require(isfinite(s) && s > 0);
        require(r->row >= 1 && r->row <= t.n_read && isnan(r->step_s) == (use == STEP_TABLE_TO_PREDICT));
    }
    step_table_free(&t);
    diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[40];
    int fd = memfd_create("steps", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_as(path, STEP_TABLE_MEASURED);
    read_as(path, STEP_TABLE_TO_PREDICT);
    close(fd);
    return 0;
}
