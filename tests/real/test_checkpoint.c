/* test_checkpoint.c - what is saved is loaded, by any number of ranks; damage is found and passed over; names, keeping, dropping.
 *
 * Each in both kinds of store: a directory, and an object store that is a thread of this program.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/units.h"
#include "real/worker/checkpoint.h"
#include "real/worker/net.h"
#include "tests/support/object_store.h"

enum { N = 1003, PRINT = 77 };

static const struct store_keep everything = {CHECKPOINT_STEP_MAX, 99, true};

static char dir[64];
static struct store *store;
static float parameters[N], momenta[N], got_parameters[N], got_momenta[N];

static struct object_store *objects; /* NULL: the store is a directory */

static int setup_objects(void **state)
{
    (void)state;
    objects = object_store_start();
    store = store_open("s3://runs/a", &(struct diag){0});
    return store == NULL;
}

static int teardown_objects(void **state)
{
    (void)state;
    store_close(store);
    object_store_stop(objects);
    objects = NULL;
    return 0;
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/trainyard-checkpoint-XXXXXX");
    if (!mkdtemp(dir)) return -1;
    store = store_open(dir, &(struct diag){0});
    return store == NULL;
}

static int teardown(void **state)
{
    (void)state;
    struct diag d = {0};
    store_close(store);
    return !file_remove_tree(dir, &d);
}

static void set(int64_t step)
{
    for (int i = 0; i < N; i++) parameters[i] = (float)(step * 1000 + i), momenta[i] = -parameters[i];
}

static const char *place(void)
{
    return objects ? "s3://runs/a" : dir;
}

static struct saver *open_saver(struct store *of, struct saver_options o, int rank, int size, uint64_t token, struct diag *d)
{
    return saver_open(of, &o, &(struct saver_life){rank, size, token, PRINT, CHECKPOINT_NONE}, d);
}

/* All ranks of a job, each with a store of its own, then rank 0's commit. */
static void save(int64_t step, int size, bool sharded, int keep, uint64_t token)
{
    struct diag d = {0};
    struct saver *s[8] = {NULL};
    struct store *of[8];
    set(step);
    for (int r = 0; r < size; r++) {
        of[r] = store_open(place(), &d);
        s[r] = open_saver(of[r], (struct saver_options){keep, sharded}, r, size, token, &d);
        assert_non_null(s[r]);
        saver_begin(s[r], step, N, parameters, momenta);
    }
    for (int r = 0; r < size; r++) assert_true(saver_wait(s[r], &d));
    assert_true(saver_commit(s[0], &d));
    for (int r = 0; r < size; r++) saver_close(s[r]), store_close(of[r]);
}

static bool loads(int64_t step, struct diag *d)
{
    memset(got_parameters, 0, sizeof got_parameters);
    memset(got_momenta, 0, sizeof got_momenta);
    return checkpoint_load(store, step, PRINT, N, got_parameters, got_momenta, d);
}

static void is_whole(int64_t step)
{
    struct diag d = {0};
    set(step);
    assert_true(loads(step, &d));
    assert_memory_equal(parameters, got_parameters, sizeof parameters);
    assert_memory_equal(momenta, got_momenta, sizeof momenta);
}

static void steps_are(const int64_t *want, size_t n)
{
    struct diag d = {0};
    step_list steps = {0};
    assert_true(store_list(store, &steps, &d));
    assert_int_equal(steps.n, n);
    for (size_t i = 0; i < n; i++) assert_int_equal(steps.v[i], want[i]);
    array_free(&steps);
}

static void what_is_saved_is_loaded_however_many_wrote(void **state)
{
    (void)state;
    save(10, 1, false, 9, 1);
    save(20, 4, false, 9, 1);
    for (int size = 1; size <= 8; size++) save(20 + size, size, true, 99, 1);
    is_whole(10);
    for (int size = 0; size <= 8; size++) is_whole(20 + size);
}

