/* test_file.c - files, directories and progress.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/progress.h"

struct place {
    struct arena arena;
    struct diag diag;
    char *dir;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    const char *tmp = getenv("TMPDIR");
    p->dir = arena_printf(&p->arena, "%s/trainyard-test-XXXXXX", tmp ? tmp : "/tmp");
    *state = p;
    return mkdtemp(p->dir) == NULL;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    int left = !file_remove_tree(p->dir, &p->diag) || file_exists(p->dir);
    diag_free(&p->diag);
    arena_free(&p->arena);
    free(p);
    return left;
}

static const char *last_text(const struct place *p)
{
    return array_last(&p->diag.entries).text;
}

static void write_and_read(void **state)
{
    struct place *p = *state;
    char *path = path_join(&p->arena, p->dir, "a.txt");
    size_t n;
    assert_true(file_write_atomic(path, "one", 3, &p->diag));
    assert_true(file_write_atomic(path, "t\0o", 3, &p->diag));
    char *text = file_read(path, 3, &n, &p->diag);
    assert_int_equal(n, 3);
    assert_memory_equal(text, "t\0o", 4);
    free(text);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
    assert_int_equal(diag_errors(&p->diag), 0);
}

static void errors_say_why(void **state)
{
    struct place *p = *state;
    char *path = path_join(&p->arena, p->dir, "none/a.txt");
    size_t n;
    assert_null(file_read(path, 10, &n, &p->diag));
    assert_string_equal(last_text(p), "cannot open: No such file or directory");
    assert_null(file_read(p->dir, 10, &n, &p->diag));
    assert_string_equal(last_text(p), "cannot read: Is a directory");
    assert_false(file_write_atomic(path, "x", 1, &p->diag));
    assert_string_equal(last_text(p), "cannot write: No such file or directory");
    path = path_join(&p->arena, p->dir, "big");
    assert_true(file_write_atomic(path, "12345", 5, &p->diag));
    assert_null(file_read(path, 4, &n, &p->diag));
    assert_string_equal(last_text(p), "is larger than 4 bytes");
    assert_false(file_make_dirs(path_join(&p->arena, path, "sub"), &p->diag));
    assert_string_equal(last_text(p), "cannot make the directory: File exists");
    assert_false(file_write_atomic(p->dir, "x", 1, &p->diag)); /* a directory is not replaced, and nothing is left */
    assert_false(file_exists(arena_printf(&p->arena, "%s.%ld.0.tmp", p->dir, (long)getpid())));
}

static void what_is_no_file_stays(void **state)
{
    struct place *p = *state;
    char *file = path_join(&p->arena, p->dir, "file"), *link = path_join(&p->arena, p->dir, "link"),
         *pipe = path_join(&p->arena, p->dir, "pipe"), got[4] = "";
    struct stat st;
    assert_true(file_write_atomic(file, "old", 3, &p->diag));
    assert_int_equal(symlink("file", link), 0);
    assert_true(file_write_atomic(link, "new", 3, &p->diag));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    size_t n;
    char *text = file_read(file, 10, &n, &p->diag);
    assert_string_equal(text, "new");
    free(text);

    assert_int_equal(mkfifo(pipe, 0600), 0);
    int reader = open(pipe, O_RDWR | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_true(file_write_atomic(pipe, "abc", 3, &p->diag));
    assert_int_equal(read(reader, got, 3), 3);
    assert_string_equal(got, "abc");
    close(reader);
    assert_int_equal(lstat(pipe, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(diag_errors(&p->diag), 0);
}

static void trees(void **state)
{
    struct place *p = *state;
    char *deep = path_join(&p->arena, p->dir, "x//y/z/"), *keep = path_join(&p->arena, p->dir, "keep");
    assert_true(file_make_dirs(deep, &p->diag));
    assert_true(file_make_dirs(deep, &p->diag));
    assert_true(file_is_dir(deep));
    assert_true(file_make_dirs(keep, &p->diag));
    assert_true(file_write_atomic(path_join(&p->arena, keep, "f"), "1", 1, &p->diag));
    assert_int_equal(symlink(keep, path_join(&p->arena, deep, "link")), 0);
    assert_true(file_remove_tree(path_join(&p->arena, p->dir, "x"), &p->diag));
    assert_false(file_exists(path_join(&p->arena, p->dir, "x")));
    assert_true(file_exists(path_join(&p->arena, keep, "f"))); /* the link went, not what it showed */
    assert_true(file_remove_tree(path_join(&p->arena, p->dir, "x"), &p->diag));
    static const char *const unsafe[] = {"", "/", ".", "./.", "//", "..", "a/..", "a/../b", "/./"};
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++) assert_false(file_remove_tree(unsafe[i], &p->diag));
}

static void paths(void **state)
{
    struct place *p = *state;
    assert_string_equal(path_join(&p->arena, "a", "b"), "a/b");
    assert_string_equal(path_join(&p->arena, "a/", "b"), "a/b");
    assert_string_equal(path_join(&p->arena, "", "b"), "b");
    assert_string_equal(path_join(&p->arena, "a", "/b"), "/b");
    assert_string_equal(path_dir(&p->arena, "a/b/c"), "a/b");
    assert_string_equal(path_dir(&p->arena, "c"), ".");
    assert_string_equal(path_dir(&p->arena, "/c"), "/");
    assert_string_equal(path_base("a/b/c"), "c");
    assert_string_equal(path_base("c"), "c");
}

/* Set back the clock of its begin instead of waiting. */
static void progress_lines(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    struct progress_sink sink = {.to = f, .terminal = true};
    struct progress p;
    progress_begin(&p, &sink, "jobs", 2000);
    progress_update(&p, 1); /* within the first second: nothing */
    fflush(f);
    assert_int_equal(n, 0);
    p.begin_ns -= 2000000000;
    p.shown_ns -= 2000000000;
    p.calls_a_look = 1;
    progress_update(&p, 1500);
    progress_update(&p, 1501); /* within 100 ms of the last: nothing */
    progress_end(&p);
    fflush(f);
    assert_non_null(strstr(text, "\r\033[Ktrainyard: 1,500 of 2,000 jobs, 75 %, 2 s\r\033[K"));
    sink.to = NULL;
    fseek(f, 0, SEEK_SET);
    progress_begin(&p, &sink, "jobs", 0);
    progress_update(&p, 1);
    progress_end(&p);
    assert_null(p.sink);
    fclose(f);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(write_and_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_say_why, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_file_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths, set_up, tear_down),
        cmocka_unit_test(progress_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
