/* test_run_failures.c - each write of a run fails in turn: what is left says so, or is the old run untouched.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "run/out.h"
#include "run/parts.h"
#include "tests/run/some_run.h"

static char top[] = "/tmp/trainyard-failures-XXXXXX";
static struct arena arena;

static int make_top(void **state)
{
    (void)state;
    return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
    struct diag d = {0};
    (void)state;
    bool ok = file_remove_tree(top, &d);
    diag_free(&d);
    arena_free(&arena);
    return ok ? 0 : -1;
}

static const char *below(const char *name)
{
    return path_join(&arena, top, name);
}

/* Fails the write number `at`, and all behind it when the disk stays full. */
struct disk {
    int at, asked;
    bool stays_full;
};

static bool is_full(void *arg)
{
    struct disk *d = arg;
    d->asked++;
    return d->asked == d->at || (d->stays_full && d->asked > d->at);
}

/* True when all went well. An error must have been told, exactly then when it did not. */
static bool try_run(const char *dir, struct disk *disk, uint64_t seed)
{
    struct io_hook hook = {is_full, disk};
    struct run_meta meta = some_meta();
    char *err = NULL;
    meta.hook = disk ? &hook : NULL;
    meta.force = true;
    meta.seed = seed;
    struct ledger *l = some_ledger();
    struct run_writer *w = run_create(dir, &meta, &err);
    bool ok = w != NULL;
    if (w) {
        put_some(w);
        run_flush(w);
        ok = run_finish(w, RUN_COMPLETE, l, 100000000000, &err);
    }
    ledger_destroy(l);
    assert_int_equal(ok, err == NULL);
    if (err) assert_non_null(strstr(err, ": "));
    free(err);
    return ok;
}

/* The seed of the complete and undamaged run in dir; 0 when it is none, and then it must say so. */
static uint64_t complete_seed(const char *dir)
{
    char *warnings = NULL, *err = NULL;
    uint64_t seed = 0;
    struct run *r = run_open(dir, &warnings, &err);
    assert_true(r || err);
    if (r && r->state == RUN_COMPLETE) {
        if (warnings) fail_msg("complete, but: %s", warnings);
        seed = r->seed;
    } else if (r) {
        assert_true(r->state == RUN_RUNNING || r->state == RUN_FAILED);
        assert_non_null(warnings);
    }
    run_close(r);
    free(warnings);
    free(err);
    return seed;
}

static void each_write_fails_in_turn(void **state)
{
    (void)state;
    for (int stays_full = 0; stays_full < 2; stays_full++)
        for (int over_old = 0; over_old < 2; over_old++) {
            int failures = 0;
            for (int at = 1;; at++) {
                struct diag d = {0};
                struct disk disk = {.at = at, .stays_full = stays_full};
                const char *dir = below("run");
                file_remove_tree(dir, &d);
                diag_free(&d);
                if (over_old) assert_true(try_run(dir, NULL, 1));
                bool ok = try_run(dir, &disk, 2);
                uint64_t seed = complete_seed(dir);
                if (ok) {
                    assert_int_equal(seed, 2);
                    assert_true(disk.asked < at);
                    break;
                }
                failures++;
                /* the first write is run.json saying `running`: when it fails, the old run is whole */
                assert_int_equal(seed, over_old && at == 1 ? 1 : 0);
            }
            assert_true(failures >= 12); /* 3 replacements, 3 opens, 3 closes, and the writes */
        }
}

/* A real limit of the system instead of the hook. */
static void a_file_that_may_not_grow(void **state)
{
    (void)state;
    struct rlimit old, small;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    for (rlim_t limit = 0; limit < 110000; limit += limit < 6000 ? 500 : 20000) {
        small = old;
        small.rlim_cur = limit;
        struct diag d = {0};
        file_remove_tree(below("limited"), &d);
        diag_free(&d);
        setrlimit(RLIMIT_FSIZE, &small);
        bool ok = try_run(below("limited"), NULL, 2);
        setrlimit(RLIMIT_FSIZE, &old);
        /* timeline.bin alone has 64 + 2500 x 40 bytes and two block heads */
        assert_int_equal(ok, limit >= 64 + 2500 * 40 + 2 * 24);
        assert_int_equal(complete_seed(below("limited")), ok ? 2 : 0);
    }
}

static void a_full_device(void **state)
{
    (void)state;
    struct out o;
    if (access("/dev/full", W_OK) != 0) skip();
    assert_true(out_open(&o, "/dev/full", NULL));
    out_text(&o, "x", 1);
    assert_false(out_close(&o));
    char *why = out_why(&o);
    assert_string_equal(why, "/dev/full: No space left on device");
    free(why);
    out_free(&o);
}

static void directories_that_cannot_be(void **state)
{
    (void)state;
    struct run_meta meta = some_meta();
    char *err = NULL;
    struct diag d = {0};
    assert_true(file_write_atomic(below("file"), "x", 1, &d));
    diag_free(&d);
    assert_null(run_create(below("file/run"), &meta, &err));
    assert_non_null(strstr(err, "file"));
    free(err);
}

/* A pipe would be waited for. */
static void a_pipe_for_a_file(void **state)
{
    static const char *const files[] = {"run.json", "jobs.csv", "timeline.bin", "scenario.json"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct diag d = {0};
        char path[256], *err = NULL, *warnings = NULL;
        file_remove_tree(below("run"), &d);
        diag_free(&d);
        assert_true(try_run(below("run"), NULL, 1));
        snprintf(path, sizeof path, "%s/%s", below("run"), files[i]);
        unlink(path);
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_null(run_open(below("run"), &warnings, &err));
        assert_non_null(strstr(err, "no regular file"));
        assert_non_null(strstr(err, files[i]));
        free(err);
        free(warnings);
    }
}

static void a_pipe_for_a_manifest(void **state)
{
    struct diag d = {0};
    struct run_list list;
    char path[256], *err = NULL;
    (void)state;
    file_remove_tree(below("run"), &d);
    diag_free(&d);
    assert_true(try_run(below("run"), NULL, 1));
    snprintf(path, sizeof path, "%s/run.json", below("run"));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(run_tree(below("run"), &list, &err));
    assert_non_null(strstr(err, "run.json: is no regular file"));
    free(err);
    assert_false(run_may_write(below("run"), true, &err));
    assert_non_null(strstr(err, "that is no run's"));
    free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_write_fails_in_turn),
        cmocka_unit_test(a_file_that_may_not_grow),
        cmocka_unit_test(a_full_device),
        cmocka_unit_test(directories_that_cannot_be),
        cmocka_unit_test(a_pipe_for_a_file),
        cmocka_unit_test(a_pipe_for_a_manifest),
    };
    return cmocka_run_group_tests(tests, make_top, remove_top);
}
