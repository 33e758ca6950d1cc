/* test_recordings_job.c - each recorded Job: the simulated controller does what the real one did.
 *
 * Plays job-*.json of recorded/conditions, or of $TRAINYARD_RECORDINGS, or the files and folders given as
 * arguments (-v prints both sides).
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

#include "tests/support/shared.h"
#include "tests/support/job_play.h"

struct tally { int equal, different; bool verbose; };

static void play_file(const char *path, struct tally *t)
{
    char no[256], why[1024];
    struct job_play *p = job_play_read(path, no);
    if (!p) {
        printf("DIFFERENT %s: %s\n", path, no);
        t->different++;
        return;
    }
    job_play_run(p);
    bool same = job_play_compare(p, why);
    if (!same) printf("DIFFERENT %s\n          %s\n", path, why);
    if (t->verbose) job_play_print(p);
    t->equal += same;
    t->different += !same;
    job_play_free(p);
}

static int is_recording(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return strncmp(d->d_name, "job-", 4) == 0 && n > 5 && strcmp(d->d_name + n - 5, ".json") == 0;
}

static void play(const char *path, struct tally *t)
{
    struct stat info;
    struct dirent **files;
    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode)) {
        play_file(path, t);
        return;
    }
    int n = scandir(path, &files, is_recording, alphasort);
    for (int i = 0; i < n; i++) {
        char file[SHARED_PATH_MAX + 300];
        snprintf(file, sizeof file, "%s/%s", path, files[i]->d_name);
        play_file(file, t);
        free(files[i]);
    }
    if (n >= 0) free(files);
}

static void recorded_jobs(void **state)
{
    char path[SHARED_PATH_MAX];
    const char *folder = getenv("TRAINYARD_RECORDINGS");
    struct tally t = {0};
    (void)state;
    if (!folder) {
        shared_path(path, "recorded/conditions");
        folder = path;
    }
    play(folder, &t);
    printf("%d of %d recorded Jobs are equal\n", t.equal, t.equal + t.different);
    assert_int_equal(t.different, 0);
    assert_true(t.equal > 0);
}

int main(int argc, char **argv)
{
    struct tally t = {0};
    int first = 1;
    if (first < argc && strcmp(argv[first], "-v") == 0) {
        t.verbose = true;
        first++;
    }
    if (first == argc) return cmocka_run_group_tests(((const struct CMUnitTest[]){cmocka_unit_test(recorded_jobs)}), NULL, NULL);
    for (int i = first; i < argc; i++) play(argv[i], &t);
    printf("%d equal, %d different\n", t.equal, t.different);
    return t.different != 0;
}
