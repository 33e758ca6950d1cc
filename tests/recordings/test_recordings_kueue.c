/* test_recordings_kueue.c - every recorded Kueue scenario, run by the whole simulator, gives the recorded admissions, victims
 * and flavors.
 *
 * Runs over all files of recorded/kueue/cases and recorded/kueue/random, or of the folders and files given as
 * arguments, and prints a line for each that is left out, with the reason.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
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

#include "tests/support/kueue_sim.h"

struct tally {
    int equal, different, left_out;
    bool verbose;
};

static void play_file(const char *path, struct tally *t)
{
    char no[256], why[1024];
    struct kueue_play *p = kueue_play_read(path, no);
    if (!p) {
        printf("left out  %s: %s\n", path, no);
        t->left_out++;
        return;
    }
    bool same = kueue_sim_run(p, why) && kueue_play_compare(p, why);
    printf("%s %s%s%s\n", same ? "equal    " : "DIFFERENT", path, same ? "" : "\n          ", same ? "" : why);
    if (t->verbose) kueue_play_print(p);
    t->equal += same;
    t->different += !same;
    kueue_play_free(p);
}

static int json_only(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 5 && strcmp(d->d_name + n - 5, ".json") == 0;
}

static void play_folder(const char *path, struct tally *t)
{
    struct dirent **files;
    int n = scandir(path, &files, json_only, alphasort);
    for (int i = 0; i < n; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, files[i]->d_name);
        play_file(file, t);
        free(files[i]);
    }
    if (n >= 0) free(files);
}

static int play_all(int n, char **paths, struct tally *t)
{
    for (int i = 0; i < n; i++) {
        struct stat s;
        if (stat(paths[i], &s) != 0) continue;
        if (S_ISDIR(s.st_mode))
            play_folder(paths[i], t);
        else
            play_file(paths[i], t);
    }
    printf("%d equal, %d different, %d left out\n", t->equal, t->different, t->left_out);
    return t->equal + t->different;
}

static void test_recordings(void **state)
{
    (void)state;
    const char *shared = getenv("TRAINYARD_SHARED") ? getenv("TRAINYARD_SHARED") : "../shared";
    char cases[4096], random[4096], *paths[] = {cases, random};
    struct tally t = {.verbose = false};
    snprintf(cases, sizeof cases, "%s/recorded/kueue/cases", shared);
    snprintf(random, sizeof random, "%s/recorded/kueue/random", shared);
    if (play_all(2, paths, &t) == 0) {
        const char *without = getenv("TRAINYARD_NO_SHARED");
        printf("skipped: no recordings below %s\n", shared);
        if (getenv("CI") && !(without && strcmp(without, "1") == 0)) fail_msg("CI needs the recordings");
        skip();
    }
    assert_int_equal(t.different, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        struct tally t = {.verbose = getenv("VERBOSE") != NULL};
        play_all(argc - 1, argv + 1, &t);
        return t.different > 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recordings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
