/* test_record.c - the recorder's fingerprint and filter, and timeline.bin whole, torn, changed and growing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/hash.h"
#include "run/conditions.h"
#include "run/run.h"
#include "run/states.h"
#include "run/timeline.h"

static char dir[] = "/tmp/trainyard-record-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    struct diag d = {0};
    (void)state;
    bool ok = file_remove_tree(dir, &d);
    diag_free(&d);
    return ok ? 0 : -1;
}

static const char *path(struct arena *a)
{
    return path_join(a, dir, "timeline.bin");
}

static struct record number(int i)
{
    return (struct record){.time_ns = 10 * i, .type = (uint16_t)(i % N_RECORD_TYPES), .job = i, .a = -i, .b = i};
}

/* Writes n records at a level, with a flush after each `flush_every`; gives the fingerprint. */
static void write_records(int n, int level, int flush_every, char fingerprint[33])
{
    struct arena a = {0};
    struct timeline_writer *t = timeline_begin(path(&a), level, NULL);
    struct recorder *r = recorder_create(level, t);
    struct timeline_written written;
    for (int i = 0; i < n; i++) {
        struct record x = number(i);
        recorder_put(r, &x);
        if (flush_every && i % flush_every == 0) recorder_flush(r);
    }
    recorder_flush(r);
    recorder_fingerprint(r, fingerprint);
    assert_int_equal(recorder_count(r), n);
    recorder_destroy(r);
    assert_true(timeline_end(t, &written, NULL));
    arena_free(&a);
}

/* The file as bytes, to free. */
static char *file_bytes(size_t *n)
{
    struct arena a = {0};
    struct diag d = {0};
    char *bytes = file_read(path(&a), FILE_READ_MAX, n, &d);
    assert_non_null(bytes);
    diag_free(&d);
    arena_free(&a);
    return bytes;
}

static int count_good(struct timeline_reader *t)
{
    struct record r;
    int n = 0;
    while (timeline_next(t, &r)) {
        struct record x = number(n);
        assert_memory_equal(&r, &x, sizeof r);
        n++;
    }
    return n;
}

static void all_come_back(void **state)
{
    (void)state;
    static const int sizes[] = {
        0, 1, 63, 64, 65, TIMELINE_BLOCK_RECORDS - 1, TIMELINE_BLOCK_RECORDS, TIMELINE_BLOCK_RECORDS + 1, 10000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int flush = 0; flush < 200; flush += 97) {
            char fingerprint[33];
            write_records(sizes[i], RECORD_FULL, flush, fingerprint);
            struct timeline_reader *t = timeline_open(dir, NULL);
            assert_int_equal(count_good(t), sizes[i]);
            assert_false(timeline_damaged(t, NULL));
            timeline_close(t);
        }
}

/* The fingerprint is the documented hash of the records' bytes, whatever is kept and however it is cut. */
static void fingerprint_does_not_depend_on_the_filter(void **state)
{
    (void)state;
    struct hash h;
    char expected[33], got[33];
    hash_init(&h);
    for (int i = 0; i < 1000; i++) {
        struct record x = number(i);
        hash_bytes(&h, &x, sizeof x);
    }
    hash_text(hash_end(&h), expected);
    for (int level = RECORD_NONE; level <= RECORD_FULL; level++) {
        write_records(1000, level, level ? 7 : 0, got);
        assert_string_equal(got, expected);
    }
    struct recorder *r = recorder_create(RECORD_FULL, NULL);
    for (int i = 0; i < 1000; i++) {
        struct record x = number(i);
        if (i == 999) x.b++;
        recorder_put(r, &x);
    }
    recorder_fingerprint(r, got);
    assert_string_not_equal(got, expected);
    recorder_destroy(r);
}

static void jobs_level_keeps_the_marked(void **state)
{
    (void)state;
    char fingerprint[33];
    write_records(5 * N_RECORD_TYPES, RECORD_JOBS, 0, fingerprint);
    struct timeline_reader *t = timeline_open(dir, NULL);
    struct record r;
    int kept = 0, expected = 0;
    for (int i = 0; i < N_RECORD_TYPES; i++) expected += record_table[i].at_jobs_level;
    for (; timeline_next(t, &r); kept++) assert_true(record_table[r.type].at_jobs_level);
    assert_int_equal(kept, 5 * expected);
    assert_true(expected > 5 && expected < N_RECORD_TYPES);
    timeline_close(t);
}