static void the_newest_are_kept_and_newer_ones_dropped(void **state)
{
    (void)state;
    for (int64_t step = 5; step <= 30; step += 5) save(step, 2, true, 3, 1);
    steps_are((int64_t[]){20, 25, 30}, 3);
    struct diag d = {0};
    assert_true(checkpoint_drop_newer(store, 20, &d));
    steps_are((int64_t[]){20}, 1);
    save(20, 1, false, 3, 2); /* again, by another life with other ranks: replaced */
    steps_are((int64_t[]){20}, 1);
    is_whole(20);
}

/* Shard `name` of a step as it lies in the store: how long it is, one of its bytes turned, its end cut off, itself removed. */
static char *shard_path(int64_t step, const char *name, char path[160])
{
    if (objects) snprintf(path, 160, "a/step-%010lld.", (long long)step);
    else snprintf(path, 160, "%s/step-%010lld/%s", dir, (long long)step, name);
    return path;
}

static size_t shard_bytes(int64_t step, const char *name)
{
    char path[160];
    struct stat st;
    size_t n = 0;
    shard_path(step, name, path);
    if (objects) assert_non_null(object_store_find(objects, path, name, &n));
    else assert_int_equal(stat(path, &st), 0), n = (size_t)st.st_size;
    return n;
}

static void damage(int64_t step, const char *name, size_t at)
{
    char path[160], c;
    shard_path(step, name, path);
    if (objects) {
        object_store_turn(objects, path, name, at);
        return;
    }
    int fd = open(path, O_RDWR);
    assert_true(pread(fd, &c, 1, (off_t)at) == 1);
    c = (char)(c ^ 1);
    assert_true(pwrite(fd, &c, 1, (off_t)at) == 1 && close(fd) == 0);
}

static void cut(int64_t step, const char *name, size_t bytes)
{
    char path[160];
    shard_path(step, name, path);
    if (objects) object_store_cut(objects, path, name, bytes);
    else assert_int_equal(truncate(path, (off_t)bytes), 0);
}

static void take_away(int64_t step, const char *name)
{
    char path[160];
    shard_path(step, name, path);
    if (objects) object_store_drop(objects, path, name);
    else assert_int_equal(unlink(path), 0);
}

/* A wrong bit in each byte of the header, and in one byte of 97 of the rest; then cut to some lengths. */
static void every_damage_is_found(void **state)
{
    (void)state;
    static const char name[] = "shard-0001-of-0002";
    struct diag d = {0};
    save(10, 2, true, 3, 1);
    size_t n = shard_bytes(10, name);
    for (size_t at = 0; at < n; at += at < 64 ? 1 : 97) {
        damage(10, name, at);
        if (loads(10, &d)) fail_msg("a wrong byte at %zu is not seen", at);
        damage(10, name, at);
    }
    is_whole(10);
    for (size_t bytes = n - 1; bytes > 2; bytes = bytes * 2 / 3 - 1) {
        cut(10, name, bytes);
        if (loads(10, &d)) fail_msg("cut to %zu is not seen", bytes);
    }
    cut(10, name, 0);
    assert_false(loads(10, &d) || store->fails);
    take_away(10, name);
    assert_false(loads(10, &d));
    assert_false(store->fails);
    diag_free(&d);
}

/* Each byte of the manifest, then none: what it names must be what is there. */
static void a_damaged_manifest_is_found(void **state)
{
    (void)state;
    struct diag d = {0};
    size_t n;
    save(10, 2, true, 3, 1);
    assert_non_null(object_store_find(objects, "a/step-0000000010", ".manifest", &n));
    for (size_t at = 0; at < n; at++) {
        object_store_turn(objects, "a/step-0000000010", ".manifest", at);
        if (loads(10, &d)) fail_msg("a wrong byte at %zu of the manifest is not seen", at);
        object_store_turn(objects, "a/step-0000000010", ".manifest", at);
    }
    is_whole(10);
    object_store_drop(objects, "a/step-0000000010", ".manifest");
    assert_false(loads(10, &d));
    steps_are(NULL, 0);
    diag_free(&d);
}

