/* play_folder.c - see play_folder.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/play_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "tests/support/shared.h"

struct tally {
    const struct play_kind *kind;
    bool verbose;
    int n[PLAY_VERDICTS];
};

static void play_file(const char *path, struct tally *t)
{
    static const char *const words[PLAY_VERDICTS] = {"equal    ", "DIFFERENT", "left out "};
    char why[PLAY_WHY] = "";
    enum play_verdict v = t->kind->play(path, t->verbose, why);
    printf("%s %s%s%s\n", words[v], path, *why ? ": " : "", why);
    t->n[v]++;
}

static bool is_recording(const struct play_kind *kind, const char *name)
{
    for (size_t i = 0; kind->names[i]; i++)
        if (str_starts_with(name, kind->names[i]) && str_ends_with(name, ".json")) return true;
    return false;
}

static void play_path(const char *path, struct tally *t)
{
    struct stat info;
    struct dirent **files;
    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode)) {
        play_file(path, t);
        return;
    }
    int n = scandir(path, &files, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char file[SHARED_PATH_MAX + 300];
        snprintf(file, sizeof file, "%s/%s", path, files[i]->d_name);
        if (is_recording(t->kind, files[i]->d_name)) play_file(file, t);
        free(files[i]);
    }
    if (n >= 0) free(files);
}

static void print_tally(const struct tally *t)
{
    printf("%s: %d equal, %d different, %d left out\n", t->kind->what, t->n[PLAY_EQUAL], t->n[PLAY_DIFFERENT],
           t->n[PLAY_LEFT_OUT]);
}

static void recordings(void **state)
{
    struct tally t = {.kind = *state};
    const char *own = getenv(t.kind->env);
    for (size_t i = 0; !own && t.kind->folders[i]; i++) {
        char path[SHARED_PATH_MAX];
        shared_path(path, t.kind->folders[i]);
        play_path(path, &t);
    }
    if (own) play_path(own, &t);
    print_tally(&t);
    assert_int_equal(t.n[PLAY_DIFFERENT], 0);
    assert_true(t.n[PLAY_EQUAL] > 0);
}

int play_main(int argc, char **argv, const struct play_kind *kind)
{
    struct tally t = {.kind = kind};
    struct play_kind state = *kind;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(recordings, &state)};
    if (argc == 1) return cmocka_run_group_tests_name(kind->what, tests, NULL, NULL);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0) t.verbose = true;
        else play_path(argv[i], &t);
    }
    print_tally(&t);
    return t.n[PLAY_DIFFERENT] != 0;
}
