/* fuzz_import.h - one input through one importer, for the fuzzers of the trace formats.
 *
 * What is refused must be said; what is accepted must be a sorted table of jobs that hold something.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_FUZZ_IMPORT_H
#define TRAINYARD_TESTS_FUZZ_IMPORT_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static inline void fuzz_check_jobs(const struct import_result *r)
{
    char buf[24];
    assert(r->n_jobs > 0);
    for (size_t i = 0; i < r->n_jobs; i++) {
        const struct job_spec *j = &r->jobs[i];
        assert(j->replicas > 0 && j->gpu_shares > 0 && j->work_ns >= 0 && j->limit_ns >= 0 && j->submit_ns >= 0);
        assert(j->queue < intern_count(&r->queues) && j->team < intern_count(&r->teams));
        assert(i == 0 || r->jobs[i - 1].submit_ns <= j->submit_ns);
        assert(*import_job_id(r, j, buf) != '\0');
    }
}

/* Gives 0, as the fuzzer's entry does. */
static inline int fuzz_import(const char *format, const uint8_t *data, size_t n)
{
    char path[40];
    int fd = memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const char *file = path;
    struct import_result r;
    struct import_options o = {.gpus_per_node = 8};
    struct import_cluster c = {0};
    const char *why;
    struct diag d = {0};
    bool ok = import_read(import_format_find(format), &file, 1, &o, &r, &d);
    assert(ok == (diag_errors(&d) == 0));
    import_format_probe(path);
    if (ok) {
        fuzz_check_jobs(&r);
        import_cluster_choose(&r, &c, &why);
        assert(c.nodes > 0 && c.gpus > 0);
    }
    import_free(&r);
    diag_free(&d);
    close(fd);
    return 0;
}

#endif
