/* timeline.h - timeline.bin: records in blocks.
 *
 * A file header of 64 bytes, then blocks; all numbers little-endian. A block is written by one system call, whole, and
 * names the number of its first record, so that a reader finds the last whole one.
 *
 *   header  0  magic "\x89TYR\r\n\x1a\n" (a transfer as text breaks it, as PNG's)
 *           8  u32 0x01020304, 12 u16 version, 14 u16 header bytes, 16 u32 record bytes, 20 u32 most block bytes,
 *          24  u32 level (1 jobs, 2 full), 28..59 zero, 60 u32 CRC-32 of bytes 0..59
 *   block   0  u32 magic "TYBL", 4 u32 records, 8 u64 number of the first record, 16 u32 CRC-32 of the records,
 *          20  u32 CRC-32 of bytes 0..19, 24 the records (record.h, 40 bytes each)
 *
 * A block holds 1 to TIMELINE_BLOCK_RECORDS records; fewer than that after a flush.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_RUN_TIMELINE_H
#define TRAINYARD_RUN_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/out.h"
#include "run/record.h"

#define TIMELINE_MAGIC "\x89TYR\r\n\x1a\n"
enum {
    TIMELINE_VERSION = 2, /* 1 had no records of pods, actors and classes; this program reads both */
    TIMELINE_OLDEST = 1,
    TIMELINE_HEADER_BYTES = 64,
    TIMELINE_BLOCK_HEADER_BYTES = 24,
    TIMELINE_BLOCK_BYTES = 65536,
    TIMELINE_BLOCK_RECORDS = (TIMELINE_BLOCK_BYTES - TIMELINE_BLOCK_HEADER_BYTES) / (int)sizeof(struct record),
    TIMELINE_BLOCK_MAGIC = 0x4c425954, /* "TYBL" */
    TIMELINE_ORDER_MARK = 0x01020304
};

struct timeline_header {
    char magic[8];
    uint32_t order_mark;
    uint16_t version, header_bytes;
    uint32_t record_bytes, block_bytes, level;
    uint8_t zero[32];
    uint32_t crc;
};
_Static_assert(sizeof(struct timeline_header) == TIMELINE_HEADER_BYTES, "part of the file format");

struct timeline_block {
    uint32_t magic, count;
    uint64_t first;
    uint32_t records_crc, crc;
};
_Static_assert(sizeof(struct timeline_block) == TIMELINE_BLOCK_HEADER_BYTES, "part of the file format");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the structures are the file");

/* Failures are kept as in out.h and shown by timeline_end. */
struct timeline_writer *timeline_begin(const char *path, int level, const struct io_hook *);
void timeline_put(struct timeline_writer *, const struct record *);
void timeline_flush(struct timeline_writer *);
/* errno of the first failure, 0 when there was none. */
int timeline_error(const struct timeline_writer *);
/* Flushes, closes and frees; false and *err (to free) when anything failed. What was written: bytes, CRC-32, records.
 */
struct timeline_written {
    uint64_t bytes, records;
    uint32_t crc;
};
bool timeline_end(struct timeline_writer *, struct timeline_written *, char **err);

/* The reader over memory, which does not change; timeline_close frees it. */
struct timeline_reader *timeline_open_memory(const void *data, size_t n);

#endif