static void the_newest_that_is_whole_is_taken(void **state)
{
    (void)state;
    struct diag d = {0};
    for (int64_t step = 10; step <= 30; step += 10) save(step, 1, false, 3, 1);
    assert_int_equal(checkpoint_load_newest(store, PRINT, N, got_parameters, got_momenta, &d), 30);
    assert_int_equal(diag_errors(&d), 0);
    damage(30, "shard-0000-of-0001", 500);
    assert_int_equal(checkpoint_load_newest(store, PRINT, N, got_parameters, got_momenta, &d), 20);
    assert_non_null(strstr(d.entries.v[0].text, "damaged"));
    assert_int_equal(checkpoint_load_newest(store, PRINT + 1, N, got_parameters, got_momenta, &d), CHECKPOINT_OTHER_MODEL);
    struct store *none = store_open(objects ? "s3://runs/nothing" : "/nonexistent", &d);
    assert_int_equal(checkpoint_load_newest(none, PRINT, N, got_parameters, got_momenta, &d), CHECKPOINT_NONE);
    store_close(none);
    diag_free(&d);
}

static size_t entries_of(const char *path)
{
    size_t n = 0;
    DIR *open = opendir(path);
    while (readdir(open)) n++;
    closedir(open);
    return n - 2; /* itself and what it is in */
}

/* A shard of an earlier life, and one that was being removed, have no name and are gone when rank 0 opens. */
static void what_an_earlier_life_left_is_not_used(void **state)
{
    (void)state;
    struct diag d = {0};
    struct saver *s = open_saver(store, (struct saver_options){3, true}, 0, 2, 1, &d);
    set(10);
    saver_begin(s, 10, N, parameters, momenta);
    assert_true(saver_wait(s, &d)); /* and it ends here: rank 1 never wrote */
    saver_close(s);
    steps_are(NULL, 0);
    char old[160];
    snprintf(old, sizeof old, "%s/step-0000000005.old", dir);
    assert_int_equal(mkdir(old, 0777), 0);
    save(10, 1, false, 3, 2);
    is_whole(10);
    assert_false(file_exists(old));
    char partial[160];
    snprintf(partial, sizeof partial, "%s/step-0000000010.%016d.partial", dir, 1);
    assert_false(file_exists(partial));
}

/* Shards without a manifest, and those of another token than the manifest names. */
static void what_an_earlier_life_put_is_taken_away(void **state)
{
    (void)state;
    struct diag d = {0};
    save(5, 1, false, 9, 1);
    for (uint64_t token = 2; token <= 3; token++) {
        struct saver *s = open_saver(store, (struct saver_options){9, true}, 1, 2, token, &d);
        int64_t step = token == 2 ? 5 : 10;
        set(step);
        saver_begin(s, step, N, parameters, momenta);
        assert_true(saver_wait(s, &d)); /* and it ends here: rank 0 never names it */
        saver_close(s);
    }
    assert_int_equal(object_store_objects(objects), 4);
    steps_are((int64_t[]){5}, 1);
    assert_true(store_tidy(store, &everything, &d));
    assert_int_equal(object_store_objects(objects), 2);
    is_whole(5);
}

static void write_part(int64_t step, uint64_t token)
{
    assert_true(store_write(store, &(struct store_part){.step = step, .token = token, .shards = 1}, "part", 4, &(struct diag){0}));
}

/* How many things lie in the store: folders, or objects. */
static size_t things(void)
{
    return objects ? object_store_objects(objects) : entries_of(dir);
}

/* What killed writers asked for may be done when the next life has begun: a put, and a removal that ends with the name. Meanwhile other
 * ranks may have begun the next save. */
