/* out.h - files that are written, and failures that cannot be overlooked.
 *
 * The first failure is kept (ENOSPC, EIO, ...) and all later writes are dropped, so a writer may go on and ask once at
 * the end. A hook can make any of the writes fail: tests use it to fail each in turn.
 *
 *     struct out o;
 *     out_open(&o, path, NULL);
 *     char *p = out_reserve(&o, 100); ... out_used(&o, n);
 *     if (!out_close(&o)) err = out_why(&o);            // "DIR/jobs.csv: No space left on device", to free
 *
 * One system call a 64 KiB of text; out_block writes at once and whole. A file has text or blocks, not both.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_OUT_H
#define TRAINYARD_RUN_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/* Asked before each open, write, close and replacement of a file; true makes it fail as if the disk were full, a write
 * after half of its bytes. */
struct io_hook {
    bool (*fails)(void *arg);
    void *arg;
};

enum { OUT_BUFFER_BYTES = 65536, OUT_RESERVE_MAX = 8192 };

struct out {
    char *path, *buffer;
    const struct io_hook *hook;
    uint64_t bytes; /* written to the file */
    size_t n;       /* in the buffer */
    int fd, error;  /* errno of the first failure */
    uint32_t crc;   /* CRC-32 of the bytes written */
};

/* Makes or empties the file. False when that failed; the other calls are still allowed. */
bool out_open(struct out *, const char *path, const struct io_hook *);
void out_flush(struct out *);
void out_text(struct out *, const char *text, size_t n);
void out_block(struct out *, const void *data, size_t n);
/* Flushes and closes; false when anything since out_open failed. Then out_why; out_free frees. */
bool out_close(struct out *);
char *out_why(const struct out *);
void out_free(struct out *);

/* Room for n <= OUT_RESERVE_MAX bytes, of which out_used then takes as many as were filled. */
static inline char *out_reserve(struct out *o, size_t n)
{
    if (o->n + n > OUT_BUFFER_BYTES) out_flush(o);
    return o->buffer + o->n;
}

static inline void out_used(struct out *o, size_t n)
{
    o->n += n;
}

/* Replaces a file: its readers see the old text or the new. False and *err (to free). */
bool out_replace(const char *path, const char *text, size_t n, bool scratch, const struct io_hook *, char **err);

/* All entries of a diag as one text to free, a line each: FILE:LINE: pointer: what (help). */
char *out_diag_text(const struct diag *);

#endif
