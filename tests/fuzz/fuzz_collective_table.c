/* fuzz_collective_table.c - any bytes as a table of collectives and as a calibration: what is refused is said, what is
 * accepted can be calibrated and predicted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/collective_fabric.h"
#include "study/calibrate_collective.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { FIT_MAX = 4 }; /* rows: a fit of many is slow, and no other code */

static void require(bool holds)
{
    if (!holds) abort();
}

static void require_time(double s) { require(isfinite(s) && s >= 0); }

static void as_table(const char *path)
{
    struct collective_table t;
    struct diag d = {0};
    bool ok = collective_table_read(path, &t, &d);
    require(ok == (diag_errors(&d) == 0) && ok == (t.rows.n > 0));
    for (size_t i = 0; i < t.rows.n; i++)
        require(t.rows.v[i].bytes >= 1 && t.rows.v[i].time_s > 0 && (i == 0 || t.rows.v[i - 1].bytes <= t.rows.v[i].bytes));
    if (ok && t.rows.n <= FIT_MAX) {
        struct collective_calibration c;
        calibrate_collective(t.rows.v, t.rows.n, &c);
        for (double bytes = 1; bytes < 1e13; bytes *= 64) require_time(collective_curve_s(&c.curve, bytes));
    }
    collective_table_free(&t);
    diag_free(&d);
}

static void as_calibration(const char *path)
{
    struct collective_fabric f;
    struct diag d = {0};
    bool ok = collective_fabric_measured(path, &f, &d);
    require(ok == (diag_errors(&d) == 0));
    if (ok)
        for (unsigned nodes = 1; nodes <= 8; nodes *= 2)
            require_time(collective_time_s(&f, COLLECTIVE_ALL_REDUCE, 1e6, 8, nodes, NULL));
    diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[40];
    int fd = memfd_create("collective", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    as_table(path);
    as_calibration(path);
    close(fd);
    return 0;
}
