/* timeline_read.c - reads timeline.bin, from a file that may grow or from memory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/run.h"
#include "run/timeline.h"

enum { WHY_BYTES = 200 };

struct timeline_reader {
    const uint8_t *memory; /* or fd */
    size_t memory_bytes;
    int fd;
    uint64_t at, records; /* where the next block begins, and the number of its first record */
    struct timeline_header header;
    struct timeline_block block;
    uint32_t next; /* in the block */
    struct record record[TIMELINE_BLOCK_RECORDS];
    char why[WHY_BYTES]; /* "" while nothing is damaged */
};

/* Up to n bytes at an offset; fewer at the end. */
static size_t read_at(struct timeline_reader *t, uint64_t at, void *to, size_t n)
{
    if (t->memory) {
        if (at >= t->memory_bytes) return 0;
        size_t there = t->memory_bytes - (size_t)at;
        n = n < there ? n : there;
        memcpy(to, t->memory + at, n);
        return n;
    }
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(t->fd, (char *)to + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += (size_t)got;
    }
    return done;
}

static bool damaged(struct timeline_reader *t, const char *what)
{
    snprintf(t->why, WHY_BYTES, "timeline.bin: after %llu records, at byte %llu: %s", (unsigned long long)t->records,
             (unsigned long long)t->at, what);
    return false;
}

static bool take_header(struct timeline_reader *t)
{
    struct timeline_header h;
    size_t n = read_at(t, 0, &h, sizeof h);
    if (n < sizeof h) return damaged(t, "the header is not whole");
    if (memcmp(h.magic, TIMELINE_MAGIC, sizeof h.magic) != 0) return damaged(t, "this is no timeline");
    if (h.crc != hash_crc32(0, &h, offsetof(struct timeline_header, crc)))
        return damaged(t, "the header's checksum is wrong");
    if (h.order_mark != TIMELINE_ORDER_MARK || h.version < TIMELINE_OLDEST || h.version > TIMELINE_VERSION || h.header_bytes != sizeof h ||
        h.record_bytes != sizeof(struct record) || h.block_bytes > TIMELINE_BLOCK_BYTES)
        return damaged(t, "another version of the format");
    t->header = h;
    t->at = sizeof h;
    return true;
}

/* The records of the next block, if it is there and whole. */
static bool take_block(struct timeline_reader *t)
{
    struct timeline_block b;
    size_t n = read_at(t, t->at, &b, sizeof b);
    t->why[0] = 0;
    if (n == 0) return false;
    if (n < sizeof b) return damaged(t, "the last block is not whole (cut off, or being written)");
    if (b.magic != TIMELINE_BLOCK_MAGIC || b.crc != hash_crc32(0, &b, offsetof(struct timeline_block, crc)))
        return damaged(t, "the block's head is damaged");
    if (b.count == 0 || b.count > TIMELINE_BLOCK_RECORDS || b.first != t->records)
        return damaged(t, "the block is out of place");
    size_t bytes = b.count * sizeof(struct record);
    if (read_at(t, t->at + sizeof b, t->record, bytes) < bytes)
        return damaged(t, "the last block is not whole (cut off, or being written)");
    if (hash_crc32(0, t->record, bytes) != b.records_crc) return damaged(t, "the block's checksum is wrong");
    for (uint32_t i = 0; i < b.count; i++)
        if (t->record[i].type >= N_RECORD_TYPES) return damaged(t, "a record of an unknown type");
    t->block = b;
    t->next = 0;
    t->records += b.count;
    t->at += sizeof b + bytes;
    return true;
}

bool timeline_next(struct timeline_reader *t, struct record *r)
{
    if (t->at == 0 && !take_header(t)) return false;
    if (t->next == t->block.count && !take_block(t)) return false;
    *r = t->record[t->next++];
    return true;
}

bool timeline_damaged(const struct timeline_reader *t, const char **why)
{
    if (why) *why = t->why;
    return t->why[0] != 0;
}

struct timeline_reader *timeline_open_memory(const void *data, size_t n)
{
    struct timeline_reader *t = xcalloc(1, sizeof *t);
    t->memory = n ? data : (const uint8_t *)"";
    t->memory_bytes = n;
    t->fd = -1;
    return t;
}

struct timeline_reader *timeline_open(const char *dir, char **err)
{
    struct arena a = {0};
    const char *path = path_join(&a, dir, "timeline.bin");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && err) {
        struct str s = {0};
        str_printf(&s, "%s: %s%s", path, strerror(errno),
                   errno == ENOENT ? " (was the run made with --record none?)" : "");
        *err = str_take(&s);
    }
    arena_free(&a);
    if (fd < 0) return NULL;
    struct timeline_reader *t = xcalloc(1, sizeof *t);
    t->fd = fd;
    return t;
}

void timeline_close(struct timeline_reader *t)
{
    if (!t) return;
    if (t->fd >= 0) close(t->fd);
    free(t);
}
