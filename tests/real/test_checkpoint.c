/* test_checkpoint.c - what is saved is loaded, by any number of ranks; damage is found and passed over; names, keeping, dropping.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
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

enum { N = 1003, PRINT = 77 };

static char dir[64];
static struct store *store;
static float parameters[N], momenta[N], got_parameters[N], got_momenta[N];

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

/* All ranks of a job, one after the other, then rank 0's commit. */
static void save(int64_t step, int size, bool sharded, int keep, uint64_t token)
{
    struct diag d = {0};
    struct saver *s[8] = {NULL};
    set(step);
    for (int r = 0; r < size; r++) {
        s[r] = saver_open(store, &(struct saver_options){keep, sharded}, r, size, token, PRINT, &d);
        assert_non_null(s[r]);
        saver_begin(s[r], step, N, parameters, momenta);
    }
    for (int r = 0; r < size; r++) assert_true(saver_wait(s[r], &d));
    assert_true(saver_commit(s[0], &d));
    for (int r = 0; r < size; r++) saver_close(s[r]);
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

static char *shard(int64_t step, const char *name, char path[160])
{
    snprintf(path, 160, "%s/step-%010lld/%s", dir, (long long)step, name);
    return path;
}

static void damage(const char *path, off_t at)
{
    char c;
    int fd = open(path, O_RDWR);
    assert_true(pread(fd, &c, 1, at) == 1);
    c = (char)(c ^ 1);
    assert_true(pwrite(fd, &c, 1, at) == 1 && close(fd) == 0);
}

/* A wrong bit in each byte of the header, and in one byte of 97 of the rest; then cut to some lengths. */
static void every_damage_is_found(void **state)
{
    (void)state;
    char path[160];
    struct stat st;
    struct diag d = {0};
    save(10, 2, true, 3, 1);
    shard(10, "shard-0001-of-0002", path);
    assert_int_equal(stat(path, &st), 0);
    for (off_t at = 0; at < st.st_size; at += at < 64 ? 1 : 97) {
        damage(path, at);
        if (loads(10, &d)) fail_msg("a wrong byte at %ld is not seen", (long)at);
        damage(path, at);
    }
    is_whole(10);
    for (off_t bytes = st.st_size - 1; bytes >= 0; bytes = bytes * 2 / 3 - 1) {
        assert_int_equal(truncate(path, bytes), 0);
        if (loads(10, &d)) fail_msg("cut to %ld is not seen", (long)bytes);
    }
    unlink(path);
    assert_false(loads(10, &d));
    diag_free(&d);
}

static void the_newest_that_is_whole_is_taken(void **state)
{
    (void)state;
    char path[160];
    struct diag d = {0};
    for (int64_t step = 10; step <= 30; step += 10) save(step, 1, false, 3, 1);
    assert_int_equal(checkpoint_load_newest(store, PRINT, N, got_parameters, got_momenta, &d), 30);
    assert_int_equal(diag_errors(&d), 0);
    damage(shard(30, "shard-0000-of-0001", path), 500);
    assert_int_equal(checkpoint_load_newest(store, PRINT, N, got_parameters, got_momenta, &d), 20);
    assert_non_null(strstr(d.entries.v[0].text, "damaged"));
    assert_int_equal(checkpoint_load_newest(store, PRINT + 1, N, got_parameters, got_momenta, &d), CHECKPOINT_OTHER_MODEL);
    struct store *none = store_open("/nonexistent", &d);
    assert_int_equal(checkpoint_load_newest(none, PRINT, N, got_parameters, got_momenta, &d), CHECKPOINT_NONE);
    store_close(none);
    diag_free(&d);
}

/* A shard of an earlier life, and one that was being removed, have no name and are gone when rank 0 opens. */
static void what_an_earlier_life_left_is_not_used(void **state)
{
    (void)state;
    struct diag d = {0};
    struct saver *s = saver_open(store, &(struct saver_options){3, true}, 0, 2, 1, PRINT, &d);
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

static void a_store_that_is_down_fails_that_save_only(void **state)
{
    (void)state;
    struct diag d = {0};
    struct saver *s = saver_open(store, &(struct saver_options){3, false}, 0, 1, 1, PRINT, &d);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_saved_is_loaded_however_many_wrote, setup, teardown),
        cmocka_unit_test_setup_teardown(the_newest_are_kept_and_newer_ones_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(every_damage_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(the_newest_that_is_whole_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(what_an_earlier_life_left_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(a_store_that_is_down_fails_that_save_only, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