/* A file cut at any byte gives the records of the whole blocks before the cut. */
static void torn_files_are_read_to_the_last_whole_block(void **state)
{
    (void)state;
    char fingerprint[33];
    size_t n;
    write_records(300, RECORD_FULL, 100, fingerprint); /* blocks of 1, 100, 100, 99 */
    char *bytes = file_bytes(&n);
    static const int before[] = {0, 1, 101, 201, 300};
    size_t ends[5] = {TIMELINE_HEADER_BYTES};
    for (int b = 1; b < 5; b++)
        ends[b] = ends[b - 1] + TIMELINE_BLOCK_HEADER_BYTES + 40 * (size_t)(before[b] - before[b - 1]);
    assert_int_equal(ends[4], n);
    for (size_t cut = 0; cut <= n; cut++) {
        struct timeline_reader *t = timeline_open_memory(bytes, cut);
        int b = 0;
        while (b < 4 && ends[b + 1] <= cut) b++;
        assert_int_equal(count_good(t), cut < ends[0] ? 0 : before[b]);
        assert_int_equal(timeline_damaged(t, NULL), cut != ends[b]);
        timeline_close(t);
    }
    free(bytes);
}

/* Any changed bit is noticed, and nothing behind it is believed. */
static void changed_bits_are_noticed(void **state)
{
    (void)state;
    char fingerprint[33];
    size_t n;
    const char *why;
    write_records(120, RECORD_FULL, 40, fingerprint);
    char *bytes = file_bytes(&n);
    for (size_t at = 0; at < n; at++) {
        bytes[at] = (char)(bytes[at] ^ (1 << at % 8));
        struct timeline_reader *t = timeline_open_memory(bytes, n);
        assert_true(count_good(t) < 120);
        assert_true(timeline_damaged(t, &why));
        assert_non_null(strstr(why, "timeline.bin: after "));
        timeline_close(t);
        bytes[at] = (char)(bytes[at] ^ (1 << at % 8));
    }
    free(bytes);
}

/* Blocks that are whole but not in their place: one left out, one twice. */
static void blocks_out_of_place_are_noticed(void **state)
{
    (void)state;
    char fingerprint[33];
    size_t n;
    write_records(120, RECORD_FULL, 40, fingerprint); /* blocks of 1, 40, 40, 39 */
    char *bytes = file_bytes(&n);
    const size_t first = TIMELINE_HEADER_BYTES + TIMELINE_BLOCK_HEADER_BYTES + 40;
    const size_t block = TIMELINE_BLOCK_HEADER_BYTES + 40 * 40;
    for (int twice = 0; twice < 2; twice++) {
        char *changed = malloc(n + block);
        size_t at = first + block, from = twice ? first : first + 2 * block;
        memcpy(changed, bytes, at);
        memcpy(changed + at, bytes + from, n - from);
        struct timeline_reader *t = timeline_open_memory(changed, at + n - from);
        const char *why;
        assert_int_equal(count_good(t), 41);
        assert_true(timeline_damaged(t, &why));
        assert_non_null(strstr(why, "out of place"));
        timeline_close(t);
        free(changed);
    }
    free(bytes);
}

/* Reading goes on when the file has grown. */
static void growing_files_are_followed(void **state)
{
    (void)state;
    struct arena a = {0};
    struct timeline_writer *w = timeline_begin(path(&a), RECORD_FULL, NULL);
    struct recorder *r = recorder_create(RECORD_FULL, w);
    struct timeline_reader *t = timeline_open(dir, NULL);
    struct record x, y;
    struct timeline_written written;
    assert_false(timeline_next(t, &y));
    for (int i = 0; i < 500; i++) {
        x = number(i);
        recorder_put(r, &x);
        assert_false(timeline_next(t, &y));
        recorder_flush(r);
        assert_true(timeline_next(t, &y));
        assert_memory_equal(&x, &y, sizeof x);
    }
    assert_false(timeline_damaged(t, NULL));
    recorder_destroy(r);
    assert_true(timeline_end(w, &written, NULL));
    assert_int_equal(written.records, 500);
    timeline_close(t);
    arena_free(&a);
}

/* Pods 0 to 4 become ready while other things happen, 6 with them (5 is left out), and 0 to 4 end an instant later. */
static void tell_of_pods(struct recorder *r, bool flushes)
{
    for (uint32_t i = 0; i < 7; i++) {
        if (i == 5) continue;
        recorder_range(r, &(struct record){.time_ns = 7, .type = REC_POD_STATE, .code = POD_IS_READY, .job = 3, .subject = i, .a = 1});
        recorder_put(r, &(struct record){.time_ns = 7, .type = REC_GROUP_STATE, .job = 3, .subject = i});
        if (flushes) recorder_flush(r);
    }
    recorder_range(r, &(struct record){.time_ns = 8, .type = REC_POD_STATE, .code = POD_IS_SUCCEEDED, .job = 3, .a = 2});
    recorder_range(r, &(struct record){.time_ns = 8, .type = REC_POD_STATE, .code = POD_IS_SUCCEEDED, .job = 3, .subject = 2, .a = 3});
    if (flushes) recorder_flush(r);
    recorder_put(r, &(struct record){.time_ns = 9, .type = REC_JOB_FINISHED, .job = 3});
    recorder_range(r, &(struct record){.time_ns = 9, .type = REC_ACTOR_STATE, .job = 3, .a = 4});
}

