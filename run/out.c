/* out.c - files that are written, and failures that cannot be overlooked.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "run/out.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"

static bool hooked(const struct io_hook *hook)
{
    return hook && hook->fails(hook->arg);
}

static void keep(struct out *o, int error)
{
    if (!o->error) o->error = error;
}

bool out_open(struct out *o, const char *path, const struct io_hook *hook)
{
    *o = (struct out){.path = xstrdup(path), .hook = hook, .buffer = xmalloc(OUT_BUFFER_BYTES), .fd = -1};
    if (hooked(hook))
        keep(o, ENOSPC);
    else if ((o->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
        keep(o, errno);
    return !o->error;
}

static void write_all(struct out *o, const char *data, size_t n)
{
    while (n && !o->error) {
        ssize_t done = write(o->fd, data, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return keep(o, done < 0 ? errno : EIO);
        o->bytes += (uint64_t)done;
        o->crc = hash_crc32(o->crc, data, (size_t)done);
        data += done;
        n -= (size_t)done;
    }
}

void out_block(struct out *o, const void *data, size_t n)
{
    assert(o->n == 0 && "a file has text or blocks");
    if (n == 0 || o->error) return;
    bool full = hooked(o->hook);
    write_all(o, data, full ? n / 2 : n);
    if (full) keep(o, ENOSPC);
}

void out_flush(struct out *o)
{
    size_t n = o->n;
    o->n = 0;
    out_block(o, o->buffer, n);
}

void out_text(struct out *o, const char *text, size_t n)
{
    while (n) {
        size_t part = n < OUT_RESERVE_MAX ? n : OUT_RESERVE_MAX;
        memcpy(out_reserve(o, part), text, part);
        out_used(o, part);
        text += part;
        n -= part;
    }
}

bool out_close(struct out *o)
{
    out_flush(o);
    if (!o->error && hooked(o->hook)) keep(o, ENOSPC);
    if (o->fd >= 0 && close(o->fd) != 0) keep(o, errno);
    o->fd = -1;
    return !o->error;
}

char *out_why(const struct out *o)
{
    struct str s = {0};
    str_printf(&s, "%s: %s", o->path, strerror(o->error));
    return str_take(&s);
}

void out_free(struct out *o)
{
    if (o->fd >= 0) close(o->fd);
    free(o->path);
    free(o->buffer);
    *o = (struct out){.fd = -1};
}

char *out_diag_text(const struct diag *d)
{
    struct str s = {0};
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_entry *e = &d->entries.v[i];
        str_printf(&s, i ? "\n%s" : "%s", e->file ? e->file : "");
        if (e->line) str_printf(&s, ":%d", e->line);
        if (e->pointer && *e->pointer) str_printf(&s, ": %s", e->pointer);
        str_printf(&s, ": %s", e->text);
        if (e->help) str_printf(&s, " (%s)", e->help);
    }
    return str_take(&s);
}

bool out_replace(const char *path, const char *text, size_t n, bool scratch, const struct io_hook *hook, char **err)
{
    struct diag d = {0};
    bool ok = false;
    if (hooked(hook))
        diag_error(&d, path, 0, NULL, "%s", strerror(ENOSPC));
    else
        ok = scratch ? file_write_scratch(path, text, n, &d) : file_write_atomic(path, text, n, &d);
    if (!ok && err) *err = out_diag_text(&d);
    diag_free(&d);
    return ok;
}
