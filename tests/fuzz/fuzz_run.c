/* fuzz_run.c - run.json, jobs.csv and ledger.csv of any text; the first byte says which.
 *
 * Rows that are accepted must be written and read back equal in number.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A file in memory that has a name, since CSV is read by name. */
static int file_of(const void *data, size_t n, char path[40])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n) abort();
    snprintf(path, 40, "/proc/self/fd/%d", fd);
    return fd;
}

static void read_manifest(const uint8_t *data, size_t n)
{
    struct run_inside *in = inside_create();
    struct diag d = {0};
    bool ok = manifest_parse(in, "run.json", (const char *)data, n, &d);
    assert(ok == (diag_errors(&d) == 0));
    if (ok) {
        struct str text = {0};
        struct run_inside *again = inside_create();
        manifest_text(&text, in, false);
        assert(manifest_parse(again, "again", str_text(&text), text.n, &d));
        assert(again->run.seed == in->run.seed && again->run.n_groups == in->run.n_groups);
        inside_destroy(again);
        str_free(&text);
    }
    diag_free(&d);
    inside_destroy(in);
}

static struct run_inside *read_rows(const char *path, bool jobs, struct diag *d)
{
    struct run_inside *in = inside_create();
    in->metrics = metrics_create(0, -1);
    if (jobs)
        jobs_csv_read(in, path, d);
    else
        ledger_csv_read(in, path, d);
    inside_finish(in);
    return in;
}

/* What was read is written: to a file of its own, whose reading must find nothing wrong. */
static void write_again(const struct run_inside *in, bool jobs)
{
    char path[40];
    struct diag d = {0};
    struct out o;
    int fd = file_of("", 0, path);
    out_open(&o, path, NULL);
    if (jobs) jobs_csv_header(&o);
    for (size_t i = 0; i < in->jobs.n; i++) jobs_csv_row(&o, &in->jobs.v[i].row);
    if (!jobs) ledger_csv_write(&o, in);
    assert(out_close(&o));
    out_free(&o);
    struct run_inside *again = read_rows(path, jobs, &d);
    assert(diag_errors(&d) == 0);
    assert(again->jobs.n == in->jobs.n && again->ledger.n == in->ledger.n);
    inside_destroy(again);
    diag_free(&d);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0) return 0;
    bool jobs = data[0] % 3 == 1;
    if (data[0] % 3 == 0) {
        read_manifest(data + 1, n - 1);
        return 0;
    }
    char path[40];
    struct diag d = {0};
    int fd = file_of(data + 1, n - 1, path);
    struct run_inside *in = read_rows(path, jobs, &d);
    write_again(in, jobs);
    inside_destroy(in);
    diag_free(&d);
    close(fd);
    return 0;
}
