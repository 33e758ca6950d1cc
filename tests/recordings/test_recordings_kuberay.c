/* test_recordings_kuberay.c - what KubeRay really did, recording by recording (recorded/kuberay, or the folder in
 * TRAINYARD_RECORDINGS_KUBERAY).
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

#include "base/str.h"
#include "tests/support/ray_play.h"
#include "tests/support/shared.h"

static int is_recording(const struct dirent *e)
{
    bool ray = str_starts_with(e->d_name, "raycluster-") || str_starts_with(e->d_name, "rayjob-");
    return ray && str_ends_with(e->d_name, ".json");
}

static bool same(const char *folder, const char *file)
{
    char path[SHARED_PATH_MAX + 512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    struct ray_play *p = ray_play_load(path);
    if (!p) return false;
    bool ok = ray_play_run(p) && ray_play_compare(p) == 0;
    printf("  %s %s\n", ok ? "same     " : "DIFFERENT", file);
    ray_play_free(p);
    return ok;
}

static void plays_as_recorded(void **state)
{
    char folder[SHARED_PATH_MAX];
    const char *own = getenv("TRAINYARD_RECORDINGS_KUBERAY");
    struct dirent **files;
    (void)state;
    if (own) snprintf(folder, sizeof folder, "%s", own);
    else shared_path(folder, "recorded/kuberay");
    int n = scandir(folder, &files, is_recording, alphasort), good = 0;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        good += same(folder, files[i]->d_name);
        free(files[i]);
    }
    free(files);
    printf("  %d of %d recordings of KubeRay are met\n", good, n);
    assert_int_equal(good, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plays_as_recorded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