static void what_comes_late_goes_with_the_next_save(void **state)
{
    (void)state;
    struct diag d = {0};
    save(5, 1, false, 2, 1);
    save(8, 2, true, 2, 1);
    struct saver *s = open_saver(store, (struct saver_options){2, false}, 0, 1, 3, &d);
    struct store *next = store_open(place(), &d);
    struct saver *rank_1 = open_saver(next, (struct saver_options){2, true}, 1, 2, 3, &d);
    write_part(10, 2);
    if (objects) object_store_drop(objects, "a/step-0000000005", ".manifest");
    set(30);
    saver_begin(rank_1, 30, N, parameters, momenta);
    assert_true(saver_wait(rank_1, &d));
    set(20);
    saver_begin(s, 20, N, parameters, momenta);
    assert_true(saver_wait(s, &d) && saver_commit(s, &d));
    saver_close(s);
    steps_are((int64_t[]){8, 20}, 2);
    is_whole(8);
    is_whole(20);
    assert_int_equal(things(), objects ? 3 + 2 + 1 : 3);
    s = open_saver(store, (struct saver_options){2, true}, 0, 2, 4, &d); /* the next life: of 30 only one half is there */
    assert_int_equal(things(), objects ? 3 + 2 : 2);
    assert_int_equal(d.entries.n, 0);
    saver_close(s);
    saver_close(rank_1);
    store_close(next);
}

/* Killed between its last save and what goes with it: the next life has nothing to save. */
static void what_is_too_many_goes_at_the_start(void **state)
{
    (void)state;
    struct diag d = {0};
    for (int64_t step = 10; step <= 40; step += 10) save(step, 1, false, 9, 1);
    saver_close(saver_open(store, &(struct saver_options){2, false}, &(struct saver_life){0, 1, 2, PRINT, 30}, &d));
    steps_are((int64_t[]){20, 30, 40}, 3); /* 40 is newer than what was loaded, and not counted */
    saver_close(saver_open(store, &(struct saver_options){1, false}, &(struct saver_life){1, 2, 2, PRINT, 40}, &d));
    steps_are((int64_t[]){20, 30, 40}, 3); /* rank 0 only */
    assert_int_equal(d.entries.n, 0);
}

/* Rank 0 names a checkpoint of which rank 1's shard is not there: it gets no name. */
static void what_is_not_all_there_gets_no_name(void **state)
{
    (void)state;
    struct diag d = {0};
    struct saver *s = open_saver(store, (struct saver_options){3, true}, 0, 2, 7, &d);
    set(10);
    saver_begin(s, 10, N, parameters, momenta);
    assert_true(saver_wait(s, &d));
    assert_false(saver_commit(s, &d));
    assert_non_null(strstr(d.entries.v[0].text, "1 shards of 2"));
    steps_are(NULL, 0);
    saver_abandon(s);
    saver_close(s);
    assert_int_equal(object_store_objects(objects), 0);
    diag_free(&d);
}

/* The newest may be sound: a store that does not answer, or answers this once that it may not be asked, is no reason to go on from an
 * older one. */
static void a_store_that_fails_ends_the_search(void **state)
{
    (void)state;
    static const int statuses[] = {503, 403};
    struct diag d = {0};
    save(10, 1, false, 3, 1);
    save(20, 1, false, 3, 1);
    for (size_t i = 0; i < 2; i++)
        for (int answers = 0; answers < 3; answers++) { /* the list; the manifest; the shard */
            object_store_fail(objects, answers, 1000, statuses[i]);
            assert_int_equal(checkpoint_load_newest(store, PRINT, N, got_parameters, got_momenta, &d), CHECKPOINT_STORE_FAILS);
        }
    object_store_fail(objects, 0, 0, 0);
    assert_int_equal(checkpoint_load_newest(store, PRINT, N, got_parameters, got_momenta, &d), 20);
    diag_free(&d);
}

/* A shard that is there, and that may be read by its permissions, but gives EIO: as the first bytes of /proc/self/mem do. */
static void a_shard_that_cannot_be_read_ends_the_search(void **state)
{
    (void)state;
    struct diag d = {0};
    char path[160];
    save(10, 1, false, 3, 1);
    save(20, 1, false, 3, 1);
    take_away(20, "shard-0000-of-0001");
    assert_int_equal(symlink("/proc/self/mem", shard_path(20, "shard-0000-of-0001", path)), 0);
    assert_int_equal(checkpoint_load_newest(store, PRINT, N, got_parameters, got_momenta, &d), CHECKPOINT_STORE_FAILS);
    assert_non_null(strstr(d.entries.v[0].text, "cannot read: Input/output error"));
    assert_false(loads(20, &d));
    assert_true(store->fails);
    steps_are((int64_t[]){10, 20}, 2);
    diag_free(&d);
}

