/* timeline.c - writes timeline.bin.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "run/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct timeline_writer {
    struct out out;
    uint64_t records; /* in blocks that were given to the file */
    struct timeline_block block;
    struct record record[TIMELINE_BLOCK_RECORDS];
};
_Static_assert(offsetof(struct timeline_writer, record) ==
                   offsetof(struct timeline_writer, block) + TIMELINE_BLOCK_HEADER_BYTES,
               "a block is written in one piece");

struct timeline_writer *timeline_begin(const char *path, int level, const struct io_hook *hook)
{
    struct timeline_writer *t = xcalloc(1, sizeof *t);
    struct timeline_header h = {.order_mark = TIMELINE_ORDER_MARK,
                                .version = TIMELINE_VERSION,
                                .header_bytes = TIMELINE_HEADER_BYTES,
                                .record_bytes = sizeof(struct record),
                                .block_bytes = TIMELINE_BLOCK_BYTES,
                                .level = (uint32_t)level};
    memcpy(h.magic, TIMELINE_MAGIC, sizeof h.magic);
    h.crc = hash_crc32(0, &h, offsetof(struct timeline_header, crc));
    out_open(&t->out, path, hook);
    out_block(&t->out, &h, sizeof h);
    return t;
}

void timeline_flush(struct timeline_writer *t)
{
    struct timeline_block *b = &t->block;
    if (b->count == 0) return;
    size_t bytes = b->count * sizeof(struct record);
    b->magic = TIMELINE_BLOCK_MAGIC;
    b->first = t->records;
    b->records_crc = hash_crc32(0, t->record, bytes);
    b->crc = hash_crc32(0, b, offsetof(struct timeline_block, crc));
    out_block(&t->out, b, sizeof *b + bytes);
    t->records += b->count;
    b->count = 0;
}

void timeline_put(struct timeline_writer *t, const struct record *r)
{
    t->record[t->block.count++] = *r;
    if (t->block.count == TIMELINE_BLOCK_RECORDS) timeline_flush(t);
}

int timeline_error(const struct timeline_writer *t)
{
    return t->out.error;
}

bool timeline_end(struct timeline_writer *t, struct timeline_written *written, char **err)
{
    timeline_flush(t);
    bool ok = out_close(&t->out);
    if (!ok && err) *err = out_why(&t->out);
    *written = (struct timeline_written){t->out.bytes, t->records, t->out.crc};
    out_free(&t->out);
    free(t);
    return ok;
}
