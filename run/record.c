/* record.c - the table of records, and the recorder: fingerprint first, then the filter.
 *
 * Records are gathered in a small batch that stays in the first-level cache, since hashing 2.5 KiB at once costs half
 * of hashing 40 bytes 64 times.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "run/record.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "run/timeline.h"

#define ROW(e, n, kept, s, c, x, y) [e] = {.name = n, .at_jobs_level = kept, .subject = s, .code = c, .a = x, .b = y},
const struct record_info record_table[N_RECORD_TYPES] = {RECORD_TYPES(ROW)};

#define NAME(e, n) [e] = n,
const char *const job_state_names[N_JOB_STATES] = {JOB_STATES(NAME)};
const char *const stop_reason_names[N_STOP_REASONS] = {STOP_REASONS(NAME)};

enum { BATCH = 64 };

struct recorder {
    struct recorder_room room; /* first: recorder_next; in batch */
    struct hash hash;
    uint64_t hashed; /* records */
    struct timeline_writer *sink;
    int level;
    struct record range; /* that may still grow, while room.range_ns is its time */
    struct record batch[BATCH];
};

struct recorder *recorder_create(int level, struct timeline_writer *sink)
{
    struct recorder *r = xcalloc(1, sizeof *r);
    hash_init(&r->hash);
    r->room = (struct recorder_room){.at = r->batch, .end = r->batch + BATCH, .range_ns = NO_RANGE};
    r->level = level;
    r->sink = level == RECORD_NONE ? NULL : sink;
    return r;
}

static size_t in_batch(const struct recorder *r) { return (size_t)(r->room.at - r->batch); }
static bool has_range(const struct recorder *r) { return r->room.range_ns != NO_RANGE; }

static void drain(struct recorder *r)
{
    size_t n = in_batch(r);
    hash_bytes(&r->hash, r->batch, n * sizeof *r->batch);
    r->hashed += n;
    for (size_t i = 0; r->sink && i < n; i++)
        if (r->level == RECORD_FULL || record_table[r->batch[i].type].at_jobs_level)
            timeline_put(r->sink, &r->batch[i]);
    r->room.at = r->batch;
}

static struct record *place(struct recorder *r)
{
    if (r->room.at == r->room.end) drain(r);
    return r->room.at++;
}

static void close_range(struct recorder *r)
{
    r->room.range_ns = NO_RANGE;
    *place(r) = r->range;
}

struct record *recorder_make_room(struct recorder *r, int64_t time_ns)
{
    if (has_range(r) && r->room.range_ns != time_ns) close_range(r);
    return place(r);
}

void recorder_put(struct recorder *r, const struct record *record)
{
    assert(record->type < N_RECORD_TYPES && record->spare == 0);
    *recorder_next(r, record->time_ns) = *record;
}

static bool joins(const struct record *x, const struct record *y)
{
    return x->time_ns == y->time_ns && x->job == y->job && x->code == y->code && x->b == y->b && x->type == y->type &&
           x->subject + (uint64_t)x->a == y->subject;
}

void recorder_range(struct recorder *r, const struct record *record)
{
    if (has_range(r) && joins(&r->range, record)) {
        r->range.a += record->a;
        return;
    }
    if (has_range(r)) close_range(r);
    r->range = *record;
    r->room.range_ns = record->time_ns;
}

void recorder_flush(struct recorder *r)
{
    drain(r);
    if (r->sink) timeline_flush(r->sink);
}

void recorder_end(struct recorder *r)
{
    if (has_range(r)) close_range(r);
    recorder_flush(r);
}

void recorder_fingerprint(const struct recorder *r, char out[33])
{
    struct hash h = r->hash;
    hash_bytes(&h, r->batch, in_batch(r) * sizeof *r->batch);
    if (has_range(r)) hash_bytes(&h, &r->range, sizeof r->range);
    hash_text(hash_end(&h), out);
}

uint64_t recorder_count(const struct recorder *r)
{
    return r->hashed + in_batch(r) + has_range(r);
}

void recorder_destroy(struct recorder *r)
{
    free(r);
}