/* Neither is waited on (POSIX: opening a FIFO to read stands until somebody writes), nor taken for damage. */
static void what_is_no_file_in_place_of_a_shard_ends_the_search(void **state)
{
    (void)state;
    static const char *const says[] = {"it is no regular file", "Is a directory"};
    save(10, 1, false, 3, 1);
    save(20, 1, false, 3, 1);
    for (int i = 0; i < 2; i++) {
        struct diag d = {0};
        char path[160];
        shard_path(20, "shard-0000-of-0001", path);
        assert_int_equal(remove(path), 0);
        assert_int_equal(i ? mkdir(path, 0777) : mkfifo(path, 0666), 0);
        alarm(20);
        assert_int_equal(checkpoint_load_newest(store, PRINT, N, got_parameters, got_momenta, &d), CHECKPOINT_STORE_FAILS);
        alarm(0);
        assert_non_null(strstr(d.entries.v[0].text, says[i]));
        steps_are((int64_t[]){10, 20}, 2);
        diag_free(&d);
    }
}

/* A damaged one that is newer than all that is saved: to keep one is to keep the one that was saved. */
static void what_is_newer_pushes_nothing_out(void **state)
{
    (void)state;
    save(10, 1, false, 1, 1);
    save(30, 1, false, 2, 1);
    damage(30, "shard-0000-of-0001", 500);
    save(20, 1, false, 1, 2);
    steps_are((int64_t[]){20, 30}, 2);
    is_whole(20);
    save(30, 1, false, 1, 3); /* and takes its place */
    steps_are((int64_t[]){30}, 1);
    is_whole(30);
}

/* A key that may put and not delete: each save stands, it is told once, and what an earlier life left is in nobody's way. */
static void who_may_not_delete_may_save(void **state)
{
    (void)state;
    struct diag d = {0};
    save(10, 1, false, 1, 1);
    struct saver *left = open_saver(store, (struct saver_options){1, true}, 1, 2, 2, &d);
    set(15);
    saver_begin(left, 15, N, parameters, momenta);
    assert_true(saver_wait(left, &d));
    saver_close(left);
    object_store_deny(objects, "DELETE");
    struct saver *s = open_saver(store, (struct saver_options){1, false}, 0, 1, 3, &d);
    assert_non_null(s);
    assert_int_equal(d.warnings, 1);
    for (int64_t step = 20; step <= 30; step += 10) {
        set(step);
        saver_begin(s, step, N, parameters, momenta);
        assert_true(saver_wait(s, &d) && saver_commit(s, &d));
        assert_int_equal(d.warnings, 1);
    }
    assert_int_equal(diag_errors(&d), 0);
    assert_non_null(strstr(d.entries.v[0].text, "no longer needed stays: access is denied"));
    saver_close(s);
    object_store_deny(objects, NULL);
    steps_are((int64_t[]){10, 20, 30}, 3);
    is_whole(30);
    diag_free(&d);
}

/* One that is damaged, or that a newer program wrote, may name the shards that are there. */
static void a_manifest_that_is_not_understood_keeps_its_shards(void **state)
{
    (void)state;
    struct diag d = {0};
    save(10, 2, true, 3, 1);
    write_part(10, 2);
    object_store_turn(objects, "a/step-0000000010", ".manifest", 0);
    assert_true(store_tidy(store, &everything, &d));
    assert_int_equal(object_store_objects(objects), 4);
    object_store_turn(objects, "a/step-0000000010", ".manifest", 0);
    assert_true(store_tidy(store, &everything, &d));
    assert_int_equal(object_store_objects(objects), 3);
    is_whole(10);
    diag_free(&d);
}