/* recorder_range joins what is of one instant, says the same and lies side by side; a look in between changes nothing. */
static void ranges_are_joined_within_their_instant(void **state)
{
    (void)state;
    static const struct { int64_t time_ns; uint16_t type; uint32_t subject; int64_t a; } expected[] = {
        {7, REC_GROUP_STATE, 0, 0}, {7, REC_GROUP_STATE, 1, 0}, {7, REC_GROUP_STATE, 2, 0}, {7, REC_GROUP_STATE, 3, 0},
        {7, REC_GROUP_STATE, 4, 0}, {7, REC_POD_STATE, 0, 5},   {7, REC_GROUP_STATE, 6, 0}, {7, REC_POD_STATE, 6, 1},
        {8, REC_POD_STATE, 0, 5},   {9, REC_JOB_FINISHED, 0, 0}, {9, REC_ACTOR_STATE, 0, 4},
    };
    enum { N = sizeof expected / sizeof *expected };
    char print[2][33];
    for (int flushes = 0; flushes < 2; flushes++) {
        struct arena a = {0};
        struct timeline_writer *w = timeline_begin(path(&a), RECORD_FULL, NULL);
        struct recorder *r = recorder_create(RECORD_FULL, w);
        struct record x;
        tell_of_pods(r, flushes);
        recorder_fingerprint(r, print[0]);
        recorder_end(r);
        recorder_fingerprint(r, print[1]);
        assert_string_equal(print[0], print[1]);
        assert_int_equal(recorder_count(r), N);
        recorder_destroy(r);
        assert_true(timeline_end(w, &(struct timeline_written){0}, NULL));
        struct timeline_reader *t = timeline_open(dir, NULL);
        struct hash h;
        hash_init(&h);
        for (int i = 0; i < N; i++) {
            assert_true(timeline_next(t, &x));
            hash_bytes(&h, &x, sizeof x);
            assert_int_equal(x.time_ns, expected[i].time_ns);
            assert_int_equal(x.type, expected[i].type);
            assert_int_equal(x.subject, expected[i].subject);
            assert_int_equal(x.a, expected[i].a);
        }
        hash_text(hash_end(&h), print[1]);
        assert_string_equal(print[0], print[1]);
        timeline_close(t);
        arena_free(&a);
    }
}

/* Format 1 is read as well: it had no records of pods. */
static void the_format_before_is_read(void **state)
{
    (void)state;
    char fingerprint[33];
    size_t n;
    write_records(5, RECORD_FULL, 0, fingerprint);
    char *bytes = file_bytes(&n);
    for (uint16_t version = 0; version < 5; version++) {
        struct timeline_header *h = (struct timeline_header *)bytes;
        h->version = version;
        h->crc = hash_crc32(0, h, offsetof(struct timeline_header, crc));
        struct timeline_reader *t = timeline_open_memory(bytes, n);
        assert_int_equal(count_good(t), version == 1 || version == 2 ? 5 : 0);
        timeline_close(t);
    }
    free(bytes);
}

static void missing_file_is_explained(void **state)
{
    (void)state;
    char *err = NULL;
    assert_null(timeline_open("/tmp/trainyard-is-not-here", &err));
    assert_non_null(strstr(err, "--record none"));
    free(err);
}

/* The words are Kubernetes' and Ray's; numbers out of a list say so. */
static void conditions_have_words(void **state)
{
    (void)state;
    static const struct { uint32_t subject; uint16_t code; int64_t a; const char *name, *status, *reason; } v[] = {
        {1, 1, 0, "Running", "True", ""},
        {16 + 2, 1, 0, "Complete", "True", ""},
        {32 + 1, 2, 5, "RayClusterProvisioned", "True", "AllPodRunningAndReadyFirstTime"},
        {36, 4, 3, "JobDeploymentStatus", "Failed", "AppFailed"},
        {37, 3, 0, "RayTrain", "Running", ""},
        {33, 2, -1, "RayClusterProvisioned", "True", "?"},
        {1, 9, 0, "Running", "?", ""},
        {15, 0, 0, "?", "?", ""},
        {38, 0, 0, "?", "?", ""},
    };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        struct condition_words w =
            condition_words(&(struct record){.type = REC_JOB_CONDITION, .subject = v[i].subject, .code = v[i].code, .a = v[i].a});
        assert_string_equal(w.name, v[i].name);
        assert_string_equal(w.status, v[i].status);
        assert_string_equal(w.reason, v[i].reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_come_back),
        cmocka_unit_test(fingerprint_does_not_depend_on_the_filter),
        cmocka_unit_test(jobs_level_keeps_the_marked),
        cmocka_unit_test(torn_files_are_read_to_the_last_whole_block),
        cmocka_unit_test(changed_bits_are_noticed),
        cmocka_unit_test(blocks_out_of_place_are_noticed),
        cmocka_unit_test(growing_files_are_followed),
        cmocka_unit_test(ranges_are_joined_within_their_instant),
        cmocka_unit_test(the_format_before_is_read),
        cmocka_unit_test(missing_file_is_explained),
        cmocka_unit_test(conditions_have_words),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
