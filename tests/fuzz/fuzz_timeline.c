/* fuzz_timeline.c - timeline.bin of any bytes: no crash, and no record that was not in a whole block.
 *
 * The checksums of the input are mended first where it has room for a header, so that the search gets behind them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "run/run.h"
#include "run/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void mend(uint8_t *file, size_t n)
{
    struct timeline_block b;
    uint32_t crc = hash_crc32(0, file, TIMELINE_HEADER_BYTES - sizeof crc);
    memcpy(file + TIMELINE_HEADER_BYTES - sizeof crc, &crc, sizeof crc);
    for (size_t at = TIMELINE_HEADER_BYTES; at + sizeof b <= n;) {
        memcpy(&b, file + at, sizeof b);
        size_t bytes = b.count * sizeof(struct record), rest = n - at - sizeof b;
        b.records_crc = hash_crc32(0, file + at + sizeof b, bytes < rest ? bytes : rest);
        b.crc = hash_crc32(0, &b, offsetof(struct timeline_block, crc));
        memcpy(file + at, &b, sizeof b);
        at += sizeof b + bytes;
    }
}

static void read_all(const uint8_t *file, size_t n)
{
    struct timeline_reader *t = timeline_open_memory(file, n);
    struct record r;
    size_t records = 0;
    const char *why;
    for (; timeline_next(t, &r); records++) assert(r.type < N_RECORD_TYPES);
    assert(records * sizeof r <= n);
    assert(timeline_damaged(t, &why) == (*why != 0));
    timeline_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *file = malloc(n + 1);
    memcpy(file, data, n);
    read_all(file, n);
    if (n >= TIMELINE_HEADER_BYTES) mend(file, n);
    read_all(file, n);
    free(file);
    return 0;
}