/* Every request of a save fails in turn, for good: nothing half has a name, what was there stays whole, and the next save is whole. */
static void every_failing_request_leaves_a_whole_checkpoint(void **state)
{
    (void)state;
    save(10, 2, true, 1, 1);
    size_t before = object_store_requests(objects);
    save(20, 2, true, 1, 2);
    const int of_a_save = (int)(object_store_requests(objects) - before);
    assert_true(of_a_save > 5);
    for (int fails = 0; fails < of_a_save; fails++) {
        struct diag d = {0};
        struct saver *s[2] = {NULL};
        set(30 + 2 * fails);
        object_store_fail(objects, fails, 1000, 500);
        for (int r = 0; r < 2; r++) {
            s[r] = open_saver(store, (struct saver_options){1, true}, r, 2, 9, &d);
            assert_non_null(s[r]);
            saver_begin(s[r], 30 + 2 * fails, N, parameters, momenta);
            if (!saver_wait(s[r], &d)) break;
            if (r == 1) saver_commit(s[0], &d);
        }
        for (int r = 0; r < 2; r++) saver_close(s[r]);
        object_store_fail(objects, 0, 0, 0);
        step_list steps = {0};
        assert_true(store_list(store, &steps, &d) && steps.n >= 1);
        for (size_t i = 0; i < steps.n; i++) is_whole(steps.v[i]);
        array_free(&steps);
        diag_free(&d);
        save(31 + 2 * fails, 2, true, 1, (uint64_t)fails + 100);
        steps_are((int64_t[]){31 + 2 * fails}, 1);
    }
    assert_int_equal(object_store_objects(objects), 3);
}

static void a_store_that_is_down_fails_that_save_only(void **state)
{
    (void)state;
    struct diag d = {0};
    struct saver *s = open_saver(store, (struct saver_options){3, false}, 0, 1, 1, &d);
    saver_store_down_until(s, net_now_ns() + seconds(3600));
    set(10);
    saver_begin(s, 10, N, parameters, momenta);
    assert_false(saver_wait(s, &d));
    assert_non_null(strstr(d.entries.v[0].text, "step 10: the store is down"));
    saver_abandon(s);
    saver_store_down_until(s, 0);
    set(20);
    saver_begin(s, 20, N, parameters, momenta);
    assert_true(saver_wait(s, &d) && saver_commit(s, &d));
    saver_close(s);
    steps_are((int64_t[]){20}, 1);
    is_whole(20);
    diag_free(&d);
}

#define IN_BOTH(test)                                                                                                  \
    cmocka_unit_test_setup_teardown(test, setup, teardown), cmocka_unit_test_setup_teardown(test, setup_objects, teardown_objects)
#define IN_OBJECTS(test) cmocka_unit_test_setup_teardown(test, setup_objects, teardown_objects)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BOTH(what_is_saved_is_loaded_however_many_wrote),
        IN_BOTH(the_newest_are_kept_and_newer_ones_dropped),
        IN_BOTH(every_damage_is_found),
        IN_BOTH(the_newest_that_is_whole_is_taken),
        IN_BOTH(a_store_that_is_down_fails_that_save_only),
        IN_BOTH(what_is_newer_pushes_nothing_out),
        cmocka_unit_test_setup_teardown(a_shard_that_cannot_be_read_ends_the_search, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_file_in_place_of_a_shard_ends_the_search, setup, teardown),
        cmocka_unit_test_setup_teardown(what_an_earlier_life_left_is_not_used, setup, teardown),
        IN_BOTH(what_comes_late_goes_with_the_next_save),
        IN_BOTH(what_is_too_many_goes_at_the_start),
        IN_OBJECTS(what_an_earlier_life_put_is_taken_away),
        IN_OBJECTS(what_is_not_all_there_gets_no_name),
        IN_OBJECTS(a_damaged_manifest_is_found),
        IN_OBJECTS(a_store_that_fails_ends_the_search),
        IN_OBJECTS(who_may_not_delete_may_save),
        IN_OBJECTS(a_manifest_that_is_not_understood_keeps_its_shards),
        IN_OBJECTS(every_failing_request_leaves_a_whole_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
