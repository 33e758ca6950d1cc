/* test_recordings_kuberay.c - each recorded RayCluster and RayJob: the simulated KubeRay does what the real one did.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>

#include "tests/support/ray_play.h"
#include "tests/support/play_folder.h"

static enum play_verdict play(const char *path, bool verbose, char why[PLAY_WHY])
{
    struct ray_play *p = ray_play_load(path);
    (void)verbose;
    if (!p) return PLAY_DIFFERENT;
    bool same = ray_play_run(p) && ray_play_compare(p) == 0;
    if (!same) snprintf(why, PLAY_WHY, "the differences stand above");
    ray_play_free(p);
    return same ? PLAY_EQUAL : PLAY_DIFFERENT;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"raycluster-", "rayjob-", NULL}, *const folders[] = {"recorded/kuberay", NULL};
    static const struct play_kind kind = {"recordings of KubeRay", names, folders, "TRAINYARD_RECORDINGS_KUBERAY", play};
    return play_main(argc, argv, &kind);
}
